"""``spewy play acpc``: a bot from lockers as a client of the ACPC's protocol."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from spewy.cli.bots import lockers_option, open_bot, solving_options
from spewy.cli.noted import noted
from spewy.cli.options import Seconds, log_option, verbose_option
from spewy.cli.tables import facts

if TYPE_CHECKING:
    from spewy.bot.client import Match


@click.command()
@click.argument("host")
@click.argument("port", type=click.IntRange(1, 65535))
@lockers_option
@solving_options
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of what the bot draws."
)
@log_option("Add all that is said to a file.")
@click.option(
    "--wait",
    type=Seconds(),
    default=10.0,
    show_default=True,
    help="Seconds to wait for a dealer that listens.",
)
@click.option(
    "--patience",
    type=Seconds(),
    default=1800.0,
    show_default=True,
    help="Seconds without a word after which a dealer counts as gone.",
)
@verbose_option
def acpc(
    host: str,
    port: int,
    folder: Path,
    how: dict[str, Any],
    seed: int,
    log: Path | None,
    wait: float,
    patience: float,
) -> None:
    """Play at the table of an ACPC dealer (protocol 2.0.0) until it closes the connection.

    A dealer that vanishes in the middle of a hand, or sends nothing sensible for too long, is an error (exit code 1).
    What goes wrong with the bot is told on stderr and in the log, and the match goes on.

    \b
    Examples:
      spewy play acpc localhost 20001 --lockers results/limit-holdem
      spewy play acpc localhost 20001 --lockers results/nolimit-200bb --resolve always --budget 3
    """  # noqa: D301
    from spewy.bot.client import play
    from spewy.bot.transport import connect

    begun = time.monotonic()
    bot = open_bot(folder, **how)
    try:
        opened = time.monotonic() - begun
        with noted(log) as note, connect(host, port, wait) as lines:
            match = play(lines, bot, seed, patience, note)
    finally:
        bot.close()
    click.echo(facts(_rows(match, opened)))


def _rows(match: Match, opened: float) -> Iterator[tuple[str, str]]:
    from spewy.run.memory import peak_rss_mib

    yield "hands", f"{match.hands:,}"
    yield "faults", f"{match.faults:,}"
    if match.seconds:
        ordered = sorted(match.seconds)
        median, high = (ordered[int(share * (len(ordered) - 1))] for share in (0.5, 0.99))
        yield (
            "decisions",
            f"{len(ordered):,}; {median:.4f} s median, {high:.4f} s 99 %, {ordered[-1]:.4f} s at most",
        )
    yield "start", f"{opened:.2f} s"
    yield "memory", f"{peak_rss_mib():,.0f} MiB at most"
