"""Scaling of two ranges, so that single precision suffices; a scaled range leaves the game unchanged.

Each range is scaled so that its largest weight of a hand that can meet an opposing hand becomes 1. Hands with less than
`SMALLEST` of that weight are left out: a thousand of them are worth a millionth of one hand. A hand that shares a card
with every opposing hand keeps its row, with a weight of at most 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from buckets.types import Floats
from solvers.game import compatible_sums
from spewy.errors import InputError
from spewy.game.ranges.classes import combo_name

SMALLEST = 1e-9


@dataclass(frozen=True)
class RangePair:
    """Both players' scaled ranges, oop first.

    Attributes:
        weights: per player ``[hand]``, the scaled weights.
        unit: per player ``[hand]``, the original weight divided by the scaled weight; 1 if the scaled weight is 0.
        left_out: per player, the names of hands whose weights are too small.
    """

    weights: tuple[Floats, Floats]
    unit: tuple[Floats, Floats]
    left_out: tuple[tuple[str, ...], tuple[str, ...]]


def meet(oop: Floats, ip: Floats, cards: NDArray[np.signedinteger]) -> RangePair:
    """Scale two ranges.

    Args:
        oop: ``[hand]``, weights of at least 0.
        ip: ``[hand]``, weights of at least 0.
        cards: ``[hand, 2]``.

    Raises:
        InputError: every hand of one range shares a card with every hand of the other.
    """
    given, scaled = (oop, ip), [oop, ip]
    held = [weights > 0 for weights in given]
    while True:
        for p in (0, 1):
            largest = given[p][held[p] & (_partners(held[1 - p], cards) > 0)].max(initial=0.0)
            if not largest > 0:
                raise InputError(
                    "spot: expected two ranges that can be dealt together, found none without a shared card"
                )
            scaled[p] = np.where(held[p], np.minimum(given[p] / largest, 1.0), 0.0)
        enough = [weights >= SMALLEST for weights in scaled]
        if all(np.array_equal(*masks) for masks in zip(held, enough, strict=True)):
            break
        held = enough
    first, second = (
        np.divide(whole, part, out=np.ones_like(whole), where=part > 0)
        for whole, part in zip(given, scaled, strict=True)
    )
    gone = [
        tuple(combo_name(int(hand)) for hand in np.flatnonzero((weights > 0) & ~there))
        for weights, there in zip(given, held, strict=True)
    ]
    return RangePair((scaled[0], scaled[1]), (first, second), (gone[0], gone[1]))


def _partners(held: NDArray[np.bool_], cards: NDArray[np.signedinteger]) -> NDArray[np.floating]:
    """Count the opposing hands that share no card with each hand: ``[hand]``."""
    ones = held.astype(np.float64)
    return compatible_sums(cards, cards, ones, ones, int(cards.max()) + 1)
