"""A whole game learnt by deals of its board, in memory: `solvers.sampled` on the cards of `buckets`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from lockers import Store
from solvers.errors import SolverError
from solvers.sampled.engine import DEFAULT_SCHEDULE, Dealt, SampledCfr
from solvers.sampled.numbers import Numbers
from solvers.sampled.quantise import Bytes, ByteTables, byte_tables, quantise
from solvers.tree import Ints
from spewy.chunks.rounds import LineForest
from spewy.errors import SolveError
from spewy.game.gamefile import Game
from spewy.learn.combined_flops import Finding
from spewy.learn.engine import Stop
from spewy.learn.real_game import RealGame, rows_know_suits
from spewy.records.bucket_numbers import BucketNumbers, Mark, read_buckets, read_mark
from spewy.records.strategy_locker import LineIndex
from spewy.system.closing import Closing
from spewy.system.turns import TakingTurns

if TYPE_CHECKING:
    from buckets.abstraction import Abstraction


PORTION_SECONDS = 0.3
"""Of deals that are done at once."""


class SampledEngine(Closing):
    """A solve by deals, which goes on from what a store holds.

    Args:
        game: the rules.
        rounds: the betting.
        abstraction: classes and rows of the game's boards.
        seed: seed of the deals.
        threads: number of threads that learn.
        short: whether numbers are kept in 16 bits.
        answers: how much of the opponent's play on the last round is its best answer on the dealt board, 0 to 1.
        opened: opens the store of earlier runs, to read it; None if there were none.

    Attributes:
        numbers: regrets and averages.
        schedule: how much earlier visits count.
        lines: positions of lines in the bytes of a class, by round.
        earlier: deals and seconds of earlier runs, as the store has them.
        changing: a lock that deals hold while they change numbers; a class that is copied under it is whole.
        visits_every_round: whether a deal visits a class of every round.

    Raises:
        lockers.DamagedLockerError: what the store holds is not what was written.
    """

    visits_every_round = True

    def __init__(
        self,
        game: Game,
        rounds: Sequence[LineForest],
        abstraction: Abstraction,
        seed: int,
        *,
        threads: int,
        short: bool,
        answers: float,
        opened: Callable[[], Store] | None,
    ) -> None:
        n_rows = abstraction.n_rows
        self._game, self._rounds, self._abstraction, self._seed = game, rounds, abstraction, seed
        self.schedule = DEFAULT_SCHEDULE._replace(answering=answers)
        self._cfr = SampledCfr(
            [one.forest for one in rounds],
            abstraction.n_classes,
            n_rows,
            abstraction.n_hands,
            len(abstraction.deck) - sum(abstraction.board_sizes),
            self._dealt,
            schedule=self.schedule,
            threads=threads,
            short=short,
        )
        self.changing = TakingTurns()
        try:
            self.numbers: Numbers = self._cfr.numbers
            self.earlier = Mark()
            if opened is not None:
                read_buckets(opened, self.numbers, every_round=self.visits_every_round)
                with opened() as store:
                    self.earlier = read_mark(store)
        except BaseException:
            self.close()
            raise
        self._cfr.iteration = self.earlier.deals
        self.lines = [
            LineIndex.of(one.lines, strips, k)
            for one, strips, k in zip(rounds, self._cfr.strips, n_rows, strict=True)
        ]
        self._n_rows = n_rows
        self._tables: list[tuple[ByteTables, ByteTables]] = [
            (byte_tables(strips, 0, k), byte_tables(strips, 1, k))
            for strips, k in zip(self._cfr.strips, n_rows, strict=True)
        ]

    @property
    def deals(self) -> int:
        """Deals that are done, earlier runs' included."""
        return self._cfr.iteration

    @property
    def threads(self) -> int:
        """How many learn at once."""
        return self._cfr.threads

    @property
    def settled(self) -> bool:
        """Whether the numbers are those of the deals that are counted."""
        return True

    def run(self, n: int, stop: Stop) -> None:
        """Do so many deals more; when this returns, nobody writes to the numbers.

        Args:
            n: few enough that they need not be stopped.
            stop: looked at where nobody is there to do them.
        """
        with self.changing:
            self._cfr.run(n)

    def next_portion(self, n: int, seconds: float) -> int:
        """How many deals to do at once where n took so long: between two of them it is looked at what else is to do."""
        return max(1, min(2 * n, int(n * PORTION_SECONDS / seconds)))

    def start_from(
        self, opened: Callable[[], Store], old: Abstraction, new: Abstraction, mark: Mark, *, short: bool
    ) -> None:
        """Begin with what a store of another solve of the game holds, of other classes and rows, and where that was.

        Args:
            opened: opens the store, to read it.
            old: its classes and rows.
            new: this solve's.
            mark: what it had done.
            short: whether its numbers are kept in 16 bits.

        Raises:
            lockers.DamagedLockerError: what the store holds is not what was written.
        """
        from buckets.abstraction.overlap import overlaps
        from solvers.sampled.inherit import inherit

        learnt = Numbers.zeros(self._cfr.strips, old.n_classes, old.n_rows, short=short)
        read_buckets(opened, learnt)
        inherit(self._cfr.strips, learnt, self.numbers, overlaps(old, new))
        self._cfr.iteration = mark.deals

    def copied(self, t: int, class_: int) -> BucketNumbers:
        """A copy of the numbers of a class; the caller holds `changing`."""
        numbers = self.numbers
        visits = numbers.visits[t][:, class_].copy()

        def both(pair: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
            n_classes = len(numbers.visits[t][0])
            first, second = (whole.reshape(n_classes, -1)[class_].copy() for whole in pair)
            return first, second

        return BucketNumbers(t, class_, both(numbers.regrets[t]), both(numbers.sums[t]), visits)

    def class_bytes(self, t: int) -> int:
        """Bytes of the regrets and sums of a class of round t."""
        wholes = (*self.numbers.regrets[t], *self.numbers.sums[t])
        n_bytes: int = sum(whole.nbytes for whole in wholes)
        return n_bytes // int(self.numbers.visits[t].shape[1])

    def bytes_of(self, one: BucketNumbers) -> tuple[Bytes, Bytes]:
        """The average strategy of a class, as a play locker has it.

        Raises:
            SolveError: it has what is no number.
        """
        k, tables = self._n_rows[one.t], self._tables[one.t]
        try:
            return quantise(one.sums[0], k, tables[0]), quantise(one.sums[1], k, tables[1])
        except SolverError as error:
            raise SolveError(f"round {one.t}, class {one.class_}: {error}; nothing of it is saved") from None

    def visits(self) -> list[Ints]:
        """Per round ``[player, class]``: how often each was visited."""
        return [visits.copy() for visits in self.numbers.visits]

    def visits_of_deals(self) -> list[Ints]:
        """Per round ``[player, class]``: how often the counted deals have visited each class."""
        return [v - ahead for v, ahead in zip(self.numbers.visits, self.numbers.ahead, strict=True)]

    def judge(self, flops: int, stop: Stop, tell: Callable[[int, int], object]) -> Finding | None:
        """Measure how far average strategies are from an equilibrium of the real game; None if ``stop`` was set.

        Args:
            flops: number of flops to draw, the same ones each time; a small game is judged on all.
            stop: once it is set, judging ends within tenths of a second and returns None.
            tell: called with the number of flops that are done, and of all.
        """
        return self._real_game.judge(flops, threads=self.threads, stop=stop, tell=tell)

    def _dealt(self, first: int, n: int) -> Dealt:
        """Deals of the endless sequence."""
        return self._abstraction.deal(self._seed, range(first, first + n))

    @cached_property
    def _real_game(self) -> RealGame:
        made = self._abstraction
        return RealGame(
            self._game,
            [one.forest for one in self._rounds],
            self._cfr.strips,
            made,
            made.n_classes,
            made.n_rows,
            self.numbers.sums,
            symmetric=not rows_know_suits(made.arrays),
        )

    def close(self) -> None:
        """Stop the threads."""
        self._cfr.close()
