"""Open the folder of a solve or of a batch: find its strategies, its job, its boards and their weights."""

from __future__ import annotations

import csv
import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from buckets.cards import cards_name, parse_cards
from buckets.errors import CardError
from lockers import DATA, LockerError, Reads, Store, holds_store, lacks_manifest, open_store
from spewy.errors import InputError, NotSolvedError, nearest, path_text, short
from spewy.job.job import Job
from spewy.records.policy import BucketPolicy, ChunkPolicy, Policy
from spewy.records.progress import read_trace, saved_sweeps
from spewy.records.strategy_locker import FOLDER, StrategyLocker, found_saved
from spewy.run.folder_state import STAGES
from spewy.system.textfile import read_text
from spewy.system.tools import as_path

RESULTS = "results"
"""Folder that has the solves of ``spewy solve`` without ``--out``."""
WEIGHTS_FILE = "boards.csv"
"""Name of the file with the boards' weights in a batch's folder: a header ``board,weight``, and a line per board."""
MOST_NAMED = 5
"""Largest number of solves or boards that an error message lists."""


def open_policy(folder: str | Path) -> Policy:
    """Open the strategies of a solve, which may be finished, interrupted, or still running in another process.

    >>> with open_policy("results/T1") as policy:  # doctest: +SKIP
    ...     policy.frequencies("cr120c/", "Qs Jh 2h 8c 3d", "AsKs")

    Args:
        folder: folder of the solve, or a copy of its strategy locker.

    Raises:
        lockers.LockerError: the folder holds no lockers, or damaged ones.
        NotSolvedError: nothing was saved yet.
    """
    store = open_strategies(folder)
    try:
        job = stored_job(store, folder)
        require_solved(saved_work(store), folder)
        return stored_policy(job, store)
    except BaseException:
        store.close()
        raise


def solve_identity(folder: str | Path) -> dict[str, Any]:
    """Return the values that identify the saved strategies of a solve, as JSON values by name.

    The values are a hash of the manifest (the game, the betting tree, the rows), the number of sweeps or deals, and
    what differs if the same job is solved anew: seconds and exploitability of the first check, or the time of the last
    save. They do not depend on where the folder is, and reading the folder does not change them.
    """
    with closing(open_strategies(folder)) as store:
        stored_job(store, folder)  # raises an error if the store is that of no solve
        require_solved(saved_work(store), folder)
        content = json.dumps(dict(store.manifest), sort_keys=True).encode()
        manifest = hashlib.sha256(content).hexdigest()[:16]
        saved = found_saved(store)
        if saved is not None:
            return {"manifest": manifest, "saved_deals": saved.deals, "saved_at": saved.saved_at}
        first = next(([seconds, amount] for _, seconds, amount in read_trace(store)), None)
        return {"manifest": manifest, "saved_sweeps": saved_sweeps(store), "first_check": first}


def open_strategies(folder: str | Path) -> Store:
    require_solve(folder)
    return open_store(strategy_folder(folder), read_only=True)


def require_solve(folder: str | Path) -> None:
    """Check that a folder exists and holds the lockers of a solve."""
    path = as_path(folder, "folder")
    store = strategy_folder(path)
    if not (holds_store(store) or (store / DATA).exists() or path.is_file()):
        raise LockerError(_no_solve(path))


def stored_policy(job: Job, store: Store) -> Policy:
    if job.sampled:
        return BucketPolicy.of(job.problem, StrategyLocker(store))
    return ChunkPolicy(job.problem, store)


def stored_job(store: Store, folder: str | Path) -> Job:
    data = store.manifest.get("job")
    if not isinstance(data, dict):
        raise InputError(f"folder {folder}: expected the lockers of a solve, found a manifest without a job")
    return Job.stored(data, f"folder {folder}")


def saved_work(store: Reads) -> int:
    """Read the number of saved sweeps, or of saved deals in a strategy locker."""
    averages = found_saved(store)
    return saved_sweeps(store) if averages is None else averages.deals


def require_solved(saved: int, folder: str | Path) -> None:
    """Check that something was saved: ``saved`` is the number of saved sweeps or deals.

    Raises:
        NotSolvedError: ``saved`` is 0.
    """
    if saved:
        return
    if (Path(folder) / STAGES).is_dir():
        raise NotSolvedError(
            f"folder {path_text(folder)}: its solve is still in a stage with fewer buckets (solve.coarse_to_fine), and "
            "saves its first strategy in the last stage; go on with `spewy solve`, or wait for it (`spewy status`)"
        )
    raise NotSolvedError(
        f"folder {path_text(folder)}: not solved yet, it holds no saved strategy; "
        "solve its job with `spewy solve`, or wait until the running solve saves for the first time"
    )


def strategy_folder(folder: str | Path) -> Path:
    """Return the folder with a solve's strategies: its strategy locker if it has one, else ``folder`` itself."""
    path = as_path(folder, "folder")
    return path / FOLDER if holds_store(path / FOLDER) else path


def solves_in(folder: Path) -> list[Path]:
    """List the folders of solves in a folder, sorted by name; none if ``folder`` is no folder.

    Hidden folders are left out, since a killed batch may leave an old solve in one (`spewy.batch.work`).
    """
    children = sorted(folder.iterdir()) if folder.is_dir() else ()
    return [
        child for child in children if not child.name.startswith(".") and holds_store(strategy_folder(child))
    ]


def has_board_buckets(folder: str | Path) -> bool:
    """Whether a folder is that of a whole game with board buckets, or a copy of its strategy locker.

    A board bucket is a group of boards that share a strategy.
    """
    path = strategy_folder(folder)
    if not holds_store(path):
        return False
    with open_store(path, read_only=True) as store:
        job = store.manifest.get("job")
    return isinstance(job, dict) and job.get("boards") is not None


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

    With ``weighing``, boards with weight 0 are left out, and a file of weights must have all boards of its folder.
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
    """Find the solves of a batch; None if ``folder`` is not the folder of a batch."""
    path = as_path(folder, "folder")
    if not path.is_dir() or holds_store(strategy_folder(path)) or lacks_manifest(path):
        return None
    return find_boards((path,), weighing=False) if solves_in(path) else None


def board_folder(folder: str | Path, board: str | None) -> Path:
    """Find the folder of the solve for a board in a batch; a folder that is no batch is returned unchanged.

    The board may include cards of later rounds; None is valid only for a single solve.
    """
    batch = batch_folders(folder)
    if batch is None:
        return as_path(folder, "folder")
    wanted = () if board is None else _cards(board) or ()
    for solve in batch.folders:
        cards = _cards(solve.name)
        if cards and set(cards) == set(wanted[: len(cards)]):
            return solve
    listed = _listed_names([solve.name for solve in batch.folders])
    subject = f"folder {path_text(as_path(folder, 'folder'))}"
    if board is None:
        raise InputError(
            f"{subject} is a batch of {len(batch.folders):,} boards; name one with --board: {listed}"
        )
    raise InputError(f"{subject}: expected a board of the batch, one of {listed}; found {board}")


def require_one_solve(folder: str | Path) -> None:
    """Check that a folder is not that of a batch, for work that needs the folder of a single solve."""
    batch = batch_folders(folder)
    if batch is None:
        return
    raise InputError(
        f"folder {path_text(as_path(folder, 'folder'))} is a batch of several solves; give the folder of one solve: "
        f"{_listed_names([path_text(each) for each in batch.folders], 'or')}"
    )


def write_weights(folder: Path, weights: Mapping[str, int]) -> None:
    """Write a batch's file of weights, by the names of the boards; the folder is created if it is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = ["board,weight", *(f"{board},{weight}" for board, weight in weights.items())]
    (folder / WEIGHTS_FILE).write_text("\n".join(lines) + "\n", encoding="ascii")


def _listed(folder: Path) -> list[tuple[tuple[int, ...], float]]:
    """Read a folder's file of weights: the cards of each board, in the order of the file, and its weight.

    The list is empty if the folder has no such file.
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
        raise InputError(
            f"file {path_text(folder / WEIGHTS_FILE)}: expected a weight for each board of the folder, found none for "
            f"{_listed_names(unlisted)}; add a line for each, with weight 0 to leave a board out"
        )


def _listed_names(names: Sequence[str], word: str = "and") -> str:
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" {word} {more:,} more" if more > 0 else "")


def _key(cards: tuple[int, ...]) -> tuple[int, ...]:
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


def _no_solve(path: Path) -> str:
    """Return the error message for a folder that holds no solve; it names solves that the user may have meant."""
    subject = f"folder {path_text(path)}"
    inside = _readable_solves(path)
    if inside:
        return f"{subject} has the solves of a batch in it; give one of these folders, such as {path_text(inside[0])}"
    what = "holds no solve" if path.is_dir() else "does not exist"
    solves = dict.fromkeys(
        solve
        for parent in (path.parent, path.parent / RESULTS, Path(RESULTS))
        for solve in _readable_solves(parent)
    )
    by_name = {solve.name: path_text(solve) for solve in solves}
    if path.name in by_name:
        return f"{subject} {what} (nearest: {by_name[path.name]})"
    hint = nearest(path_text(path), by_name.values())
    if not hint and by_name:
        names = list(by_name.values())[:MOST_NAMED]
        hint = f"; solves are in {', '.join(names)}"
    return f"{subject} {what}{hint}"


def _readable_solves(folder: Path) -> list[Path]:
    try:
        return solves_in(folder)
    except (OSError, LockerError):
        return []
