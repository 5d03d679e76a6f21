"""How a solve that walks through all boards stands: written to its folder while it runs."""

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
    """Writes the status file of a solve's folder, not too often.

    Args:
        job: that is solved.
        problem: of the job.
        target: of the solve, in chips.
        folder: of the solve; None: in memory, where nobody looks.
        saving: knows which sweeps the lockers hold.
        earlier: seconds of work of earlier runs.
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
        """Write how the solve stands, if the last time is long enough ago."""
        if self._folder is None:
            return
        if time.perf_counter() - self._written >= WRITE_SECONDS:
            self.write(sweeps, trace)
        else:
            self._pace.count(time.perf_counter(), sweeps)

    def end(self, sweeps: int, trace: Trace) -> None:
        """Write how the solve stands in the end."""
        self._write(sweeps, trace, None)

    def write(self, sweeps: int, trace: Trace) -> None:
        """Write how the solve stands now."""
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
