"""Write a job file with comments from a few answers."""

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
"""Name of the game in written jobs."""
FLOP = 3
DEEP, SHALLOW = 8, 2.5
"""Stacks in pots: from the first on, bet sizes are those of a single raised pot; up to the second, of a 4-bet pot."""


@dataclass(frozen=True)
class Answers:
    """The answers that determine a written job; amounts are in big blinds.

    Attributes:
        name: name of the job.
        about: description of the job.
        board: three to five cards; empty for a subset of flops.
        drawn: how the board was drawn; None if the user gave the board.
        pot, stack: pot and effective stack.
        ranges: ranges of both players, oop first.
        caller_checks: whether oop always checks to the player who raised before the flop.
        subset: number of flops that represent all, if there is no board.
        bet, raise_: bet and raise sizes on every round; None: by the depth of the stacks.
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
        """Make the answers of a preset."""
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
    """Draw ``n_cards`` board cards by a seed; they are in `Game.board_order`."""
    return load_game(HOLDEM).board_order(Random(seed).sample(Deck().cards, n_cards))


def job_text(answers: Answers) -> str:
    """Write the text of the job file."""
    root = ROUND_NAMES[answers.n_cards - 2]
    oop, ip = answers.ranges
    return f"""\
# {answers.about}
# Written by spewy new; docs/jobs.md tells of lines, amounts and ranges, docs/formats.md of every key.
name = {json.dumps(answers.name)}
unit = "bb"  # all amounts are big blinds; "chips": those of the game's file, 100 a big blind

[game]
file = "{HOLDEM}"

[spot]
{_board(answers)}
pot = {_amount(answers.pot)}    # in the middle when the {root} is dealt
stack = {_amount(answers.stack)}    # behind, the smaller of both
{_range("oop", "first to act", oop)}
{_range("ip", "last to act", ip)}

# 33% of the pot; 2.5x the bet faced (raises); 2.5bb; e: the same share on every round left ends all-in; a: all-in.
# A raise of 60% adds 60% of the pot after a call. docs/formats.md tells more.
{_bets(answers)}
[tree]
add_allin = 1.0      # an all-in of at most the pot is added
force_allin = 0.2    # a bet that leaves at most a fifth of the pot behind is all-in
min_bet = 1

[solve]
target = "0.5%"      # stop at this exploitability, in % of the pot; a lower one goes on from there
{_workers(answers)}
{_precision(answers)}memory = "4 GiB"     # at most; spewy estimate tells what is needed
{"" if answers.subset is None else _SAVE}"""


def _board(answers: Answers) -> str:
    """Write the line for the board, or for the number of flops."""
    if answers.subset is not None:
        return (
            f"boards = {{ subset = {answers.subset} }}    # flops that stand for all 1,755: a folder for each"
        )
    drawn = "" if answers.drawn is None else f"    # {answers.drawn}"
    return f'board = "{" ".join(map(card_name, answers.board))}"{drawn}'


def _workers(answers: Answers) -> str:
    """Write the line for threads; solving several flops at once is faster than several threads on one flop."""
    if answers.subset is not None:
        return "workers = 1          # threads of a flop; as many flops at once as there are cores"
    return "workers = 2          # threads"


def _amount(amount: float) -> str:
    """Format a number without an exponent."""
    return f"{amount:.9f}".rstrip("0").rstrip(".") if isfinite(amount) else str(amount)


def _range(seat: str, when: str, given: GivenRange) -> str:
    combos = parse_range(given.text).combos
    about = f"# {given.about}\n" if given.about else ""
    comment = f"# {seat}, {when}: {combos:,.1f} hands before the board takes some away\n{about}"
    return f'{comment}{seat} = """\n{given.text}\n"""'


def _precision(answers: Answers) -> str:
    """Write the line for the precision; 16-bit numbers halve the large state of deep stacks."""
    if answers.stack <= DEEP * answers.pot:
        return ""
    return 'precision = "16-bit" # half of the memory that single precision takes\n'


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
            lines.append('donk = ""    # oop never bets into who bet last on the round before; try "50%"')
        elif answers.caller_checks:
            lines.append(
                'oop = { bet = "" }    # checks to who raised before the flop; without this line it bets too'
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
rounds = "flop"      # some hundred KiB a flop; turns and rivers are solved again when somebody looks at them
"""
