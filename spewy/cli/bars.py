"""Progress bars on stderr: rich draws them on a terminal; elsewhere rich is not loaded."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Self

from spewy.cli.tables import visible_lines

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

SECONDS_BEFORE = 0.2
"""Seconds before a bar is first drawn, so that short work does not wait for rich to load."""
SECONDS_BETWEEN = 0.1
"""Seconds between two drawings of a bar, so that drawing takes hardly any time."""


class Bar:
    """A progress bar with a count of finished units and a text.

    Lines that are written to stderr meanwhile appear above the bar. Each call of a method may draw the bar; no thread
    draws it between calls.

    Args:
        name: Text before the bar.
        total: Number of units in all, or None if only texts are shown.
        done: Number of units that are done already.
        unit: Plural name of the units, shown after the count.
        keep: Whether the bar stays on the screen when the work ends.
        time_left: Whether to show the remaining time, estimated from the pace so far.
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
        """Set the number of finished units, and the total if it was unknown."""
        self._done = done
        self._total = self._total if total is None else total
        self._draw()

    def advance(self, units: float = 1) -> None:
        """Count more units as finished."""
        self.move(self._done + units)

    def show(self, text: str) -> None:
        """Show a text to the right of the bar."""
        self._text = text
        self._draw()

    def close(self) -> None:
        """Draw the bar a last time; clear it unless it is kept on the screen."""
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
