"""Temporary folders for large files; the folders of killed processes are deleted later.

A process locks its folder (`flock`) while it needs the folder. So other processes can recognise an abandoned folder.
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
    """Create a temporary folder for a ``with`` block, and delete it after the block.

    This function also deletes folders of the same kind that killed processes of this user have left.

    Args:
        kind: a word for the purpose of the folder, which becomes part of the folder's name.

    Raises:
        OSError: the folder cannot be created.
    """
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
    with suppress(OSError), ExitStack() as held:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        held.callback(os.close, descriptor)
        if os.fstat(descriptor).st_uid == os.geteuid():
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            rmtree(folder, ignore_errors=True)


def _locked(folder: Path) -> int:
    """Open and lock a folder; return the descriptor, which keeps the folder locked until it is closed."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    with suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return descriptor
