"""The steps before a game that is re-solved safely."""

import numpy as np
import pytest

from solvers.gadget import ComeOrLeave, FollowOrLeave


def test_hands_follow_where_the_game_is_worth_more():
    step = FollowOrLeave(
        elsewhere=np.array([1.0, -1.0, 0.0]), meets=np.array([1.0, 1.0, 0.0]), believed=np.ones(3)
    )
    np.testing.assert_array_equal(step.reach(), [1, 1, 0])  # who meets nobody does not come
    for _ in range(5):
        step.learn(np.zeros(3))
    np.testing.assert_array_equal(step.reach(), [0, 1, 0])


def test_the_believed_range_comes_whatever_others_do():
    """The second hand leaves, for it gets more elsewhere; as far as it is believed, it comes all the same."""
    believed = np.array([1.0, 0.25, 1.0])
    step = ComeOrLeave(
        elsewhere=np.array([-1.0, 1.0, 0.0]), meets=np.array([1.0, 1.0, 0.0]), believed=believed
    )
    assert step.reach().tolist() == [2.0, 1.25, 0.0]
    for _ in range(3):
        step.learn(np.zeros(3))
    assert step.reach() == pytest.approx([2.0, 0.25, 0.0])
