"""Routes for reports over next cards, which are computed in the background."""

from __future__ import annotations

from typing import Any

from starlette.routing import Route

from spewy.look.runouts import report_json, report_places
from spewy.web.answers import Parameters, get, optional, text
from spewy.web.background import Progress
from spewy.web.folders import Folders


def report_routes(folders: Folders) -> list[Route]:
    """Return the routes for reports about the solutions in some folders."""

    def places(parameters: Parameters) -> dict[str, Any]:
        with folders.solution(text(parameters, "folder")) as solution:
            found = report_places(solution, text(parameters, "line", ""), optional(parameters, "board"))
        return {"places": [place.to_json() for place in found]}

    def report(parameters: Parameters) -> Any:
        name, line, board = (
            text(parameters, "folder"),
            text(parameters, "line", ""),
            optional(parameters, "board"),
        )

        def work(progress: Progress) -> dict[str, Any]:
            with folders.apart(name) as solution:
                return report_json(solution, solution.report(line, board, progress))

        return folders.background.answer(("report", name, line, board), folders.saved(name), work)

    return [get("/api/reports", places), get("/api/report", report)]
