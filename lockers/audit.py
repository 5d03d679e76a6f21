"""The audit of a data file, in a child process that may crash without harm.

LMDB trusts its pages: a damaged page can end the process. The verifier that comes with py-lmdb reads the file as
bytes and cannot be led astray, so it goes first; `lockers.walk`, the child, then reads every entry through LMDB. A
crash of the child, or its not coming to an end, is a finding.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from lockers.errors import LockerError, StorageError

_PATIENCE = 60.0  # seconds
_BYTES_PER_SECOND = 10e6  # far below the slowest disk
_ATTEMPTS = 8


def data_file_findings(path: Path, *, short: bool = False, limit: float | None = None) -> list[str]:
    """Return descriptions of all that is wrong with a data file; none if it is healthy.

    Args:
        path: The data file.
        short: Whether to read a file that lacks pages.
        limit: Most seconds for the child; None for a minute, and more for a large file.

    Raises:
        StorageError: The machine failed, so the audit cannot tell.
    """
    if limit is None:
        limit = _PATIENCE + (path.stat().st_size if path.is_file() else 0) / _BYTES_PER_SECOND
    package = os.fspath(Path(__file__).resolve().parent.parent)
    python_path = os.pathsep.join(filter(None, (package, os.environ.get("PYTHONPATH"))))
    try:
        child = subprocess.run(
            [sys.executable, "-m", "lockers.walk", os.fspath(path), *(["short"] if short else [])],
            capture_output=True,
            check=False,
            timeout=limit,
            env={**os.environ, "PYTHONPATH": python_path, "PYTHONSAFEPATH": "1"},
        )
    except subprocess.TimeoutExpired as error:
        output, ending = error.stdout or b"", f"took more than {limit:.0f} seconds"
    else:
        output, ending = child.stdout, _ending(child)
    # The last line of a child that was stopped may be cut off.
    lines = [json.loads(line) for line in output.splitlines() if line.endswith(b"}")]
    for line in lines:
        if "failure" in line:
            raise StorageError(line["failure"])
    findings = [line["finding"] for line in lines if "finding" in line]
    if not any("end" in line for line in lines):
        findings.append(
            f"{path}: expected a walk through the file to end well; it is damaged: the walk {ending}"
        )
    return findings


def structure_findings(path: Path, commit: Callable[[], int]) -> list[str]:
    """Return what is wrong with the pages of a data file, judged without LMDB.

    The verifier knows files at rest: a finding counts only if no commit happened meanwhile. A file that never rests
    has no findings.

    Args:
        path: The data file.
        commit: Returns the number of the last commit.
    """
    for _ in range(_ATTEMPTS):
        try:
            before = commit()
            findings = [f"{path}: expected sound LMDB pages, found: {finding}" for finding in _verified(path)]
            if not findings or commit() == before:
                return findings
        except StorageError:
            raise
        except LockerError as error:
            return [str(error)]
    return []


def _verified(path: Path) -> list[str]:
    from lmdb import verify  # a large module that few processes need

    try:
        return list(verify.verify(str(path), subdir=False))  # type: ignore[no-untyped-call]
    except verify.VerifyError as error:
        return [str(error)]


def _ending(child: subprocess.CompletedProcess[bytes]) -> str:
    if child.returncode < 0:
        return f"was stopped by {signal.Signals(-child.returncode).name}"
    last = child.stderr.decode(errors="replace").strip().splitlines()[-1:]
    return f"exited with {child.returncode} {' '.join(last)}"
