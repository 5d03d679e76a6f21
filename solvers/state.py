"""Regrets and strategy sums as plain arrays: normalised frequencies, and a test for finite numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from solvers.tree import Floats

ChunkStrategy = tuple[Floats, Floats]
"""Both players' regrets, sums or strategies on one board of a round: ``[slot, row]``."""

FLOOR = 1e-30
"""Smallest sum of positive regrets, or of strategy sums, that counts; a row with a sum up to it plays uniformly.

The reciprocal of a number below 2.9e-39 would overflow in single precision.
"""

GOLDEN = (5**0.5 - 1) / 2
"""Golden ratio: the fractions ``n * GOLDEN % 1`` of whole numbers n spread evenly over [0, 1), in any range of n."""


def normalised(sums: Floats) -> Floats:
    """Return the frequencies of regrets or sums ``[action, row]``, in proportion to their positive parts.

    Rows whose positive parts add up to at most `FLOOR` get uniform frequencies.

    >>> normalised(np.array([[3.0, -1.0, 1e-31], [1.0, 0.0, 0.0]])).tolist()
    [[0.75, 0.5, 0.5], [0.25, 0.5, 0.5]]
    """
    positive = np.maximum(sums, 0.0)
    total = positive.sum(axis=0)
    out = np.full_like(positive, 1.0 / len(sums))
    np.divide(positive, total, out=out, where=total > FLOOR)
    return out


_EXPONENT: dict[int, np.unsignedinteger[Any]] = {
    2: np.uint16(0x7C00),
    4: np.uint32(0x7F800000),
    8: np.uint64(0x7FF0000000000000),
}
"""Mask of the exponent bits of a floating-point number, by its size in bytes.

All of these bits are 1 in infinities and NaNs only.
"""

_SMALL, _AT_ONCE = 1 << 14, 1 << 18


def all_finite(*arrays: np.ndarray) -> bool:
    """Whether all numbers of floating-point arrays are finite; runs at the speed of memory, without a large copy.

    >>> all_finite(np.ones((2, 3)), np.zeros(0)), all_finite(np.array([1.0, np.nan], dtype=np.float16))
    (True, False)
    """
    return all(_is_finite(array) for array in arrays)


def _is_finite(array: np.ndarray) -> bool:
    if array.size <= _SMALL:
        return bool(np.isfinite(array).all())
    exponent = _EXPONENT[array.dtype.itemsize]
    words = np.ascontiguousarray(array).reshape(-1).view(exponent.dtype)
    out = np.empty(min(_AT_ONCE, len(words)), dtype=words.dtype)
    for first in range(0, len(words), _AT_ONCE):
        section = words[first : first + _AT_ONCE]
        if np.bitwise_and(section, exponent, out=out[: len(section)]).max() == exponent:
            return False
    return True
