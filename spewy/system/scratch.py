"""Temporary folders for large files; later processes remove the folders of killed processes.

A folder is locked while it is needed (`flock`), so that one whose process is gone can be told from one in use.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from shutil import rmtree
from tempfile import gettempdir, mkdtemp


@contextmanager
def scratch_folder(kind: str) -> Iterator[Path]:
    """Make a temporary folder, and remove it after the block.

    Args:
        kind: part of the folder's name; left folders of the same kind are removed.

    Raises:
        OSError: the folder cannot be made.
    """
    home = Path(gettempdir())
    for left in home.glob(f"spewy-{kind}-*"):
        _remove_if_left(left)
    with ExitStack() as held:
        made = Path(mkdtemp(prefix=f".spewy-{kind}-", dir=home))
        folder = made.with_name(made.name[1:])  # seen by others when it is locked
        held.callback(rmtree, folder, ignore_errors=True)
        held.callback(rmtree, made, ignore_errors=True)
        held.callback(os.close, _locked(made))
        made.rename(folder)
        yield folder


def _remove_if_left(folder: Path) -> None:
    """Remove a folder of this user that no process has locked."""
    with suppress(OSError), ExitStack() as held:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        held.callback(os.close, descriptor)
        if os.fstat(descriptor).st_uid == os.geteuid():
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            rmtree(folder, ignore_errors=True)


def _locked(folder: Path) -> int:
    """Open and lock a folder; return the descriptor, which unlocks the folder when it is closed."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    with suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return descriptor
