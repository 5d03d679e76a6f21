"""Time, memory and accuracy of the exact engine on the four reference spots.

    python -m benchmarks.speed.exact [--quick] [--repeat 3] [--spots R1,T1,F1,P1] [--threads 2] [--memory "280 MiB"]
    python -m benchmarks.speed.exact --against CHECKOUT [--precision 16-bit] [--spots R1,R2,T1,F1,F2,P1,rivers,turns]
        [--pairs FILE]

Each solve is a process of its own, with compiled kernels; rivers and turns are warmed up by one sweep. "seconds" is the
median over ``--repeat`` solves of the time from the first iteration to the stop, checks of exploitability included;
"slowest" is the longest time. "of the goal" divides the median by the time that the project aims at. F1 and P1 store
regrets and sums in 16 bits, F1 within ``--memory``, partly on disk.

``--against`` solves each spot to 0.1 % of the pot, in memory, by turns with this checkout and with another one, and
prints processor seconds of all threads, from the first iteration to the last check. "before / now" is the median ratio
of these pairs, with the smallest and the largest. ``--pairs`` stores each pair in a file, so that a repeated command
makes only those that are missing. The names ``rivers``, ``turns`` and ``flops`` stand for the random spots of
`benchmarks.speed.small_spots`, of which the table has a line for each class of sizes.

``--profile`` prints how long each step of a sweep takes on river boards of R1, T1 and F1, its operations and bytes.
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
from benchmarks.speed.small_spots import Solver, by_class

TARGETS = {
    "R1": ("1%", "0.5%", "0.3%", "0.1%", "0.01%"),
    "T1": ("1%", "0.5%", "0.3%", "0.1%", "0.01%"),
    "F1": ("0.3%", "0.1%"),
    "P1": ("0.3%", "0.1%"),
}
SETS = "rivers", "turns", "flops"
GOALS = {
    ("R1", "0.1%"): 0.008,
    ("T1", "0.1%"): 0.28,
    ("F1", "0.3%"): 18,
    ("F1", "0.1%"): 35,
    ("P1", "0.3%"): 16,
    ("P1", "0.1%"): 30,
}
SOLVE = """
import json, sys, time
from pathlib import Path
from spewy import Job, Session
job = Job.load(sys.argv[1], sys.argv[3:])
session = Session(job, Path(sys.argv[2]))
if len(job.spot.board.split()) > 3:
    warm_up = Session(Job.load(sys.argv[1], [*sys.argv[3:], "solve.max_sweeps=1"]))
    warm_up.solve()
    warm_up.close()
marks = {}
class Marks:
    def __call__(self, event):
        self.note(type(event).__name__)
    def __getattr__(self, method):  # of a reporter, in checkouts before there were events
        return lambda *arguments: self.note({"status": "Stated", "check": "Checked"}.get(method, method))
    def note(self, name):
        if name == "Checked" or name not in marks:
            marks[name] = time.process_time()
result = session.solve(Marks())
used = marks["Checked"] - marks["Stated"]  # the first status comes before the first sweep
print(json.dumps(result.to_json() | {"processor": used}))
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
        "--pairs",
        type=Path,
        help="with --against: file that keeps each pair of solves, from which to continue",
    )
    parser.add_argument(
        "--precision", default="single", help="with --against: precision of regrets and sums (default single)"
    )
    parser.add_argument(
        "--profile",
        action="store_true",
        help="instead of solving, print times, operations and bytes of each step of a sweep of R1, T1 and F1",
    )
    options = parser.parse_args()
    if options.profile:
        for spot in ("R1", "T1", "F1"):
            profile(spot)
        return
    spots = ["R1", "T1"] if options.quick else options.spots.split(",")
    if options.against:
        other, many = options.against.resolve(), [name.removesuffix("s") for name in spots if name in SETS]
        named = [name for name in spots if name not in SETS]
        compare(named, other, options.precision, options.threads, options.repeat, options.pairs)
        for line in by_class(many, [Solver(ROOT), Solver(other)], options.repeat) if many else ():
            print(line, flush=True)
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


def compare(
    spots: list[str], other: Path, precision: str, threads: int, repeat: int, kept: Path | None
) -> None:
    """Print median processor times of solves with another checkout (*before*) and with this one (*now*).

    ``kept`` is a file that keeps the results of each pair of solves; None: nothing is kept.
    """
    overrides = [
        "solve.target=0.1%",
        "solve.max_sweeps=20000",
        "solve.memory=6 GiB",
        f"solve.precision={precision}",
        f"solve.workers={threads}",
    ]
    print(f"{precision}, {threads} thread(s)")
    pairs: dict[str, list[tuple[dict, dict]]] = {}
    for line in kept.read_text().splitlines() if kept is not None and kept.exists() else ():
        setting, before, now = json.loads(line)
        pairs.setdefault(setting, []).append((before, now))
    print("| spot | sweeps before | now | seconds before | now | before / now | EV oop before | now |")
    print("|---|---|---|---|---|---|---|---|")
    for spot in spots:
        setting = f"{spot}, {precision}, {threads}"
        runs = pairs.setdefault(setting, [])
        if len(runs) < repeat:
            for checkout in (other, ROOT):  # compiles what is missing
                solve(spot, [*overrides, "solve.max_sweeps=1"], checkout)
        while len(runs) < repeat:
            runs.append((solve(spot, overrides, other), solve(spot, overrides)))
            if kept is not None:
                with kept.open("a") as file:
                    file.write(json.dumps([setting, *runs[-1]]) + "\n")
        seconds = [[run["processor"] for run in pair] for pair in runs]
        before, now = (median(each) for each in zip(*seconds, strict=True))
        ratios = [old / new for old, new in seconds]
        old, new = runs[-1]
        print(
            f"| {spot} | {old['sweeps']} | {new['sweeps']} | {before:.4g} | {now:.4g} "
            f"| {median(ratios):.2f} ({min(ratios):.2f}–{max(ratios):.2f}) "
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
    """Print the time of each step of a sweep over the last round, on at most 48 of its boards, with one thread.

    A *set* is a hand and one of its actions. "ns a set" is the time of both players' passes, divided by the number of
    sets of both players. Operations and bytes are counted from the formulas of `solvers.exact.board`: additions,
    multiplications, comparisons and divisions, and all numbers that a step reads and writes, from caches or memory.
    The times are the shortest of 25 measurements.
    """
    import numba
    import numpy as np

    from compiled.vector import WIDTH, bare, int64_at
    from solvers.discount import exact_variant, variant
    from solvers.exact import ExactCfr
    from solvers.exact.board import (
        Cursor,
        Entry,
        PassFactors,
        backward_values,
        blocks_of,
        forward_reach,
        showdown_totals,
        terminal_values,
    )
    from spewy.chunks.layout import Layout
    from spewy.job.job import Job

    job = Job.load(EXAMPLES / f"{spot}.toml")
    game = Layout.of(job.problem).live
    engine = ExactCfr(game, variant(exact_variant(len(game.rounds))), short=job.solve.short)
    engine.run(20)
    context, t = engine._context, len(game.rounds) - 1
    zero = np.float32(0)

    @numba.njit(nogil=True)
    def reach(c, entry):
        forward_reach(c, entry)

    @numba.njit(nogil=True)
    def totals(c, entry):
        showdown_totals(c)

    @numba.njit(nogil=True)
    def values(c, entry):
        first, n_blocks = blocks_of(c.round.own, c.board)
        for i in range(n_blocks):
            terminal_values(c, first + i, WIDTH * i, True)

    @numba.njit(nogil=True)
    def update(c, entry):
        backward_values(c, zero, True)

    def on_boards(step):
        @numba.njit(nogil=True)
        def run(n, c, entry, board, first_row, n_boards):
            for _ in range(n):
                for e in range(n_boards):
                    there = Cursor(c.round, c.work, c.factors, int64_at(board, e), 0, 1)
                    rows = entry.parent_row + 4 * int64_at(first_row, e)
                    step(there, Entry(entry.reach, entry.stride, rows))

        return run

    steps = {step.__name__: on_boards(step) for step in (reach, totals, values, update)}
    seconds, work, n_sets = dict.fromkeys(steps, 0.0), {name: np.zeros(2) for name in steps}, 0
    for p in (0, 1):
        x, space = (
            context._round(t, p, engine.regrets, engine.regrets, engine.sums),
            context.workspaces[0][t][p],
        )
        nearly_one = np.float32(0.99)
        factors = PassFactors(
            0,
            0,
            nearly_one,
            nearly_one,
            False,
            nearly_one,
            nearly_one,
            np.int32(4096),
            nearly_one * bool(t),
            zero,
            zero,
        )
        entry, board, first_row = context.entries[p], np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
        if t:
            deal, stride = context.deals[t - 1][1 - p], context.programs[t - 1][p].exit_width
            entry = Entry(context.workspaces[0][t - 1][p].exits, stride, deal.parent_row)
            board, first_row = deal.child[:48].copy(), deal.first_row[:48].copy()
        arguments = bare((Cursor(x, space, factors, 0, 0, 1), entry, board, first_row, len(board)))
        n = max(1, 480 // len(board))
        for name, run in steps.items():
            run(1, *arguments)
            shortest = float("inf")
            for _ in range(25):
                started = time.perf_counter()
                run(n, *arguments)
                shortest = min(shortest, time.perf_counter() - started)
            seconds[name] += shortest / n
        rows = [WIDTH * int(np.diff(hands.first_block)[board].sum()) for hands in context.hands[t]]
        n_sets += rows[p] * context.programs[t][p].n_own_slots
        for name, count in counted(context.programs[t][p], rows[p], rows[1 - p], 2 if job.solve.short else 4):
            work[name] += count
    # a kernel of step 4 begins with step 3
    seconds["update"] -= seconds["values"]
    print(f"{spot}: {len(board)} of {game.rounds[t].n_boards} boards, {n_sets} sets\n")
    print("| step | us a board | ns a set | operations a set | GFLOP/s | bytes a set | GB/s |")
    print("|---|---|---|---|---|---|---|")
    for name in [*steps, "all"]:
        if name == "all":
            took, (flops, n_bytes) = sum(seconds.values()), sum(work.values())
        else:
            took, (flops, n_bytes) = seconds[name], work[name]
        print(
            f"| {name} | {1e6 * took / len(board):.1f} | {1e9 * took / n_sets:.3f} | {flops / n_sets:.1f} "
            f"| {flops / took / 1e9:.1f} | {n_bytes / n_sets:.0f} | {n_bytes / took / 1e9:.1f} |"
        )
    print()
    engine.close()


def counted(program, own: int, other: int, size: int):
    """Yield for each step of `profile` its name and its numbers of operations and bytes.

    ``own`` and ``other`` are the numbers of rows of the traverser and of the opponent, and ``size`` is the size of a
    regret in bytes.
    """
    lanes = program.n_leaf_pairs
    total, win = program.total_end, lanes - program.win_start
    slots, others = program.n_own_slots, program.n_other_slots
    decisions = program.n_up - program.n_down
    yield (
        "reach",
        (other * (7 * others + 3 * program.n_down), other * (3 * size * others + 8 * others + 8 * lanes)),
    )
    yield "totals", (3 * lanes * other + 5 * win * own, 20 * lanes * other + 28 * win * own)
    yield "values", (own * 2 * (lanes + total + win), own * (8 * lanes + 16 * total + 16 * win))
    yield (
        "update",
        (
            own * (15 * slots + 5 * decisions + others),
            own * (2 * size * slots + 4 * slots + 4 * others + 4 * program.n_up),
        ),
    )


if __name__ == "__main__":
    as_command(main)
