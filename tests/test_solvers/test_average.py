"""The update of averages by itself, over more visits than a test can deal, in both precisions."""

import numpy as np
import pytest

from compiled import kernel
from compiled.precision import HALF, SINGLE
from compiled.vector import WIDTH, aligned, load16
from solvers.sampled.decisions import move_average, rounding, share

LATE = 30_000_000
"""Number of visits with the first strategy; later visits play the second one."""


@kernel
def visit(kind, averages, played, first, n):
    """Make n visits from number ``first`` on: lane by lane ``played[0]`` until `LATE`, ``played[1]`` after it."""
    for number in range(first, first + n):
        some = 2 * WIDTH if number >= LATE else 0
        for a in range(2):
            target = load16(played, some + WIDTH * a)
            mine = np.float32(share(number + 1, 2.0))
            move_average(kind, averages, WIDTH * a, target, mine, rounding(number))


def weight(n):
    """The weight of n visits together, where visit k weighs ``k (k + 1)``."""
    return n * (n + 1.0) * (n + 2.0) / 3


@pytest.mark.parametrize(
    ("kind", "dtype"), [pytest.param(SINGLE, np.float32, marks=pytest.mark.slow), (HALF, np.float16)]
)
def test_averages_are_right_after_a_hundred_million_visits(kind, dtype):
    averages, played = aligned(2 * WIDTH, dtype), aligned(4 * WIDTH)
    when = played.reshape(2, 2, WIDTH)
    when[:, :, 0] = (0.7, 0.3)
    when[:, :, 1] = ((1, 0), (0, 1))
    when[:, :, 2] = ((0.2, 0.8), (0.5, 0.5))
    when[:, :, 3] = ((0.999, 0.001), (0.001, 0.999))
    reach = np.array([300.0, 300.0, 25.0, 1e4] + [2e-3] * (WIDTH - 4))
    when[:, :, 4:] = when[:, :, :1]
    before = when.astype(float)
    played *= np.tile(reach, 4).astype(np.float32)
    done = 0
    for n in (1000, 100_000, 10_000_000, LATE, 60_000_000, 100_000_000):
        visit(kind, averages.ctypes.data, played.ctypes.data, done, n - done)
        done = n
        early = min(1.0, weight(LATE) / weight(n))
        expected = early * before[0] + (1 - early) * before[1]
        found = averages.astype(float).reshape(2, WIDTH)
        np.testing.assert_allclose(found.sum(axis=0), reach, rtol=2e-3)
        np.testing.assert_allclose(found / found.sum(axis=0), expected, atol=1e-3)
