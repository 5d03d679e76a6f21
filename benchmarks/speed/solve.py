"""Time and accuracy of solves: spots with a row for each hand, and a turn with 40 rows (buckets of hands).

    python -m benchmarks.speed.solve [--quick] [--repeat 3]

The spots R1 and T1 are solved to several targets with a row for each hand, and T1 also with 40 rows, by regret updates
and by averages of local optima (equilibria of single chunks). The table has medians over ``--repeat`` solves in memory,
after a solve that compiles the kernels. "seconds" is the time from the first iteration to the stop, "of it checks" the
part of it that checks of exploitability take (every ten sweeps). Exploitability is measured in the full game.
"""

import argparse
from statistics import median

from benchmarks.command import as_command
from benchmarks.paths import EXAMPLES
from spewy.job.job import Job
from spewy.run.result import SolveResult
from spewy.run.session import Session

TARGETS = ("1%", "0.5%", "0.3%", "0.1%")
FORTY = ("rows.turn=40", "rows.river=40", "solve.target=0%")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="run a short benchmark: only the river R1, solved once for each line of the table",
    )
    parser.add_argument(
        "--repeat", type=int, default=3, help="number of solves for each line of the table (default 3)"
    )
    options = parser.parse_args()
    repeat = 1 if options.quick else options.repeat

    print("| spot | rows | how | sweeps | % of the pot | seconds | of it checks | EV oop |")
    print("|---|---|---|---|---|---|---|---|")
    names = ("R1",) if options.quick else ("R1", "T1")
    for name in names:
        solve(name, "solve.max_sweeps=2")
        for target in TARGETS:
            line(name, "hands", "exact", repeat, f"solve.target={target}")
    if not options.quick:
        for how, sweeps in (("regret", 100), ("average", 50)):
            line(
                "T1",
                "40",
                f"{how}, stored",
                1,
                *FORTY,
                f"solve.integrate={how}",
                f"solve.max_sweeps={sweeps}",
            )
        line("T1", "40", "regret, live", 1, *FORTY, "solve.leaves=live", "solve.max_sweeps=100")


def line(name: str, rows: str, how: str, repeat: int, *overrides: str) -> None:
    runs = [solve(name, *overrides) for _ in range(repeat)]
    last = runs[-1]
    seconds, checks = (median(run.seconds[part] for run in runs) for part in ("solve", "best_response"))
    assert last.ev is not None
    print(
        f"| {name} | {rows} | {how} | {last.sweeps} | {last.exploitability_pct:.4f} "
        f"| {seconds:.3f} | {checks:.3f} | {last.ev[0]:.3f} |",
        flush=True,
    )


def solve(name: str, *overrides: str) -> SolveResult:
    session = Session(Job.load(EXAMPLES / f"{name}.toml", overrides))
    try:
        return session.solve()
    finally:
        session.close()


if __name__ == "__main__":
    as_command(main)
