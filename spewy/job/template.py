"""Write a job file with comments from the user's answers to a few questions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from random import Random

from buckets.cards import Deck, card_name, cards_name
from spewy.game.gamefile import load_game
from spewy.game.names import ROUND_NAMES
from spewy.game.ranges import parse_range
from spewy.job.presets import GivenRange, Preset

__all__ = ["Answers", "drawn_board", "job_text"]

HOLDEM = "holdem.nolimit.2p.reverse_blinds"
"""Name of the game in new job files."""
FLOP = 3
DEEP, SHALLOW = 8, 2.5
"""Limits of the stack divided by the pot: above ``DEEP`` a new job gets the bet sizes of a single raised pot, below
``SHALLOW`` those of a 4-bet pot."""


@dataclass(frozen=True)
class Answers:
    """The answers that determine a new job; amounts are in big blinds.

    Attributes:
        name: name of the job.
        about: description of the job.
        board: three to five cards; empty for a subset of flops.
        drawn: how the board was drawn; None if the user gave the board.
        pot, stack: pot and effective stack.
        ranges: ranges of both players, oop first.
        caller_checks: whether oop always checks to the player who raised before the flop.
        subset: number of flops that represent all flops, if there is no board.
        bet, raise_: bet and raise sizes on every round; None: the sizes depend on the depth of the stacks.
    """

    name: str
    about: str
    board: tuple[int, ...]
    drawn: str | None
    pot: float
    stack: float
    ranges: tuple[GivenRange, GivenRange]
    caller_checks: bool
    subset: int | None = None
    bet: str | None = None
    raise_: str | None = None

    @property
    def n_cards(self) -> int:
        """Number of cards of the board, or of each flop."""
        return len(self.board) or FLOP

    @classmethod
    def of(cls, preset: Preset, board: tuple[int, ...], drawn: str | None) -> Answers:
        """Make the answers from a preset.

        Args:
            preset: the formation.
            board: three to five cards; empty for a subset of flops.
            drawn: how the board was drawn; None if the user gave the board.
        """
        return cls(
            f"{preset.name}-{cards_name(board)}" if board else preset.name,
            preset.about,
            board,
            drawn,
            preset.pot,
            preset.stack,
            preset.ranges,
            preset.raiser == "ip" and len(board) in (0, FLOP),
        )


def drawn_board(seed: int, n_cards: int) -> tuple[int, ...]:
    """Draw a random board of ``n_cards`` hold'em cards, in `Game.board_order`."""
    return load_game(HOLDEM).board_order(Random(seed).sample(Deck().cards, n_cards))


def job_text(answers: Answers) -> str:
    """Write the text of the job file."""
    root = ROUND_NAMES[answers.n_cards - 2]
    oop, ip = answers.ranges
    return f"""\
# {answers.about}
# Written by spewy new. docs/jobs.md explains lines, amounts and ranges; docs/formats.md explains every key.
name = {json.dumps(answers.name)}
unit = "bb"  # all amounts are in big blinds; "chips": hundredths of a big blind

[game]
file = "{HOLDEM}"

[spot]
{_board(answers)}
pot = {_amount(answers.pot)}    # pot when the {root} is dealt
stack = {_amount(answers.stack)}    # effective stack: the smaller of both players' chips behind
{_range("oop", "first to act", oop)}
{_range("ip", "last to act", ip)}

# Sizes: 33% of the pot; 2.5x the bet faced (raises only); 2.5bb; a: all-in; e: the share of the pot that, bet on every
# remaining round, ends all-in. A raise of 60% adds 60% of the pot after a call. docs/formats.md explains all sizes.
{_bets(answers)}
[tree]
add_allin = 1.0      # adds an all-in that is at most the pot
force_allin = 0.2    # makes a bet all-in that would leave at most a fifth of the pot behind
min_bet = 1          # smallest bet

[solve]
target = "0.5%"      # stops at this exploitability, in % of the pot; a later solve with a lower target continues
{_workers(answers)}
{_precision(answers)}memory = "4 GiB"     # memory limit; spewy estimate shows how much a solve needs
{"" if answers.subset is None else _SAVE}"""


def _board(answers: Answers) -> str:
    """Write the line for the board, or for the number of flops."""
    if answers.subset is not None:
        return f"boards = {{ subset = {answers.subset} }}    # flops that represent all 1,755; each gets a folder"
    drawn = "" if answers.drawn is None else f"    # {answers.drawn}"
    return f'board = "{" ".join(map(card_name, answers.board))}"{drawn}'


def _workers(answers: Answers) -> str:
    """Write the line for the number of threads; one thread for each flop is fastest if there are many flops."""
    if answers.subset is not None:
        return "workers = 1          # threads for each flop; spewy solve solves a flop on each core"
    return "workers = 2          # threads"


def _amount(amount: float) -> str:
    """Format a number without an exponent."""
    return f"{amount:.9f}".rstrip("0").rstrip(".") if isfinite(amount) else str(amount)


def _range(seat: str, when: str, given: GivenRange) -> str:
    combos = parse_range(given.text).combos
    about = f"# {given.about}\n" if given.about else ""
    comment = f"# {seat}, {when}: {combos:,.1f} hands before the board blocks some\n{about}"
    return f'{comment}{seat} = """\n{given.text}\n"""'


def _precision(answers: Answers) -> str:
    """Write the line for the precision: 16-bit numbers for deep stacks, which need much memory; else no line."""
    if answers.stack <= DEEP * answers.pot:
        return ""
    return 'precision = "16-bit" # takes half the memory of single precision\n'


def _bets(answers: Answers) -> str:
    depth = answers.stack / answers.pot
    sizes = _DEEP if depth > DEEP else _SHALLOW if depth < SHALLOW else _MIDDLE
    sections = []
    rounds: Sequence[tuple[str, str]] = tuple(zip(ROUND_NAMES[1:], sizes, strict=True))
    raise_ = "60%" if answers.raise_ is None else answers.raise_
    for number, (name, bet) in enumerate(rounds[answers.n_cards - FLOP :]):
        size = bet if answers.bet is None else answers.bet
        lines = [f"[bets.{name}]", f"bet = {json.dumps(size)}", f"raise = {json.dumps(raise_)}"]
        if number:
            lines.append(
                'donk = ""    # oop never bets into the last aggressor of the round before; try "50%"'
            )
        elif answers.caller_checks:
            lines.append(
                'oop = { bet = "" }    # oop always checks to the raiser; without this line oop may bet, too'
            )
        sections.append("\n".join(lines) + "\n")
    return "\n".join(sections)


_DEEP, _MIDDLE, _SHALLOW = (
    ("33%, 75%", "66%", "66%"),
    ("33%, 66%", "60%", "60%, a"),
    ("25%, 50%", "50%, a", "a"),
)
"""Bet sizes on flop, turn and river, for deep, middle and shallow stacks."""

_SAVE = """
[save]
rounds = "flop"      # saves a few hundred KiB per flop; spewy show solves turns and rivers again
"""
