"""A cache of answers about solutions: a question that was asked before, by any reader, is not computed again."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any
from weakref import WeakKeyDictionary

from starlette.responses import JSONResponse, Response

from spewy.look.solution import Solution

MOST_BYTES = 8 << 20
"""Largest size in bytes of the cached answers about a solution; a decision of hold'em takes 0.1 to 0.4 MB."""


class KeptAnswers:
    """A cache of the last answers about each open `Solution`.

    Its answers never become outdated, since an open `Solution` never changes: after a save the solve is opened as
    another `Solution`.
    """

    def __init__(self) -> None:
        self._kept: WeakKeyDictionary[Solution, OrderedDict[Hashable, bytes]] = WeakKeyDictionary()
        self._lock = threading.Lock()

    def answer(self, solution: Solution, question: Hashable, work: Callable[[], Any]) -> Response:
        """Return the answer to a question about a solution, from the cache or by a computation.

        Args:
            solution: the solution.
            question: a key that identifies the question among all questions about the solution.
            work: computes the answer, a JSON object, if the cache lacks it.
        """
        with self._lock:
            kept = self._kept.setdefault(solution, OrderedDict())
            body = kept.get(question)
        if body is None:
            body = bytes(JSONResponse(work()).body)
        with self._lock:
            kept[question] = body
            kept.move_to_end(question)
            while sum(map(len, kept.values())) > MOST_BYTES:
                kept.popitem(last=False)
        return Response(body, media_type=JSONResponse.media_type)
