"""A folder of lockers, opened to look at: nodes by line and board, exploitability, frames for export.

>>> from spewy import Solution
>>> solution = Solution.open("results/T1")  # doctest: +SKIP
>>> solution.node("cr120c/", "Qs Jh 2h 8c 3d").frame()  # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from buckets.cards import hand_name
from lockers import Store, open_store
from spewy.chunks.layout import Layout
from spewy.chunks.locate import board_cards, line_to
from spewy.chunks.problem import by_hand
from spewy.errors import InputError
from spewy.game.amounts import Unit
from spewy.game.nodes import Node, entry_line
from spewy.job.job import Job
from spewy.look.chunk_view import ChunkView, NodeTotals
from spewy.look.folder import require_solved, walked_job
from spewy.look.grid import is_holdem
from spewy.look.node import NodeView
from spewy.look.openspiel import spiel_policy
from spewy.look.refilled import Note, Refilled
from spewy.look.selection import Selection
from spewy.records.chunks import Chunks
from spewy.records.progress import first_dropped, read_trace, require_whole, saved_sweeps
from spewy.system import html
from spewy.system.closing import Closing
from spewy.system.textfile import as_path

if TYPE_CHECKING:
    import pandas as pd

    from spewy.look.one_chunk import OneChunk


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

    def _repr_html_(self) -> str:
        """What notebooks show."""
        unit = self.unit
        told = {
            f"exploitability ({unit})": self.exploitability,
            "exploitability (% of the pot)": self.exploitability_pct,
            "exploitability (mbb per hand)": self.exploitability_mbb,
            f"best response of oop ({unit})": self.best_response[0],
            f"best response of ip ({unit})": self.best_response[1],
            f"value of oop ({unit})": self.value_bracket and "{:.6g} to {:.6g}".format(*self.value_bracket),
        }
        return html.facts(f"exploitability after {self.sweeps:,} sweeps", told)


class Solution(Closing):
    """A read-only view of a solve: of one that is finished, interrupted, or still running elsewhere.

    A decision is looked at by a few reads along its line, and no others are laid out. Dropped rounds are solved where
    they are looked at and kept in memory; ``reads`` is the store with them.

    Args:
        job: what the store was made for.
        store: its lockers.
        target: accuracy of dropped rounds, ``"0.1%"`` of the pot where a chunk begins; None: the job's target.
        note: told of what is solved.
    """

    def __init__(self, job: Job, store: Store, target: str | None = None, note: Note | None = None) -> None:
        self.job = job
        self.store = store
        self.problem = by_hand(job.problem, first_dropped(store))
        self.sweeps = saved_sweeps(store)
        self.reads = Refilled(job, store, target, note)

    @classmethod
    def open(cls, folder: str | Path, target: str | None = None, note: Note | None = None) -> Solution:
        """Open the lockers of a solve.

        Raises:
            lockers.LockerError: nothing is there, or it is damaged.
            NotSolvedError: nothing was saved yet.
            InputError: the lockers were made by something else, or the target is none.
        """
        store = open_store(as_path(folder, "folder"), read_only=True)
        try:
            job = walked_job(store, folder)
            require_solved(saved_sweeps(store), folder)
            return cls(job, store, target, note)
        except BaseException:
            store.close()
            raise

    @property
    def checked_pct(self) -> float:
        """Exploitability of the stored strategies in % of the pot, as the solve measured it; NaN if it did not.

        The value of a whole game is NaN, too, since it begins without a pot.
        """
        trace = read_trace(self.store)
        if not trace or trace[-1][0] != self.sweeps:
            return float("nan")
        pct, _ = self.problem.in_units(trace[-1][2])
        return float("nan") if pct is None else pct

    @cached_property
    def layout(self) -> Layout:
        """All boards and all betting, laid out when that is asked for first."""
        return Layout.of(self.problem)

    def node(self, line: str = "", board: str | Sequence[int] | None = None, *, ev: bool = True) -> NodeView:
        """The decision after ``line`` (from the solve's root) on ``board`` (default: the root's).

        Args:
            line: a betting string; at the end of a round the ``/`` can be left out if the board shows the next cards.
            board: all public cards.
            ev: whether to find EVs and equities, which are NaN otherwise.

        Raises:
            InputError: no such line, no decision there, or a board that cannot follow.
        """
        view, node, cards = self._seen(line, board, ev)
        assert node.player is not None
        return self._node_view(view, node, node.player, cards)

    def waiting(
        self, line: str = "", board: str | Sequence[int] | None = None, *, ev: bool = True
    ) -> NodeView:
        """The range of the player who does not act at a decision: a view without actions.

        Raises:
            InputError: as `node`.
        """
        view, node, cards = self._seen(line, board, ev)
        assert node.player is not None
        return self._node_view(view, node, 1 - node.player, cards)

    def totals(self, line: str = "", board: str | Sequence[int] | None = None) -> NodeTotals:
        """What both ranges do and are worth after ``line`` (from the solve's root) on ``board`` (default: the root's).

        Raises:
            InputError: no such line, or a board that cannot follow.
        """
        node = self.problem.tree.alone(line_to(self.problem, line, board))
        return (
            self.chunk_view(node.line, self._cards(node, board)).totals(node.line).in_unit(self.job.amounts)
        )

    def chunk_view(self, line: str, cards: tuple[int, ...], *, ev: bool = True) -> ChunkView:
        """The chunk of a node, in chips; what was dropped of it is solved.

        Args:
            line: the node's, as `spewy.game.lines.read_line` gives it.
            cards: public cards, the root's first.
            ev: whether to find EVs and equities.
        """
        self.reads.require(entry_line(line), cards)
        return self.reads.views.of(entry_line(line), cards, values=ev)

    def chunk(
        self,
        line: str = "",
        board: str | Sequence[int] | None = None,
        payoffs: Literal["average", "stored"] = "average",
    ) -> OneChunk:
        """The chunk that ``line`` enters on ``board`` (default: the root's), as a matrix game with named rows.

        Args:
            line: betting since the solve's root, ``""`` or ending in ``/``.
            board: all public cards.
            payoffs: what leaves are worth that hide later rounds. "average": under the stored average strategies,
                worked out chunk by chunk; "stored": what the last visits have left, or estimates where they have not.

        Raises:
            InputError: no betting round starts there, or the board cannot follow; the job has rake or locks; or too
                many chunks follow to work out their payoffs, or they were dropped.
        """
        from spewy.look.one_chunk import stored_chunk  # which loads kernels

        return stored_chunk(self.job, self.problem, self.reads, line, board, payoffs)

    def to_openspiel(self) -> Any:
        """The average strategies of a whole small game, as an ``open_spiel.python.policy.TabularPolicy``.

        Raises:
            MissingError: OpenSpiel is not installed.
            InputError: the job is a spot, its game is none of OpenSpiel's or too large for a table, OpenSpiel plays
                another game with its stacks, or its betting lacks actions of the game.
        """
        if self.job.spot is not None:
            raise InputError(f"job {self.job.name}: expected a whole game for OpenSpiel, found a spot")
        return spiel_policy(self.job.betting_tree, partial(self.node, ev=False))

    def _seen(
        self, line: str, board: str | Sequence[int] | None, ev: bool
    ) -> tuple[ChunkView, Node, tuple[int, ...]]:
        """The chunk of a decision as it is looked at, the decision, and its public cards."""
        node = self.reads.decision(line, board)
        cards = self._cards(node, board)
        return self.chunk_view(node.line, cards, ev=ev), node, cards

    def _cards(self, node: Node, board: str | Sequence[int] | None) -> tuple[int, ...]:
        return board_cards(self.problem, node.round, self.job.board if board is None else board)

    def exploitability(self) -> ExploitResult:
        """Walk the real game with best responses to what is stored.

        Raises:
            InputError: rounds were dropped.
        """
        self._require_whole()
        from solvers.measure import exploitability  # which loads kernels
        from solvers.reference.walk import Walker

        found = exploitability(
            Walker(self.layout.live, self.job.solve.threads), Chunks(self.layout, self.store).whole()
        )
        pct, mbb = self.layout.problem.in_units(found.value)
        result = ExploitResult(self.sweeps, found.value, pct, mbb, found.best_response, found.bracket)
        return result.in_unit(self.job.amounts)

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
        return Selection.of(self.problem, line=line, board=board, round_name=round_name, player=player)

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
        for cards, decisions in selection.places():
            seen = self.chunk_view(decisions[0].line, cards)
            for node in decisions:
                assert node.player is not None
                yield self._node_view(seen, node, node.player, cards)

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

    def _node_view(self, view: ChunkView, node: Node, player: int, cards: Sequence[int]) -> NodeView:
        """Name a player's hands, those of most reach first."""
        acts = player == node.player
        arrays = view.node(node.line) if acts else view.waiting(node.line)
        hands, units = view.play.hands[player], self.problem.units
        names = np.array([hand_name(hand) for hand in self.problem.hands[hands]], dtype=np.str_)
        reach = arrays.reach if units is None else arrays.reach * units[player][hands]
        order = np.lexsort((names, -reach))
        return NodeView(
            player,
            node.line,
            tuple(int(c) for c in cards),
            tuple(action.label for action in node.actions) if acts else (),
            tuple(names[order].tolist()),
            reach[order],
            arrays.strategy[:, order],
            arrays.ev[order],
            arrays.action_ev[:, order],
            arrays.equity[order],
            holdem=is_holdem(self.job.rules),
        ).in_unit(self.job.amounts)
