"""Whether the bucketed solution of a spot is a good place for the exact engine to start from.

    python -m benchmarks.studies.warm_start [--rows 40] [--sweeps 60] [--most 300]

A spot is solved with few rows a board (range weights). Every hand's strategy there, times a weight, becomes its
regrets, and the engine goes on as if some iterations were done. Each line gives the iterations after that to 0.5, 0.3
and 0.1 % of the pot (checked every ten, interpolated), and what the first ten lead to. The weight is in pots times the
opponent's range, the scale of counterfactual values. What the start itself costs is printed, and not counted.
"""

import argparse
import time

import numpy as np

from benchmarks.studies.schedules import FILES, course, crossing
from solvers.discount import EXACT_VARIANT, variant
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
    parser.add_argument("--rows", type=int, default=40, help="rows a board of the bucketed solve")
    parser.add_argument("--sweeps", type=int, default=60, help="its sweeps")
    parser.add_argument("--most", type=int, default=300, help="iterations after the start")
    options = parser.parse_args()
    for spot in ("R1", "T1", "T2"):
        file, _ = FILES[spot]
        job = Job.load(file)
        started = time.perf_counter()
        overrides = [f"rows.turn={options.rows}", f"rows.river={options.rows}", "rows.weights=ranges"]
        bucketed = Cfr(Layout.of(Job.load(file, overrides).problem).live, variant(EXACT_VARIANT))
        laid_out = time.perf_counter()
        bucketed.run(options.sweeps)
        solved = time.perf_counter()
        print(f"\n{spot}: layout with buckets {laid_out - started:.2f} s, solve {solved - laid_out:.2f} s\n")
        print(
            "| iterations as if done | weight | 0.5 % | 0.3 % | 0.1 % | after ten |\n|---|---|---|---|---|---|"
        )
        game, start = Layout.of(job.problem).live, by_hand(bucketed)
        for done, weight in STARTS:
            print(line(game, start, job.spot.pot, done, weight, options.most), flush=True)


Hands = list[tuple[list[np.ndarray], list[np.ndarray]]]
"""Per round, player and board: ``[slot, hand]``."""


def by_hand(bucketed: Cfr) -> Hands:
    """The average strategy of every hand's bucket."""

    def on_board(t: int, p: int, b: int) -> np.ndarray:
        r, own = bucketed.game.rounds[t], bucketed.sums[t][p][b]
        strategy = np.empty_like(own)
        match(r.forest.arrays, p, own, strategy)
        return strategy[:, r.hands[p].row[b, : r.hands[p].n_hands[b]]]

    rounds = enumerate(bucketed.game.rounds)
    return [tuple([on_board(t, p, b) for b in range(r.n_boards)] for p in (0, 1)) for t, r in rounds]


def line(game: LiveGame, start: Hands, pot: float, done: int, weight: float, most: int) -> str:
    """One start's row of the table."""
    engine = ExactCfr(game, variant(EXACT_VARIANT))
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
    main()
