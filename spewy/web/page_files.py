"""The files of the first page: its HTML, and all its modules and style sheets joined into two files.

A browser would load the modules in several waves, since it learns of a module from those that import the module.
The two joined files have names with a hash of their content, so browsers keep them until they change.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from spewy.web.bundle import SHEET, STATIC, bundle, styles
from spewy.web.compressed import SMALL, CompressedResponse, compressed

FOREVER = "private, max-age=31536000, immutable"
"""The ``Cache-Control`` header of files whose content never changes under their name."""
TYPES = {"js": "text/javascript", "css": "text/css"}
_SCRIPT = re.compile(r'<script type="module" src="/static/([\w-]+\.js)"')
_SHEETS = re.compile(rf"(?:\s*{SHEET.pattern} />)+")


class PageFiles:
    """Makes the page and its two joined files, and makes them anew when a file on the disk has changed.

    Args:
        folder: folder with ``index.html``, the modules and the style sheets.

    Attributes:
        routes: routes of the page and of its files.
    """

    def __init__(self, folder: Path = STATIC) -> None:
        self._folder = folder
        self._stamp: tuple[int, ...] = ()
        self._html = ""
        self._files: dict[str, bytes] = {}
        self.routes = [Route("/", self._page), Route("/joined/{name}", self._file)]

    async def _page(self, request: Request) -> Response:
        del request
        now = tuple(path.stat().st_mtime_ns for path in sorted(self._folder.iterdir()))
        if now != self._stamp:
            self._join()
            self._stamp = now
        return HTMLResponse(self._html)

    async def _file(self, request: Request) -> Response:
        name = request.path_params["name"]
        packed = self._files.get(name)
        if packed is None:
            raise HTTPException(404, "there is no such file; reload the page")
        return CompressedResponse(packed, TYPES[name.rpartition(".")[2]], {"cache-control": FOREVER})

    def _join(self) -> None:
        """Join the modules and the style sheets, and write the HTML with the names of the joined files."""
        html = (self._folder / "index.html").read_text("utf-8")
        start = _SCRIPT.search(html)
        assert start is not None
        joined = {}
        for kind, text in (("js", bundle(start[1], self._folder)), ("css", styles(self._folder))):
            body = text.encode()
            joined[kind] = name = f"{hashlib.sha256(body).hexdigest()[:16]}.{kind}"
            self._files[name] = compressed(body, SMALL)
        html = _SCRIPT.sub(f'<script type="module" src="/joined/{joined["js"]}"', html)
        self._html = _SHEETS.sub(
            f'\n    <link rel="stylesheet" href="/joined/{joined["css"]}" />', html, count=1
        )
