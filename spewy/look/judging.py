"""Measure the exploitability of a whole game with board buckets, flop by flop in several processes.

The best responses on each flop are cached in the folder until the solve saves new strategies. So an interrupted
measurement continues where it stopped, and a larger sample with the same seed computes only its additional flops.
Nothing is cached in a read-only folder. A *first board* is a flop in hold'em, or the first public cards of any game.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from functools import lru_cache
from pathlib import Path
from typing import Any

import joblib

from lockers import Store, open_store
from solvers.sampled.judge import Buffers
from spewy.job.job import Job
from spewy.learn.combined_flops import Finding
from spewy.learn.real_game import RealGame
from spewy.look.exploit import ExploitResult, FlopSample, JudgingCost, JudgingReporter
from spewy.look.folder import require_solve, require_solved, strategy_folder
from spewy.look.unpacked import Decoder, Parcel, decoded_game
from spewy.records.response_cache import FlopFinding, ResponseCache
from spewy.records.strategy_locker import StrategyLocker
from spewy.records.strategy_progress import saved_deals
from spewy.system.dask_pool import worker_pool
from spewy.system.interrupts import interruptible
from spewy.system.processes import Parent, WorkerPool
from spewy.system.textfile import as_path


def judge_folder(
    folder: str | Path,
    report: JudgingReporter | None = None,
    *,
    flops: int | None,
    seed: int,
    workers: int | None = None,
) -> ExploitResult:
    """Measure the exploitability of the last saved strategies of a whole game.

    Within ``joblib.parallel_config(backend="dask")`` the workers of a cluster compute the best responses.

    Args:
        folder: folder of a solve, or a copy of its strategy locker.
        report: object that is told about the progress; None: nobody is told.
        flops: number of flops to draw; None for all. Small games are always measured on all flops.
        seed: seed of the draw.
        workers: number of processes; None for one on each core.

    Raises:
        NotSolvedError: nothing was saved yet.
        InputError: the lockers are not those of a solve.
        lockers.LockerError: the folder holds no lockers, or damaged ones.
        KeyboardInterrupt: the user interrupted; finished flops are cached.
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
            work = _Work(play, decoded, decoder, pool)
            n_cached = len(game.to_judge(draw)) - len(missing)
            cost = JudgingCost(len(missing), n_cached, pool.size, decoder.n_bytes, game.desk().n_bytes)
            if report is not None:
                report.begin(decoder.job.name, cost)
            start = None
            with closing(_findings(pool, work, missing)) as findings:
                for done, (first, finding) in enumerate(findings, 1):
                    responses[first] = finding
                    cache.keep(first, finding)
                    now = time.monotonic()
                    if start is None:
                        # without the start of the processes, which can take longer than a flop
                        start = now - finding.seconds
                    seconds_left = (now - start) / done * (len(missing) - done)
                    if report is not None:
                        report.judged(
                            game.trees.name(first), finding.seconds, done, len(missing), seconds_left
                        )
            return _result(decoder.job, deals, game.combined(responses, draw))


def judge_in_memory(job: Job, store: Store, *, flops: int | None, seed: int) -> ExploitResult:
    """Measure the exploitability of a strategy locker in memory, in this process.

    Args:
        job: job that the locker was made for.
        store: the locker.
        flops: number of flops to draw; None for all.
        seed: seed of the draw.
    """
    strategies = StrategyLocker(store)
    game = Decoder(strategies, job).parcel().game()
    draw, desk = game.drawn(flops, seed), game.desk()
    findings = {first: game.flop(first, desk, lambda: False) for first in game.to_judge(draw)}
    return _result(job, strategies.saved.deals, game.combined(findings, draw))


def _result(job: Job, deals: int, finding: Finding) -> ExploitResult:
    """Make the result of a measurement, with amounts in the job's unit and in mbb per hand.

    Args:
        job: job of the solve.
        deals: number of deals that the strategies average.
        finding: the measurement, in chips per deal.
    """
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


class _Work:
    """The function and arguments with which a worker computes best responses on a first board.

    Local processes read the strategies from files. A cluster's workers get a `Parcel` with the game and its strategies.

    Args:
        play: folder of the strategy locker.
        decoded: folder with the decoded strategies.
        decoder: decoder of the strategy locker.
        pool: pool of workers.
    """

    def __init__(self, play: Path, decoded: Path, decoder: Decoder, pool: WorkerPool) -> None:
        self._here = play, decoded
        self._sent = None if pool.shares_files else (pool.share(decoder.parcel()), decoded.name)

    @property
    def function(self) -> Callable[..., FlopFinding]:
        """Function that computes the best responses on a first board."""
        return _task if self._sent is None else _task_of_parcel

    def arguments(self, first: int) -> tuple[Any, ...]:
        """Arguments of `function` for the first board with number ``first``."""
        return (*(self._here if self._sent is None else self._sent), first)


def _findings(
    pool: WorkerPool, work: _Work, missing: Sequence[int]
) -> Generator[tuple[int, FlopFinding], None, None]:
    """Yield the number of each first board with its best responses, as workers finish them.

    Args:
        pool: pool of workers.
        work: function and arguments of the tasks.
        missing: numbers of the first boards.

    Raises:
        KeyboardInterrupt: the user interrupted.
    """
    with interruptible() as stop, closing(pool):
        for message in pool.results(work.function, [work.arguments(first) for first in missing]):
            if message is not None:
                yield missing[message.task], message.value
            if stop.is_set():
                raise KeyboardInterrupt


def _task(parent: Parent, play: Path, decoded: Path, first: int) -> FlopFinding:
    """Compute the best responses on one first board in a local process.

    Args:
        parent: tells whether to give up.
        play: folder of the strategy locker.
        decoded: folder with the decoded strategies.
        first: number of the first board.
    """
    game, desk = _opened(play, decoded)
    return game.flop(first, desk, parent.is_set)


def _task_of_parcel(parent: Parent, parcel: Parcel, name: str, first: int) -> FlopFinding:
    """Compute the best responses on one first board in a worker of a cluster.

    Args:
        parent: tells whether to give up.
        parcel: the game with its encoded strategies.
        name: unique name of the measurement, under which the worker caches the decoded game.
        first: number of the first board.
    """
    game = _unpacked.get(name)
    if game is None:
        game = parcel.game()
        _unpacked.clear()  # another thread of this worker may have added the game, too
        _unpacked[name] = game
    return game.flop(first, game.desk(), parent.is_set)


_unpacked: dict[str, RealGame] = {}


@lru_cache(maxsize=1)
def _opened(play: Path, decoded: Path) -> tuple[RealGame, Buffers]:
    """Open the game, and allocate the arrays for best responses; later tasks of the process get the same objects.

    Args:
        play: folder of the strategy locker.
        decoded: folder with the decoded strategies.
    """
    with StrategyLocker.open(play) as averages:
        game = Decoder.of(averages, play).game(decoded)
    return game, game.desk()
