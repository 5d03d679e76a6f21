"""Count the flops of an abstraction, and look up the flop bucket from which each turn or river bucket follows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from solvers.tree import Ints

if TYPE_CHECKING:
    from buckets.abstraction import Abstraction

COUNTED = 1 << 15
"""Number of deals from which the work for each flop bucket is estimated."""


def n_flop_boards(abstraction: Abstraction) -> int:
    """Count the flops of an abstraction's game, where flops that are equal up to suits count as one."""
    first = abstraction.first
    start = int(abstraction.arrays["starts"][first, 0])
    end = start + math.comb(len(abstraction.deck), abstraction.board_sizes[first])
    return int(abstraction.arrays["canonical"][start:end].max()) + 1


def owner_of(abstraction: Abstraction, seed: int, t: int) -> Ints:
    """Look up the flop bucket from which each board bucket of round t follows.

    Args:
        abstraction: board buckets of the game; boards with different flop buckets never share a later bucket.
        seed: seed of the random boards on which the buckets are looked up, if the abstraction does not list the flop
            bucket of each later bucket.
        t: number of the round, the flop or a later round.

    Returns:
        For each board bucket of round t, the number of its flop bucket (an array ``[board bucket]``).
    """
    first, n = abstraction.first, abstraction.n_board_buckets
    if t <= first:
        return np.arange(n[t], dtype=np.int64)
    memory, arrays = abstraction.arrays["memory"][t], abstraction.arrays
    if memory[0]:
        end = memory[1] + n[first] * memory[0]
        pairs = arrays["pairs"][memory[1] : end].reshape(n[first], memory[0])
        flop, pair = np.nonzero(pairs >= 0)
        flop_buckets = np.zeros(n[t], dtype=np.int64)
        flop_buckets[arrays["classes"][arrays["starts"][t, 1] + pairs[flop, pair]]] = flop
        return flop_buckets
    flop_buckets, deals = np.full(n[t], -1, dtype=np.int64), 0
    # Here each canonical board is a bucket, so the game is small enough to deal all of them.
    while (flop_buckets < 0).any():
        buckets = abstraction.classes_of_deals(seed, deals, COUNTED)
        flop_buckets[buckets[:, t]] = buckets[:, first]
        deals += COUNTED
    return flop_buckets
