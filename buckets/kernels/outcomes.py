"""Levels of hands on final boards: see `outcomes`."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from buckets.cards.cards import NUM_CARDS
from compiled import kernel

Array = NDArray[Any]


@kernel
def fill_levels(strength: Array, hands: Array, levels: Array) -> None:
    """Levels of hands (n_hands, hole) from their strength (n_boards, n_hands), in that shape.

    One pass per board upward through the classes of equal strength, with the number of hands so far, in all
    and per card: hands that share a card with h are subtracted by inclusion and exclusion. A class is visited
    before and after its own hands are added: below + (below or equal) = 2 wins + ties, h itself left out.
    """
    n_hands, hole = hands.shape
    second = hands[:, 1].copy() if hole == 2 else np.full(n_hands, NUM_CARDS)  # which nothing ever adds to
    order = np.empty(n_hands, dtype=np.int64)
    by_card = np.empty(NUM_CARDS + 1, dtype=np.int64)
    for b in range(len(strength)):
        levels[b] = -1
        n_live = 0
        for h in range(n_hands):
            if strength[b, h] >= 0:
                order[n_live] = np.int64(strength[b, h]) << 16 | h
                n_live += 1
        order[:n_live].sort()
        by_card[:] = 0
        total = 0
        start = 0
        while start < n_live:
            value = order[start] >> 16
            end = start
            while end < n_live and order[end] >> 16 == value:
                h = order[end] & 0xFFFF
                levels[b, h] = total - by_card[hands[h, 0]] - by_card[second[h]]
                order[end] = h
                end += 1
            for place in range(start, end):
                h = order[place]
                by_card[hands[h, 0]] += 1
                by_card[second[h]] += hole - 1
            total += end - start
            # With two cards h itself was subtracted twice, once per card; with one card, once.
            for place in range(start, end):
                h = order[place]
                levels[b, h] += total - by_card[hands[h, 0]] - by_card[second[h]] + hole - 1
            start = end
