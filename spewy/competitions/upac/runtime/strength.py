"""Strengths of many seven-card hands at once: a larger number is stronger, and equal numbers tie.

A strength is ``category << 26 | main << 13 | kickers``. Both ``main``, the ranks that make the category, and
``kickers``, the ranks that break ties, are sets of ranks in which bit r stands for rank r. `buckets.cards.strength`
uses the same numbers.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

_SETS = 1 << 13
_SHIFT = 26
(_HIGH, _PAIR, _TWO_PAIR, _TRIPS, _STRAIGHT, _FLUSH, _FULL, _QUADS, _STRAIGHT_FLUSH) = range(9)


def _tops() -> Ints:
    """Return the k highest ranks of each set of ranks, as a set, ``[k, set]``, for k from 0 to 5."""
    out = np.zeros((6, _SETS), dtype=np.int64)
    rest = np.arange(_SETS)
    for k in range(1, 6):
        highest = np.where(rest > 0, 1 << np.frexp(np.maximum(rest, 1))[1].astype(np.int64) - 1, 0)
        out[k] = out[k - 1] | highest
        rest = rest & ~highest
    return out


def _straights() -> Ints:
    """Return the highest rank of the best straight in each set of ranks, as a set of one rank, ``[set]``; 0: none."""
    sets = np.arange(_SETS)
    out = np.zeros(_SETS, dtype=np.int64)
    for top, ranks in [(3, 0b1000000001111), *((low + 4, 0b11111 << low) for low in range(9))]:
        out[sets & ranks == ranks] = 1 << top
    return out


_TOP = _tops()
_STRAIGHT_TOP = _straights()
_FIVE = _TOP[5] != _TOP[4]
"""Whether each set of ranks has at least five ranks, ``[set]``."""


def strengths(cards: Sequence[Ints]) -> Ints:
    """Return the strength of the best five of seven cards, for many hands at once.

    Args:
        cards: seven arrays of cards that broadcast to one shape; it is fastest if the board's cards come first.

    Returns:
        Strengths in this shape; a larger number is stronger.
    """
    once, twice, thrice, four = (np.zeros((), dtype=np.int64) for _ in range(4))
    suited = [np.zeros((), dtype=np.int64) for _ in range(4)]
    for card in cards:
        bit = np.left_shift(1, card >> 2)
        four = four | (thrice & bit)
        thrice = thrice | (twice & bit)
        twice = twice | (once & bit)
        once = once | bit
        suited = [ranks | np.where(card & 3 == suit, bit, 0) for suit, ranks in enumerate(suited)]
    out = _of_ranks(once, twice, thrice, four)
    for ranks in suited:
        five = _FIVE[ranks]
        suited_ranks = ranks[five]
        straight = _STRAIGHT_TOP[suited_ranks]
        flush = np.where(
            straight > 0, _strength(_STRAIGHT_FLUSH, straight, 0), _strength(_FLUSH, 0, _TOP[5][suited_ranks])
        )
        out[five] = np.maximum(out[five], flush)
    return out


def _of_ranks(once: Ints, twice: Ints, thrice: Ints, four: Ints) -> Ints:
    """Return the strength of many hands, if flushes are ignored.

    Each argument has a bit mask for each hand, in which bit r stands for rank r.

    Args:
        once: the ranks that appear at least once.
        twice: the ranks that appear at least twice.
        thrice: the ranks that appear at least three times.
        four: the ranks that appear four times.

    Returns:
        Strengths, in the form that the module describes.
    """
    pairs = _TOP[2][twice]
    top_pair = _TOP[1][twice]
    trips = _TOP[1][thrice]
    with_trips = _TOP[1][twice & ~trips]
    straight = _STRAIGHT_TOP[once]
    out = _strength(_HIGH, 0, _TOP[5][once])
    out = np.where(twice > 0, _strength(_PAIR, top_pair, _TOP[3][once & ~top_pair]), out)
    out = np.where(pairs != top_pair, _strength(_TWO_PAIR, pairs, _TOP[1][once & ~pairs]), out)
    out = np.where(thrice > 0, _strength(_TRIPS, trips, _TOP[2][once & ~trips]), out)
    out = np.where(straight > 0, _strength(_STRAIGHT, straight, 0), out)
    out = np.where((thrice > 0) & (with_trips > 0), _strength(_FULL, trips, with_trips), out)
    return np.where(four > 0, _strength(_QUADS, four, _TOP[1][once & ~four]), out)


def _strength(category: int, main: Ints | int, kickers: Ints | int) -> Ints:
    return np.asarray(category << _SHIFT | np.asarray(main) << 13 | np.asarray(kickers))
