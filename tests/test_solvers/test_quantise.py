"""Average strategies in 255ths."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive_averages import bucket_bytes, in_255ths

from compiled.vector import WIDTH
from solvers.errors import SolverError
from solvers.sampled.batches import line_batches
from solvers.sampled.quantise import MOST, byte_tables, quantise, restore
from solvers.tree import Chance, Decision, Fold, Forest, Showdown
from spewy.records import strategy_locker


def one_decision(n_actions):
    """A single line where player 0 has so many actions and nobody else has any."""
    return line_batches([Forest.build([Decision(0, tuple(Fold(1.0) for _ in range(n_actions)))])])[0]


def two_shapes():
    """21 lines: 18 of one shape, two of another, and one in which nobody acts."""
    deep = Decision(1, (Fold(-1.0), Showdown(1.0), Decision(0, (Fold(1.0), Showdown(2.0)))))
    wide = Decision(0, (Fold(1.0), deep, Showdown(1.0), deep))
    narrow = Decision(0, (deep, Showdown(1.0)))
    below = [narrow] * 9 + [wide] * 2 + [Showdown(3.0)] + [narrow] * 9
    above = Decision(0, tuple(Chance(i) for i in range(len(below))))
    return line_batches([Forest.build([above]), Forest.build(below)])[1]


def quantised(sums):
    """What a decision's sums become in the first of 16 lanes; all lanes hold the same."""
    batches = one_decision(len(sums))
    table = byte_tables(batches, 0, 1)
    lanes = np.repeat(np.array(sums, dtype=np.float32)[:, None], 16, axis=1)
    out = quantise(lanes.ravel(), 1, table).reshape(-1, 16)
    assert (out == out[:, :1]).all()
    return [*out[:, 0].tolist(), 255 - int(out[:, 0].sum())]


@pytest.mark.parametrize("p", [0, 1])
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_a_class_as_one_decision_after_the_other(p, dtype):
    batches, n_rows = two_shapes(), 5
    table = byte_tables(batches, p, n_rows)
    rng = np.random.default_rng(3)
    sums = rng.exponential(size=table.first[-1]) * (rng.random(table.first[-1]) < 0.7)
    sums = sums.astype(dtype)
    np.testing.assert_array_equal(quantise(sums, n_rows, table), bucket_bytes(sums, batches, p, n_rows))


@given(st.lists(st.floats(0, 2.0**100, width=32), min_size=1, max_size=7))
def test_each_frequency_is_off_by_less_than_one_and_they_add_up(sums):
    found = quantised(sums)
    total = sum(sums)
    shares = [x / total for x in sums] if total else [1 / len(sums)] * len(sums)
    assert sum(found) == 255
    assert all(abs(255 * share - mine) < 1.0001 for share, mine in zip(shares, found, strict=True))
    assert found == in_255ths(sums)


@pytest.mark.parametrize(
    ("sums", "expected"),
    [
        ([0, 0], [128, 127]),
        ([0, 0, 0, 0], [64, 64, 64, 63]),
        ([1, 1, 1], [85, 85, 85]),
        ([1, 0], [255, 0]),
        ([0, 3], [0, 255]),
        ([1e-45, 1e-45], [128, 127]),  # the smallest number that is not 0
        ([2], [255]),
        ([1, 2, 3], [43, 85, 127]),
    ],
)
def test_by_hand(sums, expected):
    assert quantised(sums) == expected


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_what_is_no_number_is_refused(wrong):
    with pytest.raises(
        SolverError, match="sums: expected finite numbers, found infinities or NaN at 16 decisions"
    ):
        quantised([1, wrong, 2])


def test_readers_know_the_same_numbers():
    assert (strategy_locker.LANES, strategy_locker.MOST) == (WIDTH, MOST)


def test_sums_of_another_size_are_refused():
    with pytest.raises(SolverError, match=r"sums: expected 32 numbers, found shape \(31,\)"):
        quantise(np.zeros(31, np.float32), 1, byte_tables(one_decision(2), 0, 1))


@pytest.mark.parametrize("p", [0, 1])
def test_bytes_become_frequencies_that_become_the_same_bytes(p):
    batches, n_rows = two_shapes(), 3
    tables = byte_tables(batches, p, n_rows)
    sums = np.random.default_rng(p).exponential(size=tables.first[-1]).astype(np.float32)
    found, restored = quantise(sums, n_rows, tables), np.zeros_like(sums)
    restore(found, n_rows, tables, restored)
    np.testing.assert_array_equal(quantise(restored, n_rows, tables), found)
    assert (restored == np.rint(restored)).all()  # which halves hold exactly
    totals = restored.reshape(-1, WIDTH).sum()
    assert totals == MOST * WIDTH * n_rows * (tables.end - tables.begin).sum()


def test_bytes_that_are_no_frequencies_are_refused():
    tables = byte_tables(one_decision(3), 0, 1)
    sums = np.zeros(3 * WIDTH, dtype=np.float32)
    with pytest.raises(
        SolverError,
        match="bytes: expected a sum of at most 255 at each decision, found larger sums at 1 decisions",
    ):
        restore(np.array([200] * (WIDTH + 1) + [0] * (WIDTH - 1), dtype=np.uint8), 1, tables, sums)
    with pytest.raises(SolverError, match="bytes: expected 32 numbers"):
        restore(np.zeros(31, dtype=np.uint8), 1, tables, sums)
