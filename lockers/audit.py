"""The audit of a data file, in a child process that may crash without harm.

LMDB trusts its pages, so a damaged page can end the process that reads it. The child process, `lockers.walk`, first
runs the verifier of py-lmdb, which reads the file as bytes and survives any damage. If the verifier finds nothing, the
child reads every entry through LMDB. A child that crashes or takes too long means that the file is damaged.
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

_PATIENCE = 60.0  # seconds for an audit
_BYTES_PER_SECOND = 10e6  # slower than any disk
_ATTEMPTS = 8


def data_file_findings(path: Path, *, short: bool = False, limit: float | None = None) -> list[str]:
    """Return a description of each defect of a data file; an empty list if the file is healthy.

    Args:
        path: The data file.
        short: Whether to read the file even if it lacks pages that LMDB has allocated.
        limit: Time limit of the child process in seconds; None for a minute plus the time to read a large file.

    Raises:
        StorageError: The disk or the system failed, so the audit has no result.
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
    # The last line may be incomplete if the child process was stopped.
    lines = [json.loads(line) for line in output.splitlines() if line.endswith(b"}")]
    for line in lines:
        if "failure" in line:
            raise StorageError(line["failure"])
    findings = [line["finding"] for line in lines if "finding" in line]
    if not any("end" in line for line in lines):
        findings.append(f"{path}: the file is damaged: the process that read it {ending}")
    return findings


def structure_findings(path: Path, commit: Callable[[], int]) -> list[str]:
    """Return a description of each defect in the page structure of a data file, found by py-lmdb's verifier.

    The verifier is right only if nobody writes the file meanwhile. So if a commit happens during a check, the findings
    are discarded and the check is repeated. The list is empty if commits disturb all of the few attempts.

    Args:
        path: The data file.
        commit: Function that returns the number of the last commit.
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
