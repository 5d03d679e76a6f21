"""Reporters: objects whose methods are called with the progress of a solve. Their errors do not end the solve."""

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
    """Wrap a reporter: once one of its methods has raised an error, none of them is called any more.

    The error is logged, unless it reports a closed pipe: the user has closed the pipe on purpose.
    """
    return cast(Listener, _Unfailing(reporter))


class _Unfailing:
    """Passes calls of any method on to a reporter, until one of them raises an error."""

    def __init__(self, reporter: object) -> None:
        self._reporter: object | None = reporter

    def __getattr__(self, name: str) -> Any:
        def call(*args: Any) -> None:
            if self._reporter is None:
                return
            try:
                getattr(self._reporter, name)(*args)
            except BrokenPipeError:
                self._reporter = None
            except Exception as error:
                self._reporter = None
                _LOG.warning("the reporter failed, so no more progress is reported: %s", error_line(error))

        return call


class Reporter(Protocol):
    """An object whose methods are called with the progress of a solve."""

    def begin(self, job: Job, cost: Cost, done: int) -> None:
        """Called before the first sweep or deal of a run.

        Args:
            job: the job that is solved.
            cost: estimated cost of the solve.
            done: number of sweeps or deals of earlier runs.
        """

    def note(self, text: str) -> None:
        """Called with a message for the user."""

    def sweep(self, number: int, done: int, total: int) -> None:
        """Called during sweep ``number``, with the numbers of finished visits and of all visits of a sweep."""

    def check(self, done: int, exploitability: float, unit: str, seconds_left: float | None) -> None:
        """Called after a check.

        Args:
            done: number of sweeps or deals so far.
            exploitability: the exploitability in ``unit``.
            unit: unit of the job's target.
            seconds_left: forecast of the seconds until the target is reached, 0 if it is; None: no forecast.
        """

    def boards(self, done: int, total: int) -> None:
        """Called with the numbers of finished and of all boards, during long work on boards.

        Such work computes board buckets, or measures exploitability flop by flop.
        """

    def status(self, status: Status, threads: int) -> None:
        """Called about every second, with the status of the solve and the number of its threads."""

    def end(self) -> None:
        """Called after the last sweep or deal, also when interrupted."""


class Silent:
    """A reporter that ignores everything."""

    def begin(self, job: Job, cost: Cost, done: int) -> None:
        """Ignore the start of a run."""

    def note(self, text: str) -> None:
        """Ignore a message for the user."""

    def sweep(self, number: int, done: int, total: int) -> None:
        """Ignore the progress of a sweep."""

    def check(self, done: int, exploitability: float, unit: str, seconds_left: float | None) -> None:
        """Ignore the result of a check."""

    def boards(self, done: int, total: int) -> None:
        """Ignore the progress through boards."""

    def status(self, status: Status, threads: int) -> None:
        """Ignore the status of the solve."""

    def end(self) -> None:
        """Ignore the end of a run."""
