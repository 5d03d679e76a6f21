"""Cached results of methods: they are computed once, and do not keep their object in memory."""

import gc
import weakref

from spewy.system.tools import kept_results


class Doubling:
    def __init__(self):
        self.calls = 0
        self.double = kept_results(2, self._double)

    def _double(self, number):
        self.calls += 1
        return 2 * number


def test_a_result_is_computed_once_as_long_as_it_is_kept():
    doubling = Doubling()
    assert [doubling.double(n) for n in (1, 1, 2, 1, 2)] == [2, 2, 4, 2, 4]
    assert doubling.calls == 2
    doubling.double(3)
    doubling.double(1)
    assert doubling.calls == 4


def test_an_object_is_freed_without_a_search_for_cycles():
    gc.disable()
    try:
        doubling = Doubling()
        doubling.double(1)
        alive = weakref.ref(doubling)
        del doubling
        assert alive() is None
    finally:
        gc.enable()
