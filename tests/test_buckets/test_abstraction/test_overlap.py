"""How rows of two abstractions overlap: against counting hands on boards one by one."""

import numpy as np
import pytest

from buckets.abstraction import Abstraction, AbstractionSpec
from buckets.abstraction.abstraction import overlaps
from buckets.cards import Deck
from buckets.errors import BoardError

SMALL = (Deck(5, 3), 2, (0, 2, 1))


def make(board_buckets, rows):
    return Abstraction.build(AbstractionSpec(*SMALL, ("all", *board_buckets), (6, *rows)))


def test_an_abstraction_lies_on_itself():
    one = make((4, 9), (6, 5))
    for t, shares in enumerate(overlaps(one, one, n_deals=600)):
        assert shares.shape == (one.n_board_buckets[t] * one.n_rows[t],) * 2
        met = shares.sum(axis=1) > 0
        np.testing.assert_allclose(shares.toarray(), np.diag(met.astype(float)))
        assert met.mean() > 0.9


def test_shares_are_counts_of_hands():
    old, new = make((2, 3), (4, 3)), make((4, 9), (6, 5))
    found = overlaps(old, new, seed=3, n_deals=50)
    dealt = old.deal(3, range(50)), new.deal(3, range(50))
    for t, shares in enumerate(found):
        counts = np.zeros(shares.shape)
        for d in range(50):
            places = [
                {
                    int(hand): int(one.board_buckets[d, t]) * made.n_rows[t] + int(row)
                    for hand, row in zip(one.hands[d], one.rows[d, t], strict=True)
                }
                for one, made in zip(dealt, (old, new), strict=True)
            ]
            for hand, place in places[1].items():
                counts[place, places[0][hand]] += 1
        met = counts.sum(axis=1) > 0
        expected = counts[met] / counts[met].sum(axis=1, keepdims=True)
        np.testing.assert_allclose(shares.toarray()[met], expected, rtol=1e-6)
        assert not shares.toarray()[~met].any()


def test_other_games_have_nothing_in_common():
    with pytest.raises(BoardError, match="expected two abstractions of one game"):
        overlaps(
            make((2, 3), (4, 3)),
            Abstraction.build(AbstractionSpec(Deck(3, 2), 1, (0, 1), ("all", "all"), (3, 3))),
        )
