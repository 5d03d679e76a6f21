"""Strength of a hand on a board: its grade on final boards, its curve on turns, and its equity.

A hand's *grade* on a final board is the percentile of its strength among all hands that the board does not block, as a
whole number from 0 to 254. A hand's *curve* on a turn is the sorted list of its grades for all river cards, averaged in
groups of neighbours. Both are defined as in `buckets.abstraction.percentiles`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from spewy.competitions.upac.runtime.cards import HANDS, NUM_CARDS, Ints
from spewy.competitions.upac.runtime.strength import strengths

Floats = NDArray[np.float64]

GRADES = 255
BOARDS = 60
"""Number of final boards that are sampled for an equity on a flop."""


def grades(hole: Sequence[int], boards: Ints) -> Ints:
    """Return the grade of a hand on each final board: the percentile of its strength, from 0 to 254.

    Args:
        hole: the two cards of the hand.
        boards: final boards without the hand's cards, ``[board, 5]``.

    Returns:
        The grades ``[board]``.
    """
    below, equal, all_left = _counted(hole, boards, hits=False)
    out: Ints = (2 * below + equal) * GRADES // (2 * all_left)
    return out


def curve(hole: Sequence[int], board: Sequence[int], n_points: int) -> Floats:
    """Return the curve of a hand on a turn: its sorted percentiles of strength over all river cards.

    Args:
        hole: the two cards of the hand.
        board: the turn's four cards.
        n_points: number of points of the curve; each point is the mean of neighbouring percentiles.

    Returns:
        The curve ``[point]``, with values from 0 to 1.
    """
    ordered = np.sort(grades(hole, _completed(hole, board)))
    cuts = np.arange(n_points + 1) * len(ordered) // n_points
    means = np.add.reduceat(ordered, cuts[:-1]) / np.diff(cuts)
    return np.asarray((means + 0.5) / GRADES)


def all_grades(boards: Ints) -> Ints:
    """Return the grade of each hand on each final board: the percentile of its strength, from 0 to 254.

    Args:
        boards: final boards, ``[board, 5]``.

    Returns:
        The grades ``[board, hand]``; -1 where the board blocks the hand.
    """
    strength_of = strengths([*boards.T[:, :, None], *HANDS.T])
    out = np.full(strength_of.shape, -1, dtype=np.int64)
    for row, board, strength in zip(out, boards, strength_of, strict=True):
        there = ~np.isin(HANDS, board).any(axis=1)
        ordered = np.sort(strength[there])
        below, up_to = (np.searchsorted(ordered, strength[there], side) for side in ("left", "right"))
        row[there] = (below + up_to) * GRADES // (2 * len(ordered))
    return out


def all_curves(board: Sequence[int], n_points: int) -> Floats:
    """Return the curve of each hand on a turn: its sorted percentiles of strength over all river cards.

    Args:
        board: the turn's four cards.
        n_points: number of points of a curve.

    Returns:
        The curves ``[hand, point]``; values of hands that the board blocks are meaningless.
    """
    ordered = np.sort(all_grades(_completed((), board)), axis=0)[-(NUM_CARDS - len(board) - 2) :]
    cuts = np.arange(n_points + 1) * len(ordered) // n_points
    means = np.add.reduceat(ordered, cuts[:-1], axis=0) / np.diff(cuts)[:, None]
    return np.asarray((means.T + 0.5) / GRADES)


def equity(hole: Sequence[int], board: Sequence[int], seed: int = 0) -> float:
    """Return the equity of a hand against all other hands, from 0 to 1, if there is no further betting.

    Args:
        hole: the two cards of the hand.
        board: three to five cards.
        seed: seed of the final boards that are sampled on a flop.
    """
    boards = _completed(hole, board)
    if len(boards) > NUM_CARDS:
        boards = boards[np.random.default_rng(seed).choice(len(boards), BOARDS, replace=False)]
    below, equal, met = _counted(hole, boards, hits=True)
    return float((below + equal / 2).sum() / met.sum())


def _completed(hole: Sequence[int], board: Sequence[int]) -> Ints:
    """Return all final boards ``[board, 5]`` that begin with a board and contain none of a hand's cards."""
    cards = [card for card in range(NUM_CARDS) if card not in {*hole, *board}]
    n_more = 5 - len(board)
    more = np.array(list(combinations(cards, n_more)), dtype=np.int64)
    more = more.reshape(comb(len(cards), n_more), n_more)
    return np.hstack([np.tile(np.array(board, dtype=np.int64), (len(more), 1)), more])


def _counted(hole: Sequence[int], boards: Ints, *, hits: bool) -> tuple[Ints, Ints, Ints]:
    """Count on each board the hands that are weaker than a given hand, the hands that tie with it, and all hands.

    Args:
        hole: the hand to compare with.
        boards: final boards, ``[board, 5]``.
        hits: whether to count only hands that share no card with ``hole``. If false, ``hole`` also counts as a hand
            that ties with itself.

    Returns:
        Three arrays ``[board]``: the numbers of weaker hands, of ties, and of all hands.
    """
    held = HANDS
    if hits:
        held = HANDS[~np.isin(HANDS, list(hole)).any(axis=1)]
    own = strengths([*boards.T, *np.array(hole)[:, None]])
    theirs = strengths([*boards.T[:, :, None], *held.T])
    on_board = np.zeros((len(boards), NUM_CARDS), dtype=bool)
    np.put_along_axis(on_board, boards, True, axis=1)
    there = ~(on_board[:, held[:, 0]] | on_board[:, held[:, 1]])
    below = (there & (theirs < own[:, None])).sum(axis=1)
    equal = (there & (theirs == own[:, None])).sum(axis=1)
    return below, equal, there.sum(axis=1)
