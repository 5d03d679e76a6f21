"""Leaf matrices of a chunk, and the payoff matrices of the chunks below: stored, estimated, or computed.

A leaf matrix holds, for each pair of rows, their joint weight times the chips that player 0 wins at the leaf. Card
removal is exact. `Weighing` describes two ways to weigh the hands within a row. If no hand of a row is in the range any
more, the row's hands weigh as in the initial range, which avoids 0 / 0; the reach of this row in the chunk is 0.

Chunks with matrices have no rake; `spewy.game.tree` says what a fold or a showdown pays. A payoff is the net number of
chips that player 0 wins in the whole hand. The payoffs of a chunk come from `StoredPayoffs` (estimated by
`NoMoreBetting` before the first visit) or from `AveragePayoffs`. A chunk is given by its round t, its board b and the
betting line r that enters it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from lockers import Reads
from solvers.matrix.chunk import Chunk, normalise, root_matrices
from solvers.matrix.leaves import add_deal, row_matrices
from solvers.state import ChunkStrategy
from solvers.tree import CHANCE, DECISION, FOLD, Floats, Ints
from spewy.chunks.boards import BoardHands
from spewy.chunks.layout import Layout, RowMaps
from spewy.learn.playdown import PlayDown
from spewy.records.chunks import Chunks, read_payoffs

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
    """Weigh hands for regret updates, with a set of leaf matrices for each player: see `Weighing`."""
    rows = layout.board(t, b).hands
    (first, alive0), (second, alive1) = (_revive(rows[p], ranges[p]) for p in (0, 1))
    return Weighing((rows[0].weight, rows[1].weight), (first, second), (alive0, alive1), 2)


def one_view(layout: Layout, t: int, b: int, ranges: Sequence[Floats], tremble: float) -> Weighing:
    """Weigh both players' hands by ``range + tremble * initial range``, for a common set of leaf matrices.

    The tremble keeps every row's weight above 0.
    """
    rows = layout.board(t, b).hands
    (first, alive0), (second, alive1) = (
        _revive(rows[p], ranges[p] + tremble * rows[p].weight) for p in (0, 1)
    )
    return Weighing((first, second), (first, second), (alive0, alive1), 1)


def build_chunk(layout: Layout, t: int, b: int, r: int, weighing: Weighing, continuation: Payoffs) -> Chunk:
    """Build the chunk that line r enters on board b of round t, with its leaf matrices.

    ``continuation`` has the payoffs of the chunks below.
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
    """Compute the payoffs ``[matrix, row of player 0, row of player 1]`` if both players follow a strategy.

    ``views`` is 2 for one matrix from each set of leaf matrices, 1 for a single matrix from the first. Rows whose hands
    cannot occur together have 0.
    """
    totals = root_matrices(chunk, strategy)
    return np.array([per_pair(totals[p], chunk.matrices[p][FOLD_OPERATOR]) for p in range(views)])


def per_pair(total: Floats, joint: Floats) -> Floats:
    """Divide weighted payoffs by the joint weights of two rows; 0 where the joint weight is nearly 0."""
    out: Floats = np.zeros_like(joint)
    return np.divide(total, joint, out=out, where=joint > LEAST_JOINT * joint.max(initial=0.0))


def row_reach(layout: Layout, t: int, b: int, weights: Sequence[Floats]) -> ChunkStrategy:
    """Sum weights ``[hand]`` by strategy row on board b of round t: for each player ``[row]``."""
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
    """Compute the matrices ``[chance leaf, row of p, row of the opponent]`` of a chunk's chance leaves.

    The entries are weighted payoffs, summed over the next boards, and positive where p gains.

    Args:
        exits: for each chance leaf, the number of the line that then enters the next round.
        weights: weights of p's hands and of the opponent's hands, each ``[hand]``.
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
    """Give hands ``[hand]`` their initial weight if no hand of their row is in the range.

    The second result is ``[row]``: 1 for rows that have a hand in the range, else 0.
    """
    living = np.bincount(rows.row, weights=weights, minlength=rows.n_rows) > 0
    return np.where(living[rows.row], weights, rows.weight), living.astype(np.float64)


def _view(payoffs: Floats, p: int) -> Floats:
    """Return the matrix for player p's regrets as ``[row of p, row of the opponent]`` in chips that p wins."""
    matrix = payoffs[min(p, len(payoffs) - 1)]
    return np.asarray(matrix if p == 0 else -matrix.T, dtype=np.float64)


def _unmoved(image: RowMaps, sides: Sequence[tuple[Ints, Floats]]) -> bool:
    """Whether a permutation of hands leaves both players' rows and weights, each ``[hand]``, unchanged."""
    return all(
        np.array_equal(group[to], group) and np.array_equal(weight[to], weight)
        for to, (group, weight) in zip(image, sides, strict=True)
    )


class NoMoreBetting:
    """Estimates payoffs by all-in equity: both players check to the end, and the pot goes to the better hand."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._shares: dict[tuple[int, int], Floats] = {}

    def __call__(self, t: int, b: int, r: int) -> Floats:
        root = self._layout.tree(t, r).nodes[0]
        return (self._layout.problem.pot / 2 + min(root.put_in)) * self.share(t, b)[None]

    def share(self, t: int, b: int) -> Floats:
        """Compute all-in equities ``[row of player 0, row of player 1]``, from -1 (player 0 always loses) to 1."""
        share = self._shares.get((t, b))
        if share is None:
            layout = self._layout
            own, other = layout.hands(t, b, 0), layout.hands(t, b, 1)
            rows = layout.board(t, b).hands
            weights = rows[0].weight, rows[1].weight
            joint, total = row_matrices(own, other, *weights, layout.live.n_ids)
            if t < len(layout.boards) - 1:
                (total,) = chance_matrices(
                    layout, t, b, [0], 0, weights, lambda t, b, _: self.share(t, b)[None]
                )
            share = np.divide(total, joint, out=np.zeros_like(joint), where=joint > 0)
            self._shares[t, b] = share
        return share


class StoredPayoffs:
    """Reads payoff matrices that the last visits stored; estimates the matrices of chunks that were never visited.

    Attributes:
        estimated: whether a payoff matrix was estimated since this object was made. Chunks that have neither decisions
            nor chance leaves do not count, because all-in equity gives their exact payoffs.
    """

    def __init__(self, layout: Layout, store: Reads) -> None:
        self._layout, self._store = layout, store
        self._estimate = NoMoreBetting(layout)
        self.estimated = False

    def __call__(self, t: int, b: int, r: int) -> Floats:
        stored = read_payoffs(self._layout, self._store, t, b, r)
        if stored is not None:
            return stored
        kind = self._layout.tree(t, r).forest.arrays.kind
        self.estimated |= bool(np.any((kind == DECISION) | (kind == CHANCE)))
        return self._estimate(t, b, r)


class AveragePayoffs:
    """Computes payoff matrices under the stored average strategies, recursively through all later rounds.

    Args:
        play_down: computes both ranges from the average strategies.
        tremble: fraction of the initial range that is added to each range, so that no row has weight 0.
    """

    def __init__(self, layout: Layout, store: Reads, play_down: PlayDown, tremble: float) -> None:
        self._layout, self._play_down, self._tremble = layout, play_down, tremble
        self._sums = Chunks(layout, store)

    def __call__(self, t: int, b: int, r: int) -> Floats:
        ranges = [side[r] for side in self._play_down.ranges(t, b)]
        weighing = one_view(self._layout, t, b, ranges, self._tremble)
        chunk = build_chunk(self._layout, t, b, r, weighing, self)
        return root_payoffs(chunk, normalise(chunk, self._sums.get(t, b, r) or chunk.zeros()), 1)
