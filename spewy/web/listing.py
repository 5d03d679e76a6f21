"""The list of solves: what each solves and how well, or why it cannot be opened; read again only after a save.

A solve is described by its manifest, its last check and the sizes of its files, so hundreds of solves are listed in a
second, and no strategy is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from starlette.routing import Route

from buckets.cards import cards_name, parse_cards
from lockers import DamagedLockerError, LockerError, Store, open_store
from spewy.errors import InputError, one_line
from spewy.game.amounts import game_unit
from spewy.game.gamefile import parse_game, shipped_name
from spewy.game.ranges import parse_range
from spewy.game.ranges.range import NUM_HANDS
from spewy.game.ranges.text import named_list
from spewy.job.shipped import preset_of
from spewy.look.folder import saved_work, strategy_folder
from spewy.look.pairs import load_kernels
from spewy.look.status import disk_bytes
from spewy.records.progress import quick_seconds, read_trace
from spewy.records.status import read_status
from spewy.web.answers import Parameters, get
from spewy.web.folders import REMEDY, Entry, Folders
from spewy.web.readers import IDENTITY, Stamped, stamp

DAMAGED = f"a file of the solve is damaged; {REMEDY}"
UNSAVED = "nothing is saved yet; wait until the solve saves, or continue it on the Solve page"
FOREIGN = "it holds lockers, but no solve"


@dataclass(frozen=True)
class Listed:
    """A solve or a batch in the list.

    Attributes:
        problem: why it cannot be opened; None if it can.
        is_game: whether it is a whole game rather than a spot; None if the problem hides it.
        board_buckets: whether it is a whole game with board buckets.
        board: cards of the board, such as ``"Ks7h2d"``; empty for whole games and batches.
        about: the preset's description if both ranges are those of a preset, else the sizes of the ranges; the name of
            a whole game.
        pot, stack: amounts in ``unit``; None for whole games.
        exploitability: last measured value, in ``measure``, which is "%" of the pot or "mbb" per hand; None if unknown.
        quick: whether the folder holds a quick answer, whose exploitability is unknown.
        done: number of sweeps or deals that are saved.
        counted: "sweeps" or "deals".
        saved_at: time of the last save, in seconds since 1970.
        disk: disk space of all files in bytes.
    """

    problem: str | None
    is_game: bool | None = None
    board_buckets: bool = False
    board: str = ""
    about: str = ""
    pot: float | None = None
    stack: float | None = None
    unit: str = "chips"
    exploitability: float | None = None
    measure: str = "%"
    quick: bool = False
    done: int | None = None
    counted: str = "sweeps"
    saved_at: float | None = None
    disk: int | None = None


class SolveList:
    """Describes solves and batches, and remembers each until it saves."""

    def __init__(self) -> None:
        self._solves = Stamped(_examined)
        self._disk = Stamped(disk_bytes, stamp)

    def of(self, entry: Entry) -> Listed:
        return self._batch(entry) if entry.kind == "batch" else self._solve(entry.path)

    def _solve(self, folder: Path) -> Listed:
        try:
            found, saved = self._solves.of(folder), _saved_at(stamp(folder))
            return replace(found, saved_at=saved, disk=self._disk.of(folder))
        except (OSError, LockerError) as error:
            return _refused(error)

    def _batch(self, entry: Entry) -> Listed:
        """Describe a batch by its first board, and add up the sizes of its boards, of which it may have thousands."""
        first = self._solve(entry.solves[0])
        disk = 0
        for folder in entry.solves:
            with suppress(OSError):  # the folder cannot be read, or is being replaced
                disk += self._disk.of(folder)
        return Listed(
            None,
            is_game=False,
            about=first.about,
            pot=first.pot,
            stack=first.stack,
            unit=first.unit,
            saved_at=last_save(entry),
            disk=disk,
        )


def listing_routes(folders: Folders) -> list[Route]:
    solves = SolveList()

    def listed(parameters: Parameters) -> dict[str, Any]:
        del parameters
        found = folders.listing()
        inside = {board for entry in found.entries for board in entry.boards}
        # Boards of a batch are listed by name only.
        rows = [(entry, None if entry.id in inside else solves.of(entry)) for entry in found.entries]
        if any(row is not None and row.board_buckets for _, row in rows):
            load_kernels()  # while the reader chooses a solve
        return {
            "folders": [
                {
                    "id": entry.id,
                    "kind": entry.kind,
                    "boards": list(entry.boards),
                    "removable": folders.removable(entry),
                }
                | asdict(row or Listed(None, is_game=False))
                for entry, row in rows
            ],
            "roots": [root.name for root in folders.roots],
            "problems": [{"id": name, "problem": problem} for name, problem in found.problems],
        }

    return [get("/api/folders", listed)]


def _examined(folder: Path) -> Listed:
    try:
        with open_store(strategy_folder(folder), read_only=True) as store:
            job = store.manifest.get("job")
            if not isinstance(job, dict):
                return Listed(FOREIGN)
            saved = saved_work(store)
            found = Listed(None if saved else UNSAVED, job.get("spot") is None, job.get("boards") is not None)
            if found.problem is not None:
                return found
            try:
                return _described(found, job, saved, store, folder)
            except (InputError, KeyError, TypeError, ValueError):  # a manifest of another version
                return found
    except DamagedLockerError:
        return Listed(DAMAGED)
    except (LockerError, OSError) as error:
        return _refused(error)


def _described(found: Listed, job: Mapping[str, Any], saved: int, store: Store, folder: Path) -> Listed:
    # The whole job (`stored_job`) would take ten times as long, for its betting tree and its ranges.
    game = job["game"]["text"]
    trace, spot = read_trace(store), job.get("spot")
    if spot is None:
        status = read_status(folder)
        judged = None if status is None else status.judged
        return replace(
            found,
            about=shipped_name(game) or "whole game",
            exploitability=None if judged is None else judged.exploitability,
            measure="mbb" if judged is None else judged.unit,
            done=saved,
            counted="deals" if found.board_buckets else "sweeps",
        )
    pot = spot["pot"] * game_unit(job["unit"], parse_game(game, "")).chips
    return replace(
        found,
        board=cards_name(parse_cards(spot["board"])),
        about=_formation(spot["oop"], spot["ip"]),
        pot=spot["pot"],
        stack=spot["stack"],
        unit=job["unit"],
        exploitability=100 * trace[-1][2] / pot if trace else None,
        quick=quick_seconds(store) is not None,
        done=saved,
    )


def _formation(oop: str, ip: str) -> str:
    """Describe two ranges by the preset that has them, or else by their sizes."""
    known = preset_of(oop, ip)
    if known is not None:
        return known.about
    first, second = (100 * parse_range(named_list(text)).combos / NUM_HANDS for text in (oop, ip))
    return f"{_percent(first)} of hands against {_percent(second)}"


def _percent(share: float) -> str:
    return f"{share:.0f} %" if share >= 10 else f"{share:.2g} %"


def last_save(entry: Entry) -> float | None:
    """Return the time of the last save of a solve or batch, as the list has it; None if it cannot be read."""
    times = []
    for folder in entry.solves:
        with suppress(OSError):
            times.append(_saved_at(stamp(folder)))
    return max(filter(None, times), default=None)


def _saved_at(saved: tuple[int, ...]) -> float | None:
    return max(saved[3::IDENTITY]) / 1e9 if saved else None


def _refused(error: Exception) -> Listed:
    return Listed(one_line(str(error), 300))
