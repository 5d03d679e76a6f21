"""Listeners to the progress of a solve, whose errors do not end the solve."""

from __future__ import annotations

import logging
from typing import Any, Protocol, TypeVar, cast

from spewy.errors import error_line
from spewy.job.job import Job
from spewy.records.status import Status
from spewy.run.cost import Cost

Listener = TypeVar("Listener")
_LOG = logging.getLogger(__name__)


def unfailing(reporter: Listener) -> Listener:
    """Wrap a reporter so that it stays silent after one of its methods raises; the error is logged.

    A closed pipe is not logged, since whoever closed the pipe knows.
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
    """Listens to the progress of a solve."""

    def begin(self, job: Job, cost: Cost, done: int) -> None:
        """Called before the first sweep or deal; ``done`` is their number from earlier runs."""

    def note(self, text: str) -> None:
        """Called with a message for the user."""

    def sweep(self, number: int, done: int, total: int) -> None:
        """Called within sweep ``number``, with the visits done so far and in all."""

    def check(self, done: int, exploitability: float, unit: str, seconds_left: float | None) -> None:
        """Called after a check; the exploitability is in the target's unit, ``seconds_left`` a forecast."""

    def boards(self, done: int, total: int) -> None:
        """Called while boards are bucketed or measured, with the boards done so far and in all."""

    def status(self, status: Status, threads: int) -> None:
        """Called about every second, with the status of the solve and the number of its threads."""

    def end(self) -> None:
        """Called after the last sweep or deal, also when interrupted."""


class Silent:
    """A reporter that ignores everything."""

    def begin(self, job: Job, cost: Cost, done: int) -> None:
        """Say nothing."""

    def note(self, text: str) -> None:
        """Say nothing."""

    def sweep(self, number: int, done: int, total: int) -> None:
        """Say nothing."""

    def check(self, done: int, exploitability: float, unit: str, seconds_left: float | None) -> None:
        """Say nothing."""

    def boards(self, done: int, total: int) -> None:
        """Say nothing."""

    def status(self, status: Status, threads: int) -> None:
        """Say nothing."""

    def end(self) -> None:
        """Say nothing."""
