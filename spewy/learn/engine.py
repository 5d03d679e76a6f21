"""What sweeps over all chunks: live in memory with the lockers as its safe, through the lockers, or as one program.

*Live* (`live_engine`): a parent's chance leaves recurse into the chunks below, which improve on the way; with a row
per hand that is an exact solver. *Stored* (Spewy Louie's, `stored_engine`): every chunk is visited on its own; a parent
sees the payoff matrices that the visits below stored. Chunks of one round do not see each other, so visits of a level
run in parallel, in any order, with the same result. Stored chunks may stand above live ones: a visit to one of the
lowest of them then improves all that follows it. *One linear program* (`lp_engine`) is a single sweep.
All leave averaged strategies in the strategy locker, chunk by chunk.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from solvers.measure import Exploitability
from solvers.stopping import Stopped, StoppedError, never


class Stop(Protocol):
    """Tells a running solve to save and return; a `threading.Event` is one."""

    def is_set(self) -> bool:
        """Whether to stop after this visit."""
        ...


@dataclass(frozen=True)
class Goal:
    """When a run of sweeps checks, and when it ends.

    Attributes:
        target: in chips; a check that finds at most this is the last.
        last: the last sweep.
        every: a check follows each sweep whose number this divides, and the last one.
        stop: looked at between visits.
        progress: told of visits: the number of the sweep, how many were made in it, and of how many.
        together: whether several checks may be made before anybody hears of the first.
    """

    target: float
    last: int
    every: int
    stop: Stop
    progress: Callable[[int, int, int], None]
    together: bool = True

    def until_check(self, sweeps: int) -> int:
        """Sweeps to the next check, after so many."""
        return min(self.every - sweeps % self.every, self.last - sweeps)

    def checks_at(self, sweeps: int) -> bool:
        """Whether a check follows this sweep."""
        return sweeps % self.every == 0 or sweeps >= self.last or self.stop.is_set()

    def ends_with(self, found: Exploitability | None) -> bool:
        """Whether the run ends with this check; ``found`` is None if the check measured nothing."""
        return self.stop.is_set() or (found is not None and found.value <= self.target)


class Check(NamedTuple):
    """What was found after so many sweeps, ``at`` a time of `time.perf_counter`; it ``took`` so many seconds.

    None was found where nobody measured: between two checks, or in a sweep that was interrupted.
    """

    sweeps: int
    at: float
    took: float
    found: Exploitability | None


class Engine(Protocol):
    """A way to sweep over all chunks, bound to a store."""

    @property
    def sweeps(self) -> int:
        """Sweeps that are finished, saved or not."""
        ...

    def checks(self, goal: Goal) -> Iterator[Check]:
        """Sweep towards a goal; tell of each check.

        Between two checks of which it tells, an engine may tell of sweeps that were not measured, so that they can be
        saved. An engine in memory tells of what was measured only: nothing else of it is ever saved.
        """
        ...

    def exploitability(self, stopped: Stopped = never) -> Exploitability:
        """Exact best responses to the average strategies, in the real game.

        An engine in memory never calls ``stopped``, since it saves nothing that was not measured.

        Raises:
            StoppedError: ``stopped()`` returned True.
        """
        ...

    def expected_values(self) -> tuple[float, float]:
        """Both players' chips per deal when both follow the average strategies."""
        ...

    def save(self, dropping: int | None = None) -> None:
        """Make all finished sweeps last: what was saved survives any interruption.

        Args:
            dropping: the first round of the game that need not last, with all after it; it counts as dropped where it
                was left out.
        """
        ...

    def close(self) -> None:
        """Stop helpers."""
        ...


def measured(engine: Engine, stopped: Stopped = never) -> Check:
    """Measure what an engine has reached; the check measures nothing if ``stopped()`` returned True."""
    begun = time.perf_counter()
    try:
        found = engine.exploitability(stopped)
    except StoppedError:
        return unmeasured(engine)
    ended = time.perf_counter()
    return Check(engine.sweeps, ended, ended - begun, found)


def unmeasured(engine: Engine) -> Check:
    """Tell what an engine has reached, and measure nothing."""
    return Check(engine.sweeps, time.perf_counter(), 0.0, None)


def visits_at_once(chunks: int, workers: int) -> int:
    """How many of a level's chunks are visited at a time: processes are not worth their trouble for a few."""
    return workers if chunks >= 2 * workers else 1
