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

    The solve may still be running.

    For the folder of a batch the command prints one line per solve.

    \b
    Examples:
      spewy status results/limit-holdem
      spewy status results/srp
      spewy status results/limit-holdem --json

    \b
    --json prints one object, in which unknown values are null:
      name, running, checking [flops judged, of] (while a check runs), ended (why the last run ended, in words),
      deals (or sweeps), saved_deals, per_second,
      seconds, seconds_left, visits [[fewest, median], ...] (of a board bucket, by round;
      null: all boards are walked through),
      value (mbb per hand of player 0), target,
      judged {exploitability, unit, stderr, flops, deals, at, seconds} (the last check),
      at (when that was written, seconds since 1970), disk_bytes
    For several boards or jobs it prints an array of such objects, each with "folder".
    """  # noqa: D301
    from spewy.look.boards import batch_folders

    several = batch_folders(folder)
    if several is not None:
        click.echo(_of_several(several.folders, several.missing, as_json))
        return
    found, told = _status_of(folder)
    if as_json:
        click.echo(json_text(told))
        return
    click.echo(facts([*_rows(found, told["running"]), ("disk", size(told["disk_bytes"]))]))


def _status_of(folder: Path) -> tuple[Status, dict[str, Any]]:
    """Read the status of the solve in a folder, also as an object for JSON."""
    from spewy.look.status import disk_bytes, status_of
    from spewy.records.status import running

    found = status_of(folder)
    return found, {**asdict(found), "running": running(folder), "disk_bytes": disk_bytes(folder)}


def _of_several(folders: Sequence[Path], missing: Sequence[str], as_json: bool) -> str:
    """Print the status of several solves, as a table or a JSON array; ``missing`` lists boards not yet begun."""
    from rich.table import Table

    each = [(folder, *_status_of(folder)) for folder in folders]
    if as_json:
        return json_text([{"folder": str(folder), **told} for folder, _, told in each])
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("folder", no_wrap=True)
    table.add_column("state", no_wrap=True)
    table.add_column("done", justify="right", no_wrap=True)
    table.add_column("saved", justify="right", no_wrap=True)
    table.add_column("exploitability", no_wrap=True)
    for folder, found, told in each:
        done, saved = f"{found.deals:,} {_unit(found)}", f"{found.saved_deals:,}"
        state, judged = _state(found, told["running"]), _judged(found.judged, found.target)
        table.add_row(folder.name, state, done, saved, judged)
    for board in missing:
        table.add_row(board, "not begun", "", "", "")
    return render(table)


def _rows(found: Status, runs: bool | None) -> Iterator[tuple[str, str]]:
    yield "job", found.name
    yield "state", _state(found, runs)
    speed = "" if found.per_second is None else f", {number(found.per_second, 1)} per second"
    yield _unit(found), f"{found.deals:,}{speed}, {found.saved_deals:,} of them saved"
    if found.seconds is not None:
        goes_on = "" if found.seconds_left is None else f", {left(found.seconds_left)}"
        yield "time", f"{duration(found.seconds)}{goes_on}"
    if found.visits:
        told = (f"{least:,} / {median:,.0f}" for least, median in found.visits)
        yield "visits", f"{', '.join(told)} (fewest / median of a board bucket, by round)"
    if found.value is not None:
        yield "value", f"{number(found.value, 1)} mbb per hand for player 0"
    yield "exploitability", _judged(found.judged, found.target)


def _unit(found: Status) -> str:
    """Unit of progress: "sweeps", or "deals" for a job that deals boards."""
    return "sweeps" if found.visits is None else "deals"


def _state(found: Status, runs: bool | None) -> str:
    ago = "" if found.at is None else f"; {duration(max(0.0, time.time() - found.at))} ago"
    if runs:
        checks = (
            "" if found.checking is None else ", checks: {:,} of {:,} flops judged".format(*found.checking)
        )
        return f"running{checks}{ago}"
    if found.ended is not None:
        return f"not running: {found.ended}{ago}"
    return "not told" if runs is None else f"not running, it ended without a word{ago}"


def _judged(judged: Judged | None, target: str | None) -> str:
    aim = "" if target is None else f" (target {target})"
    if judged is None:
        return f"not measured yet{aim}"
    unit = "%" if judged.unit == "%" else f" {judged.unit}"
    error = "" if judged.stderr is None else f" +- {number(judged.stderr, 1)}"
    flops = "" if judged.flops is None else f" on {count(judged.flops, 'flop')}"
    ago = "" if judged.at is None else f", {duration(max(0.0, time.time() - judged.at))} ago"
    return f"{number(judged.exploitability)}{error}{unit}{flops} after {judged.deals:,}{ago}{aim}"
