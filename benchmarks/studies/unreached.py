"""Compares plain and refined solves by the mean loss of hands at all decisions, reached or not.

    python -m benchmarks.studies.unreached [--target 0.1%] [--only R1 T1]

In a refined solve (job key ``solve.refine``) opponents sometimes act at random, so that play reaches every decision.
Each spot is solved to the same exploitability. A row has the mean loss over all decisions, in % of the pot at the
decision (`solvers.measure.DecisionLosses`), the sweeps and the seconds of the solve. The row *longer* is the plain
solve with as many sweeps as the refined one took.
"""

from __future__ import annotations

import argparse

from benchmarks.command import as_command
from benchmarks.paths import EXAMPLES, SPOTS
from spewy.job.job import Job
from spewy.look.solution import Solution, solve

SPOTS_AND_CHANGES = {
    "R1": (EXAMPLES / "R1.toml", ()),
    "R1, 18 pots": (EXAMPLES / "R1.toml", ("spot.pot=10", "spot.stack=177")),
    "R2": (SPOTS / "R2.toml", ()),
    "T1": (EXAMPLES / "T1.toml", ()),
    "T2": (SPOTS / "T2.toml", ()),
}
HEAD = "| spot | solve | sweeps | seconds | exploitability, % | mean loss, % |"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--target", default="0.1%", help="exploitability of the solves (default 0.1%%)")
    parser.add_argument("--only", nargs="*", choices=SPOTS_AND_CHANGES, help="spots to solve (default: all)")
    options = parser.parse_args()
    print(f"{HEAD}\n|{'---|' * 6}")
    for name in options.only or SPOTS_AND_CHANGES:
        file, changes = SPOTS_AND_CHANGES[name]
        job = Job.load(file, [*changes, f"solve.target={options.target}", "solve.max_sweeps=5000"])
        job = job.replace({"solve.workers": 1, "solve.check_every": 10})
        with solve(job) as plain:
            report(name, "plain", plain)
        with solve(job.replace({"solve.refine": True})) as refined:
            report(name, "refined", refined)
            sweeps = refined.sweeps
        with solve(job.replace({"solve.target": "0%", "solve.max_sweeps": sweeps})) as longer:
            report(name, "longer", longer)


def report(name: str, kind: str, solution: Solution) -> None:
    result, found = solution.result, solution.exploitability()
    assert result is not None
    assert found.losses is not None
    print(
        f"| {name} | {kind} | {solution.sweeps} | {result.seconds['solve']:.2f} | {found.exploitability_pct:.4f} | "
        f"{found.losses.decision_loss_pct:.3f} |",
        flush=True,
    )


if __name__ == "__main__":
    as_command(main)
