"""The rows of hands on a board, as the job's section ``[rows]`` specifies.

With ``weights = "uniform"``, all hands that the board does not block have the same weight, and both players share the
buckets; those of the clustering "equation-1" come from the bucket locker. With ``weights = "ranges"``, each player's
buckets are computed for the player's own initial range, and hands outside of the range have no row.
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
LOCKED = "equation-1"  # the clustering with trees in the bucket locker
TREES = (LOCKED, "ward")  # with enough rows, these clusterings give different rows to different outcomes
BOARDS_AT_ONCE = 256


@dataclass(frozen=True)
class Groups:
    """The rows of one player's hands on one board.

    Attributes:
        labels: ``[hand of the deck]``, the row of each hand; -1: the hand has no row.
        n_rows: number of rows.
    """

    labels: Ints
    n_rows: int


def board_groups(problem: Problem, t: int, history: History) -> tuple[Groups, Groups] | None:
    """Compute the strategy rows of both players' hands on a board; None if each hand has a row of its own.

    Args:
        problem: the problem.
        t: the round of the game.
        history: the public cards.
    """
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
    """Count both players' strategy rows on each board of a round, without computing the buckets.

    Hands with equal outcomes (`buckets.abstraction.outcomes`) share a row. So a board has the job's number of rows or,
    if it is smaller, the number of different outcomes. The counts are upper bounds unless `counted_exactly` is true.

    Args:
        problem: the problem.
        t: the round of the game.
        histories: the public cards of each board.
        power: ``[board, hand]``, the strength of each hand on the last round; None on other rounds.

    Returns:
        The counts of player 0 and player 1 for each board; None if each hand has a row of its own.
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
    """Tell whether `row_counts` returns exact numbers of rows instead of upper bounds."""
    bucketed = any(k is not None for k in problem.rows[problem.first_round :])
    return not bucketed or (problem.grouping in TREES and not problem.range_weights)


def _different(kinds: Ints) -> int:
    return int(np.count_nonzero(np.bincount(kinds[kinds >= 0])))


def _kinds(problem: Problem, history: History) -> Ints:
    """Number the hands on a board so that hands with equal outcomes have equal numbers (an array ``[hand]``).

    A hand that the board blocks has the number -1.
    """
    deck, n_board = problem.game.deck, sum(problem.game.num_board_cards)
    board = [card for group in history for card in group]
    final = comb(len(deck) - len(board), n_board - len(board))
    if final > MAX_BOARDS:  # outcomes are sampled; hands that differ only by suits share a sample
        kinds = hand_orbits(board, problem.hands, deck)
    else:
        seen: dict[bytes, int] = {}  # a dictionary is ten times faster here than sorting
        curves = outcomes(board, problem.hands, deck, n_board)
        kinds = np.array([seen.setdefault(curve.tobytes(), len(seen)) for curve in curves])
    return np.where(blocked(problem.hands, board), -1, kinds)


def _last_kinds(problem: Problem, power: NDArray[np.int32]) -> Iterator[Ints]:
    """Yield for each board of the last round an array ``[hand]`` of numbers, equal for hands with equal outcomes.

    Args:
        problem: the problem.
        power: ``[board, hand]``, the strength of each hand.
    """
    from buckets.kernels.showdowns import fill_levels

    for start in range(0, len(power), BOARDS_AT_ONCE):
        part = power[start : start + BOARDS_AT_ONCE]
        levels = np.empty(part.shape, dtype=np.int16)
        fill_levels(part, problem.hands, levels)
        yield from levels.astype(np.int64)


def _own(problem: Problem, k: int, board: list[int], weights: Floats) -> Groups:
    """Cluster the hands of a player's own range on a board into rows; rows without a hand are left out.

    Args:
        problem: the problem.
        k: largest number of rows.
        board: the public cards.
        weights: ``[hand]``, the player's range.
    """
    deck, n_board = problem.game.deck, sum(problem.game.num_board_cards)
    labels = GROUPINGS[problem.grouping](board, problem.hands, weights, k, deck, n_board).astype(np.int64)
    held = (weights > 0) & ~blocked(problem.hands, board)
    used, renumbered = np.unique(labels[held], return_inverse=True)
    out = np.full(len(labels), -1, dtype=np.int64)
    out[held] = renumbered
    return Groups(out, len(used))
