"""The folders that a server shows: finds their solves and batches, and opens solutions.

Pages name a solve by its id, the path from a given folder, such as ``T1`` or ``flops/Ks7h2d``. An id has one or two
names of folders below a given folder, and neither may be ``..`` or hidden, so a request cannot leave the given folders.
Symbolic links in the given folders are followed: whoever may write into these folders decides what the server shows.
"""

from __future__ import annotations

import os
import re
from collections.abc import Hashable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from buckets.cards import parse_cards
from buckets.errors import CardError
from lockers import lacks_manifest
from lockers.files import FILE
from spewy.batch.batch import folder_name
from spewy.errors import InputError, shown
from spewy.look.folder import WEIGHTS_FILE
from spewy.look.solution import Solution
from spewy.records.strategy_locker import FOLDER
from spewy.web.background import Background, Work
from spewy.web.readers import Readers, identity, stamp

NAME = re.compile(r"[^\W_][\w .+-]{0,99}")
"""Matches valid names of new solves."""
UNREADABLE = "the folder cannot be read; change its permissions"
REMEDY = "restore the folder from a copy, or solve its job again"
NO_MANIFEST = f"the file manifest.json is missing; {REMEDY}"


@dataclass(frozen=True)
class Entry:
    """A solve or a batch in the folders of a server.

    Attributes:
        id: name in addresses of pages.
        kind: ``"solve"``, or ``"batch"`` for one job on several boards.
        boards: ids of the solves of a batch.
    """

    id: str
    path: Path
    kind: Literal["solve", "batch"]
    boards: tuple[str, ...] = ()

    @property
    def solves(self) -> list[Path]:
        return [self.path / board.rpartition("/")[2] for board in self.boards] or [self.path]


@dataclass(frozen=True)
class Listing:
    """All solves and batches in the folders of a server.

    Attributes:
        entries: solves and batches; the solves of a batch stand after the batch.
        problems: for each folder that cannot be listed as a solve or batch, its id, and why in plain words.
    """

    entries: tuple[Entry, ...]
    problems: tuple[tuple[str, str], ...]


class Folders:
    """Solves and batches in some folders.

    Args:
        roots: folders of solves or batches, or folders that contain them.

    Attributes:
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
        self._readers = Readers()
        self.background = Background()

    def listing(self) -> Listing:
        problems: list[tuple[str, str]] = []
        found = [entry for root in self.roots for entry in _entries(root, self._name(root), problems)]
        return Listing(tuple(found), tuple(problems))

    def entries(self) -> list[Entry]:
        return list(self.listing().entries)

    def solve(self, name: str) -> Entry:
        """Return the solve with an id; the id of a batch is an `InputError`."""
        entry = self.entry(name)
        if entry.kind == "batch":
            raise InputError(f"folder {shown(name)} is a batch; choose one of its boards")
        return entry

    def entry(self, name: str) -> Entry:
        for path in self._places(name):
            if (found := _entry(path, name)) is not None:
                return found
        raise InputError(f"folder {shown(name)}: there is no such solve; it may have been renamed or deleted")

    def new(self, name: str) -> Entry:
        """Return the entry for a solve with a new name, in the first given folder that can contain solves."""
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
            if _entry(root, root.name) is None:
                path = root / name
                if path.resolve().parent != root.resolve():
                    raise InputError(f"name: {shown(name)} is a link to another folder; choose another name")
                return Entry(name if len(self.roots) == 1 else f"{root.name}/{name}", path, "solve")
        raise InputError(
            "the folders of this server are single solves; start spewy serve with a folder for solves, such as results"
        )

    def holds(self, entry: Entry) -> bool:
        """Whether a solve or batch lies in one of the given folders, rather than being one of them."""
        return entry.path not in self.roots

    def removable(self, entry: Entry) -> bool:
        """Whether a solve or batch lies in a given folder, not behind a link, and no given folder is in it."""
        path = entry.path
        return any(
            root in path.parents and path.resolve() == root.resolve() / path.relative_to(root)
            for root in self.roots
        ) and not any(path in (root, *root.parents) for root in self.roots)

    def forget(self, entry: Entry) -> None:
        """Close the solutions of a solve or batch that was deleted, whose files take space as long as they are open."""
        for folder in entry.solves:
            self._readers.forget(folder)

    @contextmanager
    def solution(self, name: str) -> Iterator[Solution]:
        """Open a solve for a ``with`` block, in which all reads see the same save of the solve.

        A solve that has saved since the last call is opened again, so that pages show its latest strategy.
        """
        with self._readers.solution(self.solve(name).path) as solution:
            yield solution

    @contextmanager
    def apart(self, name: str) -> Iterator[Solution]:
        """Open a solve on its own for long work in a ``with`` block; pages can look at the solve meanwhile."""
        with closing(Solution.open(self.solve(name).path)) as solution, solution.store.snapshot():
            yield solution

    def computed(self, key: Hashable, names: Sequence[str], work: Work, *, exact: bool = False) -> Any:
        """Return an answer that takes longer than a click, or the progress: see `Background.answer`.

        An answer about a solve that has saved meanwhile is still returned to the page that waited for it, unless
        ``exact`` is set; an answer about a solve that was replaced meanwhile is never returned. ``names`` are the ids
        of the solves or batches that the answer depends on.
        """
        folders = [folder for name in names for folder in self.entry(name).solves]
        asked = (key, tuple(names), tuple(map(identity, folders)))
        return self.background.answer(asked, tuple(map(stamp, folders)), work, exact=exact)

    def close(self) -> None:
        self.background.close()
        self._readers.close()

    def _places(self, name: str) -> Iterator[Path]:
        """Yield the paths that an id may stand for, one below each given folder; most do not exist."""
        for root in self.roots:
            names = name.split("/")
            if name == root.name:
                yield root
            if names[0] == root.name and _are_plain(names[1:]):
                yield root.joinpath(*names[1:])
            if len(self.roots) == 1 and _are_plain(names):
                yield root.joinpath(*names)

    def _name(self, root: Path) -> str:
        """Return how the ids of all solves below a given folder begin: with the folder's name.

        Empty if the folder is the only given one, and is not itself a solve or a batch.
        """
        return "" if len(self.roots) == 1 and _entry(root, "") is None else root.name


def _entries(folder: Path, name: str, problems: list[tuple[str, str]]) -> Iterator[Entry]:
    """Yield the solves and batches in a folder: the folder itself, or its direct subfolders.

    Ids begin with ``name``. Folders that cannot be listed are added to ``problems``, with the reason.
    """
    if (entry := _entry(folder, name)) is not None:
        yield from _with_boards(entry)
        return
    try:
        children = _subfolders(folder)
    except OSError as error:
        problems.append((name or folder.name, f"{UNREADABLE}: {error.strerror}"))
        return
    for child in children:
        inner = f"{name}/{child}" if name else child
        path = folder / child
        if not os.access(path, os.R_OK | os.X_OK):
            problems.append((inner, UNREADABLE))
        elif (entry := _entry(path, inner)) is not None:
            yield from _with_boards(entry)
        elif lacks_manifest(path) or lacks_manifest(path / FOLDER):
            problems.append((inner, NO_MANIFEST))


def _with_boards(entry: Entry) -> Iterator[Entry]:
    yield entry
    yield from (Entry(board, entry.path / board.rpartition("/")[2], "solve") for board in entry.boards)


def _entry(folder: Path, name: str) -> Entry | None:
    if _is_solve(folder):
        return Entry(name, folder, "solve")
    boards = _solves_of_batch(folder)
    return None if boards is None else Entry(name, folder, "batch", tuple(f"{name}/{b}" for b in boards))


def _solves_of_batch(folder: Path) -> list[str] | None:
    """Names of the solves of one job on several boards; None if a folder does not hold such solves.

    The folder of a batch has a file of weights, or its solves have boards as names.
    """
    path = os.fspath(folder)
    try:
        solves = [child for child in _subfolders(folder) if _is_solve(f"{path}/{child}")]
    except OSError:  # the folder cannot be read; `_entries` says so
        return None
    if solves and (os.path.exists(f"{path}/{WEIGHTS_FILE}") or all(map(_is_board, solves))):
        return solves
    return None


def _is_solve(folder: str | Path) -> bool:
    """Whether a folder has a store with strategies.

    The paths are made as texts, which is faster than by `Path`: a listing of solves checks thousands of folders.
    """
    path = os.fspath(folder)
    return os.path.exists(f"{path}/{FILE}") or os.path.exists(f"{path}/{FOLDER}/{FILE}")


def _is_board(name: str) -> bool:
    try:
        return len(parse_cards(name, strict=True)) >= 3
    except CardError:
        return False


def cards_of(name: str) -> frozenset[int]:
    """Return the cards in the name of a board or of its folder; none if it is not a board."""
    try:
        return frozenset(parse_cards(name))
    except CardError:
        return frozenset()


def _are_plain(names: Sequence[str]) -> bool:
    """Whether an id consists of one or two plain names, so that it cannot lead out of the given folders."""
    return 1 <= len(names) <= 2 and all(map(_is_plain, names))


def _is_plain(name: str) -> bool:
    """Whether a name can be part of an id; hidden folders, and names that are not UTF-8, are not shown."""
    return bool(name) and not name.startswith(".") and not {"/", "\0"} & set(name) and _is_text(name)


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _subfolders(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as children:
            return sorted(child.name for child in children if _is_plain(child.name) and child.is_dir())
    except NotADirectoryError:
        return []
