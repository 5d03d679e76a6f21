"""Time of a process of `spewy`: of its help, and of a whole warm solve of the river R1.

    python -m benchmarks.speed.start [--before CHECKOUT] [--runs 7] [--quick]

With --before the processes of another checkout of the repository run in alternation with the processes of this
checkout. Before the runs that count, each process runs once, which compiles what is missing. The table has medians and
minima in seconds; CPU time (user and system) depends less on other programs than wall time.
"""

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks.paths import ROOT

COMMANDS = ("--help", "solve examples/R1.toml --again --out {out}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--before", type=Path, help="another checkout of the repository, to compare with")
    parser.add_argument("--runs", type=int, default=7, help="number of runs of each command")
    parser.add_argument("--quick", action="store_true", help="one run of each command")
    options = parser.parse_args()
    checkouts = {"this": ROOT} | ({"before": options.before.resolve()} if options.before else {})
    print(
        "| command | checkout | CPU s, median | minimum | wall s, median | minimum |\n|---|---|---|---|---|---|"
    )
    for command in COMMANDS:
        times: dict[str, list[tuple[float, float]]] = {name: [] for name in checkouts}
        with TemporaryDirectory() as folder:
            for number in range(2 if options.quick else options.runs + 1):
                for name, checkout in checkouts.items():
                    seconds = run(command.format(out=f"{folder}/{name}").split(), checkout)
                    if number:
                        times[name].append(seconds)
        for name, pairs in times.items():
            cells = [
                f"{value:.2f}" for each in zip(*pairs, strict=True) for value in (median(each), min(each))
            ]
            print(f"| spewy {command.partition(' --again')[0]} | {name} | {' | '.join(cells)} |", flush=True)


def run(arguments: list[str], checkout: Path) -> tuple[float, float]:
    """Run `spewy` of a checkout with some arguments; return its CPU time and its wall time in seconds."""
    before, started = getrusage(RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "spewy", *arguments],
        cwd=checkout,
        env=os.environ | {"PYTHONPATH": str(checkout)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=True,
    )
    wall, after = time.perf_counter() - started, getrusage(RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


if __name__ == "__main__":
    main()
