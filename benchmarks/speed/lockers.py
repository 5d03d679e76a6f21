"""Measures how long processes wait for each other when many of them write to one store.

    python -m benchmarks.speed.lockers [--processes 8] [--seconds 3] [--quick]

Each process alternates between work and a commit of four arrays and a visit count, as a visit to a chunk does. It
sleeps in place of the work, as if it had a core of its own. "alone" is the time of a commit with one process,
"together" the time with all processes. "lost" is the share of its time that a process waits for others: the difference
of both times, divided by the time of work and commit.
"""

import argparse
import multiprocessing
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.command import as_command
from lockers import LmdbStore, Transaction, open_store

CASES = ((8, 2.5), (64, 2.5), (1024, 2.5), (1024, 60.0), (4096, 250.0))
"""Measured cases: (KiB of a commit, milliseconds of work between two commits)."""
LOCKERS = ("strategy", "regret", "guess", "payoff")
KEYS = 20
"""Number of different keys to which a process writes in turn."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--processes",
        type=int,
        default=8,
        help="number of processes that write to one store at the same time",
    )
    parser.add_argument("--seconds", type=float, default=3, help="wall time of each measurement")
    parser.add_argument(
        "--quick", action="store_true", help="run a short benchmark: half a second for each measurement"
    )
    options = parser.parse_args()
    seconds = 0.5 if options.quick else options.seconds
    print("| commit, KiB | work, ms | commit alone, ms | commit together, ms | commits per second | lost |")
    print("|---" * 6 + "|")
    for size, work in CASES:
        alone, _ = measured(1, size << 10, work / 1000, seconds)
        together, pace = measured(options.processes, size << 10, work / 1000, seconds)
        lost = max(0.0, together - alone) / (work + together)
        print(
            f"| {size:,} | {work:g} | {alone:.2f} | {together:.2f} | {pace:,.0f} | {lost:.1%} |", flush=True
        )


def measured(processes: int, size: int, work: float, seconds: float) -> tuple[float, float]:
    """Let processes write to one store at the same time, and measure their commits.

    Args:
        processes: number of processes.
        size: bytes of a commit.
        work: seconds of work between two commits.
        seconds: length of the measurement.

    Returns:
        Milliseconds that a commit takes, and commits per second of all processes together.
    """
    context = multiprocessing.get_context("fork")
    results, start = context.Queue(), context.Barrier(processes)
    with tempfile.TemporaryDirectory() as folder, open_store(Path(folder) / "store", {}) as store:
        children = [
            context.Process(target=_write, args=(store, number, size, work, seconds, results, start))
            for number in range(processes)
        ]
        for child in children:
            child.start()
        counts, times = zip(*(results.get() for _ in children), strict=True)
        for child in children:
            child.join()
    return 1000 * sum(times) / sum(counts), sum(counts) / seconds


def _write(
    store: LmdbStore, number: int, size: int, work: float, seconds: float, results: Any, start: Any
) -> None:
    array = np.zeros(size // 8 // len(LOCKERS))

    def visit(transaction: Transaction, key: bytes) -> None:
        transaction.count_visit(key, transaction.visits(key)[1] + 1)
        for locker in LOCKERS:
            transaction.put(locker, key, array)

    count, within = 0, 0.0
    start.wait()
    begun = time.perf_counter()
    while time.perf_counter() - begun < seconds:
        time.sleep(work)
        key = b"%d.%d" % (number, count % KEYS)
        committing = time.perf_counter()
        store.transact(lambda transaction, key=key: visit(transaction, key))  # type: ignore[misc]
        within += time.perf_counter() - committing
        count += 1
    results.put((count, within))


if __name__ == "__main__":
    as_command(main)
