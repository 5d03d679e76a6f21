"""``spewy review``: what each decision of a match cost against the lockers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from spewy.cli.bots import lockers_option, open_bot
from spewy.cli.options import json_option, verbose_option
from spewy.cli.tables import facts, json_text, number, render

if TYPE_CHECKING:
    from rich.table import Table

    from spewy.match.review import Reviewed, Total


@click.command()
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@lockers_option
@click.option("--player", metavar="NAME", help="Review the decisions of this player only.")
@click.option("--hands", type=click.IntRange(min=1), help="Review no more hands than these first ones.")
@click.option(
    "--top", type=click.IntRange(min=0), default=20, show_default=True, help="Costliest decisions to list."
)
@json_option
@verbose_option
def review(file: Path, folder: Path, player: str | None, hands: int | None, top: int, as_json: bool) -> None:
    """Compare the hands of a match with a solve.

    FILE is a log of the ACPC's dealer (STATE: lines), or a .phh or .phhs file of hold'em hands.

    For each decision whose hole cards are known: how often the lockers do what was done, and what it cost. The cost is
    what the lockers' own mix of actions would have won there, less what the action wins, in chips. Both are valued
    alike: the other's range is played down by the lockers, both go on by them to the end of the round, and from there
    nobody bets. It is an estimate; it may be negative, and is 0 on average for who plays as the lockers do.

    \b
    Examples:
      spewy review results/match/seed-1.log --lockers results/limit-holdem
      spewy review hands.phhs --lockers results/limit-holdem --player Alice --top 50

    \b
    --json prints one object:
      {"players": {"Alice": {"hands", "decisions", "cost": mbb per hand, "won": mbb per hand}},
       "decisions": [{"number", "name", "player", "line", "board", "hole", "action", "actions", "frequencies",
                      "values", "frequency", "cost"}]}; what is not known is null
    """  # noqa: D301
    from spewy.match.review import read_hands, review_hands, summary

    bot = open_bot(folder, resolve="never", ready=False)
    try:
        played = list(islice(read_hands(bot.game, file), hands))
        found = review_hands(bot, played, player)
        game = bot.game
    finally:
        bot.close()
    players = summary(played, found, game.big_blind, player)
    if as_json:
        decisions = [_json(each) for each in found]
        click.echo(json_text({"players": {n: asdict(p) for n, p in players.items()}, "decisions": decisions}))
        return
    for name, total in players.items():
        click.echo(facts(_rows(name, total)))
    if top and found:
        click.echo(render(_table(sorted(found, key=_cost, reverse=True)[:top])))


def _cost(each: Reviewed) -> float:
    return -math.inf if each.decided.cost is None else each.decided.cost


def _json(each: Reviewed) -> dict[str, Any]:
    decided = each.decided
    return {
        "number": each.number,
        "name": each.name,
        **asdict(decided),
        "board": _cards_text(decided.board),
        "hole": None if each.hole is None else _cards_text(each.hole),
        "frequency": decided.frequency,
    }


def _cards_text(cards: Sequence[int]) -> str:
    """Cards by their names."""
    from buckets.cards import cards_name

    return cards_name(cards)


def _rows(name: str, total: Total) -> Iterator[tuple[str, str]]:
    yield "player", name
    yield "hands", f"{total.hands:,}"
    yield "decisions", f"{total.decisions:,} with cards that are known"
    yield "cost", _mbb(total.cost)
    yield "won", _mbb(total.won)


def _mbb(value: float | None) -> str:
    return number(value, 1) if value is None else f"{number(value, 1)} mbb per hand"


def _table(decisions: Sequence[Reviewed]) -> Table:
    """The decisions, a row for each."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("hand", "player", "hole", "board", "line", "done"):
        table.add_column(name, no_wrap=True, justify="right" if name == "hand" else "left")
    for name in ("cost", "lockers do it", "lockers' mix"):
        table.add_column(name, no_wrap=True, justify="left" if name == "lockers' mix" else "right")
    for each in decisions:
        table.add_row(*_cells(each))
    return table


def _cells(each: Reviewed) -> list[str]:
    decided = each.decided
    shares = decided.frequencies or ()
    mix = " ".join(
        f"{action} {share:.2f}" for action, share in zip(decided.actions, shares, strict=False) if share > 0
    )
    return [
        str(each.number),
        each.name,
        "-" if each.hole is None else _cards_text(each.hole),
        _cards_text(decided.board) or "-",
        decided.line or "-",
        decided.action,
        number(decided.cost, 2),
        number(decided.frequency, 3),
        mix or "-",
    ]
