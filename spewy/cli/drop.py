"""``spewy drop``: let the last rounds of a solve go, which are most of it."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from spewy.cli.options import folder_argument, json_option, verbose_option
from spewy.cli.tables import facts, json_text, size


@click.command()
@folder_argument
@click.option(
    "--round",
    "name",
    metavar="ROUND",
    required=True,
    help="Drop this round and all later ones: flop, turn or river, after the round of the root.",
)
@json_option
@verbose_option
def drop(folder: Path, name: str, as_json: bool) -> None:
    """Drop the last rounds of a solve from its folder, and give the disk space back.

    Strategies and regrets of the dropped rounds are deleted. What they are worth to the rounds above is kept, so EVs
    there stay what they are. show and report solve a dropped chunk anew when they look at it, from the ranges that
    are played down to it; export and exploit need all rounds, and solve would have to begin --again.

    Nobody else may have the folder open meanwhile. Dropping again does nothing, but finishes what was interrupted.

    \b
    Examples:
      spewy drop results/T1 --round river
      spewy show results/T1 --line "cr120c/" --board "Qs Jh 2h 8c 3d"

    \b
    --json prints one object:
      name, dropped (all dropped rounds), bytes_before, bytes_after (of the data files)
    """  # noqa: D301
    from tqdm import tqdm

    from lockers import open_store
    from spewy.look.drop import drop as drop_rounds
    from spewy.look.drop import round_number
    from spewy.look.stored import walked_job

    with open_store(folder) as store:
        job = walked_job(store, folder)
        first = round_number(job, name)
        before = store.size()
        with tqdm(
            desc="boards", unit="", file=sys.stderr, leave=False, disable=not sys.stderr.isatty()
        ) as bar:

            def progress(done: int, total: int) -> None:
                bar.total = total
                bar.update(done - bar.n)

            names = drop_rounds(job, store, first, progress)
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
