"""``spewy play trainer``: questions about decisions of solved spots."""

from __future__ import annotations

import secrets
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import click

from spewy.cli.asking import ask_line
from spewy.cli.options import verbose_option
from spewy.cli.play_options import MOST_SEED
from spewy.cli.progress import say
from spewy.game.names import SEAT_NAMES

if TYPE_CHECKING:
    from spewy.match.trainer import Answer, Trainer


@click.command()
@click.argument("folder", metavar="FOLDER", type=click.Path(path_type=Path))
@click.option(
    "--seat",
    type=click.Choice(SEAT_NAMES),
    help="Player whose decisions the questions are about: oop acts first after the flop, ip last. Default: both.",
)
@click.option(
    "--questions",
    type=click.IntRange(min=1),
    help="Number of questions to ask; default: ask until you leave.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, MOST_SEED),
    help="Seed of the questions; the same seed repeats them. Default: a new seed each time.",
)
@verbose_option
def trainer(folder: Path, seat: str | None, questions: int | None, seed: int | None) -> None:
    """Train decisions of a solved spot or batch.

    Each question is a hand on a board after some betting, drawn as often as it occurs when both players follow the
    solution.
    Type an action, such as check, call, fold, bet 120 or all-in. The answer is scored by the EV that it loses to the
    best action, in chips and in % of the pot. Leave with the end of input (Ctrl-D), or with Ctrl-C (exit code 130).

    \b
    Examples:
      spewy play trainer results/T1
      spewy play trainer results/flops --seat ip --questions 20
    """  # noqa: D301
    from spewy.match.spots import Spots
    from spewy.match.trainer import Trainer

    chosen = secrets.randbits(32) if seed is None else seed
    with Spots(folder, note=say) as spots:
        asked = Trainer(spots, None if seat is None else SEAT_NAMES.index(seat), chosen)
        click.echo(f"{folder}, seed {chosen}")
        try:
            for number in count(1) if questions is None else range(1, questions + 1):
                answer = _answered(asked, number)
                if answer is None:
                    break
                click.echo(f"  {answer.text}")
        finally:
            click.echo(asked.score.text)


def _answered(trainer: Trainer, number: int) -> Answer | None:
    """Ask a question again until the person answers with a legal action; None at the end of input."""
    from spewy.errors import InputError

    question = trainer.deal()
    click.echo(f"\nQuestion {number}: {question.text}")
    while (line := ask_line(f"{', '.join(question.texts)} > ")) is not None:
        try:
            return trainer.answer(line)
        except InputError as error:
            click.echo(str(error))
    return None
