"""Two ranges on one scale: what is given per hand comes back, and only what cannot matter is left out."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from buckets.cards import Deck, hands
from spewy.errors import InputError
from spewy.game.ranges import parse_range
from spewy.game.ranges.range import SMALLEST, meet

CARDS = hands(Deck(), 2)


def weights(text):
    return parse_range(text).weights


def pair(oop, ip):
    return meet(weights(oop), weights(ip), CARDS)


@settings(max_examples=50)
@given(st.tuples(st.floats(1e-300, 1), st.floats(1e-300, 1)), st.integers(0, 2**31))
def test_a_scale_changes_nothing(scales, seed):
    rng = np.random.default_rng(seed)
    ranges = [np.where(rng.random(len(CARDS)) < 0.1, 0.05 + 0.95 * rng.random(len(CARDS)), 0) for _ in "01"]
    plain = meet(*ranges, CARDS)
    scaled = meet(*(c * r for c, r in zip(scales, ranges, strict=True)), CARDS)
    for p in (0, 1):
        np.testing.assert_allclose(scaled.weights[p], plain.weights[p], rtol=1e-12)
        np.testing.assert_allclose(scaled.unit[p] * scaled.weights[p], scales[p] * ranges[p], rtol=1e-12)
        assert plain.weights[p].max() == 1
    assert plain.left_out == scaled.left_out == ((), ())


def test_ordinary_ranges_stay_as_they_are():
    found = pair("AA,KK:0.5", "QQ+,AKs:0.25")
    np.testing.assert_array_equal(found.weights[0], weights("AA,KK:0.5"))
    np.testing.assert_array_equal(found.weights[1], weights("QQ+,AKs:0.25"))


def test_hands_of_hardly_any_weight_are_left_out_and_named():
    found = pair(f"AA,7h7d:{SMALLEST / 2}", f"KK,QhQd:{SMALLEST * 2}")
    assert found.left_out == (("7h7d",), ())
    assert found.weights[0].sum() == 6
    assert found.weights[1].sum() == pytest.approx(6 + SMALLEST * 2)


def test_the_scale_is_that_of_hands_that_can_be_met():
    """Two heavy hands share a card with the only opposing one."""
    found = pair("AhAd", "AhKh,AdKd,QcQd:1e-60")
    met = found.weights[1] * (weights("QcQd") > 0)
    assert met.max() == found.weights[1].max() == 1
    assert (found.unit[1] * found.weights[1])[weights("QcQd") > 0] == pytest.approx(1e-60)
    assert found.left_out == ((), ())


def test_leaving_hands_out_may_leave_others_without_an_opponent():
    """Only the light hand goes with one of the two, which then meets nobody; the other still decides the scale."""
    found = pair("AhAd,7c7d:1e-3", "AhKh,QcQd:1e-12")
    assert found.left_out == ((), ("QdQc",))
    assert found.weights[0][weights("7c7d") > 0] == 1


@pytest.mark.parametrize(("oop", "ip"), [("AhAd", "AhKh,AdKd"), ("AhAd", "AhAd"), ("AsKs", "AsKs,AsQs,KsQs")])
def test_ranges_that_cannot_be_dealt_together_are_refused(oop, ip):
    with pytest.raises(InputError, match="that can be dealt together, but all pairs"):
        pair(oop, ip)
