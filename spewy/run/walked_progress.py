"""Writes the status of a solve that walks through all boards to the solve's folder, while the solve runs."""

from __future__ import annotations

import time
from pathlib import Path

from spewy.chunks.problem import Problem
from spewy.job.job import Job
from spewy.records.progress import Trace
from spewy.records.status import Status, judged_by, write_status
from spewy.run.forecast import forecast
from spewy.run.pace import WRITE_SECONDS, Pace
from spewy.run.saving import Saving


class WalkedProgress:
    """Writes the status file of a solve, at most every `WRITE_SECONDS`.

    Args:
        job: the job that is solved.
        problem: the job's problem.
        target: the job's target, in chips.
        folder: the solve's folder; None for a solve in memory, which has no status file.
        saving: tells which sweeps the lockers hold.
        earlier: seconds of work in earlier runs.
    """

    def __init__(
        self, job: Job, problem: Problem, target: float, folder: Path | None, saving: Saving, earlier: float
    ) -> None:
        self._job, self._problem, self._target, self._folder = job, problem, target, folder
        self._saving = saving
        self._begun = time.perf_counter() - earlier
        self._written = -WRITE_SECONDS
        self._pace = Pace()

    def tell(self, sweeps: int, trace: Trace) -> None:
        """Write the status, if the last write is long enough ago."""
        if self._folder is None:
            return
        if time.perf_counter() - self._written >= WRITE_SECONDS:
            self.write(sweeps, trace)
        else:
            self._pace.count(time.perf_counter(), sweeps)

    def end(self, sweeps: int, trace: Trace) -> None:
        """Write the last status of the run."""
        self._write(sweeps, trace, None)

    def write(self, sweeps: int, trace: Trace) -> None:
        """Write the status now."""
        self._pace.count(time.perf_counter(), sweeps)
        self._write(sweeps, trace, forecast(trace, self._target))

    def _write(self, sweeps: int, trace: Trace, seconds_left: float | None) -> None:
        if self._folder is None:
            return
        self._written = now = time.perf_counter()
        write_status(
            self._folder,
            Status(
                name=self._job.name,
                deals=sweeps,
                saved_deals=self._saving.saved,
                per_second=self._pace.per_second,
                seconds=now - self._begun,
                seconds_left=seconds_left,
                visits=None,
                value=None,
                judged=judged_by(self._problem, trace),
                target=self._job.solve.target,
                at=time.time(),
            ),
        )
