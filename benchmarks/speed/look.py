"""Time and memory of looking at a folder, each look in a process of its own.

    python -m benchmarks.speed.look [--jobs T1,F1,P1,big] [--folders DIR] [--sweeps 10] [--quick]

Solves each job for a few sweeps, unless ``DIR/<job>`` is there already, and looks at it: `show` at the root and at
random decisions of each later round, with EVs and without, and `report` on all cards after everybody has checked. "s"
is the time of the look in a process that has imported what it takes, "cpu s" the processor's time of it, "in all" that
of the process from its start, and MiB what it holds at most beyond an interpreter with NumPy. Medians of three.
"""

import argparse
import json
import os
import random
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks.paths import ROOT, SPOTS
from buckets.cards import cards_name
from spewy import Job, solve

FILES = {"big": SPOTS / "big.toml"}
PROCESSES = 3
LOOK = """
import json, sys, time
import numpy

def peak():  # of this program alone: what the system counts for a process includes who started it
    return int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0])

bare = peak()
from spewy.look.report import report
from spewy.look.solution import Solution
folder, what, line, board = json.loads(sys.stdin.read())
started, processor = time.perf_counter(), time.process_time()
with Solution.open(folder) as solution:
    if what == "report":
        report(solution, line)
    else:
        solution.node(line, board, ev=what == "show")
found = time.perf_counter() - started, time.process_time() - processor
print(json.dumps([*found, time.process_time(), (peak() - bare) / 1024]))
"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--jobs", default="T1,F1,P1,big")
    parser.add_argument("--folders", type=Path, help="folder of solves; missing ones are solved there")
    parser.add_argument("--sweeps", type=int, default=10)
    parser.add_argument("--quick", action="store_true", help="T1 alone, 2 sweeps")
    options = parser.parse_args()
    if options.quick:
        options.jobs, options.sweeps = "T1", 2
    print("| job | look | s | cpu s | in all, cpu s | MiB |\n|---|---|---|---|---|---|")
    with ExitStack() as stack:
        folders = options.folders or Path(stack.enter_context(TemporaryDirectory()))
        for name in options.jobs.split(","):
            job = Job.load(
                FILES.get(name, ROOT / f"examples/{name}.toml"), [f"solve.max_sweeps={options.sweeps}"]
            )
            if not (folders / name).exists():
                solve(job, folders / name)
            for told, *question in looks(job):
                found = [look([str(folders / name), *question]) for _ in range(PROCESSES)]
                figures = [median(column) for column in zip(*found, strict=True)]
                print(
                    f"| {name} | {told} | " + " | ".join(f"{x:.3f}" for x in figures[:3]),
                    f"| {figures[3]:.0f} |",
                    flush=True,
                )


def looks(job: Job) -> list[tuple]:
    """Return the looks at a job: each in words, and as the input of a process."""
    rng, names = random.Random(0), job.rules.round_names
    nodes = [node for node in job.betting_tree.nodes() if node.kind == "decision"]
    left = [card for card in job.rules.deck.cards if card not in job.board]
    first = job.tree_config.start_round
    out: list[tuple] = []
    for t in range(first, job.rules.num_rounds):
        line = "" if t == first else rng.choice([node.line for node in nodes if node.round == t])
        board = cards_name([*job.board, *rng.sample(left, t - first)])
        out.append((f"show, {names[t]}", "show", line, board))
        out.append((f"show --no-ev, {names[t]}", "bare", line, board))
    return [*out, (f"report, {names[first + 1]}", "report", "cc/", None)]


def look(question: list) -> list[float]:
    """Return the time and memory of one look in a fresh process."""
    run = subprocess.run(
        [sys.executable, "-c", LOOK],
        input=json.dumps(question),
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    return json.loads(run.stdout)


if __name__ == "__main__":
    main()
