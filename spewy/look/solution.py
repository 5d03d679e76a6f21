"""A folder of lockers, opened to look at: nodes by line and board, exploitability, frames for export.

>>> from spewy import Solution
>>> solution = Solution.open("results/T1")  # doctest: +SKIP
>>> solution.node("cr120c/", "Qs Jh 2h 8c 3d").frame()  # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from buckets.hands import hand_name
from buckets.symmetry import permute_cards
from lockers import Store, open_store
from solvers.exploit import exploitability
from solvers.walk import Walker
from spewy.chunks.layout import Layout
from spewy.chunks.locate import board_cards, locate
from spewy.chunks.part import chunk_of
from spewy.chunks.problem import by_hand
from spewy.game.tree import Node, decision_at
from spewy.job.job import Job
from spewy.look.board_view import BoardView, NodeArrays
from spewy.look.line_view import LineView, NodeTotals
from spewy.look.node_view import NodeView
from spewy.look.resolve import Note, Refilled
from spewy.look.selection import Selection
from spewy.look.stored import walked_job
from spewy.records.chunks import Chunks
from spewy.records.progress import first_dropped, require_whole, saved_sweeps
from spewy.system.closing import Closing
from spewy.system.textfile import as_path

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class ExploitResult:
    """Exact best responses to the stored average strategies, in chips, % of the pot (spots) or mbb/hand (games)."""

    sweeps: int
    exploitability: float
    exploitability_pct: float | None
    exploitability_mbb: float | None
    best_response: tuple[float, float]
    value_bracket: tuple[float, float] | None


class Solution(Closing):
    """A read-only view of a solve: of one that is finished, interrupted, or still running elsewhere.

    Dropped rounds are solved where they are looked at and kept in memory; ``reads`` is the store with them.

    Args:
        job: what the store was made for.
        store: its lockers.
        target: accuracy of dropped rounds, ``"0.1%"`` of the pot where a chunk begins; None: the job's target.
        note: told of what is solved.
    """

    def __init__(self, job: Job, store: Store, target: str | None = None, note: Note | None = None) -> None:
        self.job = job
        self.store = store
        self.layout = Layout.of(by_hand(job.problem, first_dropped(store)))
        self.sweeps = saved_sweeps(store)
        self.reads = Refilled(job, self.layout, store, target, note)
        self._views: dict[tuple[int, int, int], BoardView] = {}

    @classmethod
    def open(cls, folder: str | Path, target: str | None = None, note: Note | None = None) -> Solution:
        """Open the lockers of a solve.

        Raises:
            lockers.LockerError: nothing is there, or it is damaged.
            InputError: the lockers were made by something else, or the target is none.
        """
        store = open_store(as_path(folder, "folder"), read_only=True)
        try:
            return cls(walked_job(store, folder), store, target, note)
        except BaseException:
            store.close()
            raise

    def node(self, line: str = "", board: str | Sequence[int] | None = None) -> NodeView:
        """The decision after ``line`` (from the solve's root) on ``board`` (default: the root's).

        Raises:
            InputError: no such line, no decision there, or a board that cannot follow.
        """
        node = decision_at(self.job.betting_tree.root, line)
        t = node.round - self.layout.problem.first_round
        cards = board_cards(self.layout.problem, node.round, self.job.board if board is None else board)
        b, perm = locate(self.layout, t, cards)
        self.reads.require(t, b, chunk_of(self.layout, node))
        view = self._view(t, b)
        n = self.layout.betting[t].nodes.index(node)
        return self._node_view(view.node(n), node, cards, t, b, perm)

    def totals(self, line: str = "", board: str | Sequence[int] | None = None) -> NodeTotals:
        """What both ranges do and are worth after ``line`` (from the solve's root) on ``board`` (default: the root's).

        Raises:
            InputError: no such line, or a board that cannot follow.
        """
        node = self.job.betting_tree.find(line)
        t = node.round - self.layout.problem.first_round
        cards = board_cards(self.layout.problem, node.round, self.job.board if board is None else board)
        b, _ = locate(self.layout, t, cards)
        self.reads.require(t, b, chunk_of(self.layout, node))
        return LineView(self.layout, self.reads, node, self.job.solve.workers).totals(b)

    def exploitability(self) -> ExploitResult:
        """Walk the real game with best responses to what is stored.

        Raises:
            InputError: rounds were dropped.
        """
        self._require_whole()
        found = exploitability(
            Walker(self.layout.live, self.job.solve.workers), Chunks(self.layout, self.store).whole()
        )
        pct, mbb = self.layout.problem.in_units(found.value)
        return ExploitResult(self.sweeps, found.value, pct, mbb, found.best_response, found.bracket)

    def select(
        self,
        line: str | None = None,
        board: str | None = None,
        round_name: str | None = None,
        player: int | None = None,
    ) -> Selection:
        """Decisions at a line, on a board (all its cards), of a round, of a player; None: any.

        Raises:
            InputError: no such line, board or round, or no decision is left.
        """
        return Selection.of(self.layout, line=line, board=board, round_name=round_name, player=player)

    def views(self, selection: Selection) -> Iterator[NodeView]:
        """Look at selected decisions, round by round and board by board; dropped rounds on one board are solved.

        Raises:
            InputError: rounds with some of them, on all boards, were dropped.
        """
        first = first_dropped(self.store)
        if selection.only is None and first is not None and selection.last_round >= first:
            require_whole(self.store, self.job.rules.num_rounds, self.job.name)
        return self._views_of(selection)

    def _views_of(self, selection: Selection) -> Iterator[NodeView]:
        only, identity = selection.only, np.arange(4)
        for t, nodes in enumerate(selection.nodes):
            numbers = [self.layout.betting[t].nodes.index(node) for node in nodes]
            for b in selection.boards(t) if nodes else ():
                if only is not None:
                    yield from (self.node(node.line, only.cards) for node in nodes)
                    continue
                cards = self.layout.board(t, b).cards
                for n, node in zip(numbers, nodes, strict=True):
                    yield self._node_view(self._view(t, b).node(n), node, cards, t, b, identity)

    @property
    def n_frames(self) -> int:
        """How many frames `frames` yields: decisions on all boards after symmetry."""
        return len(self.select())

    def frames(self) -> Iterator[pd.DataFrame]:
        """One frame per decision and board (boards that are the same up to suits once), round by round.

        Raises:
            InputError: rounds were dropped.
        """
        return (view.frame() for view in self.views(self.select()))

    def close(self) -> None:
        """Close the store."""
        self.store.close()

    def _require_whole(self) -> None:
        require_whole(self.store, self.job.rules.num_rounds, self.job.name)

    def _view(self, t: int, b: int) -> BoardView:
        key = t, b, self.reads.n_solved
        if key not in self._views:
            self._views.clear()  # one board at a time: views of early rounds are large
            self._views[key] = BoardView(self.layout, self.reads, t, b)
        return self._views[key]

    def _node_view(
        self, arrays: NodeArrays, node: Node, cards: Sequence[int], t: int, b: int, perm: np.ndarray
    ) -> NodeView:
        """Name the hands: a row of the solved board is the hand that ``perm`` turns into it."""
        assert node.player is not None
        back = np.argsort(perm)
        problem, rows = self.layout.problem, self.layout.board(t, b).rows[node.player]
        names = [hand_name(permute_cards(hand, back)) for hand in problem.hands[rows.hands]]
        reach = (
            arrays.reach if problem.units is None else arrays.reach * problem.units[node.player][rows.hands]
        )
        order = np.lexsort((np.array(names), -reach)) if names else np.zeros(0, dtype=np.int64)
        return NodeView(
            node.player,
            node.line,
            tuple(int(c) for c in cards),
            tuple(action.label for action in node.actions),
            tuple(names[i] for i in order),
            reach[order],
            arrays.strategy[:, order],
            arrays.ev[order],
            arrays.action_ev[:, order],
            arrays.equity[order],
        )
