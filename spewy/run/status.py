"""Publish the status of a solve: to a reporter every second, and in the folder every few seconds."""

from __future__ import annotations

import math
import time
from collections import deque
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from spewy.errors import InputError
from spewy.job.job import Job
from spewy.learn.engine import Check, Engine
from spewy.records.status import Judged, Status, read_status, write_status
from spewy.run.reporter import Reporter
from spewy.run.saving import Saving
from spewy.run.stopping import Stopping

TELL_SECONDS, WRITE_SECONDS = 1.0, 3.0
"""Seconds between two reports to the reporter, and between two writes of the status file."""
LATELY = 10.0
"""Length in seconds of the window in which the speed is measured."""


class StatusWriter:
    """Publishes the status of a solve at limited frequency.

    Args:
        job: the job that is solved.
        stopping: the target and the limits of the job.
        engine: the engine that solves the job.
        saving: the schedule of saves, which knows what is saved.
        folder: folder of the solve; None: no status file is written.
        report: reporter that receives the status.
        stage: number of the stage with fewer board buckets, and number of all stages; None: all board buckets.
    """

    def __init__(
        self,
        job: Job,
        stopping: Stopping,
        engine: Engine,
        saving: Saving,
        folder: Path | None,
        report: Reporter,
        stage: tuple[int, int] | None = None,
    ) -> None:
        self._stage = stage
        self._job, self._stopping, self._engine, self._saving = job, stopping, engine, saving
        self._folder, self._report = folder, report
        self._told = self._written = -math.inf
        self._pace = _Pace()
        self._judged: Judged | None = None
        self._value: float | None = None
        self._target_in: float | None = None

    def tell(self, seconds: float) -> None:
        """Publish the status, unless it was published a moment ago.

        Args:
            seconds: seconds of work in all runs.
        """
        now = time.perf_counter()
        self._pace.count(now, self._engine.done)
        if now - self._told >= TELL_SECONDS:
            self._told = now
            self._report.status(self._status(seconds), self._engine.threads)
        if now - self._written >= WRITE_SECONDS:
            self._write(seconds)

    def checked(self, check: Check, seconds_left: float | None) -> None:
        """Record for the status the results of a check, and the forecast of the seconds until the target is reached."""
        unit, stopping = self._stopping.unit, self._stopping
        error = None if check.stderr is None else stopping.in_unit(check.stderr)
        amount = stopping.in_unit(check.exploitability)
        self._judged = Judged(amount, unit, error, check.flops, check.done, time.time(), check.took)
        if check.net is not None and self._job.spot is None:
            self._value = 1000 * check.net[0] / self._job.rules.big_blind
        self._target_in = seconds_left if seconds_left is not None and math.isfinite(seconds_left) else None

    def recall(self, done: int, chips: float) -> Judged:
        """Restore the last check of an earlier run for the status.

        Args:
            done: number of sweeps or deals before the check.
            chips: exploitability at the check in chips.

        Returns:
            The check as the status file has it; if the file lacks the check, only its exploitability and ``done``.
        """
        self._judged = Judged(self._stopping.in_unit(chips), self._stopping.unit, None, None, done, None)
        with suppress(InputError):  # the file is damaged
            status = None if self._folder is None else read_status(self._folder)
            judged = None if status is None else status.judged
            if status and judged and (judged.deals, judged.unit) == (done, self._stopping.unit):
                self._judged, self._value = judged, status.value
        return self._judged

    def pause(self) -> None:
        """Exclude the time until the next call of `tell` from the measured speed."""
        self._pace.clear()

    def measuring(self, seconds: float, done: int, total: int) -> None:
        """Write a status which says that a running check has measured ``done`` of ``total`` flops.

        ``seconds`` is the working time of all runs so far.
        """
        self._write(seconds, checking=(done, total))

    def end(self, seconds: float) -> None:
        """Write the status at the end of the run, after ``seconds`` of work in all runs."""
        self._write(seconds, seconds_left=None)

    def _write(self, seconds: float, **changes: Any) -> None:
        if self._folder is not None:
            self._written = time.perf_counter()
            write_status(self._folder, replace(self._status(seconds), **changes))

    def _status(self, seconds: float) -> Status:
        pace, spread = self._pace.per_second, self._engine.spread()
        return Status(
            name=self._job.name,
            deals=self._engine.done,
            saved_deals=self._saving.saved,
            per_second=pace,
            seconds=seconds,
            seconds_left=self._left(seconds, pace),
            visits=spread,
            value=self._value,
            judged=self._judged,
            target=self._job.solve.target,
            at=time.time(),
            stage=self._stage,
        )

    def _left(self, seconds: float, pace: float | None) -> float | None:
        """Estimate the seconds until the target or a limit of the job ends the solve; None if not known.

        Args:
            seconds: seconds of work in all runs.
            pace: sweeps or deals per second; None if unknown.
        """
        stopping, left = self._stopping, []
        if stopping.most_seconds is not None:
            left.append(max(0.0, stopping.most_seconds - seconds))
        if stopping.last is not None and pace:
            left.append(max(0.0, (stopping.last - self._engine.done) / pace))
        if self._target_in is not None:
            left.append(self._target_in)
        return min(left, default=None)


class _Pace:
    """The speed of a solve in sweeps or deals a second, over the last few seconds."""

    def __init__(self) -> None:
        self._counted: deque[tuple[float, int]] = deque()

    def count(self, now: float, done: int) -> None:
        """Record the number of sweeps or deals ``done`` at the time ``now`` of `time.perf_counter`."""
        self._counted.append((now, done))
        while len(self._counted) > 2 and self._counted[1][0] < now - LATELY:
            self._counted.popleft()

    def clear(self) -> None:
        """Delete all records, so that the time until the next record does not affect the speed."""
        self._counted.clear()

    @property
    def per_second(self) -> float | None:
        """Sweeps or deals per second; None if fewer than two numbers are recorded."""
        if len(self._counted) < 2 or self._counted[-1][0] <= self._counted[0][0]:
            return None
        (begun, first), (ended, last) = self._counted[0], self._counted[-1]
        return (last - first) / (ended - begun)
