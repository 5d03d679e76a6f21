"""Read the decisions of a solve: reach, strategy, EV and equity of each hand, and the actions or cards that can follow.

The frequency of an action is the share of the acting range that takes it. The frequency of card c is its probability
given both ranges at the node: ``W_c / Σ_c W_c``. Here ``W_c = Σ_{i, j} r0[i] r1[j] compat(i, j)`` with the ranges
``r0`` and ``r1``, summed over all hands without card c; ``compat`` is 1 for two hands without a common card, else 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from buckets.cards import cards_name, hand_name
from buckets.types import Ints
from lockers import Store
from solvers.tree import Floats
from spewy.chunks.layout import Layout
from spewy.chunks.locate import Place, board_cards, possible_deals
from spewy.chunks.problem import Problem
from spewy.game.lines import line_words
from spewy.game.nodes import Line, Node, entry_line, path_to
from spewy.job.job import Job
from spewy.look.chunk import NOTHING, Cards, ChunkReads, ChunkView, NodeTotals
from spewy.look.dropped import Note, StoreReads
from spewy.look.folder import open_strategies, require_solved, saved_work, stored_job, stored_policy
from spewy.look.node import NodeView, Step
from spewy.look.selection import Selection
from spewy.records.progress import first_dropped, quick_seconds, read_trace, require_whole
from spewy.system.tools import Closing, as_path

if TYPE_CHECKING:
    import pandas as pd


# Not one class with `Solution`: reports, comparisons and evaluations take a `SolveView`, and `Solution` calls them, so
# that one class would be a circle of imports.
class SolveView(Closing):
    """Reads the strategies of a solve, which may be finished, interrupted, or still running in another process.

    To show a decision, only the chunks on its line are read. In a whole game with board buckets, the strategy is that
    of the board's bucket and the hand's row; reach and equity are computed for the real board and hands; EVs are known
    only in the last round. A dropped chunk, whose strategies were deleted from the folder, is re-solved when a decision
    in it is requested, and kept in memory.
    `spewy.Solution` explains lines, boards and places.

    Args:
        job: job that the store was made for.
        store: lockers of the solve; for a whole game with board buckets its strategy locker. `close` closes it.
        target: accuracy to which dropped chunks are re-solved, such as ``"0.1%"`` of the pot where the chunk begins;
            None for the target of the last run.
        note: called with a line of text before and after each re-solve.
        folder: folder of the solve; None for a solve in memory.
    """

    def __init__(
        self,
        job: Job,
        store: Store,
        target: str | None = None,
        note: Note | None = None,
        *,
        folder: Path | None = None,
    ) -> None:
        self.job, self.store, self.folder = job, store, folder
        self.reads: ChunkReads = (
            ChunkReads(stored_policy(job, store))
            if job.sampled
            else StoreReads(job, store, target, note, folder)
        )
        self.problem = self.reads.policy.problem
        self.sweeps = self.reads.policy.saved

    @classmethod
    def open(cls, folder: str | Path, target: str | None = None, note: Note | None = None) -> Self:
        """Open the folder of a solve, or a copy of a strategy locker.

        Raises:
            lockers.LockerError: the folder holds no lockers, or damaged ones.
            NotSolvedError: nothing was saved yet.
        """
        path = as_path(folder, "folder")
        store = open_strategies(path)
        try:
            job = stored_job(store, folder)
            require_solved(saved_work(store), folder)
            return cls(job, store, target, note, folder=path)
        except BaseException:
            store.close()
            raise

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.job.name}, {self.progress}>"

    @property
    def progress(self) -> str:
        """Number of sweeps or deals that the strategies average, in words."""
        kind = "" if quick_seconds(self.store) is None else " of a quick solve"
        return f"{self.sweeps:,} {self.job.counted}{kind}"

    @property
    def quick_loss(self) -> str:
        """A sentence on the measured loss of quick answers of this depth; empty if this is no quick answer."""
        seconds = quick_seconds(self.store)
        if seconds is None:
            return ""
        from spewy.run.quick import measured_loss  # imported here, since it loads kernels

        return measured_loss(self.job, seconds)

    @property
    def checked_pct(self) -> float:
        """Exploitability of a spot's saved strategies in % of the pot; NaN if the solve has not measured it."""
        trace = read_trace(self.store)
        if not trace or trace[-1][0] != self.sweeps:
            return float("nan")
        pct, _ = self.problem.in_units(trace[-1][2])
        return float("nan") if pct is None else pct

    @cached_property
    def _hand_names(self) -> NDArray[np.str_]:
        return np.array([hand_name(hand) for hand in self.problem.hands], dtype=np.str_)

    @cached_property
    def layout(self) -> Layout:
        """All boards and all betting of the solve."""
        self.job.require_walked(f"job {self.job.name}: layout")
        return Layout.of(self.problem)

    def node(
        self, line: str | Place = "", board: str | Sequence[int] | None = None, *, ev: bool = True
    ) -> NodeView:
        """Return the decision after a line, with the hands of the player who acts.

        Without ``ev``, EVs and equities are not computed: they are NaN.
        """
        place = self.at(line, board, decision=True)
        assert place.node.player is not None
        return self._node_view(self.chunk_view(place, ev=ev), place, place.node.player)

    def waiting(
        self, line: str | Place = "", board: str | Sequence[int] | None = None, *, ev: bool = True
    ) -> NodeView:
        """Return the hands of the player who waits at a decision, without actions.

        Without ``ev``, EVs and equities are not computed: they are NaN.
        """
        place = self.at(line, board, decision=True)
        assert place.node.player is not None
        return self._node_view(self.chunk_view(place, ev=ev), place, 1 - place.node.player)

    def children(self, line: str | Place = "", board: str | Sequence[int] | None = None) -> tuple[Step, ...]:
        """Return the actions or cards that can follow a line, each with its frequency; none after the end of a hand."""
        place = self.at(line, board)
        if place.node.kind == "decision":
            return tuple(self._actions(place))
        return tuple(self._deals(place)) if place.node.kind == "chance" else ()

    def totals(self, line: str | Place = "", board: str | Sequence[int] | None = None) -> NodeTotals:
        """Return frequencies, EVs and equities of both whole ranges after a line."""
        place = self.at(line, board)
        return self.chunk_view(place).totals(place.node).in_unit(self.job.amounts)

    def at(
        self, line: str | Place = "", board: str | Sequence[int] | None = None, *, decision: bool = False
    ) -> Place:
        """Return the place after a line: the node of the betting tree, and its public cards.

        With ``decision``, a place where nobody acts is an `InputError`.
        """
        return self.reads.policy.at(line, board, decision=decision)

    def decision(self, line: str, cards: Sequence[int] | None = None) -> Place:
        """Return the decision after a line on the board ``cards``; None: the board of the root."""
        node = self.reads.policy.node(line, cards)
        return Place(node, board_cards(self.problem, node.round, cards))

    def path(self, place: Place) -> Iterator[tuple[Place, int]]:
        """Yield the decisions and deals before a place, from the root on, each with the index of the next child."""
        for t in range(self.problem.first_round, place.round + 1):
            begin = self.reads.policy.start_of(place, t)
            betting, slash, _ = place.line[len(begin.line) :].partition("/")
            for node, number in path_to(begin.node, betting + slash):
                yield Place(node, begin.cards), number

    def pot_at(self, node: Node) -> float:
        """Return the size of the pot at a node, in the unit of the job."""
        return (self.problem.pot + sum(node.put_in)) / self.job.amounts.chips

    def words(self, node: Node) -> str:
        """Describe the betting before a node in words."""
        return line_words(self.problem.tree.entered(entry_line(node.line)), node.line)

    def chunk_view(self, place: Place, *, ev: bool = True, equity: bool = True) -> ChunkView:
        """Return ranges, EVs in chips and equities at all nodes of the chunk of a place; re-solve a dropped chunk.

        Args:
            ev: whether to compute EVs and equities.
            equity: whether to compute equities before the last round in a whole game with board buckets; no effect in
                other solves.
        """
        return self.reads.view(place, ev=ev, equity=equity)

    def select(
        self,
        line: str | None = None,
        board: str | None = None,
        round_name: str | None = None,
        player: int | None = None,
    ) -> Selection:
        """Select the decisions that fulfil all given conditions: see `spewy.look.selection.Selection.of`."""
        return Selection.of(self.problem, line=line, board=board, round_name=round_name, player=player)

    def views(self, selection: Selection) -> Iterator[NodeView]:
        """Yield the selected decisions, each with the hands of the player who acts, round by round and board by board.

        Raises:
            InputError: all boards are selected, but a selected round was dropped or the solve has board buckets.
        """
        first = first_dropped(self.store)
        if selection.only is None:
            if first is not None and selection.last_round >= first:
                require_whole(self.store, self.job.rules.num_rounds, self.job.name)
            if selection.last_round > self.problem.first_round:
                self.job.require_walked(f"job {self.job.name}: decisions on all boards")
        return self._views_of(selection)

    def frames(self) -> Iterator[pd.DataFrame]:
        """Yield a data frame for each decision on each canonical board, round by round.

        Raises:
            InputError: rounds were dropped, or the solve has board buckets.
        """
        return (node.frame() for node in self.views(self.select()))

    def close(self) -> None:
        self.reads.close()

    def _views_of(self, selection: Selection) -> Iterator[NodeView]:
        for decisions in selection.places():
            chunk = self.chunk_view(decisions[0])
            for place in decisions:
                assert place.node.player is not None
                yield self._node_view(chunk, place, place.node.player)

    def _node_view(self, chunk: ChunkView, place: Place, player: int) -> NodeView:
        node, acts = place.node, player == place.node.player
        arrays = chunk.node(node) if acts else chunk.waiting(node)
        hands, units = chunk.play.hands[player], self.problem.units
        names = self._hand_names[hands]
        reach = arrays.reach if units is None else arrays.reach * units[player][hands]
        order = np.lexsort((names, -reach))
        weights = [self.problem.ranges[p][chunk.play.hands[p]].sum() for p in (0, 1)]
        arriving = [own.sum() for own in chunk.reach[node.line]]
        return NodeView(
            player,
            Line(node.line),
            place.cards,
            tuple(action.label for action in node.actions) if acts else (),
            tuple(names[order].tolist()),
            reach[order],
            arrays.strategy[:, order],
            arrays.ev[order],
            arrays.action_ev[:, order],
            arrays.equity[order],
            game=self.job.rules,
            board_bucket=self.reads.policy.board_bucket(place),
            follow=partial(self.children, place),
            reached=float(np.prod(arriving) / np.prod(weights)) if all(weights) else np.nan,
        ).in_unit(self.job.amounts)

    def _actions(self, place: Place) -> Iterator[Step]:
        node = place.node
        frequencies = self.chunk_view(place, ev=False).frequencies(node).tolist()
        for action, child, share in zip(node.actions, node.children, frequencies, strict=True):
            yield self._step(action.label, share, Place(child, place.cards))

    def _deals(self, place: Place) -> Iterator[Step]:
        (child,) = place.node.children
        game = self.problem.game
        if not game.num_board_cards[child.round]:
            yield self._step("no cards", 1.0, Place(child, place.cards))
            return
        chunk = self.chunk_view(place, ev=False)
        deals = possible_deals(self.problem, place.round, place.cards)
        weights = _weights(
            self.problem, chunk.reach[place.line], chunk.play.hands, [dealt for dealt, _ in deals]
        )
        weights = weights * np.array([count for _, count in deals])
        total = weights.sum()
        shares = weights / total if total > 0 else np.full(len(deals), np.nan)
        for (dealt, count), share in zip(deals, shares.tolist(), strict=True):
            board = game.board_order((*place.cards, *dealt))
            yield self._step(cards_name(dealt), share, Place(child, board), count)

    def _step(self, name: str, share: float, place: Place, count: int = 1) -> Step:
        return Step(
            name,
            share,
            place.node.kind,
            self.job.amounts.line_text(place.line),
            place.cards,
            count,
            partial(self.node, place),
            partial(self.children, place),
        )


def _weights(
    problem: Problem, reach: tuple[Floats, Floats], hands: tuple[Ints, Ints], deals: Sequence[Cards]
) -> Floats:
    """Sum the weights of all pairs of compatible hands that have no card of a deal: an array ``[deal]``.

    Args:
        reach: both ranges at the node, per player ``[hand]``.
        hands: for each player ``[hand]``, the hands' indices among all hands of the deck.
    """
    deck = problem.hands
    n_held, n_cards = deck.shape[1], 1 + max(problem.game.deck.cards)
    left = np.ones((len(deals), n_cards))
    left[np.arange(len(deals))[:, None], np.array(deals)] = 0.0
    by_cards = [_by_cards(deck[own], r, n_cards) for own, r in zip(hands, reach, strict=True)]
    with_card = [left * (left @ table) for table in by_cards]
    first, second = (each.sum(axis=1) / n_held for each in with_card)
    # All pairs, without those that share a card. Equal hands of two cards share both, so they would count twice.
    weights: Floats = first * second - np.einsum("dc,dc->d", *with_card)
    if n_held == 2:
        weights += np.einsum("dc,dc->d", left, left @ (by_cards[0] * by_cards[1])) / 2
    return np.where(weights > NOTHING * first * second, weights, 0.0)


def _by_cards(cards: Ints, reach: Floats, n_cards: int) -> Floats:
    """Arrange reach ``[hand]`` of hands ``[hand, hole card]`` as a symmetric array ``[card, card]``.

    Hands of one card are on the diagonal.
    """
    table = np.zeros((n_cards, n_cards))
    table[cards[:, 0], cards[:, -1]] = table[cards[:, -1], cards[:, 0]] = reach
    return table
