"""Hold'em's 1326 hands by number, ranges (a weight for each hand), and the scaling of both ranges for a solve.

A hand's number is its row in `buckets.cards.hands`: hands are in the order of the lower card, then of the higher card:
2c2d, 2c2h, 2c2s, 2c3c, ..., AdAh, AdAs, AhAs. PioSOLVER and other programs list hands in other orders; `parse_range`
reads a list in PioSOLVER's order.

The scaling lets single precision suffice, and does not change the game. Each range is scaled so that its largest weight
becomes 1. Hands with a scaled weight below `SMALLEST` are left out. A hand that shares a card with every opposing hand
does not count for the scale, and its scaled weight is at most 1.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from buckets.cards import SUITS, Deck, blocked, hand_index, hand_name, hands
from buckets.types import Floats
from solvers.game import compatible_sums
from spewy.errors import InputError

NUM_HANDS = 1326

HandClass: TypeAlias = tuple[int, int, str]
"""The higher rank, the lower rank, and ``s`` for suited, ``o`` for offsuit, or an empty text for a pair.

Ranks are numbers from 0 (deuce) to 12 (ace).
"""


def combo_name(hand: int) -> str:
    """Return the name of the hand that has this number, with the higher card first.

    >>> combo_name(1325)
    'AsAh'
    """
    return hand_name(hands(Deck(), 2)[hand])


@lru_cache(maxsize=256)
def class_hands(hand_class: HandClass) -> tuple[int, ...]:
    """Return the indices of the hands that belong to a class, such as AKs.

    >>> len(class_hands((12, 11, "s"))), len(class_hands((12, 11, "o"))), len(class_hands((12, 12, "")))
    (4, 12, 6)
    """
    high, low, kind = hand_class
    pairs = [
        (4 * high + a, 4 * low + b)
        for a in range(len(SUITS))
        for b in range(len(SUITS))
        if (a > b if high == low else (a == b) == (kind == "s"))
    ]
    return tuple(hand_index(Deck(), np.array(pairs)).tolist())


@dataclass(frozen=True, eq=False)
class Range:
    """A range of hold'em hands. Two ranges are equal if their weights are equal."""

    weights: NDArray[np.float64]
    """``[hand]``, the weights of all 1326 hands, from 2c2d, 2c2h, 2c2s, 2c3c to AhAs; read-only."""
    dropped: tuple[str, ...] = field(default=(), repr=False)
    """Names of the hands that `without` has removed."""
    notes: tuple[str, ...] = field(default=(), repr=False)
    """Remarks on how the range was read, such as that its weights are percentages."""

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
    def uniform(cls) -> Range:
        return cls(np.ones(NUM_HANDS))

    @property
    def combos(self) -> float:
        """Sum of the weights.

        >>> from spewy.game.ranges import parse_range
        >>> parse_range("AA:0.5, AKs").combos
        7.0
        """
        return float(self.weights.sum())

    def without(self, dead: Iterable[int]) -> Range:
        """Return the range without the hands that contain one of the cards `dead`, such as the board's.

        `dropped` of the new range names the removed hands that had a weight above 0.
        """
        mask = blocked(hands(Deck(), 2), list(dead))
        names = tuple(combo_name(int(hand)) for hand in np.flatnonzero(mask & (self.weights > 0)))
        return Range(np.where(mask, 0.0, self.weights), self.dropped + names, self.notes)


SMALLEST = 1e-9


@dataclass(frozen=True)
class RangePair:
    """Both players' scaled ranges, oop first.

    Attributes:
        weights: per player ``[hand]``, the scaled weights.
        unit: per player ``[hand]``, the user's weight divided by the scaled weight; 1 if the scaled weight is 0.
        left_out: per player, the names of the hands that were left out because of their small weights.
    """

    weights: tuple[Floats, Floats]
    unit: tuple[Floats, Floats]
    left_out: tuple[tuple[str, ...], tuple[str, ...]]


def meet(oop: Floats, ip: Floats, cards: NDArray[np.signedinteger]) -> RangePair:
    """Scale both ranges, ``[hand]``, for the solve; ``cards`` is ``[hand, hole card]``."""
    original, scaled = (oop, ip), [oop, ip]
    held = [weights > 0 for weights in original]
    while True:
        for p in (0, 1):
            largest = original[p][held[p] & (_partners(held[1 - p], cards) > 0)].max(initial=0.0)
            if not largest > 0:
                raise InputError(
                    "spot: expected two ranges that can be dealt together, but all pairs of hands share a card"
                )
            scaled[p] = np.where(held[p], np.minimum(original[p] / largest, 1.0), 0.0)
        enough = [weights >= SMALLEST for weights in scaled]
        if all(np.array_equal(*masks) for masks in zip(held, enough, strict=True)):
            break
        held = enough
    first, second = (
        np.divide(before, after, out=np.ones_like(before), where=after > 0)
        for before, after in zip(original, scaled, strict=True)
    )
    left_out = [
        tuple(combo_name(int(hand)) for hand in np.flatnonzero((weights > 0) & ~kept))
        for weights, kept in zip(original, held, strict=True)
    ]
    return RangePair((scaled[0], scaled[1]), (first, second), (left_out[0], left_out[1]))


def _partners(held: NDArray[np.bool_], cards: NDArray[np.signedinteger]) -> NDArray[np.floating]:
    """Count the hands of the opponent's range (``held[hand]``) that share no card with each hand: ``[hand]``."""
    ones = held.astype(np.float64)
    return compatible_sums(cards, cards, ones, ones, int(cards.max()) + 1)
