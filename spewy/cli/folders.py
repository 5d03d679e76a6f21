"""The folder for the logs of a match, and the folder of solved games of the bot for the HIGC.

The HIGC is the Hidden Information Games Competition.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def logs_folder(out: Path | None, name: str) -> Iterator[Path]:
    """Yield the folder for a match's logs.

    A folder that the user names is locked, so that two commands cannot write to the same logs.

    Args:
        out: folder that the user names; None: a temporary folder.
        name: name of the command, which holds the lock.

    Raises:
        InputError: the folder cannot be made, or another process uses it.
    """
    if out is not None:
        from spewy.system.folders import FolderLock

        with FolderLock(out, name):
            yield out
        return
    from spewy.system.folders import scratch_folder

    with scratch_folder(name) as folder:
        yield folder


def solved_folder(chosen: Path | None) -> Path:
    """Folder of the games that the bot has solved for the Hidden Information Games Competition (HIGC).

    The folder is the user's choice, or else a folder in the user's cache.

    Raises:
        InputError: the user chose no folder, and has no home folder.
    """
    from spewy.errors import InputError
    from spewy.system.folders import user_cache

    folder = chosen or user_cache("higc")
    if folder is None:
        raise InputError("the user has no home folder for solved games; name a folder with --data")
    return folder
