"""The web application: the page with its script and style sheet, and the routes that answer with JSON.

A browser would load the page's modules in several waves, since it learns of a module from those that import the module.
So all modules, and all style sheets, are joined into one file. The two files have names with a hash of their content,
so browsers keep them until they change.
"""

from __future__ import annotations

import hashlib
import mimetypes
import re
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from spewy.web.answers import SMALL, CompressedResponse, compressed, failed, refused
from spewy.web.bundle import SHEET, STATIC, bundle, icon, styles
from spewy.web.folders import Folders
from spewy.web.hands import hand_routes
from spewy.web.job_process import Estimates, JobProcess
from spewy.web.jobs import job_routes
from spewy.web.listing import listing_routes
from spewy.web.looking import look_routes
from spewy.web.pasting import paste_routes
from spewy.web.playing import Playing
from spewy.web.readers import Stamped
from spewy.web.removing import removing_routes
from spewy.web.security import Guard
from spewy.web.setting_up import setup_routes

FOREVER = "private, max-age=31536000, immutable"
"""The ``Cache-Control`` header of files whose content never changes under their name."""
TYPES = {"js": "text/javascript", "css": "text/css"}
_SCRIPT = re.compile(r'<script type="module" src="/static/([\w-]+\.js)"')
_SHEETS = re.compile(rf"(?:\s*{SHEET.pattern} />)+")

# Some machines have other types in their own tables, and browsers refuse scripts of another type.
mimetypes.add_type("text/javascript", ".js")


def make_app(
    folders: Folders,
    hosts: frozenset[str] | None,
    token: str | None = None,
    jobs: JobProcess | None = None,
) -> ASGIApp:
    """Make the application that shows some folders.

    Args:
        hosts: names and addresses that the ``Host`` header of a request may have; None: any, for a server that
            requires a token.
        token: token that each request must bring; None: no token.
        jobs: runs the solves that pages start; the caller closes it. None: a new `JobProcess`.
    """
    jobs = jobs or JobProcess()
    app = Starlette(
        routes=[
            *PageFiles().routes,
            *listing_routes(folders),
            *look_routes(folders),
            *setup_routes(folders, Estimates()),
            *job_routes(folders, jobs),
            *removing_routes(folders, jobs),
            *Playing(folders).routes,
            *hand_routes(folders),
            *paste_routes(),
            Mount("/static", StaticFiles(directory=STATIC)),
        ],
        exception_handlers={HTTPException: refused, Exception: failed},
    )
    return Guard(app, hosts, token)


class PageFiles:
    """Makes the page and its two joined files, and makes them anew when a file on the disk has changed."""

    def __init__(self, folder: Path = STATIC) -> None:
        self._folder, self._html = folder, Stamped(self._joined, _changed)
        self._files: dict[str, bytes] = {}
        self.routes = [Route("/", self._page), Route("/joined/{name}", self._file)]

    async def _page(self, request: Request) -> Response:
        del request
        return HTMLResponse(self._html.of(self._folder))

    async def _file(self, request: Request) -> Response:
        name = request.path_params["name"]
        packed = self._files.get(name)
        if packed is None:
            raise HTTPException(404, "there is no such file; reload the page")
        return CompressedResponse(packed, TYPES[name.rpartition(".")[2]], {"cache-control": FOREVER})

    def _joined(self, folder: Path) -> str:
        html = (folder / "index.html").read_text("utf-8")
        start = _SCRIPT.search(html)
        assert start is not None
        joined = {}
        for kind, text in (("js", bundle(start[1], folder)), ("css", styles(folder))):
            body = text.encode()
            joined[kind] = name = f"{hashlib.sha256(body).hexdigest()[:16]}.{kind}"
            self._files[name] = compressed(body, SMALL)
        html = html.replace("/static/icon.svg", icon(folder))
        html = _SCRIPT.sub(f'<script type="module" src="/joined/{joined["js"]}"', html)
        return _SHEETS.sub(f'\n    <link rel="stylesheet" href="/joined/{joined["css"]}" />', html, count=1)


def _changed(folder: Path) -> tuple[int, ...]:
    """Times of the last writes of all files in a folder."""
    return tuple(path.stat().st_mtime_ns for path in sorted(folder.iterdir()))
