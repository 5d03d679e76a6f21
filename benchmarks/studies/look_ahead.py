"""Measures the gain of values that look ahead (`solvers.discount`) and of fewer checks (`spewy.run.stopping`).

    python -m benchmarks.studies.look_ahead [--spots turns|rivers] [--most 300]
    python -m benchmarks.studies.look_ahead --time T1,T2 [--target 0.1%] [--repeat 3] [--set KEY=VALUE ...]

The first form prints a line for each weight of the next strategy in iteration t, with the discounts of dcfr-steep: the
geometric means of the iterations to 1, 0.5, 0.2 and 0.1 % of the pot over 12 turns (the ranges of T1, T2 and T3) or 8
rivers (the ranges of R1), interpolated between checks. The second form solves spots in alternation as before (variant
dcfr-steep, a check every ten iterations) and with the defaults, with one thread, and prints processor seconds.
"""

import argparse
import time
from collections.abc import Callable
from statistics import median

import numpy as np

from benchmarks.command import as_command
from benchmarks.paths import EXAMPLES, SPOTS
from benchmarks.studies.schedules import course, crossing
from solvers.discount import VARIANTS, Variant
from solvers.exact import ExactCfr
from spewy.chunks.layout import Layout
from spewy.job.job import Job
from spewy.run.result import SolveResult
from spewy.run.session import Session

BOARDS = {
    "turns": (
        ("T1", "T2", "T3"),
        (None, "Kd 9s 4h 2c", "8c 7c 5d Th", "As Jd Td 3s"),
    ),
    "rivers": (
        ("R1",),
        (
            *(None, "Ah 7d 7c 3s 2s", "Kd Qd Td 5c 2h", "9h 8h 6s 5d 2c"),
            *("Jc 8d 4s 4h Qc", "Ts 9s 2s 6d Kh", "Ad Ks 9c 5h 5d", "7h 6h 3c Tc Jd"),
        ),
    ),
}
WEIGHTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "0": lambda t: 0 * t,
    "0.35": lambda t: 0.35 + 0 * t,
    "5 / (10 + t)": lambda t: 5 / (10 + t),
    "20 / (40 + t)": lambda t: 20 / (40 + t),
    "75 / (150 + t)": lambda t: 75 / (150 + t),
    "200 / (400 + t)": lambda t: 200 / (400 + t),
    "160 / (400 + t)": lambda t: 160 / (400 + t),
    "120 / (400 + t)": lambda t: 120 / (400 + t),
}
TARGETS = (1.0, 0.5, 0.2, 0.1)
BEFORE = ("solve.variant=dcfr-steep", "solve.check_every=10")


class Weighted(Variant):
    """Variant of CFR with the discounts of dcfr-steep and another weight of the next strategy in the values.

    The variant's name is the weight in iteration t as a formula, such as "75 / (150 + t)"; `WEIGHTS` has the functions.
    """

    def table(self, first: int, count: int) -> np.ndarray:
        """Return the factors ``[iteration, 5]`` of ``count`` iterations from ``first`` on, see `Variant.table`."""
        columns = super().table(first, count)
        columns[:, 3] = WEIGHTS[self.name](np.arange(first, first + count, dtype=float))
        return columns


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--spots", choices=BOARDS, default="turns", help="spots that are solved")
    parser.add_argument("--most", type=int, default=300, help="largest number of iterations of each solve")
    parser.add_argument("--time", help="names of spots to time instead, with commas between them")
    parser.add_argument("--target", default="0.1%", help="target of timed solves")
    parser.add_argument("--repeat", type=int, default=3, help="number of timed solves of each kind")
    parser.add_argument("--set", nargs="*", default=[], help="changes of job keys in timed solves")
    options = parser.parse_args()
    if options.time:
        for name in options.time.split(","):
            compare(name, (f"solve.target={options.target}", "solve.workers=1", *options.set), options.repeat)
        return
    names, boards = BOARDS[options.spots]
    jobs = [Job.load(file(n), [f"spot.board={b}"] if b else []) for n in names for b in boards]
    games = [(Layout.of(job.problem).live, job.spot.pot) for job in jobs]
    print("| weight | 1 % | 0.5 % | 0.2 % | 0.1 % |\n|---|---|---|---|---|")
    for weight in WEIGHTS:
        needed = []
        for game, pot in games:
            engine = ExactCfr(game, Weighted(weight, VARIANTS["dcfr-steep"].discount))
            iterations, pct = course(engine, pot, options.most)
            needed.append([crossing(iterations, pct, target, options.most) for target in TARGETS])
        means = np.exp(np.log(needed).mean(axis=0))
        print(f"| {weight} | " + " | ".join(f"{m:.1f}" for m in means) + " |", flush=True)


def file(name: str) -> str:
    """Return the path of a spot's job file."""
    return str(next(p for folder in (EXAMPLES, SPOTS) if (p := folder / f"{name}.toml").exists()))


def compare(name: str, overrides: tuple[str, ...], repeat: int) -> None:
    """Solve a spot with older settings (`BEFORE`) and with the defaults, in alternation; print both processor times."""
    solve(name, (*overrides, "solve.max_sweeps=1"))
    runs = [(solve(name, (*overrides, *BEFORE)), solve(name, overrides)) for _ in range(repeat)]
    times = []
    for way, solves in zip(("before", "now"), zip(*runs, strict=True), strict=True):
        seconds, result = [s for s, _ in solves], solves[0][1]
        times.append(median(seconds))
        print(
            f"{name} {way}: {result.sweeps} sweeps, {len(result.trace)} checks, {result.exploitability_pct:.4f} %, "
            f"EV {(result.ev or (np.nan,))[0]:.3f}, {times[-1]:.4g} s (least {min(seconds):.4g})",
            flush=True,
        )
    print(f"{name}: {times[0] / times[1]:.2f} times as fast", flush=True)


def solve(name: str, overrides: tuple[str, ...]) -> tuple[float, SolveResult]:
    """Solve a spot in memory; return the processor seconds of the solve, and its result."""
    with Session(Job.load(file(name), overrides)) as session:
        began = time.process_time()
        result = session.solve()
        return time.process_time() - began, result


if __name__ == "__main__":
    as_command(main)
