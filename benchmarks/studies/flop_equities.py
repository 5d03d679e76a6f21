"""Equities of all hands on all 1,755 flops against several ranges, computed by one pass over the canonical rivers.

Three of a river's five cards make a flop, so a river belongs to ten flops. A canonical river that stands for m rivers
counts m times for each of them; the hands are converted to the suits of the canonical flop. Sixteen ranges take a
minute or two of one core.
"""

from itertools import combinations

import numpy as np
from numba import njit

from buckets.cards import (
    Deck,
    board_map,
    canonical_flops,
    hand_permutation,
    hands,
    stabilizer,
    strengths,
    suit_permutations,
)

AT_ONCE = 512


def totals(ranges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sum the showdowns of each hand on each flop against several ranges, over all rivers that can follow.

    Args:
        ranges: ``[hand, range]``; hands that are equal up to suits must have equal weights.

    Returns:
        Two arrays ``[flop, hand, range]``: the weight of the range's hands that each hand beats (ties count half), and
        the weight of the range's hands that share no card with the hand. Their quotient is the equity.
    """
    deck = Deck()
    rivers, flops = board_map(deck, (5,)), board_map(deck, (3,))
    canonical, counts = canonical_flops()
    assert np.array_equal(canonical, flops.boards)
    number = {cards: i for i, cards in enumerate(combinations(deck.cards, 3))}
    within = np.array([[number[some] for some in combinations(board, 3)] for board in rivers.boards.tolist()])
    all_hands = hands(deck, 2).astype(np.int64)
    moved = np.array([hand_permutation(deck, 2, perm) for perm in suit_permutations(deck)])
    won = np.zeros((len(canonical), len(all_hands), ranges.shape[1]), np.float32)
    met = np.zeros_like(won)
    for start in range(0, len(within), AT_ONCE):
        some = slice(start, start + AT_ONCE)
        strength = strengths(rivers.boards[some], all_hands)
        to = flops.canonical[within[some]], flops.perm_of[within[some]]
        add_rivers(strength, rivers.counts[some], *to, moved, all_hands, ranges.astype(np.float32), won, met)
    for f, board in enumerate(canonical.tolist()):
        same = [hand_permutation(deck, 2, p) for p in stabilizer((tuple(board),), suit_permutations(deck))]
        for out in (won, met):
            out[f] = sum(out[f][perm] for perm in same) / (len(same) * counts[f])
    return won, met


@njit(cache=True)
def add_rivers(strength, counts, flop_of, perm_of, moved, hands, ranges, won, met):
    """Add the showdowns on some canonical rivers to the totals of the ten flops of each river.

    Args:
        strength: ``[river, hand]``, strength of each hand; -1: the river blocks the hand.
        counts: ``[river]``, number of rivers that each river stands for.
        flop_of: ``[river, 10]``, the canonical flop of each three cards of the river.
        perm_of: ``[river, 10]``, the suit permutation that maps these cards onto the canonical flop.
        moved: ``[permutation, hand]``, the hand that each hand becomes.
        hands: ``[hand, 2]``, the cards of each hand.
        ranges: ``[hand, range]``, weights.
        won: ``[flop, hand, range]``, to which the weight that each hand beats is added (ties count half).
        met: ``[flop, hand, range]``, to which the weight of all hands that share no card with each hand is added.
    """
    n_hands, n_ranges = ranges.shape
    here, against = np.zeros((n_hands, n_ranges), np.float32), np.zeros((n_hands, n_ranges), np.float32)
    order = np.empty(n_hands, np.int64)
    by_card, total = np.zeros((52, n_ranges), np.float32), np.zeros(n_ranges, np.float32)
    for r in range(len(strength)):
        here[:] = 0
        against[:] = 0
        showdown(strength[r], hands, ranges, here, against, order, by_card, total)
        for t in range(flop_of.shape[1]):
            f, to = flop_of[r, t], moved[perm_of[r, t]]
            for h in range(n_hands):
                for k in range(n_ranges):
                    won[f, to[h], k] += counts[r] * here[h, k]
                    met[f, to[h], k] += counts[r] * against[h, k]


@njit(cache=True)
def showdown(strength, hands, ranges, won, met, order, by_card, total):
    """Compute the showdowns of all hands against several ranges on one river.

    Args:
        strength: ``[hand]``, strength of each hand; -1: the river blocks the hand.
        hands: ``[hand, 2]``, the cards of each hand.
        ranges: ``[hand, range]``, weights.
        won: ``[hand, range]``, output: the weight that each hand beats (ties count half).
        met: ``[hand, range]``, output: the weight of all hands that share no card with each hand.
        order: buffer ``[hand]``.
        by_card: buffer ``[card, range]``.
        total: buffer ``[range]``.
    """
    n_hands, n_ranges = ranges.shape
    n = 0
    for h in range(n_hands):
        if strength[h] >= 0:
            order[n] = np.int64(strength[h]) * n_hands + h
            n += 1
    order[:n].sort()
    by_card[:] = 0
    total[:] = 0
    start = 0
    while start < n:
        value, end = order[start] // n_hands, start
        while end < n and order[end] // n_hands == value:
            h = order[end] % n_hands
            for k in range(n_ranges):
                won[h, k] += np.float32(0.5) * (total[k] - by_card[hands[h, 0], k] - by_card[hands[h, 1], k])
            end += 1
        for i in range(start, end):
            h = order[i] % n_hands
            for k in range(n_ranges):
                total[k] += ranges[h, k]
                by_card[hands[h, 0], k] += ranges[h, k]
                by_card[hands[h, 1], k] += ranges[h, k]
        for i in range(start, end):
            h = order[i] % n_hands
            for k in range(n_ranges):
                rest = total[k] - by_card[hands[h, 0], k] - by_card[hands[h, 1], k] + ranges[h, k]
                won[h, k] += np.float32(0.5) * rest
        start = end
    for i in range(n):
        h = order[i] % n_hands
        for k in range(n_ranges):
            met[h, k] = total[k] - by_card[hands[h, 0], k] - by_card[hands[h, 1], k] + ranges[h, k]
