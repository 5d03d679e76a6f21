"""Measure the exploitability of a whole game with board buckets, flop by flop in several processes.

All strategies of the strategy locker are decoded once, into files that the processes map into memory; workers on other
machines get a `Parcel`. The best responses on each flop are cached in the folder until the solve saves new strategies.
So an interrupted measurement continues where it stopped, and a larger sample with the same seed computes only its
additional flops. Nothing is cached in a read-only folder. A *first board* is a flop in hold'em, or the first public
cards of any game.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray

from lockers import Store, open_store
from solvers.sampled.batches import LineBatches, line_batches
from solvers.sampled.judge import Buffers
from solvers.sampled.numbers import Pair, bucket_size
from solvers.sampled.quantise import Bytes, byte_tables, restore
from solvers.tree import Forest
from spewy.chunks.rounds import betting_rounds
from spewy.game.gamefile import Game
from spewy.job.job import Job
from spewy.learn.real_game import Finding, RealGame, rows_know_suits
from spewy.look.exploit import (
    ExploitResult,
    FlopJudged,
    FlopSample,
    JudgingBegan,
    JudgingCost,
    JudgingListener,
)
from spewy.look.folder import require_solve, require_solved, stored_job, strategy_folder
from spewy.records.caches import FlopFinding, ResponseCache
from spewy.records.policy import board_abstraction
from spewy.records.strategy_locker import StrategyLocker, saved_deals
from spewy.system.dask_pool import worker_pool
from spewy.system.folders import scratch_folder
from spewy.system.interrupts import interruptible
from spewy.system.processes import Parent, WorkerPool
from spewy.system.tools import as_path


def judge_folder(
    folder: str | Path,
    listener: JudgingListener | None = None,
    *,
    flops: int | None,
    seed: int,
    workers: int | None = None,
) -> ExploitResult:
    """Measure the exploitability of the last saved strategies of a whole game.

    Within ``joblib.parallel_config(backend="dask")`` the workers of a cluster compute the best responses.

    ``folder`` is that of a solve, or a copy of its strategy locker; the other arguments are those of
    `spewy.Solution.exploitability`. Small games are always measured on all flops.
    """
    require_solve(folder)
    play = strategy_folder(folder)
    with StrategyLocker(open_store(play, read_only=True)) as averages:
        deals = saved_deals(averages.store)
        require_solved(deals, folder)
        with (
            decoded_game(averages, play) as (decoder, decoded, mark, game),
            ResponseCache.of(as_path(folder, "folder"), averages.manifest) as cache,
        ):
            draw = game.drawn(flops, seed)
            responses = cache.findings(mark, game.shape)
            missing = [first for first in game.to_judge(draw) if first not in responses]
            pool = worker_pool(max(1, min(workers or joblib.cpu_count(), len(missing))))
            compute: Callable[..., FlopFinding] = _task
            given: tuple[Any, ...] = play, decoded
            if not pool.shares_files:  # a cluster's workers get the game and its strategies
                compute, given = _task_of_parcel, (pool.share(decoder.parcel()), decoded.name)
            n_cached = len(game.to_judge(draw)) - len(missing)
            cost = JudgingCost(len(missing), n_cached, pool.size, decoder.n_bytes, game.desk().n_bytes)
            if listener is not None:
                listener(JudgingBegan(decoder.job.name, cost))
            start = None
            with closing(_findings(pool, compute, given, missing)) as findings:
                for done, (first, finding) in enumerate(findings, 1):
                    responses[first] = finding
                    cache.keep(first, finding)
                    now = time.monotonic()
                    if start is None:
                        # without the start of the processes, which can take longer than a flop
                        start = now - finding.seconds
                    seconds_left = (now - start) / done * (len(missing) - done)
                    if listener is not None:
                        name = game.trees.name(first)
                        listener(FlopJudged(name, finding.seconds, done, len(missing), seconds_left))
            return _result(decoder.job, deals, game.combined(responses, draw))


def judge_in_memory(job: Job, store: Store, *, flops: int | None, seed: int) -> ExploitResult:
    """Measure the exploitability of a strategy locker in memory, in this process, as `judge_folder` does."""
    strategies = StrategyLocker(store)
    game = Decoder(strategies, job).parcel().game()
    draw, desk = game.drawn(flops, seed), game.desk()
    findings = {first: game.flop(first, desk, lambda: False) for first in game.to_judge(draw)}
    return _result(job, strategies.saved.deals, game.combined(findings, draw))


def _result(job: Job, deals: int, finding: Finding) -> ExploitResult:
    mbb = job.problem.in_units(1.0)[1]
    assert mbb is not None  # a whole game

    def in_mbb(chips: float | None) -> float | None:
        return None if chips is None else chips * mbb

    oop, ip = finding.best_response
    sample = FlopSample(
        in_mbb(finding.stderr),
        in_mbb(finding.low),
        finding.high * mbb,
        finding.flops,
        -finding.value * mbb,
        in_mbb(finding.value_stderr),
        finding.seconds,
    )
    result = ExploitResult(
        job.name,
        deals,
        finding.exploitability,
        None,
        finding.exploitability * mbb,
        finding.best_response,
        (-ip, oop) if finding.low == finding.high else None,  # best responses on a sample give no bounds
        sample=sample,
    )
    return result.in_unit(job.amounts)


def _findings(
    pool: WorkerPool, compute: Callable[..., FlopFinding], given: tuple[Any, ...], missing: Sequence[int]
) -> Generator[tuple[int, FlopFinding], None, None]:
    """Yield the number of each first board in ``missing`` with its best responses, as workers finish them.

    Workers call ``compute`` with the arguments ``given`` and the number of a first board.
    """
    with interruptible() as stop, closing(pool):
        for message in pool.results(compute, [(*given, first) for first in missing]):
            if message is not None:
                yield missing[message.task], message.value
            if stop.is_set():
                raise KeyboardInterrupt


def _task(parent: Parent, play: Path, decoded: Path, first: int) -> FlopFinding:
    game, desk = _opened(play, decoded)
    return game.flop(first, desk, parent.is_set)


def _task_of_parcel(parent: Parent, parcel: Parcel, name: str, first: int) -> FlopFinding:
    game = _unpacked.get(name)
    if game is None:
        game = parcel.game()
        _unpacked.clear()  # another thread of this worker may have added the game, too
        _unpacked[name] = game
    return game.flop(first, game.desk(), parent.is_set)


_unpacked: dict[str, RealGame] = {}


@lru_cache(maxsize=1)
def _opened(play: Path, decoded: Path) -> tuple[RealGame, Buffers]:
    """Open the game (strategy locker ``play``, strategies in ``decoded``) and allocate buffers, once per process."""
    with StrategyLocker.open(play) as averages:
        game = Decoder.of(averages, play).game(decoded)
    return game, game.desk()


@dataclass(frozen=True)
class Decoder:
    """Decodes the strategies of a strategy locker, to compute best responses to them."""

    strategies: StrategyLocker
    job: Job

    @classmethod
    def of(cls, averages: StrategyLocker, folder: Path) -> Decoder:
        """Make a decoder, with the job that is read from the locker; ``folder`` is for error messages."""
        return cls(averages, stored_job(averages.store, folder))

    @cached_property
    def forests(self) -> list[Forest]:
        return [betting.forest for betting in betting_rounds(self.job.betting_tree)]

    @cached_property
    def batches(self) -> list[LineBatches]:
        return line_batches(self.forests)

    @property
    def n_bytes(self) -> int:
        return sum(self._size(t, p) for t in range(len(self.forests)) for p in (0, 1)) * self._dtype.itemsize

    def write(self, folder: Path) -> str:
        """Write the decoded strategies to files in a folder, and return a hash of the strategies."""
        mark = hashlib.blake2b(digest_size=12)
        for t, batches in enumerate(self.batches):
            n_rows = self.strategies.saved.rows[t]
            for p in (0, 1):
                buckets = range(self.strategies.saved.board_buckets[t])
                packed = (self.strategies.bucket_bytes(t, bucket, p) for bucket in buckets)
                # Not by a mapped file: a write to one would crash the process if the disk is full.
                with _file(folder, t, p).open("wb") as file:
                    for bytes_, sums in _restored(packed, batches, p, n_rows):
                        mark.update(bytes_.tobytes())
                        file.write(sums.astype(self._dtype).tobytes())
                    if not file.tell():
                        file.write(bytes(self._dtype.itemsize))  # an empty file cannot be mapped
        return mark.hexdigest()

    def game(self, folder: Path) -> RealGame:
        """Return the game with the strategies that `write` has written to a folder."""
        sums = tuple(
            (self._mapped(folder, t, 0), self._mapped(folder, t, 1)) for t in range(len(self.forests))
        )
        return self._parcel(()).game(sums)

    def parcel(self) -> Parcel:
        """Return the game and its strategies in a form that can be sent to workers on other machines."""
        rounds = range(len(self.forests))
        return self._parcel(tuple((self._bytes(t, 0), self._bytes(t, 1)) for t in rounds))

    def _parcel(self, packed: tuple[tuple[Bytes, Bytes], ...]) -> Parcel:
        saved = self.strategies.saved
        return Parcel(
            self.job.rules,
            tuple(self.forests),
            dict(self.strategies.arrays()),
            tuple(saved.board_buckets),
            tuple(saved.rows),
            self._dtype,
            packed,
        )

    def _bytes(self, t: int, p: int) -> Bytes:
        """Encoded strategies of player p in round t, ``[board bucket, byte]``."""
        board_buckets = range(self.strategies.saved.board_buckets[t])
        return np.stack([self.strategies.bucket_bytes(t, board_bucket, p) for board_bucket in board_buckets])

    @property
    def _dtype(self) -> np.dtype[np.floating]:
        """Type of the decoded numbers: that of the solve's strategy sums, for which kernels are compiled."""
        return np.dtype(np.float16 if self.job.solve.short else np.float32)

    def _mapped(self, folder: Path, t: int, p: int) -> np.ndarray:
        return np.memmap(_file(folder, t, p), self._dtype, mode="r")

    def _size(self, t: int, p: int) -> int:
        saved = self.strategies.saved
        return saved.board_buckets[t] * bucket_size(self.batches[t], p, saved.rows[t])


@contextmanager
def decoded_game(averages: StrategyLocker, play: Path) -> Iterator[tuple[Decoder, Path, str, RealGame]]:
    """Decode all strategies of a strategy locker into a temporary folder, which is deleted at the end.

    Yields:
        The decoder, the folder, a hash of the strategies, and the game.
    """
    with scratch_folder("judge") as folder:
        decoder = Decoder.of(averages, play)
        mark = decoder.write(folder)
        yield decoder, folder, mark, decoder.game(folder)


@dataclass(frozen=True, eq=False)
class Parcel:
    """A game with its encoded strategies, which can be pickled and sent to workers on other machines.

    Attributes:
        arrays: arrays that map boards to board buckets and hands to rows, by name.
        board_buckets: number of board buckets of each round.
        rows: number of hand rows of each round.
        dtype: number type of decoded strategies.
        packed: encoded strategies of each round and player, ``[board bucket, byte]``.
    """

    rules: Game
    forests: tuple[Forest, ...]
    arrays: dict[str, np.ndarray]
    board_buckets: tuple[int, ...]
    rows: tuple[int, ...]
    dtype: np.dtype[np.floating]
    packed: tuple[tuple[Bytes, Bytes], ...]

    @cached_property
    def batches(self) -> list[LineBatches]:
        return line_batches(self.forests)

    def game(self, sums: tuple[Pair, ...] | None = None) -> RealGame:
        """Return the game with decoded strategies; ``sums`` are strategies that are decoded already."""
        return RealGame(
            self.rules,
            self.forests,
            self.batches,
            board_abstraction(self.rules, self.arrays),
            self.board_buckets,
            self.rows,
            self._unpacked() if sums is None else sums,
            symmetric=not rows_know_suits(self.arrays),
        )

    def _unpacked(self) -> tuple[Pair, ...]:
        out = []
        for batches, n_rows, pair in zip(self.batches, self.rows, self.packed, strict=True):
            both = []
            for p in (0, 1):
                whole = np.empty((len(pair[p]), bucket_size(batches, p, n_rows)), dtype=self.dtype)
                for bucket, (_, sums) in enumerate(_restored(pair[p], batches, p, n_rows)):
                    whole[bucket] = sums
                both.append(whole.ravel())
            out.append((both[0], both[1]))
        return tuple(out)


def _restored(
    packed: Iterable[Bytes], batches: LineBatches, p: int, n_rows: int
) -> Iterator[tuple[Bytes, NDArray[np.float32]]]:
    """Yield each board bucket's bytes and player p's strategies decoded from them, in an array that is overwritten."""
    tables = byte_tables(batches, p, n_rows)
    sums = np.zeros(bucket_size(batches, p, n_rows), dtype=np.float32)
    for bytes_ in packed:
        restore(bytes_, n_rows, tables, sums)
        yield bytes_, sums


def _file(folder: Path, t: int, p: int) -> Path:
    return folder / f"{t}.{p}"
