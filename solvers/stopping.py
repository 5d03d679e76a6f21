"""Cancellation: a long computation regularly calls a function that says whether to stop."""

from __future__ import annotations

from collections.abc import Callable

from compiled.errors import SpewyError

Stopped = Callable[[], bool]
"""A function that returns True when a computation should stop, such as ``is_set`` of a `threading.Event`.

Several threads may call the function at once.
"""


class StoppedError(SpewyError):
    """A computation was stopped before its end."""


def never() -> bool:
    """Return False: the computation is never stopped."""
    return False


def go_on(stopped: Stopped) -> None:
    """Raise `StoppedError` if the computation should stop."""
    if stopped():
        raise StoppedError
