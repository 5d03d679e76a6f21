"""Solve a whole game in memory by dealing boards at random."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from threading import Event
from typing import TYPE_CHECKING
from weakref import proxy

import numpy as np

from solvers.errors import SolverError
from solvers.sampled.engine import DEFAULT_DISCOUNT, Dealt, SampledCfr
from solvers.sampled.numbers import Arrays, Numbers
from solvers.sampled.quantise import Bytes, ByteTables, byte_tables, quantise
from solvers.tree import Ints
from spewy.chunks.rounds import LineForest
from spewy.errors import SolveError
from spewy.game.gamefile import Game
from spewy.learn.background_saves import BackgroundSaves, Opener
from spewy.learn.engine import Check, Engine, Goal, Progress, Spread, Stop
from spewy.learn.real_game import Finding, RealGame, rows_know_suits
from spewy.records.bucket_numbers import BucketNumbers, Mark, read_buckets, read_mark
from spewy.records.policy import board_abstraction
from spewy.records.strategy_locker import LineIndex, StrategyLocker
from spewy.system.tools import TakingTurns

if TYPE_CHECKING:
    from buckets.abstraction import Abstraction


PORTION_SECONDS = 0.3
"""Target duration of one call of `SampledEngine.run` in seconds."""


class SampledEngine(Engine):
    """Engine that deals boards at random; it continues from the regrets and strategy sums in a store.

    Args:
        short: whether regrets and strategy sums are 16-bit numbers.
        cfr_br: share of the opponents' play that is a rival's (CFR-BR), 0 to 1.
        opened: opens the store of earlier runs for reading; None for the first run.
        check_flops: number of flops on which a check measures exploitability; all checks use the same flops. In small
            games every check uses all flops.

    Attributes:
        numbers: regrets, strategy sums and numbers of visits.
        discount: how fast the weight of earlier visits decreases.
        lines: by round, where the strategy of each betting line lies in the bytes of a board bucket.
        earlier: deals and seconds of earlier runs.
        changing: a lock that threads hold while they change regrets and sums. Whoever holds the lock can copy a bucket
            in a consistent state.

    Raises:
        lockers.DamagedLockerError: the content of the store is damaged.
    """

    counted = "deals"
    saves = "in background"
    slow = True
    advice = ""

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
        super().__init__(threads)
        n_rows, engine = abstraction.n_rows, proxy(self)
        self._game, self._rounds, self._abstraction, self._seed = game, rounds, abstraction, seed
        self.discount = DEFAULT_DISCOUNT
        self._cfr = SampledCfr(
            [betting.forest for betting in rounds],
            abstraction.n_board_buckets,
            n_rows,
            abstraction.n_hands,
            len(abstraction.deck) - sum(abstraction.board_sizes),
            lambda first, n: engine._dealt(first, n),
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
            LineIndex.of(betting.lines, batches, k)
            for betting, batches, k in zip(rounds, self._cfr.batches, n_rows, strict=True)
        ]
        self._n_rows = n_rows
        self._tables: list[tuple[ByteTables, ByteTables]] = [
            (byte_tables(batches, 0, k), byte_tables(batches, 1, k))
            for batches, k in zip(self._cfr.batches, n_rows, strict=True)
        ]

    @property
    def done(self) -> int:
        return self._cfr.iteration

    @property
    def seconds_before(self) -> float:
        """Seconds of work in earlier runs, and in the other solve whose regrets `start_from` has loaded."""
        return self.earlier.seconds + self._inherited

    @property
    def save_took(self) -> float | None:
        return None if self._saving is None else self._saving.took

    def run(self, goal: Goal, stop: Stop, progress: Progress) -> Sequence[Check]:
        """Make deals for a short time, and return no checks; afterwards no thread changes any number."""
        n_left = goal.left(self.done)
        n = self._portion if n_left is None else min(self._portion, n_left)
        begun = time.perf_counter()
        self.deal(n, stop)
        self._portion = self.next_portion(n, time.perf_counter() - begun)
        return ()

    def deal(self, n: int, stop: Stop) -> None:
        with self.changing:
            self._cfr.run(n)

    def next_portion(self, n: int, seconds: float) -> int:
        """Return how many deals to make next, so that they take 0.3 s, if the last ``n`` deals took ``seconds``."""
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
        """Load the regrets and averages of an earlier solve of the same game, with other board buckets and rows.

        ``opened`` opens the earlier solve's store for reading, ``old`` is its abstraction, ``mark`` counts its deals
        and seconds, and ``short`` says whether its numbers have 16 bits. ``new`` is the abstraction of this solve.
        """
        from buckets.abstraction.abstraction import overlaps
        from solvers.sampled.numbers import inherit

        begun = time.perf_counter()
        learnt = Numbers.zeros(
            self._cfr.batches, old.n_board_buckets, old.n_rows, short=short, rivals=self.numbers.has_rivals
        )
        read_buckets(opened, learnt)
        inherit(self._cfr.batches, learnt, self.numbers, overlaps(old, new))
        self._cfr.iteration = mark.deals
        self._inherited = mark.seconds + time.perf_counter() - begun

    def copied(self, t: int, board_bucket: int) -> BucketNumbers:
        numbers = self.numbers
        visits = numbers.visits[t][:, board_bucket].copy()

        def of_bucket(wholes: Arrays) -> Arrays:
            n_board_buckets = len(numbers.visits[t][0])
            return tuple(whole.reshape(n_board_buckets, -1)[board_bucket].copy() for whole in wholes)

        return BucketNumbers(
            t, board_bucket, of_bucket(numbers.regrets[t]), of_bucket(numbers.sums[t]), visits
        )

    def bucket_bytes(self, t: int) -> int:
        wholes = (*self.numbers.regrets[t], *self.numbers.sums[t])
        n_bytes: int = sum(whole.nbytes for whole in wholes)
        return n_bytes // int(self.numbers.visits[t].shape[1])

    def bytes_of(self, numbers: BucketNumbers) -> tuple[Bytes, Bytes]:
        k, tables = self._n_rows[numbers.t], self._tables[numbers.t]
        try:
            return quantise(numbers.sums[0], k, tables[0]), quantise(numbers.sums[1], k, tables[1])
        except SolverError as error:
            raise SolveError(
                f"round {numbers.t}, board bucket {numbers.board_bucket}: {error}; the bucket was not saved"
            ) from None

    def visits(self) -> list[Ints]:
        return [visits.copy() for visits in self.numbers.visits]

    def visits_of_deals(self) -> list[Ints]:
        return [v - ahead for v, ahead in zip(self.numbers.visits, self.numbers.ahead, strict=True)]

    def spread(self) -> tuple[Spread, ...]:
        """Return for each round the fewest and the median updates of player 0's regrets in a board bucket."""
        return tuple(
            Spread(int(counts[0].min()), float(np.median(counts[0]))) for counts in self.numbers.visits
        )

    def measure(
        self, stop: Stop | None = None, tell: Callable[[int, int], object] = lambda done, total: None
    ) -> Check | None:
        """Measure exploitability on the same random sample of flops each time."""
        begun, done = time.perf_counter(), self.done
        finding = self.judge(self._check_flops, stop or Event(), tell)
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
        """Measure exploitability on a random sample of ``flops`` flops; None if ``stop`` was set."""
        return self._real_game.judge(flops, threads=self.threads, stop=stop, tell=tell)

    def save_to(self, store: Opener, play: Opener) -> None:
        """Set where `save` writes: regrets and sums to the lockers of ``store``, strategies to those of ``play``."""
        self._saving = BackgroundSaves(self, store, play)

    def saved(self) -> int:
        if self._saving is None:
            return self.earlier.deals
        self._saving.collect()
        return self._saving.saved.deals

    def save(self, seconds: float, dropping: int | None = None, *, wait: bool = True) -> None:
        assert self._saving is not None, "save_to comes first"
        mark = Mark(self.done, seconds)
        if wait:
            self._saving.finish(mark)
        else:
            self._saving.begin(mark)

    @cached_property
    def _real_game(self) -> RealGame:
        board_buckets = self._abstraction
        return RealGame(
            self._game,
            [betting.forest for betting in self._rounds],
            self._cfr.batches,
            board_buckets,
            board_buckets.n_board_buckets,
            board_buckets.n_rows,
            self.numbers.sums,
            symmetric=not rows_know_suits(board_buckets.arrays),
        )

    def _dealt(self, first: int, n: int) -> Dealt:
        return self._abstraction.deal(self._seed, range(first, first + n))

    def close(self) -> None:
        if self._saving is not None:
            self._saving.close()
            # Saves refer to their engine, and so does the solver but for the proxy: in a circle, the numbers of a
            # finished stage would stay in memory beside those of the next stage, until garbage is collected.
            self._saving = None
        self._cfr.close()


@dataclass(frozen=True)
class Start:
    """Saved regrets and averages with which a new solve of the same game and betting begins.

    Attributes:
        origin: name of the solve, or of its stage, for the user.
        short: whether the regrets and sums are 16-bit numbers.
        mark: number of deals, and seconds of work, that the regrets include.
        opened, play: functions that open the store of regrets and averages, and the strategy locker, for reading.
    """

    origin: str
    game: Game
    short: bool
    mark: Mark
    opened: Opener
    play: Opener

    @property
    def text(self) -> str:
        """Description for the user, such as "starting from 3,000 deals of results/coarse"."""
        return f"starting from {self.mark.deals:,} deals of {self.origin}"

    def fill(self, engine: SampledEngine, board_buckets: Abstraction) -> None:
        with self.play() as store:
            arrays = StrategyLocker(store).arrays()
        old = board_abstraction(self.game, arrays)
        engine.start_from(self.opened, old, board_buckets, self.mark, short=self.short)
