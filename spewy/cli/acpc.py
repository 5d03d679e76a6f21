"""The ACPC's protocol: ``spewy play acpc``, ``spewy dealer`` and ``spewy package acpc``."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

import spewy
from spewy.cli.bots import (
    acpc_solving_options,
    lockers_option,
    noted,
    patience_option,
    quantiles,
    solving_options,
    tally_rows,
    times_text,
)
from spewy.cli.files import line_writer
from spewy.cli.options import Seconds, folder_argument, json_option, log_option
from spewy.cli.tables import facts, json_text, say, size
from spewy.system.tools import MOST_SECONDS

if TYPE_CHECKING:
    from spewy.bot.options import Options
    from spewy.bot.tally import Tally
    from spewy.competitions.acpc.client import Match
    from spewy.competitions.acpc.dealer import Action, Limits, Logs, Terms

RESPONSE, PER_HAND, START = 600_000, 7_000, 600_000
"""Default time limits in milliseconds: for an answer or a hand, for a match divided by its hands, for connecting.

The first two are those of the ACPC's reference dealer, the third is that of the first competition (2007).
"""
_MILLISECONDS = click.IntRange(-1, int(MOST_SECONDS) * 1000)


@click.command("acpc")
@click.argument("host")
@click.argument("port", type=click.IntRange(1, 65535))
@lockers_option
@solving_options
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Seed of the bot's random choices.",
)
@log_option("Append all received and sent lines to this file.")
@click.option(
    "--wait",
    type=Seconds(),
    default=10.0,
    show_default=True,
    help="Seconds to keep trying until the dealer accepts the connection.",
)
@patience_option("dealer")
@json_option
def play_acpc(
    host: str,
    port: int,
    folder: Path,
    options: Options,
    seed: int,
    log: Path | None,
    wait: float,
    patience: float,
    as_json: bool,
) -> None:
    """Play at an ACPC dealer (protocol 2.0.0).

    The bot plays until the dealer closes the connection.

    The command ends with exit code 1 if the dealer vanishes in the middle of a hand, or sends no match state for too
    long. It reports failures of the bot on stderr and in the log, and the match goes on.

    At the end the command prints the number of decisions by source: stored (the stored strategy), re-solved, translated
    (the stored strategy after a similar bet) and fallback (pot odds, a check or a fold, since nothing is stored). It
    also prints the number of failed re-solves by the class of the error; the bot then played the stored strategy.

    \b
    Examples:
      spewy play acpc localhost 20001 --lockers results/limit-holdem
      spewy play acpc localhost 20001 --lockers results/nolimit-200bb --resolve always --time-per-hand 7s

    \b
    --json prints one object; "seconds" are those of decisions, "start" those of opening the bot:
      {"hands", "faults", "seconds": {"n", "median", "p99", "most"}, "start": seconds, "memory_mib",
       "sources": {"stored": 90, "re-solved": 8, "translated": 1, "fallback": 1}, "failures": {"SolveError": 1},
       "spent": as in spewy match}
    """  # noqa: D301
    from spewy.bot.tally import tally_of
    from spewy.competitions.acpc.client import play
    from spewy.match.connection import connect

    begun = time.monotonic()
    bot = spewy.open_bot(folder, options)
    try:
        opened = time.monotonic() - begun
        with noted(log) as note, connect(host, port, wait) as connection:
            match = play(connection, bot, seed, patience, note)
    finally:
        bot.close()
    tally = tally_of(bot)
    click.echo(json_text(_json(match, tally, opened)) if as_json else facts(_rows(match, tally, opened)))


def _json(match: Match, tally: Tally, opened: float) -> dict[str, Any]:
    from spewy.run.cost import peak_rss_mib

    return {
        "hands": match.hands,
        "faults": match.faults,
        "seconds": quantiles(match.seconds),
        "start": opened,
        "memory_mib": peak_rss_mib(),
        **tally.to_json(),
    }


def _rows(match: Match, tally: Tally, opened: float) -> Iterator[tuple[str, str]]:
    from spewy.run.cost import peak_rss_mib

    yield "hands", f"{match.hands:,}"
    yield "faults", f"{match.faults:,}"
    if match.seconds:
        yield "answers", times_text(match.seconds)
    yield from tally_rows(tally)
    yield "start", f"{opened:.2f} s"
    yield "memory", f"{peak_rss_mib():,.0f} MiB at most"


@click.command()
@click.argument("name")
@click.argument("game")
@click.argument("hands", type=click.IntRange(1, 2**32 - 1))
@click.argument("seed", type=click.IntRange(0, 2**32 - 1))
@click.argument("p1")
@click.argument("p2")
@click.option(
    "-p",
    "ports",
    metavar="PORT,PORT",
    help="Ports to which the players P1 and P2 connect, in this order, such as 20001,20002; default: any free ports.",
)
@click.option(
    "--bind",
    default="127.0.0.1",
    show_default=True,
    help="Network address to listen on; 0.0.0.0 opens the ports to other machines.",
)
@click.option(
    "--rules",
    type=click.Choice(["2.0.0", "2007"]),
    default="2.0.0",
    show_default=True,
    help="Version of the ACPC's rules. With 2007 a player may fold when checking is free, and the dealer folds for a "
    "player who is late or has disconnected.",
)
@click.option(
    "-f",
    "fixed",
    is_flag=True,
    help="Keep each player in the same seat in all hands, instead of swapping seats after each hand.",
)
@click.option("-q", "quiet", is_flag=True, help="Print only warnings, errors and the score.")
@click.option(
    "-l/-L",
    "no_log",
    is_flag=True,
    help="Omit the log of the hands, NAME.log (-l), or write it (-L, the default).",
)
@click.option(
    "-T/-t",
    "transactions",
    is_flag=True,
    help="-T: write the log of the actions, NAME.tlog, from which -a can continue the match; -t: do not write it (the "
    "default).",
)
@click.option(
    "-a",
    "again",
    is_flag=True,
    help="Continue an interrupted match after the actions in its log NAME.tlog; needs -T.",
)
@click.option(
    "--t_response",
    type=_MILLISECONDS,
    help="Time limit of one answer, in milliseconds; -1: no limit. Default: 600000, but -1 with --rules 2007.",
)
@click.option(
    "--t_hand",
    type=_MILLISECONDS,
    help="Time limit of a player's answers in one hand, in milliseconds; -1: no limit. Default: 600000, but -1 with "
    "--rules 2007.",
)
@click.option(
    "--t_per_hand",
    type=_MILLISECONDS,
    help="Average time limit per hand, in milliseconds: all answers of a player in the match together may take HANDS "
    "times as long; -1: no limit. Default: 7000.",
)
@click.option(
    "--start_timeout",
    type=_MILLISECONDS,
    help="Milliseconds within which both players must connect; -1: no limit. Default: -1, but 600000 with --rules "
    "2007.",
)
def dealer(
    name: str,
    game: str,
    hands: int,
    seed: int,
    p1: str,
    p2: str,
    ports: str | None,
    bind: str,
    rules: Literal["2.0.0", "2007"],
    fixed: bool,
    quiet: bool,
    no_log: bool,
    transactions: bool,
    again: bool,
    t_response: int | None,
    t_hand: int | None,
    t_per_hand: int | None,
    start_timeout: int | None,
) -> None:
    """Deal a match over ACPC ports.

    The command deals HANDS hands of GAME to the players P1 and P2, each of whom connects to a port of its own.

    Messages, logs, the cards of a SEED and the treatment of illegal replies are those of the competition's reference
    dealer. The first line on stdout has the ports, the last line the score; NAME.log has all hands. A player who breaks
    a time limit or closes the connection ends the match with exit code 1; with --rules 2007 the dealer folds for such a
    player instead.

    Whoever first connects to a player's port plays for this player, since the protocol has no passwords and no
    encryption. The dealer listens at 127.0.0.1, which other machines cannot reach, unless --bind names another address.

    \b
    Examples:
      spewy dealer test holdem.limit.2p.reverse_blinds 3000 0 Alice Bob -p 20001,20002
      spewy dealer doyle doyle 1000 7 Alice Bob --rules 2007
    """  # noqa: D301
    from spewy.competitions.acpc.dealer import Dealer, Terms, accept_both
    from spewy.game.gamefile import load_game
    from spewy.match.connection import Listener

    if again and not transactions:
        raise click.UsageError("-a continues from a transaction log, which -T writes; add -T")
    limits = _limits(rules, hands, (t_response, t_hand, t_per_hand, start_timeout))
    terms = Terms(name, load_game(game), hands, seed, (p1, p2), limits, rules, fixed)
    header = _header(game, terms)
    before = _actions_before(Path(f"{name}.tlog"), header) if again else []
    with ExitStack() as open_things:
        listener = open_things.enter_context(Listener(bind, _ports(ports)))
        logs = open_things.enter_context(_logs(terms, quiet, not no_log, transactions, again))
        for line in header:
            logs.hand(line)
            if not again:
                logs.action(line)
        click.echo(" ".join(map(str, listener.ports)))
        connections = accept_both(listener, terms)
        for connection in connections:
            open_things.enter_context(connection)
        score = Dealer(terms, connections, logs, before).play()
        logs.hand(score.text)
    click.echo(score.text, err=True)
    click.echo(score.text)


def _limits(rules: str, hands: int, given: tuple[int | None, ...]) -> Limits:
    from spewy.competitions.acpc.dealer import Limits

    defaults = (-1, -1, PER_HAND, START) if rules == "2007" else (RESPONSE, RESPONSE, PER_HAND, -1)
    response, hand, per_hand, start = (
        None if milliseconds < 0 else milliseconds / 1000
        for milliseconds in (
            default if value is None else value for value, default in zip(given, defaults, strict=True)
        )
    )
    return Limits(response, hand, None if per_hand is None else min(per_hand * hands, MOST_SECONDS), start)


def _ports(text: str | None) -> tuple[int, ...]:
    from spewy.errors import InputError, shown

    if text is None:
        return 0, 0
    words = text.split(",")
    if len(words) != 2 or not all(word.isascii() and word.isdigit() and len(word) < 6 for word in words):
        raise InputError(f"ports: expected two numbers such as 20001,20002, found {shown(text)}")
    numbers = tuple(int(word) for word in words)
    if max(numbers) > 65535:
        raise InputError(f"ports: expected numbers up to 65535, found {shown(text)}")
    if numbers[0] == numbers[1] != 0:
        raise InputError(f"ports: expected two different numbers, one for each player, found {shown(text)}")
    return numbers


def _header(game: str, terms: Terms) -> list[str]:
    limits = terms.limits
    per_hand = None if limits.match is None else limits.match / terms.hands
    times = (("response", limits.response), ("hand", limits.hand), ("per_hand", per_hand))
    seats = "fixed seats" if terms.fixed else "seats swap"
    name = terms.name.encode("ascii", "backslashreplace").decode()
    return [
        f"# name/game/hands/seed {name} {game} {terms.hands} {terms.seed}",
        *(f"#--t_{key} {-1 if seconds is None else round(seconds * 1000)}" for key, seconds in times),
        f"# players {'|'.join(terms.names)}, rules {terms.rules}, {seats}",
    ]


def _actions_before(path: Path, header: Sequence[str]) -> list[Action]:
    """Read the actions in a transaction log, and remove an incomplete last line from the file."""
    from spewy.competitions.acpc.dealer import parse_actions
    from spewy.errors import InputError, path_text, short
    from spewy.match.acpc_text import MOST_TOLD
    from spewy.system.textfile import read_text, replace_text

    subject = f"transaction log {path_text(path)}"
    text = read_text(path, subject)
    whole = text[: text.rfind("\n") + 1]
    lines = whole.splitlines()[: len(header)]
    if not (lines and all(line.startswith("#") for line in lines)):
        raise InputError(
            f"{subject} does not say which match it has (cards, players, rules and times), as logs of earlier versions "
            "and of other dealers; play the match again from its beginning, without -a"
        )
    for expected, found in zip_longest(header, lines, fillvalue=""):
        if expected != found:
            raise InputError(
                f"{subject} belongs to another match: expected the line {short(expected, MOST_TOLD)!r}, found "
                f"{short(found, MOST_TOLD)!r}; "
                "play with the arguments of that match, or without -a"
            )
    actions = parse_actions(whole)
    if whole != text:
        replace_text(path, whole)
    return actions


@contextmanager
def _logs(terms: Terms, quiet: bool, log: bool, transactions: bool, again: bool) -> Iterator[Logs]:
    from spewy.competitions.acpc.dealer import Logs

    def note(text: str) -> None:
        if not quiet or text.startswith(("WARNING", "ERROR")):
            say(text)

    with (
        line_writer(Path(f"{terms.name}.log") if log else None) as hand,
        line_writer(Path(f"{terms.name}.tlog") if transactions else None, add=again) as action,
    ):
        yield Logs(note, hand, action)


@click.command("acpc")
@folder_argument
@click.argument("out", type=click.Path(path_type=Path))
@acpc_solving_options
def package_acpc(folder: Path, out: Path, options: Options) -> None:
    """Package a bot for the ACPC.

    The new folder OUT has startme.sh, a copy of the strategy locker in FOLDER, the code and a README.

    startme.sh runs "spewy play acpc" with the options of re-solving that this command gets. By default all answers of
    the bot in a match together take at most 7 seconds times the number of hands, as the rules of the ACPC demand.

    The README says what must be installed on the machine that runs the bot. A solve in FOLDER may be running meanwhile.

    \b
    Examples:
      spewy package acpc results/limit-holdem submission
      spewy package acpc results/nolimit-200bb submission --resolve always --threads 4
    """  # noqa: D301
    from spewy.competitions.acpc.package import package_acpc as write_package

    spewy.open_bot(folder, options, ready=False).close()  # raises an error if no bot can play from the folder
    n_bytes = write_package(folder, out, options.words)
    click.echo(
        facts([("folder", str(out)), ("size", size(n_bytes)), ("start", f"{out}/startme.sh HOST PORT")])
    )
