"""Time of a process of `spewy`: help, a whole warm solve of the river R1, a look at it, and compiling the kernels.

    python -m benchmarks.speed.start [--before CHECKOUT] [--runs 7] [--compile] [--quick]

With --before the processes of another checkout of the repository run in alternation with the processes of this
checkout. Before the runs that count, each process runs once, which compiles what is missing and caches the byte code.
The table has medians and minima in seconds; CPU time (user and system) depends less on other programs than wall time.

--compile measures instead how long a solve compiles kernels if their cache is empty, for each kind of job, once.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median
from tempfile import TemporaryDirectory
from types import MappingProxyType

from benchmarks.command import as_command
from benchmarks.paths import ROOT

KINDS = {
    "river": ("exact", 1),
    "turn": ("exact", 2),
    "flop": ("exact", 3),
    "turn in double precision": ("live", 2),
    "whole game of four rounds": ("sampled", 4),
}
"""Engine and number of rounds of each kind of job whose kernels ``--compile`` compiles."""
COMMANDS = ("--help", "solve examples/R1.toml --again --out {out}", "show {out}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--before", type=Path, help="another checkout of the repository, to compare with")
    parser.add_argument("--runs", type=int, default=7, help="number of runs of each command")
    parser.add_argument("--compile", action="store_true", help="measure the time of compiling the kernels")
    parser.add_argument("--quick", action="store_true", help="one run of each command")
    options = parser.parse_args()
    checkouts = {"this": ROOT} | ({"before": options.before.resolve()} if options.before else {})
    if options.compile:
        print("| kernels of a | checkout | CPU s | wall s |\n|---|---|---|---|")
        for kind, (engine, n_rounds) in list(KINDS.items())[: 1 if options.quick else None]:
            for name, checkout in checkouts.items():
                cpu, wall = compiling(engine, n_rounds, checkout)
                print(f"| {kind} | {name} | {cpu:.1f} | {wall:.1f} |", flush=True)
        return
    print(
        "| command | checkout | CPU s, median | minimum | wall s, median | minimum |\n|---|---|---|---|---|---|"
    )
    with TemporaryDirectory() as folder:
        for command in COMMANDS:
            times: dict[str, list[tuple[float, float]]] = {name: [] for name in checkouts}
            for number in range(2 if options.quick else options.runs + 1):
                for name, checkout in checkouts.items():
                    seconds = run(command.format(out=f"{folder}/{name}").split(), checkout)
                    if number:
                        times[name].append(seconds)
            title = command.format(out="R1").partition(" --again")[0]
            for name, pairs in times.items():
                cells = [
                    f"{value:.3f}" for each in zip(*pairs, strict=True) for value in (median(each), min(each))
                ]
                print(f"| spewy {title} | {name} | {' | '.join(cells)} |", flush=True)


def compiling(engine: str, n_rounds: int, checkout: Path) -> tuple[float, float]:
    """Compile the kernels of an engine with an empty cache; return CPU time and wall time in seconds.

    The times of a second process, which finds the kernels in the cache, are subtracted.
    """
    command = [sys.executable, "-m", "spewy.run.warmup", str(os.getpid()), engine, str(n_rounds), "0"]
    with TemporaryDirectory() as folder:
        (cold, cold_wall), (warm, warm_wall) = (
            process(command, checkout, {"SPEWY_KERNELS": folder}) for _ in range(2)
        )
    return cold - warm, cold_wall - warm_wall


def run(arguments: list[str], checkout: Path) -> tuple[float, float]:
    """Run `spewy` of a checkout with some arguments; return its CPU time and its wall time in seconds."""
    return process([sys.executable, "-m", "spewy", *arguments], checkout)


def process(
    command: list[str], checkout: Path, variables: Mapping[str, str] = MappingProxyType({})
) -> tuple[float, float]:
    """Run a process with the code of a checkout; return its CPU time and its wall time in seconds."""
    before, started = getrusage(RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(
        command,
        cwd=checkout,
        env=os.environ | {"PYTHONPATH": str(checkout), "PYTHONDONTWRITEBYTECODE": ""} | variables,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=True,
    )
    wall, after = time.perf_counter() - started, getrusage(RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


if __name__ == "__main__":
    as_command(main)
