"""Scaling of both ranges for the solve, so that single precision suffices; scaling does not change the game.

Each range is scaled so that its largest weight becomes 1. Hands with a scaled weight below `SMALLEST` are left out. A
hand that shares a card with every opposing hand does not count for the scale, and its scaled weight is at most 1.
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
        unit: per player ``[hand]``, the user's weight divided by the scaled weight; 1 if the scaled weight is 0.
        left_out: per player, the names of the hands that were left out because of their small weights.
    """

    weights: tuple[Floats, Floats]
    unit: tuple[Floats, Floats]
    left_out: tuple[tuple[str, ...], tuple[str, ...]]


def meet(oop: Floats, ip: Floats, cards: NDArray[np.signedinteger]) -> RangePair:
    """Scale both ranges for the solve.

    Args:
        oop: ``[hand]``, weights of at least 0.
        ip: ``[hand]``, weights of at least 0.
        cards: ``[hand, hole card]``.

    Raises:
        InputError: every hand of one range shares a card with every hand of the other range.
    """
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
    """Count, for each hand, the opposing hands that share no card with it: ``[hand]``.

    Args:
        held: ``[hand]``, whether a hand is in the opponent's range.
        cards: ``[hand, hole card]``.
    """
    ones = held.astype(np.float64)
    return compatible_sums(cards, cards, ones, ones, int(cards.max()) + 1)
