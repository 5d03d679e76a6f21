"""Rules for when a solve stops and when a check measures its exploitability."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from spewy.job.job import Job
from spewy.job.sections import WalkedSolve
from spewy.job.texts import parse_target, unit_chips
from spewy.learn.engine import Check, Engine, Goal

CHECK_EVERY = 10
"""Default number of sweeps between two checks."""
QUICK_SWEEPS = 8
"""Smallest number of sweeps of a quick solve, even if they take longer than it should."""
QUICK_SAVING = 0.05
"""Share of a quick solve's seconds that stays for the values of leaves and the save."""
SHORT_SWEEP = 5e-4
"""Estimated seconds of a sweep from which a default solve makes few checks; faster solves check inside a kernel."""
LONGEST_GAP = 30.0
"""Largest estimated core-seconds between two checks: the solve saves only after a check."""
GROWTH, SHARE, NEAR, LEAST_STEP = 2, 0.8, 8, 40
"""Settings of a solve that makes few checks, and forecasts before each how many sweeps it still needs.

The next check comes after the share `SHARE` of these sweeps, or after all if they are fewer than 1 / `NEAR` of the
sweeps so far; at the latest after `GROWTH` times the sweeps so far, and after more than 1 / `LEAST_STEP` more.
"""
FLAT = 0.05
"""Slowest convergence for which a forecast is made: exploitability must fall faster than sweeps^-0.05."""
SLOWING = 0.7
"""Share of a slope beyond 1 that a forecast of time expects to last: fast convergence slows down later."""
Trace = Sequence[tuple[int, float, float]]
"""Checks of a solve: (sweeps or deals, seconds, exploitability in chips)."""
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
        most_apart: largest number of sweeps between two checks, if a forecast chooses the sweep of each check;
            None: ``every`` or ``every_seconds`` decides.
        most_seconds: largest number of seconds of work in all runs; None: no limit.
        measured: whether the solve measures its exploitability; a stage with fewer board buckets and a quick solve do
            not.
        fewest: smallest number of sweeps, even if they take longer than ``most_seconds``.
    """

    target: float
    unit: str
    unit_chips: float
    last: int | None
    every: int | None
    every_seconds: float | None
    most_seconds: float | None
    most_apart: int | None = None
    measured: bool = True
    fewest: int = 0

    @classmethod
    def of(cls, job: Job, seconds_per_sweep: float | None = None) -> Stopping:
        """Read the target and the limits of a job.

        ``seconds_per_sweep`` are core-seconds of the exact engine; None: another engine, which checks at regular
        intervals.
        """
        amount, unit = parse_target(job.solve.target)
        chips, dealing = unit_chips(job.rules, job.pot, unit), job.dealing
        if dealing is None:
            assert isinstance(job.solve, WalkedSolve)
            if job.quick_seconds is not None:
                most = (1 - QUICK_SAVING) * job.quick_seconds
                return cls(
                    amount * chips,
                    unit,
                    chips,
                    job.last_sweep,
                    None,
                    None,
                    most,
                    measured=False,
                    fewest=QUICK_SWEEPS,
                )
            every, apart = job.solve.check_every, None
            if every is None and seconds_per_sweep is not None and seconds_per_sweep >= SHORT_SWEEP:
                apart = max(CHECK_EVERY, int(LONGEST_GAP / seconds_per_sweep))
            return cls(
                amount * chips,
                unit,
                chips,
                job.last_sweep,
                every or CHECK_EVERY,
                None,
                None,
                apart,
            )
        return cls(
            amount * chips,
            unit,
            chips,
            dealing.last_deal,
            None,
            dealing.check_seconds,
            dealing.most_seconds,
        )

    def later(self, seconds: float) -> Stopping:
        """Return the rules of a solve that has spent ``seconds`` of its time limit before the first sweep."""
        return self if self.most_seconds is None else replace(self, most_seconds=self.most_seconds - seconds)

    def goal(self, trace: Trace, seconds: float, *, together: bool) -> Goal:
        """Return the limits of the next call of an engine's ``run``, after ``seconds`` of work.

        ``together``: whether that call may make several checks.
        """
        at, most = self.check_at(trace), self.most_seconds
        left = math.inf if most is None else max(0.0, most - seconds)
        return Goal(self.target, self.last, self.every, together and at is None, at, left)

    def check_at(self, trace: Trace) -> int | None:
        """Choose the sweep after which the next check is due, from the checks so far; None: at regular intervals.

        The choice depends on the exploitability alone, so that the same job always ends after the same sweep.
        """
        if self.most_apart is None:
            return None
        if not trace:
            return CHECK_EVERY
        done, expected = trace[-1][0], expected_sweeps(trace, self.target)
        most = done + min(self.most_apart, (GROWTH - 1) * done)
        if expected is None or expected >= 2 * GROWTH * done:
            return most
        missing = expected - done
        step = math.ceil(missing) if NEAR * missing < done else int(SHARE * missing)
        return min(most, done + max(1 + done // LEAST_STEP, step))

    def is_reached(self, check: Check | None) -> bool:
        """Whether the exploitability of a check, plus the standard error of a sample of flops, is at most the target.

        Without the standard error, a few flops that happen to be easy could end a solve.
        """
        return check is not None and check.exploitability + (check.stderr or 0.0) <= self.target

    def is_check_due(self, done: int, seconds: float, trace: Trace) -> bool:
        """Whether a check must measure the exploitability now, ``seconds`` after the last check or the start."""
        if not self.measured:
            return False
        at = self.check_at(trace)
        if at is not None:
            return done >= at
        if self.every is not None:
            return done % self.every == 0
        return self.every_seconds is not None and seconds >= self.every_seconds

    def exhausted(self, engine: Engine, seconds: float, last: Check | None) -> str | None:
        """Return the reason to end a solve that has not reached its target, in words; None if it continues.

        The solve ends early enough for a final check within the time limit, if it takes as long as the check ``last``.
        ``seconds`` is the work of all runs.
        """
        taken = seconds if last is None else seconds + last.took
        if self.most_seconds is not None and taken >= self.most_seconds and engine.done >= self.fewest:
            return "time is up"
        if self.last is not None and engine.done >= self.last:
            return f"all {engine.counted} made"
        return None

    def in_unit(self, chips: float) -> float:
        return chips / self.unit_chips


def forecast(trace: Trace, target: float) -> float | None:
    """Forecast the seconds, maybe infinite, until a solve reaches ``target`` in chips.

    None if there are too few checks, the exploitability hardly falls, or as many sweeps or more are still expected as
    when half as many sweeps were done.
    """
    sweeps = expected_sweeps(trace, target, SLOWING)
    if sweeps is None:
        return None
    first, last = _two_checks(trace)
    before = expected_sweeps([row for row in trace if row[0] <= first[0]], target, SLOWING)
    if before is not None and before - first[0] <= sweeps - last[0] and sweeps > last[0]:
        return None
    pace = (last[1] - first[1]) / (last[0] - first[0])
    return max(0.0, (sweeps - last[0]) * pace)


def expected_sweeps(trace: Trace, target: float, lasting: float = 1.0) -> float | None:
    """Estimate how many sweeps or deals, maybe infinite, a solve needs to reach ``target`` in chips.

    The estimate extends a power law through two checks: the last, and the latest with at most half as many sweeps.
    ``lasting`` is the share of the law's exponent beyond 1 that lasts.
    None if there are too few checks or the exploitability hardly falls.
    """
    if len(trace) < 2 or target <= 0:
        return None
    first, last = _two_checks(trace)
    if not (0 < last[2] < first[2]):
        return None
    slope = _slope(first, last)
    if slope < FLAT:
        return None
    slope -= (1 - lasting) * max(0.0, slope - 1)
    with np.errstate(over="ignore"):
        return float(last[0] * np.exp(np.log(last[2] / target) / slope))


def _slope(first: tuple[int, float, float], last: tuple[int, float, float]) -> float:
    """Return s of the power law sweeps^-s through two checks."""
    return float(np.log(first[2] / last[2]) / np.log(last[0] / first[0]))


def _two_checks(trace: Trace) -> tuple[tuple[int, float, float], tuple[int, float, float]]:
    """Return the latest check with at most half as many sweeps as the last check, or the first; and the last check."""
    last = trace[-1]
    return next((row for row in reversed(trace[:-1]) if row[0] <= last[0] / 2), trace[0]), last
