"""``spewy drop``: delete the last rounds, or the regrets, from a folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from spewy.cli.options import folder_argument, json_option, verbose_option
from spewy.cli.progress import counting
from spewy.cli.tables import facts, json_text, size

if TYPE_CHECKING:
    from lockers import Store
    from spewy.job.job import Job


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
@verbose_option
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
    """Result of dropping data from the folder of one solve.

    Attributes:
        job: name of the job.
        names: names of the dropped rounds, or "regrets" and "sums".
        before: bytes of the data file before the command.
        after: bytes of the data file after the command.
    """

    job: str
    names: tuple[str, ...]
    before: int
    after: int

    @property
    def freed(self) -> str:
        """Describe the disk space that the command freed."""
        return f"{size(self.before - self.after)} of {size(self.before)}, {size(self.after)} are left"

    @property
    def text(self) -> str:
        """Describe what was dropped and what was freed in one line."""
        return f"{' and '.join(self.names)} dropped, freed {self.freed}"

    def rows(self) -> list[tuple[str, str]]:
        """Rows of the printed table: the job, what was dropped, and the freed space."""
        return [("job", self.job), ("dropped", ", ".join(self.names)), ("freed", self.freed)]

    def to_json(self) -> dict[str, Any]:
        """The object that --json prints."""
        return {
            "name": self.job,
            "dropped": self.names,
            "bytes_before": self.before,
            "bytes_after": self.after,
        }


def _drop(folder: Path, name: str | None) -> _Dropped:
    """Drop the round ``name`` and all later rounds of a solve; None: drop the solve's regrets and strategy sums."""
    from lockers import open_store
    from spewy.look.folder import require_solve, stored_job
    from spewy.run.drop import drop_regrets, require_more_than_strategies
    from spewy.system.folders import FolderLock

    require_solve(folder)
    with FolderLock(folder, "drop", make=False):
        require_more_than_strategies(folder)
        with open_store(folder) as store:
            before = store.size()
            job = stored_job(store, folder)
            if name is None:
                names = drop_regrets(job, folder, store)
            else:
                _require_rounds(job, folder)
                names = _drop_rounds(job, store, name)
            return _Dropped(job.name, names, before, store.size())


def _require_rounds(job: Job, folder: Path) -> None:
    """Refuse to drop the rounds of a whole game with board buckets."""
    from spewy.errors import InputError, path_text

    if job.sampled:
        raise InputError(
            f"folder {path_text(folder)}: --round drops no rounds of a whole game with [boards]; give --regrets instead"
        )


def _drop_rounds(job: Job, store: Store, name: str) -> tuple[str, ...]:
    """Drop a round and all later rounds, with a progress bar on a terminal."""
    from spewy.run.drop import drop as drop_rounds
    from spewy.run.drop import round_number

    first = round_number(job, name)
    with counting("boards") as progress:
        return drop_rounds(job, store, first, progress)
