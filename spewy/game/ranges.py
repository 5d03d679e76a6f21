"""Ranges: one weight in [0, 1] per hand, in the order of `buckets.cards.hands.hands` (1326 rows for hold'em).

The text form is a list of groups with commas or line ends between them, each with an optional ``:weight``:

==============  ==========================================================================================
``QQ``          a pair; ``QQ+`` and all higher pairs; ``QQ-99`` from one to the other
``AKs``         suited; ``AKo`` offsuit; ``AK`` both
``A8s+``        the same high card, kickers from here up
``A5s-A2s``     the same high card, kickers from one to the other
``JTs-65s``     the same gap, from one to the other
``KhQh``        one hand
``12.5%``       the best so many percent of all hands, ``top 12.5%`` too; `spewy.game.handorder` has the order
``random``      every hand, ``any two`` too
==============  ==========================================================================================

That is PioSOLVER's form too (``AA:0.5,AhKh``). GTO+ writes weights around groups, in percent: ``[50]AA,KK[/50]``.
Upper and lower case are one (``aks``), and what follows a ``#`` in a line is a comment. A later group overrides an
earlier one. Or else the text is 1326 numbers with white space or commas between. Positions in messages count
characters from 0, in the line that they name.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from buckets.cards import Deck, blocked, hands
from spewy.errors import InputError, shown
from spewy.game.handclass import NUM_HANDS, combo_name
from spewy.game.rangegroups import group_hands
from spewy.game.rangetext import weights_text

__all__ = ["NUM_HANDS", "Range", "combo_name", "format_range", "parse_range", "without_comments"]


@dataclass(frozen=True, eq=False)
class Range:
    """A range of hold'em hands. Two are equal when their weights are."""

    weights: NDArray[np.float64]
    """Shape (1326,), read-only."""
    dropped: tuple[str, ...] = field(default=(), repr=False)
    """Hands that the text gave weight but that dead cards make impossible."""

    def __post_init__(self) -> None:
        weights = np.array(self.weights, dtype=np.float64)
        if weights.shape != (NUM_HANDS,):
            raise InputError(f"range: expected {NUM_HANDS} weights, found an array of shape {weights.shape}")
        wrong = ~((weights >= 0) & (weights <= 1))
        if wrong.any():
            hand = int(np.flatnonzero(wrong)[0])
            raise InputError(
                f"range, weight of {combo_name(hand)}: expected 0 to 1, found {float(weights[hand])}"
            )
        weights.flags.writeable = False
        object.__setattr__(self, "weights", weights)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Range) and bool(np.array_equal(self.weights, other.weights))

    def __hash__(self) -> int:
        return hash((self.weights + 0.0).tobytes())  # + 0.0: -0.0 equals 0.0

    @classmethod
    def uniform(cls) -> "Range":
        """Give every hand the weight 1."""
        return cls(np.ones(NUM_HANDS))

    @property
    def combos(self) -> float:
        """Sum of the weights.

        >>> parse_range("AA:0.5, AKs").combos
        7.0
        """
        return float(self.weights.sum())

    def without(self, dead: Iterable[int]) -> "Range":
        """Drop the hands that hold a dead card, and report those that had weight."""
        mask = blocked(hands(Deck(), 2), list(dead))
        gone = tuple(combo_name(int(hand)) for hand in np.flatnonzero(mask & (self.weights > 0)))
        return Range(np.where(mask, 0.0, self.weights), self.dropped + gone)


def parse_range(text: str, dead: Iterable[int] = ()) -> Range:
    """Read a range; hands with a `dead` card (a board, say) are dropped and reported.

    >>> parse_range("QQ+, AKs, A5s-A2s:0.5, KhQh").combos
    31.0
    """
    bare = without_comments(text)
    numbers = re.findall(r"[^\s,]+", bare)
    if not numbers:
        raise InputError("range: expected at least one group of hands, found nothing")
    # No range has this many groups of digits alone: this is a list of numbers, perhaps of a wrong length.
    if len(numbers) > _FEWEST_NUMBERS and not _LETTERS.search(bare):
        weights = _number_form(numbers)
    else:
        weights = _group_form(bare)
    if not weights.any():
        raise InputError(f"range {shown(text)}: expected a hand with a weight above 0, found none")
    found = Range(weights).without(dead)
    if not found.weights.any():
        raise InputError(f"range {shown(text)}: expected a hand without a dead card, found none")
    return found


def format_range(hand_range: Range) -> str:
    """Write a range: ``parse_range(format_range(r)) == r`` for every range with a hand in it.

    >>> format_range(parse_range("AA,KK,QQ,AKs,AKo,A5s:0.5,A4s:0.5,KhQh"))
    'QQ+,AKs,A5s-A4s:0.5,AKo,KhQh'
    """
    return weights_text(hand_range.weights.tolist())


_FEWEST_NUMBERS = 100
_LETTERS = re.compile(r"[TJQKAcdhso%tjqk]|\ba")  # numbers have some too: nan, inf, 1e-5
_COMMENT = re.compile(r"#[^\n]*")
_OPEN = re.compile(r"\[\s*([^\]/]*?)\s*\]\s*")
_CLOSE = re.compile(r"\s*\[\s*/\s*([^\]]*?)\s*\]")


def without_comments(text: str) -> str:
    """The text with blanks for comments, so that positions stay."""
    return _COMMENT.sub(lambda found: " " * len(found[0]), text)


def _number_form(words: list[str]) -> NDArray[np.float64]:
    if len(words) != NUM_HANDS:
        raise InputError(f"range: expected {NUM_HANDS} numbers, found {len(words)}")
    return np.array([_weight(word, f"range, number {i}") for i, word in enumerate(words)])


def _group_form(text: str) -> NDArray[np.float64]:
    weights = np.zeros(NUM_HANDS)
    bracket: _Bracket | None = None
    for start, token in _tokens(text):
        subject = f"range, {_where(text, start)}"
        group, opened, closed = _bracketed(token)
        if opened is not None:
            if bracket is not None:
                raise InputError(
                    f"{subject}: expected [/{bracket.text}] before another [, found {shown(token)}"
                )
            bracket = _Bracket(opened, _percent(opened, subject), subject)
        _add(weights, group, token, subject, bracket)
        if closed is not None:
            if bracket is None or closed not in ("", bracket.text):
                expected = "no [/ without a [ before it" if bracket is None else f"[/{bracket.text}]"
                raise InputError(f"{subject}: expected {expected}, found {shown(token)}")
            bracket = None
    if bracket is not None:
        raise InputError(f"{bracket.subject}: expected [/{bracket.text}] after [{bracket.text}], found none")
    return weights


class _Bracket(NamedTuple):
    """What GTO+ writes around groups: their weight in percent, as text and as a share; and where it begins."""

    text: str
    weight: float
    subject: str


def _tokens(text: str) -> Iterator[tuple[int, str]]:
    """Groups and their positions; lines end groups as commas do, also after a comma."""
    lines = text.split("\n")
    position = 0
    for line in lines:
        parts = line.split(",")
        for number, part in enumerate(parts):
            token = part.strip()
            last = number == len(parts) - 1
            if token or not (last and len(lines) > 1):
                yield position + (len(part) - len(part.lstrip()) if token else 0), token
            position += len(part) + 1


def _where(text: str, position: int) -> str:
    """A position as messages tell it; of a text of several lines by line, which count from 1."""
    if "\n" not in text.rstrip():
        return f"position {position}"
    before = text[:position]
    return f"line {before.count(chr(10)) + 1}, position {position - before.rfind(chr(10)) - 1}"


def _bracketed(token: str) -> tuple[str, str | None, str | None]:
    """A group without brackets, and what stands in those before and after it."""
    opened = _OPEN.match(token)
    rest = token[opened.end() :] if opened else token
    place = rest.rfind("[")
    closed = _CLOSE.fullmatch(rest[place:]) if place >= 0 else None
    group = rest[:place] if closed else rest
    return group.strip(), opened[1] if opened else None, closed[1] if closed else None


def _add(weights: NDArray[np.float64], text: str, token: str, subject: str, bracket: _Bracket | None) -> None:
    """Set the weights of a group's hands."""
    group, colon, number = text.partition(":")
    group = group.strip()
    if colon and bracket is not None:
        raise InputError(f"{subject}: expected one weight, found {shown(token)} within [{bracket.text}]")
    weight = _weight(number.strip(), f"{subject}, weight of {shown(group)}") if colon else 1.0
    if bracket is not None:
        weight = bracket.weight
    try:
        for hand, share in group_hands(group):
            weights[hand] = weight * share
    except ValueError as error:
        raise InputError(f"{subject}: expected {error}; found {shown(token)}") from None


def _percent(word: str, subject: str) -> float:
    try:
        percent = float(word)
    except ValueError:
        percent = float("nan")
    if not 0 <= percent <= 100:
        raise InputError(f"{subject}: expected a weight from 0 to 100 in [ ], found {shown(word)}")
    return abs(percent) / 100


def _weight(word: str, subject: str) -> float:
    try:
        weight = float(word)
    except ValueError:
        weight = float("nan")
    if not 0 <= weight <= 1:
        raise InputError(f"{subject}: expected a number from 0 to 1, found {shown(word)}")
    return abs(weight)  # -0.0
