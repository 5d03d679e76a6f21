"""Compute the payoff matrices of board buckets of a whole game in several processes, beginning with the last round.

The matrices of each board bucket are stored as soon as they are computed, so an interrupted command can continue. They
are valid until the solve saves new strategies, or until another sample of boards is drawn.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Protocol

import joblib

from lockers import open_store
from solvers.tree import Floats
from spewy.chunks.rounds import betting_rounds
from spewy.errors import InputError
from spewy.game.names import ROUND_NAMES
from spewy.learn.bucket_boards import BucketGame, Drawn, drawn_boards
from spewy.learn.bucket_matrices import bucket_payoffs
from spewy.learn.bucket_strategies import BucketStrategies
from spewy.learn.real_game import rows_know_suits
from spewy.look.folder import require_solve, require_solved, strategy_folder
from spewy.look.judging import Decoder
from spewy.records.bucket_payoffs import BucketPayoffs
from spewy.records.bucket_policy import board_abstraction
from spewy.records.strategy_locker import FOLDER as STRATEGIES
from spewy.records.strategy_locker import StrategyLocker
from spewy.records.strategy_progress import saved_deals
from spewy.system.interrupts import interruptible
from spewy.system.processes import LocalPool, Parent, WorkerPool
from spewy.system.textfile import as_path

CLASSES = 64
"""Number of board buckets whose payoff matrices a worker caches."""


@dataclass(frozen=True)
class PayoffCost:
    """Cost of computing payoff matrices.

    Attributes:
        rounds: names of the rounds that get matrices, the last first.
        board_buckets: number of board buckets of each round.
        lines: number of lines that enter each round.
        boards: number of boards drawn from each board bucket.
        kept: number of board buckets whose matrices an earlier run has stored.
        disk_bytes: size of all matrices in bytes.
        processes: number of processes.
        process_bytes: largest memory of a process for matrices and strategies, in bytes.
    """

    rounds: tuple[str, ...]
    board_buckets: tuple[int, ...]
    lines: tuple[int, ...]
    boards: int
    kept: int
    disk_bytes: int
    processes: int
    process_bytes: int


@dataclass(frozen=True)
class PayoffResult:
    """Summary of a run that computed payoff matrices.

    Attributes:
        name: name of the job.
        deals: number of deals that the strategies average.
        cost: cost of the run.
        seconds: duration of the run.
    """

    name: str
    deals: int
    cost: PayoffCost
    seconds: float


class PayoffReporter(Protocol):
    """Listens to the progress of computing payoff matrices."""

    def begin(self, name: str, cost: PayoffCost) -> None:
        """Called before any matrices are computed, with the name of the job and the cost of the run."""

    def made(self, round_name: str, done: int, total: int, seconds_left: float) -> None:
        """Called after the matrices of each board bucket are computed.

        Args:
            round_name: round of the board bucket.
            done: number of finished board buckets.
            total: number of board buckets to compute.
            seconds_left: estimated time for the remaining board buckets.
        """


def make_payoffs(
    folder: str | Path,
    report: PayoffReporter,
    *,
    first: str | None,
    boards: int,
    seed: int,
    workers: int | None = None,
) -> PayoffResult:
    """Compute the payoff matrices of a round and all later rounds, under the last saved average strategies.

    Args:
        folder: folder of a solve.
        report: object that is told about the progress.
        first: name of the first round that gets matrices; None for the second round with public cards, or for the only
            round with public cards.
        boards: number of boards drawn from each board bucket.
        seed: seed of the draws.
        workers: number of processes; None for one on each core.

    Raises:
        InputError: nothing was saved yet, the round does not exist, or a board bucket is dealt so rarely that no board
            was drawn from it.
        lockers.LockerError: the folder holds no lockers, or damaged ones.
        KeyboardInterrupt: the user interrupted; finished matrices are stored.
    """
    start, play = time.monotonic(), strategy_folder(folder)
    with closing(Work(play)) as work:
        rounds = _rounds(work.game, first)
        mark, home = f"{work.strategies.mark()}|{boards}|{seed}", _payoffs_home(folder)
        with BucketPayoffs.of(home, work.locker.manifest, "payoffs") as stored:
            stored.begin(mark)
            missing = {t: sorted(set(range(work.n_board_buckets[t])) - stored.done(t)) for t in rounds}
            total = sum(map(len, missing.values()))
            n = max(1, min(workers or joblib.cpu_count(), total))
            cost = _cost(work, rounds, boards, total, n)
            report.begin(work.name, cost)
            done, begun = 0, time.monotonic()
            with closing(LocalPool(n)) as pool:
                for t in rounds:
                    drawn = drawn_boards(work.abstraction, t, seed, boards) if missing[t] else []
                    tasks = [(play, home, t, c, drawn[c]) for c in missing[t]]
                    for number, matrices in _made(pool, tasks):
                        stored.keep(t, missing[t][number], matrices)
                        done += 1
                        seconds_left = (time.monotonic() - begun) / done * (total - done)
                        report.made(ROUND_NAMES[t], done, total, seconds_left)
        return PayoffResult(work.name, work.locker.saved.deals, cost, time.monotonic() - start)


def _payoffs_home(folder: str | Path) -> Path:
    """Return the folder in which to store payoff matrices: that of the solve, or of a copied strategy locker."""
    play = strategy_folder(folder)
    return play.parent if play.name == STRATEGIES else as_path(folder, "folder")


def _rounds(game: BucketGame, name: str | None) -> list[int]:
    """Return the numbers of the rounds that get payoff matrices, the last round first.

    Args:
        game: the whole game.
        name: name of the earliest of these rounds; None for the second round with public cards, or for the only one.

    Raises:
        InputError: the game has no public cards, or no round with public cards has the name.
    """
    sizes, last = game.problem.game.board_sizes, game.n_rounds - 1
    with_cards = [t for t in range(game.n_rounds) if sizes[t]]
    if not with_cards:
        raise InputError(
            f"game {game.problem.game.name!r}: it has no public cards, so it has no payoff matrices of board buckets"
        )
    if name is None:
        return list(range(last, with_cards[min(1, len(with_cards) - 1)] - 1, -1))
    names = [ROUND_NAMES[t] for t in with_cards]
    if name not in names:
        raise InputError(f"round: expected one of {', '.join(names)}, found {name!r}")
    return list(range(last, ROUND_NAMES.index(name) - 1, -1))


def _cost(work: Work, rounds: Sequence[int], boards: int, missing: int, processes: int) -> PayoffCost:
    board_buckets = tuple(work.n_board_buckets[t] for t in rounds)
    shapes = [work.shape(t) for t in rounds]
    n_bytes = sum(4 * n * a * b * c for n, (a, b, c) in zip(board_buckets, shapes, strict=True))
    lines = tuple(shape[0] for shape in shapes)
    names = tuple(ROUND_NAMES[t] for t in rounds)
    process_bytes = CLASSES * (max(4 * a * b * c for a, b, c in shapes) + work.strategies.bucket_bytes)
    return PayoffCost(
        names, board_buckets, lines, boards, sum(board_buckets) - missing, n_bytes, processes, process_bytes
    )


def _made(
    pool: WorkerPool, tasks: Sequence[tuple[Path, Path, int, int, Drawn]]
) -> Generator[tuple[int, Floats], None, None]:
    """Yield the number of each task with its payoff matrices, as worker processes finish them.

    Args:
        pool: pool of worker processes.
        tasks: arguments of `_task` for each task, without the parent process.

    Raises:
        KeyboardInterrupt: the user interrupted.
    """
    with interruptible() as stop, closing(pool.results(_task, tasks)) as messages:
        for message in messages:
            if message is not None:
                yield message.task, message.value
            if stop.is_set():
                raise KeyboardInterrupt


def _task(parent: Parent, play: Path, home: Path, t: int, board_bucket: int, boards: Drawn) -> Floats:
    """Compute the payoff matrices of a board bucket in a worker process.

    Args:
        parent: tells whether the parent process has ended.
        play: folder of the strategy locker.
        home: folder of the solve.
        t: round of the game.
        board_bucket: board bucket of the round.
        boards: boards that were drawn from the board bucket.
    """
    work = _opened(play)
    if t + 1 == work.game.n_rounds:
        return bucket_payoffs(work.game, t, board_bucket, boards, work.strategies, _nothing_below)
    with BucketPayoffs.of_solve(home) as stored:
        read = lru_cache(CLASSES)(lambda t, c: stored.matrices(t, c, work.shape(t)))
        return bucket_payoffs(
            work.game, t, board_bucket, boards, work.strategies, lambda t, c, r: read(t, c)[r]
        )


def _nothing_below(t: int, board_bucket: int, r: int) -> Floats:
    raise AssertionError("no round follows the last")


class Work:
    """Game and strategies from which payoff matrices are computed, read from a strategy locker.

    Args:
        play: folder of the strategy locker.
    """

    def __init__(self, play: Path) -> None:
        require_solve(play)
        self.locker = StrategyLocker(open_store(play, read_only=True))
        try:
            decoder = Decoder.of(self.locker, play)
            self.name, job = decoder.job.name, decoder.job
            if not job.sampled:
                raise InputError(f"folder {play}: expected a whole game with [boards], found another solve")
            require_solved(saved_deals(self.locker.store), play)
            saved = self.locker.saved
            self.abstraction = board_abstraction(job.rules, self.locker.arrays())
            betting = betting_rounds(job.betting_tree)
            symmetry = not rows_know_suits(self.abstraction.arrays)
            self.game = BucketGame(job.problem, betting, self.abstraction, saved.rows, symmetry)
            self.n_board_buckets = saved.board_buckets
            self.strategies = BucketStrategies(self.locker, decoder.batches)
        except BaseException:
            self.close()
            raise

    def shape(self, t: int) -> tuple[int, int, int]:
        """Return the shape of a board bucket's payoffs in round t: lines, rows of player 0, rows of player 1."""
        k = self.game.n_rows[t]
        return len(self.game.betting[t].chunks), k, k

    def close(self) -> None:
        """Close the locker."""
        self.locker.close()


@lru_cache(maxsize=1)
def _opened(play: Path) -> Work:
    """Open a strategy locker in a worker; later tasks use the opened locker again."""
    return Work(play)
