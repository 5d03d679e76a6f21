"""Overlap of the classes and rows of two abstractions of the same game."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from buckets.abstraction.abstraction import Abstraction
from buckets.errors import BoardError

DEALS = 20_000
"""Number of deals on which overlaps are counted: enough to meet each of some thousand classes ten times."""
AT_ONCE = 1024


def overlaps(old: Abstraction, new: Abstraction, seed: int = 0, n_deals: int = DEALS) -> list[sp.csr_array]:
    """Estimate how the hands of each row of a new abstraction spread over the rows of an old one.

    Both abstractions look up the same deals.

    Returns:
        For each round a matrix ``[new class and row, old class and row]``, where class c and row r have the index
        ``c * n_rows + r``. Each row of the matrix sums to 1, or to 0 if no deal had a hand in it.

    Raises:
        BoardError: the abstractions are of different games.
    """
    if (old.deck, old.hole, old.board_sizes) != (new.deck, new.hole, new.board_sizes):
        raise BoardError("abstractions: expected two of one game, got others")
    rounds = range(new.n_rounds)
    sizes = [tuple(one.n_classes[t] * one.n_rows[t] for one in (new, old)) for t in rounds]
    found = [sp.csr_array(size, dtype=np.float32) for size in sizes]
    for first in range(0, n_deals, AT_ONCE):
        n = min(AT_ONCE, n_deals - first)
        places = [_places(one, seed, first, n) for one in (new, old)]
        for t in rounds:
            above, below = (place[t].ravel() for place in places)
            met = sp.coo_array((np.ones(len(above), dtype=np.float32), (above, below)), shape=sizes[t])
            found[t] = found[t] + met.tocsr()
    return [_shares(met) for met in found]


def _places(one: Abstraction, seed: int, first: int, n: int) -> list[np.ndarray]:
    """Return for each round the class and row ``[deal, hand]`` of the hands that the board leaves."""
    dealt = one.deal(seed, range(first, first + n))
    order = np.argsort(dealt.hands, axis=1)
    return [
        np.take_along_axis(dealt.rows[:, t].astype(np.int64), order, axis=1)
        + one.n_rows[t] * dealt.classes[:, t, None].astype(np.int64)
        for t in range(one.n_rounds)
    ]


def _shares(met: sp.csr_array) -> sp.csr_array:
    totals = np.maximum(met.sum(axis=1), 1.0)
    return sp.csr_array(sp.diags_array(1.0 / totals) @ met).astype(np.float32)
