"""Leaf matrices of a chunk, ``A_leaf = W ∘ U_leaf``, from both ranges and the payoff matrices of the chunks below.

Card removal is exact. `Weighing` has two ways to weigh the hands within a row. Rows whose hands have all left the range
weigh as in the initial range (so nothing is 0 / 0), but their reach inside the chunk starts at 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from solvers.matrix.chunk import Chunk, ChunkStrategy, root_matrices
from solvers.matrix.leaves import add_deal, row_matrices
from solvers.tree import CHANCE, DECISION, FOLD, Floats, Ints
from spewy.chunks.boards import BoardHands
from spewy.chunks.layout import Layout, RowMaps

FOLD_OPERATOR, SHOWDOWN_OPERATOR, FIRST_CHANCE_OPERATOR = range(3)

LEAST_JOINT = 1e-13
"""Joint weight of two rows, as a share of the largest, below which it counts as a rounding error."""

Payoffs = Callable[[int, int, int], Floats]
"""Maps (t, b, r) to payoff matrices ``[view, row of player 0, row of player 1]``; both players may share one view."""


@dataclass(frozen=True)
class Weighing:
    """The hand weights of both views of a chunk.

    With two views, player p's view weighs p's own hands as in the initial range, since a player's own reach must not
    enter its counterfactual values, and the opponent's hands by reach. With one view both players' hands weigh by
    reach, and the view serves both players.

    Attributes:
        own: ``own[p][hand]``, weights of player p's hands in p's view.
        other: ``other[q][hand]``, weights of player q's hands in the opponent's view.
        entering: per player ``[row]``, 1 for rows with some range, else 0.
        views: 1 or 2.
    """

    own: tuple[Floats, Floats]
    other: tuple[Floats, Floats]
    entering: tuple[Floats, Floats]
    views: int


def two_views(layout: Layout, t: int, b: int, ranges: Sequence[Floats]) -> Weighing:
    """Return the hand weights of both players' regret updates: own hands by initial range, the opponent's by reach."""
    rows = layout.board(t, b).hands
    (first, alive0), (second, alive1) = (_revive(rows[p], ranges[p]) for p in (0, 1))
    return Weighing((rows[0].weight, rows[1].weight), (first, second), (alive0, alive1), 2)


def one_view(layout: Layout, t: int, b: int, ranges: Sequence[Floats], tremble: float) -> Weighing:
    """Return the single view of a whole chunk's solution; ``range + tremble · initial`` keeps every row alive."""
    rows = layout.board(t, b).hands
    (first, alive0), (second, alive1) = (
        _revive(rows[p], ranges[p] + tremble * rows[p].weight) for p in (0, 1)
    )
    return Weighing((first, second), (first, second), (alive0, alive1), 1)


def build_chunk(layout: Layout, t: int, b: int, r: int, weighing: Weighing, continuation: Payoffs) -> Chunk:
    """Build chunk (t, b, r) with its leaf matrices, given the payoff matrices of the chunks below."""
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
    """Return a chunk's payoff matrices ``U[view, x, y]`` under a strategy; 0 where no pair of hands is possible."""
    totals = root_matrices(chunk, strategy)
    return np.array([per_pair(totals[p], chunk.matrices[p][FOLD_OPERATOR]) for p in range(views)])


def per_pair(total: Floats, joint: Floats) -> Floats:
    """Divide weighted payoffs by joint weights; 0 where no pair of hands is possible."""
    out: Floats = np.zeros_like(joint)
    return np.divide(total, joint, out=out, where=joint > LEAST_JOINT * joint.max(initial=0.0))


def row_reach(layout: Layout, t: int, b: int, weights: Sequence[Floats]) -> ChunkStrategy:
    """Sum the weights of the hands in each row, per player ``[row]``."""
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
    """Compute ``[chance leaf, own row, opposing row]``, ``Σ_boards probability · payoffs``, in player p's view.

    Args:
        layout: layout of the chunks.
        t: the round.
        b: number of the board.
        exits: roots of the next round that the chance leaves lead to.
        p: the player, whose gains are positive.
        weights: ``[hand]``, weights of p's and of the opponent's hands.
        continuation: payoff matrices of the next round.
    """
    own, other = layout.hands(t, b, p), layout.hands(t, b, 1 - p)
    totals = np.zeros((own.n_rows, other.n_rows, len(exits)))
    sides = (own.row, weights[0]), (other.row, weights[1])
    unmoved = lru_cache(lambda perm: _unmoved(layout.mirrored(t, b, perm), sides if p == 0 else sides[::-1]))
    for e, entry in enumerate(layout.board(t, b).entries if exits else ()):
        payoffs = np.stack([_view(continuation(t + 1, entry.child, root), p) for root in exits], axis=-1)
        child, n = layout.board(t + 1, entry.child).hands, len(entry.members)
        alike = all(unmoved(tuple(perm)) for _, perm in entry.members[1:])
        if alike:  # each member's share is the same
            payoffs *= n
        for member in range(1 if alike else n):
            image = layout.image(t, b, e, member)
            images = [np.append(child[s].row, -1)[image[s]] for s in (p, 1 - p)]  # -1 stays -1
            add_deal(totals, own, other, *weights, payoffs, images[0], images[1], layout.live.n_ids)
    return np.moveaxis(totals, -1, 0) * layout.boards[t].probability


def _revive(rows: BoardHands, weights: Floats) -> tuple[Floats, Floats]:
    """Weights in which rows without range have their initial weight, and the mask ``[row]`` of rows with range."""
    living = np.bincount(rows.row, weights=weights, minlength=rows.n_rows) > 0
    return np.where(living[rows.row], weights, rows.weight), living.astype(np.float64)


def _view(payoffs: Floats, p: int) -> Floats:
    """Return player p's view of a chunk's payoff matrices, in which p's gains are positive."""
    view = payoffs[min(p, len(payoffs) - 1)]
    return np.asarray(view if p == 0 else -view.T, dtype=np.float64)


def _unmoved(image: RowMaps, sides: Sequence[tuple[Ints, Floats]]) -> bool:
    """Whether a permutation of hands leaves each player's rows and weights unchanged."""
    return all(
        np.array_equal(group[to], group) and np.array_equal(weight[to], weight)
        for to, (group, weight) in zip(image, sides, strict=True)
    )
