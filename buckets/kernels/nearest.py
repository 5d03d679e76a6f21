"""Nearest center of each row, by the distance of Equation 1: see `buckets.abstraction.clustering`."""

from typing import Any

import numpy as np

from buckets.types import Array
from compiled import kernel


@kernel
def fill_nearest(rows: Array, centers: Array, max_factor: bool, out: Array) -> None:
    """Write the number of the nearest center of each row into ``out[row]``; of equally near centers the first.

    Args:
        rows: ``[row, feature]``.
        centers: ``[center, feature]``.
        max_factor: whether the distance is Equation 1; False: the squared Euclidean distance.
        out: ``[row]``, output.
    """
    for i in range(len(rows)):
        best = np.inf
        for c in range(len(centers)):
            cost = _weighted_gap(rows[i], centers[c]) if max_factor else _gap(rows[i], centers[c])
            if cost < best:
                best = cost
                out[i] = c


# The compiler may reorder sums, and so vectorise them.
@kernel(fastmath={"reassoc", "contract", "nnan", "nsz"})
def _weighted_gap(first: Array, second: Array) -> Any:
    total = first.dtype.type(0)
    for k in range(len(first)):
        gap = first[k] - second[k]
        total += gap * gap * max(first[k], second[k])
    return total


@kernel(fastmath={"reassoc", "contract"})
def _gap(first: Array, second: Array) -> Any:
    total = first.dtype.type(0)
    for k in range(len(first)):
        gap = first[k] - second[k]
        total += gap * gap
    return total
