"""``spewy status``: show the progress of a solve, from another terminal."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from spewy.cli.options import folder_argument, json_option, verbose_option
from spewy.cli.tables import count, duration, facts, json_text, left, number, render, size

if TYPE_CHECKING:
    from spewy.records.status import Judged, Status


@click.command()
@folder_argument
@json_option
@verbose_option
def status(folder: Path, as_json: bool) -> None:
    """Show how far a solve has come.

    The solve may be running in another process.

    For the folder of a batch the command prints one line for each solve.

    \b
    Examples:
      spewy status results/limit-holdem
      spewy status results/srp
      spewy status results/limit-holdem --json

    \b
    --json prints one object, in which unknown values are null:
      name, running, checking [measured flops, all flops] (while exploitability is measured), stage [number, of all]
      (while a solve has fewer board buckets, with solve.coarse_to_fine), ended (why the last run
      ended, in words), deals (number of deals, or of sweeps), saved_deals, per_second, seconds, seconds_left,
      visits [[fewest, median], ...] (visits of a board bucket, by round; null for a job without [boards]),
      value (mbb per hand of player 0), target,
      judged {exploitability, unit, stderr, flops, deals, at, seconds} (the last measurement, and its time),
      at (time of this status, in seconds since 1970), disk_bytes
    For the folder of a batch it prints an array of such objects, each with "folder".
    """  # noqa: D301
    from spewy.look.folder import batch_folders

    several = batch_folders(folder)
    if several is not None:
        click.echo(_of_several(several.folders, several.missing, as_json))
        return
    progress, as_object = _status_of(folder)
    if as_json:
        click.echo(json_text(as_object))
        return
    click.echo(facts([*_rows(progress, as_object["running"]), ("disk", size(as_object["disk_bytes"]))]))


def _status_of(folder: Path) -> tuple[Status, dict[str, Any]]:
    """Return the status of the solve in a folder, and the object that --json prints."""
    from spewy.look.status import disk_bytes, status_of
    from spewy.records.status import running

    progress = status_of(folder)
    return progress, {**asdict(progress), "running": running(folder), "disk_bytes": disk_bytes(folder)}


def _of_several(folders: Sequence[Path], missing: Sequence[str], as_json: bool) -> str:
    """Return a table or a JSON array with the status of several solves.

    Args:
        folders: folders of the solves.
        missing: boards of the batch whose solves have not begun.
        as_json: whether to return the JSON array.
    """
    from rich.table import Table

    each = [(folder, *_status_of(folder)) for folder in folders]
    if as_json:
        return json_text([{"folder": str(folder), **as_object} for folder, _, as_object in each])
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("folder", no_wrap=True)
    table.add_column("state", no_wrap=True)
    table.add_column("done", justify="right", no_wrap=True)
    table.add_column("saved", justify="right", no_wrap=True)
    table.add_column("exploitability", no_wrap=True)
    for folder, progress, as_object in each:
        done, saved = f"{progress.deals:,} {_unit(progress)}", f"{progress.saved_deals:,}"
        state, judged = _state(progress, as_object["running"]), _judged(progress.judged, progress.target)
        table.add_row(folder.name, state, done, saved, judged)
    for board in missing:
        table.add_row(board, "not begun", "", "", "")
    return render(table)


def _rows(progress: Status, runs: bool | None) -> Iterator[tuple[str, str]]:
    yield "job", progress.name
    yield "state", _state(progress, runs)
    speed = "" if progress.per_second is None else f", {number(progress.per_second, 1)} per second"
    yield _unit(progress), f"{progress.deals:,}{speed}, {progress.saved_deals:,} of them saved"
    if progress.seconds is not None:
        time_left = "" if progress.seconds_left is None else f", {left(progress.seconds_left)}"
        yield "time", f"{duration(progress.seconds)}{time_left}"
    if progress.visits:
        counts = (f"{least:,} / {median:,.0f}" for least, median in progress.visits)
        yield "visits", f"{'; '.join(counts)} (fewest / median of a board bucket, for each round)"
    if progress.value is not None:
        yield "value", f"{number(progress.value, 1)} mbb per hand for player 0"
    yield "exploitability", _judged(progress.judged, progress.target)


def _unit(progress: Status) -> str:
    """Name of what is counted: "sweeps", or "deals" for a job that deals boards."""
    return "sweeps" if progress.visits is None else "deals"


def _state(progress: Status, runs: bool | None) -> str:
    ago = "" if progress.at is None else f"; {duration(max(0.0, time.time() - progress.at))} ago"
    if runs:
        checks = (
            "" if progress.checking is None else ", measured on {:,} of {:,} flops".format(*progress.checking)
        )
        stage = "" if progress.stage is None else ", stage {} of {}".format(*progress.stage)
        return f"running{stage}{checks}{ago}"
    if progress.ended is not None:
        return f"not running: {progress.ended}{ago}"
    return (
        "not known" if runs is None else f"not running; the last run was killed, or ended without a log{ago}"
    )


def _judged(judged: Judged | None, target: str | None) -> str:
    aim = "" if target is None else f" (target {target})"
    if judged is None:
        return f"not measured yet{aim}"
    unit = "%" if judged.unit == "%" else f" {judged.unit}"
    error = "" if judged.stderr is None else f" +- {number(judged.stderr, 1)}"
    flops = "" if judged.flops is None else f" on {count(judged.flops, 'flop')}"
    ago = "" if judged.at is None else f", {duration(max(0.0, time.time() - judged.at))} ago"
    return f"{number(judged.exploitability)}{error}{unit}{flops} after {judged.deals:,}{ago}{aim}"
