"""Progress of a solve on stderr: a bar on a terminal, otherwise a line per check."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from spewy.cli.bars import Bar
from spewy.cli.options import is_verbose
from spewy.cli.tables import count, duration, left, size, visible_lines

if TYPE_CHECKING:
    from spewy.job.job import Job
    from spewy.records.status import Status
    from spewy.run.cost import Cost

PAUSE = 60.0
"""Seconds between two lines with the status of a solve."""


class Lines:
    """Prints a line at the start of a solve, and a line per check."""

    def __init__(self) -> None:
        self._last, self._counted = time.monotonic(), "sweep"

    def begin(self, job: Job, cost: Cost, done: int) -> None:
        """Print the cost of the solve, and how much earlier runs have done."""
        self._counted = "deal" if job.sampled else "sweep"
        say(f"{job.name}: {cost_text(cost)}")
        if done:
            say(f"{job.name}: going on after {self._counted} {done:,}")

    def note(self, text: str) -> None:
        """Print a note."""
        say(text)

    def sweep(self, number: int, done: int, total: int) -> None:
        """Say nothing."""

    def check(self, done: int, exploitability: float, unit: str, seconds_left: float | None) -> None:
        """Print the exploitability."""
        say(f"{self._counted} {done}: {check_text(exploitability, unit, seconds_left)}")

    def boards(self, done: int, total: int) -> None:
        """Print the number of boards, at most once a minute."""
        self._now_and_then(f"{done:,} of {total:,} boards looked at")

    def status(self, status: Status, threads: int) -> None:
        """Print the status of a solve by dealt boards, at most once a minute; other solves print checks."""
        if status.visits is not None:
            self._now_and_then(f"{status.name}: {status_text(status, threads)}")

    def end(self) -> None:
        """Say nothing."""

    def _now_and_then(self, text: str) -> None:
        """Print a text, unless the last one is less than a minute old."""
        now = time.monotonic()
        if now - self._last >= PAUSE:
            self._last = now
            say(text)


class SolveBar(Lines):
    """Draws a bar of the sweeps up to ``max_sweeps``, with the time left until the target."""

    def __init__(self) -> None:
        super().__init__()
        self._bar: Bar | None = None

    def begin(self, job: Job, cost: Cost, done: int) -> None:
        """Print the cost of the solve, and show the bar."""
        super().begin(job, cost, done)
        if not job.sampled:
            self._bar = Bar(job.name, job.last_sweep, done=done, unit="sweeps", keep=True, time_left=False)

    def sweep(self, number: int, done: int, total: int) -> None:
        """Move the bar, within a sweep too."""
        if self._bar is not None:
            self._bar.move(number - 1 + done / max(total, 1))

    def check(self, done: int, exploitability: float, unit: str, seconds_left: float | None) -> None:
        """Write the exploitability behind the bar."""
        if self._bar is not None:
            self._bar.show(check_text(exploitability, unit, seconds_left))

    def boards(self, done: int, total: int) -> None:
        """Show the number of boards in one line."""
        self._in_one_line(f"{done:,} of {total:,} boards looked at")

    def status(self, status: Status, threads: int) -> None:
        """Show how a solve by dealt boards stands in one line."""
        if status.visits is not None:
            self._in_one_line(f"{status.name}: {status_text(status, threads)}")

    def _in_one_line(self, text: str) -> None:
        if self._bar is None:
            self._bar = Bar(keep=True)
        self._bar.show(text)

    def end(self) -> None:
        """Close the bar in its last state."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def solve_reporter() -> Lines:
    """Choose a bar if stderr is a terminal without log lines, otherwise lines."""
    return SolveBar() if sys.stderr.isatty() and not is_verbose() else Lines()


class NowAndThen:
    """Prints progress at most once every few seconds, and always at the end."""

    SECONDS = 5.0

    def __init__(self) -> None:
        self._told = -self.SECONDS

    def say(self, text: str, done: int, total: int, seconds_left: float) -> None:
        """Print a line with the time left."""
        now = time.monotonic()
        if now - self._told < self.SECONDS and done < total:
            return
        self._told = now
        say(f"{text}, {left(seconds_left)}" if done < total else text)


class Compiling(logging.Handler):
    """Prints once that functions are being compiled, which takes up to half a minute."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self._told = False

    def emit(self, record: logging.LogRecord) -> None:
        """Print a warning, or print once that functions are being compiled."""
        if record.levelno >= logging.WARNING:
            say(record.getMessage())
        elif not self._told:
            self._told = True
            say("compiling what this needs, once: a few seconds up to half a minute")


def say(text: str) -> None:
    """Print a line on stderr."""
    click.echo(visible_lines(text), err=True)


@contextmanager
def counting(name: str) -> Iterator[Callable[[int, int], None]]:
    """Yield a function that moves a bar, given finished and total units; the bar appears on a terminal only."""
    with Bar(name) as bar:
        yield bar.move


def check_text(exploitability: float, unit: str, seconds_left: float | None) -> str:
    """Format a check's exploitability in the target's unit."""
    exploitability = max(exploitability, 0.0)  # rounding
    amount = f"{exploitability:.4g}%" if unit == "%" else f"{exploitability:.4g} {unit}"
    goes_on = "" if seconds_left is None else f", {left(seconds_left)}"
    return f"exploitability {amount}{goes_on}"


def status_text(status: Status, threads: int) -> str:
    """Describe the status of a solve by dealt boards in one line."""
    pace = status.per_second
    parts = [f"{status.deals:,} deals"]
    if pace is not None:
        parts.append(f"{pace:,.0f} per second ({pace / threads:,.0f} per core)")
    visits = ", ".join(f"{least:,}/{median:,.0f}" for least, median in status.visits or ())
    parts.append(f"visits of a board bucket by round (fewest/median) {visits}")
    if status.judged is not None:
        parts.append(check_text(status.judged.exploitability, status.judged.unit, None))
    if status.seconds_left is not None:
        parts.append(f"{duration(status.seconds_left)} left")
    return "; ".join(parts)


def cost_text(cost: Cost) -> str:
    """Describe the cost of a solve in one line."""
    counts = ", ".join(count(*counted) for counted in cost.counts)
    return f"{counts}, about {size(cost.memory_bytes)} of memory and {size(cost.disk_bytes)} on disk"
