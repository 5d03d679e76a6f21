"""What a run costs: sizes that are estimated before it, and the memory of processes as it is measured."""

from __future__ import annotations

import resource
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread

from spewy.errors import size_text
from spewy.system.tools import Closing

WATCH_SECONDS = 0.1
UNWATCHED_BYTES = 16 * 2**20
"""Size of a solve below which no thread measures memory: its start and end may take longer than the solve."""
VISIT_BYTES = 16
"""Bytes of a counter of visits in a store."""
PROCESS_BYTES = 225 * 2**20
"""Bytes of interpreter, libraries and compiled kernels of one process (measured: 155 to 216 MiB)."""
CLUSTERING_BYTES = 150 * 2**20
"""Bytes of scikit-learn and its libraries, in a process that clusters boards or hands (measured: 147 MiB)."""
STACK_BYTES = (8 + 128) * 2**20
"""Address space of a thread: its stack, and the arena that the C library reserves for it."""
Count = tuple[int, str, str]
"""A number, its noun in the singular, and its noun in the plural."""


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Sizes of a solve in bytes, and its number of information sets.

    Attributes:
        information_sets: (decision, row) pairs of both players on all boards, or in all board buckets; a row is a hand
            or hand bucket.
        state_bytes: regrets, strategy sums and predictions, in memory, or for stored chunks on disk.
        table_bytes: betting tree, cards, hand strengths and maps of hands between rounds; if the job samples boards,
            also board buckets and buffers of threads.
        memory_bytes: memory of the main process, without interpreter and libraries.
        process_bytes: memory of the main process, with interpreter and libraries.
        disk_bytes: the folder after the first save; for a job that samples boards, with the results of a measurement on
            all flops.
        most_disk_bytes: upper bound on the folder during later saves, when it holds two saves at the same time.
    """

    information_sets: int
    state_bytes: int
    table_bytes: int
    memory_bytes: int
    process_bytes: int
    disk_bytes: int
    most_disk_bytes: int

    @property
    def counts(self) -> tuple[Count, ...]:
        """Numbers that describe the size of the game, each with its noun in the singular and in the plural."""
        return ((self.information_sets, "information set", "information sets"),)


def peak_rss_mib() -> float:
    """Return the peak memory of this process in MiB, with the pages of mapped files that were in memory."""
    with suppress(OSError, ValueError, IndexError):
        return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


class ProcessMemory(Closing):
    """Records the largest memory that this process owns, from now until `close`.

    The memory that a process owns excludes the pages of mapped files, such as lockers, a streamed round and libraries:
    the operating system drops these pages whenever it needs room. Linux records no peak of this memory, so a thread
    measures it ten times a second.

    Args:
        expected: expected size of the work in bytes. Work below `UNWATCHED_BYTES` is measured at its end only.
    """

    def __init__(self, expected: int = UNWATCHED_BYTES) -> None:
        self._most = 0.0
        self._ended = Event()
        self._thread: Thread | None = None
        if expected >= UNWATCHED_BYTES:
            self._thread = Thread(target=self._watch, name="memory", daemon=True)
            self._thread.start()

    @property
    def peak_mib(self) -> float:
        """Largest memory that this process has used so far, in MiB."""
        self._most = max(self._most, _own_mib())
        return self._most

    def close(self) -> None:
        self._ended.set()
        if self._thread is not None:
            self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(WATCH_SECONDS):
            self._most = max(self._most, _own_mib())


def _own_mib() -> float:
    """Return the memory that this process owns; if the system has no figure, the peak of all its memory."""
    with suppress(OSError, ValueError, IndexError):
        status = Path("/proc/self/status").read_text()
        return sum(int(status.split(f"{key}:")[1].split()[0]) for key in ("RssAnon", "RssShmem")) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def memory_at_once(sizes: Sequence[int], n: int) -> int:
    """Return the memory in bytes of the ``n`` largest jobs together, including their processes.

    >>> memory_at_once([5, 1, 7], 2) - 2 * PROCESS_BYTES
    12
    """
    largest = sorted(sizes, reverse=True)[:n]
    return sum(largest) + len(largest) * PROCESS_BYTES


def require_address_space(n_bytes: int, threads: int) -> None:
    """Refuse a solve for which too little address space is left, as under ``ulimit -v``.

    Without this check, LLVM or the C library would end the process without a message.
    """
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    if most == resource.RLIM_INFINITY:
        return
    needed, in_use = n_bytes + threads * STACK_BYTES, _address_space()
    if in_use + needed > most:
        amounts = [size_text(n_bytes) for n_bytes in (needed, max(0, most - in_use), most)]
        raise MemoryError(
            f"the solve needs {amounts[0]} of address space, and {amounts[1]} of {amounts[2]} (ulimit -v) are left"
        )


def _address_space() -> int:
    with suppress(OSError, ValueError, IndexError):
        return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    return 0


def available_memory() -> int | None:
    """Return the bytes that are available on the machine or within the limit of the control group; None: unknown."""
    bounds = []
    with suppress(OSError, ValueError, IndexError):
        text = Path("/proc/meminfo").read_text()
        bounds.append(int(text.split("MemAvailable:")[1].split()[0]) * 1024)
    with suppress(OSError, ValueError):  # the file has the text "max" if there is no limit
        group = Path("/sys/fs/cgroup")
        limit = int((group / "memory.max").read_text())
        bounds.append(limit - int((group / "memory.current").read_text()))
    return max(0, min(bounds)) if bounds else None
