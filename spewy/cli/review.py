"""``spewy review``: show what each decision of a match cost the player."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from spewy.cli.options import json_option, verbose_option
from spewy.cli.progress import say
from spewy.cli.tables import count, facts, json_text, number, render

if TYPE_CHECKING:
    from rich.table import Table

    from spewy.match.review import Reviewed, Skipped, Total

MOST_REASONS = 5
"""Largest number of printed reasons why hands lie outside a spot."""


@click.command()
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option(
    "--lockers",
    "folder",
    metavar="FOLDER",
    required=True,
    type=click.Path(path_type=Path),
    help="Folder of the solve with which the decisions are compared: a whole game, a spot, or a batch of spots.",
)
@click.option(
    "--game",
    metavar="GAME",
    help="Game of the hands in FILE: the name of a shipped game, or the path of a game file. Default: the game of the "
    "solve.",
)
@click.option("--player", metavar="NAME", help="Review the decisions of this player only.")
@click.option("--hands", type=click.IntRange(min=1), help="Number of hands to review; default: all.")
@click.option(
    "--top",
    type=click.IntRange(min=0),
    default=20,
    show_default=True,
    help="Number of decisions to list, the costliest first.",
)
@json_option
@verbose_option
def review(
    file: Path,
    folder: Path,
    game: str | None,
    player: str | None,
    hands: int | None,
    top: int,
    as_json: bool,
) -> None:
    """Show what each decision of a match cost.

    FILE is a log of the ACPC's dealer (STATE: lines), or a .phh or .phhs file of hold'em hands.

    For each decision with known hole cards the command prints how often the stored strategy takes the action, and what
    the action cost, in chips. The cost is the EV of the strategy's own action frequencies, less the EV of the action.
    For these EVs the opponent has the range with which the strategy comes to the decision, both players follow the
    strategy to the end of the round, and nobody bets in later rounds. So the cost is an estimate. It may be negative,
    and is 0 on average for a player who follows the strategy.

    A hand is compared with a spot if it has the spot's board at the start of the spot's round, and the same ratio of
    stack to pot; chips are scaled. The command prints how many hands, or later parts of hands, lie outside of the spot,
    and why.

    \b
    Examples:
      spewy review results/match/seed-1.log --lockers results/limit-holdem
      spewy review hands.phhs --lockers results/limit-holdem --player Alice --top 50
      spewy review hands.phhs --lockers results/T1

    \b
    --json prints one object:
      {"players": {"Alice": {"hands", "decisions", "cost": mbb per hand, "won": mbb per hand}},
       "decisions": [{"number" (of the hand), "name", "player", "line", "board", "hole", "action", "actions",
                      "frequencies" and "values" (of each of the actions), "frequency" (of the action), "cost"}],
       "skipped": [{"number", "reason", "whole": whether no decision of the hand was reviewed}]}
      unknown values are null
    """  # noqa: D301
    from spewy.game.gamefile import load_game
    from spewy.match.review import open_strategy, read_hands, review_hands, summary
    from spewy.match.spot_strategy import SpotStrategy

    strategy = open_strategy(folder)
    try:
        rules = strategy.game if game is None else load_game(game)
        own_stakes = isinstance(strategy, SpotStrategy)
        played = islice(read_hands(rules, file, own_stakes=own_stakes), hands)
        reviewed = review_hands(strategy, played, player)
    finally:
        strategy.close()
    players = summary(reviewed, player)
    if as_json:
        totals = {name: asdict(total) for name, total in players.items()}
        decisions = [_json(each) for each in reviewed.decisions]
        skipped = [asdict(each) for each in reviewed.skipped]
        click.echo(json_text({"players": totals, "decisions": decisions, "skipped": skipped}))
        return
    for name, total in players.items():
        click.echo(facts(_rows(name, total)))
    if top and reviewed.decisions:
        click.echo(render(_table(sorted(reviewed.decisions, key=_cost, reverse=True)[:top])))
    _say_skipped(reviewed.skipped)


def _say_skipped(skipped: Sequence[Skipped]) -> None:
    """Print the most frequent reasons why hands lie outside a spot."""
    reasons = Counter(each.reason for each in skipped)
    for reason, n in reasons.most_common(MOST_REASONS):
        say(f"{count(n, 'hand')} outside of the spot: {reason}")
    if len(reasons) > MOST_REASONS:
        rest = sum(reasons.values()) - sum(n for _, n in reasons.most_common(MOST_REASONS))
        say(f"{count(rest, 'hand')} outside of the spot for other reasons")


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
    """Return the names of cards, such as QsJh2h."""
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
    """Make a table with a row for each of the costliest decisions."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("hand", "player", "hole", "board", "line", "done"):
        table.add_column(name, no_wrap=True, justify="right" if name == "hand" else "left")
    for name in ("cost", "frequency", "strategy"):
        table.add_column(name, no_wrap=True, justify="left" if name == "strategy" else "right")
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
