"""A stopwatch charges time to the step that spends it, not to the step that calls."""

import sys

import numpy as np

from benchmarks.speed.stopwatch import Stopwatch
from compiled import inlined, kernel


@inlined
def slow(out):
    for k in range(len(out)):
        out[k] = np.sqrt(out[k] + k)


@inlined
def caller(out):
    slow(out)
    slow(out)


@kernel
def run(out):
    caller(out)


def test_time_belongs_to_the_innermost_step():
    out, k = np.ones(10_000), np.arange(10_000)
    stopwatch = Stopwatch([sys.modules[__name__]], ["missing", "slow", "caller"])
    run(out)
    np.testing.assert_allclose(out, np.sqrt(np.sqrt(1 + k) + k))
    missing, inner, outer = stopwatch.ticks[0]
    assert missing == 0
    assert inner > outer > 0
    stopwatch.reset()
    assert not stopwatch.ticks.any()
