"""Two ranges that meet, on one scale: scaling a range changes nothing in the game, but single precision has its limits.

Of each range the largest weight that an opposing hand can meet becomes 1, in double precision. Hands below
`SMALLEST` of that are left out: a thousand of them are worth a millionth of one hand. A hand that meets nobody, because
it shares a card with every opposing hand, keeps its row, and at most the weight 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from buckets.types import Floats
from spewy.errors import InputError
from spewy.game.ranges.classes import combo_name

SMALLEST = 1e-9


@dataclass(frozen=True)
class RangePair:
    """Both players' ranges, oop first.

    Attributes:
        weights: per player ``[hand]``, on the scale of the module.
        unit: per player ``[hand]``, the weight that was given for a weight of 1; 1 where there is none.
        left_out: per player, names of the hands that were given too little weight to matter.
    """

    weights: tuple[Floats, Floats]
    unit: tuple[Floats, Floats]
    left_out: tuple[tuple[str, ...], tuple[str, ...]]


def meet(oop: Floats, ip: Floats, cards: NDArray[np.integer]) -> RangePair:
    """Scale two ranges.

    Args:
        oop: ``[hand]``, weights from 0.
        ip: the same.
        cards: ``[hand, 2]``.

    Raises:
        InputError: no hand of one goes with a hand of the other.
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


def _partners(held: NDArray[np.bool_], cards: NDArray[np.integer]) -> NDArray[np.int64]:
    """``[hand]``: how many of the opposing hands share no card with it; those who share both were taken off twice."""
    by_card = np.bincount(cards[held].ravel(), minlength=int(cards.max()) + 1)
    found: NDArray[np.int64] = held.sum() - by_card[cards].sum(axis=1) + held
    return found
