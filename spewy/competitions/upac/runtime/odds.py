"""Strength of a hand on a board: its grade on final boards, its curve on turns, and its equity.

A *grade* is the percentile of a hand's strength among all hands that a final board leaves, in 255 steps. A *curve* has
the sorted grades over all last cards, averaged over neighbours. Both are defined as in
`buckets.abstraction.percentiles`.
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
"""Number of final boards for an equity on a flop."""


def grades(hole: Sequence[int], boards: Ints) -> Ints:
    """``[board]``, grade of a hand on final boards ``[board, 5]`` that do not share its cards."""
    below, equal, all_left = _counted(hole, boards, hits=False)
    out: Ints = (2 * below + equal) * GRADES // (2 * all_left)
    return out


def curve(hole: Sequence[int], board: Sequence[int], n_points: int) -> Floats:
    """``[point]``, curve of a hand on a turn."""
    ordered = np.sort(grades(hole, _completed(hole, board)))
    cuts = np.arange(n_points + 1) * len(ordered) // n_points
    means = np.add.reduceat(ordered, cuts[:-1]) / np.diff(cuts)
    return np.asarray((means + 0.5) / GRADES)


def all_grades(boards: Ints) -> Ints:
    """``[board, hand]``, grades of all hands on final boards ``[board, 5]``; -1 for blocked hands."""
    strength_of = strengths([*boards.T[:, :, None], *HANDS.T])
    out = np.full(strength_of.shape, -1, dtype=np.int64)
    for row, board, strength in zip(out, boards, strength_of, strict=True):
        there = ~np.isin(HANDS, board).any(axis=1)
        ordered = np.sort(strength[there])
        below, up_to = (np.searchsorted(ordered, strength[there], side) for side in ("left", "right"))
        row[there] = (below + up_to) * GRADES // (2 * len(ordered))
    return out


def all_curves(board: Sequence[int], n_points: int) -> Floats:
    """``[hand, point]``, curves of all hands on a turn; curves of blocked hands mean nothing."""
    ordered = np.sort(all_grades(_completed((), board)), axis=0)[-(NUM_CARDS - len(board) - 2) :]
    cuts = np.arange(n_points + 1) * len(ordered) // n_points
    means = np.add.reduceat(ordered, cuts[:-1], axis=0) / np.diff(cuts)[:, None]
    return np.asarray((means.T + 0.5) / GRADES)


def equity(hole: Sequence[int], board: Sequence[int], seed: int = 0) -> float:
    """Equity of a hand against all other hands when no betting follows.

    Args:
        hole: the hand.
        board: three to five cards.
        seed: seed of the final boards that are drawn on a flop.
    """
    boards = _completed(hole, board)
    if len(boards) > NUM_CARDS:
        boards = boards[np.random.default_rng(seed).choice(len(boards), BOARDS, replace=False)]
    below, equal, met = _counted(hole, boards, hits=True)
    return float((below + equal / 2).sum() / met.sum())


def _completed(hole: Sequence[int], board: Sequence[int]) -> Ints:
    """``[board, 5]``, all final boards that are possible with a hand."""
    left = [card for card in range(NUM_CARDS) if card not in {*hole, *board}]
    n_more = 5 - len(board)
    more = np.array(list(combinations(left, n_more)), dtype=np.int64).reshape(comb(len(left), n_more), n_more)
    return np.hstack([np.tile(np.array(board, dtype=np.int64), (len(more), 1)), more])


def _counted(hole: Sequence[int], boards: Ints, *, hits: bool) -> tuple[Ints, Ints, Ints]:
    """Three arrays ``[board]``: the number of weaker hands, of equally strong hands, and of all hands.

    Args:
        hole: the hand to compare with.
        boards: ``[board, 5]``.
        hits: whether to leave out hands that share a card with the hand; if not, it counts as equal to itself.
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
