"""A chunk: one betting round from one public state, as a matrix game with rows, and its solution by CFR.

A leaf knows only which *operator* it uses and a scale: its value for player 0's row i is

    values[leaf, i] = scale[leaf] · Σ_j matrices[0][operator[leaf], i, j] · q[j]

where ``q`` is player 1's reach *inside the chunk*; for player 1's row j it is
``−scale[leaf] · Σ_i matrices[1][operator[leaf], i, j] · q[i]``. The matrices hold the joint weights of the rows,
``A = W ∘ U``. The two players may look through different weights (own rows one per hand, opposing rows by
their reach), hence two stacks; a game in which they differ has no LP.
All folds of a chunk share one operator and all its showdowns another: only the stakes differ.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from compiled import kernel
from solvers.discount import Factors, Variant
from solvers.errors import SolverError
from solvers.reference.kernels import (
    BEST,
    EVALUATE,
    UPDATE,
    add_to_sums,
    match,
    matrix_values,
    reach_down,
    update_regrets,
    values_up,
)
from solvers.tree import DECISION, Floats, Forest, ForestArrays, Ints

ChunkStrategy = tuple[Floats, Floats]
"""Arrays ``[slot, row]`` of both players."""


@dataclass(frozen=True)
class Chunk:
    """One betting tree, its leaf matrices, and the rows that enter it.

    Attributes:
        forest: a forest with a single root.
        matrices: for each player's view ``[operator, row of player 0, row of player 1]``.
        operator: ``[node]``, -1 at decisions.
        scale: ``[node]``.
        entering: ``[row]`` per player: 1 where the player's root range holds the row, 0 where it does not.
    """

    forest: Forest
    matrices: tuple[Floats, Floats]
    operator: Ints
    scale: Floats
    entering: tuple[Floats, Floats]

    def __post_init__(self) -> None:
        shape = (len(self.entering[0]), len(self.entering[1]))
        if self.forest.n_roots != 1:
            raise SolverError(f"chunk: expected a forest with one root, found {self.forest.n_roots}")
        for p in (0, 1):
            if self.matrices[p].shape[1:] != shape:
                raise SolverError(
                    f"chunk matrices of player {p}: expected [operator, {shape[0]}, {shape[1]}], "
                    f"found {list(self.matrices[p].shape)}"
                )
        leaf = self.forest.arrays.kind != DECISION
        if np.any((self.operator >= 0) != leaf) or np.any(self.operator >= len(self.matrices[0])):
            raise SolverError(
                "chunk operators: expected one of the matrices at each leaf and -1 at decisions"
            )

    @property
    def n_rows(self) -> tuple[int, int]:
        """Number of rows of each player."""
        return len(self.entering[0]), len(self.entering[1])

    def zeros(self) -> ChunkStrategy:
        """Fresh arrays for regrets or sums."""
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
    """Run CFR iterations ``start + 1 .. start + iterations`` in place, alternating as in ``cfr.py``.

    ``own_reach`` (per player ``[row]``) weighs what is added to the sums; by default ``entering``.

    Raises:
        SolverError: a predictive variant without ``guesses``.
    """
    if variant.predictive and guesses is None:
        raise SolverError(f"variant {variant.name}: expected guesses beside the regrets, found none")
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
    """Strategies ``[slot, row]`` from regrets or sums; uniform where nothing is positive."""
    out = chunk.zeros()
    for p in (0, 1):
        match(chunk.forest.arrays, p, source[p], out[p])
    return out


def reach_of(chunk: Chunk, strategy: ChunkStrategy, p: int, entering: Floats | None = None) -> Floats:
    """Player p's reach ``[sequence, row]`` inside the chunk; row 0 is ``entering`` (default: all ones)."""
    forest = chunk.forest
    n = chunk.n_rows[p]
    reach = np.zeros((forest.n_sequences(p), n))
    reach[0] = 1.0 if entering is None else entering
    reach_down(forest.arrays, p, strategy[p], np.arange(n), True, n, reach)
    return reach


def root_values(chunk: Chunk, strategy: ChunkStrategy, p: int, *, best: bool = False) -> Floats:
    """Counterfactual values ``[own row]`` of player p at the root, under ``strategy`` or a best response."""
    q, n = 1 - p, chunk.n_rows[p]
    reach = reach_of(chunk, strategy, q, chunk.entering[q])
    values = np.zeros((chunk.forest.n_nodes, n))
    matrix_values(chunk.forest.arrays, q, _views(chunk)[p], chunk.operator, chunk.scale, reach, values)
    mode = BEST if best else EVALUATE
    values_up(chunk.forest.arrays, p, mode, strategy[p], np.arange(n), True, n, values)
    root: Floats = values[0].copy()
    return root


def local_exploitability(chunk: Chunk, strategy: ChunkStrategy) -> float:
    """Exploitability inside the chunk in weighted chips, with fixed leaves: (best responses − values) / 2."""
    gains = (
        chunk.entering[p] @ (root_values(chunk, strategy, p, best=True) - root_values(chunk, strategy, p))
        for p in (0, 1)
    )
    return float(sum(gains)) / 2


def root_matrices(chunk: Chunk, strategy: ChunkStrategy) -> tuple[Floats, Floats]:
    """``A[x, y] = Σ_leaf π0(x) π1(y) scale · A_leaf[x, y]``, per player's view: the chunk's payoffs for chunks above.

    Every row enters with reach 1, so rows without weight get values too.
    """
    a = chunk.forest.arrays
    reach = [reach_of(chunk, strategy, p) for p in (0, 1)]
    leaves = np.flatnonzero(a.kind != DECISION)
    n_operators = len(chunk.matrices[0])
    together = np.zeros((n_operators, *chunk.n_rows))  # Σ over the leaves that share an operator
    for k in range(n_operators):
        mine = leaves[chunk.operator[leaves] == k]
        left = reach[0][a.sequence[0, mine]] * chunk.scale[mine, None]
        together[k] = left.T @ reach[1][a.sequence[1, mine]]
    first, second = ((together * chunk.matrices[p]).sum(axis=0) for p in (0, 1))
    return first, second


def _views(chunk: Chunk) -> tuple[Floats, Floats]:
    """Per player ``[operator, own row, opposing row]``, own gains positive."""
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
        values_up(forest, p, UPDATE, strategy, group, True, n, values)
        update_regrets(forest, p, factors, group, True, n, entering[p], values, regrets[p], current[p])
