"""``spewy play slumbot``: play a session at a server that speaks Slumbot's protocol."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import spewy
from spewy.cli.bots import (
    check_hand_files,
    logs_folder,
    logs_option,
    noted,
    phh_option,
    pokerstars_option,
    quantiles,
    say_unused_options,
    solving_options,
    tally_rows,
    times_text,
    write_hands,
)
from spewy.cli.files import require
from spewy.cli.options import Seconds, json_option, log_option
from spewy.cli.progress import PAUSE, Bar
from spewy.cli.tables import count, facts, json_text, number, say

if TYPE_CHECKING:
    from spewy.bot.bot import Bot
    from spewy.bot.options import Options
    from spewy.bot.tally import Tally
    from spewy.competitions.slumbot.session import Login, Record, Results, Session
    from spewy.game.gamefile import Game
    from spewy.match.entrant import Entrant
    from spewy.match.score import Mean

PASSWORD = "SPEWY_SLUMBOT_PASSWORD"
"""Environment variable with the user's password."""
ENDING = "the command ends after this hand; Ctrl-C again ends it at once"
"""Line that the first Ctrl-C prints."""


@click.command("slumbot")
@click.argument("bot", metavar="BOT")
@click.option("--url", default="https://slumbot.com", show_default=True, help="Web address of the server.")
@click.option(
    "--hands",
    type=click.IntRange(1, 10**7),
    default=1000,
    show_default=True,
    help="Number of hands in the whole session, including the hands of earlier runs with the same --out.",
)
@logs_option("session")
@solving_options
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Seed of the bot's random choices.",
)
@click.option("--user", help="Name of the Slumbot account to log in with; default: play without a login.")
@click.option(
    "--password-file",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help=f"File with the password of --user; default: the password is read from the environment variable {PASSWORD}.",
)
@click.option(
    "--timeout",
    type=Seconds(some=True),
    default=60.0,
    show_default=True,
    help="Seconds to wait for the answer to one request.",
)
@click.option(
    "--patience",
    type=Seconds(),
    default=600.0,
    show_default=True,
    help="Seconds during which the command repeats a failed request, with longer and longer pauses; 0: end at the "
    "first failure.",
)
@log_option("Append all received and sent messages to this file, without passwords and tokens.")
@phh_option
@pokerstars_option
@json_option
def play_slumbot(
    bot: str,
    url: str,
    hands: int,
    out: Path | None,
    options: Options,
    seed: int,
    user: str | None,
    password_file: Path | None,
    timeout: float,
    patience: float,
    log: Path | None,
    phh: Path | None,
    pokerstars: Path | None,
    as_json: bool,
) -> None:
    """Play at Slumbot's server (slumbot.com).

    BOT is the folder of a solved game of no-limit hold'em with 200 big blinds, or a bot that plays by a simple rule:
    random, call, raise, fold, tight, loose or equity.

    With --out the session continues after an interruption: the same command plays the rest of the hands, and a larger
    --hands adds more. The folder of --out gets slumbot.log, with the hands in the format of the ACPC's logs, and
    session.jsonl, with the session's token and the hand that is being played. After Ctrl-C the command ends as soon as
    the current hand does; a second Ctrl-C ends it at once, and the next run continues the hand.

    The command sends one request at a time. After a failure it repeats the request, with pauses of 1, 2, 4, ... up to
    60 seconds. It ends with exit code 1 if the server refuses a request, stays silent, or sends something that is not
    in the protocol.

    \b
    Examples:
      spewy play slumbot results/nolimit-200bb --resolve always --hands 20000 --out results/slumbot
      spewy play slumbot fold --url http://127.0.0.1:8080 --hands 100

    \b
    --json prints one object:
      {"bot", "url", "hands", "complete", "unfinished", "chips", "score": {"mean", "half", "n"},
       "baseline_chips", "baseline": {..}, "above_baseline": {..}, "lost", "short_raises", "faults",
       "seconds": {"n", "median", "p99", "most"}, "sources", "failures", "spent"}
      mean and half (half the width of the 95 % interval) are in mbb per hand. baseline is the server's estimate of what
      it would have won with the same cards. unfinished is the number of the hand that was interrupted. lost counts
      hands that were begun and not finished, short_raises counts raises below the smallest legal raise, and faults
      counts failures of the bot and actions that the server may have played twice. seconds, sources, failures and
      spent are those of this run only.
    """  # noqa: D301
    from dataclasses import replace

    from spewy.competitions.slumbot.session import Record, Session
    from spewy.competitions.slumbot.text import slumbot_game
    from spewy.competitions.slumbot.wire import Server
    from spewy.match.entrant import apart, parse_entrant
    from spewy.system.interrupts import interruptible

    require("httpx")
    check_hand_files(phh, pokerstars)
    options = replace(options, threads=options.n_threads)
    entrant = parse_entrant(bot, options, kinds=["folder"])
    say_unused_options([entrant])
    login, game = _login(user, password_file), slumbot_game()
    names = apart(entrant.name, "slumbot")
    identity = {**entrant.identity, "seed": seed}
    with noted(log) as note, interruptible(ENDING) as stop:
        server = Server(url, timeout, patience, note, stop)
        with logs_folder(out, "play slumbot") as folder, _opened(entrant, game, options) as opened:
            record = Record(folder, game, server.url, user or "", names, identity)
            session = Session(server, opened, record, names, login, seed)
            _say_where(record)
            try:
                with _progress(record, hands) as watch:
                    session.play(hands, watch)
            finally:
                if record.count:
                    write_hands(record.hands(), phh, pokerstars, names[0])
                _show(session, opened, server.url, names[0], hands, as_json, out is not None)
            if stop.is_set():
                raise KeyboardInterrupt


def _login(user: str | None, password_file: Path | None) -> Login | None:
    from spewy.competitions.slumbot.session import Login
    from spewy.errors import InputError, path_text
    from spewy.system.textfile import read_text

    if user is None:
        if password_file is not None:
            raise InputError("--password-file: there is no user; name one with --user")
        return None
    subject = f"the environment variable {PASSWORD}"
    password = os.environ.get(PASSWORD, "")
    if password_file is not None:
        subject = f"password file {path_text(password_file)}"
        password = read_text(password_file, subject).rstrip("\r\n")
    if not user or not password:
        raise InputError(f"--user: expected a name, and a password in {subject}, found none")
    return Login(user, password)


def _say_where(record: Record) -> None:
    if record.hand is not None:
        action = record.hand.fields.get("action") or "its beginning"
        say(f"continuing hand {record.hand.number} after {action}; finished hands: {record.count:,}")
    elif record.count:
        say(f"continuing after {count(record.count, 'hand')}")


@contextmanager
def _opened(entrant: Entrant, game: Game, options: Options) -> Iterator[Bot]:
    from spewy.errors import InputError, path_text
    from spewy.match.entrant import same_rules, shipped

    folder = entrant.kind == "folder"
    bot: Bot = spewy.open_bot(Path(entrant.value), options) if folder else entrant.open(game)
    try:
        if not same_rules(bot.game, game):
            raise InputError(
                f"folder {path_text(entrant.value)}: expected a strategy for {game.name}, Slumbot's game, found one "
                f"for {shipped(bot.game).name}"
            )
        yield bot
    finally:
        bot.close()


@contextmanager
def _progress(record: Record, hands: int) -> Iterator[Callable[[int], None]]:
    last = time.monotonic()
    with Bar("hands", hands, done=record.count) as bar:

        def watch(done: int) -> None:
            nonlocal last
            bar.move(done)
            now = time.monotonic()
            if now - last >= (1.0 if sys.stderr.isatty() else PAUSE):
                last = now
                text = _score_text(record.results.mean)
                bar.show(text)
                if not sys.stderr.isatty():
                    say(f"{done:,} of {count(hands, 'hand')}, {text} mbb")

        yield watch


def _show(session: Session, bot: Bot, url: str, name: str, hands: int, as_json: bool, is_kept: bool) -> None:
    from spewy.bot.tally import tally_of

    results, tally = session.results, tally_of(bot)
    if as_json:
        click.echo(json_text(_json(results, tally, session.seconds, url, name, hands)))
    else:
        click.echo(facts(_rows(results, tally, session.seconds, url, name, hands, is_kept)))


def _json(
    results: Results, tally: Tally, seconds: list[float], url: str, name: str, hands: int
) -> dict[str, Any]:
    from dataclasses import asdict

    return {
        "bot": name,
        "url": url,
        "hands": len(results.winnings),
        "complete": len(results.winnings) >= hands,
        "unfinished": results.unfinished,
        "chips": results.total,
        "score": asdict(results.mean),
        "baseline_chips": results.baseline_total,
        "baseline": asdict(results.baseline),
        "above_baseline": asdict(results.above_baseline),
        "lost": results.lost,
        "short_raises": results.short,
        "faults": results.faults,
        "seconds": quantiles(seconds),
        **tally.to_json(),
    }


def _rows(
    results: Results, tally: Tally, seconds: list[float], url: str, name: str, hands: int, is_kept: bool
) -> Iterator[tuple[str, str]]:
    played = len(results.winnings)
    yield "bots", f"{name} against slumbot at {url}"
    yield "hands", f"{played:,}" if played >= hands else f"{played:,} of {hands:,}"
    if results.unfinished is not None:
        end = "the same command continues it" if is_kept else "only a session with --out could continue it"
        yield "unfinished", f"hand {results.unfinished:,}; {end}"
    if played:
        yield "chips", f"{results.total:+,}"
        yield "mbb per hand", _score_text(results.mean)
    if results.with_baseline:
        yield "baseline", f"{results.baseline_total:+,} chips, {_score_text(results.baseline)} mbb per hand"
        yield "above it", f"{_score_text(results.above_baseline)} mbb per hand"
    yield "faults", f"{results.faults:,}"
    if results.lost:
        yield "lost hands", f"{results.lost:,}"
    if results.short:
        yield "short raises", f"{results.short:,}"
    if seconds:
        yield "answers", times_text(seconds)
    yield from tally_rows(tally)


def _score_text(mean: Mean) -> str:
    return f"{number(mean.mean, 1)} ± {number(mean.half, 1)}"
