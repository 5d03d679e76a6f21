"""What copies of a solve have learnt, put together: regrets in the mean, visits and sums copy by copy."""

import tomllib

import numpy as np
import pytest
from dealt_jobs import DEALT_LEDUC

from solvers.sampled.engine import DEFAULT_DISCOUNT
from solvers.sampled.numbers import Numbers
from spewy.chunks.abstractions import abstraction
from spewy.chunks.rounds import line_forests
from spewy.job.job import Job
from spewy.learn.deal_copy import NOTHING, Asked, Copy, Order, Setup
from spewy.learn.deal_shares import Interval
from spewy.learn.exchange import Exchange, Part, added, copied, summed
from spewy.run.sampled_plan import wish_of


def weight(n):
    """The weight of n visits together, where visit k weighs ``k (k + 1)``."""
    return n * (n + 1) * (n + 2) / 3


@pytest.fixture
def setup():
    job = Job.of(tomllib.loads(DEALT_LEDUC))
    found = abstraction(wish_of(job.rules, job.dealing))
    return Setup("leduc", job.rules, line_forests(job.betting_tree), found, 0, False, 0.0)


def everything(engine):
    """A copy of all classes, round by round."""
    return [copied(engine.numbers, t, np.arange(v.shape[1])) for t, v in enumerate(engine.numbers.visits)]


def interval(whole, copies, first, n):
    """Have copies learn n deals together, and meet; what each of them has."""
    before, after = everything(whole), []
    asked = Interval(first, n, len(copies))
    exchange = Exchange(whole.numbers, whole.schedule, whole.shares.cut(asked).alone)
    for i, copy in enumerate(copies):
        copy.catch_up(Order("leduc", NOTHING, 1), before)
        for part in copy.learn(Asked(asked, i)).parts:
            exchange.take(part)
        after.append(everything(copy))
    return before, after


def test_copies_meet_in_the_mean_of_regrets_and_in_all_their_sums(setup):
    with Copy(setup, 1) as whole, Copy(setup, 1) as one, Copy(setup, 1) as other:
        interval(whole, [one, other], 0, 60)
        before, after = interval(whole, [one, other], 60, 80)
        for t, now in enumerate(everything(whole)):
            then, (first, second) = before[t], (mine[t] for mine in after)
            made = [mine.visits - then.visits for mine in (first, second)]
            assert (now.visits == then.visits + made[0] + made[1]).all()
            assert all((some > 0).all() for some in made)  # all classes by both
            for p in (0, 1):
                mean = (first.regrets[p] + second.regrets[p]) / 2
                np.testing.assert_allclose(now.regrets[p], mean, rtol=1e-4, atol=1e-3)
                v, begun, done = (one.visits[1 - p][:, None] for one in (first, then, second))
                old = weight(begun) / weight(done)
                played = (second.sums[p] - old * then.sums[p]) / (1 - old)
                left = weight(v) / weight(v + done - begun)
                expected = left * first.sums[p] + (1 - left) * played
                np.testing.assert_allclose(now.sums[p], expected, rtol=1e-3, atol=1e-1)


def test_increments_of_all_copies_in_place_of_their_mean():
    def part(*regrets):
        numbers = np.array([regrets], dtype=np.float32)
        return Part(0, np.zeros(1, dtype=np.int64), (numbers, -numbers), (numbers, numbers), np.zeros((2, 1)))

    before, mean = part(10.0, 10.0, 1.0, -4.0, -1.0), part(12.0, 7.0, 0.5, -3.0, 2.0)
    found = summed(before, mean, 3)
    assert found.regrets[0].tolist() == [[16.0, 1.0, 0.0, -3.0, 8.0]]
    assert found.regrets[1].tolist() == [[-12.0, -7.0, -0.5, 1.0, -2.0]]
    assert found.sums is mean.sums


def test_one_copy_alone_leaves_what_it_has_to_the_bit(setup):
    with Copy(setup, 1) as whole, Copy(setup, 1) as copy:
        interval(whole, [copy], 0, 10)
        interval(whole, [copy], 10, 25)
        for now, mine in zip(everything(whole), everything(copy), strict=True):
            assert (now.visits == mine.visits).all()
            for p in (0, 1):
                assert (now.regrets[p] == mine.regrets[p]).all()
                assert (now.sums[p] == mine.sums[p]).all()


def test_a_copy_that_does_not_stand_where_it_shall_says_so(setup):
    with Copy(setup, 1) as copy:
        assert copy.catch_up(Order("leduc", NOTHING, 3), [])
        assert not copy.catch_up(Order("leduc", 2, 4), [])
        assert copy.catch_up(Order("leduc", 3, 4), [])


def test_averages_in_16_bits_stay_right_over_many_exchanges():
    """Between two exchanges an average moves by less than a quantum, up or down at random."""
    rng, visits, more = np.random.default_rng(0), 20_000, 1

    def numbers():
        start = np.repeat([30.0, 70.0], 16).astype(np.float16)
        pair = (start, start.copy())
        counts = np.full((2, 1), visits)
        return Numbers((pair,), (pair,), (counts.copy(),), (np.zeros_like(counts),))

    whole, alone = numbers(), [np.zeros(1, dtype=bool)]
    for _ in range(3000):
        before = copied(whole, 0, np.zeros(1, dtype=np.int64))
        exchange = Exchange(whole, DEFAULT_DISCOUNT, alone)
        for _ in range(2):
            left = weight(before.visits) / weight(before.visits + more)
            played = rng.binomial(more, 0.3, 16) / more * 100
            target, moved = np.concatenate([played, 100 - played]), []
            for p, sums in enumerate(before.sums):
                now = sums.astype(float) * left[1 - p] + (1 - left[1 - p]) * target
                quantum = np.spacing(sums).astype(float)
                moved.append((np.floor(now / quantum + rng.random(32)) * quantum).astype(np.float16))
            after = before._replace(sums=(moved[0], moved[1]), visits=before.visits + more)
            exchange.take(added(before, after, DEFAULT_DISCOUNT, alone=alone[0]))
    found = whole.sums[0][0].astype(float).reshape(2, 16)
    assert (found[0] / found.sum(axis=0)).mean() == pytest.approx(0.3, abs=0.008)
