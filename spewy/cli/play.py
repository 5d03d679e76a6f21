"""``spewy play``: let a bot play for a dealer or referee, or against a person."""

from __future__ import annotations

import click

from spewy.cli.play_acpc import acpc
from spewy.cli.play_higc import higc
from spewy.cli.play_slumbot import slumbot
from spewy.cli.play_terminal import terminal
from spewy.cli.play_trainer import trainer
from spewy.cli.play_upac import upac


@click.group()
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


play.add_command(acpc)
play.add_command(higc)
play.add_command(slumbot)
play.add_command(terminal)
play.add_command(trainer)
play.add_command(upac)
