"""``spewy play``: a bot from lockers at a table, against a dealer's other seat or a person."""

from __future__ import annotations

import click

from spewy.cli.play_acpc import acpc


@click.group()
def play() -> None:
    """Play from the lockers of a solve: at a dealer's table, or against a person.

    \b
    Examples:
      spewy play acpc localhost 20001 --lockers results/limit-holdem
    """  # noqa: D301


play.add_command(acpc)
