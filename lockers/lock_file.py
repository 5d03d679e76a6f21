"""LMDB's lock file beside a data file: its creation, its permissions, and exclusive use.

The lock file holds LMDB's locks and its table of readers, which tells writers what pages are still being read. So
readers write to the lock file too. Each process that has the data file open in LMDB holds a read lock on the first byte
of the lock file.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
from pathlib import Path

from lockers.errors import LockerError

MAX_READERS = 1024

_SIZE = 64 * MAX_READERS + 4096  # 64 bytes for each reader, and a header
_ANYBODY_WRITES = 0o222


def lock_file(path: Path) -> Path:
    """Return the path of a data file's lock file."""
    return path.with_name(path.name + "-lock")


def make_lock_file(path: Path) -> None:
    """Create the lock file of a data file and allocate its disk space; correct the permissions of an existing one.

    LMDB would create a file without disk space and map it into memory; on a full disk, writing to the map would end the
    process with SIGBUS. Everybody who may read the data file gets permission to write the lock file. If root creates
    the lock file, it belongs to the owner of the data file.
    """
    owner, lock = path.stat(), lock_file(path)
    mode = owner.st_mode & 0o666 | (owner.st_mode & 0o444) >> 1
    try:
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    except FileExistsError:
        status = lock.stat()
        if status.st_mode & mode != mode and os.geteuid() in (0, status.st_uid):
            lock.chmod(status.st_mode & 0o777 | mode)
        return
    try:
        os.fchmod(descriptor, mode)  # os.open has removed the bits of the umask
        if not os.geteuid():
            os.fchown(descriptor, owner.st_uid, owner.st_gid)
        os.posix_fallocate(descriptor, 0, _SIZE)
    except OSError:
        lock.unlink()
        raise
    finally:
        os.close(descriptor)


def require_writable(path: Path) -> None:
    """Refuse to write a data file if this process has no permission to write it.

    If no user has the permission, the function refuses root, too, because readers of such a file take no locks.

    Raises:
        PermissionError: The file must not be written.
    """
    if not _may_write(path) or not path.stat().st_mode & _ANYBODY_WRITES:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), os.fspath(path))


def readers_lock(path: Path) -> bool:
    """Tell whether readers of a data file must take LMDB's locks; create the lock file if they must.

    Readers need no locks if nobody can write: on a read-only file system, or if the file has no write permissions.

    Raises:
        LockerError: Locks are needed, but this process may not write the lock file.
    """
    if not path.stat().st_mode & _ANYBODY_WRITES or os.statvfs(path).f_flag & os.ST_RDONLY:
        return False
    lock = lock_file(path)
    if not _may_write(lock):
        with contextlib.suppress(PermissionError):
            make_lock_file(path)
        if not _may_write(lock):
            raise LockerError(
                f"{lock}: expected a lock file that you may write, because reading takes a lock; "
                f"{'you may not write the file' if lock.exists() else 'there is no such file'}: "
                "ask the owner of the folder to open it once, or read a copy of the folder"
            )
    return True


def lock_alone(descriptor: int, path: Path) -> None:
    """Exclude other processes from a data file until the descriptor is closed.

    Args:
        descriptor: Descriptor of the lock file, open for writing.
        path: The data file, for messages.

    Raises:
        LockerError: Another process has the data file open.
    """
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1)
    except (BlockingIOError, PermissionError) as error:
        raise LockerError(f"{path}: another process has the store open; end that process first") from error


def _may_write(path: Path) -> bool:
    """Tell whether a file exists and may be written.

    The function does not open the file, because closing a file releases all locks of this process on it.
    """
    return os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids)
