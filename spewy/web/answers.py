"""JSON answers of the server: routes that call a function, and errors as one line of text.

A route's function gets the parameters of the request and returns a JSON object. Bad input is answered with status 400
and ``{"error": text}``, a folder that is not solved yet with 409, and an unexpected error with 500 and no details; its
traceback goes to the log.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from buckets.errors import BucketError
from lockers import LockerError
from solvers.errors import SolverError
from spewy.errors import InputError, MissingError, NotSolvedError, SpewyError, one_line, shown
from spewy.system.failures import failure_text

LOG = logging.getLogger(__name__)
MOST_OF_PARAMETER = 20_000
"""Largest length of a parameter in characters."""

Parameters = Mapping[str, Any]


def get(path: str, function: Callable[[Parameters], Any]) -> Route:
    """Return a route for a question, which changes nothing: its parameters are those of the address."""

    async def answer(request: Request) -> Response:
        return await _answered(function, dict(request.query_params))

    return Route(path, answer, methods=["GET"], name=path)


def post(path: str, function: Callable[[Parameters], Any]) -> Route:
    """Return a route for a request that changes something: its parameters are the JSON object in its body."""

    async def answer(request: Request) -> Response:
        try:
            parameters = json.loads(await request.body())
        except (ValueError, RecursionError):
            return JSONResponse({"error": "the request is not JSON"}, 400)
        if not isinstance(parameters, dict):
            return JSONResponse({"error": "expected a JSON object in the request"}, 400)
        return await _answered(function, parameters)

    return Route(path, answer, methods=["POST"], name=path)


def text(parameters: Parameters, name: str, default: str | None = None) -> str:
    """Return a parameter that is text.

    Raises:
        InputError: the parameter is missing, too long, or no text.
    """
    value = parameters.get(name, default)
    if not isinstance(value, str):
        raise InputError(
            f"parameter {name}: expected text, found {'none' if value is None else shown(value)}"
        )
    if len(value) > MOST_OF_PARAMETER:
        raise InputError(f"parameter {name}: expected at most {MOST_OF_PARAMETER:,} characters")
    return value


def optional(parameters: Parameters, name: str) -> str | None:
    """Return a parameter that is text; None if it is missing or empty.

    Raises:
        InputError: the parameter is too long, or no text.
    """
    return text(parameters, name, "") or None


def answer_of(function: Callable[[Parameters], Any], parameters: Parameters) -> tuple[int, Any]:
    """Call a function, and return the status of the answer and the function's result or ``{"error": text}``."""
    try:
        return 200, function(parameters)
    except NotSolvedError as error:
        return _error(409, str(error))
    except MissingError as error:
        return _error(501, str(error))
    except (SpewyError, LockerError, BucketError, SolverError) as error:
        return _error(400, str(error))
    except Exception as error:
        known = failure_text(error)
        if known is not None:
            return _error(503, known)
        LOG.error("unexpected %s", type(error).__name__, exc_info=error)
        return _error(500, "the answer failed unexpectedly; the log says why")


async def _answered(function: Callable[[Parameters], Any], parameters: Parameters) -> Response:
    """Call a function in a thread, and return its result or its error as a response."""
    status, found = await run_in_threadpool(answer_of, function, parameters)
    return found if isinstance(found, Response) else JSONResponse(found, status)


def _error(status: int, message: str) -> tuple[int, dict[str, str]]:
    return status, {"error": one_line(message, 2000)}
