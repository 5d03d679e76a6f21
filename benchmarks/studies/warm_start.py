"""Measures whether the exact engine needs fewer iterations if it starts from a solution of the spot with buckets.

    python -m benchmarks.studies.warm_start [--rows 40] [--sweeps 60] [--most 300]

Each spot is solved with few rows on each board. Then the strategy of every hand's row, times a weight, becomes the
hand's regrets in the exact engine, which continues as if a number of iterations were done. A line of the table has the
further iterations to 0.5, 0.3 and 0.1 % of the pot (measured every ten iterations and interpolated), and the
exploitability after the first ten. The unit of the weight is the pot times the total weight of the opponent's range,
the scale of counterfactual values. The time of the solve with buckets is printed, but is not part of the table.
"""

import argparse
import time

import numpy as np

from benchmarks.command import as_command
from benchmarks.studies.schedules import FILES, course, crossing
from solvers.discount import exact_variant, variant
from solvers.exact import ExactCfr
from solvers.game import LiveGame
from solvers.reference.cfr import Cfr
from solvers.reference.kernels import match
from spewy.chunks.layout import Layout
from spewy.job.job import Job

TARGETS = (0.5, 0.3, 0.1)
STARTS = [(0, 0.0)] + [(done, weight) for done in (2, 3, 5, 10) for weight in (0.3, 1.0, 2.0)]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--rows", type=int, default=40, help="number of rows on each board in the solve with buckets"
    )
    parser.add_argument("--sweeps", type=int, default=60, help="number of sweeps of the solve with buckets")
    parser.add_argument(
        "--most", type=int, default=300, help="largest number of iterations of each run of the exact engine"
    )
    options = parser.parse_args()
    for spot in ("R1", "T1", "T2"):
        file, _ = FILES[spot]
        job = Job.load(file)
        started = time.perf_counter()
        overrides = [f"rows.turn={options.rows}", f"rows.river={options.rows}", "rows.weights=ranges"]
        few = Layout.of(Job.load(file, overrides).problem).live
        bucketed = Cfr(few, variant(exact_variant(len(few.rounds))))
        laid_out = time.perf_counter()
        bucketed.run(options.sweeps)
        solved = time.perf_counter()
        print(f"\n{spot}: layout with buckets {laid_out - started:.2f} s, solve {solved - laid_out:.2f} s\n")
        print(
            "| pretended iterations | weight | 0.5 % | 0.3 % | 0.1 % | after ten iterations |\n"
            "|---|---|---|---|---|---|"
        )
        game, start = Layout.of(job.problem).live, by_hand(bucketed)
        for done, weight in STARTS:
            print(line(game, start, job.spot.pot, done, weight, options.most), flush=True)


Hands = list[tuple[list[np.ndarray], list[np.ndarray]]]
"""Strategies as ``[round][player][board]``, each an array ``[slot, hand]``; a slot is one action of one decision."""


def by_hand(bucketed: Cfr) -> Hands:
    """Return the average strategies of a solve with buckets, ``[round][player][board][slot, hand]``."""

    def on_board(t: int, p: int, b: int) -> np.ndarray:
        r, own = bucketed.game.rounds[t], bucketed.sums[t][p][b]
        strategy = np.empty_like(own)
        match(r.forest.arrays, p, own, strategy)
        return strategy[:, r.hands[p].row[b, : r.hands[p].n_hands[b]]]

    rounds = enumerate(bucketed.game.rounds)
    return [tuple([on_board(t, p, b) for b in range(r.n_boards)] for p in (0, 1)) for t, r in rounds]


def line(game: LiveGame, start: Hands, pot: float, done: int, weight: float, most: int) -> str:
    """Solve a spot from the strategies of a solve with buckets, and return a line of the table.

    Args:
        game: the spot with a row for each hand.
        start: the strategies from which the regrets are set.
        pot: pot at the root in chips.
        done: number of iterations that the engine assumes were done.
        weight: weight of the start, times the pot and the opponent's total weight; 0: start from nothing.
        most: largest number of iterations.
    """
    engine = ExactCfr(game, variant(exact_variant(len(game.rounds))))
    engine.iteration = done
    for t, r in enumerate(game.rounds):
        for p in (0, 1):
            for b in range(r.n_boards):
                scale = weight * pot * r.hands[1 - p].weight[b].sum()
                engine.regrets[t][p].write(b, (scale * start[t][p][b]).astype(np.float32))
    iterations, pct = course(engine, pot, most)
    needed = [f"{crossing(iterations, pct, target, most):.0f}" for target in TARGETS]
    return f"| {done} | {weight} | " + " | ".join(needed) + f" | {pct[0]:.2f}% |"


if __name__ == "__main__":
    as_command(main)
