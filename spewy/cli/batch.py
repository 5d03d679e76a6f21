"""``spewy solve`` with several jobs or boards."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from spewy.cli.bars import Bar
from spewy.cli.dask import on_cluster
from spewy.cli.options import is_verbose
from spewy.cli.progress import check_text, say
from spewy.cli.tables import count, duration, json_text, number, render, size
from spewy.errors import one_line
from spewy.system.interrupts import INTERRUPTED

if TYPE_CHECKING:
    from rich.table import Table

    from spewy.batch.batch import Batch, BatchJob, Outcome
    from spewy.batch.run import BatchCost
    from spewy.batch.work import News

FAILED = 1
QUIET_SECONDS = 1.0
"""Shortest time in seconds between two printed checks of a job; a small river has hundreds of checks a second."""
SHOWN_RUNNING = 4
"""Largest number of running jobs that are listed beside the progress bar."""


def solve_batch(
    files: Sequence[Path],
    overrides: Sequence[str],
    out: Path | None,
    jobs: int | None,
    again: bool,
    save_every: float | None,
    as_json: bool,
    address: str | None = None,
) -> int:
    """Solve a batch, print its results, and return the exit code.

    The arguments are those of ``spewy solve``: ``jobs`` is the number of solves at the same time, and ``address`` that
    of a Dask cluster.
    """
    from spewy.batch.batch import Batch
    from spewy.batch.run import run_batch

    batch = replace(Batch.load(files, overrides, out), save_every=save_every, again=again)
    batch.write_weights()
    with on_cluster(address, jobs, "--jobs"):
        outcomes = run_batch(batch, batch_reporter(batch), jobs)
    click.echo(json_text(batch.to_json(outcomes)) if as_json else render(table(batch, outcomes)))
    return _verdict(batch, outcomes)


class BatchLines:
    """A reporter of a batch that prints lines, each of which begins with a job's name."""

    def __init__(self, batch: Batch) -> None:
        self._batch = batch
        self._printed_at: dict[int, float] = {}
        self._ended = 0

    def laid_out(self, done: int, total: int) -> None:
        """Print nothing while the boards of the jobs are enumerated."""

    def begin(self, batch: Batch, cost: BatchCost) -> None:
        """Print the number of jobs and their cost."""
        for line in cost_lines(batch, cost):
            say(line)

    def started(self, number: int) -> None:
        """Print the folder of a job that starts, and the sweep after which the job continues."""
        entry, sweeps = self._batch.entries[number], self._batch.stored[number].sweeps
        further = f", continuing after sweep {sweeps}" if sweeps and not self._batch.again else ""
        say(f"{entry.label}: lockers in {entry.folder}{further}")

    def check(self, number: int, check: News) -> None:
        """Print the exploitability that job ``number`` has reached, at most once a second for each job."""
        now = time.monotonic()
        if now - self._printed_at.get(number, -QUIET_SECONDS) >= QUIET_SECONDS:
            self._printed_at[number] = now
            text = check_text(check.found, check.unit, check.seconds_left)
            say(f"{self._batch.entries[number].label}: sweep {check.sweep}: {text}")

    def ended(self, number: int, outcome: Outcome) -> None:
        """Print how a job ended."""
        self._ended += 1
        place = f"{self._ended} of {len(self._batch.to_do)}"
        say(f"{self._batch.entries[number].label}: {ending(outcome)} ({place})")
        if outcome.details and is_verbose():
            say(outcome.details)

    def stopping(self) -> None:
        """Print that the running jobs are being saved."""
        say("interrupted: the running jobs are being saved; Ctrl-C again stops them at once")

    def end(self) -> None:
        """Print nothing at the end of the batch; the command prints the results."""


class BatchBar(BatchLines):
    """A reporter of a batch that draws a bar of the jobs, with the exploitability of running jobs beside it."""

    def __init__(self, batch: Batch) -> None:
        super().__init__(batch)
        self._bar: Bar | None = None
        self._running: dict[int, str] = {}

    def laid_out(self, done: int, total: int) -> None:
        """Show for how many jobs the boards are enumerated, before the solves start."""
        if self._bar is None:
            self._bar = self._new("preparing", total)
        self._bar.move(done)

    def begin(self, batch: Batch, cost: BatchCost) -> None:
        """Print the cost, and draw the bar."""
        self.end()
        super().begin(batch, cost)
        if batch.to_do:
            self._bar = self._new("solving", len(batch.to_do))

    def started(self, number: int) -> None:
        """Show the job as running."""
        self._running[number] = "..."
        self._show()

    def check(self, number: int, check: News) -> None:
        """Show the exploitability of a job beside the bar."""
        unit = "%" if check.unit == "%" else f" {check.unit}"
        self._running[number] = f"{max(check.found, 0.0):.3g}{unit}"
        self._show()

    def ended(self, number: int, outcome: Outcome) -> None:
        """Move the bar; print the error of a job that failed."""
        self._running.pop(number, None)
        if outcome.error is not None:
            super().ended(number, outcome)
        if self._bar is not None:
            self._bar.advance()
        self._show()

    def end(self) -> None:
        """Close the bar in its last state."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None

    def _new(self, name: str, total: int) -> Bar:
        return Bar(name, total, unit="jobs", keep=True, time_left=False)

    def _show(self) -> None:
        if self._bar is not None:
            entries = self._batch.entries
            shown = [f"{entries[i].label} {amount}" for i, amount in self._running.items()][:SHOWN_RUNNING]
            self._bar.show(", ".join(shown))


def batch_reporter(batch: Batch) -> BatchLines:
    """Return a reporter that draws a bar, or one that prints lines if stderr is no terminal or shows logs."""
    return BatchBar(batch) if sys.stderr.isatty() and not is_verbose() else BatchLines(batch)


def cost_lines(batch: Batch, cost: BatchCost) -> list[str]:
    """Describe a batch before it starts: jobs to solve, jobs that are done already, memory and disk space."""
    same = sum(entry.same_as is not None for entry in batch.entries)
    parts = [f"{len(batch.done)} done before"] if batch.done else []
    parts += [f"{same} the same as another up to suits"] if same else []
    parts.append(f"{len(batch.to_do)} to solve" + (f", {cost.at_once} at once" if batch.to_do else ""))
    lines = [f"batch of {count(len(batch.entries), 'job')}: {', '.join(parts)}"]
    if batch.to_do:
        available = cost.available_bytes
        short = available is not None and cost.memory_bytes > available
        room = "" if available is None else f" ({'MORE THAN ' if short else ''}{size(available)} available)"
        lines.append(
            f"{count(cost.information_sets, 'information set')}, about {size(cost.memory_bytes)} of memory at once"
            f"{room} and {size(cost.disk_bytes)} on disk"
        )
    return lines


def ending(outcome: Outcome) -> str:
    """Describe the end of a job in a few words."""
    result = outcome.result
    if outcome.error is not None:
        return f"failed: {outcome.error}"
    if result is None:
        return "not reached"
    state = "interrupted" if result.interrupted else "done" if result.converged else "done, not converged"
    return f"{state} after {count(result.sweeps, 'sweep')}, exploitability {exploitability_text(outcome)}"


def table(batch: Batch, outcomes: Sequence[Outcome]) -> Table:
    """Make a table with a row for each job, in the order of the input; a column without entries is left out."""
    from rich.table import Table

    rows = [_row(batch, entry, outcome) for entry, outcome in zip(batch.entries, outcomes, strict=True)]
    out = Table(box=None, header_style="bold", pad_edge=False)
    titles = [title for title in rows[0] if any(row[title] not in ("", "-") for row in rows)]
    for title in titles:
        out.add_column(title, justify="left" if title in LEFT else "right", overflow="fold")
    for row in rows:
        out.add_row(*(row[title] for title in titles))
    return out


LEFT = ("name", "board", "converged", "note")
"""Columns that are aligned to the left."""


def _row(batch: Batch, entry: BatchJob, outcome: Outcome) -> dict[str, str]:
    result = outcome.result
    ev = None if result is None else result.ev
    state = "-" if result is None else "yes" if result.converged else "no"
    return {
        "name": entry.job.name,
        "board": entry.board or "-",
        "converged": state,
        "sweeps": f"{outcome.stored.sweeps if result is None else result.sweeps:,}",
        "exploitability": exploitability_text(outcome),
        "EV oop": "-" if ev is None else number(ev[0]),
        "EV ip": "-" if ev is None else number(ev[1]),
        "value": "-" if result is None else number(result.value, 6),
        "time": "-" if result is None else duration(result.seconds["total"]),
        "note": _note(batch, entry, outcome),
    }


def exploitability_text(outcome: Outcome) -> str:
    """Format a job's exploitability in % of the pot or in mbb per hand; a dash if it is not known."""
    result = outcome.result
    if result is None or result.exploitability is None:
        return "-"
    if result.exploitability_pct is not None:
        return f"{number(result.exploitability_pct, 4)}%"
    return f"{number(result.exploitability_mbb)} mbb"


def _note(batch: Batch, entry: BatchJob, outcome: Outcome) -> str:
    notes = []
    if entry.same_as is not None:
        notes.append(f"same as {batch.entries[entry.same_as].board} up to suits")
    if outcome.error is not None:
        notes.append("failed")
    elif not outcome.done:
        notes.append("interrupted")
    elif outcome.skipped:
        notes.append("done before")
    return ", ".join(notes)


def _verdict(batch: Batch, outcomes: Sequence[Outcome]) -> int:
    """Print errors and the number of unfinished jobs on stderr, and return the exit code."""
    own = [
        (entry, outcome)
        for entry, outcome in zip(batch.entries, outcomes, strict=True)
        if entry.same_as is None
    ]
    failed = [(entry, outcome) for entry, outcome in own if outcome.error is not None]
    for entry, outcome in failed:
        say(one_line(f"Error: {entry.label}: {outcome.error}"))
    left = sum(not outcome.done and outcome.error is None for _, outcome in own)
    if left:
        say(f"interrupted with {count(left, 'job')} left; everything is saved, the same command continues")
        return INTERRUPTED
    return FAILED if failed else 0
