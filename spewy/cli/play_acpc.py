"""``spewy play acpc``: play a solve's strategy as a client of the ACPC's protocol."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from spewy.cli.bots import lockers_option, open_bot, quantiles, solving_options, tally_rows, times_text
from spewy.cli.noted import noted
from spewy.cli.options import Seconds, json_option, log_option, verbose_option
from spewy.cli.play_options import patience_option
from spewy.cli.tables import facts, json_text

if TYPE_CHECKING:
    from spewy.bot.options import Options
    from spewy.bot.tally import Tally
    from spewy.competitions.acpc.client import Match


@click.command()
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
@verbose_option
def acpc(
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
    bot = open_bot(folder, options)
    try:
        opened = time.monotonic() - begun
        with noted(log) as note, connect(host, port, wait) as connection:
            match = play(connection, bot, seed, patience, note)
    finally:
        bot.close()
    tally = tally_of(bot)
    click.echo(json_text(_json(match, tally, opened)) if as_json else facts(_rows(match, tally, opened)))


def _json(match: Match, tally: Tally, opened: float) -> dict[str, Any]:
    from spewy.run.memory import peak_rss_mib

    return {
        "hands": match.hands,
        "faults": match.faults,
        "seconds": {"n": len(match.seconds), **quantiles(match.seconds)},
        "start": opened,
        "memory_mib": peak_rss_mib(),
        **tally.to_json(),
    }


def _rows(match: Match, tally: Tally, opened: float) -> Iterator[tuple[str, str]]:
    from spewy.run.memory import peak_rss_mib

    yield "hands", f"{match.hands:,}"
    yield "faults", f"{match.faults:,}"
    if match.seconds:
        yield "answers", times_text(match.seconds)
    yield from tally_rows(tally)
    yield "start", f"{opened:.2f} s"
    yield "memory", f"{peak_rss_mib():,.0f} MiB at most"
