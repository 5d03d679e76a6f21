"""Pause Python's garbage collector while millions of small lasting objects are made."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["collection_put_off"]


@contextmanager
def collection_put_off() -> Iterator[None]:
    """Pause the garbage collector within the block, since it would repeatedly scan objects that stay."""
    on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if on:
            gc.enable()
