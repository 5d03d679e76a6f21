"""Time to cluster the hands of random boards on one core, or of all flops with two workers.

    python -m benchmarks.speed.buckets [--quick] [--boards 15] [--flops]

A hand's outcomes are its percentiles on the final boards; a merge tree is the record of the hierarchical clustering of
a board's hands by outcomes. Boards are drawn with a fixed seed. The table has median times (and the slowest) after a
warm-up that compiles the kernels; "of the goal" divides the median by the time that the project aims at. ``--flops``
also computes the merge trees of all 1,755 flops.
"""

import argparse
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks.command import as_command
from buckets.abstraction import BoardTree, outcomes
from buckets.cards import Deck, blocked, hands
from spewy.chunks.bucket_locker import BucketLocker
from spewy.cli.progress import Bar
from spewy.system.processes import LocalPool

BUDGET = {"flop": 0.3, "turn": 0.08, "river": 0.005}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="measure only three boards of each round")
    parser.add_argument(
        "--boards", type=int, default=15, help="number of random boards of each round (default 15)"
    )
    parser.add_argument(
        "--flops",
        action="store_true",
        help="also measure the time to compute the merge trees of all 1,755 flops",
    )
    options = parser.parse_args()
    combos = hands(Deck(), 2)
    rng = np.random.default_rng(1)
    print("| round | outcomes, ms | outcomes and tree, ms | slowest, ms | of the goal |")
    print("|---|---|---|---|---|")
    for n_cards, name in ((3, "flop"), (4, "turn"), (5, "river")):
        boards = [sorted(rng.choice(52, n_cards, replace=False).tolist()) for _ in range(options.boards)]
        BoardTree.of(boards[0])
        curves, whole = [], []
        for board in boards[: 3 if options.quick else None]:
            started = time.perf_counter()
            outcomes(board, combos)[~blocked(combos, board)].sum()
            curves.append(time.perf_counter() - started)
            started = time.perf_counter()
            BoardTree.of(board)
            whole.append(time.perf_counter() - started)
        print(
            f"| {name} | {1000 * median(curves):.2f} | {1000 * median(whole):.2f} | {1000 * max(whole):.2f} "
            f"| {median(whole) / BUDGET[name]:.2f} |",
            flush=True,
        )
    if options.flops:
        with tempfile.TemporaryDirectory() as folder, Bar("flops", 1755) as bar:
            locker = BucketLocker.open(Path(folder) / "buckets")
            started = time.perf_counter()
            peaks = locker.precompute(3, LocalPool(2), bar.advance)
            seconds = time.perf_counter() - started
            locker.close()
        print(f"\nall 1,755 flops, 2 workers: {seconds:.0f} s, at most {max(peaks):.0f} MiB in a worker")


if __name__ == "__main__":
    as_command(main)
