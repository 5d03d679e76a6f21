"""Measures what each clustering of hands costs: the exploitability of spots that are solved with k rows on each board.

    python -m benchmarks.studies.clustering [--quick] [--sweeps 200] [--workers 2] [--csv FILE]

Each spot is solved with every clustering, with uniform and with range weights, and with k = 5 to 160 rows on every
board. All solves have the same number of sweeps, so many that the remaining exploitability comes from the abstraction.
It is measured by exact best responses in the full game, in % of the pot. The last column is a solve with a row for each
hand after as many sweeps. Equation 1 is Parker's cost of a merge (see the glossary); Ward's linkage is Equation 1
without its max factor (`test_agglomeration.py` tests this).
"""

import argparse
from pathlib import Path

import pandas as pd
from joblib import Parallel, delayed
from rich.console import Console
from rich.progress import track

from benchmarks.command import as_command
from benchmarks.paths import EXAMPLES, SPOTS
from spewy.job.job import Job
from spewy.run.session import Session

FILES = {
    "R1": EXAMPLES / "R1.toml",
    "T1": EXAMPLES / "T1.toml",
    "T2": SPOTS / "T2.toml",
    "T3": SPOTS / "T3.toml",
}
CLUSTERINGS = ("equation-1", "ward", "k-means", "strength-k-means", "equity-quantiles")
ROWS = (5, 10, 20, 40, 80, 160)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--quick", action="store_true", help="measure only the river spot, with 5 and 40 rows"
    )
    parser.add_argument(
        "--sweeps", type=int, default=200, help="number of sweeps of each solve (default 200)"
    )
    parser.add_argument("--workers", type=int, default=2, help="number of solves at a time (default 2)")
    parser.add_argument(
        "--csv",
        type=Path,
        help="CSV file to which the exploitabilities are written, besides the printed tables",
    )
    options = parser.parse_args()
    spots, rows = (("R1",), (5, 40)) if options.quick else (tuple(FILES), ROWS)
    cases = [
        (spot, clustering, weights, k)
        for spot in spots
        for k in rows
        for clustering in CLUSTERINGS
        for weights in ("uniform", "ranges")
    ] + [(spot, "all hands", "", 0) for spot in spots]
    parallel = Parallel(n_jobs=options.workers, return_as="generator")
    solved = parallel(delayed(exploitability)(*case, options.sweeps) for case in cases)
    counted = track(solved, total=len(cases), console=Console(stderr=True))
    found = [(*case, pct) for case, pct in zip(cases, counted, strict=True)]
    frame = pd.DataFrame(found, columns=["spot", "clustering", "weights", "rows", "exploitability_pct"])
    if options.csv:
        frame.to_csv(options.csv, index=False)
    for spot in spots:
        print(table(frame[frame.spot == spot], spot))
    print(summary(frame))


def exploitability(spot: str, clustering: str, weights: str, k: int, sweeps: int) -> float:
    """Solve a spot with k rows on each board (0: a row for each hand); return its exploitability in % of the pot."""
    overrides = [f"solve.max_sweeps={sweeps}", f"solve.check_every={sweeps}", "solve.target=0%"]
    overrides += ["solve.leaves=live", "solve.workers=1"]
    if k:
        overrides += [f"rows.turn={k}", f"rows.river={k}"]
        overrides += [f"rows.clustering={clustering}", f"rows.weights={weights}"]
    session = Session(Job.load(FILES[spot], overrides))
    try:
        pct = session.solve().exploitability_pct
    finally:
        session.close()
    assert pct is not None
    return pct


def table(frame: pd.DataFrame, spot: str) -> str:
    """Return a spot's exploitabilities as a Markdown table."""
    exact = float(frame[frame.rows == 0].exploitability_pct.iloc[0])
    cases = frame[frame.rows > 0]
    rows = sorted(cases.rows.unique())
    head = " | ".join(f"{k} rows" for k in rows)
    lines = [
        f"\n**{spot}**\n",
        f"| clustering | weights | {head} | all hands |",
        "|---" * (len(rows) + 3) + "|",
    ]
    for weights in ("uniform", "ranges"):
        for clustering in CLUSTERINGS:
            own = cases[(cases.clustering == clustering) & (cases.weights == weights)].set_index("rows")
            cells = " | ".join(f"{own.exploitability_pct[k]:.3f}" for k in rows)
            lines.append(f"| {clustering} | {weights} | {cells} | {exact:.3f} |")
    return "\n".join(lines)


def summary(frame: pd.DataFrame) -> str:
    """Return a table of each clustering's exploitability divided by that of `equation-1` with uniform weights.

    The ratios are geometric means over spots and numbers of rows.
    """
    wide = frame[frame.rows > 0].pivot_table(
        index=["spot", "rows"], columns=["clustering", "weights"], values="exploitability_pct"
    )
    ratio = wide.div(wide["equation-1", "uniform"], axis=0)
    gain = ratio.apply(lambda column: column.prod() ** (1 / len(column)))
    lines = [
        "\n**Relative to Equation 1 with uniform weights (geometric mean)**\n",
        "| clustering | uniform | ranges |",
    ]
    lines.append("|---|---|---|")
    lines += [f"| {c} | {gain[c, 'uniform']:.2f} | {gain[c, 'ranges']:.2f} |" for c in CLUSTERINGS]
    return "\n".join(lines)


if __name__ == "__main__":
    as_command(main)
