"""What numbers of other board buckets and rows are made of: sums over rows, one by one."""

import numpy as np
import scipy.sparse as sp

from solvers.sampled.batches import line_batches
from solvers.sampled.numbers import Numbers, inherit
from solvers.tree import Chance, Decision, Fold, Forest, Showdown

FORESTS = [
    Forest.build([Decision(0, (Fold(-1.0), Decision(1, (Chance(0), Fold(1.0)))))]),
    Forest.build([Decision(0, (Showdown(1.0), Decision(1, (Fold(2.0), Showdown(2.0)))))]),
]
STRIPS = line_batches(FORESTS)


def numbers(board_buckets, rows, seed, visits):
    rng = np.random.default_rng(seed)
    out = Numbers.zeros(STRIPS, board_buckets, rows, short=False)
    for t in range(2):
        out.visits[t][:] = visits
        for p in (0, 1):
            for kind in (out.regrets, out.sums):
                kind[t][p][:] = rng.random(len(kind[t][p]))
    return out


def shares(n_new, n_old, seed):
    found = np.random.default_rng(seed).random((n_new, n_old)) * (np.arange(n_old) % 3 > 0)
    return sp.csr_array(found / found.sum(axis=1, keepdims=True))


def test_rows_are_means_of_the_rows_they_come_from():
    old = numbers((1, 3), (4, 2), 1, 80)
    new = numbers((1, 5), (4, 3), 2, 0)
    mixed = [sp.csr_array(np.eye(4)), shares(15, 6, 3)]
    inherit(STRIPS, old, new, mixed)
    for t, (n_old, n_new, k_old, k_new) in enumerate([(1, 1, 4, 4), (3, 5, 2, 3)]):
        assert (new.visits[t] == 80).all()
        for p in (0, 1):
            for before, after in ((old.regrets, new.regrets), (old.sums, new.sums)):
                rows = before[t][p].reshape(n_old * k_old, -1)
                expected = mixed[t].toarray() @ rows
                np.testing.assert_allclose(after[t][p].reshape(n_new * k_new, -1), expected, rtol=1e-5)


def test_the_same_board_buckets_and_rows_take_everything_over():
    old, new = numbers((1, 3), (4, 2), 1, 7), numbers((1, 3), (4, 2), 2, 0)
    inherit(STRIPS, old, new, [sp.csr_array(np.eye(4)), sp.csr_array(np.eye(6))])
    for t in range(2):
        assert (new.visits[t] == 7).all()
        for p in (0, 1):
            np.testing.assert_array_equal(new.sums[t][p], old.sums[t][p])
