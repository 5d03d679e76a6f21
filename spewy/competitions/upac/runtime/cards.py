"""Numbers of hands and boards, the strength of a hand on a board, and its equity.

Cards, hands and strengths are those of `buckets.cards`, of which a package contains the modules that need only NumPy.
A hand's *grade* on a final board is the percentile of its strength among all hands that the board does not block, as a
whole number from 0 to 254. A hand's *curve* on a turn is the sorted list of its grades for all river cards, averaged in
groups of neighbours, with values from 0 to 1. Both are defined as in `buckets.abstraction.percentiles`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, permutations
from math import comb

import numpy as np
from numpy.typing import NDArray

from buckets.cards.cards import NUM_CARDS, Deck
from buckets.cards.hands import blocked, hand_index, hands, preflop_classes
from buckets.cards.rank_sets import board_strength
from buckets.types import Floats, Ints

DECK = Deck()
HANDS: Ints = hands(DECK, 2).astype(np.int64)
"""All hands ``[hand, 2]``, each with ascending cards, in lexicographic order."""
START_CLASSES: Ints = preflop_classes()[0].astype(np.int64)
"""Starting hand of each hand, ``[hand]``: a number from 0 to 168 (`buckets.cards.preflop_classes`)."""
PERMS: Ints = np.array(
    [[card & ~3 | perm[card & 3] for card in range(NUM_CARDS)] for perm in permutations(range(4))],
    dtype=np.int64,
)
"""Card to which each permutation of suits maps each card, ``[permutation, card]``."""
GRADES = 255
BOARDS = 60
"""Number of final boards that are sampled for an equity on a flop."""
_CHOOSE: Ints = np.array([[comb(n, k) for k in range(6)] for n in range(NUM_CARDS + 1)], dtype=np.int64)


def hand_number(hole: Sequence[int]) -> int:
    return int(hand_index(DECK, hole))


def start_class(hole: Sequence[int]) -> int:
    return int(START_CLASSES[hand_number(hole)])


def canonical(boards: Ints) -> tuple[Ints, Ints]:
    """Find the canonical form of each board ``[board, card]``, of up to five cards.

    Returns:
        A number for each board, equal for boards that differ only in suits, and the row in `PERMS` of a suit
        permutation that makes the board canonical; both ``[board]``.
    """
    moved = np.sort(PERMS[:, boards], axis=2)
    places = np.arange(1, boards.shape[1] + 1)
    numbers = _CHOOSE[moved, places].sum(axis=2)
    perm = numbers.argmin(axis=0)
    return numbers[perm, np.arange(len(boards))], perm


def strengths(board: Sequence[int]) -> Ints:
    """Return the strength of each hand on a final board, ``[hand]``; -1 where the board blocks the hand."""
    return board_strength(np.asarray(board), HANDS).astype(np.int64)


def grades(hole: Sequence[int], boards: Ints) -> Ints:
    """Return the grade of a hand on each final board, ``[board]``; the boards ``[board, 5]`` lack the hand's cards."""
    below, equal, every = _counted(hole, boards, np.ones(len(HANDS), dtype=np.bool_))
    out: Ints = (2 * below + equal) * GRADES // (2 * every)
    return out


def all_grades(boards: Ints) -> Ints:
    """Return the grade of each hand on each final board, ``[board, hand]``; -1 where the board blocks the hand."""
    out = np.full((len(boards), len(HANDS)), -1, dtype=np.int64)
    for row, board in zip(out, boards, strict=True):
        strength = strengths(board)
        there = strength >= 0
        ordered = np.sort(strength[there])
        below, up_to = (np.searchsorted(ordered, strength[there], side) for side in ("left", "right"))
        row[there] = (below + up_to) * GRADES // (2 * len(ordered))
    return out


def curve(hole: Sequence[int], board: Sequence[int], n_points: int) -> Floats:
    """Return the curve ``[point]`` of a hand on a turn."""
    out: Floats = _curves(grades(hole, _completed(hole, board))[:, None], n_points)[0]
    return out


def all_curves(board: Sequence[int], n_points: int) -> Floats:
    """Return the curve of each hand on a turn, ``[hand, point]``; those of blocked hands are meaningless."""
    return _curves(all_grades(_completed((), board)), n_points)


def equity(hole: Sequence[int], board: Sequence[int], seed: int = 0) -> float:
    """Return the equity of a hand against all other hands, from 0 to 1, if there is no further betting."""
    boards = _completed(hole, board)
    if len(boards) > NUM_CARDS:
        boards = boards[np.random.default_rng(seed).choice(len(boards), BOARDS, replace=False)]
    below, equal, met = _counted(hole, boards, ~blocked(HANDS, hole))
    return float((below + equal / 2).sum() / met.sum())


def _curves(grades: Ints, n_points: int) -> Floats:
    """Return the curves ``[hand, point]`` for grades ``[board, hand]``, of which those below 0 do not count."""
    ordered = np.sort(grades, axis=0)[-(NUM_CARDS - 4 - 2) :]
    cuts = np.arange(n_points + 1) * len(ordered) // n_points
    means = np.add.reduceat(ordered, cuts[:-1], axis=0) / np.diff(cuts)[:, None]
    return np.asarray((means.T + 0.5) / GRADES)


def _completed(hole: Sequence[int], board: Sequence[int]) -> Ints:
    """Return all final boards ``[board, 5]`` that begin with a board and contain none of a hand's cards."""
    cards = [card for card in range(NUM_CARDS) if card not in {*hole, *board}]
    return np.array([[*board, *more] for more in combinations(cards, 5 - len(board))], dtype=np.int64)


def _counted(hole: Sequence[int], boards: Ints, among: NDArray[np.bool_]) -> tuple[Ints, Ints, Ints]:
    """Count the hands that are weaker than a hand, those that tie with it, and all: three arrays ``[board]``.

    Only the hands ``among``, ``[hand]``, count.
    """
    number = hand_number(hole)
    counts = []
    for board in boards:
        strength = strengths(board)
        own = strength[number]
        theirs = strength[among & (strength >= 0)]
        counts.append(((theirs < own).sum(), (theirs == own).sum(), len(theirs)))
    below, equal, every = np.array(counts, dtype=np.int64).T
    return below, equal, every
