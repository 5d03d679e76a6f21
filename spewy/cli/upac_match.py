"""``spewy upac-match``: let two bots play games by UPAC's rules."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from spewy.cli.files import line_writer
from spewy.cli.options import FOREIGN_CODE, Seconds, json_option, log_option, verbose_option
from spewy.cli.progress import counting, say
from spewy.cli.tables import count, facts, json_text, number

if TYPE_CHECKING:
    from spewy.competitions.upac.games import Contenders, Game

MOST_PRINTED = 5
"""Largest number of faults (illegal or late answers) that are printed."""


@click.command("upac-match", epilog=FOREIGN_CODE)
@click.argument("first", metavar="BOT")
@click.argument("second", metavar="BOT")
@click.option(
    "--games",
    type=click.IntRange(1, 10**6),
    default=200,
    show_default=True,
    help="Number of games; the cards of each seed are played in two games, with the seats swapped.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, 2**32),
    default=1,
    show_default=True,
    help="Seed of the cards of the first two games; each further two games have the next seed.",
)
@click.option(
    "--rounds",
    type=click.IntRange(1, 10**6),
    default=100,
    show_default=True,
    help="Largest number of hands in a game.",
)
@click.option(
    "--chips",
    type=click.IntRange(1, 10**6),
    default=50,
    show_default=True,
    help="Chips that each bot begins with.",
)
@click.option(
    "--most",
    type=click.IntRange(2, 10**6),
    help="Largest number of chips that a player may bet in one hand; default: all chips.",
)
@click.option(
    "--old-labels",
    is_flag=True,
    help="Swap the labels SB and BB in the message START, as UPAC's engine did before October 2023.",
)
@click.option(
    "--seconds",
    type=Seconds(some=True),
    default=1.0,
    show_default=True,
    help="Time limit of one answer, in seconds.",
)
@log_option("Write all games into this file, in the format of UPAC's log.")
@json_option
@verbose_option
def upac_match(
    first: str,
    second: str,
    games: int,
    seed: int,
    rounds: int,
    chips: int,
    most: int | None,
    old_labels: bool,
    seconds: float,
    log: Path | None,
    as_json: bool,
) -> None:
    """Play a match by UPAC's rules.

    The two bots play the same cards from both seats.

    \b
    BOT is one of
      OUT.zip         a package, which is unpacked (at most 64 MiB and 1,000 files), built and run as in the competition
      tables:OUT.zip  the bot of a package of spewy package upac, run in this process, which is faster
      random, call, allin, equity  a bot that plays by a simple rule
      cmd:COMMAND     a shell command; the program reads lines on stdin and answers on stdout
    NAME= before BOT names the bot; without NAME= a command is named after its program, and a Python command after its
    script.

    A bot's score is its share of the chips at the end of a game. Elo ratings follow the competition's rule, K = 12. A
    bot that gives an illegal answer or is late loses all chips. After Ctrl-C the command prints the score so far.

    \b
    Examples:
      spewy upac-match spewy-bot.zip equity
      spewy upac-match tables:spewy-bot.zip random --games 1000
      spewy upac-match spewy-bot.zip "other=cmd:python3 bot.py" --games 20 --log games.txt --json

    \b
    --json prints one object:
      {"bots": ["a", "b"], "games", "won", "drawn", "lost", "share", "half", "elo", "ratings": [a, b],
       "faults": ["..."], "spent": [{"slowest", "game", "cpu", "mib", "unasked"}, ..]}
      half is half the width of the 95 % confidence interval of the share. elo is the difference of Elo ratings to
      which the share corresponds; ratings are the Elo ratings after the last game. spent has for each bot the largest
      seconds of an answer (slowest), of all answers in a game (game), and of the processor in a game (cpu); the
      largest MiB of memory (mib); and the number of lines that the bot wrote before it was asked, each of which
      counts as its next answer (unasked).
    """  # noqa: D301
    from spewy.competitions.upac.games import Contenders, play_games
    from spewy.competitions.upac.rules import Rules

    rules = Rules(chips, rounds, most, old_labels)
    n_seeds = (games + 1) // 2
    played: list[Game] = []
    with Contenders(first, second) as contenders, line_writer(log) as write:
        try:
            with counting("games") as watcher:
                run = play_games(
                    rules, contenders.both, range(seed, seed + n_seeds), seconds, write if log else None
                )
                for game in run:
                    played.append(game)
                    watcher(len(played), games)
                    if len(played) == games:
                        break
        except KeyboardInterrupt:
            _show(contenders, played, as_json)
            raise
        _show(contenders, played, as_json)


def _show(contenders: Contenders, games: Sequence[Game], as_json: bool) -> None:
    from dataclasses import asdict

    from spewy.competitions.upac.games import standing

    result = standing(games)
    names = [contender.name for contender in contenders.both]
    if as_json:
        spents = [asdict(contender.spent) for contender in contenders.both]
        click.echo(json_text({"bots": names} | result.to_json() | {"spent": spents}))
        return
    rows = [
        ("bots", f"{names[0]} against {names[1]}"),
        ("games", f"{result.games:,}: {result.won:,} won, {result.drawn:,} drawn, {result.lost:,} lost"),
        ("share", f"{number(result.share, 3)} ± {number(result.half, 3)} of the chips"),
        (
            "Elo",
            f"{number(result.elo, 0)} ahead by the share; {result.ratings[0]:.0f} and {result.ratings[1]:.0f} rated",
        ),
    ]
    for contender in contenders.both:
        if contender.spent.slowest:
            spent = contender.spent
            rows.append(
                (
                    contender.name,
                    f"{spent.slowest:.2f} s slowest answer, {spent.game:.1f} s a game, {spent.mib:.0f} MiB",
                )
            )
    click.echo(facts(rows))
    for contender in contenders.both:
        if unasked := contender.spent.unasked:
            say(
                f"{contender.name} wrote {count(unasked, 'line')} before it was asked; each counts as its next answer"
            )
    for text in result.faults[:MOST_PRINTED]:
        say(text)
    if len(result.faults) > MOST_PRINTED:
        say(f"{len(result.faults) - MOST_PRINTED:,} more faults")
