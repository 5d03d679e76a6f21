"""Measures whether linear programming or CFR solves a chunk faster, which the paper left open.

    python -m benchmarks.studies.lp_or_cfr --csv docs/data/lp-or-cfr.csv --picture docs/research/lp-or-cfr.png

solves a river chunk (``examples/R1.toml``) and a turn chunk (``examples/T1.toml``, with payoffs of rivers after ten
sweeps) by both methods, prints tables, and writes times and a picture. Accuracy is the local exploitability in % of
the pot. The time of CFR is that of the iterations that reach an accuracy; an earlier run finds their number. LP's
time is that of building the program and solving it. Times are medians of processor time on one core, after a warm-up.
``--games`` measures whole games instead: one linear program (``method = "lp"``) against the job's CFR.
"""

import argparse
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numba
import numpy as np
import scipy
from scipy import sparse

from benchmarks.command import as_command
from benchmarks.paths import ROOT
from benchmarks.studies.dense_simplex import maximise
from benchmarks.studies.lp_or_cfr_page import (
    LP,
    TARGETS,
    CfrRun,
    LpRun,
    Measured,
    draw,
    duration,
    main_table,
    scaling_table,
    write_csv,
    write_page,
)
from solvers.discount import VARIANTS
from solvers.matrix.chunk import iterate, normalise
from solvers.matrix.lp import SequenceForm, chunk_form, solve_live, solve_lp
from solvers.measure import exploitability
from solvers.reference.walk import Walker
from solvers.tree import Floats
from spewy.chunks.layout import Layout
from spewy.job.job import Job
from spewy.learn.lp import METHOD, lp_size
from spewy.look.chunk_game import OneChunk, one_chunk
from spewy.run.session import Session

CFR = "solve.max_sweeps=200000", "solve.workers=1"
TURN = "spot.board=Qs 7h 2d 3c", "spot.pot=100", "spot.stack=100", "bets={turn={bet='50%'}}", "tree={}"
GAMES: dict[str, tuple[str, tuple[str, ...]]] = {
    "Leduc": ("leduc-lp", ()),
    "R1 river, 66 hands each": ("R1", ("spot.oop=TT-22,AJs-A8s,KQs-K9s", "spot.ip=TT-22,AJs-A8s,KQs-K9s")),
    "R1 river, 133 hands each": (
        "R1",
        ("spot.oop=TT-22,AJs-A2s,KQs-K2s,QJs-Q4s", "spot.ip=TT-22,AJs-A2s,KQs-K2s,QJs-Q4s"),
    ),
    "R1 river, its own ranges": ("R1", ()),
    "a turn, 20 × 22 hands": (
        "T1",
        (*TURN, "spot.oop=AA,KQs,JTs,98s,77", "spot.ip=KK,87s,AKs,AQs,55"),
    ),
    "a turn, 30 × 32 hands": (
        "T1",
        (*TURN, "spot.oop=AA,KQs,JTs,98s,77,A5s,66", "spot.ip=KK,87s,AKs,AQs,55,JJ,T9s"),
    ),
    "a turn, 51 × 47 hands": (
        "T1",
        (*TURN, "spot.oop=AA-JJ,KQs,JTs,98s,77,A5s,66,44", "spot.ip=KK-TT,87s,AKs,AQs,55,JJ,T9s,44"),
    ),
}


def main() -> int:
    """Run the measurements that the command line asks for; print their tables, and write the files that it names."""
    parser = argparse.ArgumentParser(description="Time LP against CFR on a river and on a turn chunk.")
    rows = ["10", "20", "40", "80", "160", "hands"]
    parser.add_argument(
        "--rows", nargs="+", default=rows, help="numbers of rows for the table of times by size"
    )
    parser.add_argument(
        "--main", default="40", help="number of rows for the main table, which compares all methods"
    )
    parser.add_argument(
        "--repeats", type=int, default=5, help="number of timed runs, of which the median counts"
    )
    parser.add_argument(
        "--sweeps",
        type=int,
        default=10,
        help="number of sweeps before the turn chunk is measured, which compute its payoffs",
    )
    parser.add_argument(
        "--limit", type=int, default=30_000, help="largest number of CFR iterations on a chunk"
    )
    parser.add_argument(
        "--budget",
        type=float,
        default=120.0,
        help="skip linear programs whose forecast time is more than this number of seconds",
    )
    parser.add_argument(
        "--write", type=Path, metavar="PAGE", help="write the table of --games into this Markdown page"
    )
    parser.add_argument(
        "--csv", type=Path, metavar="FILE", help="write all times of chunks into this CSV file"
    )
    parser.add_argument(
        "--picture", type=Path, metavar="FILE", help="draw the times of chunks into this file"
    )
    parser.add_argument(
        "--games", action="store_true", help="measure whole games in place of chunks (about half an hour)"
    )
    parser.add_argument(
        "--quick", action="store_true", help="run a short test with few rows and one run of each method"
    )
    args = parser.parse_args()
    if args.quick:
        args.rows, args.main, args.repeats, args.sweeps, args.limit = ["5", "10"], "10", 1, 1, 2_000
    if args.games:
        page = "\n".join(_games_table(list(GAMES)[: 2 if args.quick else None]))
        print(page)
        if args.write:
            write_page(args.write, page)
        return 0
    sizes = sorted({*args.rows, args.main}, key=lambda rows: int(rows) if rows.isdigit() else 10**9)
    text, pictures = [_machine(args)], []
    for title, make in (("River chunk", _river), ("Turn chunk", _turn)):
        found = _measure_sizes(make, sizes, args)
        text += [f"## {title}", *main_table(found[args.main]), *scaling_table(found)]
        pictures.append((title, found))
        if title == "River chunk":
            sparsity = _sparsity_table([(k, found[k].chunk) for k in found if k.isdigit()], args)
    page = "\n".join([*text, "## What sparsity is worth (river chunk)", *sparsity])
    print(page)
    if args.csv:
        write_csv(args.csv, pictures)
    if args.picture:
        draw(pictures, args.main, args.picture)
    return 0


def _river(rows: str, sweeps: int) -> OneChunk:
    return one_chunk(Job.load(ROOT / "examples/R1.toml", [f"rows.river={rows}"]))


def _turn(rows: str, sweeps: int) -> OneChunk:
    changes = [f"rows.turn={rows}", f"rows.river={40 if sweeps > 1 else 10}"]
    changes += ["solve.integrate=average", f"solve.max_sweeps={sweeps}", f"solve.check_every={sweeps}"]
    session = Session(Job.load(ROOT / "examples/T1.toml", changes))
    session.solve()
    return one_chunk(session)


def _measure_sizes(
    make: Callable[[str, int], OneChunk], sizes: list[str], args: argparse.Namespace
) -> dict[str, Measured]:
    """Measure all methods on a chunk with each number of rows, from the smallest up; return the results by rows.

    Linear programs whose forecast time exceeds the budget are skipped, and so are numbers of rows that exceed the
    number of different hands.
    """
    out: dict[str, Measured] = {}
    for rows in sizes:
        _note(f"{make.__name__[1:]}, rows {rows}: build")
        measured = Measured(make(rows, args.sweeps))
        if any(m.held == measured.held for m in out.values()):
            continue  # the board has no more groups of hands than with fewer rows
        measured.chunk.by_cfr("dcfr", 0.0, 2)  # warm: machine code is loaded
        measured.chunk.by_cfr("pcfr+", 0.0, 2)
        for name in VARIANTS if rows == args.main else ("cfr+", "dcfr"):
            _note(f"  {name}")
            goals = TARGETS if rows == args.main else TARGETS[:3]
            measured.cfr[name] = _time_cfr(measured.chunk, name, goals, args)
        for name, dense in [(n, d) for n in LP for d in ((False, True) if rows == args.main else (False,))]:
            label = f"{name}, {'dense' if dense else 'sparse'}"
            if _forecast(list(out.values()), measured, f"{name}, sparse") <= args.budget:
                _note(f"  LP {label}")
                measured.lp[label] = _time_lp(measured.chunk, name, dense, args)
        out[rows] = measured
    return out


def _time_cfr(chunk: OneChunk, name: str, goals: tuple[float, ...], args: argparse.Namespace) -> CfrRun:
    trace = _trace(chunk, name, goals[-1], args.limit)
    iterations = {goal: next((n for n, found in trace if found <= goal), None) for goal in goals}
    seconds: dict[float, float | None] = {}
    for goal, n in iterations.items():
        seconds[goal] = None if n is None else _median(partial(_run, chunk, name, n), args)
    return CfrRun(iterations, seconds, trace)


def _trace(chunk: OneChunk, name: str, goal: float, limit: int) -> list[tuple[int, float]]:
    """Run the CFR variant ``name`` until it reaches the goal of local exploitability, or the limit of iterations.

    Returns:
        Pairs (iterations, local exploitability in % of the pot), one whenever the iterations have grown by 5 %.
    """
    arrays = _blank(chunk, name)
    done, out = 0, []
    while done < limit and (not out or out[-1][1] > goal):
        steps = max(1, done // 20)
        iterate(chunk.chunk, VARIANTS[name], done, steps, *arrays)
        done += steps
        out.append((done, chunk.judge(normalise(chunk.chunk, arrays[1])).local_exploitability_pct))
    return out


def _run(chunk: OneChunk, name: str, iterations: int) -> None:
    iterate(chunk.chunk, VARIANTS[name], 0, iterations, *_blank(chunk, name))


def _blank(chunk: OneChunk, name: str) -> tuple:
    zeros = chunk.chunk.zeros
    return zeros(), zeros(), zeros() if VARIANTS[name].predictive else None


def _time_lp(chunk: OneChunk, name: str, dense: bool, args: argparse.Namespace) -> LpRun:
    seconds = _median(lambda: solve_lp(chunk_form(chunk.chunk), LP[name], dense=dense), args)
    found = chunk.by_lp(LP[name], dense=dense)
    return LpRun(seconds, abs(found.local_exploitability_pct), found.iterations)


def _forecast(past: list[Measured], measured: Measured, label: str) -> float:
    """Forecast how many seconds a linear program takes, from its times with fewer rows.

    The time grows with the cube of the rows, or faster if it did so between the last two sizes.

    Args:
        past: results with fewer rows, ascending.
        measured: the chunk with the rows for which the time is forecast.
        label: name of the LP method.
    """
    if not past:
        return 0.0
    if label not in past[-1].lp:
        return float("inf")  # the smaller program was too slow already
    power, last = 3.0, past[-1].lp[label].seconds
    if len(past) > 1:
        growth = np.log(last / past[-2].lp[label].seconds) / np.log(past[-1].size / past[-2].size)
        power = max(power, float(growth))
    return last * (measured.size / past[-1].size) ** power


def _sparsity_table(chunks: list[tuple[str, OneChunk]], args: argparse.Namespace) -> list[str]:
    lines = [
        "Times of three simplex programs that solve the same LP exactly: HiGHS with sparse arrays as input, HiGHS with "
        "dense arrays as input, and a compiled simplex method that computes with a full table, zeros included "
        "(`benchmarks/studies/dense_simplex.py`). *Nonzeros* is the number and share of the LP's coefficients that are "
        "not 0. The last column divides the time of the full table by the time of HiGHS with sparse arrays.",
        "",
        "| rows | variables × constraints | nonzeros | HiGHS simplex, sparse arrays | HiGHS simplex, dense arrays "
        "| simplex with a full table | full table / sparse arrays |",
        "|---|---|---|---|---|---|---|",
    ]
    past: list[tuple[int, float]] = []
    for label, chunk in chunks:
        rows = chunk.chunk.n_rows[0]
        if past and past[-1][1] * (rows / past[-1][0]) ** 4.5 > args.budget:
            break
        form = chunk_form(chunk.chunk)
        cost, upper, equal = _program(form)
        times = [_median(partial(solve_lp, form, "highs-ds", dense=dense), args) for dense in (False, True)]
        _note(f"dense tableau, {rows} rows")
        largest = float(abs(upper).max())
        scaled = upper.toarray()
        scaled[:, : form.payoff.shape[0]] /= largest
        maximise(np.ones(1), np.zeros((0, 1)), np.ones((1, 1)), np.ones(1), 1)  # warm
        started = time.process_time()
        value, _, pivots = maximise(cost, scaled, equal.toarray(), form.inflow[0], form.payoff.shape[0])
        past.append((rows, time.process_time() - started))
        expected = chunk.by_lp().value
        if abs(value * largest / chunk.total_weight - expected) > 1e-6 * chunk.pot:
            raise SystemExit(f"dense simplex: expected the value {expected}, found another")
        nonzeros, n_constraints = upper.nnz + equal.nnz, upper.shape[0] + equal.shape[0]
        share = nonzeros / (upper.shape[1] * n_constraints)
        lines.append(
            f"| {label} | {upper.shape[1]:,} × {n_constraints:,} | {nonzeros:,} ({share:.1%}) "
            f"| {duration(times[0])} | {duration(times[1])} | {duration(past[-1][1])} ({pivots:,} pivots) "
            f"| {past[-1][1] / times[0]:.0f} |"
        )
    return [*lines, ""]


def _games_table(names: list[str]) -> list[str]:
    """Return a table of times to solve whole games: by one linear program, and by CFR.

    The target of CFR is 0.001 % of the pot, or 0.01 mbb per hand for games without a pot at the root.
    """
    lines = [
        "| game | variables | constraints | nonzeros | LP, interior point | exploitability "
        "| forecast | LP, simplex | CFR to 0.001 % |",
        "|---" * 9 + "|",
    ]
    for name in names:
        _note(name)
        file, changes = GAMES[name]
        job = Job.load(ROOT / f"examples/{file}.toml", ["solve.method=lp", *changes])
        layout, size = Layout.of(job.problem), lp_size(job.problem)
        seconds, plans = _timed(lambda game=layout.live: solve_live(game, METHOD))
        gap = exploitability(Walker(layout.live), plans).value
        simplex = _timed(lambda game=layout.live: solve_live(game, "highs-ds"))[0] if seconds < 5 else None
        target = "0.001%" if job.spot else "0.01 mbb"
        cfr = Job.load(
            ROOT / f"examples/{file}.toml", ["solve.method=cfr", f"solve.target={target}", *CFR, *changes]
        )
        by_cfr = min(
            _timed(Session(cfr).solve)[0] for _ in range(2)
        )  # the first run may have to load machine code
        lines.append(
            f"| {name} | {size.variables:,} | {size.constraints:,} | {size.nonzeros:,} | {duration(seconds)} "
            f"| {gap:.0e} chips | {duration(60 * size.minutes)} | {duration(simplex)} | {duration(by_cfr)} |"
        )
    return [*lines, ""]


def _timed(run: Callable[[], Any]) -> tuple[float, Any]:
    started = time.process_time()
    found = run()
    return time.process_time() - started, found


def _program(form: SequenceForm) -> tuple[Floats, sparse.csr_matrix, sparse.csr_matrix]:
    (n_x, _), (E, F) = form.payoff.shape, form.flow
    upper = sparse.hstack([-form.payoff.T, F.T]).tocsr()
    equal = sparse.hstack([E, sparse.csr_matrix((E.shape[0], F.shape[0]))]).tocsr()
    return np.concatenate([np.zeros(n_x), form.inflow[1]]), upper, equal


def _machine(args: argparse.Namespace) -> str:
    return (
        f"The tables have processor times of one core of a {os.cpu_count()}-core {platform.machine()} machine, "
        f"medians of {args.repeats} runs. The chunks were solved with "
        f"Python {platform.python_version()}, numpy {np.__version__}, scipy {scipy.__version__} (whose solver HiGHS "
        f"solves the LPs), and numba {numba.__version__}. The sign – means that the accuracy was not reached within "
        f"{args.limit:,} iterations, "
        f"or that the solve would have taken more than {args.budget:g} s and was not started.\n"
    )


def _median(run: Callable[[], object], args: argparse.Namespace) -> float:
    """Return the median processor time of ``args.repeats`` runs in seconds; long runs are repeated less often."""
    seconds: list[float] = []
    while len(seconds) < args.repeats and sum(seconds) < args.budget / 8:
        started = time.process_time()
        run()
        seconds.append(time.process_time() - started)
    return statistics.median(seconds)


def _note(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    as_command(main)
