"""Compares the equilibria of rivers that ``solve.choose`` picks, with the linear program's own and with CFR's strategy.

    python -m benchmarks.studies.chosen_equilibria --write docs/research/lp-or-cfr.md

The table has both players' entropy, number of bet sizes and bluffs (`solvers.matrix.choose`), the exploitability of the
pair, and seconds of processor time of all programs, the first included. CFR solves to 0.01 % of the pot.
"""

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.command import as_command
from benchmarks.paths import ROOT
from benchmarks.studies.lp_or_cfr_page import duration, write_page
from solvers.game import LiveGame, Strategies
from solvers.matrix.choose import Choice, Moves, solve_chosen
from solvers.matrix.lp import solve_live
from solvers.measure import exploitability
from solvers.reference.walk import Walker
from solvers.tree import DECISION, Floats
from spewy.chunks.layout import Layout
from spewy.job.job import Job
from spewy.learn.lp import METHOD, bets_of
from spewy.records.chunks import Chunks
from spewy.run.session import Session

NARROW = "TT-22,AJs-A8s,KQs-K9s"
ALL = "22+,A2+,K2+,Q2+,J2+,T2+,92+,82+,72+,62+,52+,42+,32"
RIVERS: dict[str, tuple[str, ...]] = {
    "R1, 66 hands each": (f"spot.oop={NARROW}", f"spot.ip={NARROW}"),
    "all hands, one size": (f"spot.oop={ALL}", f"spot.ip={ALL}", "bets.river.bet=100%", "bets.river.raise=a"),
    "17.7 pots deep, 66 hands each": (
        *(f"spot.oop={NARROW}", f"spot.ip={NARROW}", "spot.pot=55", "spot.stack=975"),
        *("bets.river.bet=33%, 75%, a", "bets.river.raise=3x, a"),
    ),
    "R1": (),
}
CHOICES: tuple[Choice, ...] = ("entropy", "sizes", "bluff")


def main() -> int:
    """Measure the rivers and print their table."""
    parser = argparse.ArgumentParser(description="Compare the equilibria that solve.choose picks.")
    parser.add_argument(
        "--rivers", nargs="+", choices=RIVERS, default=list(RIVERS)[1:], help="rivers to solve"
    )
    parser.add_argument("--write", type=Path, metavar="PAGE", help="write the table into this Markdown page")
    parser.add_argument("--quick", action="store_true", help="only the smallest river")
    args = parser.parse_args()
    lines = [
        "| river | equilibrium | entropy, bits | at most | bet sizes | bluffs | exploitability | time |",
        "|---" * 8 + "|",
    ]
    for name in list(RIVERS)[:1] if args.quick else args.rivers:
        for row in _rows(name):
            lines.append(row)
            print(row, flush=True)
    page = "\n".join([*lines, ""])
    print(page)
    if args.write:
        write_page(args.write, page, "chosen equilibria")
    return 0


def river_plan(game: LiveGame, p: int, sums: Strategies) -> Floats:
    """Return player p's realisation plan on a river for strategy sums, laid out as in `solvers.matrix.lp.live_form`."""
    (r,) = game.rounds
    a, width = r.forest.arrays, r.hands[p].row.shape[1]
    plan = np.zeros((r.forest.n_sequences(p), width))
    plan[: r.forest.n_roots] = game.reach[p]
    for n in np.flatnonzero((a.kind == DECISION) & (a.player == p)).tolist():
        first, count = int(a.slot[n]), int(a.n_actions[n])
        each = np.maximum(sums[0][p][0, first : first + count, :width].astype(np.float64), 0.0)
        total = each.sum(axis=0)
        shares = np.divide(each, total, out=np.full(each.shape, 1 / count), where=total > 0)
        plan[r.forest.n_roots + first : r.forest.n_roots + first + count] = plan[a.sequence[p, n]] * shares
    return plan.ravel()


def cfr_sums(job: Job, target: str) -> Strategies:
    """Solve a river by CFR, and return its strategy sums."""
    by_cfr = job.replace({"solve.method": "cfr", "solve.target": target, "solve.max_sweeps": 100_000})
    with Session(by_cfr) as session:
        session.solve()
        return Chunks(session.layout, session.store).whole()


def _rows(name: str) -> Sequence[str]:
    job = Job.load(ROOT / "examples/R1.toml", ["solve.method=lp", *RIVERS[name]])
    layout = Layout.of(job.problem)
    game, bets = layout.live, [bets_of(betting) for betting in layout.betting]
    walker = Walker(game)
    moves = [Moves.of(game, p, [of_round[p] for of_round in bets]) for p in (0, 1)]

    def row(
        label: str, seconds: float | None, sums: Strategies, bound: tuple[float, float] | None = None
    ) -> str:
        first, second = (moves[p].measures(river_plan(game, p, sums)) for p in (0, 1))
        most = "" if bound is None else f"{bound[0]:.3f}, {bound[1]:.3f}"
        return (
            f"| {name} | {label} | {first['entropy']:.3f}, {second['entropy']:.3f} | {most} "
            f"| {first['sizes']:.0f}, {second['sizes']:.0f} "
            f"| {100 * first['bluff']:.1f} %, {100 * second['bluff']:.1f} % "
            f"| {exploitability(walker, sums).value / job.pot * 100:.0e} % | {duration(seconds)} |"
        )

    begun = time.process_time()
    plans = solve_live(game, METHOD)
    rows = [row("any (the first program)", time.process_time() - begun, plans)]
    for choice in CHOICES:
        begun = time.process_time()
        plans, chosen = solve_chosen(game, bets, choice)
        rows.append(row(f"`{choice}`", time.process_time() - begun, plans, chosen.bound))
    rows.append(row("CFR, to 0.01 %", None, cfr_sums(job, "0.01%")))
    return rows


if __name__ == "__main__":
    as_command(main)
