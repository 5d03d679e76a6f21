"""Routes for reports over cards and over boards, and for comparisons, which are computed in the background."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

from starlette.routing import Route

from lockers import LockerError
from spewy.errors import InputError, NotSolvedError, shown
from spewy.look.batch_report import batch_place, batch_report
from spewy.look.runouts import card_report, report_places
from spewy.look.side_by_side import comparable_key, side_by_side
from spewy.web.answers import Parameters, get, optional, text
from spewy.web.background import Progress
from spewy.web.folders import Entry, Folders


def report_routes(folders: Folders) -> list[Route]:
    """Return the routes for reports about the solutions in some folders."""

    def places(parameters: Parameters) -> dict[str, Any]:
        with folders.solution(text(parameters, "folder")) as solution:
            found = report_places(solution, text(parameters, "line", ""), optional(parameters, "board"))
        return {"places": [place.to_json() for place in found]}

    def cards(parameters: Parameters) -> Any:
        name, line = text(parameters, "folder"), text(parameters, "line", "")
        board = optional(parameters, "board")

        def work(progress: Progress) -> dict[str, Any]:
            with folders.apart(name) as solution:
                return card_report(solution, line, board, progress)

        return folders.computed(("cards", line, board), [name], work)

    def place(parameters: Parameters) -> dict[str, Any]:
        return _place(folders, _batch(folders, text(parameters, "folder")), text(parameters, "line", ""))

    def boards(parameters: Parameters) -> Any:
        entry, line = _batch(folders, text(parameters, "folder")), text(parameters, "line", "")

        def work(progress: Progress) -> dict[str, Any]:
            return batch_report(entry.path, line, progress)

        return folders.computed(("boards", line), [entry.id], work)

    def comparable(parameters: Parameters) -> dict[str, Any]:
        return {"solves": _comparable(folders, folders.solve(text(parameters, "folder")))}

    def comparison(parameters: Parameters) -> Any:
        names = text(parameters, "folder"), text(parameters, "with")
        line, board = text(parameters, "line", ""), optional(parameters, "board")

        def work(progress: Progress) -> dict[str, Any]:
            del progress
            with ExitStack() as opened:
                a = opened.enter_context(folders.solution(names[0]))
                # A solve that is compared with itself is opened once, so that pages can look at it meanwhile.
                same = folders.solve(names[0]).path == folders.solve(names[1]).path
                b = a if same else opened.enter_context(folders.solution(names[1]))
                return side_by_side(a, b, line, board)

        return folders.computed(("comparison", line, board), names, work)

    return [
        get("/api/comparable", comparable),
        get("/api/comparison", comparison),
        get("/api/reports", places),
        get("/api/report", cards),
        get("/api/boards/place", place),
        get("/api/boards", boards),
    ]


def _batch(folders: Folders, name: str) -> Entry:
    entry = folders.entry(name)
    if entry.kind != "batch":
        raise InputError(f"folder {shown(name)}: expected the folder of a batch, found a single solve")
    return entry


def _comparable(folders: Folders, entry: Entry) -> list[dict[str, Any]]:
    """List the other solves of the same game, with which a solve can be compared.

    Each has its ``id``, and ``batch``, the id of its batch or an empty text. The solves of a batch stand together.
    """
    wanted, entries = comparable_key(entry.path), folders.entries()
    in_batches = {board for other in entries for board in other.boards}
    found: list[dict[str, Any]] = []
    for other in entries:
        solves = other.boards or (() if other.id in in_batches else (other.id,))
        if solves and _fits(folders.entry(solves[0]), wanted):
            batch = other.id if other.kind == "batch" else ""
            found += ({"id": solve, "batch": batch} for solve in solves if solve != entry.id)
    return found


def _fits(entry: Entry, wanted: tuple[object, ...]) -> bool:
    try:
        return comparable_key(entry.path) == wanted
    except LockerError:
        return False


def _place(folders: Folders, entry: Entry, line: str) -> dict[str, Any]:
    """Describe a betting line in a batch of boards for a page, by `batch_place`.

    The line is looked up in the first board with a saved strategy, since all boards have the same betting tree.

    Raises:
        NotSolvedError: no board has a saved strategy.
    """
    for board in entry.boards:
        try:
            with folders.solution(board) as solution:
                return batch_place(solution, line)
        except NotSolvedError:
            continue
    raise NotSolvedError(
        f"folder {shown(entry.id)}: no board of this batch is solved yet; wait until one has saved"
    )
