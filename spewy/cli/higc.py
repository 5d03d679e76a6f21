"""Commands for the protocol of the Hidden Information Games Competition: ``spewy play higc``, ``spewy referee``."""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from spewy.cli.bots import (
    MOST_PRINTED,
    MOST_SEED,
    bot_seed_option,
    drawn_seed,
    game_bot_options,
    logs_folder,
    logs_option,
    noted,
    patience_option,
    resolve_option,
    solved_folder,
    workers_option,
)
from spewy.cli.files import require
from spewy.cli.options import FOREIGN_CODE, Seconds, json_option, log_option, refuse_unused
from spewy.cli.progress import counting
from spewy.cli.tables import facts, json_text, number, say
from spewy.errors import path_text, short
from spewy.system.interrupts import interruptible

if TYPE_CHECKING:
    from spewy.bot.options import Resolve
    from spewy.competitions.higc.agents import Agents
    from spewy.competitions.higc.series import Outcome, Series
    from spewy.competitions.higc.text import Dialect

older_option = click.option(
    "--older",
    is_flag=True,
    help="Speak the older dialect of the HIGC's protocol, which OpenSpiel's referee uses.",
)


@click.command("higc")
@game_bot_options("the bot")
@older_option
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
def play_higc(
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
    from spewy.competitions.higc.session import MOST_OF_LINE, Session, converse
    from spewy.match.connection import Connection, stdout_alone

    if prepare is not None:
        refuse_unused("with --prepare", "seconds", "resolve", "seed", "patience")
    dialect: Dialect = "older" if older else "rules"
    chosen = drawn_seed(seed)
    with noted(log) as note:
        agents = Agents(lockers, solved_folder(solved), resolve, seconds, prepare_seconds, note)
        if prepare is not None:
            _prepare(agents, prepare, dialect)
            return
        session = Session(lambda game, seat: agents.agent(game, seat, dialect, chosen), dialect, note, chosen)
        with stdout_alone() as stdout, closing(session):
            converse(session, Connection(0, "referee", stdout, MOST_OF_LINE), patience)


def _prepare(agents: Agents, game: str, dialect: Dialect) -> None:
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


@click.command(epilog=FOREIGN_CODE)
@click.argument("game")
@click.argument("first", metavar="BOT")
@click.argument("second", metavar="BOT")
@click.option(
    "--matches",
    type=click.IntRange(1, 10**6),
    default=100,
    show_default=True,
    help="Number of matches to play; in half of them the seats are swapped.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, MOST_SEED),
    default=0,
    show_default=True,
    help="Seed of the random outcomes, such as dealt cards.",
)
@older_option
@click.option(
    "--seconds", type=Seconds(), default=5.0, show_default=True, help="Time limit of one answer, in seconds."
)
@click.option(
    "--chance-seconds",
    type=Seconds(),
    default=0.2,
    show_default=True,
    help="Seconds that the referee waits at each chance node, so that bots can compute; the rules say 0.2.",
)
@click.option(
    "--prepare-seconds",
    type=Seconds(),
    default=5.0,
    show_default=True,
    help="Extra seconds, on top of --seconds, for a bot's first answer in a match.",
)
@logs_option("series")
@workers_option("one for each core, two at most")
@game_bot_options("the bot spewy")
@click.option(
    "--search-seconds",
    type=Seconds(),
    default=1.0,
    show_default=True,
    help="Seconds that the bot spewy may search for an answer.",
)
@json_option
def referee(
    game: str,
    first: str,
    second: str,
    matches: int,
    seed: int,
    older: bool,
    seconds: float,
    chance_seconds: float,
    prepare_seconds: float,
    out: Path | None,
    workers: int | None,
    lockers: tuple[Path, ...],
    solved: Path | None,
    search_seconds: float,
    as_json: bool,
) -> None:
    """Referee HIGC matches between two bots.

    GAME is the name of a game of OpenSpiel; half of the matches are played with the seats swapped.

    BOT is cmd:COMMAND (a program that reads stdin and writes stdout), random, or spewy (the bot of spewy play higc, in
    the referee's process). NAME= before BOT names the bot; without NAME= a command is named after its program, and a
    Python command after its script.

    The referee replaces an illegal action by a random one. It shuts a bot down after three illegal actions, after three
    lines that the bot sent without being asked, or after one late answer. For a bot that was shut down or has ended it
    plays random actions to the end of the match. The score is what the first bot wins per match, with a 95 % confidence
    interval. The logs have all matches, and what the bots write to stderr.

    \b
    Examples:
      spewy referee leduc_poker "cmd:spewy play higc" random
      spewy referee gin_rummy spewy "mine=cmd:python3 agent.py" --matches 5000 --out results/gin
      spewy referee kuhn_poker spewy random --chance-seconds 0 --json

    \b
    --json prints one object:
      {"game", "bots": ["a", "b"], "matches", "played", "complete",
       "score": {"mean", "half" (half the width of the interval), "n"}, "faults": {"a": {"illegal": 1, ..}, ..},
       "late": [share of the matches in which the bot was late, ..], "disqualified": [names of bots]}
    """  # noqa: D301
    require("pyspiel")
    from spewy.competitions.higc.referee import Limits
    from spewy.competitions.higc.series import Series, outcome, parse_bot, play_series
    from spewy.match.entrant import apart

    kept = solved_folder(solved)
    bots = parse_bot(first, kept, lockers, search_seconds), parse_bot(second, kept, lockers, search_seconds)
    if all(bot.value != "spewy" for bot in bots):
        refuse_unused("without the bot spewy", "lockers", "solved", "search_seconds")
    names = apart(bots[0].name, bots[1].name)
    limits = Limits("older" if older else "rules", seconds, chance_seconds, prepare_seconds)
    series = Series(game, bots, names, matches, seed, limits)
    with logs_folder(out, "referee") as folder:
        try:
            with counting("matches") as watcher:
                result = play_series(series, folder, watcher, workers)
        except KeyboardInterrupt:
            _show(series, outcome(series, folder), as_json)
            raise
    _show(series, result, as_json)


def _show(series: Series, result: Outcome, as_json: bool) -> None:
    if as_json:
        click.echo(json_text(_json(series, result)))
        return
    first, second = series.names
    whole = "" if result.complete else f", {len(result.records):,} of them so far"
    rows = [
        ("bots", f"{first} against {second}"),
        ("game", series.game),
        ("played", f"{series.matches:,} matches{whole}"),
        ("score", f"{number(result.mean.mean, 4)} ± {number(result.mean.half, 4)} per match"),
    ]
    rows += [
        (f"faults of {name}", text)
        for n, name in enumerate(series.names)
        if (text := ", ".join(f"{kind} {times}" for kind, times in result.counts(n).items()))
    ]
    click.echo(facts(rows))
    for n, name in enumerate(series.names):
        for text in result.faults(n)[:MOST_PRINTED]:
            say(f"{name}: {text}")
        if result.is_disqualified(n):
            say(f"{name} is disqualified: it was late in {result.late_share(n):.1%} of the matches")


def _json(series: Series, result: Outcome) -> dict[str, Any]:
    names = series.names
    return {
        "game": series.game,
        "bots": names,
        "matches": series.matches,
        "played": len(result.records),
        "complete": result.complete,
        "score": asdict(result.mean),
        "faults": {name: result.counts(n) for n, name in enumerate(names)},
        "late": [result.late_share(n) for n in (0, 1)],
        "disqualified": [name for n, name in enumerate(names) if result.is_disqualified(n)],
    }
