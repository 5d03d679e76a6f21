"""``spewy play terminal``: a person plays against a solve's strategy."""

from __future__ import annotations

import secrets
import sys
from pathlib import Path
from typing import Any, BinaryIO

import click

from spewy.cli.bots import lockers_option, open_bot, solving_options, tally_rows
from spewy.cli.files import line_writer
from spewy.cli.options import log_option, verbose_option
from spewy.cli.play_options import MOST_SEED
from spewy.cli.tables import count

MOST_OF_LINE = 1000
"""Largest number of bytes that are read from a line."""


@click.command()
@lockers_option
@solving_options
@click.option("--hands", type=click.IntRange(min=1), help="Number of hands; default: until you leave.")
@click.option(
    "--seed",
    type=click.IntRange(0, MOST_SEED),
    help="Seed of the cards and of the bot's choices; the same seed repeats the cards. Default: a new seed each time.",
)
@log_option("Append all hands to this file, in the format of the ACPC's logs.")
@verbose_option
def terminal(
    folder: Path,
    how: dict[str, Any],
    hands: int | None,
    seed: int | None,
    log: Path | None,
) -> None:
    """Play against the bot in the terminal.

    Type fold, check, call, raise 300 or all-in; type ? for help.

    After each hand the command prints what the strategy would have done with your cards, decision by decision. Leave
    with the end of input (Ctrl-D), or with Ctrl-C (exit code 130).

    \b
    Examples:
      spewy play terminal --lockers results/limit-holdem
      spewy play terminal --lockers results/nolimit-200bb --hands 20 --seed 7 --log mine.log
    """  # noqa: D301
    from spewy.bot.tally import tally_of
    from spewy.match.contest import GameContest
    from spewy.match.sitting import Sitting
    from spewy.match.terminal import play_in_words

    def ask(prompt: str) -> str | None:
        line = ""
        try:
            click.echo(prompt, nl=False)
            line = _line(sys.stdin.buffer) if sys.stdin else ""
        finally:
            if not line:  # the input ended, so that the cursor still stands in the prompt's line
                click.echo()
        return line or None

    chosen = secrets.randbits(32) if seed is None else seed
    bot = open_bot(folder, **how)
    try:
        with line_writer(log, add=True) as write:
            sitting = Sitting(GameContest(bot, chosen), log=write)
            click.echo(f"{folder}, seed {chosen}")
            try:
                play_in_words(sitting, ask, click.echo, hands)
            finally:
                click.echo(f"{count(sitting.hands, 'hand')}, {sitting.total:+.10g} chips")
                for name, text in tally_rows(tally_of(bot), " of the bot"):
                    click.echo(f"{name}: {text}")
    finally:
        bot.close()


def _line(source: BinaryIO) -> str:
    """Read the next line of input, up to `MOST_OF_LINE` bytes of it; at the end of the input return an empty text."""
    line = piece = source.readline(MOST_OF_LINE)
    while len(piece) == MOST_OF_LINE and not piece.endswith(b"\n"):
        piece = source.readline(MOST_OF_LINE)
    return line.decode(errors="replace")
