"""``spewy play``: bots for dealers and referees, and the commands with which a person plays or trains."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

from spewy.cli.app import LazyGroup
from spewy.cli.bots import (
    MOST_SEED,
    SOLVING,
    check_hand_files,
    drawn_seed,
    phh_option,
    pokerstars_option,
    solving_options,
    tally_rows,
    write_hands,
)
from spewy.cli.files import line_writer
from spewy.cli.options import log_option, refuse_unused
from spewy.cli.tables import count, say
from spewy.game.names import SEAT_NAMES

if TYPE_CHECKING:
    from spewy.bot.options import Options
    from spewy.match.acpc_text import LoggedHand
    from spewy.match.trainer import Answer, Trainer

PLACES = {
    "acpc": "acpc:play_acpc",
    "gtowizard": "online:play_gtowizard",
    "higc": "higc:play_higc",
    "slumbot": "online:play_slumbot",
    "terminal": "play",
    "trainer": "play",
    "upac": "upac:play_upac",
}
"""Places of the commands below ``spewy play``, as `LazyGroup` names them."""
MOST_OF_LINE = 1000
"""Largest number of bytes that are read from a line."""


@click.group(cls=LazyGroup, places=PLACES)
def play() -> None:
    """Play a solved strategy as a bot.

    The bot plays in a match that a dealer or referee runs, or against you in the terminal. The trainer asks you about
    single decisions of solved spots.

    \b
    Examples:
      spewy play acpc localhost 20001 --lockers results/limit-holdem
      spewy play higc --lockers results/limit-holdem
      spewy play slumbot results/nolimit-200bb --hands 20000 --out results/slumbot
      spewy play gtowizard results/nolimit-200bb --hands 5000 --out results/gtowizard
      spewy play terminal --lockers results/limit-holdem
      spewy play trainer results/T1
      spewy play upac spewy-bot.zip
    """  # noqa: D301


@click.command()
@click.option(
    "--lockers",
    "folder",
    metavar="FOLDER",
    required=True,
    type=click.Path(path_type=Path),
    help='Folder of a solved whole game (a copy of its subfolder "play" is enough), of a solved spot, or of a batch.',
)
@solving_options
@click.option(
    "--seat",
    type=click.Choice(SEAT_NAMES),
    help="Your seat in every hand: oop acts first after the flop, ip last. Default: the seats alternate.",
)
@click.option(
    "--hands", type=click.IntRange(min=1), help="Number of hands to play; default: play until you leave."
)
@click.option(
    "--seed",
    type=click.IntRange(0, MOST_SEED),
    help="Seed of the cards and of the bot's choices; the same seed repeats the cards. Default: a new seed each time.",
)
@log_option("Append all hands to this file, in the format of the ACPC's logs.")
@phh_option
@pokerstars_option
def terminal(
    folder: Path,
    options: Options,
    seat: str | None,
    hands: int | None,
    seed: int | None,
    log: Path | None,
    phh: Path | None,
    pokerstars: Path | None,
) -> None:
    """Play against a solved strategy.

    Type fold, check, call, bet 300, raise 300 or all-in; type ? for help.

    After each hand the command prints what the strategy would have done with your cards and what your action cost,
    decision by decision, and your score: what you won per hand, and an estimate of your winnings without luck, with a
    95 % interval. Leave with the end of input (Ctrl-D), or with Ctrl-C (exit code 130).

    In a spot, both hands are dealt from the spot's ranges on its board, and you can play the bets of the solved tree.
    In a batch, each hand has a random board. Your score counts the share of the pot that you win, as EVs do. Options of
    re-solving are refused in spots and batches.

    \b
    Examples:
      spewy play terminal --lockers results/limit-holdem
      spewy play terminal --lockers results/T1 --seat oop
      spewy play terminal --lockers results/nolimit-200bb --hands 20 --seed 7 --log mine.log
    """  # noqa: D301
    from spewy.bot.tally import tally_of
    from spewy.match.contest import open_contest
    from spewy.match.phh import variant
    from spewy.match.sitting import Sitting, play_in_words
    from spewy.match.spots import holds_spots

    check_hand_files(phh, pokerstars)
    if holds_spots(folder):
        refuse_unused("in spots, whose strategy is exact", *SOLVING)
        refuse_unused("in spots, whose hands begin after the flop", "phh", "pokerstars")
    hands_played: list[LoggedHand] = []
    chosen = drawn_seed(seed)
    with open_contest(folder, chosen, options, say) as contest, line_writer(log, add=True) as write:
        if phh is not None or pokerstars is not None:
            # An error about a game that the formats lack comes before the hands are played.
            variant(contest.bot.game)

        def finished(hand: LoggedHand) -> None:
            write(hand.text)
            hands_played.append(hand)

        sitting = Sitting(contest, seat=None if seat is None else SEAT_NAMES.index(seat), log=finished)
        click.echo(f"{folder}, seed {chosen}")
        try:
            play_in_words(sitting, ask_line, click.echo, hands)
        finally:
            click.echo(f"{count(sitting.hands, 'hand')}, {sitting.total:+.10g} {contest.unit.name}")
            for name, text in tally_rows(tally_of(contest.bot), " of the bot"):
                click.echo(f"{name}: {text}")
            if hands_played:
                write_hands(hands_played, phh, pokerstars, "You")


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

    chosen = drawn_seed(seed)
    with Spots(folder, note=say) as spots:
        asked = Trainer(spots, None if seat is None else SEAT_NAMES.index(seat), chosen)
        click.echo(f"{folder}, seed {chosen}")
        try:
            for number in itertools.count(1) if questions is None else range(1, questions + 1):
                answer = _answered(asked, number)
                if answer is None:
                    break
                click.echo(f"  {answer.text}")
        finally:
            click.echo(asked.score.text)


def _answered(trainer: Trainer, number: int) -> Answer | None:
    from spewy.errors import InputError

    question = trainer.deal()
    click.echo(f"\nQuestion {number}: {question.text}")
    while (line := ask_line(f"{', '.join(question.actions)} > ")) is not None:
        try:
            return trainer.answer(line)
        except InputError as error:
            click.echo(str(error))
    return None


def ask_line(prompt: str) -> str | None:
    """Print a prompt, and return the next line of input; None at the end of the input."""
    line = ""
    try:
        click.echo(prompt, nl=False)
        line = _line(sys.stdin.buffer) if sys.stdin else ""
    finally:
        if not line:  # the input ended, so that the cursor still stands in the prompt's line
            click.echo()
    return line or None


def _line(source: BinaryIO) -> str:
    """Next line of input, up to `MOST_OF_LINE` bytes of it; at the end of the input an empty text."""
    line = piece = source.readline(MOST_OF_LINE)
    while len(piece) == MOST_OF_LINE and not piece.endswith(b"\n"):
        piece = source.readline(MOST_OF_LINE)
    return line.decode(errors="replace")
