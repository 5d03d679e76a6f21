"""Progress on stderr: rich draws bars on a terminal; elsewhere commands print lines, and rich is not loaded."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Self

from spewy.cli.options import is_verbose
from spewy.cli.tables import count, duration, left, say, size, visible_lines
from spewy.run.events import Advanced, Began, Checked, Ended, Event, Noted, Stated

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from spewy.records.status import Status
    from spewy.run.cost import Cost

SECONDS_BEFORE = 0.2
"""Seconds before a bar is first drawn, so that short work does not wait for rich to load."""
SECONDS_BETWEEN = 0.1
"""Seconds between two drawings of a bar, so that drawing takes hardly any time."""
PAUSE = 60.0
"""Seconds between two lines with the status of a solve."""


class Bar:
    """A progress bar with a count of finished units and a text.

    Lines that are written to stderr meanwhile appear above the bar. Only calls of its methods draw the bar, no thread.

    Args:
        total: number of units in all, or None if only texts are shown.
        unit: plural name of the units, shown after the count.
        keep: whether the bar stays on the screen when the work ends.
        time_left: whether to show the remaining time, estimated from the pace so far.
    """

    def __init__(
        self,
        name: str = "",
        total: float | None = None,
        *,
        done: float = 0.0,
        unit: str = "",
        keep: bool = False,
        time_left: bool = True,
    ) -> None:
        self._shown = sys.stderr.isatty()
        self._name, self._total, self._done, self._text = name, total, done, ""
        self._unit, self._keep, self._time_left = unit, keep, time_left
        self._display: tuple[Progress, TaskID] | None = None
        self._next_draw = time.monotonic() + SECONDS_BEFORE

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def move(self, done: float, total: float | None = None) -> None:
        self._done = done
        self._total = self._total if total is None else total
        self._draw()

    def advance(self, units: float = 1) -> None:
        self.move(self._done + units)

    def show(self, text: str) -> None:
        self._text = text
        self._draw()

    def close(self) -> None:
        if self._display is not None:
            self._next_draw = 0.0
            self._draw()
            self._display[0].stop()
            self._display = None
        self._shown = False

    def _draw(self) -> None:
        if not self._shown or time.monotonic() < self._next_draw:
            return
        if self._display is None:
            self._display = self._start()
        progress, task = self._display
        progress.update(
            task,
            completed=self._done,
            total=self._total,
            count=f"{round(self._done, 1):,.12g}/{self._total or 0:,.0f} {self._unit}".rstrip(),
            text=visible_lines(self._text),
            refresh=True,
        )
        self._next_draw = time.monotonic() + SECONDS_BETWEEN

    def _start(self) -> tuple[Progress, TaskID]:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            Progress,
            ProgressColumn,
            TaskProgressColumn,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        columns: list[ProgressColumn] = []
        if self._name:
            columns.append(TextColumn("{task.description}", markup=False))
        if self._total is not None:
            counts = TextColumn("{task.fields[count]}", markup=False)
            columns += [TaskProgressColumn(), BarColumn(), counts, TimeElapsedColumn()]
            columns += [TimeRemainingColumn()] if self._time_left else []
        columns.append(TextColumn("{task.fields[text]}", markup=False))
        console = Console(stderr=True, highlight=False, markup=False, emoji=False)
        progress = Progress(
            *columns,
            console=console,
            auto_refresh=False,
            redirect_stdout=False,
            transient=not self._keep,
        )
        task = progress.add_task(
            visible_lines(self._name), total=self._total, completed=int(self._done), count="", text=""
        )
        progress.start()
        return progress, task


class Lines:
    """A listener that prints a solve's start, checks and notes at once, and its status at most once a minute."""

    def __init__(self) -> None:
        self._last, self._counted = time.monotonic(), "sweep"

    def __call__(self, event: Event) -> None:
        match event:
            case Began():
                self._counted = event.job.counted.removesuffix("s")
                say(f"{event.job.name}: {cost_text(event.cost)}")
                if event.done:
                    say(f"{event.job.name}: continuing after {self._counted} {event.done:,}")
            case Noted():
                say(event.text)
            case Checked():
                say(f"{self._counted} {event.done}: {_check_text(event)}")
            case Stated() if event.status.visits is not None:
                self._now_and_then(f"{event.status.name}: {status_text(event.status, event.threads)}")
            case Advanced() if event.sweep is None:
                self._now_and_then(f"{event.done:,} of {event.total:,} boards done")

    def _now_and_then(self, text: str) -> None:
        now = time.monotonic()
        if now - self._last >= PAUSE:
            self._last = now
            say(text)

    def close(self) -> None:
        """Do nothing, since nothing is open."""


class SolveBar(Lines):
    """A listener of a solve that draws a bar of the sweeps, with the exploitability beside it."""

    def __init__(self) -> None:
        super().__init__()
        self._bar: Bar | None = None

    def __call__(self, event: Event) -> None:
        match event:
            case Advanced() if event.sweep is not None:
                if self._bar is not None:
                    self._bar.move(event.sweep - 1 + event.done / max(event.total, 1))
            case Checked():
                if self._bar is not None:
                    self._bar.show(_check_text(event))
            case Ended():
                self.close()
            case _:
                super().__call__(event)
        if isinstance(event, Began) and event.job.dealing is None:
            job = event.job
            self._bar = Bar(
                job.name, job.last_sweep, done=event.done, unit="sweeps", keep=True, time_left=False
            )

    def _now_and_then(self, text: str) -> None:
        if self._bar is None:
            self._bar = Bar(keep=True)
        self._bar.show(text)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def draws_bars() -> bool:
    """Whether to draw bars: stderr is a terminal, and no verbose log is printed between the drawings."""
    return sys.stderr.isatty() and not is_verbose()


def solve_listener() -> Lines:
    return SolveBar() if draws_bars() else Lines()


class NowAndThen:
    """Prints progress at most once every `SECONDS` seconds, and always at the end."""

    SECONDS = 5.0

    def __init__(self) -> None:
        self._last: float | None = None

    def say(self, text: str, done: int, total: int, seconds_left: float) -> None:
        now, last = time.monotonic(), self._last
        if last is not None and now - last < self.SECONDS and done < total:
            return
        self._last = now
        # the first estimate of the time left would count the start of the worker processes as work
        say(text if last is None or done == total else f"{text}, {left(seconds_left)}")


@contextmanager
def counting(name: str) -> Iterator[Callable[[int, int], None]]:
    """Yield a function that gets the numbers of finished and all units, and draws a bar (no terminal: prints lines)."""
    began = last = time.monotonic()
    first: tuple[float, int] | None = None

    def watch(done: int, total: int) -> None:
        nonlocal first, last
        bar.move(done, total)
        now = time.monotonic()
        # rarer lines in longer work: hours of it should not fill a file
        if sys.stderr.isatty() or now - last < max(NowAndThen.SECONDS, (now - began) / 20):
            return
        last = now
        if first is None or done < first[1]:  # a pace from the beginning would count the start of processes
            first = now, done
        more = done - first[1]
        say(
            f"{done:,} of {total:,} {name}"
            + (f", {left((now - first[0]) * (total - done) / more)}" if more and done < total else "")
        )

    with Bar(name) as bar:
        yield watch


def check_text(exploitability: float, unit: str, seconds_left: float | None) -> str:
    """Exploitability in the target's unit, and the time left (None: unknown) unless it is below a second."""
    exploitability = max(exploitability, 0.0)  # rounding errors can make it negative
    amount = f"{exploitability:.4g}%" if unit == "%" else f"{exploitability:.4g} {unit}"
    if seconds_left is None:
        return f"exploitability {amount}, time left unknown"
    return f"exploitability {amount}" + (f", {left(seconds_left)}" if seconds_left >= 1 else "")


def _check_text(check: Checked) -> str:
    return check_text(check.exploitability, check.unit, check.seconds_left)


def status_text(status: Status, threads: int) -> str:
    pace = status.per_second
    stage = () if status.stage is None else ("stage {} of {}".format(*status.stage),)
    parts = [*stage, f"{status.deals:,} deals"]
    if pace is not None:
        parts.append(f"{pace:,.0f} per second ({pace / threads:,.0f} per core)")
    visits = ", ".join(f"{least:,}/{median:,.0f}" for least, median in status.visits or ())
    parts.append(f"visits of a board bucket by round (fewest/median) {visits}")
    if status.judged is not None:
        parts.append(check_text(status.judged.exploitability, status.judged.unit, 0.0))
    if status.seconds_left is not None:
        parts.append(f"{duration(status.seconds_left)} left")
    return "; ".join(parts)


def cost_text(cost: Cost) -> str:
    counts = ", ".join(count(*counted) for counted in cost.counts)
    return f"{counts}, about {size(cost.memory_bytes)} of memory and {size(cost.disk_bytes)} on disk"
