"""The rows of hands on a board: the buckets of both players, as the job's ``[rows]`` specifies.

With uniform weights all hands that the board leaves have equal weight, both players share the buckets, and Equation 1's
trees come from the bucket locker. With range weights each player's buckets are computed for the player's own initial
range, and hands outside of the range have no row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import NDArray

from buckets.abstraction import GROUPINGS, outcomes
from buckets.cards import History, blocked, hand_orbits, preflop_classes
from buckets.cards.showdown import MAX_BOARDS
from buckets.types import Ints
from solvers.tree import Floats
from spewy.chunks.bucket_trees import shared_cache
from spewy.chunks.problem import Problem
from spewy.game.ranges.classes import NUM_HANDS

PREFLOP_CLASSES = 169
LOCKED = "equation-1"  # the clustering whose trees are in the bucket locker
TREES = (LOCKED, "ward")  # clusterings that separate all different hands if there are enough rows
BOARDS_AT_ONCE = 256


@dataclass(frozen=True)
class Groups:
    """Rows on one board.

    Attributes:
        labels: ``[hand of the deck]``, the row; -1: the hand has no row.
        n_rows: number of rows.
    """

    labels: Ints
    n_rows: int


def board_groups(problem: Problem, t: int, history: History) -> tuple[Groups, Groups] | None:
    """Compute the rows of both players on a board of round t; None: each hand is a row."""
    k = problem.rows[t]
    if k is None:
        return None
    if k == PREFLOP_CLASSES and not history and len(problem.hands) == NUM_HANDS:
        groups = Groups(preflop_classes()[0].astype(np.int64), k)
        return groups, groups
    board = [card for group in history for card in group]
    if problem.range_weights:
        return _own(problem, k, board, problem.ranges[0]), _own(problem, k, board, problem.ranges[1])
    deck, hole, n_board = problem.game.deck, problem.game.num_hole_cards, sum(problem.game.num_board_cards)
    if problem.grouping == LOCKED:
        labels = shared_cache().labels(board, k, deck, hole, n_board)
    else:
        weights = np.ones(len(problem.hands))
        labels = GROUPINGS[problem.grouping](board, problem.hands, weights, k, deck, n_board)
    groups = Groups(labels.astype(np.int64), int(labels.max()) + 1)
    return groups, groups


def row_counts(
    problem: Problem, t: int, histories: Sequence[History], power: NDArray[np.int32] | None
) -> list[tuple[int, int]] | None:
    """Count the rows of `board_groups` for both players on each board without computing them; None: a row per hand.

    Hands with the same outcomes are in one row. The count is the smaller of the number of different outcomes and the
    job's number of rows; it is an upper bound unless `counted_exactly`.

    Args:
        problem: the problem.
        t: the round.
        histories: the boards of the round.
        power: ``[board, hand]``, strengths in the last round; None in other rounds.
    """
    k = problem.rows[t]
    if k is None:
        return None
    of_boards = (_kinds(problem, history) for history in histories)
    kinds = of_boards if power is None else _last_kinds(problem, power)
    if not problem.range_weights:
        return [(n, n) for n in (min(k, _different(of)) for of in kinds)]
    first, second = (weights > 0 for weights in problem.ranges)
    return [(min(k, _different(of[first])), min(k, _different(of[second]))) for of in kinds]


def counted_exactly(problem: Problem) -> bool:
    """Tell whether `row_counts` are exact numbers of rows, not just upper bounds."""
    bucketed = any(k is not None for k in problem.rows[problem.first_round :])
    return not bucketed or (problem.grouping in TREES and not problem.range_weights)


def _different(kinds: Ints) -> int:
    return int(np.count_nonzero(np.bincount(kinds[kinds >= 0])))


def _kinds(problem: Problem, history: History) -> Ints:
    """Number hands by their outcomes: equal numbers for equal outcomes, -1: the board blocks the hand."""
    deck, n_board = problem.game.deck, sum(problem.game.num_board_cards)
    board = [card for group in history for card in group]
    final = comb(len(deck) - len(board), n_board - len(board))
    if final > MAX_BOARDS:  # outcomes are sampled, jointly for hands that differ by suits alone
        kinds = hand_orbits(board, problem.hands, deck)
    else:
        seen: dict[bytes, int] = {}  # ten times faster than sorting the curves
        curves = outcomes(board, problem.hands, deck, n_board)
        kinds = np.array([seen.setdefault(curve.tobytes(), len(seen)) for curve in curves])
    return np.where(blocked(problem.hands, board), -1, kinds)


def _last_kinds(problem: Problem, power: NDArray[np.int32]) -> Iterator[Ints]:
    """Number hands by their only outcome on each final board, -1: the board blocks the hand."""
    from buckets.kernels.showdowns import fill_levels

    for start in range(0, len(power), BOARDS_AT_ONCE):
        part = power[start : start + BOARDS_AT_ONCE]
        levels = np.empty(part.shape, dtype=np.int16)
        fill_levels(part, problem.hands, levels)
        yield from levels.astype(np.int64)


def _own(problem: Problem, k: int, board: list[int], weights: Floats) -> Groups:
    """Compute the rows for a range, and number only rows that contain hands of the range."""
    deck, n_board = problem.game.deck, sum(problem.game.num_board_cards)
    labels = GROUPINGS[problem.grouping](board, problem.hands, weights, k, deck, n_board).astype(np.int64)
    held = (weights > 0) & ~blocked(problem.hands, board)
    used, renumbered = np.unique(labels[held], return_inverse=True)
    out = np.full(len(labels), -1, dtype=np.int64)
    out[held] = renumbered
    return Groups(out, len(used))
