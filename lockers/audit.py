"""Damage of a data file: how it is found, refused and, in one case, repaired.

LMDB trusts its pages, so a damaged page can end the process that reads it. So a child process, `lockers.walk`, first
runs the verifier of py-lmdb, which reads the file as bytes and survives any damage. If the verifier finds nothing, the
child reads every entry through LMDB. A child that crashes or takes too long means that the file is damaged.

Reading a page that a file lacks would end the process with SIGBUS; `require_whole` refuses such a file. The first two
pages of a data file are LMDB's meta pages: each commit overwrites the older of both. LMDB refuses a file if either page
is not a meta page; `restore_meta_page` repairs a file that still has one of both.
"""

from __future__ import annotations

import json
import logging
import mmap
import os
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import lmdb

from lockers.errors import DamagedLockerError, LockerError, StorageError
from lockers.files import lock_alone, lock_file, make_lock_file, missing_bytes, require_writable

_LOG = logging.getLogger(__name__)
_AUDIT_PATIENCE = 60.0  # seconds for an audit
_BYTES_PER_SECOND = 10e6  # slower than any disk
_ATTEMPTS = 8
_META_FLAG, _MAGIC, _VERSION = 0x08, 0xBEEFC0DE, 1  # as in LMDB's mdb.c
_COMMIT = 144  # offset of the number of the commit in a meta page
_LENGTH_PATIENCE = 0.05  # seconds to wait until another process has lengthened the file after its commit


def data_file_findings(path: Path, *, short: bool = False, limit: float | None = None) -> list[str]:
    """Return a description of each defect of a data file; an empty list if the file is healthy.

    Args:
        path: The data file.
        short: Whether to read the file even if it lacks pages that LMDB has allocated.
        limit: Time limit of the child process in seconds; None for a minute plus the time to read a large file.
    """
    if limit is None:
        limit = _AUDIT_PATIENCE + (path.stat().st_size if path.is_file() else 0) / _BYTES_PER_SECOND
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
    are discarded and the check is repeated. The list is empty if commits disturb all of the few attempts. ``commit``
    returns the number of the last commit.
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


def require_whole(env: lmdb.Environment, path: Path) -> None:
    """Refuse a file that lacks pages with content.

    LMDB does not write pages at the end of the file that a transaction allocates and frees again, so a sound file is
    shorter than LMDB says if its writer was killed before it lengthened the file. The audit distinguishes this file
    from a file that was cut off.
    """
    end = time.monotonic() + _LENGTH_PATIENCE
    while missing := missing_bytes(env, path):
        if time.monotonic() < end:
            time.sleep(_LENGTH_PATIENCE / 20)
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


def restore_meta_page(path: Path) -> bool:
    """Copy LMDB's whole meta page over a damaged one; return whether the file can be opened now.

    If the damaged page belonged to the last commit, the file returns to the previous commit, whose pages LMDB keeps.
    Nothing changes if both meta pages are whole or damaged, if other pages are damaged, if this process may not write
    the file, or if another process has it open.
    """
    with path.open("rb") as file:
        pages = [file.read(mmap.PAGESIZE), file.read(mmap.PAGESIZE)]
    whole = [_is_meta_page(page) for page in pages]
    if sum(whole) != 1 or len(pages[1]) < mmap.PAGESIZE:
        return False
    number, source = whole.index(False), pages[whole.index(True)]
    (commit,) = struct.unpack_from("=Q", source, _COMMIT)
    restored = bytearray(source)
    struct.pack_into("=Q", restored, 0, number)
    struct.pack_into("=Q", restored, _COMMIT, max(0, commit - 1))  # so the next commit overwrites this page
    try:
        require_writable(path)
        make_lock_file(path)
        descriptor = os.open(lock_file(path), os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False  # the caller reports the damage
    try:
        lock_alone(descriptor, path)
        _overwrite(path, number, restored)
        if structure_findings(path, lambda: commit):
            _overwrite(path, number, pages[number])
            return False
    except (LockerError, OSError):
        return False
    finally:
        os.close(descriptor)
    _LOG.warning("%s: restored a damaged meta page; the last save before the damage may be lost", path)
    return True


def _is_meta_page(page: bytes) -> bool:
    if len(page) < mmap.PAGESIZE:
        return False
    (flags,) = struct.unpack_from("=H", page, 10)
    magic, version = struct.unpack_from("=II", page, 16)
    (size,) = struct.unpack_from("=I", page, 40)
    return bool(flags & _META_FLAG) and (magic, version, size) == (_MAGIC, _VERSION, mmap.PAGESIZE)


def _overwrite(path: Path, number: int, content: bytes | bytearray) -> None:
    with path.open("r+b") as file:
        file.seek(number * mmap.PAGESIZE)
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
