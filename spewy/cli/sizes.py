"""``spewy sizes``: what a player loses with few bet sizes."""

from __future__ import annotations

from pathlib import Path

import click

from spewy.cli.options import job_argument, json_option, set_option
from spewy.cli.progress import counting
from spewy.cli.tables import json_text, number, table_text
from spewy.game.names import ROUND_NAMES, SEAT_NAMES


@click.command()
@job_argument
@click.option(
    "--player", type=click.Choice(SEAT_NAMES), default="oop", show_default=True, help="Player who bets."
)
@click.option(
    "--round",
    "round_name",
    type=click.Choice(ROUND_NAMES[1:]),
    help="Round of the bets; default: the first round of the job.",
)
@click.option(
    "--kind",
    type=click.Choice(("bet", "raise", "donk")),
    default="bet",
    show_default=True,
    help="Action to choose sizes for.",
)
@click.option(
    "--sizes",
    metavar="LIST",
    help='Sizes to choose from; default: "25%, 33%, 50%, 75%, 100%, 150%, 200%, a".',
)
@click.option(
    "--most",
    type=click.IntRange(1),
    default=2,
    show_default=True,
    help="Try sets of at most this many bet sizes.",
)
@click.option(
    "--target", metavar="AMOUNT", help="Exploitability to which each solve goes; default: 0.01% of the pot."
)
@set_option
@json_option
def sizes(
    job_file: Path,
    player: str,
    round_name: str | None,
    kind: str,
    sizes: str | None,
    most: int,
    target: str | None,
    overrides: tuple[str, ...],
    as_json: bool,
) -> None:
    """Choose bet sizes by what they lose.

    The spot is solved with all sizes of the list, then with each one, each two, up to --most together, for one player
    in one round. All other bets are those of the job. The table has the player's EV, and what it is below the EV of the
    whole list, in % of the pot. With the default list and --most 2 there are 37 solves.

    For a flop or a turn, leave out sizes of later rounds first (--set bets.river.bet=75%): each solve is then quicker.

    \b
    Examples:
      spewy sizes examples/R1.toml
      spewy sizes examples/R1.toml --player ip --kind raise --sizes "2.5x, 3.5x, a"
      spewy sizes examples/T1.toml --sizes "33%, 60%, 100%" --target 0.05%

    \b
    --json prints one object:
      name, key (of the sizes in the job file), sizes (the list), ev (of the player, with the list; in the job's unit),
      losses [{sizes, ev, loss_pct, error_pct}, ...] (in % of the pot, by number of sizes, the smallest loss first;
      error_pct: largest error of loss_pct)
    """  # noqa: D301
    from spewy.batch.sizes import SIZES, TARGET, choose_sizes
    from spewy.job.job import Job

    job = Job.load(job_file, overrides)
    with counting("solves") as progress:
        found = choose_sizes(
            job,
            player,
            sizes=SIZES if sizes is None else sizes,
            most=most,
            round_name=round_name,
            kind=kind,
            target=TARGET if target is None else target,
            progress=progress,
        )
    if as_json:
        click.echo(json_text(found.to_json()))
        return
    rows = [
        (row.sizes, number(row.ev, 3), number(row.loss_pct, 3), number(row.error_pct, 3))
        for row in found.losses
    ]
    click.echo(f"{found.name}: {found.key}; EV {number(found.ev, 3)} {found.unit} with {found.sizes}")
    click.echo(table_text(("sizes", "EV", "loss, %", "known to, %"), rows))
    best = found.best(min(most, max(row.count for row in found.losses)))
    click.echo(f'to solve with the best: spewy solve {job_file} --set "{found.key}={best.sizes}"')
