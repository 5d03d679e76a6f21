"""Compares three values of the job key solve.leaves by exploitability and time after a number of sweeps.

    python -m benchmarks.studies.mixed_leaves [--sweeps 50 100]

T1 with 40 rows on each turn and river, and Leduc hold'em, are solved from scratch in memory. Each has two rounds, for
which the key is "stored" and "stored", "stored" and "live" (*mixed*), or "live" and "live". If the second round is
stored, chance leaves read payoff matrices that earlier visits to it have written; if it is live, their values are
computed from its present strategies (docs/reference/job-file.md).
"""

import argparse

from benchmarks.command import as_command
from benchmarks.paths import EXAMPLES
from spewy.job.job import Job
from spewy.run.session import Session

ROWS = ("rows.turn=40", "rows.river=40", "rows.clustering=equity-quantiles")
GAMES = {
    "T1, 40 + 40 rows": ("T1", "%", ROWS, 'solve.leaves={turn="stored", river="live"}'),
    "Leduc": ("leduc", "chips", (), 'solve.leaves={preflop="stored", flop="live"}'),
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--sweeps",
        type=int,
        nargs="+",
        default=[50, 100],
        help="numbers of sweeps after which exploitability is printed, multiples of 10 (default 50 100)",
    )
    options = parser.parse_args()
    print("| game | leaves | sweeps | exploitability | seconds |\n|---|---|---|---|---|")
    for game, (name, unit, settings, mixed) in GAMES.items():
        for leaves, setting in (
            ("stored / stored", "solve.leaves=stored"),
            ("stored / live", mixed),
            ("live / live", "solve.leaves=live"),
        ):
            stop = (f"solve.target=0 {unit}", f"solve.max_sweeps={max(options.sweeps)}", "solve.variant=dcfr")
            job = Job.load(EXAMPLES / f"{name}.toml", (*settings, *stop, "solve.check_every=10", setting))
            with Session(job) as session:
                trace = session.solve().trace
            for sweep, seconds, found in trace:
                if sweep in options.sweeps:
                    gap = f"{100 * found / job.pot:.3f} %" if unit == "%" else f"{found:.5f} chips"
                    print(f"| {game} | {leaves} | {sweep} | {gap} | {seconds:.1f} |", flush=True)


if __name__ == "__main__":
    as_command(main)
