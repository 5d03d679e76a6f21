"""The command: run cases, count their exits, and name those that are not as they have to be."""

import sys
import tempfile
from collections import Counter
from pathlib import Path

import click
from joblib import cpu_count
from rich.console import Console
from rich.table import Table
from tqdm import tqdm

from .case import Found
from .crew import SECONDS_PER_CASE, run_cases

MOST_TOLD = 20
"""Cases with faults of which everything is printed."""


@click.command()
@click.option("--seed", type=int, default=1, show_default=True, help="Another seed is other cases.")
@click.option("--cases", type=click.IntRange(min=1), default=10_000, show_default=True, help="How many.")
@click.option("--seconds", type=float, default=float("inf"), help="Begin no more cases after so long.")
@click.option(
    "--case", "number", type=int, help="Run this case alone, and print what it ran and what came out."
)
@click.option(
    "--workers", type=click.IntRange(min=1), default=cpu_count(), show_default=True, help="Processes."
)
@click.option(
    "--limit", type=float, default=SECONDS_PER_CASE, show_default=True, help="Seconds that a case may take."
)
def main(seed: int, cases: int, seconds: float, number: int | None, workers: int, limit: float) -> None:
    """Run the command line on odd input; exit with 1 where an answer is not as it has to be."""
    numbers = range(cases) if number is None else range(number, number + 1)
    exits: Counter[tuple[str, str]] = Counter()
    ran, wrong = Counter[str](), []
    with tempfile.TemporaryDirectory(prefix="fuzz-") as base:
        bar = tqdm(total=len(numbers), unit=" cases", file=sys.stderr)
        for each, found in run_cases(seed, numbers, Path(base), workers, seconds, limit):
            bar.update()
            ran[found.kind] += 1
            exits.update({(found.kind, code): n for code, n in found.exits.items()})
            if found.faults:
                wrong.append((each, found))
                bar.set_postfix_str(f"{len(wrong)} wrong")
        bar.close()
    if number is not None:
        click.echo(found.log)
    for each, found in sorted(wrong, key=lambda pair: pair[0])[:MOST_TOLD]:
        click.echo(told(each, found, seed))
    Console().print(table(ran, exits))
    click.echo(f"{ran.total():,} cases with seed {seed}, {len(wrong)} wrong: {[each for each, _ in wrong]}")
    sys.exit(1 if wrong else 0)


def told(number: int, found: Found, seed: int) -> str:
    """A case with faults: what was run, and what was wrong with what came out."""
    faults = "\n".join(f"* {fault}" for fault in found.faults)
    return f"case {number} ({found.kind}; alone: --case {number} --seed {seed})\n{found.log}{faults}\n"


def table(ran: Counter[str], exits: Counter[tuple[str, str]]) -> Table:
    """Cases by kind, and exits by kind."""
    codes = sorted({code for _, code in exits})
    out = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("kind", "cases", *codes):
        out.add_column(name, justify="left" if name == "kind" else "right")
    for kind in sorted(ran):
        out.add_row(kind, f"{ran[kind]:,}", *(f"{exits[kind, code]:,}" for code in codes))
    return out


if __name__ == "__main__":
    main(prog_name="fuzz")
