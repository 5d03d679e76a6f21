"""Find the solves of a batch (one job on many boards), and the weights of its boards."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from buckets.cards import cards_name, parse_cards
from buckets.errors import CardError
from lockers import holds_store, lacks_manifest, open_store
from spewy.errors import InputError, path_text, short
from spewy.look.folder import solves_in, stored_job, strategy_folder
from spewy.system.textfile import as_path, read_text

WEIGHTS_FILE = "boards.csv"
"""Name of the file with the boards' weights in a batch's folder: a header ``board,weight``, and a line per board."""

MOST_NAMED = 5
"""Largest number of boards that an error message lists."""


@dataclass(frozen=True)
class BoardFolders:
    """Folders of solves, and the weights of their boards.

    Attributes:
        folders: folders of solves, in the order in which the user gave them; those of a batch are sorted by name.
        weights: weights from files of weights, by the cards of a board in ascending order. The weight of a board
            without an entry is the number of boards that equal it up to suits.
        missing: names of boards that have a weight above 0 and no folder.
    """

    folders: tuple[Path, ...]
    weights: Mapping[tuple[int, ...], float]
    missing: tuple[str, ...]


def find_boards(paths: Sequence[str | Path], *, weighing: bool = True) -> BoardFolders:
    """Find the solves in some folders; each is the folder of a solve, or contains the folders of several solves.

    Args:
        paths: the folders.
        weighing: whether the boards are weighed: then boards with weight 0 are left out, and a file of weights must
            have all boards of its folder.

    Raises:
        InputError: a folder contains no solve, or its file of weights cannot be read or lacks a board.
    """
    folders: list[Path] = []
    weights: dict[tuple[int, ...], float] = {}
    missing: list[str] = []
    for path in (as_path(path, "folder") for path in paths):
        if holds_store(strategy_folder(path)):
            folders.append(path)
            continue
        inside = solves_in(path)
        if not inside:
            raise InputError(
                f"folder {path_text(path)}: expected the lockers of a solve, or folders with them, found none"
            )
        listed = _listed(path)
        given = {_key(cards): weight for cards, weight in listed}
        boards = {child: _key(_cards(child.name) or ()) for child in inside}
        if weighing and given:
            _require_listed([child.name for child, key in boards.items() if key not in given], path)
            inside = [child for child, key in boards.items() if given.get(key) != 0]
            if not inside:
                raise InputError(
                    f"file {path_text(path / WEIGHTS_FILE)}: expected a weight above 0 for a board of the folder, "
                    "found one only for boards that have no folder yet; solve them first"
                )
        folders += inside
        weights |= {key: weight for key, weight in given.items() if weight}
        present = set(boards.values())
        absent = [cards for cards, weight in listed if weight and _key(cards) not in present]
        if absent:
            with open_store(strategy_folder(inside[0]), read_only=True) as store:
                game = stored_job(store, inside[0]).rules
            missing += [cards_name(game.board_order(cards)) for cards in absent]
    return BoardFolders(tuple(folders), weights, tuple(missing))


def batch_folders(folder: str | Path) -> BoardFolders | None:
    """Find the solves of a batch; None if ``folder`` is not the folder of a batch.

    Raises:
        InputError: the file of weights cannot be read.
    """
    path = as_path(folder, "folder")
    if not path.is_dir() or holds_store(strategy_folder(path)) or lacks_manifest(path):
        return None
    return find_boards((path,), weighing=False) if solves_in(path) else None


def board_folder(folder: str | Path, board: str | None) -> Path:
    """Find the folder of the solve for a board in a batch.

    Args:
        folder: folder of a batch, or of a single solve, which is returned unchanged.
        board: public cards, which may include cards of later rounds; None is valid only for a single solve.

    Raises:
        InputError: the batch has no solve for the board.
    """
    batch = batch_folders(folder)
    if batch is None:
        return as_path(folder, "folder")
    wanted = () if board is None else _cards(board) or ()
    for solve in batch.folders:
        cards = _cards(solve.name)
        if cards and set(cards) == set(wanted[: len(cards)]):
            return solve
    names = ", ".join(solve.name for solve in batch.folders[:MOST_NAMED])
    more = len(batch.folders) - MOST_NAMED
    subject = f"folder {path_text(as_path(folder, 'folder'))}"
    listed = f"{names}{f' and {more:,} more' if more > 0 else ''}"
    if board is None:
        raise InputError(
            f"{subject} is a batch of {len(batch.folders):,} boards; name one with --board: {listed}"
        )
    raise InputError(f"{subject}: expected a board of the batch, one of {listed}; found {board}")


def require_one_solve(folder: str | Path) -> None:
    """Check that a folder is not that of a batch, for work that needs the folder of a single solve.

    Raises:
        InputError: the folder is that of a batch; the message names its solves.
    """
    batch = batch_folders(folder)
    if batch is None:
        return
    names = [path_text(each) for each in batch.folders[:MOST_NAMED]]
    more = len(batch.folders) - MOST_NAMED
    raise InputError(
        f"folder {path_text(as_path(folder, 'folder'))} is a batch of several solves; give the folder of one solve: "
        f"{', '.join(names)}{f' or {more:,} more' if more > 0 else ''}"
    )


def write_weights(folder: Path, weights: Mapping[str, int]) -> None:
    """Write a batch's file of weights.

    Args:
        folder: folder of the batch, which is created if it is missing.
        weights: weight of each board, by the name of the board.
    """
    folder.mkdir(parents=True, exist_ok=True)
    lines = ["board,weight", *(f"{board},{weight}" for board, weight in weights.items())]
    (folder / WEIGHTS_FILE).write_text("\n".join(lines) + "\n", encoding="ascii")


def _listed(folder: Path) -> list[tuple[tuple[int, ...], float]]:
    """Read a folder's file of weights: the cards of each board, in the order of the file, and its weight.

    The list is empty if the folder has no such file.

    Raises:
        InputError: the file cannot be read, or a line is not a board with a weight.
    """
    path = folder / WEIGHTS_FILE
    if not path.exists():
        return []
    subject = f"file {path_text(path)}"
    rows = list(csv.reader(read_text(path, subject).splitlines()))
    if rows[:1] != [["board", "weight"]]:
        raise InputError(
            f"{subject}, line 1: expected board,weight, found {short(','.join(rows[0])) if rows else 'none'}"
        )
    out: dict[tuple[int, ...], tuple[tuple[int, ...], float]] = {}
    for number, row in enumerate(rows[1:], 2):
        cards, weight = (_cards(row[0]), _weight(row[1])) if len(row) == 2 else (None, None)
        if cards is None or weight is None or _key(cards) in out:
            raise InputError(
                f"{subject}, line {number}: expected a new board and a weight of at least 0, such as QsJh2h,24; "
                f"found {short(','.join(row)) or 'nothing'}"
            )
        out[_key(cards)] = cards, weight
    if out and not any(weight for _, weight in out.values()):
        raise InputError(f"{subject}: expected a board with a weight above 0, found only weights of 0")
    return list(out.values())


def _require_listed(unlisted: Sequence[str], folder: Path) -> None:
    """Refuse boards of a folder that its file of weights does not have: how much they count is unknown."""
    if unlisted:
        more = f" and {len(unlisted) - MOST_NAMED:,} more" if len(unlisted) > MOST_NAMED else ""
        raise InputError(
            f"file {path_text(folder / WEIGHTS_FILE)}: expected a weight for each board of the folder, found none for "
            f"{', '.join(unlisted[:MOST_NAMED])}{more}; add a line for each, with weight 0 to leave a board out"
        )


def _key(cards: tuple[int, ...]) -> tuple[int, ...]:
    """Sort the cards of a board, so that all orders of the cards give one key."""
    return tuple(sorted(cards))


def _cards(text: str) -> tuple[int, ...] | None:
    try:
        return parse_cards(text)
    except CardError:
        return None


def _weight(text: str) -> float | None:
    try:
        weight = float(text)
    except ValueError:
        return None
    return weight if weight >= 0 and math.isfinite(weight) else None
