"""The command: run cases, count their exits, and name those that are not as they have to be."""

import sys
import tempfile
import time
from collections import Counter
from collections.abc import Collection
from pathlib import Path

import click
from joblib import cpu_count
from rich.console import Console
from rich.table import Table

from .case import Found
from .workers import SECONDS_PER_CASE, prepare, run_cases

SECONDS_BETWEEN_LINES = 10.0
POSITIVE = click.IntRange(min=1)


@click.command()
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of the cases.")
@click.option("--cases", type=POSITIVE, default=10_000, show_default=True, help="Number of cases.")
@click.option("--seconds", type=float, default=float("inf"), help="Seconds after which no more cases begin.")
@click.option("--case", "alone", type=int, multiple=True, help="A case to run alone and print; repeatable.")
@click.option("--workers", type=POSITIVE, default=cpu_count(), show_default=True, help="Number of processes.")
@click.option("--limit", type=float, default=SECONDS_PER_CASE, help="Most processor seconds for one case.")
def main(seed: int, cases: int, seconds: float, alone: tuple[int, ...], workers: int, limit: float) -> None:
    """Run the command line on odd input; exit with 1 where an answer is not as it has to be."""
    numbers = alone or range(cases)
    ran: dict[int, Found] = {}
    with tempfile.TemporaryDirectory(prefix="fuzz-") as base:
        click.echo("solving the folders that cases look at: half a minute", err=True)
        prepare(Path(base))
        found_by_case = run_cases(seed, numbers, Path(base), workers, seconds, limit)
        next_line = time.monotonic() + SECONDS_BETWEEN_LINES
        for each, found in found_by_case:
            ran[each] = found
            if found.faults or alone:
                click.echo(told(each, found, seed))
            if time.monotonic() >= next_line:
                click.echo(f"{len(ran):,} of {len(numbers):,} cases", err=True)
                next_line = time.monotonic() + SECONDS_BETWEEN_LINES
    wrong = sorted(each for each, found in ran.items() if found.faults)
    Console().print(table(ran.values()))
    click.echo(f"{len(ran):,} of {len(numbers):,} cases with seed {seed}, {len(wrong)} wrong: {wrong}")
    sys.exit(1 if wrong else 0)


def told(number: int, found: Found, seed: int) -> str:
    """A case with faults: what was run, and what was wrong with what came out."""
    faults = "\n".join(f"* {fault}" for fault in found.faults)
    return f"case {number} ({found.kind}; alone: --case {number} --seed {seed})\n{found.log}{faults}\n"


def table(ran: Collection[Found]) -> Table:
    """Cases, time and exits by kind."""
    codes = sorted({code for found in ran for code in found.exits})
    out = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("kind", "cases", "seconds", *codes):
        out.add_column(name, justify="left" if name == "kind" else "right")
    for kind in sorted({found.kind for found in ran}):
        cases = [found for found in ran if found.kind == kind]
        exits = sum((found.exits for found in cases), Counter[str]())
        seconds = sum(found.seconds for found in cases)
        out.add_row(kind, f"{len(cases):,}", f"{seconds:,.0f}", *(f"{exits[code]:,}" for code in codes))
    return out


if __name__ == "__main__":
    main(prog_name="fuzz")
