"""The folders that a server shows: finds their solves and batches, and keeps opened solutions.

Pages name a solve by its id, the path from a given folder, such as ``T1`` or ``flops/Ks7h2d``. Only solves that a scan
of the given folders has found have an id, so a request cannot leave these folders.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from buckets.cards import parse_cards
from buckets.errors import CardError
from lockers import holds_store
from spewy.batch.batch import folder_name
from spewy.errors import InputError, path_text, shown
from spewy.look.boards import WEIGHTS_FILE
from spewy.look.folder import strategy_folder
from spewy.look.solution import Solution
from spewy.web.background import Background

NAME = re.compile(r"[^\W_][\w .+-]{0,99}")
"""Names of new solves."""
MOST_OPEN = 8
"""Largest number of opened solutions."""

Stamp = tuple[tuple[str, int, int, int], ...]
"""Name, inode, size and time of the last change of each data file of a solve."""


@dataclass(frozen=True)
class Entry:
    """A solve or a batch in the folders of a server.

    Attributes:
        id: name in addresses of pages.
        path: its folder.
        kind: ``"solve"``, or ``"batch"`` for one job on several boards.
        boards: ids of the solves of a batch.
    """

    id: str
    path: Path
    kind: Literal["solve", "batch"]
    boards: tuple[str, ...] = ()


class Folders:
    """Solves and batches in some folders.

    Args:
        roots: folders of solves or batches, or folders that contain them.

    Attributes:
        roots: the given folders.
        background: computes answers that take longer than a click.

    Raises:
        InputError: two of the folders have the same name.
    """

    def __init__(self, roots: Sequence[Path]) -> None:
        self.roots = [root.absolute() for root in roots]
        names = [root.name for root in self.roots]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise InputError(
                f"folders: two of them are named {shown(twice)}; give their common parent folder"
            )
        self._opened: OrderedDict[str, _Opened] = OrderedDict()
        self._lock = threading.Lock()
        self.background = Background()

    def entries(self) -> list[Entry]:
        """Return the solves and batches that are in the folders now, the solves of a batch after the batch."""
        found: list[Entry] = []
        for root in self.roots:
            name = "" if len(self.roots) == 1 and not _is_solve(root) and not _is_batch(root) else root.name
            found += _entries(root, name)
        return found

    def entry(self, name: str) -> Entry:
        """Return the solve or batch with an id.

        Raises:
            InputError: there is none, or not any more.
        """
        for entry in self.entries():
            if entry.id == name:
                return entry
        raise InputError(f"folder {shown(name)}: there is no such solve; it may have been renamed or deleted")

    def new(self, name: str) -> Entry:
        """Return the entry of a solve that may begin under a name, in the first folder that contains solves.

        Raises:
            InputError: the name cannot be that of a folder, leads elsewhere, or all given folders are single solves.
        """
        if not NAME.fullmatch(name) or name != folder_name(name) or name.endswith(".toml"):
            raise InputError(
                f"name: expected up to 100 letters, digits, blanks and the signs . _ + - for the folder of the solve, "
                f"beginning with a letter or a digit; found {shown(name)}"
            )
        if _is_board(name):
            raise InputError(
                f"name: {name} is the name of a board, as the solves of a batch have; add a word to it"
            )
        for root in self.roots:
            if not _is_solve(root) and not _is_batch(root):
                path = root / name
                if path.resolve().parent != root.resolve():
                    raise InputError(f"name: {shown(name)} is a link to another folder; choose another name")
                return Entry(name if len(self.roots) == 1 else f"{root.name}/{name}", path, "solve")
        raise InputError(
            "the folders of this server are single solves; start spewy serve with a folder for solves, such as results"
        )

    def holds(self, entry: Entry) -> bool:
        """Whether the folder of a solve or batch lies in one of the given folders, rather than being one of them."""
        return entry.path not in self.roots

    @contextmanager
    def solution(self, name: str) -> Iterator[Solution]:
        """Open a solve for a ``with`` block; threads that use one solve wait for each other.

        A solve that has saved since the last call is opened again, so that pages show its latest strategy.

        Raises:
            InputError: there is no solve with the id.
            NotSolvedError: nothing was saved yet.
            lockers.LockerError: the folder is damaged.
        """
        entry = self.entry(name)
        if entry.kind == "batch":
            raise InputError(f"folder {shown(name)} is a batch; choose one of its boards")
        with self._lock:
            opened = self._opened.setdefault(name, _Opened())
            self._opened.move_to_end(name)
            old = [self._opened.popitem(last=False)[1] for _ in range(len(self._opened) - MOST_OPEN)]
        for each in old:
            each.close()
        with opened.lock:
            yield opened.latest(entry.path)

    @contextmanager
    def apart(self, name: str) -> Iterator[Solution]:
        """Open a solve for long work in a ``with`` block, so that pages can look at the solve meanwhile.

        Raises:
            InputError: there is no solve with the id.
            NotSolvedError: nothing was saved yet.
            lockers.LockerError: the folder is damaged.
        """
        with closing(Solution.open(self.entry(name).path)) as solution:
            yield solution

    def saved(self, name: str) -> tuple[Stamp, ...]:
        """Return what changes when a solve, or a solve of a batch, saves.

        Raises:
            InputError: there is no solve or batch with the id.
        """
        entry = self.entry(name)
        boards = [board.rpartition("/")[2] for board in entry.boards]
        return tuple(stamp(folder) for folder in [entry.path / board for board in boards] or [entry.path])

    def close(self) -> None:
        """Stop computing in the background, and close all solutions."""
        self.background.close()
        with self._lock:
            opened, self._opened = list(self._opened.values()), OrderedDict()
        for each in opened:
            each.close()


class _Opened:
    """A solve that is opened at its first use, and again after it has changed."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self._solution: Solution | None = None
        self._stamp: Stamp = ()

    def latest(self, folder: Path) -> Solution:
        """Return the solution with the latest saved strategies; the caller holds the lock."""
        now = stamp(folder)
        if self._solution is not None and now == self._stamp:
            return self._solution
        self._close()
        self._solution, self._stamp = Solution.open(folder), now
        return self._solution

    def close(self) -> None:
        """Close the solution once no thread uses it."""
        with self.lock:
            self._close()

    def _close(self) -> None:
        if self._solution is not None:
            self._solution.close()
        self._solution = None


def stamp(folder: Path) -> Stamp:
    """Return what changes when a solve saves, or when its folder is replaced."""
    play, found = strategy_folder(folder), []
    with suppress(FileNotFoundError):
        for path in sorted([*play.glob("*.mdb"), *play.glob("manifest.json")]):
            stat = path.stat()
            found.append((path.name, stat.st_ino, stat.st_size, stat.st_mtime_ns))
    return tuple(found)


def _entries(folder: Path, name: str) -> Iterator[Entry]:
    """Yield the solves and batches in a folder: the folder itself, or its direct subfolders."""
    if _is_solve(folder):
        yield Entry(name or folder.name, folder, "solve")
    elif _is_batch(folder):
        yield from _batch(folder, name or folder.name)
    elif folder.is_dir():
        for child in _subfolders(folder):
            inner = f"{name}/{child.name}" if name else child.name
            if _is_solve(child):
                yield Entry(inner, child, "solve")
            elif _is_batch(child):
                yield from _batch(child, inner)


def _batch(folder: Path, name: str) -> Iterator[Entry]:
    solves = [child for child in _subfolders(folder) if _is_solve(child)]
    ids = [f"{name}/{child.name}" for child in solves]
    yield Entry(name, folder, "batch", tuple(ids))
    yield from (Entry(each, child, "solve") for each, child in zip(ids, solves, strict=True))


def _is_solve(folder: Path) -> bool:
    return holds_store(strategy_folder(folder))


def _is_batch(folder: Path) -> bool:
    """Whether a folder holds solves of one job on several boards: it has a file of weights, or boards as names."""
    if not folder.is_dir() or _is_solve(folder):
        return False
    solves = [child.name for child in _subfolders(folder) if _is_solve(child)]
    return bool(solves) and ((folder / WEIGHTS_FILE).exists() or all(map(_is_board, solves)))


def _is_board(name: str) -> bool:
    try:
        return len(parse_cards(name)) >= 3
    except CardError:
        return False


def _subfolders(folder: Path) -> list[Path]:
    try:
        return sorted(
            child for child in folder.iterdir() if child.is_dir() and not child.name.startswith(".")
        )
    except OSError as error:
        raise InputError(f"folder {path_text(folder)} cannot be read: {error.strerror}") from None
