"""Routes for looking at solutions: positions, reports over cards and boards, comparisons, ranges and tables."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response
from starlette.routing import Route

from spewy.look.position import position
from spewy.web.answers import Parameters, get, optional, text
from spewy.web.folders import Folders


def look_routes(folders: Folders) -> list[Route]:
    """Return the routes for looking at the solutions in some folders."""

    def listed(parameters: Parameters) -> dict[str, Any]:
        del parameters
        rows = [
            {"id": entry.id, "kind": entry.kind, "boards": list(entry.boards)} for entry in folders.entries()
        ]
        return {"folders": rows, "roots": [root.name for root in folders.roots]}

    def facts(parameters: Parameters) -> dict[str, Any]:
        return folders.summary(text(parameters, "folder"))

    def at(parameters: Parameters) -> dict[str, Any]:
        filters = [each for each in text(parameters, "filter", "").split(";") if each.strip()]
        with folders.solution(text(parameters, "folder")) as solution:
            return position(
                solution,
                text(parameters, "line", ""),
                optional(parameters, "board"),
                ev=text(parameters, "ev", "1") != "0",
                filters=filters,
            )

    def table(parameters: Parameters) -> Response:
        with folders.solution(text(parameters, "folder")) as solution:
            view = solution.node(text(parameters, "line", ""), optional(parameters, "board"))
            frame = view.wide_frame()
        return Response(frame.to_csv(index=False), media_type="text/csv; charset=utf-8")

    return [
        get("/api/folders", listed),
        get("/api/summary", facts),
        get("/api/position", at),
        get("/api/table.csv", table),
    ]
