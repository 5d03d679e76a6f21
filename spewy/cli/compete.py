"""``spewy tournament``: let each bot play each other bot, and rank them by the rules of a competition."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from spewy.cli.app import LazyGroup
from spewy.cli.bots import (
    logs_folder,
    logs_option,
    solved_folder,
    workers_option,
)
from spewy.cli.files import appearing, check_file, require
from spewy.cli.options import FOREIGN_CODE, json_option
from spewy.cli.progress import counting
from spewy.cli.tables import json_text, say, table_text

if TYPE_CHECKING:
    from spewy.competitions.tournament.file import TournamentFile
    from spewy.competitions.tournament.tournament import Outcome, Stage


@click.command(epilog=FOREIGN_CODE)
@click.argument("file", metavar="FILE.toml", type=click.Path(path_type=Path))
@logs_option("tournament")
@click.option(
    "--page",
    metavar="FILE.md",
    type=click.Path(path_type=Path),
    help="Markdown file to write the results into.",
)
@workers_option()
@json_option
def tournament(file: Path, out: Path | None, page: Path | None, workers: int | None, as_json: bool) -> None:
    """Run a tournament and rank its bots.

    With --out, the same command continues an interrupted tournament.

    FILE.toml names the rules, the bots and the games. The rules are acpc-bankroll, acpc-points, acpc-online, higc, or
    upac. The three acpc rules are those of the ACPC in 2007, with qualifying rounds for more than ten bots; upac
    computes Elo ratings from the games in a file of results. docs/how-to/tournaments.md explains the keys.

    \b
    Examples:
      spewy tournament examples/tournaments/leduc.toml
      spewy tournament spring.toml --out results/spring --page spring.md

    \b
    A file:
      name = "spring"
      rules = "higc"
      [[bots]]
      name = "mine"
      bot = "spewy"              # or random, or cmd:COMMAND; with [acpc] any BOT of spewy match
      [[bots]]
      name = "chance"
      bot = "random"
      [higc]                     # or [acpc]: game, hands, series; or [upac]: results, k, start
      games = ["leduc_poker", "liars_dice"]
      matches = 100

    \b
    --json prints one object:
      {"name", "rules", "places": {"mine": 1, ..}, "ratings": {..} or null, "notes": [], "stages": [{"title", "unit",
       "places", "pairs": [{"bots": ["a", "b"], "mean", "half", "n", "faults": [0, 0]}, ..]}, ..]}
    """  # noqa: D301
    if page is not None:
        check_file(page, (".md",))
    from spewy.competitions.tournament.file import read_tournament
    from spewy.competitions.tournament.tournament import page_text, play_tournament

    contents = read_tournament(file)
    if contents.higc is not None:
        require("pyspiel")
    _print_ports(contents)
    with logs_folder(out, "tournament") as folder, counting("played") as watcher:
        outcome = play_tournament(
            contents, file.absolute().parent, folder, solved_folder(None), watcher, workers
        )
    if page is not None:
        with appearing(page) as temporary:
            temporary.write_text(page_text(outcome), encoding="utf-8")
        say(f"results in {page}")
    if as_json:
        click.echo(json_text(_json(outcome)))
        return
    for stage in outcome.stages:
        click.echo(_pairs(stage))
    click.echo(_places(outcome))
    for note in outcome.notes:
        say(note)


def _print_ports(contents: TournamentFile) -> None:
    from spewy.match.remote import HOST

    for bot in contents.bots if contents.acpc is not None else ():
        kind, _, port = (bot.bot or "").partition(":")
        if kind == "tcp":
            where = f"{HOST}:{port}, once in each run of its matches"
            say(f"{bot.name}: waiting for a client of the ACPC's protocol at {where}")


def _pairs(stage: Stage) -> str:
    from spewy.competitions.tournament.tournament import cell

    rows = ((name, *(cell(stage, name, other) for other in stage.names)) for name in stage.names)
    return table_text((f"{stage.title}, {stage.unit}", *stage.names), rows)


def _places(outcome: Outcome) -> str:
    from spewy.competitions.tournament.standings import place_of

    ratings = outcome.ratings
    rows = (
        (str(place), name, *([f"{ratings[name]:,.1f}"] if ratings else []))
        for name, place in place_of(outcome.ranking).items()
    )
    return table_text(("place", "bot", *(["rating"] if ratings else [])), rows, left=("bot",))


def _json(outcome: Outcome) -> dict[str, Any]:
    from spewy.competitions.tournament.standings import place_of

    return {
        "name": outcome.name,
        "rules": outcome.rules,
        "places": place_of(outcome.ranking),
        "ratings": outcome.ratings,
        "notes": outcome.notes,
        "stages": [
            {
                "title": stage.title,
                "unit": stage.unit,
                "places": place_of(stage.ranking),
                "pairs": [
                    {"bots": pair, **asdict(played.mean), "faults": played.faults}
                    for pair, played in stage.played.items()
                ],
            }
            for stage in outcome.stages
        ],
    }


@click.group(cls=LazyGroup, places={"acpc": "acpc:package_acpc", "upac": "upac:package_upac"})
def package() -> None:
    """Package a bot for a competition.

    \b
    Examples:
      spewy package acpc results/limit-holdem submission
      spewy package upac spewy-bot.zip --ladder results/upac-ladder
    """  # noqa: D301
