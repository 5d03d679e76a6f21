"""Routes for looking at solutions: positions, curves, ranges, tables and pictures."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from io import BytesIO
from typing import Any, Protocol

from starlette.responses import Response
from starlette.routing import Route

from spewy.chunks.locate import Place
from spewy.errors import InputError, shown
from spewy.game.names import SEAT_NAMES
from spewy.look.folder import find_boards
from spewy.look.hand_filter import filter_names, filtered
from spewy.look.solution import Solution
from spewy.web.answers import Parameters, csv, filters_of, get, optional, require_package, text
from spewy.web.background import Progress
from spewy.web.chunks import chunk_routes
from spewy.web.folders import Entry, Folders, cards_of
from spewy.web.position import both_views, curves, position, range_texts, summary
from spewy.web.readers import KeptAnswers
from spewy.web.reporting import report_routes

Question = Callable[[Parameters], Any]
"""A function from the parameters of a question to the JSON object that answers it."""
PICTURES = {"png": "image/png", "svg": "image/svg+xml"}
"""Formats of pictures, and their media types."""
MAPS = {"strategy": None, "EV": "EV", "equity": "equity", "reach": "reach"}
"""Quantities that pictures can show, with the names of their heat maps; None for the frequencies of actions."""


class Solutions(Protocol):
    """Opens solutions by name: the folders of a server, or the one solution of a notebook."""

    def solution(self, name: str) -> AbstractContextManager[Solution]:
        """Open a solution for a ``with`` block."""
        ...


def look_routes(folders: Folders) -> list[Route]:
    questions = solution_questions(folders)
    of_solve = questions["/api/summary"]

    def facts(parameters: Parameters) -> dict[str, Any]:
        entry = folders.entry(text(parameters, "folder"))
        return _batch_facts(entry) if entry.kind == "batch" else of_solve(parameters) | _home(folders, entry)

    kept, position_of = KeptAnswers(), questions["/api/position"]

    def at(parameters: Parameters) -> Response:
        entry = folders.entry(text(parameters, "folder"))
        question = tuple(sorted(parameters.items()))
        with folders.background.pausing():
            return kept.answer(entry.path, question, lambda: position_of(parameters))

    own = {"/api/summary": facts, "/api/position": at}
    routes = [get(path, question) for path, question in (questions | own).items()]
    return [
        *routes,
        *saving_routes(folders),
        *report_routes(folders),
        *chunk_routes(folders),
    ]


def solution_questions(solutions: Solutions) -> dict[str, Question]:
    """Return the functions that answer questions about a solution, by URL path, for a server or a notebook."""

    def facts(parameters: Parameters) -> dict[str, Any]:
        with solutions.solution(text(parameters, "folder")) as solution:
            return summary(solution)

    def at(parameters: Parameters) -> dict[str, Any]:
        with solutions.solution(text(parameters, "folder")) as solution:
            return _position(solution, parameters)

    def range_curves(parameters: Parameters) -> dict[str, Any]:
        with solutions.solution(text(parameters, "folder")) as solution:
            place = _decision(solution, parameters)
            views = both_views(solution, place, filters=filters_of(parameters))
            found = curves(views, solution.pot_at(place.node))
            return {"unit": solution.job.amounts.name, "curves": found}

    def ranges(parameters: Parameters) -> dict[str, Any]:
        with solutions.solution(text(parameters, "folder")) as solution:
            views = both_views(solution, _decision(solution, parameters), filters=filters_of(parameters))
        return {"ranges": [found for view in views for found in range_texts(view)]}

    return {
        "/api/summary": facts,
        "/api/position": at,
        "/api/curves": range_curves,
        "/api/ranges": ranges,
        "/api/filters": lambda parameters: {"names": filter_names()},
    }


def _position(solution: Solution, parameters: Parameters) -> dict[str, Any]:
    """Return a position; the names and kinds of the second player's hands are null if they are those of the first."""
    found = position(
        solution,
        text(parameters, "line", ""),
        optional(parameters, "board"),
        ev=text(parameters, "ev", "1") != "0",
        filters=filters_of(parameters),
    )
    first, *others = found.get("views", [None])
    for view in others:
        if view["hands"]["names"] == first["hands"]["names"]:
            view["hands"]["names"] = view["kinds"] = None
    return found


def _decision(solution: Solution, parameters: Parameters) -> Place:
    return solution.at(text(parameters, "line", ""), optional(parameters, "board"), decision=True)


def _batch_facts(entry: Entry) -> dict[str, Any]:
    found = find_boards((entry.path,))
    weights = {frozenset(cards): weight for cards, weight in found.weights.items()}
    boards = [(name, name.rpartition("/")[2]) for name in entry.boards]
    rows = [{"id": name, "board": board, "weight": weights.get(cards_of(board))} for name, board in boards]
    return {"name": entry.path.name, "kind": "batch", "boards": rows, "missing": found.missing}


def _home(folders: Folders, entry: Entry) -> dict[str, str]:
    """Return ``{"batch": id}`` with the batch to which a solve belongs; ``{}`` if it belongs to none."""
    parent = entry.id.rpartition("/")[0]
    try:
        return {"batch": parent} if parent and folders.entry(parent).kind == "batch" else {}
    except InputError:
        return {}


def saving_routes(folders: Folders) -> list[Route]:
    def table(parameters: Parameters) -> Response:
        require_package("pandas", "export")
        with folders.solution(text(parameters, "folder")) as solution:
            place = _decision(solution, parameters)
            views = [solution.node(place), solution.waiting(place)]
            seat = text(parameters, "seat", SEAT_NAMES[views[0].player])
            view = next((view for view in views if SEAT_NAMES[view.player] == seat), None)
            if view is None:
                raise InputError(f"parameter seat: expected oop or ip, found {shown(seat)}")
            frame = filtered(solution.job.rules, view, filters_of(parameters)).wide_frame()
        return csv(frame)

    def picture(parameters: Parameters) -> Any:
        require_package("matplotlib", "plot")
        name, line = text(parameters, "folder"), text(parameters, "line", "")
        board, filters = optional(parameters, "board"), tuple(filters_of(parameters))
        suffix, what = _one_of(PICTURES, parameters, "format"), _one_of(MAPS, parameters, "map")

        def work(progress: Progress) -> bytes:
            del progress
            from spewy.plot import node_figure, save

            with folders.solution(name) as solution:
                place = solution.at(line, board, decision=True)
                views = [solution.node(place), solution.waiting(place)]
                words = solution.words(place.node)
                views = [filtered(solution.job.rules, view, filters) for view in views]
            drawn = BytesIO()
            save(node_figure(views, words, MAPS[what]), drawn, suffix)
            return drawn.getvalue()

        found = folders.computed(("picture", line, board, filters, suffix, what), [name], work)
        return found if isinstance(found, Response) else Response(found, media_type=PICTURES[suffix])

    return [get("/api/table.csv", table), get("/api/picture", picture)]


def _one_of(choices: dict[str, Any], parameters: Parameters, name: str) -> str:
    given = text(parameters, name, next(iter(choices)))
    if given not in choices:
        raise InputError(f"parameter {name}: expected one of {', '.join(choices)}, found {shown(given)}")
    return given
