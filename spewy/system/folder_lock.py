"""One process at a time works in a folder: a lock on a file in it, which the system releases when the process ends.

Whoever only reads takes no lock and never waits. The file names the command that holds the lock. It is removed with
the lock; a process that was killed leaves the file, which locks nothing any more.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import time
import weakref
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from lockers import LOCK
from spewy.errors import InputError, path_text
from spewy.system.closing import Closing

TRIES, PAUSE = 20, 0.05
"""How often a lock is tried for, and seconds between two tries: `is_locked` holds it for a moment."""
UNSUPPORTED = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP}
"""Errors of a file system that has no locks. Nobody can be kept out there."""
MOST_OF_NAME = 100
"""Bytes of the command's name that are read from the file."""


class FolderLock(Closing):
    """The lock of a folder, held until `close`, or until the process ends.

    Args:
        folder: that only this process may change from now on; made where there is none.
        command: the name of the command that holds it, which others are told.
        make: whether the folder is made; an empty one that was made goes again with the lock.

    Raises:
        InputError: another process holds the lock, or the folder cannot be made or written; or there is no folder, and
            it shall not be made.
    """

    def __init__(self, folder: Path, command: str, *, make: bool = True) -> None:
        made = _missing(folder) if make else []
        descriptor = -1
        for tries in range(TRIES):
            if tries:
                time.sleep(PAUSE)
            descriptor, holder = _try_to_lock(folder, make=make)
            if descriptor >= 0:
                break
        else:
            another = "another " if holder == command else ""
            raise InputError(f"folder {path_text(folder)} is in use by {another}`spewy {holder}`")
        with suppress(OSError):  # a full disk: the lock holds without a name
            os.truncate(descriptor, 0)
            os.pwrite(descriptor, command.encode(), 0)
        self._descriptor = descriptor
        self._release = weakref.finalize(self, _release, descriptor, (folder / LOCK).absolute(), made)
        _HELD.add(self)

    def close(self) -> None:
        """Let go of the folder."""
        self._release()

    def leave(self) -> None:
        """Close the file in a forked child, for whose parent the lock goes on."""
        if self._release.detach() is not None:
            os.close(self._descriptor)


def is_locked(folder: Path) -> bool:
    """Whether a process works in a folder right now.

    Raises:
        InputError: nobody may look at the lock.
    """
    try:
        descriptor = os.open(folder / LOCK, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        _refuse(folder, error)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError as error:
        if error.errno not in UNSUPPORTED:
            _refuse(folder, error)
    finally:
        os.close(descriptor)
    return False


def _try_to_lock(folder: Path, *, make: bool) -> tuple[int, str]:
    """A descriptor that holds the lock; or -1, and the name of the command that holds it."""
    descriptor, owner = _opened(folder, make=make)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return -1, _holder(descriptor)
    except OSError as error:
        if error.errno not in UNSUPPORTED:
            os.close(descriptor)
            _refuse(folder, error)
    if not _is_there(descriptor, folder / LOCK):  # whoever held the lock has just removed its file
        return -1, _holder(descriptor)
    if not os.geteuid():  # whoever the folder belongs to could not open the file otherwise
        with suppress(OSError):  # a file system that root has no rights on
            os.fchown(descriptor, owner.st_uid, owner.st_gid)
    return descriptor, ""


def _opened(folder: Path, *, make: bool) -> tuple[int, os.stat_result]:
    """The lock's file, and the folder, which is made where that is asked for.

    A folder may come from somebody else, so the file is opened only where it is one: no link is followed, since what it
    leads to would be overwritten, and no pipe is waited for.
    """
    path = folder / LOCK
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    tries = TRIES if make else 1
    while True:
        tries -= 1
        try:
            if make:
                folder.mkdir(parents=True, exist_ok=True)
            owner = folder.stat()
            descriptor = os.open(path, flags, 0o644)
            break
        except FileNotFoundError as error:
            if not make:
                raise InputError(
                    f"folder {path_text(folder)}: expected a folder of a solve, found none"
                ) from error
            if not tries:
                _refuse(folder, error)  # else whoever held the lock has just removed the empty folder
        except OSError as error:
            if path.is_symlink():
                _refuse_file(path, "a symbolic link")
            _refuse(folder, error)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        _refuse_file(path, "something else")
    return descriptor, owner


def _holder(descriptor: int) -> str:
    """The command that a lock's file names, which is closed."""
    holder = os.pread(descriptor, MOST_OF_NAME, 0).decode(errors="replace")
    os.close(descriptor)
    return holder or "solve"


def _release(descriptor: int, path: Path, made: list[Path]) -> None:
    """Remove the file while its lock is held, then the folders that were made and are empty."""
    with suppress(OSError):
        if _is_there(descriptor, path):
            path.unlink()
    os.close(descriptor)
    with suppress(OSError):
        for folder in made:
            folder.rmdir()


def _is_there(descriptor: int, path: Path) -> bool:
    """Whether an open file still has its name."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.lstat())
    except FileNotFoundError:
        return False


def _missing(folder: Path) -> list[Path]:
    """A folder and those above it that are still to be made, the innermost first."""
    folder = folder.absolute()
    try:
        return [path for path in (folder, *folder.parents) if not path.exists()]
    except OSError as error:
        _refuse(folder, error)


def _refuse_file(path: Path, found: str) -> NoReturn:
    raise InputError(f"file {path_text(path)}: expected a plain file, a lock, found {found}; remove it")


def _refuse(folder: Path, error: OSError) -> NoReturn:
    """Say that a folder cannot be locked; a name that is too long is told by the command line, as that of any path."""
    if error.errno == errno.ENAMETOOLONG:
        raise error
    expected = "a folder and files that can be written"
    if isinstance(error, FileExistsError | NotADirectoryError):
        expected = "a folder that is there or can be made"
    raise InputError(
        f"folder {path_text(folder)}: expected {expected}, found: {error.strerror or error}"
    ) from error


_HELD: weakref.WeakSet[FolderLock] = weakref.WeakSet()


def _after_fork_in_child() -> None:
    for lock in list(_HELD):
        lock.leave()


os.register_at_fork(after_in_child=_after_fork_in_child)
