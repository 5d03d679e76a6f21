"""Values of the benchmark games (``spewy examples --benchmark``), and the iterations of CFR that they need.

    python -m benchmarks.studies.benchmark_games --values [--seconds 60] [--write]
    python -m benchmarks.studies.benchmark_games --iterations [--most 20000] [--only river-small,turn-small]

``--values`` computes the value of each game: of rivers and turns by a linear program, of the flop by CFR for
``--seconds``. Both players' best responses bound the value. ``--write`` stores the values in
``spewy/examples/benchmark/values.json``.

``--iterations`` prints a table with the number of iterations after which each variant of CFR has an exploitability of
1, 0.1, 0.01 and 0.001 % of the pot, measured every ten iterations and interpolated; a dash: not within ``--most``. The
exact engine runs all variants but those that predict regrets, which the reference solver runs in double precision, on
rivers and turns only.
"""

import argparse
import json
import time
from collections.abc import Iterator

import numpy as np

from benchmarks.command import as_command
from benchmarks.studies.schedules import crossing
from solvers.discount import VARIANTS, Variant
from solvers.exact import ExactCfr
from solvers.exact.engine import supports
from solvers.game import LiveGame
from solvers.matrix.lp import solve_live
from solvers.reference.cfr import Cfr
from spewy.chunks.layout import Layout
from spewy.job.job import Job
from spewy.look.benchmark import FOLDER

NAMES = ("river-small", "river-medium", "river-wide", "turn-small", "turn-medium", "flop-small")
TARGETS = (1.0, 0.1, 0.01, 0.001)
"""Exploitabilities in % of the pot."""
BY_CFR = ("flop-small",)
"""Games that are too large for a linear program."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--values", action="store_true", help="compute the values")
    parser.add_argument("--seconds", type=float, default=60.0, help="seconds of CFR for a value")
    parser.add_argument("--write", action="store_true", help="store the values")
    parser.add_argument("--iterations", action="store_true", help="print the table of iterations")
    parser.add_argument("--most", type=int, default=20_000, help="largest number of iterations")
    parser.add_argument("--only", default=",".join(NAMES), help="names of games, separated by commas")
    options = parser.parse_args()
    names = options.only.split(",")
    if options.values:
        values = {name: value(name, options.seconds) for name in names}
        if options.write:
            file = FOLDER / "values.json"
            known = json.loads(file.read_text()) if file.exists() else {}
            merged = {name: (known | values)[name] for name in NAMES if name in known | values}
            file.write_text(json.dumps(merged, indent=1) + "\n")
    if options.iterations:
        for line in table(names, options.most):
            print(line, flush=True)


def value(name: str, seconds: float) -> dict:
    """Return the value of a game (chips that oop wins), its error bound and the method; print them, too."""
    job, started = Job.load(FOLDER / f"{name}.toml"), time.process_time()
    method = "cfr" if name in BY_CFR else "lp"
    if method == "lp":
        live = Layout.of(job.replace(method="lp", variant=None).problem).live
        low, high = lp_bracket(live)
    else:
        live = Layout.of(job.problem).live
        low, high = cfr_bracket(live, seconds)
    within = (high - low) / 2
    took = time.process_time() - started
    print(
        f"{name}: {(low + high) / 2:.9f} ± {within:.1e} chips by {method}, {took:.1f} core-seconds",
        flush=True,
    )
    return {
        "value": round((low + high) / 2, 9),
        "within": float(f"{max(within, 1e-9):.1e}"),
        "method": method,
    }


def lp_bracket(live: LiveGame) -> tuple[float, float]:
    """Solve a game by a linear program; return bounds (low, high) on its value by best responses to the solution."""
    judge = Cfr(live, VARIANTS["cfr"])
    for t, pair in enumerate(solve_live(live, "highs-ipm")):
        for b in range(live.rounds[t].n_boards):
            judge.write("sums", t, b, (pair[0][b], pair[1][b]))
    bracket = judge.exploitability().bracket
    judge.close()
    assert bracket is not None
    return bracket


def cfr_bracket(live: LiveGame, seconds: float) -> tuple[float, float]:
    """Run CFR for some seconds, and return the best bounds (low, high) on the value."""
    low, high, ending = -np.inf, np.inf, time.process_time() + seconds
    engine = ExactCfr(live, VARIANTS["dcfr-ahead"])
    while time.process_time() < ending:
        for check in engine.run_to(0.0, 200, 100):
            bracket = check.exploitability.bracket
            assert bracket is not None
            low, high = max(low, bracket[0]), min(high, bracket[1])
    engine.close()
    return low, high


def table(names: list[str], most: int) -> Iterator[str]:
    games = [(name, Job.load(FOLDER / f"{name}.toml").problem) for name in names]
    yield "| variant | " + " | ".join(f"`{name}`" for name in names) + " |"
    yield "|---|" + "---|" * len(names)
    for each in VARIANTS.values():
        cells = []
        for name, problem in games:
            live = Layout.of(problem).live
            run = supports(live) or name not in BY_CFR
            cells.append(", ".join(needed(live, each, problem.pot, most)) if run else "")
        yield f"| `{each.name}` | " + " | ".join(cells) + " |"


def needed(live: LiveGame, variant: Variant, pot: float, most: int) -> Iterator[str]:
    """Yield the number of iterations to 1, 0.1, 0.01 and 0.001 % of the pot."""
    solver = ExactCfr(live, variant) if supports(live) else Cfr(live, variant)
    checks = solver.run_to(0.99 * TARGETS[-1] / 100 * pot, most, 10)
    solver.close()
    iterations = np.array([check.iteration for check in checks])
    pct = np.array([100 * check.exploitability.value / pot for check in checks])
    for target in TARGETS:
        found = crossing(iterations, pct, target, most)
        yield f"{found:,.0f}" if found < most else "–"


if __name__ == "__main__":
    as_command(main)
