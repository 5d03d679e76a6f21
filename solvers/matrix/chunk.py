"""A chunk: one betting round from one public state, as a matrix game between rows, and its solution by CFR.

A leaf of the betting tree has a payoff matrix and a factor, ``scale``. Its value for player 0's row i is

    values[leaf, i] = scale[leaf] · Σ_j matrices[0][operator[leaf], i, j] · q[j]

where ``q`` is player 1's reach from the chunk's root to the leaf, and ``operator[leaf]`` is the number of the leaf's
matrix. For player 1's row j the value is ``−scale[leaf] · Σ_i matrices[1][operator[leaf], i, j] · q[i]``.
All folds of a chunk share one matrix and all its showdowns another: only the stakes differ, which are the scales.

An entry of a matrix is a payoff times the joint weight of both rows. The weights within a row can depend on the player
whose values are computed (hands of a player's own row may weigh 1 each, the opponent's hands by their reach), so each
player has matrices of their own. If both players' matrices differ, the chunk cannot be solved by linear programming.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from compiled import kernel
from solvers.discount import Factors, Variant
from solvers.errors import SolverError
from solvers.game import BEST, EVALUATE
from solvers.reference.kernels import (
    LockArrays,
    add_to_sums,
    match,
    matrix_values,
    reach_down,
    update_up,
    values_up,
)
from solvers.state import ChunkStrategy
from solvers.tree import DECISION, Floats, Forest, ForestArrays, Ints


@dataclass(frozen=True)
class Chunk:
    """A betting tree with the payoff matrices of its leaves.

    Attributes:
        forest: the betting tree, as a `Forest` with one root.
        matrices: for each player ``[matrix, row of player 0, row of player 1]``, player 0's payoffs times the joint
            weights of the rows, from which the player's values are computed.
        operator: ``[node]``, the number of each leaf's matrix; -1 at decisions.
        scale: ``[node]``, the factor by which the matrix of each leaf is multiplied.
        entering: for each player ``[row]``: 1 if the player's range at the chunk's root contains the row, else 0.
    """

    forest: Forest
    matrices: tuple[Floats, Floats]
    operator: Ints
    scale: Floats
    entering: tuple[Floats, Floats]

    def __post_init__(self) -> None:
        shape = (len(self.entering[0]), len(self.entering[1]))
        if self.forest.n_roots != 1:
            raise SolverError(f"chunk: expected one betting tree, found {self.forest.n_roots}")
        for p in (0, 1):
            if self.matrices[p].shape[1:] != shape:
                raise SolverError(
                    f"chunk matrices of player {p}: expected [operator, {shape[0]}, {shape[1]}], "
                    f"found {list(self.matrices[p].shape)}"
                )
        leaf = self.forest.arrays.kind != DECISION
        if np.any((self.operator >= 0) != leaf) or np.any(self.operator >= len(self.matrices[0])):
            raise SolverError(
                "chunk operators: expected the number of a matrix at each leaf and -1 at decisions"
            )

    @property
    def n_rows(self) -> tuple[int, int]:
        """Number of rows of both players."""
        return len(self.entering[0]), len(self.entering[1])

    def zeros(self) -> ChunkStrategy:
        """Return zeros for regrets or strategy sums: for each player ``[slot, row]``."""
        slots, rows = self.forest.n_slots, self.n_rows
        return np.zeros((slots[0], rows[0])), np.zeros((slots[1], rows[1]))


def iterate(
    chunk: Chunk,
    variant: Variant,
    start: int,
    iterations: int,
    regrets: ChunkStrategy,
    sums: ChunkStrategy,
    guesses: ChunkStrategy | None = None,
    *,
    own_reach: ChunkStrategy | None = None,
) -> None:
    """Run CFR iterations ``start + 1 .. start + iterations``; they change ``regrets``, ``sums`` and ``guesses``.

    Each iteration updates player 0, then player 1 against player 0's new strategy.

    Args:
        regrets: both players' regrets.
        sums: both players' strategy sums.
        guesses: both players' predicted regrets, for a predictive variant.
        own_reach: for each player ``[row]``, the reach at the chunk's root, by which strategy sums are weighted; None:
            ``chunk.entering``.
    """
    if variant.predictive and guesses is None:
        raise SolverError(f"variant {variant.name}: expected predicted regrets (guesses), found None")
    current = regrets if guesses is None else guesses
    weights = chunk.entering if own_reach is None else own_reach
    matrices = _views(chunk)
    for t in range(start + 1, start + iterations + 1):
        _iteration(
            chunk.forest.arrays,
            variant.factors(t),
            matrices,
            chunk.operator,
            chunk.scale,
            chunk.entering,
            weights,
            regrets,
            current,
            sums,
        )


def normalise(chunk: Chunk, source: ChunkStrategy) -> ChunkStrategy:
    """Return strategies ``[slot, row]`` from regrets or sums; where no number is positive, a row plays uniformly."""
    out = chunk.zeros()
    for p in (0, 1):
        match(chunk.forest.arrays, p, source[p], out[p])
    return out


def reach_of(chunk: Chunk, strategy: ChunkStrategy, p: int, entering: Floats | None = None) -> Floats:
    """Compute player p's reach at each sequence of a chunk.

    Args:
        entering: ``[row]``, the player's reach at the root; None: 1 for each row.

    Returns:
        ``[sequence, row]``; sequence 0 is the root, and sequence ``1 + s`` follows slot s (one action of one decision)
        of the player's strategy ``[slot, row]``.
    """
    forest = chunk.forest
    n = chunk.n_rows[p]
    reach = np.zeros((forest.n_sequences(p), n))
    reach[0] = 1.0 if entering is None else entering
    reach_down(forest.arrays, p, strategy[p], np.arange(n), True, n, reach)
    return reach


def root_values(chunk: Chunk, strategy: ChunkStrategy, p: int, *, best: bool = False) -> Floats:
    """Compute player p's counterfactual values at the root: ``[row]``.

    The opponent follows ``strategy``; the player follows it too, or plays a best response if ``best`` is True.
    """
    q, n = 1 - p, chunk.n_rows[p]
    reach = reach_of(chunk, strategy, q, chunk.entering[q])
    values = np.zeros((chunk.forest.n_nodes, n))
    matrix_values(chunk.forest.arrays, q, _views(chunk)[p], chunk.operator, chunk.scale, reach, values)
    mode = BEST if best else EVALUATE
    values_up(chunk.forest.arrays, p, mode, strategy[p], np.arange(n), True, n, values)
    root: Floats = values[0].copy()
    return root


def local_exploitability(chunk: Chunk, strategy: ChunkStrategy) -> float:
    """Compute the exploitability of a strategy in a chunk alone, with fixed payoffs at the chunk's leaves.

    It is the mean gain of both players' best responses, in chips times the joint weight of the rows.
    """
    gains = (
        chunk.entering[p] @ (root_values(chunk, strategy, p, best=True) - root_values(chunk, strategy, p))
        for p in (0, 1)
    )
    return float(sum(gains)) / 2


def root_matrices(chunk: Chunk, strategy: ChunkStrategy) -> tuple[Floats, Floats]:
    """Compute the payoff matrix of a chunk when both players follow a strategy.

    The chunk above uses the matrix at the chance leaf that leads to this chunk. Each row enters with reach 1, so rows
    without weight get payoffs, too.

    Returns:
        For each player ``[row of player 0, row of player 1]``: player 0's payoffs times the joint weights of the rows,
        computed from the matrices that the chunk has for this player.
    """
    a = chunk.forest.arrays
    reach = [reach_of(chunk, strategy, p) for p in (0, 1)]
    leaves = np.flatnonzero(a.kind != DECISION)
    n_operators = len(chunk.matrices[0])
    joint_reach = np.zeros((n_operators, *chunk.n_rows))  # summed over the leaves that share a matrix
    for k in range(n_operators):
        sharing = leaves[chunk.operator[leaves] == k]
        scaled_reach = reach[0][a.sequence[0, sharing]] * chunk.scale[sharing, None]
        joint_reach[k] = scaled_reach.T @ reach[1][a.sequence[1, sharing]]
    first, second = ((joint_reach * chunk.matrices[p]).sum(axis=0) for p in (0, 1))
    return first, second


def _views(chunk: Chunk) -> tuple[Floats, Floats]:
    """Return each player's matrices ``[matrix, own row, opposing row]``, with the player's own gains positive."""
    second = np.ascontiguousarray(-chunk.matrices[1].transpose(0, 2, 1))
    return np.ascontiguousarray(chunk.matrices[0]), second


@kernel
def _iteration(
    forest: ForestArrays,
    factors: Factors,
    matrices: tuple[Floats, Floats],
    operator: Ints,
    scale: Floats,
    entering: tuple[Floats, Floats],
    own_reach: tuple[Floats, Floats],
    regrets: tuple[Floats, Floats],
    current: tuple[Floats, Floats],
    sums: tuple[Floats, Floats],
) -> None:
    nothing = np.zeros(0, np.int64)
    no_locks = LockArrays(nothing, nothing, np.zeros((0, 0, 0), regrets[0].dtype))
    for p in range(2):
        q = 1 - p
        n, m = len(entering[p]), len(entering[q])
        group, other_group = np.arange(n), np.arange(m)
        strategy, other = np.empty_like(regrets[p]), np.empty_like(regrets[q])
        reach = np.empty((forest.n_roots + len(other), m))
        values = np.empty((len(forest.kind), n))
        match(forest, q, current[q], other)
        reach[0] = own_reach[q]
        reach_down(forest, q, other, other_group, True, m, reach)
        add_to_sums(forest.n_roots, other_group, True, m, reach, factors.decay, sums[q])
        reach[0] = entering[q]
        reach_down(forest, q, other, other_group, True, m, reach)
        match(forest, p, current[p], strategy)
        matrix_values(forest, q, matrices[p], operator, scale, reach, values)
        rows = (group, True, n, entering[p])
        update_up(forest, p, factors, rows, strategy, no_locks, 0, values, regrets[p], current[p])
