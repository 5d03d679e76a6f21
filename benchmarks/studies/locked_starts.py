"""Measures whether a solve with a node lock needs fewer iterations if it starts from the regrets of the unlocked solve.

    python -m benchmarks.studies.locked_starts [--spot T1] [--lock "x b120: call=0.6, fold"] [--most 400]

The unlocked spot is solved to 0.1 % of the pot. Its regrets, times a factor, become the regrets of the locked spot in a
new engine, which continues as if a number of iterations were done; strategy sums start from zero. A line of the table
has the further iterations to 0.5, 0.3 and 0.1 % of the pot in the locked game, and the exploitability after the first
ten. The first line starts from nothing.
"""

import argparse

import numpy as np

from benchmarks.command import as_command
from benchmarks.studies.schedules import FILES, course, crossing
from solvers.discount import exact_variant, variant
from solvers.exact import ExactCfr
from solvers.game import LiveGame
from spewy.chunks.layout import Layout
from spewy.cli.options import locking
from spewy.job.job import Job

TARGETS = (0.5, 0.3, 0.1)
STARTS = [(0, 0.0), (0, 1.0), (0, 0.1), (5, 1.0), (5, 0.1), (20, 1.0), (20, 0.3), (100, 1.0), (100, 0.3)]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--spot", choices=("R1", "T1", "T2", "T3"), default="T1", help="the spot")
    parser.add_argument(
        "--lock", default="x b120: call=0.6, fold", help="the lock, as in the option of spewy solve"
    )
    parser.add_argument("--most", type=int, default=400, help="largest number of iterations of each run")
    options = parser.parse_args()
    file, _ = FILES[options.spot]
    free = Job.load(file)
    without = live(free)
    unlocked = ExactCfr(without, variant(exact_variant(len(without.rounds))))
    _, pct = course(unlocked, free.spot.pot, options.most)
    print(
        f"{options.spot} without a lock: {pct[-1]:.3f} % of the pot after {unlocked.iteration} iterations\n"
    )
    game = live(Job.load(file, locking((options.lock,))))
    print(
        "| pretended iterations | factor | 0.5 % | 0.3 % | 0.1 % | after ten iterations |\n"
        "|---|---|---|---|---|---|"
    )
    for done, factor in STARTS:
        print(line(game, unlocked, free.spot.pot, done, factor, options.most), flush=True)


def live(job: Job) -> LiveGame:
    """Return the game of a spot, as the exact engine takes it."""
    return Layout.of(job.problem).live


def line(game: LiveGame, unlocked: ExactCfr, pot: float, done: int, factor: float, most: int) -> str:
    """Solve the locked spot from one start, and return its line of the table.

    Args:
        game: the locked spot.
        unlocked: the solve of the unlocked spot.
        pot: pot at the root in chips.
        done: number of iterations that the new engine assumes were done.
        factor: factor of the unlocked solve's regrets; 0: start from zeros.
        most: largest number of further iterations.
    """
    engine = ExactCfr(game, variant(exact_variant(len(game.rounds))))
    engine.iteration = done
    for t, r in enumerate(game.rounds):
        for b in range(r.n_boards):
            first, second = unlocked.read("regrets", t, b)
            regrets = (factor * first).astype(np.float32), (factor * second).astype(np.float32)
            engine.write("regrets", t, b, regrets)
    iterations, pct = course(engine, pot, most)
    needed = [f"{crossing(iterations, pct, target, most):.0f}" for target in TARGETS]
    return f"| {done} | {factor} | " + " | ".join(needed) + f" | {pct[0]:.2f}% |"


if __name__ == "__main__":
    as_command(main)
