"""The steps before a game that is re-solved safely."""

import numpy as np
import pytest

from solvers.gadget import ComeOrLeave, FollowOrLeave, PickHand


def test_hands_follow_where_the_game_is_worth_more():
    step = FollowOrLeave(
        elsewhere=np.array([1.0, -1.0, 0.0]), meets=np.array([1.0, 1.0, 0.0]), believed=np.ones(3)
    )
    np.testing.assert_array_equal(step.reach(), [1, 1, 0])  # who meets nobody does not come
    for _ in range(5):
        step.learn(np.zeros(3))
    np.testing.assert_array_equal(step.reach(), [0, 1, 0])


def test_the_hand_is_picked_that_gains_most_per_meeting():
    step = PickHand(elsewhere=np.zeros(3), meets=np.array([1.0, 2.0, 0.0]), believed=np.ones(3))
    first = step.reach()
    assert first[0] == pytest.approx(2 * first[1])  # each is picked as often, and comes with as much weight
    assert first[2] == 0
    for _ in range(50):
        step.learn(np.array([1.0, 1.5, 9.0]))
    np.testing.assert_allclose(step.reach() / step.reach().sum(), [1, 0, 0], atol=1e-6)


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
