"""A lock on a folder that one process can hold; the operating system releases it when the process ends.

The lock is a locked file in the folder (`flock`). The file contains the name of the command that holds the lock.
Processes that only read the folder ignore the lock. Whoever releases the lock deletes the file. A killed process leaves
the file behind, without a lock on it.
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
"""Number of attempts to lock, and seconds between two; `is_locked` in another process holds the lock for a moment."""
UNSUPPORTED = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP}
"""Error numbers of file systems without locks; on these, nothing keeps two processes from using the same folder."""
MOST_OF_NAME = 100
"""Largest number of bytes of the command's name that are read from the file."""


class FolderLock(Closing):
    """The lock of a folder, held until `close`, or until the process ends.

    Args:
        folder: the folder to lock.
        command: name of the command that takes the lock; it appears in the errors of other commands.
        make: whether to create a missing folder. If this process created the folder and the folder is empty when the
            lock is released, the folder is deleted.

    Raises:
        InputError: another process holds the lock, the folder cannot be created or written, or the folder is missing
            and ``make`` is False.
    """

    def __init__(self, folder: Path, command: str, *, make: bool = True) -> None:
        created = _missing(folder) if make else []
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
        with suppress(OSError):  # on a full disk the lock works without the command's name
            os.truncate(descriptor, 0)
            os.pwrite(descriptor, command.encode(), 0)
        self._descriptor = descriptor
        self._release = weakref.finalize(self, _release, descriptor, (folder / LOCK).absolute(), created)
        _HELD.add(self)

    def close(self) -> None:
        """Release the lock."""
        self._release()

    def leave(self) -> None:
        """Close the locked file in a forked child process; the parent process keeps the lock."""
        if self._release.detach() is not None:
            os.close(self._descriptor)


def is_locked(folder: Path) -> bool:
    """Whether any process holds the lock of a folder now.

    Raises:
        InputError: the lock file cannot be opened.
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
    """Try once to lock a folder.

    Returns:
        The descriptor of the locked file and an empty text; or, if another process holds the lock, -1 and the name of
        the command of that process.
    """
    descriptor, owner = _opened(folder, make=make)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return -1, _holder(descriptor)
    except OSError as error:
        if error.errno not in UNSUPPORTED:
            os.close(descriptor)
            _refuse(folder, error)
    # Another process may have released the lock and deleted the file a moment ago.
    if not _is_there(descriptor, folder / LOCK):
        return -1, _holder(descriptor)
    # The user root gives the file to the folder's owner, who could not open it otherwise.
    if not os.geteuid():
        with suppress(OSError):  # some network file systems give root no rights
            os.fchown(descriptor, owner.st_uid, owner.st_gid)
    return descriptor, ""


def _opened(folder: Path, *, make: bool) -> tuple[int, os.stat_result]:
    """Open the lock file of a folder, and create the folder if ``make`` is True.

    The folder may come from another user. So a symbolic link in place of the lock file is refused, since this process
    would write to the link's target. A pipe is refused because it could block this process.

    Returns:
        The descriptor of the file, and the folder's status.
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
            if not tries:  # before that, another process may have just deleted the empty folder: try again
                _refuse(folder, error)
        except OSError as error:
            if path.is_symlink():
                _refuse_file(path, "a symbolic link")
            _refuse(folder, error)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        _refuse_file(path, "a special file")
    return descriptor, owner


def _holder(descriptor: int) -> str:
    """Read the name of a command from a lock file, and close the file."""
    holder = os.pread(descriptor, MOST_OF_NAME, 0).decode(errors="replace")
    os.close(descriptor)
    return holder or "solve"


def _release(descriptor: int, path: Path, created: list[Path]) -> None:
    """Delete the lock file, release the lock, and delete those folders in ``created`` that are empty."""
    with suppress(OSError):
        if _is_there(descriptor, path):
            path.unlink()
    os.close(descriptor)
    with suppress(OSError):
        for folder in created:
            folder.rmdir()


def _is_there(descriptor: int, path: Path) -> bool:
    """Whether ``path`` still leads to an open file, which may have been deleted or replaced meanwhile."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.lstat())
    except FileNotFoundError:
        return False


def _missing(folder: Path) -> list[Path]:
    """Return the missing folders on the path to a folder, including the folder itself, the innermost first."""
    folder = folder.absolute()
    try:
        return [path for path in (folder, *folder.parents) if not path.exists()]
    except OSError as error:
        _refuse(folder, error)


def _refuse_file(path: Path, found: str) -> NoReturn:
    """Raise an `InputError` for a lock file that is no regular file; ``found`` names what it is, such as a link."""
    raise InputError(f"lock file {path_text(path)}: expected a regular file, found {found}; remove it")


def _refuse(folder: Path, error: OSError) -> NoReturn:
    """Raise an `InputError` for a folder that cannot be locked.

    If the reason is a name that is too long, raise the `OSError` itself, which the command line reports.
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
"""All locks that this process holds."""


def _after_fork_in_child() -> None:
    """Close the parent's lock files in a forked child process."""
    for lock in list(_HELD):
        lock.leave()


os.register_at_fork(after_in_child=_after_fork_in_child)
