"""Refuses a data file that was cut off, and restores a data file with one damaged meta page.

Reading a page that a file lacks would end the process with SIGBUS. The first two pages of a data file are LMDB's meta
pages: each commit overwrites the older of both. LMDB refuses a file if either page is not a meta page.
"""

from __future__ import annotations

import logging
import mmap
import os
import struct
import time
from pathlib import Path

import lmdb

from lockers.audit import data_file_findings, structure_findings
from lockers.data_file import missing_bytes
from lockers.errors import DamagedLockerError, LockerError
from lockers.lock_file import lock_alone, lock_file, make_lock_file, require_writable

_LOG = logging.getLogger(__name__)
_META_FLAG, _MAGIC, _VERSION = 0x08, 0xBEEFC0DE, 1  # as in LMDB's mdb.c
_COMMIT = 144  # offset of the number of the commit in a meta page
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


def restore_meta_page(path: Path) -> bool:
    """Copy LMDB's whole meta page over a damaged one; return whether the file can be opened now.

    If the damaged page was that of the last commit, the file is then as it was before this commit, of which LMDB keeps
    all pages. Nothing changes if both meta pages are whole or damaged, if other pages are damaged, if this process may
    not write the file, or if another process has it open.
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
