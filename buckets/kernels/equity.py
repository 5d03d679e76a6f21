"""One pass over the hands in order of strength: see `showdown`."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from buckets.cards.cards import NUM_CARDS
from compiled import kernel

Array = NDArray[Any]


@kernel
def add_showdowns(
    strength: Array, hands: Array, weights: Array, won: Array, weight: Array, opponents: Array
) -> None:
    """Add each board's showdowns, strength (n_boards, n_hands), to the three totals (n_hands,)."""
    n_hands, hole = hands.shape
    # A one-card hand gets card 52 as its second, which nothing ever adds to.
    second = hands[:, 1].copy() if hole == 2 else np.full(n_hands, NUM_CARDS)
    order = np.empty(n_hands, dtype=np.int64)
    by_card = np.empty(NUM_CARDS + 1)
    count_by_card = np.empty(NUM_CARDS + 1, dtype=np.int64)
    for b in range(len(strength)):
        n_live = 0
        for h in range(n_hands):
            if strength[b, h] >= 0:
                order[n_live] = np.int64(strength[b, h]) * n_hands + h
                n_live += 1
        order[:n_live].sort()
        by_card[:] = 0.0
        count_by_card[:] = 0
        total = 0.0
        count = 0
        start = 0
        while start < n_live:
            # A class of equal hands: half of what is below, then half of what is below or equal.
            value = order[start] // n_hands
            end = start
            while end < n_live and order[end] // n_hands == value:
                h = order[end] % n_hands
                won[h] += 0.5 * (total - by_card[hands[h, 0]] - by_card[second[h]])
                end += 1
            for place in range(start, end):
                h = order[place] % n_hands
                if weights[h] > 0.0:
                    total += weights[h]
                    by_card[hands[h, 0]] += weights[h]
                    count += 1
                    count_by_card[hands[h, 0]] += 1
                    if hole == 2:
                        by_card[second[h]] += weights[h]
                        count_by_card[second[h]] += 1
            for place in range(start, end):
                h = order[place] % n_hands
                # The same hand was subtracted once per card.
                same = weights[h] if hole == 2 else 0.0
                won[h] += 0.5 * (total - by_card[hands[h, 0]] - by_card[second[h]] + same)
            start = end
        for place in range(n_live):
            h = order[place] % n_hands
            first = hands[h, 0]
            same = weights[h] if hole == 2 else 0.0
            weight[h] += total - by_card[first] - by_card[second[h]] + same
            opponents[h] += count - count_by_card[first] - count_by_card[second[h]] + (1 if same > 0.0 else 0)
