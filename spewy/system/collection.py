"""Pause Python's garbage collector while millions of small lasting objects are made."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["collection_put_off"]


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
