"""``spewy play higc``: play OpenSpiel's games for a referee of the HIGC."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from spewy.cli.bots import resolve_option
from spewy.cli.folders import solved_folder
from spewy.cli.noted import noted
from spewy.cli.options import Seconds, log_option, refuse_unused, verbose_option
from spewy.cli.play_options import bot_seed_option, game_bot_options, patience_option
from spewy.cli.progress import say
from spewy.errors import path_text, short
from spewy.system.interrupts import interruptible

if TYPE_CHECKING:
    from spewy.bot.options import Resolve
    from spewy.competitions.higc.agents import Agents
    from spewy.competitions.higc.session import Agent
    from spewy.competitions.higc.text import Dialect


@click.command()
@game_bot_options("the bot")
@click.option(
    "--older",
    is_flag=True,
    help="Speak the older dialect of the HIGC's protocol, which OpenSpiel's referee uses.",
)
@click.option(
    "--seconds",
    type=Seconds(),
    default=2.0,
    show_default=True,
    help="Seconds to search for an answer in games that the bot has not solved; the rules allow 5.",
)
@click.option(
    "--prepare-seconds",
    type=Seconds(),
    default=3.5,
    show_default=True,
    help="Seconds for solving a game that the bot meets for the first time; the rules allow 5, including the start of "
    "the program.",
)
@click.option(
    "--prepare",
    metavar="GAME",
    help="Solve GAME for --prepare-seconds, store the solution in --data, and exit.",
)
@resolve_option
@bot_seed_option
@patience_option("referee")
@log_option("Append the bot's failures to this file.")
@verbose_option
def higc(
    lockers: tuple[Path, ...],
    solved: Path | None,
    older: bool,
    seconds: float,
    prepare_seconds: float,
    prepare: str | None,
    resolve: Resolve,
    seed: int | None,
    patience: float,
    log: Path | None,
) -> None:
    """Play for an HIGC referee on stdin and stdout.

    Messages for people go to stderr.

    The bot plays kuhn_poker, leduc_poker and universal_poker from --lockers; a small poker game without lockers is
    solved when the bot meets it for the first time, and the solution is stored. Other games need OpenSpiel (pip install
    'spewy[higc]'): the bot solves a small game by CFR, plays a larger one by search, and gin_rummy by rules of thumb.

    The command ends with exit code 1 if the referee vanishes before the end of the match. It reports failures of the
    bot on stderr, and the match goes on.

    \b
    Examples:
      spewy play higc --lockers results/limit-holdem
      spewy play higc --prepare "liars_dice" --prepare-seconds 600
      spewy referee leduc_poker "cmd:spewy play higc" random --matches 100
    """  # noqa: D301
    from spewy.competitions.higc.agents import Agents

    if prepare is not None:
        refuse_unused("with --prepare", "seconds", "resolve", "seed", "patience")
    dialect: Dialect = "older" if older else "rules"
    chosen = secrets.randbits(32) if seed is None else seed
    with noted(log) as note:
        agents = Agents(lockers, solved_folder(solved), resolve, seconds, prepare_seconds, note)
        if prepare is None:
            _play(
                lambda game, seat: agents.agent(game, seat, dialect, chosen), dialect, chosen, patience, note
            )
        else:
            _prepare(agents, prepare, dialect)


def _prepare(agents: Agents, game: str, dialect: Dialect) -> None:
    """Solve a game and store the solution, even after Ctrl-C."""

    def note(text: str) -> None:
        agents.note(text)
        say(text)

    note(
        f"{short(game)}: solved for {agents.prepare_seconds:g} s at most, stored in {path_text(agents.solved)}"
    )
    with interruptible() as stop:
        replace(agents, note=note).prepare(game, dialect, stop)
    if stop.is_set():
        raise KeyboardInterrupt


def _play(
    prepare: Callable[[str, int], Agent],
    dialect: Dialect,
    seed: int,
    patience: float,
    note: Callable[[str], None],
) -> None:
    from spewy.competitions.higc.session import MOST_OF_LINE, Session, converse
    from spewy.match.connection import Connection, stdout_alone

    with stdout_alone() as stdout, closing(Session(prepare, dialect, note, seed)) as session:
        converse(session, Connection(0, "referee", stdout, MOST_OF_LINE), patience)
