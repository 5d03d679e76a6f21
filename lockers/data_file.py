"""The data file of a store: create it, measure it, and copy it without unused pages."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import lmdb

from lockers.errors import DamagedLockerError
from lockers.lmdb_errors import translate, unreadable
from lockers.lock_file import MAX_READERS, make_lock_file
from lockers.manifest import require_no_pipe

ENGINE: dict[str, Any] = {"lib_version": 0}  # LMDB 0.9, data version 1
ROUND = 2**16  # the largest page size of any platform


def create_data_file(path: Path) -> None:
    """Create an empty data file and its lock file."""
    try:
        path.touch()
        make_lock_file(path)
        lmdb.open(os.fsencode(path), subdir=False, max_readers=MAX_READERS, **ENGINE).close()
    except (lmdb.Error, OSError) as error:
        raise translate(error, path) from error


def copy_used_pages(path: Path, temporary: Path, map_size: int) -> None:
    """Copy a data file without its unused pages and wait until the copy is on the disk.

    Args:
        path: The data file, which nobody has open.
        temporary: The new file.
        map_size: Size of LMDB's memory map in bytes, at least the size of the file.
    """
    env = lmdb.open(
        os.fsencode(path), map_size=map_size, subdir=False, create=False, readonly=True, lock=False, **ENGINE
    )
    try:
        owner = path.stat()
        descriptor = os.open(
            temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, owner.st_mode & 0o777
        )
        try:
            if not os.geteuid():
                os.fchown(descriptor, owner.st_uid, owner.st_gid)
            env.copyfd(descriptor, compact=True)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    finally:
        env.close()


def data_size(path: Path) -> int:
    """Return the size of a data file in bytes.

    Raises:
        DamagedLockerError: The file is missing or empty; LMDB would silently create a new store.
        LockerError: The file cannot be read.
    """
    try:
        require_no_pipe(path)
        size = path.stat().st_size
    except FileNotFoundError as error:
        raise DamagedLockerError(f"{path}: expected a data file, found none") from error
    except OSError as error:
        raise unreadable(error, path) from error
    if not size:
        raise DamagedLockerError(f"{path}: expected LMDB pages, found an empty file")
    return size


def missing_bytes(env: lmdb.Environment, path: Path) -> int:
    """Return by how many bytes a data file is shorter than all pages that LMDB has allocated; 0 if it has all pages."""
    size = (int(env.info()["last_pgno"]) + 1) * env.stat()["psize"]
    return max(0, size - path.stat().st_size)


def rounded(size: int) -> int:
    """Round the size of a memory map up to a multiple of the largest page size of any platform."""
    return -(-size // ROUND) * ROUND
