"""Strategies from regrets or sums, in NumPy: the result of `solvers.kernels.match` without loading kernels."""

from __future__ import annotations

import numpy as np

from solvers.forest import Floats

FLOOR = 1e-30
"""Every engine plays uniformly where the positive parts of regrets or sums add up to at most this number.

The reciprocal of a number below 2.9e-39 overflows single precision, and infinity times 0 is not a number.
"""


def normalised(sums: Floats) -> Floats:
    """Frequencies ``[action, row]`` in proportion to positive parts; uniform for rows whose sum is at most `FLOOR`.

    >>> normalised(np.array([[3.0, -1.0, 1e-31], [1.0, 0.0, 0.0]])).tolist()
    [[0.75, 0.5, 0.5], [0.25, 0.5, 0.5]]
    """
    positive = np.maximum(sums, 0.0)
    total = positive.sum(axis=0)
    out = np.full_like(positive, 1.0 / len(sums))
    np.divide(positive, total, out=out, where=total > FLOOR)
    return out
