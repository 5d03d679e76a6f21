"""A folder of lockers, opened to look at: nodes by line and board, exploitability, frames for export.

>>> from spewy import Solution
>>> solution = Solution.open("results/T1")  # doctest: +SKIP
>>> solution.node("cr120c/", "Qs Jh 2h 8c 3d").frame()  # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from buckets.hands import hand_name
from buckets.symmetry import permute_cards
from lockers import Store, open_store
from solvers.exploit import exploitability
from solvers.forest import DECISION
from solvers.walk import Walker
from spewy.chunks.layout import Layout
from spewy.chunks.locate import board_cards, locate
from spewy.chunks.part import chunk_of
from spewy.chunks.problem import by_hand
from spewy.game.amounts import Unit
from spewy.game.lines import read_line
from spewy.game.tree import Node, decision_at
from spewy.job.job import Job
from spewy.look.board_view import BoardView, NodeArrays
from spewy.look.node_view import NodeView
from spewy.look.resolve import Note, Refilled
from spewy.look.stored import walked_job
from spewy.records.chunks import Chunks
from spewy.records.progress import first_dropped, require_whole, saved_sweeps
from spewy.system.closing import Closing
from spewy.system.textfile import as_path

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class ExploitResult:
    """Exact best responses to the stored average strategies, in ``unit``, % of the pot (spots) or mbb/hand (games)."""

    sweeps: int
    exploitability: float
    exploitability_pct: float | None
    exploitability_mbb: float | None
    best_response: tuple[float, float]
    value_bracket: tuple[float, float] | None
    unit: str = "chips"

    def in_unit(self, unit: Unit) -> ExploitResult:
        """The same, which is in chips, in another unit."""
        worth = unit.worth
        bracket = None if self.value_bracket is None else worth(*self.value_bracket)
        return replace(
            self,
            exploitability=self.exploitability / unit.chips,
            best_response=worth(*self.best_response),
            value_bracket=bracket,
            unit=unit.name,
        )


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
        node, cards, t, b, perm = self._find(line, board)
        n = self.layout.betting[t].nodes.index(node)
        found = self._node_view(self._view(t, b).node(n), node, node.player, cards, t, b, perm)
        return found.in_unit(self.job.amounts)

    def waiting(self, line: str = "", board: str | Sequence[int] | None = None) -> NodeView:
        """The range of the player who does not act at a decision: a view without actions.

        Raises:
            InputError: as `node`.
        """
        node, cards, t, b, perm = self._find(line, board)
        assert node.player is not None
        n = self.layout.betting[t].nodes.index(node)
        found = self._node_view(self._view(t, b).waiting(n), node, 1 - node.player, cards, t, b, perm)
        return found.in_unit(self.job.amounts)

    def _find(
        self, line: str, board: str | Sequence[int] | None
    ) -> tuple[Node, tuple[int, ...], int, int, np.ndarray]:
        """A decision, its public cards, and where they are: round, board and the suits' permutation."""
        tree = self.job.betting_tree
        node = decision_at(tree.root, read_line(tree, line))
        t = node.round - self.layout.problem.first_round
        cards = board_cards(self.layout.problem, node.round, self.job.board if board is None else board)
        b, perm = locate(self.layout, t, cards)
        self.reads.require(t, b, chunk_of(self.layout, node))
        return node, cards, t, b, perm

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
        result = ExploitResult(self.sweeps, found.value, pct, mbb, found.best_response, found.bracket)
        return result.in_unit(self.job.amounts)

    @property
    def n_frames(self) -> int:
        """How many frames `frames` yields: decisions on all boards after symmetry."""
        counts = (
            len(table.boards) * int(np.sum(bets.forest.arrays.kind == DECISION))
            for bets, table in zip(self.layout.betting, self.layout.boards, strict=True)
        )
        return sum(counts)

    def frames(self) -> Iterator[pd.DataFrame]:
        """One frame per decision and board (boards that are the same up to suits once), round by round.

        Raises:
            InputError: rounds were dropped.
        """
        self._require_whole()
        return self._frames()

    def _frames(self) -> Iterator[pd.DataFrame]:
        identity = np.arange(4)
        for t, bets in enumerate(self.layout.betting):
            decisions = np.flatnonzero(bets.forest.arrays.kind == DECISION)
            for b, board in enumerate(self.layout.boards[t].boards):
                if not len(decisions):
                    break
                view = BoardView(self.layout, self.store, t, b)
                for n in decisions:
                    node = bets.nodes[n]
                    found = self._node_view(view.node(int(n)), node, node.player, board.cards, t, b, identity)
                    yield found.in_unit(self.job.amounts).frame()

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
        self,
        arrays: NodeArrays,
        node: Node,
        player: int | None,
        cards: Sequence[int],
        t: int,
        b: int,
        perm: np.ndarray,
    ) -> NodeView:
        """Name the hands: a row of the solved board is the hand that ``perm`` turns into it."""
        assert player is not None
        back = np.argsort(perm)
        problem, rows = self.layout.problem, self.layout.board(t, b).rows[player]
        names = [hand_name(permute_cards(hand, back)) for hand in problem.hands[rows.hands]]
        reach = arrays.reach if problem.units is None else arrays.reach * problem.units[player][rows.hands]
        order = np.lexsort((np.array(names), -reach)) if names else np.zeros(0, dtype=np.int64)
        return NodeView(
            player,
            node.line,
            tuple(int(c) for c in cards),
            tuple(action.label for action in node.actions) if player == node.player else (),
            tuple(names[i] for i in order),
            reach[order],
            arrays.strategy[:, order],
            arrays.ev[order],
            arrays.action_ev[:, order],
            arrays.equity[order],
        )
