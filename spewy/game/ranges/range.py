"""A range of hold'em hands: a weight from 0 to 1 for each hand, in the order of `buckets.cards.hands`.

The order is by the lower card, then by the higher card: 2c2d, 2c2h, 2c2s, 2c3c, ..., AdAh, AdAs, AhAs. PioSOLVER and
other programs list hands in other orders; `parse_range` reads a list in PioSOLVER's order.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from buckets.cards import Deck, blocked, hands
from spewy.errors import InputError
from spewy.game.ranges.classes import NUM_HANDS, combo_name


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
    def uniform(cls) -> "Range":
        """Make the range with weight 1 for every hand."""
        return cls(np.ones(NUM_HANDS))

    @property
    def combos(self) -> float:
        """Sum of the weights.

        >>> from spewy.game.ranges import parse_range
        >>> parse_range("AA:0.5, AKs").combos
        7.0
        """
        return float(self.weights.sum())

    def without(self, dead: Iterable[int]) -> "Range":
        """Return the range without the hands that contain one of the cards `dead`, such as the board's.

        `dropped` of the new range names the removed hands that had a weight above 0.
        """
        mask = blocked(hands(Deck(), 2), list(dead))
        names = tuple(combo_name(int(hand)) for hand in np.flatnonzero(mask & (self.weights > 0)))
        return Range(np.where(mask, 0.0, self.weights), self.dropped + names, self.notes)
