"""``spewy play``: let a bot play for a dealer or referee, or against a person."""

from __future__ import annotations

import click

from spewy.cli.lazy_group import LazyGroup

MODULES = {
    "acpc": "play_acpc",
    "higc": "play_higc",
    "slumbot": "play_slumbot",
    "terminal": "play_terminal",
    "trainer": "play_trainer",
    "upac": "play_upac",
}


@click.group(cls=LazyGroup, modules=MODULES)
def play() -> None:
    """Play a solved strategy as a bot.

    The bot plays in a match that a dealer or referee runs, or against you in the terminal. The trainer asks you about
    single decisions of solved spots.

    \b
    Examples:
      spewy play acpc localhost 20001 --lockers results/limit-holdem
      spewy play higc --lockers results/limit-holdem
      spewy play slumbot results/nolimit-200bb --hands 20000 --out results/slumbot
      spewy play terminal --lockers results/limit-holdem
      spewy play trainer results/T1
      spewy play upac spewy-bot.zip
    """  # noqa: D301
