"""Events of a run, and listeners: functions that are called with each event."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from spewy.errors import error_line

if TYPE_CHECKING:
    from spewy.job.job import Job
    from spewy.records.status import Status
    from spewy.run.cost import Cost

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Began:
    """Event: the first sweep or deal of a run comes next.

    Attributes:
        done: number of sweeps or deals of earlier runs.
    """

    job: Job
    cost: Cost
    done: int


@dataclass(frozen=True)
class Noted:
    """A message for the user."""

    text: str


@dataclass(frozen=True)
class Advanced:
    """A part of a sweep, or of long work on boards, is done.

    Long work on boards computes board buckets, or measures exploitability flop by flop.

    Attributes:
        done: number of finished visits (to chunks, see the glossary) or boards.
        total: number of all visits of the sweep, or of all boards.
        sweep: number of the sweep, from 1; None for work on boards.
    """

    done: int
    total: int
    sweep: int | None = None


@dataclass(frozen=True)
class Stated:
    """The status of a solve, about every second.

    Attributes:
        threads: number of threads or processes that work on the solve.
    """

    status: Status
    threads: int


@dataclass(frozen=True)
class Checked:
    """Exploitability was measured.

    Attributes:
        done: number of sweeps or deals so far.
        exploitability: the exploitability in ``unit``.
        unit: unit of the job's target, such as "%".
        seconds_left: forecast of the seconds until the target is reached, 0 if it is; None: no forecast.
    """

    done: int
    exploitability: float
    unit: str
    seconds_left: float | None


@dataclass(frozen=True)
class Ended:
    """The last sweep or deal is done, or the solve was interrupted; everything is saved."""


Event: TypeAlias = Began | Noted | Advanced | Stated | Checked | Ended
Listener = Callable[[Event], object]
"""Function that is called with each event of a solve."""

T = TypeVar("T")


def noting(tell: Listener) -> Callable[[str], None]:
    """Return a function that sends a text to a listener, as a `Noted` event."""

    def note(text: str) -> None:
        tell(Noted(text))

    return note


def unfailing(listen: Callable[[T], object] | None) -> Callable[[T], None]:
    """Return a listener that calls ``listen`` with each event until ``listen`` raises an error; None: ignore events.

    The error is logged, unless it reports a closed pipe: the user has closed the pipe on purpose.
    """

    def tell(event: T) -> None:
        nonlocal listen
        if listen is None:
            return
        try:
            listen(event)
        except BrokenPipeError:
            listen = None
        except Exception as error:
            listen = None
            _LOG.warning("the listener failed, so no more progress is reported: %s", error_line(error))

    return tell
