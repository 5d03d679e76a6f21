"""``spewy status``, ``check`` and ``drop``: how far a solve has come, whether its folder is whole, what it keeps."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from spewy.cli.options import folder_argument, json_option
from spewy.cli.progress import counting
from spewy.cli.tables import (
    count,
    duration,
    facts,
    fine,
    json_text,
    left,
    number,
    say,
    size,
    table_text,
    visible_lines,
)

if TYPE_CHECKING:
    from lockers import Store
    from spewy.records.status import Judged, Status

UNHEALTHY = 1
"""Exit code for damaged or missing lockers."""


@click.command()
@folder_argument
@json_option
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
      (while a solve has fewer board buckets, with solve.coarse_to_fine), saving (whether it waits for a save),
      quick (whether the figures are those of a quick answer, and not of the whole solve),
      ended (why the last run ended, in words), deals (number of deals, or of sweeps), saved_deals, per_second,
      seconds, seconds_left,
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
    from spewy.look.status import disk_bytes, status_of
    from spewy.records.status import running

    progress = status_of(folder)
    return progress, {**asdict(progress), "running": running(folder), "disk_bytes": disk_bytes(folder)}


def _of_several(folders: Sequence[Path], missing: Sequence[str], as_json: bool) -> str:
    each = [(folder, *_status_of(folder)) for folder in folders]
    if as_json:
        return json_text([{"folder": str(folder), **as_object} for folder, _, as_object in each])
    rows = [
        (
            folder.name,
            _state(progress, as_object["running"]),
            f"{progress.deals:,} {_unit(progress)}",
            f"{progress.saved_deals:,}",
            _judged(progress.judged, progress.target),
        )
        for folder, progress, as_object in each
    ]
    rows += [(board, "not begun", "", "", "") for board in missing]
    titles = ("folder", "state", "done", "saved", "exploitability")
    return table_text(titles, rows, left=("folder", "state", "exploitability"))


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
    return "sweeps" if progress.visits is None else "deals"


def _state(progress: Status, runs: bool | None) -> str:
    ago = "" if progress.at is None else f"; {duration(max(0.0, time.time() - progress.at))} ago"
    if runs:
        checks = (
            "" if progress.checking is None else ", measured on {:,} of {:,} flops".format(*progress.checking)
        )
        stage = "" if progress.stage is None else ", stage {} of {}".format(*progress.stage)
        saves = ", saving" if progress.saving else ""
        return f"running{stage}{checks}{saves}{ago}"
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
    return f"{fine(judged.exploitability)}{error}{unit}{flops} after {judged.deals:,}{ago}{aim}"


@click.command()
@folder_argument
@click.pass_context
def check(ctx: click.Context, folder: Path) -> None:
    """Check a folder of lockers for damage.

    The check covers the structure, the checksums and the counters of the lockers.

    The command prints a line for each damaged or missing locker, and exits with 1 if there is any. Other processes may
    use the lockers meanwhile. In the folder of a whole game with [boards] it also checks the strategy locker and the
    cached results of exploit. In the folder of a batch it checks every board.

    \b
    Examples:
      spewy check results/T1
      spewy check results/srp
    """  # noqa: D301
    from lockers import holds_store, lacks_manifest

    solves = _solves(folder)
    findings = [finding for solve in solves for finding in _findings(solve)]
    for finding in findings:
        click.echo(visible_lines(finding))
    for solve in solves:
        if not (holds_store(solve) or lacks_manifest(solve)):
            say(f"{solve}: has only a strategy locker; a further solve would start from scratch")
    if findings:
        ctx.exit(UNHEALTHY)
    for solve in solves:
        click.echo(visible_lines(f"{solve}: healthy"))


def _solves(folder: Path) -> Sequence[Path]:
    """Folders of the solves of a batch; for any other folder the folder itself."""
    from lockers import holds_store, lacks_manifest
    from spewy.records.strategy_locker import FOLDER

    if holds_store(folder) or holds_store(folder / FOLDER) or lacks_manifest(folder):
        return (folder,)
    from spewy.look.folder import batch_folders, require_solve

    batch = batch_folders(folder)
    broken = [child for child in folder.glob("[!.]*/") if lacks_manifest(child)]
    if batch is None:
        if not broken:
            require_solve(folder)
        return sorted(broken) or (folder,)
    if batch.missing:
        say(f"{folder}: not solved yet: {', '.join(batch.missing)}")
    return sorted({*batch.folders, *broken})


def _findings(folder: Path) -> Iterator[str]:
    from lockers import holds_store, lacks_manifest
    from spewy.records.strategy_locker import FOLDER

    if holds_store(folder) or lacks_manifest(folder) or not holds_store(folder / FOLDER):
        yield from _audited(folder, solve=True)
    for inner in sorted(folder.glob("[!.]*/")):
        if holds_store(inner) or lacks_manifest(inner):
            yield from _audited(inner, solve=False)


def _audited(folder: Path, *, solve: bool) -> list[str]:
    from lockers import DamagedLockerError, LmdbStore, open_store

    findings = []
    try:
        with open_store(folder, read_only=True) as store:
            if solve and _lacks_strategies(store, folder):
                findings.append(
                    f"{folder}: the strategy locker is missing, without which nothing can be shown or played; "
                    "`spewy solve` with the same job writes it again, unless the regrets were dropped"
                )
    except DamagedLockerError as error:
        findings.append(str(error))
    with LmdbStore(folder, read_only=True) as store:
        return findings + [finding for finding in store.check() if finding not in findings]


def _lacks_strategies(store: Store, folder: Path) -> bool:
    """Whether a whole game with board buckets was saved in a store, and its strategy locker is gone."""
    from lockers import holds_store
    from spewy.records.progress import saved_sweeps
    from spewy.records.strategy_locker import FOLDER

    job = store.manifest.get("job")
    dealt = isinstance(job, dict) and job.get("boards") is not None
    return dealt and not holds_store(folder / FOLDER) and saved_sweeps(store) > 0


@click.command()
@folder_argument
@click.option(
    "--round",
    "name",
    metavar="ROUND",
    help="Drop this round (flop, turn or river) and all later rounds. The round at the root of the solve cannot be "
    "dropped.",
)
@click.option(
    "--regrets",
    is_flag=True,
    help="Drop the regrets and strategy sums of a whole game with board buckets; only a further solve needs them.",
)
@json_option
def drop(folder: Path, name: str | None, regrets: bool, as_json: bool) -> None:
    """Drop rounds or regrets to free disk space.

    The command deletes the last rounds of a solve, or the regrets and strategy sums of a whole game.

    --round deletes the strategies and regrets of the dropped rounds. The values of these rounds stay, so that EVs in
    earlier rounds do not change. show, report, and export with --board solve a dropped round again where they need it;
    exploit needs all rounds. In the folder of a batch the rounds of every board are dropped.

    --regrets keeps the strategy locker of a whole game with [boards], which bots, show and exploit read.

    After either option a further solve must start from scratch (spewy solve --again). No other process may have the
    folder open. If the command was interrupted, the same command finishes the work.

    \b
    Examples:
      spewy drop results/T1 --round river
      spewy drop results/srp --round turn
      spewy drop results/limit-holdem --regrets
      spewy show results/T1 --line "cr120c/" --board "Qs Jh 2h 8c 3d"

    \b
    --json prints one object:
      name, dropped (names of all dropped rounds, or "regrets", "sums"), bytes_before, bytes_after (of the data files)
    and for the folder of a batch an array of such objects, each with "folder"
    """  # noqa: D301
    from spewy.look.folder import batch_folders

    if regrets == (name is not None):
        raise click.UsageError("give either --round or --regrets")
    batch = batch_folders(folder)
    if batch is None:
        dropped = _drop(folder, name)
        click.echo(json_text(dropped.to_json()) if as_json else facts(dropped.rows()))
        return
    all_dropped = [(each, _drop(each, name)) for each in batch.folders]
    if as_json:
        click.echo(json_text([{"folder": str(each), **dropped.to_json()} for each, dropped in all_dropped]))
    else:
        click.echo(facts((each.name, dropped.text) for each, dropped in all_dropped))


@dataclass(frozen=True)
class _Dropped:
    job: str
    names: tuple[str, ...]
    before: int
    after: int

    @property
    def freed(self) -> str:
        return f"{size(self.before - self.after)} of {size(self.before)}, {size(self.after)} are left"

    @property
    def text(self) -> str:
        return f"{' and '.join(self.names)} dropped, freed {self.freed}"

    def rows(self) -> list[tuple[str, str]]:
        return [("job", self.job), ("dropped", ", ".join(self.names)), ("freed", self.freed)]

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.job,
            "dropped": self.names,
            "bytes_before": self.before,
            "bytes_after": self.after,
        }


def _drop(folder: Path, name: str | None) -> _Dropped:
    """Drop the round ``name`` and all later rounds; None: the regrets and strategy sums."""
    from lockers import open_store
    from spewy.errors import InputError, path_text
    from spewy.look.folder import require_solve, stored_job
    from spewy.run.drop import drop as drop_rounds
    from spewy.run.drop import drop_regrets, require_more_than_strategies, round_number
    from spewy.system.folders import FolderLock

    require_solve(folder)
    with FolderLock(folder, "drop", make=False):
        require_more_than_strategies(folder)
        with open_store(folder) as store:
            before = store.size()
            job = stored_job(store, folder)
            if name is None:
                names = drop_regrets(job, folder, store)
            elif job.sampled:
                raise InputError(
                    f"folder {path_text(folder)}: --round drops no rounds of a whole game with [boards]; "
                    "give --regrets instead"
                )
            else:
                first = round_number(job, name)
                with counting("boards") as progress:
                    names = drop_rounds(job, store, first, progress)
            return _Dropped(job.name, names, before, store.size())
