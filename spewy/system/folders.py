"""Folders that a process has for itself (`FolderLock`), temporary folders, and the stores in the user's cache.

The lock of a folder is a locked file in it (`flock`); the operating system releases the lock when the process ends. The
file contains the name of the command that holds the lock. Processes that only read the folder ignore the lock. Whoever
releases the lock deletes the file. A killed process leaves the file behind, without a lock on it.

A process also locks its temporary folder while it needs the folder. So other processes recognise the folders of killed
processes, and delete them.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import time
import weakref
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import NoReturn

from spewy.errors import InputError, path_text
from spewy.system.tools import Closing

TRIES, PAUSE = 20, 0.05
"""Number of attempts to lock, and seconds between two; `is_locked` in another process holds the lock for a moment."""
UNSUPPORTED = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP}
"""Error numbers of file systems without locks; on these, nothing keeps two processes from using the same folder."""
MOST_OF_NAME = 100
"""Largest number of bytes of a command's name that are read from a lock file."""


class FolderLock(Closing):
    """The lock of a folder, held until `close`, or until the process ends.

    Args:
        folder: the folder to lock.
        command: name of the command that takes the lock; it appears in the errors of other commands.
        make: whether to create a missing folder. If this process created the folder and the folder is empty when the
            lock is released, the folder is deleted.
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
        self._release = weakref.finalize(self, _release, descriptor, _lock_file(folder).absolute(), created)
        _HELD.add(self)

    def close(self) -> None:
        self._release()

    def leave(self) -> None:
        """Close the locked file in a forked child process; the parent process keeps the lock."""
        if self._release.detach() is not None:
            os.close(self._descriptor)


def _lock_file(folder: Path) -> Path:
    from lockers import LOCK  # loads NumPy, which programs that only need `scratch_folder` do without

    return folder / LOCK


def is_locked(folder: Path) -> bool:
    try:
        descriptor = os.open(_lock_file(folder), os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
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
    """Return the descriptor of the locked file and an empty text.

    If another process holds the lock, return -1 and the name of that process's command.
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
    if not _is_there(descriptor, _lock_file(folder)):
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
    path = _lock_file(folder)
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
    """Whether the open file ``descriptor`` is still the file at ``path``, and was not deleted or replaced."""
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
    raise InputError(f"lock file {path_text(path)}: expected a regular file, found {found}; remove it")


def _refuse(folder: Path, error: OSError) -> NoReturn:
    """Raise an `InputError` about an unusable folder; if a name is too long, raise ``error``, which commands report."""
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
    for lock in list(_HELD):
        lock.leave()


os.register_at_fork(after_in_child=_after_fork_in_child)


@contextmanager
def scratch_folder(kind: str) -> Iterator[Path]:
    """Create a temporary folder for a ``with`` block, and delete it after the block.

    This function also deletes folders of the same kind that killed processes of this user have left. The folder's name
    contains ``kind``.
    """
    # Every command imports this module, and most need no such folder.
    from shutil import rmtree
    from tempfile import gettempdir, mkdtemp

    home = Path(gettempdir())
    for other in home.glob(f"spewy-{kind}-*"):
        _remove_if_left(other)
    with ExitStack() as held:
        hidden = Path(mkdtemp(prefix=f".spewy-{kind}-", dir=home))
        folder = hidden.with_name(hidden.name[1:])  # other processes find it only after it was locked
        held.callback(rmtree, folder, ignore_errors=True)
        held.callback(rmtree, hidden, ignore_errors=True)
        held.callback(os.close, _locked(hidden))
        hidden.rename(folder)
        yield folder


def _remove_if_left(folder: Path) -> None:
    """Delete a folder if it belongs to this user and no process has locked it."""
    from shutil import rmtree

    with suppress(OSError), ExitStack() as held:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        held.callback(os.close, descriptor)
        if os.fstat(descriptor).st_uid == os.geteuid():
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            rmtree(folder, ignore_errors=True)


def _locked(folder: Path) -> int:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    with suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return descriptor


def user_cache(name: str) -> Path | None:
    """Return the path of a store in the user's cache folder; None for a user without a home folder.

    The path ends with the version of the lockers' format, so that versions of this program with different formats use
    different stores.
    """
    from platformdirs import user_cache_path

    from lockers import FORMAT

    try:
        path = user_cache_path("spewy") / f"{name}-{FORMAT}"
    except RuntimeError:
        return None
    return path if path.is_absolute() else None
