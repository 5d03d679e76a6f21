"""A lock on a folder for a single process; the system releases it when the process ends.

The lock is on a file in the folder, which names the command that holds the lock. A process that only reads takes no
lock and never waits. The file is removed with the lock; a process that is killed leaves the file, which then locks
nothing.
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
"""Number of attempts to lock, and seconds between two attempts, since `is_locked` holds the lock for a moment."""
UNSUPPORTED = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP}
"""Error numbers of file systems without locks, where several processes can work in a folder."""
MOST_OF_NAME = 100
"""Bytes of the command's name that are read from the file."""


class FolderLock(Closing):
    """The lock of a folder, held until `close`, or until the process ends.

    Args:
        folder: the folder that only this process may change while it holds the lock.
        command: name of the command that holds the lock; other commands name it in their errors.
        make: whether to make a missing folder. A folder that was made and is empty at the end is removed with the lock.

    Raises:
        InputError: another process holds the lock, the folder cannot be made or written, or the folder is missing and
            ``make`` is false.
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
        """Release the folder."""
        self._release()

    def leave(self) -> None:
        """Close the file in a forked child; the parent keeps the lock."""
        if self._release.detach() is not None:
            os.close(self._descriptor)


def is_locked(folder: Path) -> bool:
    """Whether a process holds the lock of a folder now.

    Raises:
        InputError: the lock's file cannot be opened.
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
    """Try once: return a descriptor that holds the lock, or -1 and the name of the command that holds the lock."""
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
    """Open the lock's file, and return it with the folder's status; ``make`` creates the folder.

    A folder may come from somebody else: the lock's file is written to, so a symbolic link is refused, and a pipe would
    keep this process waiting.
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
    """Close a lock's file, and return the name of the command in it."""
    holder = os.pread(descriptor, MOST_OF_NAME, 0).decode(errors="replace")
    os.close(descriptor)
    return holder or "solve"


def _release(descriptor: int, path: Path, made: list[Path]) -> None:
    """Remove the file while the lock is held, then the empty ones of the folders ``made``."""
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
    """Missing folders on the path to a folder, itself included, the innermost first."""
    folder = folder.absolute()
    try:
        return [path for path in (folder, *folder.parents) if not path.exists()]
    except OSError as error:
        _refuse(folder, error)


def _refuse_file(path: Path, found: str) -> NoReturn:
    raise InputError(f"file {path_text(path)}: expected a plain file, a lock, found {found}; remove it")


def _refuse(folder: Path, error: OSError) -> NoReturn:
    """Raise an `InputError` for a folder that cannot be locked.

    A name that is too long stays an `OSError`, which the command line reports as for any path.
    """
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
