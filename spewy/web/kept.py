"""A cache of answers about solutions: a question that was asked before, by any reader, is not computed again."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any

from starlette.responses import JSONResponse, Response

from spewy.web.compressed import QUICK, CompressedResponse, compressed
from spewy.web.readers import Stamp, age, stamp

MOST_BYTES = 24 << 20
"""Largest size in bytes of all cached answers; a decision of hold'em takes 30 to 150 kB compressed."""
SETTLED = 2.0
"""Seconds since the last save of a solve, after which answers are cached.

A save takes several writes. A file system may give two of them the same time, and an answer between the two is old
after the second.
"""


class KeptAnswers:
    """A cache of the last answers about the solves in some folders; a solve that saves loses its answers."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[Path, Stamp, Hashable], bytes] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def answer(self, folder: Path, question: Hashable, work: Callable[[], Any]) -> Response:
        """Return the answer to a question about a solve, from the cache or by a computation.

        Args:
            folder: folder of the solve.
            question: a key that identifies the question among all questions about the solve.
            work: computes the answer, a JSON object, if the cache lacks it.
        """
        saved = stamp(folder)
        key = (folder, saved, question)
        with self._lock:
            packed = self._kept.get(key)
            if packed is not None:
                self._kept.move_to_end(key)
        if packed is None:
            body = bytes(JSONResponse(work()).body)
            packed = compressed(body, QUICK)
            if age(saved) > SETTLED and stamp(folder) == saved:
                self._keep(key, packed)
        return CompressedResponse(packed, str(JSONResponse.media_type))

    def _keep(self, key: tuple[Path, Stamp, Hashable], packed: bytes) -> None:
        with self._lock:
            self._bytes += len(packed) - len(self._kept.pop(key, b""))
            self._kept[key] = packed
            while self._bytes > MOST_BYTES:
                self._bytes -= len(self._kept.popitem(last=False)[1])
