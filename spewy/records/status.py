"""The status of a solve: a small file in its folder, which the solve rewrites and other processes read.

A new status replaces the file in one step, so no process reads half of one. A process that solves in a folder holds the
folder's lock (`spewy.system.folders`) until it ends, so `running` looks at the lock. `last_word` reads from the
last line of the log why the last run ended. The reason is in the log and not in the status file, since a full disk
mostly has room for another line, but not for a new file.
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
from spewy.system.folders import is_locked
from spewy.system.textfile import read_text, replace_text, require_regular

STATUS, LOG = "status.json", "log.txt"
VERSION = 1
STOP = "stop"
"""Name of the log event for the end of a run and its reason."""
STAMP = len("2026-01-31 23:59:59 ")
"""Number of characters of the time at the start of a line of the log."""
MOST_OF_WORD = 1 << 16
"""Number of bytes that are read from the end of the log to find its last line."""


@dataclass(frozen=True)
class Judged:
    """The last measured exploitability of a solve.

    Attributes:
        exploitability: amount in ``unit``, which is "mbb" per hand, "%" of the pot or "chips".
        stderr: standard error in ``unit``; None unless a sample of flops was measured.
        flops: number of flops in the sample; None unless a sample was measured.
        deals: number of deals or sweeps that the measured strategies include.
        at: time of the measurement in seconds since 1970; None if it was not recorded.
        seconds: duration of the measurement; None if it was not recorded.
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
    """The progress of a solve, as its status file records it.

    Attributes:
        deals: number of deals (random boards) so far or, without board buckets, of sweeps (visits to all chunks).
        saved_deals: number of deals or sweeps in the lockers.
        per_second: recent deals or sweeps per second; None if unknown.
        seconds: seconds of work, all runs together; None if unknown.
        seconds_left: seconds to the target or the end of the job's time; None if unknown.
        visits: for each round the smallest and the median number of visits of a board bucket, empty if unknown; None
            for a solve by sweeps.
        value: what player 0 wins in self-play, in mbb per hand; None if it was not measured.
        judged: the last measured exploitability; None before the first measurement.
        target: target as the job file writes it; None if unknown.
        at: time of writing in seconds since 1970.
        checking: number of flops that the running measurement has finished, and number of all its flops; None if no
            measurement runs.
        stage: number of the running stage with fewer board buckets or rows (job key ``coarse_to_fine``), from 1,
            and number of all stages; None in the last stage, and in solves without stages.
        saving: whether the solve waits for a save.
        quick: whether these are the figures of a quick solve (job key ``quick``), rather than of the whole solve.
        ended: reason why the last run ended, from the log; None during a run, or if the log has no reason.
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
    stage: tuple[int, int] | None = None
    saving: bool = False
    quick: bool = False
    ended: str | None = None


def judged_by(problem: Problem, trace: Trace) -> Judged | None:
    """Return the exploitability at the last check of a solve by sweeps; None if ``trace`` holds no check."""
    if not trace:
        return None
    sweeps, _, chips = trace[-1]
    pct, mbb = problem.in_units(chips)
    amount, unit = (pct, "%") if pct is not None else (mbb, "mbb")
    return Judged(chips if amount is None else amount, unit, None, None, sweeps, None)


def write_status(folder: Path, status: Status) -> None:
    content = asdict(status)
    del content["ended"]
    replace_text(folder / STATUS, json.dumps({"version": VERSION, **content}, indent=1) + "\n")


def forget_status(folder: Path) -> None:
    path = folder / STATUS
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(
            f"file {path_text(path)}: expected a file that can be removed, found: {error.strerror}"
        ) from error


def read_status(folder: Path) -> Status | None:
    path = folder / STATUS
    if not path.exists():
        return None
    subject = f"file {path_text(path)}"
    try:
        content: Any = json.loads(read_text(path, subject))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{subject}: expected JSON, found: {error}") from None
    names = {field.name for field in fields(Status)}
    least = {field.name for field in fields(Status) if field.default is MISSING}
    if (
        not isinstance(content, dict)
        or content.pop("version", None) != VERSION
        or not least <= content.keys() <= names
    ):
        raise InputError(f"{subject}: expected a status of version {VERSION}, found {shown(content)}")
    try:
        judged = None if content["judged"] is None else Judged(**content["judged"])
        visits, pairs = content["visits"], {name: content.get(name) for name in ("checking", "stage")}
        if visits is not None:
            visits = tuple((int(fewest), float(median)) for fewest, median in visits)
        for name, pair in pairs.items():
            if pair is not None:
                first, second = pair
                pairs[name] = int(first), int(second)
    except (TypeError, ValueError):
        raise InputError(
            f"{subject}: expected a status of version {VERSION}, found {shown(content)}"
        ) from None
    return Status(**{**content, "judged": judged, "visits": visits, "ended": None, **pairs})


def running(folder: Path) -> bool | None:
    """Whether a process is solving in a folder now; None if the folder has neither a lock nor a log."""
    if is_locked(folder):
        return True
    with _log(folder) as file:
        return None if file is None else False


def last_word(folder: Path) -> str | None:
    """Read from the last line of a folder's log why the last run ended; None if the line gives no reason."""
    with _log(folder) as file:
        if file is None:
            return None
        file.seek(max(0, file.seek(0, os.SEEK_END) - MOST_OF_WORD))
        lines = file.read().decode(errors="replace").splitlines()
    event, _, text = lines[-1][STAMP:].partition(" ") if lines else ("", "", "")
    return text.strip() if event == STOP else None


@contextmanager
def _log(folder: Path) -> Iterator[BinaryIO | None]:
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
