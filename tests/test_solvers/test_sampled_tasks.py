"""Deals are handed out so that all threads have some, however few they are."""

import pytest

from solvers.sampled.engine import TASK_DEALS, tasks_of


@pytest.mark.parametrize("threads", [1, 2, 16])
@pytest.mark.parametrize("n", [1, 2, 6, 15, 16, 33, 100, 1000])
def test_every_deal_comes_once_and_every_thread_gets_some(n, threads):
    tasks = tasks_of(7, n, threads)
    assert [deal for first, few in tasks for deal in range(first, first + few)] == list(range(7, 7 + n))
    assert len(tasks) >= min(n, 4 * threads)
    assert max(few for _, few in tasks) <= TASK_DEALS
