"""Memory of processes: how much one took, how much there is, and what several take together."""

from __future__ import annotations

import resource
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path


def peak_rss_mib() -> float:
    """The most memory of this process; ``ru_maxrss`` alone has that of the one that started it, if it was more."""
    with suppress(OSError, ValueError, IndexError):
        return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


PROCESS_BYTES = 250 * 2**20
"""Interpreter, libraries and compiled kernels of one process."""


def memory_at_once(sizes: Sequence[int], n: int) -> int:
    """Bytes of the ``n`` largest of some jobs, with their processes.

    >>> memory_at_once([5, 1, 7], 2) - 2 * PROCESS_BYTES
    12
    """
    largest = sorted(sizes, reverse=True)[:n]
    return sum(largest) + len(largest) * PROCESS_BYTES


def available_memory() -> int | None:
    """Bytes that processes may still take, of the machine and of this control group; None where nobody tells."""
    found = []
    with suppress(OSError, ValueError, IndexError):
        text = Path("/proc/meminfo").read_text()
        found.append(int(text.split("MemAvailable:")[1].split()[0]) * 1024)
    with suppress(OSError, ValueError):  # no limit reads "max"
        group = Path("/sys/fs/cgroup")
        limit = int((group / "memory.max").read_text())
        found.append(limit - int((group / "memory.current").read_text()))
    return max(0, min(found)) if found else None
