"""Hold'em's 1326 hands by number, and the 169 classes such as ``QQ``, ``AKs`` and ``AKo``.

A hand's number is its row in `buckets.cards.hands`.
"""

from functools import lru_cache
from typing import TypeAlias

import numpy as np

from buckets.cards import SUITS, Deck, hand_index, hand_name, hands

__all__ = ["NUM_HANDS", "HandClass", "class_hands", "combo_name"]

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
    """Return the numbers of the hands of a class.

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
