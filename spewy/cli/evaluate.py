"""``spewy evaluate``: compute EVs of stored strategies, changed at some decisions, without solving again."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from spewy.cli.files import table_writer
from spewy.cli.options import (
    csv_option,
    folder_argument,
    json_option,
    lock_option,
    refuse_unused,
    verbose_option,
)
from spewy.cli.tables import facts, json_text, number, plain_table, render, signed
from spewy.game.names import SEAT_NAMES

if TYPE_CHECKING:
    from rich.table import Table

    from spewy.look.evaluate import Evaluation, HandEvs

MOST_HANDS = 20
"""Largest number of hands that are listed without --all."""


@click.command()
@folder_argument
@lock_option(
    'Change how a range or some hands play at one decision: with "x: bet" the player always bets after a check, with '
    '"x b120 [QQ+]: call" the hands QQ+ always call a bet of 120. Can be given several times.'
)
@click.option(
    "--against",
    metavar="FOLDER2",
    type=click.Path(path_type=Path),
    help="Folder of another solve of the same game: one player follows the strategy in FOLDER, the opponent that in "
    "FOLDER2. Default: both follow FOLDER.",
)
@click.option(
    "--player",
    type=click.Choice(SEAT_NAMES),
    help="Player whose hands are listed; with --against, the player who follows FOLDER. Default: the player of the "
    "first --lock; with --against, two evaluations, in which first oop and then ip follows FOLDER.",
)
@click.option(
    "--hands",
    "as_hands",
    is_flag=True,
    help=f"List the {MOST_HANDS} hands that lose most EV by the changed play.",
)
@click.option(
    "--all", "every", is_flag=True, help="List all hands of the player, the largest loss of EV first."
)
@csv_option("the EVs of the player's hands, a row for each hand, into a .csv, .xlsx, .parquet or .json file")
@json_option
@verbose_option
def evaluate(
    folder: Path,
    locks: tuple[str, ...],
    against: Path | None,
    player: str | None,
    as_hands: bool,
    every: bool,
    table_file: Path | None,
    as_json: bool,
) -> None:
    """Compute EVs of changed play without solving.

    Both players follow stored strategies, except at the decisions that --lock names: the command shows what this change
    of play wins or loses against an opponent who does not adapt. Nothing is solved again; spewy solve --lock solves for
    an opponent who adapts. EVs are exact: shares of the pot in a spot, net chips in a whole game.

    With --against, one player follows the strategy in FOLDER and the other player that in FOLDER2, which must be a
    solve of the same game, board and ranges; its locks may differ. A stored strategy means little at decisions that
    its own solve never reaches, such as after an action that a lock excludes. All rounds must be stored
    (save.rounds = "all").

    \b
    Examples:
      spewy evaluate results/T1 --lock "x: bet 120"
      spewy evaluate results/T1 --lock "x b120 [QQ+, AKs]: call" --hands
      spewy evaluate results/T1 --against results/T1-lock-x-bet-120
      spewy evaluate results/T1 --lock ": check" --player oop --csv hands.xlsx

    \b
    --json prints one object:
      name, against (null without --against), locks [...], stored [oop, ip] (EVs of the stored strategies),
      evaluations [{plays [oop's solve, ip's solve], ev [oop, ip], difference [oop, ip]}, ...]
    and in each evaluation, with --hands:
      player, hands {"AhKh": {reach, ev_stored, ev, ev_difference}, ...}
    """  # noqa: D301
    if not locks and against is None:
        raise click.UsageError(
            "give --lock, --against or both; spewy show prints the EVs of the stored strategies"
        )
    seat = None if player is None else SEAT_NAMES.index(player)
    if against is not None and seat is None and (as_hands or every or table_file is not None):
        raise click.UsageError("--against with --hands, --all or --csv needs --player, who follows FOLDER")
    if against is None and not (as_hands or every or table_file):
        refuse_unused("without --hands, --all, --csv or --against", "player")
    write = None if table_file is None else table_writer(table_file)
    from spewy.look.folder import require_one_solve
    from spewy.look.solution import Solution

    with ExitStack() as opened:
        solutions = []
        for path in (folder,) if against is None else (folder, against):
            require_one_solve(path)
            solutions.append(opened.enter_context(Solution.open(path)))
        found = solutions[0].evaluate(locks, *(() if against is None else (solutions[1], seat)))
        names = [solution.job.name for solution in solutions]
        key = solutions[0].job.amounts.key
    seat = (found[0].locked or 0) if seat is None else seat
    if write is not None:
        write(found[0].hands[seat].frame())
    if as_json:
        head = {"name": names[0], "against": names[1] if against else None, "locks": list(locks), **key}
        hands = seat if as_hands or every else None
        rows = [evaluation.to_json(hands) for evaluation in found]
        click.echo(json_text(head | {"stored": list(found[0].stored), "evaluations": rows}))
        return
    heads = [("job", names[0]), *([("against", names[1])] if against else [])]
    heads += [("lock" if not n else "", text) for n, text in enumerate(locks)]
    heads += [("amounts", f"in {found[0].unit}")] if key else []
    click.echo(f"{facts(heads)}\n\n{render(_evs(found))}")
    if as_hands or every:
        click.echo(f"\n{render(_hands(SEAT_NAMES[seat], found[0].hands[seat], every))}")


def _evs(found: Sequence[Evaluation]) -> Table:
    """Make a table with both players' EVs: a row for the stored strategies, and one for each evaluation."""
    table = plain_table("oop", "ip", "EV oop", "EV ip", "oop - stored", "ip - stored")
    first = found[0]
    table.add_row("stored", "stored", *(number(ev) for ev in first.stored), "", "")
    for evaluation in found:
        changes = (signed(change, 3) for change in evaluation.difference)
        table.add_row(*evaluation.plays, *(number(ev) for ev in evaluation.ev), *changes)
    return table


def _hands(seat: str, hands: HandEvs, every: bool) -> Table:
    """Make a table of a player's hands with stored and changed EVs, the largest loss first."""
    table = plain_table(f"hand of {seat}", "reach", "stored EV", "EV", "EV - stored")
    order = hands.order if every else hands.order[:MOST_HANDS]
    for h in order:
        stored, ev = float(hands.stored[h]), float(hands.ev[h])
        table.add_row(
            hands.hands[h], f"{hands.reach[h]:.4f}", number(stored), number(ev), signed(ev - stored, 3)
        )
    return table
