"""``spewy play terminal``: a person plays against a solve's strategy."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from spewy.cli.asking import ask_line
from spewy.cli.bots import SOLVING, open_bot, solving_options, tally_rows
from spewy.cli.files import line_writer
from spewy.cli.options import log_option, refuse_unused, verbose_option
from spewy.cli.play_options import MOST_SEED
from spewy.cli.progress import say
from spewy.cli.tables import count
from spewy.game.names import SEAT_NAMES

if TYPE_CHECKING:
    from spewy.bot.options import Options
    from spewy.bot.tally import Tally
    from spewy.match.contest import Contest


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
@verbose_option
def terminal(
    folder: Path,
    options: Options,
    seat: str | None,
    hands: int | None,
    seed: int | None,
    log: Path | None,
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
    from spewy.match.sitting import Sitting, play_in_words

    chosen = secrets.randbits(32) if seed is None else seed
    with _contest(folder, chosen, options) as (contest, tally), line_writer(log, add=True) as write:
        sitting = Sitting(contest, seat=None if seat is None else SEAT_NAMES.index(seat), log=write)
        click.echo(f"{folder}, seed {chosen}")
        try:
            play_in_words(sitting, ask_line, click.echo, hands)
        finally:
            click.echo(f"{count(sitting.hands, 'hand')}, {sitting.total:+.10g} {contest.unit.name}")
            for name, text in tally_rows(tally(), " of the bot"):
                click.echo(f"{name}: {text}")


@contextmanager
def _contest(folder: Path, seed: int, options: Options) -> Iterator[tuple[Contest, Callable[[], Tally]]]:
    """Open the bot, spot or batch that the person plays against, and a function that returns the bot's `Tally`.

    ``options`` are those of a bot from a folder.
    """
    from spewy.bot.tally import Tally, tally_of
    from spewy.match.contest import GameContest
    from spewy.match.spot_contest import SpotContest
    from spewy.match.spots import Spots, holds_spots

    if holds_spots(folder):
        refuse_unused("in spots, whose strategy is exact", *SOLVING)
        with Spots(folder, note=say) as spots:
            yield SpotContest(spots, seed), Tally
    else:
        with closing(open_bot(folder, options)) as bot:
            yield GameContest(bot, seed), lambda: tally_of(bot)
