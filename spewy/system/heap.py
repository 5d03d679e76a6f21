"""Settings of the C library's memory allocator, for processes that run long."""

from __future__ import annotations

import ctypes

LARGE = 1 << 18
"""Size in bytes from which the system gets a block back as soon as the program releases it."""
MOST_ARENAS = 2
"""Largest number of pools from which the threads get their small blocks."""
_M_MMAP_THRESHOLD, _M_ARENA_MAX = -3, -8


def release_large_blocks() -> None:
    """Let the C library give large blocks back to the system; do nothing if it is not the GNU C library.

    By default that library gives back blocks above a minimum size. Each time a larger block is released, it raises the
    minimum to that size, at most to 32 MiB. Each thread then holds on to the space of its largest arrays so far.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, LARGE)
        mallopt(_M_ARENA_MAX, MOST_ARENAS)
