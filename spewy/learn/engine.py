"""The base class of engines. An engine improves, measures and saves the strategies of a solve.

There are four engines:

- *Live* (`spewy.learn.live`): all chunks are in memory, and each iteration improves all of them. With one row for each
  hand this is an exact solver.
- *Stored* (`spewy.learn.stored`, the method of Spewy Louie Jr.): every chunk is visited by itself. Its chance leaves
  are valued by payoff matrices, which earlier visits of the next round's chunks have stored. Chunks of one round do not
  depend on each other, so processes visit them in parallel, in any order, with the same result. The last rounds may be
  live: then a visit to a chunk of the round before them improves the chunk's whole subgame.
- *One linear program* (`spewy.learn.lp`): the only sweep solves the whole game.
- *Sampled* (`spewy.learn.sampled`): boards are dealt at random, and all boards of a board bucket share strategies.

`spewy.run.session.Session` drives an engine: it runs short intervals of work, and saves and measures between them.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from threading import Event
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Protocol

from spewy.system.tools import Closing

if TYPE_CHECKING:
    from solvers.measure import Exploitability

Progress = Callable[[int, int, int], object]
"""Function that an engine calls with the number of the current sweep, its finished visits and all its visits."""
Counted = Literal["sweeps", "deals"]
"""Unit in which an engine counts its work."""
Saves = Literal["checked", "at once", "in background"]
"""When an engine saves: after a check, at once after each visit, or in the background while it works."""


class Stop(Protocol):
    """Tells a running solve to save its work and return; for example a `threading.Event`."""

    def is_set(self) -> bool:
        """Whether to stop after the current visit."""
        ...


@dataclass(frozen=True)
class Goal:
    """Limits of one call of `Engine.run`.

    Attributes:
        target: exploitability in chips; a check that finds at most this much ends the call.
        last: number of the last sweep or deal; None for no limit.
        every: number of sweeps between two checks; None if the time since the last check decides.
        together: whether one call may make several checks.
        check_at: number of the sweep after which the next check is due; None if ``every`` decides.
        seconds_left: seconds until the time limit of the solve.
    """

    target: float
    last: int | None
    every: int | None = None
    together: bool = True
    check_at: int | None = None
    seconds_left: float = math.inf

    def left(self, done: int) -> int | None:
        """Number of sweeps or deals until the next check or the end of the solve; None if there is no limit."""
        bounds = [] if self.last is None else [self.last - done]
        if self.check_at is not None:
            bounds.append(max(1, self.check_at - done))
        elif self.every is not None:
            bounds.append(self.every - done % self.every)
        return min(bounds, default=None)


@dataclass(frozen=True)
class Check:
    """A measurement of the average strategies in the real game.

    Attributes:
        done: number of finished sweeps or deals.
        at: time of `time.perf_counter` when the measurement ended.
        took: duration of the measurement in seconds.
        exploitability: exploitability in chips per deal.
        net: chips per deal that each player wins if both follow the average strategies; None if unknown.
        bracket: lower and upper bound on the game's value for player 0; None if unknown.
        stderr: standard error of the exploitability if a sample of flops was measured, else None.
        flops: number of flops in the sample; None if all boards were measured.
        core_seconds: seconds of computation, summed over threads; None if unknown.
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
        return cls(done, at, took, measured.value, measured.expected, measured.bracket)


class Spread(NamedTuple):
    """Numbers that show how evenly the board buckets of a round were visited.

    Attributes:
        fewest: number of visits of the bucket with the fewest visits.
        median: median of the numbers of visits of all buckets.
    """

    fewest: int
    median: float


class Engine(Closing, ABC):
    """Improves the strategies of a solve, which it reads from and saves to the solve's lockers.

    The defaults are those of engines that keep all chunks in memory and measure exploitability in one pass.

    Attributes:
        counted: unit in which `done` counts.
        saves: when the engine saves: after checks, after each visit, or in the background.
        slow: whether a check or a save may take minutes. If so, the run saves before each check, since it may be killed
            during the check, and a new run does not repeat the last check of the run before.
        advice: end of the error message if exploitability is not finite.
    """

    counted: ClassVar[Counted] = "sweeps"
    saves: ClassVar[Saves] = "checked"
    slow: ClassVar[bool] = False
    advice: ClassVar[str] = ', and solve.precision = "double" may help'

    def __init__(self, threads: int = 1, seconds_before: float = 0.0) -> None:
        self._threads, self._seconds_before = threads, seconds_before
        self._save_took: float | None = None

    @property
    @abstractmethod
    def done(self) -> int:
        """Number of finished sweeps or deals, saved or not."""

    @property
    def threads(self) -> int:
        """Number of threads or processes that work in parallel."""
        return self._threads

    @property
    def settled(self) -> bool:
        """Whether the strategies are exactly those after `done` sweeps or deals, so that they may be saved."""
        return True

    @property
    def seconds_before(self) -> float:
        """Seconds of work in earlier runs."""
        return self._seconds_before

    @property
    def save_took(self) -> float | None:
        """Duration of the last save in seconds; None before the first save."""
        return self._save_took

    @abstractmethod
    def run(self, goal: Goal, stop: Stop, progress: Progress) -> Sequence[Check]:
        """Work for a short time, so that saves and Ctrl-C need not wait long.

        Args:
            goal: limits of the work.
            stop: once set, the engine returns as soon as its state is consistent.
            progress: called with the number of the current sweep, the number of its finished visits, and the number of
                all its visits; engines that deal boards do not call this function.

        Returns:
            The checks that were made during the call; only engines with very short sweeps make any.
        """

    def measure(
        self, stop: Stop | None = None, tell: Callable[[int, int], object] = lambda done, total: None
    ) -> Check | None:
        """Measure how far the average strategies are from an equilibrium of the real game.

        Args:
            stop: once set, the measurement may end early; None: it does not.
            tell: called with the number of measured flops and the number of flops to measure, if flops are measured one
                by one.

        Returns:
            The check, or None if the measurement ended early.
        """
        timer = Timer()
        measured = self.exploitability(stop or Event())
        return None if measured is None else Check.of(self.done, *timer.times(), measured)

    def exploitability(self, stop: Stop) -> Exploitability | None:
        """Compute best responses to the average strategies for `measure`; None if ``stop`` was set meanwhile."""
        # not abstract: the sampled engine measures flop by flop, in its own `measure`
        raise NotImplementedError

    def expected_values(self) -> tuple[float, float] | None:
        """Chips per deal that each player wins under the average strategies; None if only `measure` computes this."""
        return None

    @property
    def choice(self) -> Mapping[str, Any] | None:
        """Figures before and after a choice among equilibria (`solvers.matrix.choose.Chosen`); None: no choice."""
        return None

    def spread(self) -> tuple[Spread, ...] | None:
        """Return how evenly board buckets were visited, for each round; None if every sweep visits all boards."""
        return None

    @abstractmethod
    def saved(self) -> int:
        """Number of sweeps or deals that are saved in the lockers."""

    @abstractmethod
    def save(self, seconds: float, dropping: int | None = None, *, wait: bool = True) -> None:
        """Save all finished work, so that it survives any interruption.

        Args:
            seconds: seconds of work in all runs of this solve.
            dropping: first round of the game that need not be saved; later rounds need not be saved either. None to
                save all rounds.
            wait: whether to return only after everything is saved. If False, an engine with background saves begins a
                save unless an earlier save is still running, and returns at once.
        """

    def close(self) -> None:
        """Stop threads and processes."""


class Timer:
    """Measures the time since its creation; `times` returns the two times that a `Check` needs."""

    def __init__(self) -> None:
        self._begun = time.perf_counter()

    def times(self) -> tuple[float, float]:
        """Return the current time of `time.perf_counter`, and the seconds since this timer was created."""
        now = time.perf_counter()
        return now, now - self._begun


def visits_at_once(chunks: int, workers: int) -> int:
    """Return how many chunks of a round to visit in parallel: 1 if there are too few to pay for processes."""
    return workers if chunks >= 2 * workers else 1
