"""Representatives of samples, and the weighted subsets of flops that are chosen so."""

from itertools import product

import numpy as np
import pytest

from buckets.abstraction import flop_subset
from buckets.abstraction.flop_subset import flop_features, representatives
from buckets.cards import Deck, canonical, canonical_flops, hands, range_equity
from buckets.errors import BoardError


def off(rows, weights, samples, masses):
    """How far the representatives' sum is from that of all, squared."""
    return int(((masses @ rows[samples] - weights @ rows) ** 2).sum())


@pytest.fixture
def sampled():
    rng = np.random.default_rng(5)
    return rng.integers(-50, 50, (9, 3)), rng.integers(1, 6, 9)


@pytest.mark.parametrize("n", [1, 2, 3, 9])
def test_each_cluster_has_one_representative_of_its_weight(sampled, n):
    rows, weights = sampled
    found = representatives(rows, weights, n)
    assert len(found.samples) == n
    assert found.samples.tolist() == sorted(found.samples.tolist())
    assert found.labels[found.samples].tolist() == list(range(n))
    assert found.weights.tolist() == [weights[found.labels == j].sum() for j in range(n)]


@pytest.mark.parametrize("n", [2, 3])
def test_no_exchange_of_one_representative_does_better(sampled, n):
    rows, weights = sampled
    found = representatives(rows, weights, n)
    reached = off(rows, weights, found.samples, found.weights)
    members = [np.flatnonzero(found.labels == j) for j in range(n)]
    choices = [off(rows, weights, np.array(some), found.weights) for some in product(*members)]
    assert min(choices) <= reached <= np.median(choices)
    for j, some in enumerate(members):
        for other in some:
            exchanged = found.samples.copy()
            exchanged[j] = other
            assert off(rows, weights, exchanged, found.weights) >= reached


def test_what_is_alike_is_one_cluster():
    found = representatives(np.array([[1, 2], [1, 2], [5, 5]]), np.array([1, 2, 4]), 3)
    assert (found.samples.tolist(), found.weights.tolist()) == ([0, 2], [3, 4])


def test_all_flops_stand_for_those_like_them():
    flops, counts = flop_subset(1755)
    assert np.array_equal(flops, canonical_flops()[0])
    assert np.array_equal(counts, canonical_flops()[1])


@pytest.mark.parametrize("n", [1, 2, 25, 184])
def test_a_subset_stands_for_all_flops(n):
    found = flop_subset(n)
    assert found.flops.shape == (n, 3)
    assert found.counts.sum() == 22100
    assert found.counts.min() > 0
    assert len({canonical([flop], Deck())[0] for flop in found.flops.tolist()}) == n
    assert list(found.named().values()) == found.counts.tolist()


def test_subsets_are_the_same_everywhere():
    """What they are is data: another choice moves everybody's averages, and is to be told."""
    assert flop_subset(5).named() == {
        "Ad9c2c": 3504,
        "6c4c3c": 3116,
        "8h4d4c": 3008,
        "Jh8d4c": 3968,
        "KcTd6c": 8504,
    }


@pytest.mark.parametrize("n", [0, -1, 1756])
def test_there_are_no_other_subsets(n):
    with pytest.raises(BoardError, match="expected 1 to 1,755"):
        flop_subset(n)


def test_flops_are_described_about_their_average():
    table, counts = flop_features(), canonical_flops()[1]
    assert table.shape == (1755, 64)
    means = counts @ table.astype(np.int64) / counts.sum()
    assert np.abs(means).max() < 1  # rounding


def test_pairs_against_suited_hands_have_the_equity_that_they_have_before_the_flop():
    """88 against AKs, hands that share no card: 52.2 % on average, and on 25 flops within a percent of that."""
    deck = Deck()
    all_hands = hands(deck, 2)
    ranks, suited = all_hands >> 2, (all_hands[:, 0] & 3) == (all_hands[:, 1] & 3)
    pair = (ranks == 6).all(axis=1)
    other = (ranks[:, 0] == 11) & (ranks[:, 1] == 12) & suited
    won = met = 0.0
    for flop, count in zip(*flop_subset(25), strict=True):
        likely = sum(
            not set(a) & set(b) and not {*a, *b} & set(flop.tolist())
            for a in all_hands[pair].tolist()
            for b in all_hands[other].tolist()
        )
        if likely:
            share = range_equity(flop, all_hands, pair.astype(float), other.astype(float), samples=600)
            won, met = won + count * likely * share, met + count * likely
    assert won / met == pytest.approx(0.522, abs=0.03)
