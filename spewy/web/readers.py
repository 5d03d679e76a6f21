"""Opened solutions, which threads borrow one after another, and their latest answers.

A solution keeps what it has read, so that the next answer about it is fast. If the solve has saved since the last
borrower, the solution is opened again for the next one. All reads of one borrower see the same save. A question that
was asked before, by any reader, is not computed again until the solve saves.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from starlette.responses import JSONResponse, Response

from lockers import DATA, Store, open_store
from lockers.files import FILE
from spewy.errors import InputError, path_text
from spewy.look.folder import strategy_folder
from spewy.look.pairs import load_kernels
from spewy.look.solution import Solution
from spewy.web.answers import QUICK, CompressedResponse, compressed

T = TypeVar("T")
MOST_IDLE = 3
"""Largest number of solutions that stay open while nobody uses them; each may hold some tens of MiB."""
MOST_AT_ONCE = 2
"""Number of threads that use one solve at once; further threads wait for at most `LONGEST_WAIT`."""
PATIENCE = 0.1
"""Seconds that a thread waits for a solution that is in use, before it opens the solve once more.

To open a solve and to compute what all its answers need takes longer than most answers.
"""
LONGEST_WAIT = 3.0
"""Seconds after which a thread opens a solve once more although `MOST_AT_ONCE` other threads use it."""
ATTEMPTS = 5
"""Number of attempts to open a solve whose folder is replaced meanwhile."""
Stamp = tuple[int, ...]
"""Device, inode, size, and times of the last write and change, of a solve's manifest and of its data file.

A copy can have the inode, the size and the time of the last write of the file that it replaces.
"""
IDENTITY = 5
"""Number of entries of a `Stamp` that belong to the manifest."""
MOST_BYTES = 24 << 20
"""Largest size in bytes of all cached answers; a decision of hold'em takes 30 to 150 kB compressed."""
SETTLED = 2.0
"""Seconds since the last save of a solve, after which answers are cached.

A save takes several writes. A file system may give two of them the same time, and an answer between the two is old
after the second.
"""


class Readers:
    """A pool of open solutions; each is lent to one thread at a time."""

    def __init__(self) -> None:
        self._idle: list[_Reader] = []  # in order of use, the last used reader last
        self._busy: Counter[Path] = Counter()
        self._changed = threading.Condition()
        self._closed = False

    @contextmanager
    def solution(self, folder: Path) -> Iterator[Solution]:
        """Borrow the solution of a folder; all reads in the ``with`` block see the same save of the solve."""
        reader = self._take(folder)
        try:
            with reader.latest() as solution:
                yield solution
        finally:
            self._give_back(reader)

    def close(self) -> None:
        """Close all solutions; those that are in use are closed after their use."""
        with self._changed:
            self._closed = True
            idle, self._idle = self._idle, []
        for reader in idle:
            reader.close()

    def forget(self, folder: Path) -> None:
        """Close the solutions of a folder that nobody uses."""
        with self._changed:
            old = [reader for reader in self._idle if reader.folder == folder]
            self._idle = [reader for reader in self._idle if reader.folder != folder]
        for reader in old:
            reader.close()

    def _take(self, folder: Path) -> _Reader:
        with self._changed:
            if self._busy[folder]:
                self._changed.wait_for(lambda: self._find(folder) is not None, PATIENCE)
            self._changed.wait_for(lambda: self._busy[folder] < MOST_AT_ONCE, LONGEST_WAIT)
            self._busy[folder] += 1
            place = self._find(folder)
            return _Reader(folder) if place is None else self._idle.pop(place)

    def _find(self, folder: Path) -> int | None:
        """Index of an idle reader of a folder; None if there is none. The caller holds the lock."""
        places = [place for place, reader in enumerate(self._idle) if reader.folder == folder]
        return places[-1] if places else None

    def _give_back(self, reader: _Reader) -> None:
        with self._changed:
            self._idle.append(reader)
            self._busy[reader.folder] -= 1
            if not self._busy[reader.folder]:
                del self._busy[reader.folder]
            most, old = 0 if self._closed else MOST_IDLE, []
            while len(self._idle) > most:
                old.append(self._idle.pop(self._dispensable()))
            self._changed.notify_all()
        for each in old:
            each.close()

    def _dispensable(self) -> int:
        """Index of the idle reader to close: one of two with the same folder, else the oldest."""
        folders = [reader.folder for reader in self._idle]
        return next((place for place, each in enumerate(folders) if each in folders[place + 1 :]), 0)


@dataclass(eq=False)
class _Reader:
    """A solve that is opened at its first use, and again after it has saved or was replaced."""

    folder: Path
    _solution: Solution | None = None
    _store: Store | None = None
    _stamp: Stamp = ()
    _commit: int = -1

    @contextmanager
    def latest(self) -> Iterator[Solution]:
        for _ in range(ATTEMPTS):
            now = stamp(self.folder)
            if self._store is None or now != self._stamp:
                self.close()
                self._store, self._stamp = open_store(strategy_folder(self.folder), read_only=True), now
            with self._store.snapshot() as commit:
                if self._solution is None or commit != self._commit:
                    self._close_solution()
                    self._solution, self._commit = Solution.open(self.folder), commit
                    if self._solution.job.sampled:  # its positions load Numba anyway
                        load_kernels()
                # The solution reads the commit of this snapshot only if both have the same file.
                if identity(self.folder) == self._stamp[:IDENTITY]:
                    yield self._solution
                    return
            self.close()
        raise InputError(f"folder {path_text(self.folder)} is being replaced; try again when that is done")

    def close(self) -> None:
        """Close the solve; no other thread may be using this reader."""
        self._close_solution()
        if self._store is not None:
            self._store.close()
        self._store = None

    def _close_solution(self) -> None:
        if self._solution is not None:
            self._solution.close()
        self._solution = None


def stamp(folder: Path) -> Stamp:
    """Return a value that changes when the solve in a folder saves or is replaced; empty if there is no solve."""
    return _stamp(folder, (FILE, DATA))


def identity(folder: Path) -> Stamp:
    """Return a value that changes when another solve replaces the solve in a folder; empty if there is no solve.

    A solve that saves keeps its identity, since no save changes the manifest.
    """
    return _stamp(folder, (FILE,))


def _stamp(folder: Path, names: Sequence[str]) -> Stamp:
    found: list[int] = []
    with suppress(FileNotFoundError, NotADirectoryError):
        store = strategy_folder(folder)
        for name in names:
            stat = (store / name).stat()
            found += (stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns)
    return tuple(found)


def age(saved: Stamp) -> float:
    """Return the seconds since the last change that a `stamp` tells of; 0 if there is no solve."""
    return time.time() - max(saved[3::IDENTITY]) / 1e9 if saved else 0.0


class Stamped(Generic[T]):
    """A cache of what was read from folders; a folder that has changed is read again.

    Args:
        read: reads a folder.
        mark: returns a value that changes with the folder.
    """

    def __init__(self, read: Callable[[Path], T], mark: Callable[[Path], Hashable] = stamp) -> None:
        self._read, self._mark = read, mark
        self._known: dict[Path, tuple[Hashable, T]] = {}

    def of(self, folder: Path) -> T:
        mark = self._mark(folder)
        known = self._known.get(folder)
        if known is None or known[0] != mark:
            known = self._known[folder] = mark, self._read(folder)
        return known[1]

    def knows(self, folder: Path) -> bool:
        """Whether `of` returns at once, without reading the folder."""
        known = self._known.get(folder)
        return known is not None and known[0] == self._mark(folder)


class KeptAnswers:
    """A cache of the last answers about the solves in some folders; a solve that saves loses its answers."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[Path, Stamp, Hashable], bytes] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def answer(self, folder: Path, question: Hashable, work: Callable[[], Any]) -> Response:
        """Return the answer to a question about the solve in a folder, from the cache or by ``work``."""
        saved = stamp(folder)
        key = (folder, saved, question)
        with self._lock:
            packed = self._kept.get(key)
            if packed is not None:
                self._kept.move_to_end(key)
        if packed is None:
            body = bytes(JSONResponse(work()).body)
            packed = compressed(body, QUICK)
            if age(saved) > SETTLED and stamp(folder) == saved:
                self._keep(key, packed)
        return CompressedResponse(packed, str(JSONResponse.media_type))

    def _keep(self, key: tuple[Path, Stamp, Hashable], packed: bytes) -> None:
        with self._lock:
            self._bytes += len(packed) - len(self._kept.pop(key, b""))
            self._kept[key] = packed
            while self._bytes > MOST_BYTES:
                self._bytes -= len(self._kept.popitem(last=False)[1])
