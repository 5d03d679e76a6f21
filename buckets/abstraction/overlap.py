"""Overlap of the rows of two abstractions of the same game."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from buckets.abstraction.abstraction import Abstraction
from buckets.errors import BoardError

DEALS = 20_000
"""Number of deals on which overlaps are counted; with 600 deals for 60 board buckets a solve starts worse."""
AT_ONCE = 1024


def overlaps(old: Abstraction, new: Abstraction, seed: int = 0, n_deals: int = DEALS) -> list[sp.csr_array]:
    """Estimate how the hands of each row of a new abstraction spread over the rows of an old abstraction.

    Both abstractions look up the same deals.

    Args:
        old: the old abstraction.
        new: the new abstraction of the same game.
        seed: seed of the deals.
        n_deals: number of deals.

    Returns:
        For each round a matrix ``[new row, old row]``: the share of the new row's hands that are in the old row. Row r
        of board bucket c has the index ``c * n_rows + r``. The shares of a new row sum to 1, or to 0 if no dealt hand
        was in the row.

    Raises:
        BoardError: the abstractions belong to different games.
    """
    if (old.deck, old.hole, old.board_sizes) != (new.deck, new.hole, new.board_sizes):
        raise BoardError("abstractions: expected two abstractions of one game, got different games")
    rounds = range(new.n_rounds)
    sizes = [tuple(each.n_board_buckets[t] * each.n_rows[t] for each in (new, old)) for t in rounds]
    counts = [sp.csr_array(size, dtype=np.float32) for size in sizes]
    for first in range(0, n_deals, AT_ONCE):
        n = min(AT_ONCE, n_deals - first)
        indices = [_row_indices(each, seed, first, n) for each in (new, old)]
        for t in rounds:
            new_rows, old_rows = (by_round[t].ravel() for by_round in indices)
            ones = np.ones(len(new_rows), dtype=np.float32)
            counts[t] = counts[t] + sp.coo_array((ones, (new_rows, old_rows)), shape=sizes[t]).tocsr()
    return [_shares(matrix) for matrix in counts]


def _row_indices(abstraction: Abstraction, seed: int, first: int, n: int) -> list[np.ndarray]:
    """Return for each round the index ``c * n_rows + r`` (bucket c, row r) of each dealt hand: ``[deal, hand]``."""
    dealt = abstraction.deal(seed, range(first, first + n))
    order = np.argsort(dealt.hands, axis=1)
    return [
        np.take_along_axis(dealt.rows[:, t].astype(np.int64), order, axis=1)
        + abstraction.n_rows[t] * dealt.board_buckets[:, t, None].astype(np.int64)
        for t in range(abstraction.n_rounds)
    ]


def _shares(counts: sp.csr_array) -> sp.csr_array:
    """Divide each row of a matrix by its sum."""
    totals = np.maximum(counts.sum(axis=1), 1.0)
    return sp.csr_array(sp.diags_array(1.0 / totals) @ counts).astype(np.float32)
