"""Models how fast the exact engine would be on more threads than this machine has cores.

    python -m benchmarks.studies.threads [--spots T1,F1,P1] [--threads 1,2,4,8,16] [--repeat 5] [--quick]

An iteration has three limits. *Work*: threads claim tasks (groups of boards after the first deal) one after another,
and the last ones to finish keep the others waiting. A board's work is taken as its regrets: hands times actions, in
blocks of 16 hands. *Meetings*: the threads wait for each other a few times in each pass; a meeting of two threads is
measured. *Memory*: an iteration reads regrets twice and writes them once, and reads and writes sums.

The table has for each number of threads: how many times as fast as one thread an iteration is by its work and meetings;
how many times as fast it was measured to be, if the machine has as many cores; and how many GB of regrets and sums per
second the threads then move, in 16 bits.
"""

import argparse
import os
import time
from concurrent.futures import ThreadPoolExecutor
from heapq import heapreplace

import numpy as np
from numpy.typing import NDArray

from benchmarks.command import as_command
from benchmarks.paths import EXAMPLES
from compiled import kernel
from compiled.threads import SYNC_SIZE, meet
from compiled.vector import aligned, bare
from solvers.discount import exact_variant, variant
from solvers.exact import ExactCfr
from solvers.exact.context import n_tasks
from solvers.exact.tables import padded_rows
from solvers.game import LiveGame
from spewy.chunks.layout import Layout
from spewy.job.job import Job

MEETINGS = 12
"""Meetings of all threads in an iteration of a game with several rounds, six in each pass."""

AT_ONCE = 10
"""Number of iterations in a measurement."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--spots", default="T1,F1,P1", help="example spots (turns or flops), with commas")
    parser.add_argument("--threads", default="1,2,4,8,16", help="numbers of threads, with commas")
    parser.add_argument("--repeat", type=int, default=5, help="number of measurements")
    parser.add_argument("--quick", action="store_true", help="run a short test: T1, measured once")
    options = parser.parse_args()
    spots, repeat = (("T1",), 1) if options.quick else (options.spots.split(","), options.repeat)
    counts = [int(n) for n in options.threads.split(",")]
    meeting = seconds_of_a_meeting(10_000)
    print(f"a meeting of two threads takes {1e6 * meeting:.2f} µs\n")
    print("| spot | threads | tasks | by work and meetings | measured | GB/s |\n|---|---|---|---|---|---|")
    for spot in spots:
        game = Layout.of(Job.load(EXAMPLES / f"{spot}.toml").problem).live
        tasks = task_work(game)
        times = {n: iteration_seconds(game, n, repeat) for n in counts if n <= (os.cpu_count() or 1)}
        alone = times.get(1) or iteration_seconds(game, 1, repeat)
        for n in counts:
            modelled = alone * longest(tasks, n) / tasks.sum() + (MEETINGS * meeting if n > 1 else 0.0)
            measured = f"{alone / times[n]:.2f}" if n in times else ""
            speed = traffic(game) / times.get(n, modelled) / 1e9
            print(
                f"| {spot} | {n} | {len(tasks)} | {alone / modelled:.2f} | {measured} | {speed:.1f} |",
                flush=True,
            )


def task_work(game: LiveGame) -> NDArray[np.float64]:
    """Number of regrets on the boards of each task: ``[task]``; see `solvers.exact.context.n_tasks`."""
    deal = game.rounds[0].deal
    assert deal is not None
    work = board_work(game, len(game.rounds) - 1)
    if len(game.rounds) == 3:
        below = game.rounds[1].deal
        assert below is not None
        links = np.add.reduceat(work[below.child], below.first[:-1])
        work = board_work(game, 1) + links
    entries = work[deal.child]
    n = n_tasks(len(game.rounds), len(entries))
    return np.add.reduceat(entries, np.arange(n) * len(entries) // n)


def board_work(game: LiveGame, t: int) -> NDArray[np.float64]:
    """Number of regrets on each board of round t: hands, padded to whole blocks of 16, times actions, both players."""
    r = game.rounds[t]
    first, second = (padded_rows(r.hands[p].n_hands) * float(r.forest.n_slots[p]) for p in (0, 1))
    return first + second


def longest(tasks: NDArray[np.float64], n_threads: int) -> float:
    """Work of the thread that works longest, if each of the threads takes the next task when it has finished one."""
    busy = [0.0] * n_threads
    for work in tasks.tolist():
        heapreplace(busy, busy[0] + work)
    return max(busy)


def traffic(game: LiveGame) -> float:
    """Bytes of regrets and sums, in 16 bits, that an iteration reads and writes."""
    n_regrets = sum(float(board_work(game, t).sum()) for t in range(len(game.rounds)))
    return 2 * (3 + 2) * n_regrets  # there are as many sums as regrets


def iteration_seconds(game: LiveGame, threads: int, repeat: int) -> float:
    """Seconds of an iteration with 16-bit regrets: smallest mean of ten iterations in ``repeat`` measurements."""
    engine = ExactCfr(game, variant(exact_variant(len(game.rounds))), threads=threads, short=True)
    engine.run(2)
    times = []
    for _ in range(repeat):
        started = time.perf_counter()
        engine.run(AT_ONCE)
        times.append((time.perf_counter() - started) / AT_ONCE)
    engine.close()
    return min(times)


def seconds_of_a_meeting(n: int) -> float:
    """Measure how long two threads take to meet at a barrier, as the mean of n meetings."""
    counters = aligned(SYNC_SIZE, np.int64)
    address = bare(counters)
    with ThreadPoolExecutor(1) as pool:
        for count in (1, n):  # the first run compiles
            counters[:] = 0
            started = time.perf_counter()
            other = pool.submit(meet_often, address, count)
            meet_often(address, count)
            other.result()
    return (time.perf_counter() - started) / n


@kernel
def meet_often(counters: int, n: int) -> int:
    """Let the calling thread meet another thread at n barriers, whose counters are at the address ``counters``."""
    met = 0
    for _ in range(n):
        met = meet(counters, 2, met)
    return met


if __name__ == "__main__":
    as_command(main)
