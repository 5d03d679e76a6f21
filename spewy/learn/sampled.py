"""Engine that learns a whole game by dealing boards, in memory: `solvers.sampled` on the cards of `buckets`."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from solvers.errors import SolverError
from solvers.sampled.engine import DEFAULT_DISCOUNT, Dealt, SampledCfr
from solvers.sampled.numbers import Numbers
from solvers.sampled.quantise import Bytes, ByteTables, byte_tables, quantise
from solvers.tree import Ints
from spewy.chunks.rounds import LineForest
from spewy.errors import SolveError
from spewy.game.gamefile import Game
from spewy.learn.background_saves import BackgroundSaves, Opener
from spewy.learn.combined_flops import Finding
from spewy.learn.engine import Check, Counted, Goal, Progress, Saves, Spread, Stop
from spewy.learn.real_game import RealGame, rows_know_suits
from spewy.records.bucket_numbers import BucketNumbers, Mark, read_buckets, read_mark
from spewy.records.line_index import LineIndex
from spewy.system.closing import Closing
from spewy.system.turns import TakingTurns

if TYPE_CHECKING:
    from buckets.abstraction import Abstraction


PORTION_SECONDS = 0.3
"""Duration of a portion of deals in seconds."""


class SampledEngine(Closing):
    """Engine that deals boards; continues from the numbers in a store.

    Args:
        game: the rules.
        rounds: the betting.
        abstraction: classes and rows of the game's boards.
        seed: seed of the deals.
        threads: number of threads that learn.
        short: whether numbers are kept in 16 bits.
        cfr_br: share of the opponent's play on the last round that best-responds on the dealt board, 0 to 1.
        opened: opens the store of earlier runs, to read it; None if there were none.
        check_flops: number of flops that a check draws, the same ones each time; a small game is measured on all.

    Attributes:
        numbers: regrets and averages.
        discount: discount of earlier visits.
        lines: positions of lines in the bytes of a class, by round.
        earlier: deals and seconds of earlier runs, as the store has them.
        changing: a lock that deals hold while they change numbers; a class that is copied under it is whole.

    Raises:
        lockers.DamagedLockerError: what the store holds is not what was written.
    """

    counted: Counted = "deals"
    saves: Saves = "in background"

    def __init__(
        self,
        game: Game,
        rounds: Sequence[LineForest],
        abstraction: Abstraction,
        seed: int,
        *,
        threads: int,
        short: bool,
        cfr_br: float,
        opened: Opener | None,
        check_flops: int = 1,
    ) -> None:
        n_rows = abstraction.n_rows
        self._game, self._rounds, self._abstraction, self._seed = game, rounds, abstraction, seed
        self.discount = DEFAULT_DISCOUNT
        self._cfr = SampledCfr(
            [one.forest for one in rounds],
            abstraction.n_classes,
            n_rows,
            abstraction.n_hands,
            len(abstraction.deck) - sum(abstraction.board_sizes),
            self._dealt,
            discount=self.discount,
            cfr_br=cfr_br,
            threads=threads,
            short=short,
        )
        self.changing = TakingTurns()
        self._check_flops, self._portion, self._inherited = check_flops, 1, 0.0
        self._saving: BackgroundSaves | None = None
        try:
            self.numbers: Numbers = self._cfr.numbers
            self.earlier = Mark()
            if opened is not None:
                read_buckets(opened, self.numbers)
                with opened() as store:
                    self.earlier = read_mark(store)
        except BaseException:
            self.close()
            raise
        self._cfr.iteration = self.earlier.deals
        self.lines = [
            LineIndex.of(one.lines, batches, k)
            for one, batches, k in zip(rounds, self._cfr.batches, n_rows, strict=True)
        ]
        self._n_rows = n_rows
        self._tables: list[tuple[ByteTables, ByteTables]] = [
            (byte_tables(batches, 0, k), byte_tables(batches, 1, k))
            for batches, k in zip(self._cfr.batches, n_rows, strict=True)
        ]

    @property
    def done(self) -> int:
        """Number of finished deals, including those of earlier runs."""
        return self._cfr.iteration

    @property
    def threads(self) -> int:
        """Number of threads that learn."""
        return self._cfr.threads

    @property
    def settled(self) -> bool:
        """Whether the numbers include exactly the counted deals."""
        return True

    @property
    def seconds_before(self) -> float:
        """Seconds of work in earlier runs, and in the solve from which this solve started."""
        return self.earlier.seconds + self._inherited

    @property
    def save_took(self) -> float | None:
        """Duration of the last save in seconds; None before the first save."""
        return None if self._saving is None else self._saving.took

    def run(self, goal: Goal, stop: Stop, progress: Progress) -> Sequence[Check]:
        """Do a portion of deals; when this returns, no thread writes to the numbers."""
        left = goal.left(self.done)
        n = self._portion if left is None else min(self._portion, left)
        begun = time.perf_counter()
        self.deal(n, stop)
        self._portion = self.next_portion(n, time.perf_counter() - begun)
        return ()

    def deal(self, n: int, stop: Stop) -> None:
        """Do ``n`` deals; on a cluster, ``stop`` ends the wait for absent workers."""
        with self.changing:
            self._cfr.run(n)

    def next_portion(self, n: int, seconds: float) -> int:
        """Number of deals for about a third of a second, given that the last ``n`` deals took ``seconds``."""
        return max(1, min(2 * n, int(n * PORTION_SECONDS / seconds)))

    def start_from(
        self,
        opened: Opener,
        old: Abstraction,
        new: Abstraction,
        mark: Mark,
        *,
        short: bool,
    ) -> None:
        """Start from another solve of the game with other board buckets and rows.

        Args:
            opened: opens the store, to read it.
            old: its classes and rows.
            new: this solve's.
            mark: deals and seconds of the other solve.
            short: whether its numbers are kept in 16 bits.

        Raises:
            lockers.DamagedLockerError: what the store holds is not what was written.
        """
        from buckets.abstraction.overlap import overlaps
        from solvers.sampled.inherit import inherit

        learnt = Numbers.zeros(self._cfr.batches, old.n_classes, old.n_rows, short=short)
        read_buckets(opened, learnt)
        inherit(self._cfr.batches, learnt, self.numbers, overlaps(old, new))
        self._cfr.iteration, self._inherited = mark.deals, mark.seconds

    def copied(self, t: int, class_: int) -> BucketNumbers:
        """Return a copy of a board bucket's numbers; the caller holds `changing`."""
        numbers = self.numbers
        visits = numbers.visits[t][:, class_].copy()

        def both(pair: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
            n_classes = len(numbers.visits[t][0])
            first, second = (whole.reshape(n_classes, -1)[class_].copy() for whole in pair)
            return first, second

        return BucketNumbers(t, class_, both(numbers.regrets[t]), both(numbers.sums[t]), visits)

    def class_bytes(self, t: int) -> int:
        """Bytes of the regrets and sums of a board bucket of round t."""
        wholes = (*self.numbers.regrets[t], *self.numbers.sums[t])
        n_bytes: int = sum(whole.nbytes for whole in wholes)
        return n_bytes // int(self.numbers.visits[t].shape[1])

    def bytes_of(self, numbers: BucketNumbers) -> tuple[Bytes, Bytes]:
        """Return the average strategy of a board bucket in the bytes of a strategy locker.

        Raises:
            SolveError: it has what is no number.
        """
        k, tables = self._n_rows[numbers.t], self._tables[numbers.t]
        try:
            return quantise(numbers.sums[0], k, tables[0]), quantise(numbers.sums[1], k, tables[1])
        except SolverError as error:
            raise SolveError(
                f"round {numbers.t}, board bucket {numbers.class_}: {error}; nothing of it is saved"
            ) from None

    def visits(self) -> list[Ints]:
        """Per round ``[player, class]``: number of visits of each bucket."""
        return [visits.copy() for visits in self.numbers.visits]

    def visits_of_deals(self) -> list[Ints]:
        """Per round ``[player, class]``: number of visits of each bucket by the counted deals."""
        return [v - ahead for v, ahead in zip(self.numbers.visits, self.numbers.ahead, strict=True)]

    def spread(self) -> tuple[Spread, ...]:
        """Visits of board buckets, per round."""
        return tuple(
            Spread(int(counts[0].min()), float(np.median(counts[0]))) for counts in self.numbers.visits
        )

    def measure(self, stop: Stop, tell: Callable[[int, int], object]) -> Check | None:
        """Measure on a fixed random sample of flops; None soon after ``stop`` is set."""
        begun, done = time.perf_counter(), self.done
        finding = self.judge(self._check_flops, stop, tell)
        if finding is None:
            return None
        ended = time.perf_counter()
        return Check(
            done,
            ended,
            ended - begun,
            finding.exploitability,
            net=(finding.value, -finding.value),
            stderr=finding.stderr,
            flops=finding.flops,
            core_seconds=finding.seconds,
        )

    def judge(self, flops: int, stop: Stop, tell: Callable[[int, int], object]) -> Finding | None:
        """Measure on a number of flops, with this engine's threads; None if ``stop`` was set."""
        return self._real_game.judge(flops, threads=self.threads, stop=stop, tell=tell)

    def expected_values(self) -> tuple[float, float] | None:
        """None, since only a check computes expected values."""
        return None

    def save_to(self, store: Opener, play: Opener) -> None:
        """Save to these lockers from now on.

        Args:
            store: opens the lockers of regrets and sums.
            play: opens the strategy locker.
        """
        self._saving = BackgroundSaves(self, store, play)

    def saved(self) -> int:
        """Number of deals in the last finished save.

        Raises:
            lockers.LockerError: a save in the background has failed.
        """
        if self._saving is None:
            return self.earlier.deals
        self._saving.collect()
        return self._saving.saved.deals

    def save(self, seconds: float, dropping: int | None = None, *, wait: bool = True) -> None:
        """Save new numbers, in the background unless ``wait``."""
        assert self._saving is not None, "save_to comes first"
        mark = Mark(self.done, seconds)
        if wait:
            self._saving.finish(mark)
        else:
            self._saving.begin(mark)

    def _dealt(self, first: int, n: int) -> Dealt:
        """Return deals ``first`` to ``first + n - 1`` of the endless sequence."""
        return self._abstraction.deal(self._seed, range(first, first + n))

    @cached_property
    def _real_game(self) -> RealGame:
        board_buckets = self._abstraction
        return RealGame(
            self._game,
            [one.forest for one in self._rounds],
            self._cfr.batches,
            board_buckets,
            board_buckets.n_classes,
            board_buckets.n_rows,
            self.numbers.sums,
            symmetric=not rows_know_suits(board_buckets.arrays),
        )

    def close(self) -> None:
        """Stop the threads."""
        if self._saving is not None:
            self._saving.close()
        self._cfr.close()
