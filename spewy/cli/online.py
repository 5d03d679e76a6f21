"""``spewy play slumbot`` and ``spewy play gtowizard``: play a session at a server on the web."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
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
    from spewy.competitions.online.record import Record, Results
    from spewy.competitions.online.server import Server, Site
    from spewy.competitions.online.session import Session
    from spewy.competitions.online.slumbot import Login
    from spewy.game.gamefile import Game
    from spewy.match.entrant import Entrant
    from spewy.match.score import Mean

PASSWORD = "SPEWY_SLUMBOT_PASSWORD"
"""Environment variable with the user's password at Slumbot."""
KEY = "GTOW_API_KEY"
"""Environment variable with the user's key for GTO Wizard's benchmark, as for the benchmark's own client."""
ENDING = "the command ends after this hand; Ctrl-C again ends it at once"
"""Line that the first Ctrl-C prints."""
MOST_KEY = 1000
"""Largest number of characters of a key."""


@dataclass(frozen=True)
class Wishes:
    """Options that all commands of this module have, see `session_options`."""

    bot: str
    url: str
    hands: int
    out: Path | None
    options: Options
    seed: int
    timeout: float
    patience: float
    log: Path | None
    phh: Path | None
    pokerstars: Path | None
    as_json: bool


def session_options(url: str, timeout: float) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add the argument BOT and a session's options; ``url`` and ``timeout`` are the defaults of two options."""

    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        for decorate in reversed(_session_options(url, timeout)):
            function = decorate(function)
        return function

    return add


def _session_options(url: str, timeout: float) -> list[Callable[[Callable[..., Any]], Callable[..., Any]]]:
    return [
        click.argument("bot", metavar="BOT"),
        click.option("--url", default=url, show_default=True, help="Web address of the server."),
        click.option(
            "--hands",
            type=click.IntRange(1, 10**7),
            default=1000,
            show_default=True,
            help="Number of hands in the whole session, including the hands of earlier runs with the same --out.",
        ),
        logs_option("session"),
        solving_options,
        click.option(
            "--seed",
            type=click.IntRange(min=0),
            default=0,
            show_default=True,
            help="Seed of the bot's random choices.",
        ),
        click.option(
            "--timeout",
            type=Seconds(some=True),
            default=timeout,
            show_default=True,
            help="Seconds to wait for the answer to one request.",
        ),
        click.option(
            "--patience",
            type=Seconds(),
            default=600.0,
            show_default=True,
            help="Seconds during which the command repeats a failed request, with longer and longer pauses; 0: end at "
            "the first failure.",
        ),
        log_option("Append all received and sent messages to this file, without passwords, keys and tokens."),
        phh_option,
        pokerstars_option,
        json_option,
    ]


@click.command("slumbot")
@session_options("https://slumbot.com", 60.0)
@click.option("--user", help="Name of the Slumbot account to log in with; default: play without a login.")
@click.option(
    "--password-file",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help=f"File with the password of --user; default: the password is read from the environment variable {PASSWORD}.",
)
def play_slumbot(user: str | None, password_file: Path | None, **wishes: Any) -> None:
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
    from spewy.competitions.online.slumbot import SITE, SlumbotSession

    login = _login(user, password_file)

    def begin(server: Server, bot: Bot, record: Record, names: tuple[str, str], seed: int) -> Session:
        return SlumbotSession(server, bot, record, names, login, seed)

    _play(SITE, begin, Wishes(**wishes), user or "", {}, _Baseline)


@click.command("gtowizard")
@session_options("https://researcher.gtowizard.com", 180.0)
def play_gtowizard(**wishes: Any) -> None:
    """Play at GTO Wizard's public benchmark.

    BOT is the folder of a solved game of no-limit hold'em with 200 big blinds, or a bot that plays by a simple rule:
    random, call, raise, fold, tight, loose or equity. The opponent is GTO Wizard AI. The server computes AIVAT's value
    of each hand: the chips won without most of the luck.

    The key, which a person asks for at benchmark.gtowizard.com, is read from the environment variable GTOW_API_KEY. It
    goes to the server of --url only, and over https only.

    The session continues, ends after Ctrl-C and repeats failed requests as that of spewy play slumbot. The folder of
    --out gets gtowizard.log and session.jsonl. The command plays one hand at a time; the benchmark allows a few hands
    at once (5 by its rules), so several commands with folders of their own can share a key.

    The protocol is that of the benchmark's public client. Spewy has been tried with a stand-in only, not with the real
    server.

    \b
    Examples:
      spewy play gtowizard results/nolimit-200bb --resolve always --hands 5000 --out results/gtowizard
      spewy play gtowizard call --hands 10

    \b
    --json prints one object:
      {"bot", "url", "hands", "complete", "unfinished", "chips", "score": {"mean", "half", "n"}, "aivat": {..},
       "lost", "short_raises", "faults", "seconds": {"n", "median", "p99", "most"}, "sources", "failures", "spent"}
      aivat is the mean of the server's values, in mbb per hand as score; its n is the number of hands with a value. The
      other entries are those of spewy play slumbot.
    """  # noqa: D301
    from spewy.competitions.online.gtowizard import SITE, GtoWizardSession
    from spewy.errors import InputError

    key = os.environ.get(KEY, "")
    if not (key.isascii() and key.isprintable() and " " not in key and 0 < len(key) <= MOST_KEY):
        raise InputError(
            f"environment variable {KEY}: expected the key of GTO Wizard's benchmark, found "
            f"{'other text' if key else 'none'}; ask for one at benchmark.gtowizard.com"
        )
    _play(SITE, GtoWizardSession, Wishes(**wishes), "", {"X-API-KEY": key}, _Aivat)


class _Baseline:
    """Shows results with baselines (what Slumbot thinks it would have won) as JSON entries and as rows of a table."""

    @staticmethod
    def to_json(results: Results) -> dict[str, Any]:
        from dataclasses import asdict

        return {
            "baseline_chips": sum(results.estimated),
            "baseline": asdict(results.estimate),
            "above_baseline": asdict(results.above_estimate),
        }

    @staticmethod
    def rows(results: Results) -> Iterator[tuple[str, str]]:
        if results.estimated:
            total = f"{sum(results.estimated):+,} chips"
            yield "baseline", f"{total}, {_score_text(results.estimate)} mbb per hand"
            yield "above it", f"{_score_text(results.above_estimate)} mbb per hand"


class _Aivat:
    """Shows results with AIVAT's values as JSON entries and as rows of a table."""

    @staticmethod
    def to_json(results: Results) -> dict[str, Any]:
        from dataclasses import asdict

        return {"aivat": asdict(results.estimate)}

    @staticmethod
    def rows(results: Results) -> Iterator[tuple[str, str]]:
        if results.estimated:
            yield "AIVAT", f"{_score_text(results.estimate)} mbb per hand"


Shown = type[_Baseline] | type[_Aivat]
Begin = Callable[["Server", "Bot", "Record", tuple[str, str], int], "Session"]


def _play(
    site: Site, begin: Begin, wishes: Wishes, user: str, headers: Mapping[str, str], shown: Shown
) -> None:
    from spewy.competitions.online.record import Record
    from spewy.competitions.online.server import Server
    from spewy.competitions.online.text import online_game
    from spewy.match.entrant import apart, parse_entrant
    from spewy.system.interrupts import interruptible

    require("httpx")
    check_hand_files(wishes.phh, wishes.pokerstars)
    options = replace(wishes.options, threads=wishes.options.n_threads)
    entrant = parse_entrant(wishes.bot, options, kinds=["folder"])
    say_unused_options([entrant])
    game, names = online_game(), apart(entrant.name, site.name)
    identity = {**entrant.identity, "seed": wishes.seed}
    with noted(wishes.log) as note, interruptible(ENDING) as stop:
        server = Server(site, wishes.url, wishes.timeout, wishes.patience, note, stop, headers)
        with (
            logs_folder(wishes.out, f"play {site.name}") as folder,
            _opened(entrant, game, options) as opened,
        ):
            record = Record(folder, game, server.url, user, names, identity, site.name)
            session = begin(server, opened, record, names, wishes.seed)
            _say_where(record)
            try:
                with _progress(record, wishes.hands) as watch:
                    session.play(wishes.hands, watch)
            finally:
                if record.count:
                    write_hands(record.hands(), wishes.phh, wishes.pokerstars, names[0])
                _show(session, opened, names, wishes, shown)
            if stop.is_set():
                raise KeyboardInterrupt


def _login(user: str | None, password_file: Path | None) -> Login | None:
    from spewy.competitions.online.slumbot import Login
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
        say(f"continuing hand {record.hand.number}; finished hands: {record.count:,}")
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
                f"folder {path_text(entrant.value)}: expected a strategy for {game.name}, the game of the server, "
                f"found one for {shipped(bot.game).name}"
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


def _show(session: Session, bot: Bot, names: tuple[str, str], wishes: Wishes, shown: Shown) -> None:
    from spewy.bot.tally import tally_of

    results, tally, url = session.results, tally_of(bot), session.server.url
    if wishes.as_json:
        content = _json(results, tally, session.seconds, url, names[0], wishes.hands, shown)
        click.echo(json_text(content))
    else:
        click.echo(facts(_rows(results, tally, session.seconds, url, names, wishes, shown)))


def _json(
    results: Results, tally: Tally, seconds: list[float], url: str, name: str, hands: int, shown: Shown
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
        **shown.to_json(results),
        "lost": results.lost,
        "short_raises": results.short,
        "faults": results.faults,
        "seconds": quantiles(seconds),
        **tally.to_json(),
    }


def _rows(
    results: Results,
    tally: Tally,
    seconds: list[float],
    url: str,
    names: tuple[str, str],
    wishes: Wishes,
    shown: Shown,
) -> Iterator[tuple[str, str]]:
    played = len(results.winnings)
    yield "bots", f"{names[0]} against {names[1]} at {url}"
    yield "hands", f"{played:,}" if played >= wishes.hands else f"{played:,} of {wishes.hands:,}"
    if results.unfinished is not None:
        kept = wishes.out is not None
        end = "the same command continues it" if kept else "only a session with --out could continue it"
        yield "unfinished", f"hand {results.unfinished:,}; {end}"
    if played:
        yield "chips", f"{results.total:+,}"
        yield "mbb per hand", _score_text(results.mean)
    yield from shown.rows(results)
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
