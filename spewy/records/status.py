"""The status of a solve: a small file in its folder, which the solve rewrites and other processes read.

The file takes its name when it is whole. A process that solves in a folder holds the folder's lock
(`spewy.system.folder_lock`) until it ends, so the lock tells whether a solve runs (`running`). The last line of the log
tells why the last run ended (`last_word`): a disk without room for a new file can mostly take one more line.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import MISSING, asdict, dataclass, fields
from pathlib import Path
from typing import Any, BinaryIO

from spewy.chunks.problem import Problem
from spewy.errors import InputError, path_text, shown
from spewy.records.progress import Trace
from spewy.system.folder_lock import is_locked
from spewy.system.textfile import read_text, replace_text, require_regular

STATUS, LOG = "status.json", "log.txt"
VERSION = 1
STOP = "stop"
"""Name of the log event that tells why a solve ended."""
STAMP = len("2026-01-31 23:59:59 ")
"""Number of characters before the event in a line of the log."""
MOST_OF_WORD = 1 << 16
"""Number of bytes at the end of the log in which its last line is searched."""


@dataclass(frozen=True)
class Judged:
    """Last measured exploitability.

    Attributes:
        exploitability: amount in ``unit``, which is "mbb" per hand, "%" of the pot or "chips".
        stderr: standard error, if a sample of flops was measured.
        flops: number of flops in the sample.
        deals: number of deals, or sweeps, before the check.
        at: time of the check in seconds since 1970; None if it was not recorded.
        seconds: duration of the check; None if it was not recorded.
    """

    exploitability: float
    unit: str
    stderr: float | None
    flops: int | None
    deals: int
    at: float | None
    seconds: float | None = None


@dataclass(frozen=True)
class Status:
    """Status of a solve.

    Attributes:
        name: name of the job.
        deals: number of dealt boards, or of sweeps.
        saved_deals: number of deals or sweeps in the lockers.
        per_second: recent deals or sweeps per second; None if unknown.
        seconds: seconds of work, all runs together; None if unknown.
        seconds_left: seconds to the target or the end of the job's time; None if unknown.
        visits: per round the fewest and the median visits of a board bucket, if known; None for a solve by sweeps.
        value: net mbb per hand of player 0 in self-play; None if it was not measured.
        judged: last check; None before the first.
        target: target as the job has it; None if unknown.
        at: time of writing in seconds since 1970.
        checking: number of flops that the running check has judged, and of all its flops; None if no check runs.
        ended: reason for the end of the last run, which the file lacks; None while it runs, or without a reason.
    """

    name: str
    deals: int
    saved_deals: int
    per_second: float | None
    seconds: float | None
    seconds_left: float | None
    visits: tuple[tuple[int, float], ...] | None
    value: float | None
    judged: Judged | None
    target: str | None
    at: float | None
    checking: tuple[int, int] | None = None
    ended: str | None = None


def judged_by(problem: Problem, trace: Trace) -> Judged | None:
    """Return the last check of a walked solve from its trace; None without a check."""
    if not trace:
        return None
    sweeps, _, chips = trace[-1]
    pct, mbb = problem.in_units(chips)
    amount, unit = (pct, "%") if pct is not None else (mbb, "mbb")
    return Judged(chips if amount is None else amount, unit, None, None, sweeps, None)


def write_status(folder: Path, status: Status) -> None:
    """Write the status file of a solve, in place of an earlier one."""
    told = asdict(status)
    del told["ended"]
    replace_text(folder / STATUS, json.dumps({"version": VERSION, **told}, indent=1) + "\n")


def forget_status(folder: Path) -> None:
    """Remove the status file of a solve, if there is one.

    Raises:
        InputError: the file is no status file, or cannot be removed.
    """
    path = folder / STATUS
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(
            f"file {path_text(path)}: expected a file that can be removed, found: {error.strerror}"
        ) from error


def read_status(folder: Path) -> Status | None:
    """Read the status file in a folder; None if there is none.

    Raises:
        InputError: the file is no status file.
    """
    path = folder / STATUS
    if not path.exists():
        return None
    subject = f"file {path_text(path)}"
    try:
        found: Any = json.loads(read_text(path, subject))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{subject}: expected JSON, found: {error}") from None
    names = {field.name for field in fields(Status)}
    least = {field.name for field in fields(Status) if field.default is MISSING}
    if (
        not isinstance(found, dict)
        or found.pop("version", None) != VERSION
        or not least <= found.keys() <= names
    ):
        raise InputError(f"{subject}: expected a status of version {VERSION}, found {shown(found)}")
    try:
        judged = None if found["judged"] is None else Judged(**found["judged"])
        visits, checking = found["visits"], found.get("checking")
        if visits is not None:
            visits = tuple((int(fewest), float(median)) for fewest, median in visits)
        if checking is not None:
            done, total = checking
            checking = int(done), int(total)
    except (TypeError, ValueError):
        raise InputError(f"{subject}: expected a status of version {VERSION}, found {shown(found)}") from None
    return Status(**{**found, "judged": judged, "visits": visits, "checking": checking, "ended": None})


def running(folder: Path) -> bool | None:
    """Whether a process is solving in a folder now; None if there is neither a lock nor a log.

    Raises:
        InputError: the lock or the log cannot be read.
    """
    if is_locked(folder):
        return True
    with _log(folder) as file:
        return None if file is None else False


def last_word(folder: Path) -> str | None:
    """Reason why the last solve in a folder ended, from its log's last line; None if the log has none.

    Raises:
        InputError: the log cannot be read.
    """
    with _log(folder) as file:
        if file is None:
            return None
        file.seek(max(0, file.seek(0, os.SEEK_END) - MOST_OF_WORD))
        lines = file.read().decode(errors="replace").splitlines()
    event, _, text = lines[-1][STAMP:].partition(" ") if lines else ("", "", "")
    return text.strip() if event == STOP else None


@contextmanager
def _log(folder: Path) -> Iterator[BinaryIO | None]:
    """Open the log of a folder for reading; yield None if it is missing."""
    path = folder / LOG
    try:
        require_regular(path, f"file {path_text(path)}")
        file = path.open("rb")
    except FileNotFoundError:
        yield None
        return
    except OSError as error:
        raise InputError(
            f"file {path_text(path)}: expected a log that can be read, found: {error.strerror}"
        ) from error
    with file:
        yield file
