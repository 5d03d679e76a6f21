"""Small tools that Python's library lacks; they import little, since every command imports this module."""

from __future__ import annotations

import gc
import math
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from functools import _lru_cache_wrapper, lru_cache
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any, Self, TypeVar
from weakref import WeakMethod

from spewy.errors import InputError, shown

LOOKS = 0.2
"""Seconds between two checks whether the wait for a lock (`TakingTurns`) was given up."""
MOST_SECONDS = 1e9
"""Longest waiting time in seconds, about thirty years; timers of the operating system fail for ten times as long."""


def lazy_names(package: str, modules: Mapping[str, str]) -> Callable[[str], object]:
    """Make the function ``__getattr__`` of a package.

    Args:
        package: name of the package.
        modules: for each public name, the module of the package that defines the name. An empty text means that the
            public name is itself a module.
    """

    def load(name: str) -> object:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if not modules[name]:
            return import_module(f"{package}.{name}")
        return getattr(import_module(f"{package}.{modules[name]}"), name)

    return load


def as_path(path: object, subject: str) -> Path:
    if not isinstance(path, str | PathLike):
        raise InputError(f"{subject}: expected a path, found {shown(path)}")
    return Path(path)


class Closing(ABC):
    """An object with a method `close`, which may be called more than once."""

    @abstractmethod
    def close(self) -> None:
        """Release the files and the memory of the object."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


class TakingTurns:
    """A fair lock for ``with`` blocks: a thread that waits gets the lock before the thread that held it last.

    If a thread releases an ordinary lock and acquires it again at once, it nearly always gets the lock again, while
    other threads keep waiting.
    """

    def __init__(self) -> None:
        self._lock, self._next = threading.Lock(), threading.Lock()

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(self, *exc: object) -> None:
        self.release()

    def acquire(self, given_up: threading.Event | None = None) -> bool:
        """Wait for the lock; return False if ``given_up`` is set before this thread has acquired it."""
        with self._next:  # the thread that is next in turn holds this second lock
            while not self._lock.acquire(timeout=LOOKS):
                if given_up is not None and given_up.is_set():
                    return False
        return True

    def release(self) -> None:
        self._lock.release()


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


@contextmanager
def collection_put_off() -> Iterator[None]:
    """Pause Python's garbage collector within a ``with`` block; otherwise it would scan lasting objects repeatedly."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def plain(value: Any) -> Any:
    """Convert numpy's arrays and scalars, tuples and mappings to lists, numbers and dictionaries; NaN becomes None.

    >>> plain({"ev": (1.5, float("nan"))})
    {'ev': [1.5, None]}
    """
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(inner) for inner in value]
    if hasattr(value, "tolist"):  # numpy's scalars and arrays
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


LARGE = 1 << 18
"""Size in bytes from which a block of memory goes back to the system as soon as the program releases the block."""
MOST_ARENAS = 2
"""Largest number of pools from which threads get small blocks of memory."""
_M_MMAP_THRESHOLD, _M_ARENA_MAX = -3, -8


def release_large_blocks() -> None:
    """Let the C library give large blocks back to the system; do nothing if it is not the GNU C library.

    By default that library gives back blocks above a minimum size. Each time a larger block is released, it raises the
    minimum to that size, at most to 32 MiB. Each thread then holds on to the space of its largest arrays so far.
    """
    import ctypes

    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, LARGE)
        mallopt(_M_ARENA_MAX, MOST_ARENAS)
