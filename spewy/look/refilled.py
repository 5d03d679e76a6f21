"""A store in which rounds are dropped, and values of leaves may be missing, read as if all were there.

What is missing is found where somebody looks: a dropped chunk is solved again (`spewy.look.resolve`), and what going on
is worth is walked through (`spewy.learn.leaf_walks`) where the solve has not kept it. Nothing is written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from buckets.cards import History
from lockers import Store
from solvers.tree import Floats
from spewy.chunks.layout import Layout
from spewy.chunks.locate import solved_board
from spewy.chunks.problem import by_hand
from spewy.chunks.subgame import subgame_at
from spewy.errors import InputError, shown
from spewy.game.nodes import Node
from spewy.job.job import Job
from spewy.job.units import parse_target, unit_chips
from spewy.look.chunk_views import Cards, ChunkViews
from spewy.records.chunk_policy import ChunkPolicy
from spewy.records.leaves import Pair
from spewy.records.patched_reads import PatchedReads
from spewy.records.policy import ChunkPlay
from spewy.records.progress import last_target

Note = Callable[[str], None]


class Refilled:
    """The chunks of a store as they are looked at.

    Args:
        job: what the store was made for.
        store: its lockers.
        target: accuracy of dropped rounds, as in a job file, % are of the pot where a chunk begins; None: the last
            solve's target.
        note: told of each solve before and after.

    Attributes:
        store: the lockers with what was solved laid over them.
        views: of all chunks; those of dropped rounds once `require` was asked for them.

    Raises:
        InputError: the target is none, or in a unit that does not apply.
    """

    def __init__(self, job: Job, store: Store, target: str | None = None, note: Note | None = None) -> None:
        self._job, self._note = job, note or _silence
        self.store = PatchedReads(store)
        self._problem = by_hand(job.problem, self.store.first)
        self._policy = ChunkPolicy(self._problem, store, self.store)
        self.views = ChunkViews(self._policy, self._leaves)
        self._target = (last_target(store) or job.solve.target) if target is None else target
        try:
            unit = parse_target(self._target)[1]
        except ValueError as error:
            raise InputError(f"--target: {error}, found {shown(target)}") from None
        if unit != "%":
            unit_chips(job.rules, job.pot, unit)
        self._solved: set[tuple[Cards, str]] = set()

    @property
    def n_solved(self) -> int:
        """How many chunks were solved so far."""
        return len(self._solved)

    def decision(self, line: str, board: str | Sequence[int] | None = None) -> Node:
        """The decision at a line of the betting tree, on a board, as `Policy.node` finds it.

        Raises:
            InputError: no such line, or no decision there.
        """
        return self._policy.node(line, board)

    def require(self, line: str, cards: Cards) -> None:
        """Solve what a chunk belongs to, if that was dropped, unless it has been.

        Args:
            line: that enters the chunk, ``""`` or ending in ``/``.
            cards: of its board, the root's first.

        Raises:
            InputError: it needs more memory than ``solve.memory`` allows.
        """
        first, root = self.store.first, self._problem.first_round
        if first is None or root + line.count("/") < first:
            return
        line = "".join(f"{part}/" for part in line.split("/")[: first - root])
        history = solved_board(
            self._problem, first, cards[: sum(self._job.rules.num_board_cards[: first + 1])]
        )[0]
        solved = tuple(card for group in history for card in group)
        if (solved, line) not in self._solved:
            from spewy.look.resolve import Order, resolve  # which loads kernels

            part, ranges = self.part(line, first, history)
            resolve(Order(self._job, self._target, self._note), part, ranges, self.store)
            self._solved.add((solved, line))

    def part(self, line: str, number: int, history: History) -> tuple[Layout, tuple[Floats, Floats]]:
        """The chunk that a line enters on a solved board of a round of the game, with all that follows it there.

        Returns:
            Its layout, and per player ``[row's hand]``, the range at its root.
        """
        part = subgame_at(self._problem, number, history, line)
        return part, self._ranges(part, line, part.board(0, 0).cards)

    def _leaves(self, line: str, cards: Cards, play: ChunkPlay) -> Pair:
        n_exits, n_hands = len(play.chance_leaves), (len(play.hands[0]), len(play.hands[1]))
        if not n_exits:
            return np.empty((0, n_hands[0])), np.empty((0, n_hands[1]))
        assert play.solved is not None
        found = self.store.leaves(play.round, play.solved.key, n_exits, n_hands)
        if found is None:
            from spewy.learn.leaf_walks import walked_leaves  # which loads kernels

            part, (first, second) = self.part(line, play.round, play.solved.history)
            values = walked_leaves(part, self.store, (first[None], second[None]), self._job.solve.threads)
            self.store.put_leaves(part, 0, 0, values)
            found = values[0][:, : n_hands[0]], values[1][:, : n_hands[1]]
        return found

    def _ranges(self, part: Layout, line: str, cards: Cards) -> tuple[Floats, Floats]:
        """Per player ``[row's hand]`` at the root of a part."""
        hands, ranges = self.views.hands(cards), self.views.ranges(line, cards)
        rows = part.board(0, 0).rows
        first, second = (ranges[p][np.searchsorted(hands[p], rows[p].hands)] for p in (0, 1))
        return first, second


def _silence(text: str) -> None:
    """Note nobody."""
