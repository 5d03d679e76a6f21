"""The status file and the log of a run; `spewy.records.progress` writes its result into the lockers.

The status goes to the listener every second, and into the folder every few seconds. The log has a line for each start,
check, save and stop of every run.
"""

from __future__ import annotations

import math
import os
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from spewy.errors import InputError, error_line, path_text
from spewy.job.job import Job
from spewy.learn.engine import Check, Engine
from spewy.records.status import LOG, STOP, Judged, Status, read_status, write_status
from spewy.run.events import Listener, Stated
from spewy.run.stopping import Stopping
from spewy.run.stores import Saving
from spewy.system.textfile import require_regular
from spewy.system.tools import Closing

TELL_SECONDS, WRITE_SECONDS = 1.0, 3.0
"""Seconds between two reports to the listener, and between two writes of the status file."""
LATELY = 10.0
"""Length in seconds of the window in which the speed is measured."""


class StatusWriter:
    """Publishes the status of a solve at limited frequency.

    In all methods, ``seconds`` is how long all runs of the solve have worked.

    Args:
        saving: the schedule of saves, which knows what is saved.
        folder: folder of the solve; None: no status file is written.
        stage: number of the stage with fewer board buckets, and number of all stages; None: all board buckets.
    """

    def __init__(
        self,
        job: Job,
        stopping: Stopping,
        engine: Engine,
        saving: Saving,
        folder: Path | None,
        tell: Listener,
        stage: tuple[int, int] | None = None,
    ) -> None:
        self._stage = stage
        self._job, self._stopping, self._engine, self._saving = job, stopping, engine, saving
        self._folder, self._listen = folder, tell
        self._told = self._written = -math.inf
        self._pace = _Pace()
        self._judged: Judged | None = None
        self._value: float | None = None
        self._target_at: float | None = None

    def tell(self, seconds: float) -> None:
        """Publish the status, unless it was published a moment ago."""
        now = time.perf_counter()
        self._pace.count(now, self._engine.done)
        if now - self._told >= TELL_SECONDS:
            self._told = now
            self._listen(Stated(self._status(seconds), self._engine.threads))
        if now - self._written >= WRITE_SECONDS:
            self._write(seconds)

    def checked(self, check: Check, seconds_left: float | None) -> None:
        unit, stopping = self._stopping.unit, self._stopping
        error = None if check.stderr is None else stopping.in_unit(check.stderr)
        amount = stopping.in_unit(check.exploitability)
        self._judged = Judged(amount, unit, error, check.flops, check.done, time.time(), check.took)
        if check.net is not None and self._job.spot is None:
            self._value = 1000 * check.net[0] / self._job.rules.big_blind
        self._target_at = None if seconds_left is None else check.at + seconds_left

    def recall(self, done: int, chips: float) -> Judged:
        """Restore the last check of an earlier run: an exploitability of ``chips`` after ``done`` sweeps or deals.

        Returns the check in the status file; if the file lacks this check, the result has only these two numbers.
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
        """Write the status, ``seconds`` after the start, while a check has measured ``done`` of ``total`` flops."""
        self._write(seconds, checking=(done, total))

    def saving(self, seconds: float) -> None:
        """Write the status before a save for which the solve waits."""
        if self._saving.saved != self._engine.done:
            self._write(seconds, seconds_left=None, saving=True)

    def end(self, seconds: float) -> None:
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
            quick=self._job.solve.quick is not None,
        )

    def _left(self, seconds: float, pace: float | None) -> float | None:
        """Estimate the seconds until the target or a limit of the job ends the solve; None if not known."""
        stopping, left = self._stopping, []
        in_time = None if self._target_at is None else self._target_at - time.perf_counter()
        if stopping.most_seconds is not None:
            left.append(max(0.0, stopping.most_seconds - seconds))
        # Most solves end far below the largest number of sweeps, so it says nothing until the target is forecast.
        certain = not stopping.measured or stopping.target <= 0 or in_time is not None
        if stopping.last is not None and pace and certain:
            left.append(max(0.0, (stopping.last - self._engine.done) / pace))
        if in_time is not None and in_time >= 0 and math.isfinite(in_time):
            left.append(in_time)
        return min(left, default=None)


class _Pace:
    def __init__(self) -> None:
        self._counted: deque[tuple[float, int]] = deque()

    def count(self, now: float, done: int) -> None:
        """Record the number of sweeps or deals at the time ``now`` of `time.perf_counter`."""
        self._counted.append((now, done))
        while len(self._counted) > 2 and self._counted[1][0] < now - LATELY:
            self._counted.popleft()

    def clear(self) -> None:
        self._counted.clear()

    @property
    def per_second(self) -> float | None:
        if len(self._counted) < 2 or self._counted[-1][0] <= self._counted[0][0]:
            return None
        (begun, first), (ended, last) = self._counted[0], self._counted[-1]
        return (last - first) / (ended - begun)


class LogFile(Closing):
    """The log of a solve.

    Args:
        folder: the folder of the solve, whose lock this process holds.

    Raises:
        InputError: the log cannot be written.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / LOG
        self._descriptor = -1
        with suppress(FileNotFoundError):
            require_regular(self._path, f"file {path_text(self._path)}")
        try:
            self._descriptor = os.open(
                self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644
            )
        except OSError as error:
            raise InputError(f"log {path_text(self._path)} cannot be written: {error.strerror}") from error

    def write(self, event: str, text: str = "") -> None:
        """Add a line: the time, the event ("start", "check", "save" or "stop"), and a text."""
        words = " ".join(f"{event:<6}{text}".split("\n")).rstrip()
        line = f"{time.strftime('%Y-%m-%d %H:%M:%S')} {words}\n".encode(errors="backslashreplace")
        try:
            written = os.write(self._descriptor, line)
            if written < len(line):  # the disk is full: writing the rest raises the error
                os.write(self._descriptor, line[written:])
        except OSError as error:
            error.filename = os.fspath(self._path)
            raise

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


@contextmanager
def logged(folder: Path) -> Iterator[LogFile]:
    """Yield the log of a solve; if the block raises an error, the log ends with a line that names the error."""
    with LogFile(folder) as log:
        try:
            yield log
        except BaseException as error:
            with suppress(OSError):  # such as a full disk, which may be the failure itself
                log.write(STOP, _failure(error))
            raise


def _failure(error: BaseException) -> str:
    if isinstance(error, KeyboardInterrupt):
        return "stopped at once by an interruption"
    return f"failed, {error_line(error)}"
