"""Checks that the solves of a session are still those with which it began."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from lockers import open_store
from spewy.errors import InputError, shown
from spewy.look.folder import strategy_folder
from spewy.web.folders import Entry
from spewy.web.readers import identity


class Unchanged:
    """Checks the folders of a session before each of its requests.

    A session keeps its solves open. Without the check it would show the numbers of a solve that was replaced, and
    reading a data file that was cut off would end the server.

    Args:
        entry: the solve or batch of the session, which has not been opened yet.
    """

    def __init__(self, entry: Entry) -> None:
        self._name = entry.id
        self._identities = {folder: identity(folder) for folder in entry.solves}
        self._opened: Callable[[], Iterable[Path]] = tuple

    def watch(self, opened: Callable[[], Iterable[Path]]) -> None:
        """Check from now on also the data files in the folders that ``opened`` returns, which the session has open."""
        self._opened = opened
        self.require()

    def require(self) -> None:
        """Check that no solve was replaced or deleted, and that no open data file was cut off.

        Raises:
            InputError: a solve was replaced or deleted.
            lockers.LockerError: a data file was cut off, or cannot be read.
        """
        if any(identity(folder) != before for folder, before in self._identities.items()):
            raise InputError(
                f"folder {shown(self._name)} was replaced or deleted since you began; start again"
            )
        for folder in self._opened():
            open_store(strategy_folder(folder), read_only=True).close()
