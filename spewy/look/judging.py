"""The exploitability of a whole game with classes of boards, from its folder: flop by flop, in processes.

What is found on a flop is kept in the folder at once, so that judging goes on where it was interrupted, and a larger
sample of the same seed needs only what it has more. That holds until the solve saves other strategies. Who may only
read the folder judges too, and keeps nothing.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

import joblib

from lockers import open_store
from solvers.sampled.judge import Desk
from spewy.game.amounts import CHIPS, Unit
from spewy.learn.combined_flops import Finding
from spewy.learn.real_game import RealGame
from spewy.look.decoded import Decoder
from spewy.look.play import play_folder
from spewy.records.averages import Averages
from spewy.records.judged import FlopFinding, JudgedBoards
from spewy.system.crew import Crew, Parent
from spewy.system.interrupts import interruptible
from spewy.system.textfile import as_path


@dataclass(frozen=True)
class WholeGameResult:
    """How far a whole game's average strategies are from an equilibrium, in the real game.

    Attributes:
        name: of the job.
        deals: that the strategies are averages of.
        finding: in chips.
        chips_mbb: mbb that a chip is worth.
    """

    name: str
    deals: int
    finding: Finding
    chips_mbb: float
    unit: Unit = CHIPS
    """What the job tells amounts in."""

    def mbb(self, chips: float | None) -> float | None:
        """Chips in mbb per hand."""
        return None if chips is None else chips * self.chips_mbb


@dataclass(frozen=True)
class JudgingCost:
    """What judging will take.

    Attributes:
        to_judge, kept: flops that are to be judged, and those that were before.
        processes: that judge.
        disk_bytes: of a temporary folder, mapped by all processes.
        process_bytes: of each process's buffers.
    """

    to_judge: int
    kept: int
    processes: int
    disk_bytes: int
    process_bytes: int


class JudgingReporter(Protocol):
    """Hears how judging goes."""

    def begin(self, name: str, cost: JudgingCost) -> None:
        """Before the first flop."""

    def judged(self, board: str, seconds: float, done: int, total: int, seconds_left: float) -> None:
        """One flop took so many seconds of its process."""


def judge_folder(
    folder: str | Path, report: JudgingReporter, *, flops: int | None, seed: int, workers: int | None = None
) -> WholeGameResult:
    """Judge what was saved last.

    Args:
        folder: of a solve, or a copy of its play locker.
        report: told of each flop.
        flops: how many to draw; None: all. Small games are judged on all in any case.
        seed: of the draws.
        workers: processes; None: a core each.

    Raises:
        InputError: nothing was saved yet, or the lockers were made by something else.
        lockers.LockerError: nothing is there, or it is damaged.
        KeyboardInterrupt: what was found is kept.
    """
    play = play_folder(folder)
    with (
        TemporaryDirectory(prefix="spewy-") as temporary,
        Averages(open_store(play, read_only=True)) as averages,
    ):
        decoded, decoder = Path(temporary), Decoder.of(averages, play)
        deals = averages.saved.deals
        mark = decoder.write(decoded)
        game = decoder.game(decoded)
        draw = game.drawn(flops, seed)
        with JudgedBoards.within(as_path(folder, "folder"), averages.manifest) as kept:
            found = kept.of(mark, game.shape)
            missing = [first for first in game.to_judge(draw) if first not in found]
            n = max(1, min(workers or joblib.cpu_count(), len(missing)))
            had = len(game.to_judge(draw)) - len(missing)
            report.begin(
                decoder.job.name, JudgingCost(len(missing), had, n, decoder.n_bytes, game.desk().n_bytes)
            )
            start = time.monotonic()
            with closing(_findings(play, decoded, missing, n)) as findings:
                for done, (first, finding) in enumerate(findings, 1):
                    found[first] = finding
                    kept.keep(mark, first, finding)
                    left = (time.monotonic() - start) / done * (len(missing) - done)
                    report.judged(game.trees.name(first), finding.seconds, done, len(missing), left)
        chips_mbb = decoder.job.problem.in_units(1.0)[1]
        assert chips_mbb is not None  # a whole game
        return WholeGameResult(
            decoder.job.name, deals, game.combined(found, draw), chips_mbb, decoder.job.amounts
        )


def _findings(
    play: Path, decoded: Path, missing: Sequence[int], processes: int
) -> Generator[tuple[int, FlopFinding], None, None]:
    """Judge first boards in processes, until they are done or a signal comes."""
    tasks = ((play, decoded, first) for first in missing)
    with interruptible() as stop, closing(Crew(processes)) as crew:
        for word in crew.results(_task, tasks):
            if word is not None:
                yield missing[word.task], word.value
            if stop.is_set():
                raise KeyboardInterrupt


def _task(parent: Parent, play: Path, decoded: Path, first: int) -> FlopFinding:
    """Judge one first board in a worker."""
    game, desk = _opened(play, decoded)
    return game.flop(first, desk)


@lru_cache(maxsize=1)
def _opened(play: Path, decoded: Path) -> tuple[RealGame, Desk]:
    """What a worker needs for all its tasks."""
    with Averages.open(play) as averages:
        game = Decoder.of(averages, play).game(decoded)
    return game, game.desk()
