"""Cached results of an object's method, which do not keep the object alive."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import _lru_cache_wrapper, lru_cache
from typing import TypeVar
from weakref import WeakMethod

R = TypeVar("R")


def kept_results(size: int, method: Callable[..., R]) -> _lru_cache_wrapper[R]:
    """Return a function that calls a bound method and caches its last results, as ``functools.lru_cache`` does.

    An object that stored ``lru_cache(size)(self.method)`` would refer to itself. Its memory, and that of all cached
    results, would then stay in use until Python next searches for such cycles, which a server of pages does seldom.

    Args:
        size: largest number of cached results.
        method: the bound method; its arguments must be hashable and given by position.
    """
    weak = WeakMethod(method)

    def call(*arguments: Hashable) -> R:
        bound = weak()
        assert bound is not None, "the object that has the cache also has the method"
        return bound(*arguments)

    return lru_cache(size)(call)
