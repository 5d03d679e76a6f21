"""Shares of an interval: each deal once, classes of the last round by one share alone."""

import tomllib

import numpy as np
import pytest
from dealt_jobs import DEALT_LEDUC

from buckets import Abstraction, Deck
from spewy.chunks.abstractions import abstraction
from spewy.job.job import Job
from spewy.learn.deal_shares import FEWEST_CLASSES, Interval, Shares
from spewy.run.dealt_plan import wish_of

SEED = 3


@pytest.fixture(scope="module")
def many():
    """Thirty-six boards of two cards up to suits, each a class."""
    return Abstraction.make(Deck(6, 4), 1, (0, 2), ("all", "all"), (6, "hands"))


def test_all_shares_are_all_deals_once(many):
    found = [Shares(many, SEED).deals(Interval(100, 900, 3), share) for share in range(3)]
    assert sorted(np.concatenate(found).tolist()) == list(range(100, 1000))
    assert all((np.diff(some) > 0).all() for some in found)


def test_a_class_of_the_last_round_is_one_share_s_whatever_the_interval(many):
    shares = Shares(many, SEED)
    owners = shares.owners(3)
    assert len(owners) == many.n_classes[-1]
    for first in (0, 5000):
        for share in range(3):
            dealt = many.deal(SEED, shares.deals(Interval(first, 400, 3), share))
            assert (owners[dealt.classes[:, -1]] == share).all()


def test_shares_are_of_a_size(many):
    sizes = [len(Shares(many, SEED).deals(Interval(0, 30_000, 3), share)) for share in range(3)]
    assert max(sizes) < 1.03 * min(sizes)


def test_few_classes_are_everybody_s():
    job = Job.of(tomllib.loads(DEALT_LEDUC))
    leduc = abstraction(wish_of(job.rules, job.dealing))
    assert leduc.n_classes[-1] < 3 * FEWEST_CLASSES
    found = [Shares(leduc, SEED).deals(Interval(10, 100, 3), share).tolist() for share in range(3)]
    assert found == [list(range(10, 43)), list(range(43, 76)), list(range(76, 110))]
