"""Start values for the board buckets and rows of a new abstraction, from the regrets and averages of an old one.

Regrets and averages of a new row are means over the old rows that held its hands, weighted by the share of the hands
that each old row held. They count as all the visits from which they come: if they counted as fewer, new visits would
soon outweigh them, and the averages would nearly begin anew. If there are more new rows than old ones, old visits weigh
more than that in the averages, since a row with fewer hands adds less to its average with each visit. This was slightly
better than averages in proportion to the hands (155 and 157 mbb in `benchmarks.studies.features` with 4 ranks).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from solvers.sampled.batches import LineBatches
from solvers.sampled.numbers import Numbers


def inherit(
    batches: Sequence[LineBatches],
    old: Numbers,
    new: Numbers,
    shares: Sequence[sp.csr_array],
) -> None:
    """Fill the regrets, averages and visit counts of a new abstraction from those of an old abstraction.

    Args:
        batches: batches of lines, per round.
        old: the state with the old board buckets and rows.
        new: a blank state of the same betting with the new board buckets and rows; it has rivals if ``old`` has.
        shares: weights per round, a matrix ``[new board bucket and row, old board bucket and row]``. The weights of a
            new row add up to 1, or to 0 if no old row held its hands.
    """
    for t, round_batches in enumerate(batches):
        n_old, n_new = (numbers.visits[t].shape[1] for numbers in (old, new))
        for p in (0, 1):
            new.visits[t][p], new.ahead[t][p] = int(old.visits[t][p].mean()), 0
        for new_arrays, old_arrays in ((new.regrets[t], old.regrets[t]), (new.sums[t], old.sums[t])):
            for i, (into, of) in enumerate(zip(new_arrays, old_arrays, strict=True)):
                _spread(round_batches, i % 2, of, into, shares[t], (n_old, n_new))


def _spread(
    batches: LineBatches,
    p: int,
    old: np.ndarray,
    new: np.ndarray,
    shares: sp.csr_array,
    n_board_buckets: tuple[int, int],
) -> None:
    """Fill player p's regrets or averages of one round of a new abstraction, one batch of lines after another.

    Args:
        batches: the batches of lines.
        p: the player.
        old: flat regrets or averages of the old abstraction.
        new: flat regrets or averages of the new abstraction, which are overwritten.
        shares: weights ``[new board bucket and row, old board bucket and row]``.
        n_board_buckets: number of board buckets of the old and of the new abstraction.
    """
    n_old, n_new = n_board_buckets
    old_numbers, new_numbers = old.reshape(n_old, -1), new.reshape(n_new, -1)
    starts = [
        batches.first(p, size // n) for size, n in zip(shares.shape[::-1], n_board_buckets, strict=True)
    ]
    for s in range(len(batches)):
        (old_first, old_end), (new_first, new_end) = starts[0][s : s + 2], starts[1][s : s + 2]
        if old_first == old_end:
            continue
        rows = old_numbers[:, old_first:old_end].astype(np.float32).reshape(shares.shape[1], -1)
        largest = np.finfo(new.dtype).max
        new_numbers[:, new_first:new_end] = np.clip(shares @ rows, -largest, largest).reshape(n_new, -1)
