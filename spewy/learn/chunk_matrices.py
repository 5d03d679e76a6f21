"""Compute the leaf matrices of a chunk from both ranges and the payoff matrices of the chunks below.

A leaf matrix holds, for each pair of rows, their joint weight times the chips that player 0 wins at the leaf. Card
removal is exact. `Weighing` describes two ways to weigh the hands within a row. If no hand of a row is in the range any
more, the row's hands weigh as in the initial range, which avoids 0 / 0; the reach of this row in the chunk is 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from solvers.matrix.chunk import Chunk, root_matrices
from solvers.matrix.leaves import add_deal, row_matrices
from solvers.state import ChunkStrategy
from solvers.tree import CHANCE, DECISION, FOLD, Floats, Ints
from spewy.chunks.boards import BoardHands
from spewy.chunks.layout import Layout, RowMaps

FOLD_OPERATOR, SHOWDOWN_OPERATOR, FIRST_CHANCE_OPERATOR = range(3)

LEAST_JOINT = 1e-13
"""A joint weight of two rows below this fraction of the largest joint weight counts as a rounding error."""

Payoffs = Callable[[int, int, int], Floats]
"""Function of a chunk's (round, board, entering line) that returns its payoffs in chips of player 0.

The payoffs are ``[matrix, row of player 0, row of player 1]``: two matrices, for the regrets of player 0 and of
player 1, or a single matrix for both.
"""


@dataclass(frozen=True)
class Weighing:
    """The weights of both players' hands, from which the leaf matrices of a chunk are computed.

    A chunk has one set of leaf matrices for each player's regrets, or one set for both. In player p's set, p's hands
    weigh as in the initial range, since a player's own reach must not enter the player's counterfactual values, and the
    opponent's hands weigh by reach. In a common set, the hands of both players weigh by reach.

    Attributes:
        own: ``own[p][hand]``, weights of player p's hands in p's set.
        other: ``other[p][hand]``, weights of player p's hands in the opponent's set.
        entering: for each player ``[row]``, 1 for rows that have a hand in the range at the chunk's root, else 0.
        views: number of sets of leaf matrices: 2 for one set for each player, 1 for a common set.
    """

    own: tuple[Floats, Floats]
    other: tuple[Floats, Floats]
    entering: tuple[Floats, Floats]
    views: int


def two_views(layout: Layout, t: int, b: int, ranges: Sequence[Floats]) -> Weighing:
    """Weigh hands for regret updates, with a set of leaf matrices for each player.

    In a player's set, the player's own hands weigh as in the initial range, and the opponent's hands by reach.

    Args:
        layout: boards and betting of the problem.
        t: the round.
        b: number of the board.
        ranges: both players' ranges at the chunk's root, each ``[hand]``.
    """
    rows = layout.board(t, b).hands
    (first, alive0), (second, alive1) = (_revive(rows[p], ranges[p]) for p in (0, 1))
    return Weighing((rows[0].weight, rows[1].weight), (first, second), (alive0, alive1), 2)


def one_view(layout: Layout, t: int, b: int, ranges: Sequence[Floats], tremble: float) -> Weighing:
    """Weigh both players' hands by ``range + tremble * initial range``, for a common set of leaf matrices.

    The tremble keeps every row's weight above 0.

    Args:
        layout: boards and betting of the problem.
        t: the round.
        b: number of the board.
        ranges: both players' ranges at the chunk's root, each ``[hand]``.
        tremble: fraction of the initial range to add.
    """
    rows = layout.board(t, b).hands
    (first, alive0), (second, alive1) = (
        _revive(rows[p], ranges[p] + tremble * rows[p].weight) for p in (0, 1)
    )
    return Weighing((first, second), (first, second), (alive0, alive1), 1)


def build_chunk(layout: Layout, t: int, b: int, r: int, weighing: Weighing, continuation: Payoffs) -> Chunk:
    """Build a chunk with its leaf matrices.

    Args:
        layout: boards and betting of the problem.
        t: round of the chunk.
        b: number of the board.
        r: number of the betting line that enters the chunk.
        weighing: weights of both players' hands.
        continuation: payoff matrices of the chunks below.
    """
    tree = layout.tree(t, r)
    hands = layout.hands(t, b, 0), layout.hands(t, b, 1)
    n_ids = layout.live.n_ids
    stacks = []
    for p in range(weighing.views):
        own, other = hands[p], hands[1 - p]
        weights = weighing.own[p], weighing.other[1 - p]
        joint, showdown = row_matrices(own, other, *weights, n_ids)
        chances = chance_matrices(layout, t, b, tree.exits.tolist(), p, weights, continuation)
        stack = np.array([joint, showdown, *chances])
        if p == 1:  # in chips of player 0, [row of player 0, row of player 1]
            stack[SHOWDOWN_OPERATOR:] *= -1
            stack = stack.transpose(0, 2, 1)
        stacks.append(stack)
    a = tree.forest.arrays
    operator = np.where(a.kind == DECISION, -1, np.where(a.kind == FOLD, FOLD_OPERATOR, SHOWDOWN_OPERATOR))
    operator[tree.forest.chance_leaves] = FIRST_CHANCE_OPERATOR + np.arange(len(tree.exits))
    scale = np.where(a.kind == CHANCE, 1.0, a.stake)
    return Chunk(tree.forest, (stacks[0], stacks[-1]), operator, scale, weighing.entering)


def root_payoffs(chunk: Chunk, strategy: ChunkStrategy, views: int) -> Floats:
    """Compute the payoff matrices at a chunk's root if both players follow a strategy.

    Args:
        chunk: the chunk, with a set of leaf matrices for each player's regrets, or a common set.
        strategy: strategies of both players in the chunk.
        views: number of payoff matrices: 2 for one matrix from each set, 1 for a single matrix from the first set.

    Returns:
        Chips that player 0 wins, ``[matrix, row of player 0, row of player 1]``; 0 for rows whose hands cannot occur
        together.
    """
    totals = root_matrices(chunk, strategy)
    return np.array([per_pair(totals[p], chunk.matrices[p][FOLD_OPERATOR]) for p in range(views)])


def per_pair(total: Floats, joint: Floats) -> Floats:
    """Divide weighted payoffs by the joint weights of two rows; the result is 0 where the joint weight is nearly 0."""
    out: Floats = np.zeros_like(joint)
    return np.divide(total, joint, out=out, where=joint > LEAST_JOINT * joint.max(initial=0.0))


def row_reach(layout: Layout, t: int, b: int, weights: Sequence[Floats]) -> ChunkStrategy:
    """Sum hands' weights by strategy row on board b of round t: for each player an array ``[row]``.

    Args:
        layout: boards and betting of the problem.
        t: the round.
        b: number of the board.
        weights: both players' weights, each ``[hand]``.
    """
    rows = layout.board(t, b).hands
    first, second = (
        np.bincount(rows[p].row, weights=weights[p], minlength=rows[p].n_rows).astype(np.float64)
        for p in (0, 1)
    )
    return first, second


def chance_matrices(
    layout: Layout,
    t: int,
    b: int,
    exits: Sequence[int],
    p: int,
    weights: tuple[Floats, Floats],
    continuation: Payoffs,
) -> Floats:
    """Compute the matrices of a chunk's chance leaves: weighted payoffs, summed over the next boards.

    Args:
        layout: boards and betting of the problem.
        t: round of the chunk.
        b: number of the board.
        exits: for each chance leaf, the number of the line that then enters the next round.
        p: the player whose gains are positive.
        weights: weights of p's hands and of the opponent's hands, each ``[hand]``.
        continuation: payoff matrices of the next round.

    Returns:
        Matrices ``[chance leaf, row of p, row of the opponent]``.
    """
    own, other = layout.hands(t, b, p), layout.hands(t, b, 1 - p)
    totals = np.zeros((own.n_rows, other.n_rows, len(exits)))
    sides = (own.row, weights[0]), (other.row, weights[1])
    unmoved = lru_cache(lambda perm: _unmoved(layout.mirrored(t, b, perm), sides if p == 0 else sides[::-1]))
    for e, entry in enumerate(layout.board(t, b).entries if exits else ()):
        payoffs = np.stack([_view(continuation(t + 1, entry.child, root), p) for root in exits], axis=-1)
        child, n = layout.board(t + 1, entry.child).hands, len(entry.members)
        alike = all(unmoved(tuple(perm)) for _, perm in entry.members[1:])
        if alike:  # all boards that this canonical board stands for contribute equally
            payoffs *= n
        for member in range(1 if alike else n):
            image = layout.image(t, b, e, member)
            images = [np.append(child[s].row, -1)[image[s]] for s in (p, 1 - p)]  # -1 stays -1
            add_deal(totals, own, other, *weights, payoffs, images[0], images[1], layout.live.n_ids)
    return np.moveaxis(totals, -1, 0) * layout.boards[t].probability


def _revive(rows: BoardHands, weights: Floats) -> tuple[Floats, Floats]:
    """Give hands their initial weight if no hand of their row is in the range.

    Args:
        rows: a player's hands on a board, with their rows and initial weights.
        weights: the player's range, ``[hand]``.

    Returns:
        The new weights ``[hand]``, and ``[row]``: 1 for rows that have a hand in the range, else 0.
    """
    living = np.bincount(rows.row, weights=weights, minlength=rows.n_rows) > 0
    return np.where(living[rows.row], weights, rows.weight), living.astype(np.float64)


def _view(payoffs: Floats, p: int) -> Floats:
    """Select the payoff matrix for player p's regrets, as ``[row of p, row of the opponent]`` in chips that p wins.

    Args:
        payoffs: ``[matrix, row of player 0, row of player 1]``, in chips that player 0 wins.
        p: the player.
    """
    matrix = payoffs[min(p, len(payoffs) - 1)]
    return np.asarray(matrix if p == 0 else -matrix.T, dtype=np.float64)


def _unmoved(image: RowMaps, sides: Sequence[tuple[Ints, Floats]]) -> bool:
    """Whether a permutation of hands leaves the row and the weight of each hand unchanged, for both players.

    Args:
        image: for each player ``[hand]``, the hand to which the permutation maps each hand.
        sides: for each player the row ``[hand]`` and the weight ``[hand]`` of each hand.
    """
    return all(
        np.array_equal(group[to], group) and np.array_equal(weight[to], weight)
        for to, (group, weight) in zip(image, sides, strict=True)
    )
