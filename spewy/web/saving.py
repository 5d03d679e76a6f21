"""Routes for tables of hands and pictures of decisions, which a reader saves as files."""

from __future__ import annotations

from importlib.util import find_spec
from io import BytesIO
from typing import Any

from starlette.responses import Response
from starlette.routing import Route

from spewy.errors import InputError, MissingError, shown
from spewy.game.names import SEAT_NAMES
from spewy.look.hand_filter import filtered
from spewy.web.answers import Parameters, get, optional, text
from spewy.web.background import Progress
from spewy.web.folders import Folders
from spewy.web.parameters import filters_of

PICTURES = {"png": "image/png", "svg": "image/svg+xml"}
"""Formats of pictures, and their media types."""
MAPS = {"strategy": None, "EV": "EV", "equity": "equity", "reach": "reach"}
"""Quantities that pictures can show, with the names of their heat maps; None for the frequencies of actions."""


def saving_routes(folders: Folders) -> list[Route]:
    """Return the routes for tables and pictures of the solutions in some folders."""

    def table(parameters: Parameters) -> Response:
        _require("pandas", "export")
        place = text(parameters, "line", ""), optional(parameters, "board")
        with folders.solution(text(parameters, "folder")) as solution:
            views = [solution.node(*place), solution.waiting(*place)]
            seat = text(parameters, "seat", SEAT_NAMES[views[0].player])
            view = next((view for view in views if SEAT_NAMES[view.player] == seat), None)
            if view is None:
                raise InputError(f"parameter seat: expected oop or ip, found {shown(seat)}")
            frame = filtered(solution.job.rules, view, filters_of(parameters)).wide_frame()
        return Response(frame.to_csv(index=False), media_type="text/csv; charset=utf-8")

    def picture(parameters: Parameters) -> Any:
        _require("matplotlib", "plot")
        name, line = text(parameters, "folder"), text(parameters, "line", "")
        board, filters = optional(parameters, "board"), tuple(filters_of(parameters))
        suffix, what = _one_of(PICTURES, parameters, "format"), _one_of(MAPS, parameters, "map")

        def work(progress: Progress) -> bytes:
            del progress
            from spewy.plot import node_figure, save

            with folders.solution(name) as solution:
                views = [solution.node(line, board), solution.waiting(line, board)]
                words = solution.words(solution.at(line, board)[0])
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


def _require(package: str, extra: str) -> None:
    """Check that a Python package is installed; an ``extra`` of this distribution installs it.

    Raises:
        MissingError: the package is not installed.
    """
    if find_spec(package) is None:
        raise MissingError(
            f"this needs the package {package}, which is not installed (pip install 'spewy[{extra}]')"
        )
