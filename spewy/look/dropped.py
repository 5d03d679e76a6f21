"""Re-solve the dropped rounds of a store when somebody looks at them; nothing is written.

A chunk of the first dropped round and all that follows it is a game of its own: both ranges at its root, its pot, its
stacks and its betting are those of the solve. It is solved with a row per hand to a target in that game and kept in
memory. Its value is that of the dropped strategies within both targets; its strategies may be those of another
equilibrium, and where the ranges hardly ever come, nothing ties them to the dropped ones.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from buckets.cards import History
from lockers import Store
from solvers.tree import Floats
from spewy.chunks.layout import Layout
from spewy.chunks.locate import solved_board
from spewy.chunks.problem import by_hand
from spewy.chunks.subgame import subgame_at
from spewy.errors import InputError, shown
from spewy.job.job import Job
from spewy.job.units import parse_target, unit_chips
from spewy.look.chunk import Cards, ChunkReads
from spewy.records.chunk_policy import ChunkPolicy
from spewy.records.leaves import Pair
from spewy.records.patched_reads import PatchedReads
from spewy.records.policy import ChunkPlay
from spewy.records.progress import last_target

Note = Callable[[str], None]


class StoreReads(ChunkReads):
    """Reads the chunks of a store, and re-solves dropped rounds and missing values of chance leaves.

    A dropped chunk is solved again, and missing values of chance leaves are computed by a walk through what follows
    (`spewy.learn.walks`), when somebody looks there.

    Args:
        job: job that the store was made for.
        store: lockers of the job.
        target: accuracy of dropped rounds, as in a job file; % are of the pot where the chunk begins. None for the
            target of the last solve.
        note: called with a line before and after each solve.

    Attributes:
        store: the lockers, with what was solved again on top.

    Raises:
        InputError: the target is invalid, or in a unit that does not apply.
    """

    def __init__(self, job: Job, store: Store, target: str | None = None, note: Note | None = None) -> None:
        self.store = PatchedReads(store)
        self._problem = by_hand(job.problem, self.store.first)
        super().__init__(ChunkPolicy(self._problem, store, self.store), most_boards=None)
        self._job, self._note = job, note or _silence
        self._target = (last_target(store) or job.solve.target) if target is None else target
        try:
            unit = parse_target(self._target)[1]
        except ValueError as error:
            raise InputError(f"target: {error}, found {shown(target)}") from None
        if unit != "%":
            unit_chips(job.rules, job.pot, unit)
        self._solved: set[tuple[Cards, str]] = set()

    @property
    def n_solved(self) -> int:
        """Number of chunks that were re-solved."""
        return len(self._solved)

    def require(self, line: str, cards: Cards) -> None:
        """Re-solve the dropped chunk that contains a chunk, unless that was done before.

        Args:
            line: line that enters the chunk, ``""`` or ending in ``/``.
            cards: public cards, the root's first.

        Raises:
            InputError: the solve needs more memory than ``solve.memory`` allows.
        """
        first, root = self.store.first, self._problem.first_round
        if first is None or root + line.count("/") < first:
            return
        line = "".join(f"{part}/" for part in line.split("/")[: first - root])
        n_cards = sum(self._job.rules.num_board_cards[: first + 1])
        history = solved_board(self._problem, first, cards[:n_cards])[0]
        solved = tuple(card for group in history for card in group)
        if (solved, line) not in self._solved:
            from spewy.look.resolve import Resolve  # which loads kernels

            part, ranges = self.part(line, first, history)
            Resolve(self._job, self._target, self._note, part).run(ranges, self.store)
            self._solved.add((solved, line))

    def part(self, line: str, number: int, history: History) -> tuple[Layout, tuple[Floats, Floats]]:
        """Return the subgame that a line enters on a solved board of a round.

        Args:
            line: line that enters the chunk.
            number: round of the game.
            history: public cards of the solved board.

        Returns:
            The layout of the chunk and what follows, and the ranges at its root, per player ``[row's hand]``.
        """
        part = subgame_at(self._problem, number, history, line)
        cards, rows = part.board(0, 0).cards, part.board(0, 0).hands
        hands, ranges = self.hands(cards), self.ranges(line, cards)
        oop, ip = (ranges[p][np.searchsorted(hands[p], rows[p].numbers)] for p in (0, 1))
        return part, (oop, ip)

    def leaf_values(self, line: str, cards: Cards, play: ChunkPlay) -> Pair | None:
        """Return the values of the chance leaves, from the store or from a walk; see `ChunkReads.leaf_values`."""
        n_leaves, n_hands = len(play.chance_leaves), (len(play.hands[0]), len(play.hands[1]))
        if not n_leaves:
            return super().leaf_values(line, cards, play)
        solved = play.solved
        assert solved is not None
        values = self.store.leaves(play.round, solved.key, n_leaves, n_hands)
        if values is None:
            from spewy.learn.walks import walked_leaves

            part, (oop, ip) = self.part(line, play.round, solved.history)
            walked = walked_leaves(part, self.store, (oop[None], ip[None]), self._job.solve.threads)
            self.store.put_leaves(part, 0, 0, walked)
            values = walked[0][:, : n_hands[0]], walked[1][:, : n_hands[1]]
        return values[0][:, solved.rows[0]], values[1][:, solved.rows[1]]


def _silence(text: str) -> None:
    """Ignore a line of text."""
