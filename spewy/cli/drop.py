"""``spewy drop``: delete the last rounds, or the regrets, from a folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

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
    help="First round to drop, with all later rounds: flop, turn or river, after the round of the root.",
)
@click.option(
    "--regrets",
    is_flag=True,
    help="Drop regrets and sums of a whole game with [boards], which only a further solve needs.",
)
@json_option
@verbose_option
def drop(folder: Path, name: str | None, regrets: bool, as_json: bool) -> None:
    """Drop rounds or regrets to free disk space.

    The command deletes the last rounds of a solve, or its regrets and sums.

    --round deletes the strategies and regrets of the dropped rounds. The values of these rounds stay, so EVs in earlier
    rounds do not change. show and report solve a dropped chunk again from the ranges that are played down to it; export
    and exploit need all rounds, and a further solve has to start --again.

    --regrets keeps the strategy locker of a whole game with [boards], which bots, show and exploit read. A further
    solve has to start --again.

    No other process may have the folder open. A second drop does nothing, but finishes an interrupted one.

    \b
    Examples:
      spewy drop results/T1 --round river
      spewy drop results/limit-holdem --regrets
      spewy show results/T1 --line "cr120c/" --board "Qs Jh 2h 8c 3d"

    \b
    --json prints one object:
      name, dropped (all dropped rounds; or regrets, sums), bytes_before, bytes_after (of the data files)
    """  # noqa: D301
    from lockers import open_store
    from spewy.look.folder import stored_job
    from spewy.run.drop import drop_regrets
    from spewy.system.folder_lock import FolderLock

    if regrets == (name is not None):
        raise click.UsageError("expected either --round or --regrets")
    with FolderLock(folder, "drop", make=False), open_store(folder) as store:
        before = store.size()
        job = stored_job(store, folder)
        if name is None:
            names = drop_regrets(job, folder, store)
        else:
            job.require_walked(f"folder {folder}")
            names = _drop_rounds(job, store, name)
        after = store.size()
    if as_json:
        found = {"name": job.name, "dropped": names, "bytes_before": before, "bytes_after": after}
        click.echo(json_text(found))
        return
    click.echo(
        facts(
            [
                ("job", job.name),
                ("dropped", ", ".join(names)),
                ("freed", f"{size(before - after)} of {size(before)}, {size(after)} are left"),
            ]
        )
    )


def _drop_rounds(job: Job, store: Store, name: str) -> tuple[str, ...]:
    """Drop a round and all later rounds, with a progress bar on a terminal."""
    from spewy.run.drop import drop as drop_rounds
    from spewy.run.drop import round_number

    first = round_number(job, name)
    with counting("boards") as progress:
        return drop_rounds(job, store, first, progress)
