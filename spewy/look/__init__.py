"""Look at solved games: decisions, reports, comparisons, exports, exploitability.

>>> from spewy.look import BoardBuckets
>>> BoardBuckets.of("Ks 7d 2c", rows=40).n_rows
40
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from spewy.system.tools import lazy_names

if TYPE_CHECKING:
    from spewy.look.buckets import BoardBuckets
    from spewy.look.chunk_game import one_chunk

__all__ = ["BoardBuckets", "one_chunk"]

ABOVE: dict[str, Callable[..., Any]] = {}
"""Functions of rooms above this one that methods of this room call, by name: `spewy/__init__.py` enters them."""

_MODULES = {"BoardBuckets": "buckets", "one_chunk": "chunk_game"}

if not TYPE_CHECKING:  # otherwise a type checker would accept any name
    __getattr__ = lazy_names(__name__, _MODULES)


def __dir__() -> list[str]:
    return sorted(__all__)
