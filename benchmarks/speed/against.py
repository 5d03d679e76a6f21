"""Compares the speed of this checkout with another checkout: each benchmark runs in both, by turns.

    python -m benchmarks.speed.against CHECKOUT [--repeat 3] [--only deals,look,policy,click,bot,start]

Each row runs a benchmark of `benchmarks.speed` in a process of its own, with the code and the benchmark of either
checkout, ``--repeat`` times, and reads one figure from its table. The table has medians; "ratio" is the time of the
other checkout (*before*) divided by the time of this one (*now*), or the inverse for a rate, so a ratio above 1 means
that this checkout is faster. The exact engine has the same comparison in `benchmarks.speed.exact --against`.
"""

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path
from statistics import median
from typing import NamedTuple

from benchmarks.command import as_command
from benchmarks.paths import ROOT


class Figure(NamedTuple):
    """A figure of a benchmark's output: its name, a pattern whose group is the number, and whether more is better."""

    name: str
    pattern: str
    is_rate: bool = False


ROWS: dict[str, tuple[str, list[Figure]]] = {
    "deals": (
        "whole_games examples/flop-holdem.toml --seconds 3 --rounds 3 --flops 300",
        [
            Figure("deals per core-second", r"^\| 1 \| ([\d.,]+)", is_rate=True),
            Figure("core-seconds of a judged flop", r"flop take ([\d.]+)"),
        ],
    ),
    "look": (
        "look --jobs T1",
        [
            Figure(
                "CPU seconds of `show` at the root",
                r"^\| T1 \| [^|]*show[^|]*\| [\d.]+ \| [\d.]+ \| ([\d.]+)",
            ),
            Figure("CPU seconds of `report`", r"^\| T1 \| [^|]*report[^|]*\| [\d.]+ \| [\d.]+ \| ([\d.]+)"),
        ],
    ),
    "policy": (
        "policy --jobs T1 --processes 5",
        [
            Figure("ms to open a solve and for a first answer", r"^\| T1 \| ([\d.]+)"),
            Figure("ms for another line and board", r"^\| T1 \|.*\| ([\d.]+) \|$"),
        ],
    ),
    "click": (
        "pages --solves T1 --clicks 40 --seconds 2",
        [Figure("ms of a click", r"^\| click \| [^|]*\| ([\d.]+)")],
    ),
    "bot": (
        "bot_budget --quick",
        [
            Figure("seconds to open a bot", r"^start +([\d.]+)"),
            Figure("seconds of its first decision", r"first decision ([\d.]+)"),
        ],
    ),
    "start": (
        "start --runs 3",
        [
            Figure("CPU seconds of `spewy --help`", r"^\| spewy --help \| this \| ([\d.]+)"),
            Figure("CPU seconds of `spewy solve` of R1", r"^\| spewy solve [^|]*\| this \| ([\d.]+)"),
        ],
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("checkout", type=Path, help="folder of another checkout of this project")
    parser.add_argument(
        "--repeat", type=int, default=3, help="number of runs of each benchmark in each checkout"
    )
    parser.add_argument(
        "--only", default=",".join(ROWS), help="names of benchmarks, with commas between them"
    )
    options = parser.parse_args()
    print("| what | before | now | ratio |\n|---|---|---|---|")
    for name in options.only.split(","):
        command, figures = ROWS[name]
        outputs: list[tuple[str, str]] = [
            (output(options.checkout.resolve(), command), output(ROOT, command))
            for _ in range(options.repeat)
        ]
        for figure in figures:
            before, now = (
                median(read(figure, text) for text in texts) for texts in zip(*outputs, strict=True)
            )
            ratio = now / before if figure.is_rate else before / now
            print(f"| {figure.name} | {before:.4g} | {now:.4g} | {ratio:.2f} |", flush=True)


def output(checkout: Path, command: str) -> str:
    """Run a benchmark with a checkout's code, and return what it prints."""
    module, *arguments = command.split()
    return subprocess.run(
        [sys.executable, "-m", f"benchmarks.speed.{module}", *arguments],
        cwd=checkout,
        env=os.environ | {"PYTHONPATH": str(checkout)},
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout


def read(figure: Figure, text: str) -> float:
    found = re.search(figure.pattern, text, re.MULTILINE)
    if found is None:
        raise ValueError(f"{figure.name}: expected a line like {figure.pattern}, found:\n{text}")
    return float(found[1].replace(",", ""))


if __name__ == "__main__":
    as_command(main)
