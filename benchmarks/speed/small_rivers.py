"""Time of small rivers, warm and in one process: what bots and batches solve by the thousand.

    python -m benchmarks.speed.small_rivers [--rivers 10] [--repeat 30] [--against CHECKOUT] [--quick]

Random rivers (seeded) that one thread solves to 0.1 % of the pot within 2 ms. "solve" is ``seconds.solve`` and "all" a
whole `Session`, both in ms, medians of ``--repeat``; for one worker and two, alone and beside a process that keeps one
core busy. ``--against``: another checkout of this project, measured in alternation; "ratio" is its time by ours.
"""

import argparse
import json
import multiprocessing
import os
import subprocess
import sys
import time
from itertools import product
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks.paths import ROOT

MOST_MS = 2.0
WORK = """
import json, sys, time
from statistics import median
from spewy import Job, Session
def once(job):
    started = time.perf_counter()
    session = Session(job)
    result = session.solve()
    session.close()
    return result.seconds["solve"], time.perf_counter() - started, result.sweeps
for line in sys.stdin:
    data, workers, repeat = json.loads(line)
    job = Job.of(data | {"solve": data["solve"] | {"workers": workers}})
    once(job)
    runs = [once(job) for _ in range(repeat)]
    print(json.dumps([1e3 * median(run[k] for run in runs) for k in (0, 1)] + [runs[0][2]]), flush=True)
"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rivers", type=int, default=10)
    parser.add_argument("--repeat", type=int, default=30)
    parser.add_argument("--against", type=Path, help="another checkout")
    parser.add_argument("--quick", action="store_true", help="two rivers, five times")
    options = parser.parse_args()
    if options.quick:
        options.rivers, options.repeat = 2, 5
    ours = Solver(ROOT)
    solvers = [ours] + ([Solver(options.against)] if options.against else [])
    rivers = small_rivers(ours, options.rivers)
    print(
        "| river | sweeps | workers | beside | solve ms | all ms |"
        + " solve ratio | all ratio |" * (len(solvers) > 1)
    )
    print("|---|---|---|---|---|---|" + "---|---|" * (len(solvers) > 1))
    ratios: dict[tuple[int, str], list[tuple[float, float]]] = {}
    for beside in ("nothing", "a busy process"):
        with Busy(beside != "nothing"):
            for (name, data), workers in product(rivers, (1, 2)):
                found = alternating(solvers, data, workers, options.repeat)
                solve, whole, sweeps = found[0]
                line = f"| {name} | {sweeps} | {workers} | {beside} | {solve:.3f} | {whole:.2f} |"
                if len(solvers) > 1:
                    pair = found[1][0] / solve, found[1][1] / whole
                    ratios.setdefault((workers, beside), []).append(pair)
                    line += f" {pair[0]:.2f} | {pair[1]:.2f} |"
                print(line, flush=True)
    for (workers, beside), pairs in ratios.items():
        solve, whole = (median(pair[k] for pair in pairs) for k in (0, 1))
        print(f"{workers} worker(s) beside {beside}: median ratio {solve:.2f} (solve), {whole:.2f} (all)")


def alternating(solvers: list, data: dict, workers: int, repeat: int) -> list[list]:
    """Return ms of the solve, ms in all and sweeps for each solver: medians of three turns."""
    turns = [[solver.time(data, workers, repeat) for solver in solvers] for _ in range(3)]
    return [[median(turn[s][k] for turn in turns) for k in range(3)] for s in range(len(solvers))]


class Solver:
    """A process that solves with the code of one checkout."""

    def __init__(self, checkout: Path) -> None:
        env = os.environ | {"PYTHONPATH": str(checkout.resolve())}
        command = [sys.executable, "-c", WORK]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env, cwd=checkout
        )

    def time(self, data: dict, workers: int, repeat: int) -> list[float]:
        """Medians of seconds.solve and of the whole, in ms, and the sweeps."""
        self.process.stdin.write(json.dumps([data, workers, repeat]) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


def small_rivers(solver: Solver, n: int) -> list[tuple[str, dict]]:
    """So many random rivers that take at most `MOST_MS`."""
    out: list[tuple[str, dict]] = []
    seed = 0
    while len(out) < n:
        seed += 1
        data = random_river(seed)
        if solver.time(data, 1, 5)[0] <= MOST_MS:
            out.append(
                (
                    f"{seed}: {len(data['spot']['oop'].split(','))} x {len(data['spot']['ip'].split(','))}",
                    data,
                )
            )
    return out


def random_river(seed: int) -> dict:
    """A board, two ranges of 5 to 150 hands, and a few sizes."""
    rng = np.random.default_rng(seed)
    cards = [rank + suit for rank in "23456789TJQKA" for suit in "cdhs"]
    order = rng.permutation(52)
    board, left = [cards[i] for i in order[:5]], [cards[i] for i in order[5:]]
    pairs = [a + b for i, a in enumerate(left) for b in left[:i]]

    def held() -> str:
        n = int(np.exp(rng.uniform(np.log(5), np.log(150))))
        return ",".join(pairs[i] for i in rng.choice(len(pairs), n, replace=False))

    sizes = {
        "bet": str(rng.choice(["50%", "75%", "33%, 100%", "50%, a"])),
        "raise": str(rng.choice(["", "3x", "a"])),
    }
    return {
        "name": f"river {seed}",
        "game": {"file": "holdem.nolimit.2p.reverse_blinds"},
        "spot": {
            "board": " ".join(board), "pot": 100, "stack": int(rng.integers(50, 600)), "oop": held(), "ip": held()
        },
        "bets": {"river": sizes},
        "solve": {"target": "0.1%", "max_sweeps": 100_000},
    }  # fmt: skip


class Busy:
    """A process that keeps a core busy, if asked for."""

    def __init__(self, wanted: bool) -> None:
        self.process = multiprocessing.Process(target=spin, daemon=True) if wanted else None

    def __enter__(self) -> None:
        if self.process:
            self.process.start()
            time.sleep(0.2)

    def __exit__(self, *exc: object) -> None:
        if self.process:
            self.process.terminate()
            self.process.join()


def spin() -> None:
    while True:
        pass


if __name__ == "__main__":
    main()
