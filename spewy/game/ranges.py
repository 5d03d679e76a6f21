"""Ranges: one weight in [0, 1] per hand, in the order of `buckets.hands.hands` (1326 rows for hold'em).

The text form is a list of groups with commas between them, each with an optional ``:weight``:

==============  ==========================================================================================
``QQ``          a pair; ``QQ+`` and all higher pairs; ``QQ-99`` from one to the other
``AKs``         suited; ``AKo`` offsuit; ``AK`` both
``A8s+``        the same high card, kickers from here up
``A5s-A2s``     the same high card, kickers from one to the other
``JTs-65s``     the same gap, from one to the other
``KhQh``        one hand
``random``      every hand, ``any two`` too
==============  ==========================================================================================

A later group overrides an earlier one. Or else the text is 1326 numbers with white space or commas between.
Positions in messages count characters from 0.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from buckets.cards import RANKS, SUITS, Deck, parse_card
from buckets.hands import blocked, hand_index, hands
from spewy.errors import InputError, shown
from spewy.game.handclass import NUM_HANDS, HandClass, class_hands, combo_name
from spewy.game.rangetext import weights_text

__all__ = ["NUM_HANDS", "Range", "combo_name", "format_range", "parse_range"]


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
    numbers = re.findall(r"[^\s,]+", text)
    if not numbers:
        raise InputError("range: expected at least one group of hands, found nothing")
    # No range has this many groups of digits alone: this is a list of numbers, perhaps of a wrong length.
    if len(numbers) > _FEWEST_NUMBERS and not re.search("[TJQKAcdhso]", text):
        weights = _number_form(numbers)
    else:
        weights = _group_form(text)
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
_CARD = f"[{RANKS}][{SUITS}]"
_CLASS = f"([{RANKS}])([{RANKS}])([so]?)"
_COMBO = re.compile(f"({_CARD})({_CARD})")
_SINGLE = re.compile(rf"{_CLASS}(\+?)")
_DASH = re.compile(rf"{_CLASS}\s*-\s*{_CLASS}")
_RANDOM = re.compile(r"random|any\s*two", re.IGNORECASE)


def _number_form(words: list[str]) -> NDArray[np.float64]:
    if len(words) != NUM_HANDS:
        raise InputError(f"range: expected {NUM_HANDS} numbers, found {len(words)}")
    return np.array([_weight(word, f"range, number {i}") for i, word in enumerate(words)])


def _group_form(text: str) -> NDArray[np.float64]:
    weights = np.zeros(NUM_HANDS)
    position = 0
    for part in text.split(","):
        token = part.strip()
        start = position + (len(part) - len(part.lstrip()) if token else 0)
        subject = f"range, position {start}"
        group, colon, number = token.partition(":")
        weight = _weight(number.strip(), f"{subject}, weight of {shown(group.strip())}") if colon else 1.0
        try:
            for hand in _group(group.strip()):
                weights[hand] = weight
        except ValueError as error:
            raise InputError(f"{subject}: expected {error}; found {shown(token)}") from None
        position += len(part) + 1
    return weights


def _weight(word: str, subject: str) -> float:
    try:
        weight = float(word)
    except ValueError:
        weight = float("nan")
    if not 0 <= weight <= 1:
        raise InputError(f"{subject}: expected a number from 0 to 1, found {shown(word)}")
    return abs(weight)  # -0.0


def _group(text: str) -> Iterator[int]:
    """Hands of one group; the text of the ValueError is what was expected."""
    if match := _COMBO.fullmatch(text):
        cards = [parse_card(card) for card in match.groups()]
        if cards[0] == cards[1]:
            raise ValueError("two different cards")
        yield int(hand_index(Deck(), cards))
    elif match := _SINGLE.fullmatch(text):
        high, low, suits = _hand_class(*match.groups()[:3])
        best = len(RANKS) - 1 if high == low else high - 1
        for rank in range(low, (best if match.group(4) else low) + 1):
            yield from _hands(rank if high == low else high, rank, suits)
    elif match := _DASH.fullmatch(text):
        yield from _between(_hand_class(*match.groups()[:3]), _hand_class(*match.groups()[3:]))
    elif _RANDOM.fullmatch(text):
        yield from range(NUM_HANDS)
    else:
        raise ValueError("a group such as QQ+, AKs, A5s-A2s:0.5, KhQh or random")


def _between(one: HandClass, other: HandClass) -> Iterator[int]:
    if one[2] != other[2]:
        raise ValueError("both ends suited, both offsuit or both without s and o")
    (high, low, suits), (high_to, low_to, _) = max(one, other), min(one, other)
    if high - low == high_to - low_to:
        for down in range(high - high_to + 1):
            yield from _hands(high - down, low - down, suits)
    elif high == high_to and low_to != high_to and low != high:
        for rank in range(low_to, low + 1):
            yield from _hands(high, rank, suits)
    else:
        raise ValueError("both ends pairs, or with the same high card, or with the same gap")


def _hand_class(first: str, second: str, suits: str) -> HandClass:
    a, b = RANKS.index(first), RANKS.index(second)
    if a == b and suits:
        raise ValueError("a pair without s or o")
    return max(a, b), min(a, b), suits


def _hands(high: int, low: int, suits: str) -> Iterator[int]:
    kinds = (suits,) if suits or high == low else ("s", "o")
    for kind in kinds:
        yield from class_hands((high, low, kind))
