"""The order that "top 12.5 %" goes by."""

from itertools import combinations, permutations

import numpy as np
import pytest

from buckets.cards import Deck, equities, hands, preflop_classes
from buckets.cards.showdown import showdown_totals
from spewy.game.ranges.text import ORDER, top_hands

SUITS = list(permutations(range(4)))


def test_the_order_has_every_class_once():
    assert sorted(ORDER) == sorted(preflop_classes()[1])
    assert ORDER[:7] == ("AA", "KK", "QQ", "JJ", "TT", "99", "88")
    assert ORDER[-1] == "32o"


def test_the_order_agrees_with_sampled_equities():
    held, (number, names) = hands(Deck(), 2), preflop_classes()
    found = equities((), held, np.ones(len(held)), samples=3000, seed=1)
    mean = np.bincount(number, found, 169) / np.bincount(number, minlength=169)
    in_order = mean[[names.index(name) for name in ORDER]]
    assert np.maximum.accumulate(in_order[::-1])[::-1] - in_order == pytest.approx(0, abs=0.02)


@pytest.mark.slow
def test_the_order_is_that_of_exact_equities():
    held, (number, names) = hands(Deck(), 2), preflop_classes()
    flops: dict[tuple[int, ...], int] = {}
    for flop in combinations(range(52), 3):
        alike = min(tuple(sorted(card - card % 4 + to[card % 4] for card in flop)) for to in SUITS)
        flops[alike] = flops.get(alike, 0) + 1
    won, met = np.zeros(169), np.zeros(169)
    for flop, times in flops.items():
        totals = showdown_totals(flop, held, np.ones(len(held)))
        won += times * np.bincount(number, totals.won, 169)
        met += times * np.bincount(number, totals.weight, 169)
    assert tuple(names[k] for k in np.argsort(-won / met)) == ORDER


@pytest.mark.parametrize("percent", [0.1, 0.4, 600 / 1326, 0.5, 12.5, 50, 99.99, 100])
def test_a_percentage_is_so_many_hands(percent):
    found = list(top_hands(percent))
    assert sum(share for _, share in found) == pytest.approx(13.26 * percent)
    assert len({hand for hand, _ in found}) == len(found)
    assert all(share > 0 for _, share in found)
    assert len({share for _, share in found} - {1.0}) <= 1
