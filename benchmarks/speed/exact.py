"""Time, memory and accuracy of the exact engine on the four reference spots.

    python -m benchmarks.speed.exact [--quick] [--repeat 3] [--spots R1,T1,F1,P1] [--threads 2] [--memory "280 MiB"]
    python -m benchmarks.speed.exact --against CHECKOUT [--precision 16-bit] [--spots R1,R2,T1,F1,F2,P1]

Each solve is a process of its own, with compiled kernels; rivers and turns are warmed up by one sweep. "seconds" is the
median over ``--repeat`` solves of the time from the first iteration to the stop, checks of exploitability included;
"slowest" is the longest time. "of the goal" divides the median by the time that the project aims at. F1 and P1 store
regrets and sums in 16 bits, F1 within ``--memory``, partly on disk. ``--against`` solves each spot to 0.1 % of the pot,
in memory, by turns with this checkout and with another one. ``--profile`` prints how long the steps of a traversal of
one river board of R1 and T1 take.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from benchmarks.command import as_command
from benchmarks.paths import EXAMPLES, ROOT, SPOTS

TARGETS = {
    "R1": ("1%", "0.5%", "0.3%", "0.1%", "0.01%"),
    "T1": ("1%", "0.5%", "0.3%", "0.1%", "0.01%"),
    "F1": ("0.3%", "0.1%"),
    "P1": ("0.3%", "0.1%"),
}
GOALS = {
    ("R1", "0.1%"): 0.008,
    ("T1", "0.1%"): 0.28,
    ("F1", "0.3%"): 18,
    ("F1", "0.1%"): 35,
    ("P1", "0.3%"): 16,
    ("P1", "0.1%"): 30,
}
SOLVE = """
import json, sys
from pathlib import Path
from spewy import Job, Session
job = Job.load(sys.argv[1], sys.argv[3:])
session = Session(job, Path(sys.argv[2]))
if len(job.spot.board.split()) > 3:
    warm_up = Session(Job.load(sys.argv[1], [*sys.argv[3:], "solve.max_sweeps=1"]))
    warm_up.solve()
    warm_up.close()
print(json.dumps(session.solve().to_json()))
session.close()
"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--quick", action="store_true", help="solve only R1 and T1, once each, to 0.1 %% of the pot"
    )
    parser.add_argument(
        "--repeat", type=int, default=3, help="number of solves for each line of the table (default 3)"
    )
    parser.add_argument(
        "--spots",
        default="R1,T1,F1,P1",
        help="names of the spots to solve, with commas between them (default: all four)",
    )
    parser.add_argument("--threads", type=int, default=2, help="number of threads of each solve (default 2)")
    parser.add_argument(
        "--memory", default="280 MiB", help="memory limit of the solve of F1 (default 280 MiB)"
    )
    parser.add_argument(
        "--against",
        type=Path,
        help="folder of another checkout of this project; solve each spot by turns with both",
    )
    parser.add_argument(
        "--precision", default="single", help="with --against: precision of regrets and sums (default single)"
    )
    parser.add_argument(
        "--profile",
        action="store_true",
        help="instead of solving, print the microseconds of each step of a traversal of R1 and T1",
    )
    options = parser.parse_args()
    if options.profile:
        profile("R1")
        profile("T1")
        return
    spots = ["R1", "T1"] if options.quick else options.spots.split(",")
    if options.against:
        compare(spots, options.against.resolve(), options.precision, options.threads, options.repeat)
        return
    print("| spot | target | sweeps | seconds | slowest | of the goal | EV oop | % of the pot | peak MiB |")
    print("|---|---|---|---|---|---|---|---|---|")
    for spot in spots:
        for target in ("0.1%",) if options.quick else TARGETS[spot]:
            overrides = [f"solve.target={target}", f"solve.workers={options.threads}"]
            overrides += ["solve.max_sweeps=20000"]
            if spot == "F1":
                overrides.append(f"solve.memory={options.memory}")
            runs = [solve(spot, overrides) for _ in range(1 if options.quick else options.repeat)]
            seconds = [run["seconds"]["solve"] for run in runs]
            last, goal = runs[-1], GOALS.get((spot, target))
            ratio = f"{median(seconds) / goal:.2f}" if goal else ""
            print(
                f"| {spot} | {target} | {last['sweeps']} | {median(seconds):.4g} | {max(seconds):.4g} | {ratio} "
                f"| {last['ev'][0]:.3f} | {last['exploitability_pct']:.4f} | {last['peak_rss_mib']:.0f} |",
                flush=True,
            )


def compare(spots: list[str], other: Path, precision: str, threads: int, repeat: int) -> None:
    """Print median times of solves to 0.1 % of the pot with another checkout (*before*) and with this one (*now*)."""
    overrides = [
        "solve.target=0.1%",
        "solve.max_sweeps=20000",
        "solve.memory=6 GiB",
        f"solve.precision={precision}",
        f"solve.workers={threads}",
    ]
    print(f"{precision}, {threads} thread(s)")
    print("| spot | sweeps before | now | seconds before | now | before / now | EV oop before | now |")
    print("|---|---|---|---|---|---|---|---|")
    for spot in spots:
        for checkout in (other, ROOT):  # compiles what is missing
            solve(spot, [*overrides, "solve.max_sweeps=1"], checkout)
        runs = [(solve(spot, overrides, other), solve(spot, overrides)) for _ in range(repeat)]
        before, now = (median(run["seconds"]["solve"] for run in each) for each in zip(*runs, strict=True))
        old, new = runs[-1]
        print(
            f"| {spot} | {old['sweeps']} | {new['sweeps']} | {before:.4g} | {now:.4g} | {before / now:.2f} "
            f"| {old['ev'][0]:.3f} | {new['ev'][0]:.3f} |",
            flush=True,
        )


def solve(spot: str, overrides: list[str], checkout: Path = ROOT) -> dict:
    """Solve a spot in a process of its own; return the JSON object of the solve's result.

    Args:
        spot: name of a job file in ``examples`` or ``benchmarks/spots``.
        overrides: changes of job keys, each as KEY=VALUE.
        checkout: folder of the checkout of this project whose code solves the spot.
    """
    job = next(path for path in (EXAMPLES / f"{spot}.toml", SPOTS / f"{spot}.toml") if path.exists())
    with tempfile.TemporaryDirectory(dir=".") as folder:
        command = [sys.executable, "-c", SOLVE, str(job), str(Path(folder).resolve() / spot), *overrides]
        environment = os.environ | {"PYTHONPATH": str(checkout)}
        return json.loads(
            subprocess.run(
                command, check=True, capture_output=True, text=True, cwd=checkout, env=environment
            ).stdout
        )


def profile(spot: str) -> None:
    """Print the time of each step of a traversal of one river board, for each player, in microseconds.

    The times are the shortest of 25 measurements.
    """
    import numba
    import numpy as np

    from compiled.vector import bare
    from solvers.discount import exact_variant, variant
    from solvers.exact import ExactCfr
    from solvers.exact.board import (
        Cursor,
        Entry,
        PassFactors,
        backward_values,
        forward_reach,
        showdown_totals,
    )
    from spewy.chunks.layout import Layout
    from spewy.job.job import Job

    game = Layout.of(Job.load(EXAMPLES / f"{spot}.toml").problem).live
    engine = ExactCfr(game, variant(exact_variant(len(game.rounds))))
    engine.run(20)
    context, t = engine._context, len(game.rounds) - 1
    zero = np.float32(0)

    @numba.njit(nogil=True)
    def reach(n, c, entry):
        for _ in range(n):
            forward_reach(c, entry)

    @numba.njit(nogil=True)
    def totals(n, c, entry):
        for _ in range(n):
            showdown_totals(c)

    @numba.njit(nogil=True)
    def update(n, c, entry):
        for _ in range(n):
            backward_values(c, zero, True)

    print(f"{spot}: hands {[int(h.count[0]) for h in context.hands[t]]}, boards {game.rounds[t].n_boards}")
    for p in (0, 1):
        x, work = context._round(t, p, engine.regrets, engine.sums), context.workspaces[0][t][p]
        one = np.float32(0.99)
        factors = PassFactors(0, one, one, False, one, one, np.int32(4096), one, np.float32(0))
        entry = context.entries[p]
        if t:
            stride, above = context.programs[t - 1][p].exit_width, context.workspaces[0][t - 1][p]
            entry = Entry(above.exits, stride, context.deals[t - 1][1 - p].parent_row)
        arguments = bare((Cursor(x, work, factors, 0, 0, 1), entry))
        cells = []
        for name, step in (("reach", reach), ("totals", totals), ("update", update)):
            step(1, *arguments)
            best = float("inf")
            for _ in range(25):
                started = time.perf_counter()
                step(1000, *arguments)
                best = min(best, time.perf_counter() - started)
            cells.append(f"{name} {1e3 * best:.2f}")
        steps = context.programs[t][p]
        print(
            f"  traverser {p}: {', '.join(cells)} us; {steps.n_leaf_pairs} leaf pairs, {steps.n_nodes} nodes"
        )


if __name__ == "__main__":
    as_command(main)
