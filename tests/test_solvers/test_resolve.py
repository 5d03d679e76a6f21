"""The opponent's step before a subgame that is re-solved safely."""

import numpy as np
import pytest

from solvers.resolve import GadgetStep


def test_hands_enter_where_the_subgame_is_worth_more():
    step = GadgetStep(alternatives=np.array([1.0, -1.0, 0.0]), compatible=np.array([1.0, 1.0, 0.0]))
    np.testing.assert_array_equal(step.reach(), [1, 1, 0])  # a hand without compatible mass never enters
    for _ in range(5):
        step.learn(np.zeros(3))
    np.testing.assert_array_equal(step.reach(), [0, 1, 0])


def test_the_estimated_range_enters_whatever_the_hands_choose():
    """The second hand takes its value, which is larger; its weight in the estimated range enters all the same."""
    step = GadgetStep(
        alternatives=np.array([-1.0, 1.0, 0.0]),
        compatible=np.array([1.0, 1.0, 0.0]),
        estimated=np.array([1.0, 0.25, 1.0]),
    )
    assert step.reach().tolist() == [2.0, 1.25, 0.0]
    for _ in range(3):
        step.learn(np.zeros(3))
    assert step.reach() == pytest.approx([2.0, 0.25, 0.0])
