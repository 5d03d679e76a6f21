"""Answers that are kept compressed, and sent compressed to clients that accept gzip."""

from __future__ import annotations

import gzip

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

QUICK, SMALL = 1, 9
"""Levels of compression: for answers that a click waits for, and for files that are compressed once."""


class CompressedResponse(Response):
    """An answer whose body is compressed by gzip; a client that does not accept gzip gets the plain body.

    Args:
        packed: the compressed body.
        media_type: type of the plain body.
        headers: further headers.
    """

    def __init__(self, packed: bytes, media_type: str, headers: dict[str, str] | None = None) -> None:
        more = {"content-encoding": "gzip", "vary": "accept-encoding", **(headers or {})}
        super().__init__(packed, headers=more, media_type=media_type)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the answer."""
        if not _accepts_gzip(Headers(scope=scope).get("accept-encoding", "")):
            self.body = gzip.decompress(self.body)
            self.headers["content-length"] = str(len(self.body))
            del self.headers["content-encoding"]
        await super().__call__(scope, receive, send)


def compressed(body: bytes, level: int) -> bytes:
    """Compress a body; the level is `QUICK` or `SMALL`."""
    return gzip.compress(body, level, mtime=0)


def _accepts_gzip(encodings: str) -> bool:
    """Whether the header ``Accept-Encoding`` names gzip, and does not exclude it by ``q=0``."""
    for encoding in encodings.lower().split(","):
        name, _, weight = encoding.replace(" ", "").partition(";q=")
        if name == "gzip":
            return weight.strip("0.") != "" or not weight
    return False
