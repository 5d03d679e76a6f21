"""Write a job file with comments from the user's answers to a few questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from buckets.cards import Deck, card_name, cards_name
from spewy.game.gamefile import load_game
from spewy.game.names import ROUND_NAMES, SEAT_NAMES
from spewy.job.load import override
from spewy.job.presets import GivenRange, Preset
from spewy.job.write import HOLDEM, write_job

__all__ = ["Answers", "drawn_board", "job_data", "job_text"]

DOCS = (
    "docs/how-to/jobs.md explains lines, amounts and ranges; docs/reference/job-file.md explains every key."
)
KEYS = ("bet", "raise", "donk")
"""Keys of bet sizes in a section ``[bets.ROUND]``."""
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
        drawn: the options that draw the random board again, for a comment; None if the user gave the board.
        pot, stack: pot and effective stack.
        ranges: ranges of both players, oop first.
        caller_checks: whether oop always checks to the player who raised before the flop.
        subset: number of flops that represent all flops, if there is no board.
        bet, raise_: bet and raise sizes on every round; None: the sizes depend on the depth of the stacks.
        sizes: bet, raise and donk sizes of single rounds, by key, such as ``flop.bet``.
        overrides: keys of the job with values, such as ``bets.flop.oop.bet=33%``, which replace all others.
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
    sizes: Mapping[str, str] = field(default_factory=dict)
    overrides: Sequence[str] = ()

    @property
    def n_cards(self) -> int:
        """Number of cards of the board, or of each flop."""
        return len(self.board) or FLOP

    @classmethod
    def of(cls, preset: Preset, board: tuple[int, ...], drawn: str | None) -> Answers:
        """Make the answers from a preset.

        Args:
            preset: the preset, which gives pot, stacks and ranges.
            board: three to five cards; empty for a subset of flops.
            drawn: the options that draw the random board again, for a comment; None if the user gave the board.
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


def job_text(answers: Answers, by: str = "spewy new") -> str:
    """Write the text of the job file.

    Args:
        answers: the answers.
        by: the command that writes the file; the first comment names it.
    """
    header = (answers.about, f"Written by {by}. {DOCS}")
    comments = {f"spot.{seat}": given.about for seat, given in zip(SEAT_NAMES, answers.ranges, strict=True)}
    if answers.drawn is not None:
        comments["spot.board"] = answers.drawn
    return write_job(job_data(answers), header, comments)


def job_data(answers: Answers) -> dict[str, Any]:
    """Return the new job as nested dictionaries, without comments."""
    oop, ip = (f"{given.text}\n" for given in answers.ranges)
    many = answers.subset is not None
    board = (
        {"boards": {"subset": answers.subset}} if many else {"board": " ".join(map(card_name, answers.board))}
    )
    workers = 1 if many else 2  # one thread for each flop is fastest if there are many flops
    solve: dict[str, Any] = {"target": "0.5%", "workers": workers}
    if answers.stack > DEEP * answers.pot:
        solve["precision"] = "16-bit"
    data = {
        "name": answers.name,
        "unit": "bb",
        "game": {"file": HOLDEM},
        "spot": board | {"pot": answers.pot, "stack": answers.stack, "oop": oop, "ip": ip},
        "bets": _bets(answers),
        "tree": {"add_allin": 1.0, "force_allin": 0.2, "min_bet": 1},
        "solve": solve | {"memory": "4 GiB"},
    }
    if many:
        data["save"] = {"rounds": "flop"}
    for text in answers.overrides:
        override(data, text)
    return data


def _bets(answers: Answers) -> dict[str, dict[str, Any]]:
    depth = answers.stack / answers.pot
    by_depth = _DEEP if depth > DEEP else _SHALLOW if depth < SHALLOW else _MIDDLE
    rounds: Sequence[tuple[str, str]] = tuple(zip(ROUND_NAMES[1:], by_depth, strict=True))
    raise_ = "60%" if answers.raise_ is None else answers.raise_
    bets: dict[str, dict[str, Any]] = {}
    for number, (name, bet) in enumerate(rounds[answers.n_cards - FLOP :]):
        bets[name] = {"bet": bet if answers.bet is None else answers.bet, "raise": raise_}
        if number:
            bets[name]["donk"] = ""
        bets[name] |= {
            key: sizes for key in KEYS if (sizes := answers.sizes.get(f"{name}.{key}")) is not None
        }
        if number == 0 and answers.caller_checks:
            bets[name]["oop"] = {"bet": ""}
    return bets


_DEEP, _MIDDLE, _SHALLOW = (
    ("33%, 75%", "66%", "66%"),
    ("33%, 66%", "60%", "60%, a"),
    ("25%, 50%", "50%, a", "a"),
)
"""Bet sizes on flop, turn and river, for deep, middle and shallow stacks."""
