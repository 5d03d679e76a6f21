"""Which row a hand is in: the buckets of a board for both players, as the job's ``[rows]`` says.

With uniform weights each hand that the board leaves counts the same, both players share the buckets, and Equation 1's
trees come from the bucket locker. With range weights each player's buckets are made for that player's own initial
range: rows lie where the range is, and no row is spent on hands outside it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from buckets.grouping import GROUPINGS
from buckets.hands import blocked, preflop_classes
from buckets.symmetry import History
from solvers.forest import Floats
from spewy.chunks.bucket_trees import shared_cache
from spewy.chunks.problem import Ints, Problem
from spewy.game.handclass import NUM_HANDS

PREFLOP_CLASSES = 169
LOCKED = "equation-1"  # the clustering whose trees the bucket locker keeps


@dataclass(frozen=True)
class Groups:
    """Row of every hand of the deck on one board, -1 where there is none, and the number of rows."""

    labels: Ints
    n_groups: int


def board_groups(problem: Problem, t: int, history: History) -> tuple[Groups, Groups] | None:
    """Rows of both players on a board of round ``t``; None for a row per hand."""
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


def _own(problem: Problem, k: int, board: list[int], weights: Floats) -> Groups:
    """Rows made for a range, numbered anew from those that it reaches."""
    deck, n_board = problem.game.deck, sum(problem.game.num_board_cards)
    labels = GROUPINGS[problem.grouping](board, problem.hands, weights, k, deck, n_board).astype(np.int64)
    held = (weights > 0) & ~blocked(problem.hands, board)
    used, renumbered = np.unique(labels[held], return_inverse=True)
    out = np.full(len(labels), -1, dtype=np.int64)
    out[held] = renumbered
    return Groups(out, len(used))
