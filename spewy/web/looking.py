"""Routes for looking at solutions: positions, reports over cards and boards, comparisons, ranges and tables."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Protocol

from starlette.responses import Response
from starlette.routing import Route

from buckets.cards import parse_cards
from buckets.errors import CardError
from spewy.errors import InputError
from spewy.look.boards import find_boards
from spewy.look.curves import curves
from spewy.look.hand_filter import filter_names, filtered
from spewy.look.node import NodeView
from spewy.look.pairs import load_kernels
from spewy.look.position import position, summary
from spewy.look.range_texts import range_texts
from spewy.look.solution import Solution
from spewy.web.answers import Parameters, get, optional, text
from spewy.web.chunks import chunk_routes
from spewy.web.folders import Entry, Folders
from spewy.web.health import Health, Healths
from spewy.web.kept import KeptAnswers
from spewy.web.parameters import filters_of
from spewy.web.reporting import report_routes
from spewy.web.saving import saving_routes

Question = Callable[[Parameters], Any]
"""A function from the parameters of a question to the JSON object that answers it."""

UNEXAMINED = Health(None, is_game=False)
"""Health of batches and of their boards in the list of solves."""


class Solutions(Protocol):
    """Opens solutions by name: the folders of a server, or the one solution of a notebook."""

    def solution(self, name: str) -> AbstractContextManager[Solution]:
        """Open a solution for a ``with`` block."""
        ...


def look_routes(folders: Folders) -> list[Route]:
    """Return the routes for looking at the solutions in some folders."""
    healths = Healths()

    def listed(parameters: Parameters) -> dict[str, Any]:
        del parameters
        found = folders.listing()
        boards = {board for entry in found.entries for board in entry.boards}
        # A batch may have thousands of boards, so they are not examined.
        examined = {
            e.id: healths.of(e.path) for e in found.entries if e.kind == "solve" and e.id not in boards
        }
        if any(health.board_buckets for health in examined.values()):
            load_kernels()  # while the reader chooses a solve
        rows = [
            {"id": entry.id, "kind": entry.kind, "boards": list(entry.boards)}
            | vars(examined.get(entry.id, UNEXAMINED))
            for entry in found.entries
        ]
        problems = [{"id": name, "problem": problem} for name, problem in found.problems]
        return {"folders": rows, "roots": [root.name for root in folders.roots], "problems": problems}

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
        get("/api/folders", listed),
        *routes,
        *saving_routes(folders),
        *report_routes(folders),
        *chunk_routes(folders),
    ]


def solution_questions(solutions: Solutions) -> dict[str, Question]:
    """Return functions that answer questions about a solution, by URL path; a server and a notebook use them."""

    def facts(parameters: Parameters) -> dict[str, Any]:
        with solutions.solution(text(parameters, "folder")) as solution:
            return summary(solution)

    def at(parameters: Parameters) -> dict[str, Any]:
        with solutions.solution(text(parameters, "folder")) as solution:
            return _position(solution, parameters)

    def range_curves(parameters: Parameters) -> dict[str, Any]:
        place = text(parameters, "line", ""), optional(parameters, "board")
        with solutions.solution(text(parameters, "folder")) as solution:
            found = curves(_views(solution, parameters), solution.pot_at(solution.at(*place)[0]))
            unit = solution.job.amounts.name
        return {"unit": unit, "curves": {name: [c.to_json() for c in pair] for name, pair in found.items()}}

    def ranges(parameters: Parameters) -> dict[str, Any]:
        with solutions.solution(text(parameters, "folder")) as solution:
            views = _views(solution, parameters)
        return {"ranges": [found.to_json() for view in views for found in range_texts(view)]}

    return {
        "/api/summary": facts,
        "/api/position": at,
        "/api/curves": range_curves,
        "/api/ranges": ranges,
        "/api/filters": lambda parameters: {"names": filter_names()},
    }


def _position(solution: Solution, parameters: Parameters) -> dict[str, Any]:
    return position(
        solution,
        text(parameters, "line", ""),
        optional(parameters, "board"),
        ev=text(parameters, "ev", "1") != "0",
        filters=filters_of(parameters),
    )


def _views(solution: Solution, parameters: Parameters) -> list[NodeView]:
    """Return two views of a decision, the hands of oop and the hands of ip, without hands that a filter excludes."""
    place = text(parameters, "line", ""), optional(parameters, "board")
    views = sorted((solution.node(*place), solution.waiting(*place)), key=lambda view: view.player)
    return [filtered(solution.job.rules, view, filters_of(parameters)) for view in views]


def _batch_facts(entry: Entry) -> dict[str, Any]:
    """Return the facts about a batch: its boards with their ids and weights, and the boards that are missing."""
    found = find_boards((entry.path,))
    weights = {frozenset(cards): weight for cards, weight in found.weights.items()}
    boards = [(name, name.rpartition("/")[2]) for name in entry.boards]
    rows = [{"id": name, "board": board, "weight": weights.get(_cards(board))} for name, board in boards]
    return {"name": entry.path.name, "kind": "batch", "boards": rows, "missing": found.missing}


def _home(folders: Folders, entry: Entry) -> dict[str, str]:
    """Return ``{"batch": id}`` with the id of the batch to which a solve belongs; ``{}`` if it belongs to no batch."""
    parent = entry.id.rpartition("/")[0]
    try:
        return {"batch": parent} if parent and folders.entry(parent).kind == "batch" else {}
    except InputError:
        return {}


def _cards(board: str) -> frozenset[int]:
    try:
        return frozenset(parse_cards(board))
    except CardError:
        return frozenset()
