"""Rules for when a solve stops and when a check measures its exploitability."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from spewy.job.job import Job
from spewy.job.sections import WalkedSolve
from spewy.job.units import parse_target, unit_chips
from spewy.learn.engine import Check, Engine, Goal

FLAT = 0.05
"""Slowest convergence for which a forecast is made: exploitability must fall faster than sweeps^-0.05."""
REACHED, INTERRUPTED = "target reached", "interrupted"
"""Reasons for the end of a run, in status and log; `Stopping.exhausted` has further reasons."""


@dataclass(frozen=True)
class Stopping:
    """The target and the limits of a job.

    Attributes:
        target: exploitability in chips at which the solve ends.
        unit: the unit in which the job gives the target.
        unit_chips: number of chips in one unit.
        last: number of the last sweep or deal; None: no limit.
        every: number of sweeps between two checks; None: ``every_seconds`` decides.
        every_seconds: seconds between two checks; None: ``every`` decides.
        most_seconds: largest number of seconds of work in all runs; None: no limit.
    """

    target: float
    unit: str
    unit_chips: float
    last: int | None
    every: int | None
    every_seconds: float | None
    most_seconds: float | None

    @classmethod
    def of(cls, job: Job) -> Stopping:
        """Read the target and the limits of a job.

        Raises:
            InputError: the target's unit does not apply to the job, such as % of the pot to a whole game.
        """
        amount, unit = parse_target(job.solve.target)
        chips, dealing = unit_chips(job.rules, job.pot, unit), job.dealing
        if dealing is None:
            assert isinstance(job.solve, WalkedSolve)
            return cls(amount * chips, unit, chips, job.last_sweep, job.solve.check_every, None, None)
        return cls(
            amount * chips,
            unit,
            chips,
            dealing.last_deal,
            None,
            dealing.check_seconds,
            dealing.most_seconds,
        )

    def goal(self, *, together: bool) -> Goal:
        """Return the limits of the next call of an engine's ``run``.

        Args:
            together: whether one call may include several checks.
        """
        return Goal(self.target, self.last, self.every, together)

    def is_reached(self, check: Check | None) -> bool:
        """Whether a check found an exploitability at or below the target."""
        return check is not None and check.exploitability <= self.target

    def is_check_due(self, done: int, seconds: float) -> bool:
        """Whether a check must measure the exploitability now.

        Args:
            done: number of sweeps or deals so far.
            seconds: seconds since the last check, or since the start of the run if it had no check.
        """
        if self.every is not None:
            return done % self.every == 0
        return self.every_seconds is not None and seconds >= self.every_seconds

    def exhausted(self, engine: Engine, seconds: float, last: Check | None) -> str | None:
        """Return the reason to end a solve that has not reached its target, in words; None if it continues.

        The solve ends so early that a final check that takes as long as the last check ends within the time limit.

        Args:
            engine: the engine of the solve.
            seconds: seconds of work so far, in all runs.
            last: the last check of this run or of an earlier one; None: there was no check.
        """
        taken = seconds if last is None else seconds + last.took
        if self.most_seconds is not None and taken >= self.most_seconds:
            return "time is up"
        if self.last is not None and engine.done >= self.last:
            return "all sweeps made" if engine.counted == "sweeps" else "all deals made"
        return None

    def in_unit(self, chips: float) -> float:
        """Convert an exploitability from chips to the job's unit."""
        return chips / self.unit_chips


def forecast(trace: Sequence[tuple[int, float, float]], target: float) -> float | None:
    """Forecast the seconds until a solve reaches its target.

    The forecast extends a power law through two checks: the last, and the latest with at most half as many sweeps.

    Args:
        trace: (sweeps or deals, seconds, exploitability in chips) of each check.
        target: exploitability in chips to reach.

    Returns:
        The seconds, which may be infinite; None if there are too few checks or the exploitability hardly falls.
    """
    if len(trace) < 2 or target <= 0:
        return None
    last = trace[-1]
    first = next((row for row in reversed(trace[:-1]) if row[0] <= last[0] / 2), trace[0])
    if not (0 < last[2] < first[2]):
        return None
    slope = np.log(first[2] / last[2]) / np.log(last[0] / first[0])
    if slope < FLAT:
        return None
    with np.errstate(over="ignore"):
        sweeps = float(last[0] * np.exp(np.log(last[2] / target) / slope))
    pace = (last[1] - first[1]) / (last[0] - first[0])
    return max(0.0, (sweeps - last[0]) * pace)
