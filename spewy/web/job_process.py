"""Runs commands of Spewy in processes of their own: one solve at a time, and estimates of jobs.

A solve is ``spewy solve JOB.toml --out FOLDER`` in a process group of its own: Ctrl-C in the server's terminal reaches
only the server, which then interrupts the solve. When the server ends, the solve is interrupted, saves and ends, too;
the solve also notices if the server was killed.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal

from spewy.errors import InputError, SpewyError, one_line, shown
from spewy.system.children import Outsider
from spewy.system.interrupts import INTERRUPTED, STARTER

ESTIMATE_SECONDS = 120.0
"""Time limit in seconds for an estimate."""
MOST_OF_LOG = 1 << 14
"""Number of bytes that are read from the end of a command's messages."""

State = Literal["running", "stopping", "ended"]


@dataclass(frozen=True)
class JobState:
    """State of the solve that this server has started last.

    Attributes:
        state: whether the solve runs, has been asked to stop, or has ended.
        seconds: seconds since its start, or from its start to its end.
        error: error with which the solve has ended; None if it runs, has finished, or was stopped.
        line: last line of the solve's messages.
    """

    id: str
    state: State
    seconds: float
    error: str | None
    line: str


class JobProcess:
    """Starts, watches and stops the one solve that this server runs in a process of its own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: Outsider | None = None
        self._log: IO[bytes] | None = None
        self._id, self._stopping = "", False
        self._begun = self._ended = 0.0

    def start(self, name: str, file: Path, folder: Path, *, quick: bool = False) -> None:
        """Start the solve of a job; ``quick`` makes a quick solve first, and then goes on."""
        with self._lock:
            self._require_free()
            if self._log is not None:
                self._log.close()
            self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed when the next solve starts
            self._process = _start(
                (
                    "solve",
                    os.fspath(file),
                    "--out",
                    os.fspath(folder),
                    *(("--quick", "--go-on") if quick else ()),
                ),
                stdout=subprocess.DEVNULL,
                stderr=self._log,
            )
            self._id, self._stopping, self._begun = name, False, time.monotonic()

    def require_free(self) -> None:
        with self._lock:
            self._require_free()

    def stop(self, *, at_once: bool = False) -> None:
        """Ask the solve to save and end; ``at_once`` ends it without a save."""
        with self._lock:
            if not self._runs():
                raise InputError("no solve of this server is running")
            assert self._process is not None
            if at_once:
                self._process.end()
            elif not self._stopping:
                self._process.send_signal(signal.SIGINT)
            self._stopping = True

    def state(self) -> JobState | None:
        """Return the state of the solve that was started last; None if there was none."""
        with self._lock:
            if self._process is None:
                return None
            runs = self._runs()
            state: State = "ended" if not runs else "stopping" if self._stopping else "running"
            lines = self._lines()
            code = self._process.returncode
            error = None
            if not runs and code not in (0, INTERRUPTED) and not self._stopping:
                error = _error(
                    lines, code, "solve", "what it saved is kept, and starting it again continues it"
                )
            end = time.monotonic() if runs else self._ended
            return JobState(self._id, state, end - self._begun, error, lines[-1] if lines else "")

    def close(self) -> None:
        """Interrupt the solve and wait until it has saved; an interruption of the wait ends the solve at once."""
        process = self._process
        if process is None:
            return
        try:
            if process.poll() is None and not self._stopping:
                process.send_signal(signal.SIGINT)
                self._stopping = True
            process.wait()
        finally:
            process.end()
            if self._log is not None:
                self._log.close()

    def _require_free(self) -> None:
        if self._runs():
            raise InputError(f"{self._id} is being solved; stop it first, or wait until it ends")

    def _runs(self) -> bool:
        """Whether the solve's process is running; record the time of its end."""
        if self._process is None:
            return False
        runs = self._process.poll() is None
        if not runs and self._ended < self._begun:
            self._ended = time.monotonic()
        return runs

    def _lines(self) -> list[str]:
        if self._log is None or self._log.closed:
            return []
        size = os.fstat(self._log.fileno()).st_size
        tail = os.pread(self._log.fileno(), MOST_OF_LOG, max(0, size - MOST_OF_LOG))
        return [one_line(line, 500) for line in tail.decode(errors="replace").splitlines() if line.strip()]


class Estimates:
    """Estimates the cost of jobs by ``spewy estimate``, one at a time; a page's new request ends its earlier one."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._latest: dict[str, _Latest] = {}

    def of(self, text: str, page: str) -> dict[str, Any] | None:
        """Return the object that ``spewy estimate --json`` prints for the text of a job file.

        None if the page (``page`` is a name that no other page has) has asked for another estimate meanwhile.
        """
        own = _Latest()
        earlier = self._latest.get(page)
        self._latest[page] = own
        if earlier is not None:
            earlier.end()
        try:
            with self._turn:
                return None if own.ended else _estimate(text, own)
        finally:
            if self._latest.get(page) is own:
                del self._latest[page]


class _Latest:
    """The latest estimate that a page has asked for; `end` stops it, also before its process has started."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: Outsider | None = None
        self.ended = False

    def begin(self, process: Outsider) -> None:
        """Record the process that computes the estimate; kill it at once if `end` was called before."""
        with self._lock:
            self._process = process
            if self.ended:
                process.end()

    def end(self) -> None:
        """End the estimate: kill its process, or let `begin` kill a process that has not started yet."""
        with self._lock:
            self.ended = True
            if self._process is not None:
                self._process.end()


def _estimate(text: str, latest: _Latest) -> dict[str, Any] | None:
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as log:
        file = Path(folder) / "job.toml"
        file.write_text(text, encoding="utf-8")
        process = _start(("estimate", os.fspath(file), "--json"), stdout=subprocess.PIPE, stderr=log)
        latest.begin(process)
        try:
            out, _ = process.communicate(timeout=ESTIMATE_SECONDS)
        except subprocess.TimeoutExpired:
            raise SpewyError(
                f"the estimate takes more than {ESTIMATE_SECONDS:.0f} seconds; spewy estimate has no time limit"
            ) from None
        finally:
            process.end()
        log.seek(0)
        lines = log.read().decode(errors="replace").splitlines()
    if latest.ended:
        return None
    if process.returncode:
        raise InputError(_error(lines, process.returncode, "estimate", "try a smaller job"))
    try:
        found: dict[str, Any] = json.loads(out)
    except ValueError:
        raise SpewyError(
            f"spewy estimate: expected JSON, found {shown(out.decode(errors='replace'))}"
        ) from None
    return found


def _start(arguments: Sequence[str], **options: Any) -> Outsider:
    return Outsider(
        [sys.executable, "-m", "spewy", *arguments],
        {STARTER: str(os.getpid())},
        stdin=subprocess.DEVNULL,
        **options,
    )


def _error(lines: Sequence[str], code: int, name: str, advice: str) -> str:
    """Return why a command has failed: a signal, or its last line that begins with "Error: ", or its last line."""
    if code < 0:
        out_of_memory = ", perhaps because the machine ran out of memory" if code == -signal.SIGKILL else ""
        return f"the {name} was killed by {_signal_name(-code)}{out_of_memory}; {advice}"
    found = [line.removeprefix("Error: ") for line in lines if line.startswith("Error: ")]
    return found[-1] if found else lines[-1] if lines else f"the {name} ended with exit code {code}"


def _signal_name(number: int) -> str:
    try:
        return f"the signal {signal.Signals(number).name}"
    except ValueError:  # a real-time signal
        return f"signal {number}"
