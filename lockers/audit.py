"""The audit of a store on disk, in a child process that may crash without harm.

`lockers.walk` does the walking. Its crash, or its not coming to an end, is a finding about the shard it was
in.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from lockers.errors import BusyLockerError, StorageError

_PATIENCE = 60.0  # seconds
_BYTES_PER_SECOND = 10e6  # far below what the slowest disk gives


def audit(folder: Path, limit: float | None = None) -> list[str]:
    """Return what is wrong with the store in a folder; nothing when it is healthy.

    Raises:
    ------
    BusyLockerError, StorageError
        The walk could not judge: the store never rests for one who may not write, or the machine failed.

    """
    if limit is None:
        limit = (
            _PATIENCE
            + sum(path.stat().st_size for path in folder.glob("*.mdb") if path.is_file()) / _BYTES_PER_SECOND
        )
    findings: list[str] = []
    start = 0
    while True:
        ending, lines = _walk(folder, start, limit)
        reached = start
        for line in lines:
            if "shard" in line:
                reached = line["shard"]
            elif "finding" in line:
                findings.append(line["finding"])
            elif "busy" in line:
                raise BusyLockerError(line["busy"])
            elif "failure" in line:
                raise StorageError(line["failure"])
            elif "end" in line:
                return findings
        findings.append(
            f"{folder}, shard {reached}: expected a walk through the shard to end well; "
            f"the store's structure is damaged: the walk {ending}"
        )
        # The shards behind the one that cannot be walked through have findings of their own.
        if not any("shard" in line for line in lines):
            return findings
        start = reached + 1


def _walk(folder: Path, start: int, limit: float) -> tuple[str, list[dict[str, Any]]]:
    """Walk through the shards from ``start`` on; return how it ended and what it told."""
    package = os.fspath(Path(__file__).resolve().parent.parent)
    path = os.pathsep.join(filter(None, (package, os.environ.get("PYTHONPATH"))))
    command = [sys.executable, "-m", "lockers.walk", os.fspath(folder), str(start)]
    try:
        child = subprocess.run(
            command,
            capture_output=True,
            check=False,
            timeout=limit,
            env={**os.environ, "PYTHONPATH": path, "PYTHONSAFEPATH": "1"},
        )
    except subprocess.TimeoutExpired as error:
        return f"took more than {limit:.0f} seconds", _lines(error.stdout or b"")
    if child.returncode < 0:
        ending = f"was stopped by {signal.Signals(-child.returncode).name}"
    else:
        last = child.stderr.decode(errors="replace").strip().splitlines()[-1:]
        ending = f"exited with {child.returncode} {' '.join(last)}"
    return ending, _lines(child.stdout)


def _lines(output: bytes) -> list[dict[str, Any]]:
    # The last line of a child that was stopped may be cut off.
    return [json.loads(line) for line in output.splitlines() if line.endswith(b"}")]
