"""Slow, obvious twins of what `buckets` makes of all boards of a game."""

from itertools import combinations, pairwise

import numpy as np
from naive_cards import strength_key

GRADES = 255


def grades(board, hands):
    """Part of each hand on a final board: below and half of the equal, of all; None where the board hits it."""
    live = [tuple(hand) for hand in hands if not set(hand) & set(board)]
    power = {hand: strength_key((*hand, *board)) for hand in live}
    out = []
    for hand in map(tuple, hands):
        if hand not in power:
            out.append(None)
            continue
        below = sum(power[other] < power[hand] for other in live)
        equal = sum(power[other] == power[hand] for other in live)
        out.append((2 * below + equal) * GRADES // (2 * len(live)))
    return out


def outcomes(board, hands, cards, n_board):
    """Sorted outcomes of each hand on a board: one for each way to deal the rest; empty where the board hits it."""
    left = [card for card in cards if card not in board]
    found = [[] for _ in hands]
    for more in combinations(left, n_board - len(board)):
        for own, grade in zip(found, grades((*board, *more), hands), strict=True):
            if grade is not None:
                own.append((grade + 0.5) / GRADES)
    return [sorted(own) for own in found]


def curve(outcome, n_points):
    """Means of as many neighbours as may be."""
    cuts = [k * len(outcome) // n_points for k in range(n_points + 1)]
    return [np.mean(outcome[a:b]) for a, b in pairwise(cuts)]


def nearest(rows, centers, max_factor=True):
    """The center that each row differs least from, of equals the first."""
    out = []
    for row in rows:
        costs = [
            ((row - center) ** 2 * (np.maximum(row, center) if max_factor else 1)).sum() for center in centers
        ]
        out.append(int(np.argmin(costs)))
    return out
