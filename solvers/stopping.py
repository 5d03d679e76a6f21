"""Answers that may be given up on the way: whoever computes one asks now and then whether anybody still waits."""

from __future__ import annotations

from collections.abc import Callable

Stopped = Callable[[], bool]
"""Whether to give up, such as ``is_set`` of a `threading.Event`; asked by several threads at once."""


class StoppedError(Exception):
    """An answer was given up."""


def never() -> bool:
    """Do not give up."""
    return False


def go_on(stopped: Stopped) -> None:
    """Do nothing, as long as the answer is waited for.

    Raises:
        StoppedError: it is not, any more.
    """
    if stopped():
        raise StoppedError
