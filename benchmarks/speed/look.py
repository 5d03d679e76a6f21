"""Time and memory of the commands `show` and `report` on a solved folder.

    python -m benchmarks.speed.look [--jobs T1,F1,P1,big] [--folders DIR] [--sweeps 10] [--quick]

Each job is solved for a few sweeps, unless the folder ``DIR/<job>`` exists already. Then `show` runs at the root and at
a random decision of each later round, with EVs and without, and `report` on all cards after both players have checked.
Each command runs three times, each time in a new process; the table has medians. "seconds" is wall time after the
imports, "cpu s" processor time after the imports, "cpu s in all" the processor time of the whole process, and MiB its
peak memory beyond an interpreter with NumPy.
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

from benchmarks.command import as_command
from benchmarks.paths import ROOT, SPOTS
from buckets.cards import cards_name
from spewy import Job, solve

FILES = {"big": SPOTS / "big.toml"}
PROCESSES = 3
LOOK = """
import json, sys, time
import numpy

def peak():  # of this program only; getrusage would include the process that started it
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
    parser.add_argument(
        "--jobs", default="T1,F1,P1,big", help="names of the jobs to solve and show, with commas between them"
    )
    parser.add_argument(
        "--folders",
        type=Path,
        help="folder with a subfolder FOLDERS/JOB for each job; missing solves are made there",
    )
    parser.add_argument(
        "--sweeps", type=int, default=10, help="number of sweeps of each solve that the benchmark makes"
    )
    parser.add_argument(
        "--quick", action="store_true", help="run a short benchmark: only T1, solved with 2 sweeps"
    )
    options = parser.parse_args()
    if options.quick:
        options.jobs, options.sweeps = "T1", 2
    print("| job | command | seconds | cpu s | cpu s in all | MiB |\n|---|---|---|---|---|---|")
    with ExitStack() as stack:
        folders = options.folders or Path(stack.enter_context(TemporaryDirectory()))
        for name in options.jobs.split(","):
            job = Job.load(
                FILES.get(name, ROOT / f"examples/{name}.toml"), [f"solve.max_sweeps={options.sweeps}"]
            )
            if not (folders / name).exists():
                solve(job, folders / name)
            for label, *question in looks(job):
                runs = [look([str(folders / name), *question]) for _ in range(PROCESSES)]
                figures = [median(column) for column in zip(*runs, strict=True)]
                print(
                    f"| {name} | {label} | " + " | ".join(f"{x:.3f}" for x in figures[:3]),
                    f"| {figures[3]:.0f} |",
                    flush=True,
                )


def looks(job: Job) -> list[tuple]:
    """List what to measure for a job, each as (label, command, line, board).

    The command is "show", "bare" (`show` without EVs) or "report".
    """
    rng, names = random.Random(0), job.rules.round_names
    nodes = [node for node in job.betting_tree.nodes() if node.kind == "decision"]
    remaining = [card for card in job.rules.deck.cards if card not in job.board]
    first = job.tree_config.start_round
    out: list[tuple] = []
    for t in range(first, job.rules.num_rounds):
        line = "" if t == first else rng.choice([node.line for node in nodes if node.round == t])
        board = cards_name([*job.board, *rng.sample(remaining, t - first)])
        out.append((f"show, {names[t]}", "show", line, board))
        out.append((f"show --no-ev, {names[t]}", "bare", line, board))
    return [*out, (f"report, {names[first + 1]}", "report", "cc/", None)]


def look(question: list) -> list[float]:
    """Run `show` or `report` on a line of a solved folder in a new process, and measure its time and memory.

    Args:
        question: [folder, command, line, board]; the command is "show", "bare" (`show` without EVs) or "report".

    Returns:
        Seconds after the imports, processor seconds after the imports, processor seconds of the whole process, and
        its peak memory beyond an interpreter with NumPy in MiB.
    """
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
    as_command(main)
