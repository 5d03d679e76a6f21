"""Initialise the classes and rows of a new abstraction from regrets and averages of an old one.

Regrets and averages of a new row are the mean over the old rows that held its hands, weighted by ``shares``. They count
as a few visits: enough to begin from, and few enough to be unlearnt where the new classes differ.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from solvers.sampled.batches import LineBatches
from solvers.sampled.numbers import Numbers

MOST_VISITS = 40
"""Largest number of visits that a new class inherits if classes or rows changed."""


def inherit(
    batches: Sequence[LineBatches], old: Numbers, new: Numbers, shares: Sequence[sp.csr_array]
) -> None:
    """Fill the state of new classes and rows.

    Args:
        batches: per round.
        old: the state of the old classes and rows.
        new: a blank state of the same betting with other classes and rows.
        shares: per round ``[new class and row, old class and row]``; rows add up to 1, or to 0.
    """
    for t, one in enumerate(batches):
        n_old, n_new = (numbers.visits[t].shape[1] for numbers in (old, new))
        same = n_old == n_new and shares[t].shape[0] == shares[t].shape[1]
        for p in (0, 1):
            mean = float(old.visits[t][p].mean())
            visits = mean if same and n_old == 1 else min(mean, MOST_VISITS)
            new.visits[t][p], new.ahead[t][p] = int(visits), 0
            # for regrets only: averages do not grow with visits
            fewer = np.float32(int(visits) / max(mean, 1.0))
            for mine, from_, scale in (
                (new.regrets, old.regrets, fewer),
                (new.sums, old.sums, np.float32(1)),
            ):
                _spread(one, p, from_[t][p], mine[t][p], shares[t], (n_old, n_new), scale)


def _spread(
    batches: LineBatches,
    p: int,
    old: np.ndarray,
    new: np.ndarray,
    shares: sp.csr_array,
    n_classes: tuple[int, int],
    scale: np.float32,
) -> None:
    """Fill regrets or averages of player p, batch by batch."""
    n_old, n_new = n_classes
    below, above = old.reshape(n_old, -1), new.reshape(n_new, -1)
    starts = [batches.first(p, size // n) for size, n in zip(shares.shape[::-1], n_classes, strict=True)]
    for s in range(len(batches)):
        (from_, until), (first, last) = starts[0][s : s + 2], starts[1][s : s + 2]
        if from_ == until:
            continue
        rows = below[:, from_:until].astype(np.float32).reshape(shares.shape[1], -1)
        most = np.finfo(new.dtype).max
        above[:, first:last] = np.clip(shares @ rows * scale, -most, most).reshape(n_new, -1)
