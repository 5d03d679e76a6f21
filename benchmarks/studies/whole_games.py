"""Measures how fast the exploitability of whole games falls, with different abstractions and settings.

    python -m benchmarks.studies.whole_games curve JOB FOLDER [--minutes 10,60,240] [--flops 20] [--seed 1] [--set ...]
    python -m benchmarks.studies.whole_games study [--seconds 30,120] [--quick]
    python -m benchmarks.studies.whole_games schedules [--deals 32768]
    python -m benchmarks.studies.whole_games answers [--deals 16384,32768]
    python -m benchmarks.studies.whole_games tables
    python -m benchmarks.studies.whole_games plot

Times are processor time of all threads together (core-seconds, core-minutes), so other work on the machine does not
count. ``curve`` solves a job in a folder, and measures exploitability after each budget of core-minutes, always on the
same flops; after an interruption it continues. The other commands solve flop-holdem in memory and measure it on all
flops: ``study`` with different abstractions for the same core-seconds, ``schedules`` with different discounts of
earlier visits for the same number of deals, ``answers`` with different shares of CFR-BR. Results are added to a data
file at once (``--data``). From it ``tables`` writes tables of two pages in docs/research, and ``plot`` their picture.
"""

import argparse
import json
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.command import as_command
from benchmarks.paths import EXAMPLES, ROOT
from benchmarks.sampled_games import abstraction_spec, note, progress_note, real_game, sampled_cfr
from benchmarks.studies.whole_game_runs import Budget, print_flops, print_notes
from benchmarks.studies.whole_game_tables import (
    answers_table,
    curve_table,
    draw_curves,
    schedule_table,
    study_table,
)
from buckets.abstraction import Abstraction
from lockers import holds_store, open_store
from solvers.discount import Discount
from spewy import Job, open_policy
from spewy.chunks.bucket_locker import abstraction
from spewy.errors import InputError, NotSolvedError
from spewy.look.exploit import ExploitResult
from spewy.look.judging import judge_folder
from spewy.look.status import status_of
from spewy.records.bucket_numbers import Mark, read_mark
from spewy.run.session import Session
from spewy.system.interrupts import INTERRUPTED, interruptible
from spewy.system.textfile import replace_text

DATA, PICTURE = ROOT / "docs/data/whole-games.json", ROOT / "docs/research/whole-games.png"
PAGES = tuple(ROOT / "docs/research" / name for name in ("whole-games.md", "whole-game-buckets.md"))
TABLES = ("curves", "study", "schedules", "answers")
CASES = ((20, 800), (40, 400), (80, 200), (40, "all"))
"""Abstractions that `study` compares, each as (rows, board buckets) of the flop; the first three need equal memory."""
SCHEDULES = (
    Discount(gamma=1.0, clip=True),
    Discount(gamma=2.0, clip=True),
    Discount(alpha=1.0, gamma=2.0, clip=True),
    Discount(beta=0.0, gamma=2.0),
    Discount(beta=0.5, gamma=1.0),
    Discount(beta=0.5, gamma=2.0),
    Discount(beta=1.0, gamma=2.0),
)
ANSWERED = ((50, 20), (100, 20), (400, 40))
"""Abstractions that `answers` compares, each as (board buckets, rows) of the flop."""
ANSWERS = (0.0, 0.25, 0.5, 1.0)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    one = commands.add_parser(
        "curve", help="solve a job, and measure exploitability after each budget of core-minutes"
    )
    one.add_argument("job", type=Path, help="job file of a whole game with [boards]")
    one.add_argument("folder", type=Path, help="folder of the solve; the solve continues if it exists")
    one.add_argument(
        "--minutes",
        type=_numbers,
        default=[10, 60, 240],
        help="core-minutes after which exploitability is measured, with commas between them",
    )
    one.add_argument(
        "--flops", type=int, default=20, help="number of flops on which exploitability is measured; 0: all"
    )
    one.add_argument("--seed", type=int, default=1, help="seed of the random flops of --flops")
    one.add_argument(
        "--set",
        action="append",
        default=[],
        dest="changes",
        metavar="KEY=VALUE",
        help="set a key of the job file; can be given several times",
    )
    one.add_argument("--name", help="name of the solve in the data file (default: the folder's name)")
    one.add_argument(
        "--start-from",
        type=Path,
        metavar="FOLDER",
        help="start from the strategies in this folder of an earlier `curve`",
    )
    one.add_argument(
        "--start-name",
        metavar="NAME",
        help="name of the solve of --start-from in the data file (default: its folder's name)",
    )
    one.set_defaults(run=curve)

    one = commands.add_parser("study", help="measure flop-holdem with different abstractions")
    one.add_argument(
        "--seconds",
        type=_numbers,
        default=[30, 120],
        help="core-seconds after which exploitability is measured, with commas between them",
    )
    one.add_argument(
        "--quick",
        action="store_true",
        help="run a short test: the first abstraction for one core-second; results are not saved",
    )
    one.set_defaults(run=study)

    one = commands.add_parser(
        "schedules", help="measure flop-holdem with different discounts of earlier visits"
    )
    one.add_argument("--deals", type=int, default=32768, help="number of deals of each solve")
    one.set_defaults(run=schedules)

    one = commands.add_parser("answers", help="measure flop-holdem with different shares of CFR-BR")
    one.add_argument(
        "--deals",
        type=_numbers,
        default=[16384, 32768],
        help="numbers of deals after which exploitability is measured, with commas between them",
    )
    one.set_defaults(run=answers)

    one = commands.add_parser(
        "tables", help="write the tables of two pages in docs/research from the data file"
    )
    one.add_argument("--pages", type=Path, nargs="+", default=PAGES, help="Markdown pages with the tables")
    one.set_defaults(run=tables)

    one = commands.add_parser(
        "plot", help="draw the picture of docs/research/whole-games.md from the data file"
    )
    one.add_argument("--out", type=Path, default=PICTURE, help="file to which the picture is written")
    one.set_defaults(run=lambda args: draw_curves(_data(args.data), args.out))

    for command in commands.choices.values():
        command.add_argument("--data", type=Path, default=DATA, help="JSON file with the results")
    args = parser.parse_args(argv)
    return int(args.run(args) or 0)


def curve(args: argparse.Namespace) -> int:
    """Solve a job, save its exploitability after each budget of core-minutes, and return the exit code."""
    job = Job.load(args.job, [*args.changes, "solve.max_time=10000 h", "solve.target=0 mbb"])
    name = args.name or args.folder.name
    with interruptible() as interrupted:
        for minutes in args.minutes:
            kept = _curve(args.data, name)
            if any(point["budget"] == minutes for point in kept["points"]):
                continue
            spent = _spent(args.folder, args.data, name, job.solve.workers)
            if args.start_from is not None and not holds_store(args.folder):
                earlier = args.start_name or args.start_from.name
                spent = _spent(args.start_from, args.data, earlier, job.solve.workers)
            stop = Budget(60 * minutes - spent, interrupted)
            with Session(job, args.folder, start_from=args.start_from) as session:
                result = session.solve(print_notes, stop)
            spent += stop.spent
            learnt = [{"core_minutes": spent / 60, "seconds": _mark(args.folder).seconds}]
            _keep(args.data, lambda data, learnt=learnt: data.setdefault("learnt", {}).update({name: learnt}))
            if interrupted.is_set():
                return INTERRUPTED
            try:
                judged = judge_folder(args.folder, print_flops, flops=args.flops or None, seed=args.seed)
            except NotSolvedError as error:  # a short budget ends before the first save or in an early stage
                note(f"not measured after {minutes:g} core-minutes: {error}")
                continue
            point = {
                "budget": minutes,
                "core_minutes": spent / 60,
                "seconds": _mark(args.folder).seconds,
                "deals": result.sweeps,
                **_point(judged),
                "seed": args.seed,
                **_preflop(args.folder),
                "visits": (status_of(args.folder).visits or ((0, 0.0),))[-1][1],
                "deals_per_core_second": result.sweeps / spent,
            }
            kept["points"].append(point)
            board_buckets, rows = job.dealing.board_buckets, job.dealing.rows
            kept |= {"job": job.name, "classes": list(board_buckets[1:]), "rows": list(rows[1:])}
            _keep(args.data, lambda data, kept=kept: data["curves"].update({name: kept}))
            note(curve_table({name: kept}).splitlines()[-1])
    print(curve_table({name: _curve(args.data, name)}))
    return 0


def study(args: argparse.Namespace) -> None:
    """Solve flop-holdem with each abstraction for equal time, measure exploitability, and save the results."""
    if args.quick:
        args.seconds = [1.0]
    job = Job.load(EXAMPLES / "flop-holdem.toml")
    features: dict[str, Any] = {}
    found = []
    for rows, board_buckets in CASES[:1] if args.quick else CASES:
        note(f"{board_buckets} board buckets, {rows} rows")
        spec = replace(abstraction_spec(job), board_buckets=("all", board_buckets), rows=(169, rows))
        points = _studied(job, Abstraction.build(spec, cache=features), args.seconds)
        found.append({"rows": rows, "classes": board_buckets, "points": points})
        if not args.quick:
            _keep(args.data, lambda data: data.update(study=found))
    print(study_table(found))


def schedules(args: argparse.Namespace) -> None:
    """Solve flop-holdem with each discount schedule, measure exploitability, and save the results."""
    job = Job.load(EXAMPLES / "flop-holdem.toml")
    made, found = abstraction(abstraction_spec(job), progress_note("boards")), []
    for discount in SCHEDULES:
        cfr = sampled_cfr(job, made, 1, discount=discount)
        cfr.run(args.deals)
        finding = real_game(job, made, cfr).judge(None)
        assert finding is not None  # nobody stops it
        judged = _judged(finding, 1000 / job.rules.big_blind)
        numbers = {key: None if value == inf else value for key, value in discount._asdict().items()}
        found.append({**numbers, "deals": args.deals, **judged})
        note(schedule_table(found).splitlines()[-1])
        _keep(args.data, lambda data: data.update(schedules=found))
    print(schedule_table(found))


def answers(args: argparse.Namespace) -> None:
    """Solve flop-holdem with each abstraction and share of CFR-BR, measure exploitability, and save the results."""
    job = Job.load(EXAMPLES / "flop-holdem.toml")
    found = []
    for board_buckets, rows in ANSWERED:
        spec = replace(abstraction_spec(job), board_buckets=("all", board_buckets), rows=(169, rows))
        made = abstraction(spec, progress_note("boards"))
        for share in ANSWERS:
            points = _answered(job, made, share, args.deals)
            found.append({"classes": board_buckets, "rows": rows, "answers": share, "points": points})
            note(answers_table(found).splitlines()[-1])
            _keep(args.data, lambda data: data.update(answers=found))
    print(answers_table(found))


def tables(args: argparse.Namespace) -> None:
    """Write the tables of the saved results into the pages, each between the two comments with its name.

    Curves whose key ``earlier`` is true were measured with an earlier version, and stand in the picture alone.
    """
    data = _data(args.data)
    data["curves"] = {name: curve for name, curve in data["curves"].items() if not curve.get("earlier")}
    makers = (curve_table, study_table, schedule_table, answers_table)
    for part, make in zip(TABLES, makers, strict=True):
        begin, end = (f"<!-- {part}: {edge} -->" for edge in ("begin", "end"))
        pages = [page for page in args.pages if begin in page.read_text() and end in page.read_text()]
        if not pages:
            names = ", ".join(map(str, args.pages))
            raise InputError(f"{names}: expected the lines {begin} and {end}, found none")
        between = f"{begin}\n\n{make(data[part])}\n\n{end}"
        for page in pages:
            text = re.sub(
                f"{begin}.*?{end}", lambda _, between=between: between, page.read_text(), flags=re.DOTALL
            )
            replace_text(page, text)


def _answered(job: Job, found: Abstraction, share: float, deals: list[float]) -> list[dict[str, Any]]:
    """Solve in memory with a share of CFR-BR; return the exploitability and times after each number of deals."""
    cfr, points = sampled_cfr(job, found, 1, cfr_br=share), []
    game = real_game(job, found, cfr)
    cfr.run(1)  # machine code is loaded
    spent = 0.0
    for n in map(int, deals):
        started = time.process_time()
        cfr.run(n - cfr.iteration)
        spent += time.process_time() - started
        finding = game.judge(None)
        assert finding is not None  # nobody stops it
        judged = _judged(finding, 1000 / job.rules.big_blind)
        points.append({"deals": n, "core_seconds": spent, **judged})
    return points


def _studied(job: Job, found: Abstraction, budgets: list[float]) -> list[dict[str, Any]]:
    """Solve in memory with an abstraction; return exploitability and sizes after each budget of core-seconds."""
    cfr, points = sampled_cfr(job, found, 1), []
    game = real_game(job, found, cfr)
    cfr.run(1)  # machine code is loaded
    spent = 0.0
    for budget in budgets:
        while spent < budget:
            started = time.process_time()
            cfr.run(64)
            spent += time.process_time() - started
        finding = game.judge(None)
        assert finding is not None  # nobody stops it
        numbers = cfr.numbers
        size = sum(array.nbytes for pair in (*numbers.regrets, *numbers.sums) for array in pair)
        points.append(
            {
                "core_seconds": budget,
                "deals": cfr.iteration,
                "visits": float(np.median(numbers.visits[-1][0])),
                "table_mib": size / 2**20,
                "classes": found.n_board_buckets[-1],
                **_judged(finding, 1000 / job.rules.big_blind),
            }
        )
    return points


def _spent(folder: Path, data: Path, name: str, threads: int) -> float:
    """Return the core-seconds that the solve in a folder has taken so far.

    The data file has the core-seconds at the last measurement or interruption. The time since then (after a crash) is
    estimated as the seconds of the solve times its threads, which is an upper bound.
    """
    if not holds_store(folder):
        return 0.0
    known = _data(data).get("learnt", {}).get(name) or _curve(data, name)["points"][-1:]
    last = known[-1] if known else {"core_minutes": 0.0, "seconds": 0.0}
    return 60 * last["core_minutes"] + threads * max(0.0, _mark(folder).seconds - last["seconds"])


def _mark(folder: Path) -> Mark:
    with open_store(folder, read_only=True) as store:
        return read_mark(store)


def _judged(finding: Any, chips_mbb: float) -> dict[str, float | int | None]:
    """Convert the results of best responses to mbb per hand for the data file; the game's value is for the dealer.

    ``finding`` has the results in chips per hand; a chip is ``chips_mbb`` mbb.
    """
    found = {
        "exploitability_mbb": finding.exploitability,
        "stderr_mbb": finding.stderr,
        "low_mbb": finding.low,
        "high_mbb": finding.high,
        "value_mbb": -finding.value,
        "value_stderr_mbb": finding.value_stderr,
    }
    in_mbb = {key: None if chips is None else chips * chips_mbb for key, chips in found.items()}
    return {**in_mbb, "flops": finding.flops, "judge_core_seconds": finding.seconds}


def _point(judged: ExploitResult) -> dict[str, float | int | None]:
    assert judged.sample is not None  # a whole game with board buckets
    sample = asdict(judged.sample)
    seconds = sample.pop("core_seconds")
    return {"exploitability_mbb": judged.exploitability_mbb, **sample, "judge_core_seconds": seconds}


def _preflop(folder: Path) -> dict[str, float]:
    """Return how often the dealer folds, limps and raises at the first decision, as shares of all hands."""
    with open_policy(folder) as policy:
        decision = policy.decision()
    shares = {"fold": 0.0, "limp": 0.0, "raise": 0.0}
    names = {"fold": "fold", "call": "limp", "check": "limp"}
    for action, share in zip(decision.actions, decision.frequencies.mean(axis=1).tolist(), strict=True):
        shares[names.get(action.label, "raise")] += share
    return shares


def _curve(path: Path, name: str) -> dict[str, Any]:
    return _data(path)["curves"].get(name, {"points": []})


def _data(path: Path) -> dict[str, Any]:
    if path.exists():
        return json.loads(path.read_text())
    return {"curves": {}, "study": [], "schedules": [], "answers": []}


def _keep(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Let a function change the contents of the data file; a killed process leaves the old file intact."""
    data = _data(path)
    change(data)
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_text(path, json.dumps(data, indent=1) + "\n")


def _numbers(text: str) -> list[float]:
    return sorted(float(part) for part in text.split(","))


if __name__ == "__main__":
    as_command(main)
