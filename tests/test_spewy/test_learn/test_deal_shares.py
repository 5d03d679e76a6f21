"""Shares of an interval: each deal once, classes of a round by one share alone."""

import tomllib

import numpy as np
import pytest
from dealt_jobs import DEALT_LEDUC

from buckets.abstraction import Abstraction, AbstractionSpec
from buckets.cards import Deck
from spewy.chunks.abstractions import abstraction
from spewy.job.job import Job
from spewy.learn.deal_shares import FEWEST_CLASSES, Interval, Shares
from spewy.run.sampled_plan import spec_of

SEED = 3
DECK, SIZES, ROWS = Deck(6, 4), (0, 2, 1), (6, 4, 4)


@pytest.fixture(scope="module")
def forgetting():
    """Thirty-six flops, thirty turns that do not know them."""
    return Abstraction.build(AbstractionSpec(DECK, 2, SIZES, ("all", "all", 30), ROWS))


@pytest.fixture(scope="module")
def remembering():
    """Turns that know their flop."""
    return Abstraction.build(AbstractionSpec(DECK, 2, SIZES, ("all", "all", 72), ROWS, remember=True))


def test_all_shares_are_all_deals_once(forgetting):
    cut = Shares(forgetting, SEED).cut(Interval(100, 900, 3))
    found = [cut.deals(share) for share in range(3)]
    assert sorted(np.concatenate(found).tolist()) == list(range(100, 1000))
    assert all((np.diff(some) > 0).all() for some in found)


def test_last_classes_are_one_share_s_whatever_the_interval(forgetting):
    shares = Shares(forgetting, SEED)
    t, owners = shares.owners(3)
    assert (t, len(owners)) == (2, 30)
    for first in (0, 5000):
        cut = shares.cut(Interval(first, 400, 3))
        for share in range(3):
            dealt = forgetting.deal(SEED, cut.deals(share))
            assert (owners[dealt.classes[:, 2]] == share).all()
            for t in range(3):
                assert set(np.flatnonzero(cut.visited(share, t))) == set(dealt.classes[:, t].tolist())
        assert cut.alone[2].all()
        assert not cut.alone[0].any()
        assert not cut.alone[1].all()


def test_where_classes_tell_the_flop_all_after_it_is_one_share_s(remembering):
    shares = Shares(remembering, SEED)
    assert shares.owners(3)[0] == 1
    cut = shares.cut(Interval(0, 2000, 3))
    assert not cut.alone[0].any()
    assert cut.alone[1].all()
    assert cut.alone[2].all()


def test_shares_are_of_a_size(forgetting):
    cut = Shares(forgetting, SEED).cut(Interval(0, 30_000, 3))
    sizes = [len(cut.deals(share)) for share in range(3)]
    assert max(sizes) < 1.1 * min(sizes)


def test_few_classes_are_everybody_s():
    job = Job.of(tomllib.loads(DEALT_LEDUC))
    leduc = abstraction(spec_of(job.rules, job.dealing))
    assert leduc.n_classes[-1] < 3 * FEWEST_CLASSES
    cut = Shares(leduc, SEED).cut(Interval(10, 90, 3))
    found = [cut.deals(share).tolist() for share in range(3)]
    assert found == [list(range(10, 40)), list(range(40, 70)), list(range(70, 100))]


def test_one_share_is_alone(forgetting):
    cut = Shares(forgetting, SEED).cut(Interval(7, 20, 1))
    assert cut.deals(0).tolist() == list(range(7, 27))
    assert all(alone.all() for alone in cut.alone)
