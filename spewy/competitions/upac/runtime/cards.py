"""Cards, starting hands, and canonical forms of boards (one board for all boards that differ only in suits).

Cards are numbers ``4 * rank + suit``. Rank 0 is the deuce; suits are numbered in the order ``c d h s``.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, permutations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

NUM_CARDS = 52
RANKS, SUITS = "23456789TJQKA", "cdhs"
NAMES = tuple(rank + suit for rank in RANKS for suit in SUITS)
NUMBERS = {name: card for card, name in enumerate(NAMES)}

HANDS: Ints = np.array(list(combinations(range(NUM_CARDS), 2)), dtype=np.int64)
"""All hands ``[hand, 2]``, each with ascending cards, in lexicographic order."""
PERMS: Ints = np.array(
    [[card & ~3 | perm[card & 3] for card in range(NUM_CARDS)] for perm in permutations(range(4))],
    dtype=np.int64,
)
"""Card to which each permutation of suits maps each card, ``[permutation, card]``."""


def _choose() -> Ints:
    """Return the numbers of ways to choose k out of n cards, ``[n, k]``, for k from 0 to 5."""
    out = np.zeros((NUM_CARDS + 1, 6), dtype=np.int64)
    out[:, 0] = 1
    for n in range(1, NUM_CARDS + 1):
        out[n, 1:] = out[n - 1, 1:] + out[n - 1, :-1]
    return out


_CHOOSE = _choose()


def start_class(hole: Sequence[int]) -> int:
    """Return the number of a hand's starting hand among the 169 starting hands.

    The numbers run row by row through the usual chart: aces first, suited hands above the diagonal.

    >>> start_class((51, 50)), start_class((51, 47)), start_class((50, 47)), start_class((1, 0))
    (0, 1, 13, 168)
    """
    low, high = sorted(12 - (card >> 2) for card in hole)
    suited = hole[0] & 3 == hole[1] & 3
    return 13 * low + high if suited or low == high else 13 * high + low


def hand_number(hole: Sequence[int]) -> int:
    """Return the number of a hand: its row in `HANDS`, for its two cards in any order.

    >>> hand_number((51, 50)), hand_number((0, 1))
    (1325, 0)
    """
    low, high = sorted(hole)
    return low * (2 * NUM_CARDS - low - 1) // 2 + high - low - 1


def hand_numbers(holes: Ints) -> Ints:
    """Return the numbers (rows in `HANDS`) of hands ``[hand, 2]``, for their cards in any order."""
    low, high = holes.min(axis=1), holes.max(axis=1)
    out: Ints = low * (2 * NUM_CARDS - low - 1) // 2 + high - low - 1
    return out


def canonical(boards: Ints) -> tuple[Ints, Ints]:
    """Find the canonical form of each board.

    Args:
        boards: ``[board, card]``, up to five different cards each.

    Returns:
        A number for each board, equal for boards that differ only in suits, and the row in `PERMS` of a suit
        permutation that makes the board canonical; both ``[board]``.
    """
    moved = np.sort(PERMS[:, boards], axis=2)
    places = np.arange(1, boards.shape[1] + 1)
    numbers = _CHOOSE[moved, places].sum(axis=2)
    perm = numbers.argmin(axis=0)
    return numbers[perm, np.arange(len(boards))], perm
