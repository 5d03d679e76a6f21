"""Several vectors at once do what NumPy does row by row."""

import numpy as np
import pytest

from compiled import kernel
from compiled.precision import SINGLE
from compiled.several import (
    chain,
    clamped,
    fill_each,
    first_only,
    int32_each,
    int64_each,
    larger_each,
    load_each,
    load_each_as,
    paired,
    positive_each,
    scaled,
    shifted,
    stepped,
    store_each,
    total_each,
)
from compiled.vector import WIDTH, aligned, load16, store


@kernel
def places(like, longs, ints, out):
    at = stepped(like, 1, 2)
    for k in range(len(like)):
        out[0, k] = clamped(at, 4)[k]
        out[1, k] = shifted(scaled(at, 3), -1)[k]
        out[2, k] = int64_each(longs, at)[k]
        out[3, k] = int32_each(ints, at)[k]


@kernel
def arithmetic(like, a, b, out, n):
    at = stepped(like, 0, WIDTH)
    x, y, v = load_each(a, at), load_each(b, at), load16(b, 3)
    store_each(out, at, (x + y) * x - fill_each(like, np.float32(0.5)))
    store_each(out, shifted(at, n), v - x * v)
    store_each(out, shifted(at, 2 * n), positive_each(load_each_as(SINGLE, a, at)))
    store_each(out, shifted(at, 3 * n), first_only(x, 2))
    store_each(out, shifted(at, 4 * n), larger_each(x, y))
    store(out, 5 * n, chain(v, x, y))
    store(out, 5 * n + WIDTH, total_each(x))


@kernel
def four(like, a, b, out):
    at = stepped(like, 0, WIDTH)
    store(out, 0, paired(load_each(a, at), load_each(b, at)))


@pytest.mark.parametrize("count", [1, 2, 3, 8])
def test_offsets(count):
    rng = np.random.default_rng(count)
    longs, ints = rng.integers(-9, 9, 20), rng.integers(-9, 9, 20).astype(np.int32)
    out = np.zeros((4, count), dtype=np.int64)
    places((0,) * count, longs.ctypes.data, ints.ctypes.data, out)
    at = 1 + 2 * np.arange(count)
    np.testing.assert_array_equal(out, [np.minimum(at, 4), 3 * at - 1, longs[at], ints[at]])


@pytest.mark.parametrize("count", [1, 2, 3, 8])
def test_arithmetic(count):
    n, rng = WIDTH * count, np.random.default_rng(count)
    a, b, out = aligned(n), aligned(n + WIDTH), aligned(5 * n + 2 * WIDTH)
    a[:], b[:] = rng.normal(size=a.shape), rng.normal(size=b.shape)
    arithmetic((0,) * count, a.ctypes.data, b.ctypes.data, out.ctypes.data, n)
    x, y, v = a.reshape(count, WIDTH), b[:n].reshape(count, WIDTH), b[3 : 3 + WIDTH]
    first = np.where(np.arange(count)[:, None] < 2, x, 0)
    expected = [(x + y) * x - 0.5, v - x * v, np.maximum(x, 0), first, np.maximum(x, y)]
    np.testing.assert_allclose(out[: 5 * n].reshape(5, count, WIDTH), expected, rtol=1e-5, atol=1e-6)
    last = [v + (x * y).sum(axis=0), x.sum(axis=0)]
    np.testing.assert_allclose(out[5 * n :].reshape(2, WIDTH), last, rtol=1e-5, atol=1e-6)


def test_pairs_of_products():
    rng = np.random.default_rng(4)
    a, b, out = aligned(4 * WIDTH), aligned(4 * WIDTH), aligned(WIDTH)
    a[:], b[:] = rng.normal(size=a.shape), rng.normal(size=b.shape)
    four((0, 0, 0, 0), a.ctypes.data, b.ctypes.data, out.ctypes.data)
    np.testing.assert_allclose(out, (a * b).reshape(4, WIDTH).sum(axis=0), rtol=1e-5, atol=1e-6)
