"""Who hears how a solve goes; listeners that cannot end what they report of."""

from __future__ import annotations

import logging
from typing import Any, Protocol, TypeVar, cast

from spewy.errors import error_line
from spewy.job.job import Job
from spewy.records.status import Status
from spewy.run.walked_cost import Estimate

Listener = TypeVar("Listener")
_LOG = logging.getLogger(__name__)


def unfailing(reporter: Listener) -> Listener:
    """The same reporter, silent from the moment on when one of its methods raises; the log tells why.

    Nothing is logged of a pipe that nobody reads any more: who closed it knows.
    """
    return cast(Listener, _Unfailing(reporter))


class _Unfailing:
    def __init__(self, reporter: object) -> None:
        self._reporter: object | None = reporter

    def __getattr__(self, name: str) -> Any:
        def tell(*args: Any) -> None:
            if self._reporter is None:
                return
            try:
                getattr(self._reporter, name)(*args)
            except BrokenPipeError:
                self._reporter = None
            except Exception as error:
                self._reporter = None
                _LOG.warning("progress is told no more: %s", error_line(error))

        return tell


class Reporter(Protocol):
    """Hears how a solve goes; `Silent` is the one that does nothing."""

    def begin(self, job: Job, cost: Estimate, done: int) -> None:
        """Before the first sweep: what it will cost, and how many sweeps earlier runs left."""

    def note(self, text: str) -> None:
        """Anything else that the user should know."""

    def sweep(self, number: int, done: int, total: int) -> None:
        """Within sweep ``number``: visits done so far and in all."""

    def check(self, sweep: int, found: float, unit: str, seconds_left: float | None) -> None:
        """After a check: exploitability in the target's unit, and a forecast."""

    def boards(self, done: int, total: int) -> None:
        """Of a job that deals boards, between deals: those whose classes are being found, or that are judged."""

    def stands(self, status: Status, threads: int) -> None:
        """Every second or so of a solve that deals boards: how it stands; ``threads`` work on it."""

    def end(self) -> None:
        """After the last sweep, also when interrupted."""


class Silent:
    """Reports nothing."""

    def begin(self, job: Job, cost: Estimate, done: int) -> None:
        """Say nothing."""

    def note(self, text: str) -> None:
        """Say nothing."""

    def sweep(self, number: int, done: int, total: int) -> None:
        """Say nothing."""

    def check(self, sweep: int, found: float, unit: str, seconds_left: float | None) -> None:
        """Say nothing."""

    def boards(self, done: int, total: int) -> None:
        """Say nothing."""

    def stands(self, status: Status, threads: int) -> None:
        """Say nothing."""

    def end(self) -> None:
        """Say nothing."""
