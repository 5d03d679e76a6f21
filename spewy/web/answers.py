"""Answers of the server: routes that call a function in a thread, JSON and compressed bodies, errors as one line.

A route's function gets the parameters of the request and returns a JSON object. Bad input is answered with status 400
and ``{"error": text}``, a folder that is not solved yet with 409, and an unexpected error with 500 and no details; its
traceback goes to the log.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import logging
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from functools import cache
from importlib.util import find_spec
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from lockers import DamagedLockerError
from spewy.errors import InputError, MissingError, NotSolvedError, SpewyError, one_line, shown
from spewy.match.table import BotError
from spewy.system.failures import failure_text
from spewy.system.textfile import MOST_NESTED, nested_deeper

if TYPE_CHECKING:
    import pandas as pd

LOG = logging.getLogger(__name__)
MOST_OF_PARAMETER = 20_000
"""Largest length of a parameter in characters."""
BODY_SECONDS = 30.0
"""Seconds within which the whole body of a request must arrive."""
LEFT = 499
"""HTTP status in the log for a request whose client closed the connection before the answer."""
FAILED = "the answer failed unexpectedly; the log on the terminal says why"
DAMAGED = "the saved solve is damaged; restore its folder from a copy, or solve its job again"
Parameters = Mapping[str, Any]
T = TypeVar("T")
Tasks: TypeAlias = "SimpleQueue[tuple[Future[Any], Callable[[], Any]]]"
N_THREADS = 8
"""Number of answers that are computed at the same time; further questions wait."""
QUICK, SMALL = 4, 9
"""Levels of compression: for answers that a click waits for, and for files that are compressed once."""


def get(path: str, function: Callable[[Parameters], Any]) -> Route:
    """Return a GET route, which changes nothing; its function gets the parameters of the URL."""

    async def answer(request: Request) -> Response:
        answering = asyncio.ensure_future(_answered(function, dict(request.query_params)))
        leaving = asyncio.ensure_future(_left(request))
        try:
            await asyncio.wait({answering, leaving}, return_when=asyncio.FIRST_COMPLETED)
            return answering.result() if answering.done() else Response(status_code=LEFT)
        finally:
            answering.cancel()
            leaving.cancel()

    return Route(path, answer, methods=["GET"], name=path)


def post(path: str, function: Callable[[Parameters], Any]) -> Route:
    """Return a POST route, which changes something; its function gets the JSON object in the request's body."""

    async def answer(request: Request) -> Response:
        try:
            parameters = json.loads(await asyncio.wait_for(request.body(), BODY_SECONDS))
            if nested_deeper(parameters, MOST_NESTED):
                return _response(
                    *_error(400, f"expected at most {MOST_NESTED} nested objects and lists of JSON")
                )
            # Python reads NaN, and halves of surrogate pairs, but no answer can repeat them.
            json.dumps(parameters, ensure_ascii=False, allow_nan=False).encode()
        except TimeoutError:
            return _response(*_error(408, "the request did not come in time"))
        except (ValueError, RecursionError):
            return _response(*_error(400, "the request is not JSON"))
        if not isinstance(parameters, dict):
            return _response(*_error(400, "expected a JSON object in the request"))
        return await _answered(function, parameters)

    return Route(path, answer, methods=["POST"], name=path)


def text(parameters: Parameters, name: str, default: str | None = None) -> str:
    """Return the text of the parameter ``name``, or ``default`` if the request lacks the parameter."""
    value = parameters.get(name, default)
    if not isinstance(value, str):
        raise InputError(
            f"parameter {name}: expected text, found {'none' if value is None else shown(value)}"
        )
    if len(value) > MOST_OF_PARAMETER:
        raise InputError(f"parameter {name}: expected at most {MOST_OF_PARAMETER:,} characters")
    return value


def optional(parameters: Parameters, name: str) -> str | None:
    """Return the text of the parameter ``name``; None if it is missing or empty."""
    return text(parameters, name, "") or None


def filters_of(parameters: Parameters) -> list[str]:
    """Return the hand filters in the parameter ``filter``, where semicolons separate them."""
    return [each for each in text(parameters, "filter", "").split(";") if each.strip()]


def require_package(package: str, extra: str) -> None:
    if find_spec(package) is None:
        raise MissingError(
            f"this needs the package {package}, which is not installed (pip install 'spewy[{extra}]')"
        )


def csv(frame: pd.DataFrame) -> Response:
    return Response(frame.to_csv(index=False), media_type="text/csv; charset=utf-8")


def answer_of(function: Callable[[Parameters], Any], parameters: Parameters) -> tuple[int, Any]:
    """Call a route's function; return the HTTP status, and the function's result or ``{"error": text}``."""
    try:
        return 200, function(parameters)
    except NotSolvedError as error:
        return _error(409, str(error))
    except MissingError as error:
        return _error(501, str(error))
    except DamagedLockerError as error:
        return _error(400, f"{DAMAGED}: {error}")
    except Exception as error:
        if isinstance(error, SpewyError) and not isinstance(error, BotError):  # which is a bug of a bot
            return _error(400, str(error))
        known = failure_text(error)
        if known is not None:
            return _error(503, known)
        LOG.error("unexpected %s", type(error).__name__, exc_info=error)
        return _error(500, FAILED)


async def refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    answer = _response(*_error(error.status_code, f"{shown(request.url.path)}: {error.detail}"))
    answer.headers.update(error.headers or {})
    return answer


async def failed(request: Request, error: Exception) -> Response:
    """Answer a request that failed unexpectedly, outside of `answer_of`."""
    del request, error
    return _response(*_error(500, FAILED))


async def _left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _answered(function: Callable[[Parameters], Any], parameters: Parameters) -> Response:
    return await in_thread(lambda: _response(*answer_of(function, parameters)))


def _response(status: int, found: Any) -> Response:
    return found if isinstance(found, Response) else JSONResponse(found, status)


def _error(status: int, message: str) -> tuple[int, dict[str, str]]:
    return status, {"error": one_line(message, 2000)}


async def in_thread(function: Callable[[], T]) -> T:
    """Run a function in one of the server's `N_THREADS` threads and return its result.

    If this coroutine is cancelled before the function has begun, the function does not run.
    """
    future = Future[T]()
    _threads().put((future, function))
    return await asyncio.wrap_future(future)


@cache
def _threads() -> Tasks:
    """Start `N_THREADS` threads, and return the queue from which they take functions.

    They are daemons, unlike those of an executor: a computation that still runs does not delay the end of the process.
    """
    tasks: Tasks = SimpleQueue()
    for number in range(N_THREADS):
        threading.Thread(target=_run, args=(tasks,), name=f"answers-{number}", daemon=True).start()
    return tasks


def _run(tasks: Tasks) -> None:
    while True:
        future, function = tasks.get()
        if not future.set_running_or_notify_cancel():  # nobody waits for the result any more
            continue
        try:
            future.set_result(function())
        except BaseException as error:
            future.set_exception(error)


class CompressedResponse(Response):
    """An answer whose body is compressed by gzip; a client that does not accept gzip gets the plain body."""

    def __init__(self, packed: bytes, media_type: str, headers: dict[str, str] | None = None) -> None:
        more = {"content-encoding": "gzip", "vary": "accept-encoding", **(headers or {})}
        super().__init__(packed, headers=more, media_type=media_type)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not _accepts_gzip(Headers(scope=scope).get("accept-encoding", "")):
            self.body = gzip.decompress(self.body)
            self.headers["content-length"] = str(len(self.body))
            del self.headers["content-encoding"]
        await super().__call__(scope, receive, send)


def compressed(body: bytes, level: int) -> bytes:
    return gzip.compress(body, level, mtime=0)


def _accepts_gzip(encodings: str) -> bool:
    for encoding in encodings.lower().split(","):
        name, _, weight = encoding.replace(" ", "").partition(";q=")
        if name == "gzip":
            return weight.strip("0.") != "" or not weight
    return False
