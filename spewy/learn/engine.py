"""The protocol of engines: everything that a solve runs, measures and saves.

*Live* (`spewy.learn.live`): all chunks are in memory, and a parent's chance leaves recurse into the chunks below; with
a row per hand that is an exact solver. *Stored* (`spewy.learn.stored`, Spewy Louie's way): every chunk is visited on
its own, and a parent sees the payoff matrices that the visits below have stored. Chunks of a round do not see each
other, so visits of a level run in parallel, in any order, with the same result. Stored chunks may stand above live
ones: a visit to one of the lowest of them then improves all that follows it. *One linear program* (`spewy.learn.lp`) is
a single sweep. *Sampled* (`spewy.learn.sampled`): boards are dealt, and the boards of a bucket learn together.

`spewy.run.session.Session` drives an engine: it runs portions of work, saves and measures between them, and stops.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

if TYPE_CHECKING:
    from solvers.measure import Exploitability


class Stop(Protocol):
    """Tells a running solve to save and return, like a `threading.Event`."""

    def is_set(self) -> bool:
        """Whether to stop after the current visit."""
        ...


Progress = Callable[[int, int, int], object]
"""Called with the number of the current sweep, its finished visits, and its total visits."""
Counted = Literal["sweeps", "deals"]
Saves = Literal["checked", "at once", "in background"]
"""When an engine saves: after a check, at each visit, or in the background."""


@dataclass(frozen=True)
class Goal:
    """Limits of a portion of work.

    Attributes:
        target: exploitability in chips; a check that finds at most so much ends the portion.
        last: number of the last sweep or deal; None: there is none.
        every: number of sweeps between two checks; None: the clock decides when to check.
        together: whether a portion may hold several checks.
    """

    target: float
    last: int | None
    every: int | None = None
    together: bool = True

    def left(self, done: int) -> int | None:
        """Number of sweeps or deals until the next check or the last one; None without a limit."""
        bounds = [] if self.last is None else [self.last - done]
        if self.every is not None:
            bounds.append(self.every - done % self.every)
        return min(bounds, default=None)


@dataclass(frozen=True)
class Check:
    """A measurement of the average strategies in the real game.

    Attributes:
        done: number of sweeps or deals that were done.
        at: time of `time.perf_counter` when the measurement ended.
        took: duration in seconds.
        exploitability: in chips per deal.
        net: chips per deal of both players when both follow the average strategies; None if the check does not tell.
        bracket: bounds on the game's value for player 0; None if the check does not tell.
        stderr: standard error of the exploitability, if a sample of flops was measured.
        flops: number of flops that were measured; None: all boards.
        core_seconds: seconds of all threads together; None: not measured.
    """

    done: int
    at: float
    took: float
    exploitability: float
    net: tuple[float, float] | None = None
    bracket: tuple[float, float] | None = None
    stderr: float | None = None
    flops: int | None = None
    core_seconds: float | None = None

    @classmethod
    def of(cls, done: int, at: float, took: float, measured: Exploitability) -> Check:
        """Make the check for the measurement ``measured``."""
        return cls(done, at, took, measured.value, measured.expected, measured.bracket)


class Spread(NamedTuple):
    """Visits of the board buckets of a round.

    Attributes:
        fewest: visits of the bucket with the fewest.
        median: median visits of all buckets.
    """

    fewest: int
    median: float


class Engine(Protocol):
    """A way to solve a game, bound to the lockers of its solve.

    Attributes:
        counted: unit of `done`.
        saves: time at which the engine saves.
    """

    counted: Counted
    saves: Saves

    @property
    def done(self) -> int:
        """Number of finished sweeps or deals, saved or not."""
        ...

    @property
    def threads(self) -> int:
        """Number of threads or processes that work in parallel."""
        ...

    @property
    def settled(self) -> bool:
        """Whether the strategies belong exactly to the work that `done` counts, so that they may be saved."""
        ...

    @property
    def seconds_before(self) -> float:
        """Seconds of work in earlier runs."""
        ...

    @property
    def save_took(self) -> float | None:
        """Duration of the last save in seconds; None before the first save."""
        ...

    def run(self, goal: Goal, stop: Stop, progress: Progress) -> Sequence[Check]:
        """Do a portion of work, short enough for prompt saves and Ctrl-C.

        Args:
            goal: bounds of the portion, which `done` has not reached.
            stop: once it is set, the portion ends at the next safe place.
            progress: called as visits are made.

        Returns:
            The checks that were made within the portion, if sweeps are so short that a portion holds several.
        """
        ...

    def measure(self, stop: Stop, tell: Callable[[int, int], object]) -> Check | None:
        """Measure how far the average strategies are from an equilibrium of the real game.

        Args:
            stop: once it is set, an engine that loses nothing by it gives up; others finish.
            tell: called with the number of flops that are measured, and of all, if that takes long.

        Returns:
            The check, or None if ``stop`` was set before it was finished.
        """
        ...

    def expected_values(self) -> tuple[float, float] | None:
        """Both players' chips per deal under the average strategies; None if only a check computes them."""
        ...

    def spread(self) -> tuple[Spread, ...] | None:
        """Visits of board buckets, per round; None if the engine walks through all boards."""
        ...

    def saved(self) -> int:
        """Number of sweeps or deals that the lockers hold.

        Raises:
            lockers.LockerError: a save in the background has failed.
        """
        ...

    def save(self, seconds: float, dropping: int | None = None, *, wait: bool = True) -> None:
        """Save all finished work, so that it survives any interruption.

        Args:
            seconds: seconds of work so far, all runs together.
            dropping: the first round of the game that need not last, with all rounds after it; the rounds count as
                dropped if they were left out.
            wait: whether to return only when all is saved. An engine that saves in the background otherwise returns at
                once, and does nothing while an earlier save is under way.

        Raises:
            SolveError: regrets or sums are not finite.
            lockers.LockerError: the lockers cannot be written.
        """
        ...

    def close(self) -> None:
        """Stop threads and processes."""
        ...


class Timer:
    """Measures the time since its creation, as a `Check` stores it."""

    def __init__(self) -> None:
        self._begun = time.perf_counter()

    def times(self) -> tuple[float, float]:
        """The time now, and the seconds since the start."""
        now = time.perf_counter()
        return now, now - self._begun


def visits_at_once(chunks: int, workers: int) -> int:
    """Number of a level's chunks to visit at a time; processes do not pay off for a few chunks."""
    return workers if chunks >= 2 * workers else 1
