"""Repeats the quick claims of ``docs/claims.toml`` and lists the long ones.

    python -m benchmarks.numbers [--list]

A claim is a figure of the README or of docs/research with the command that measures it. A quick claim takes less than a
minute: its command runs, and the figure in the output is compared with the claim. A long claim is printed with its
command, its time, and the date, the commit and the machine of its measurement. The exit code is 1 if a figure is off.
"""

import argparse
import re
import shlex
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path

from benchmarks.command import as_command
from benchmarks.paths import ROOT

CLAIMS = ROOT / "docs" / "claims.toml"


@dataclass(frozen=True)
class Claim:
    """A figure that a page quotes, and the command that measures it.

    A quick claim has `seconds`, its time. In the command's output, `pattern` finds the figure, which must differ from
    `value` by at most `within`. A long claim has `takes`, its time in words.
    """

    claim: str
    figure: str
    page: str
    command: str
    date: date
    commit: str
    machine: str
    takes: str = ""
    seconds: float | None = None
    pattern: str = ""
    value: float = 0.0
    within: float = 0.0


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--list", action="store_true", help="list all claims without running their commands")
    options = parser.parse_args(argv)
    found = claims()
    quick = [claim for claim in found if claim.seconds is not None]
    off = 0
    for claim in [] if options.list else quick:
        off += not repeat(claim)
    for claim in found if options.list else [claim for claim in found if claim not in quick]:
        print(described(claim))
    return 1 if off else 0


def claims(path: Path = CLAIMS) -> list[Claim]:
    table = tomllib.loads(path.read_text())
    return [Claim(machine=table["machine"], **entry) for entry in table["claim"]]


def repeat(claim: Claim) -> bool:
    """Run the command of a quick claim, print the measured figure, and return whether it agrees with the claim."""
    match = re.search(claim.pattern, output(claim.command))
    measured = float(match[1]) if match else None
    same = measured is not None and abs(measured - claim.value) <= claim.within
    verdict = "the same" if same else f"OFF: expected {claim.value} ± {claim.within}"
    print(f"{claim.claim}\n  {claim.page}: {claim.figure}\n  measured {measured}: {verdict}\n", flush=True)
    return same


@cache
def output(command: str) -> str:
    """Run a command in the root of the repository, with FOLDER replaced by a temporary folder; return its stdout."""
    with tempfile.TemporaryDirectory() as folder:
        words = [word.replace("FOLDER", f"{folder}/results") for word in shlex.split(command)]
        program = [sys.executable, "-m", "spewy"] if words[0] == "spewy" else [sys.executable]
        return subprocess.run(
            [*program, *words[1:]], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False
        ).stdout


def described(claim: Claim) -> str:
    """Describe a claim for the terminal: its page, figure, command, running time, date, commit and machine."""
    takes = claim.takes if claim.seconds is None else f"{claim.seconds:g} s"
    return (
        f"{claim.claim}\n  {claim.page}: {claim.figure}\n  {claim.command}\n"
        f"  time: {takes}; {claim.date}, commit {claim.commit}; {claim.machine}\n"
    )


if __name__ == "__main__":
    as_command(main)
