"""Refuses a data file that was cut off: reading a page that the file lacks would end the process with SIGBUS."""

from __future__ import annotations

import time
from pathlib import Path

import lmdb

from lockers.audit import data_file_findings, structure_findings
from lockers.data_file import missing_bytes
from lockers.errors import DamagedLockerError

_PATIENCE = 0.05  # seconds to wait until another process has lengthened the file after its commit


def require_whole(env: lmdb.Environment, path: Path) -> None:
    """Refuse a file that lacks pages with content.

    LMDB does not write pages at the end of the file that a transaction allocates and frees again, so a sound file can
    be shorter than LMDB says. A writer lengthens the file after its commit, but it may be killed before. The audit
    distinguishes such a file from one that was cut off.

    Raises:
        DamagedLockerError: A missing page has content.
    """
    end = time.monotonic() + _PATIENCE
    while missing := missing_bytes(env, path):
        if time.monotonic() < end:
            time.sleep(_PATIENCE / 20)
            continue
        findings = structure_findings(path, lambda: int(env.info()["last_txnid"]))
        findings = findings or data_file_findings(path, short=True)
        if findings:
            size = path.stat().st_size
            raise DamagedLockerError(
                f"{path}: expected {size + missing:,} bytes, found {size:,}: the file was cut off, and the missing "
                f"bytes are in use ({findings[0].removeprefix(f'{path}: ')})"
            )
        return
