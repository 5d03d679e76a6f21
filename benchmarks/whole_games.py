"""Whole games solved by dealt boards: how fast, how exploitable after how long, and with which abstraction.

    python benchmarks/whole_games.py speed [JOB] [--seconds 10] [--rounds 5] [--flops 3] [--quick]
    python benchmarks/whole_games.py curve JOB FOLDER [--minutes 10,60,240] [--flops 20] [--seed 1] [--set ...]
    python benchmarks/whole_games.py study [--seconds 30,120] [--quick]
    python benchmarks/whole_games.py schedules [--deals 32768]
    python benchmarks/whole_games.py answers [--deals 16384,32768]
    python benchmarks/whole_games.py tables
    python benchmarks/whole_games.py plot

Times are processor time, all threads together, so that work beside them does not count. ``speed`` lets one thread and
two deal in turn, on the same tables, and judges flops. ``curve`` solves a job in a folder and judges what was saved
after each budget of core-minutes, always on the same flops; it goes on where it was killed or interrupted. ``study``
solves flop-holdem with one abstraction after another for the same core-seconds, in memory, and judges each on all
flops; ``schedules`` with one weighing of earlier visits after another, for as many deals; ``answers`` against an
opponent who answers best on the dealt board, more or less. All are kept in a data file
as they go (``--data``), from which ``tables`` writes the tables of docs/whole-games.md, and ``plot`` its picture.
"""

import argparse
import json
import re
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np

from buckets import Abstraction, Wish
from lockers import holds_store, open_store
from solvers.sampled.engine import DEFAULT_SCHEDULE, SampledCfr
from solvers.sampled.numbers import Numbers
from solvers.sampled.passes import Schedule
from spewy import Job, open_policy
from spewy.chunks.abstractions import abstraction
from spewy.chunks.rounds import line_forests
from spewy.learn.real_game import RealGame, rows_know_suits
from spewy.learn.sampled import PORTION_SECONDS
from spewy.look.judging import JudgingCost, judge_folder
from spewy.look.status import status_of
from spewy.records.class_numbers import Mark, read_mark
from spewy.run.sampled_plan import wish_of
from spewy.run.session import Session
from spewy.run.warmup import warm_up
from spewy.run.reporter import Silent
from spewy.system.interrupts import INTERRUPTED, interruptible
from spewy.system.textfile import replace_text

ROOT = Path(__file__).resolve().parent.parent
DATA, PAGE = ROOT / "docs/data/whole-games.json", ROOT / "docs/whole-games.md"
PICTURE = ROOT / "docs/whole-games.png"
CASES = ((20, 800), (40, 400), (80, 200), (40, "all"))
"""Rows and classes of the flop; the first three have equal tables."""
SCHEDULES = (
    Schedule(averaging=1, forgetting=0, sinking=-1),
    Schedule(averaging=2, forgetting=0, sinking=-1),
    Schedule(averaging=2, forgetting=1, sinking=-1),
    Schedule(averaging=2, forgetting=0, sinking=0),
    Schedule(averaging=1, forgetting=0, sinking=0.5),
    Schedule(averaging=2, forgetting=0, sinking=0.5),
    Schedule(averaging=2, forgetting=0, sinking=1),
)
ANSWERED = ((50, 20), (100, 20), (400, 40))
"""Classes and rows of the flop that `answers` compares."""
ANSWERS = (0.0, 0.1, 0.25, 0.5)
SEED = 1
"""Of the deals of `speed`, `study`, `schedules` and `answers`."""


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    one = commands.add_parser("speed", help="deals per core-second, and core-seconds of a judged flop")
    one.add_argument("job", nargs="?", type=Path, default=ROOT / "examples/limit-holdem.toml")
    one.add_argument("--seconds", type=float, default=10, help="of wall time for each number of threads")
    one.add_argument("--rounds", type=int, default=5, help="of taking turns")
    one.add_argument("--flops", type=int, default=3, help="to judge")
    one.add_argument("--quick", action="store_true", help="flop-holdem, one round of a second")
    one.set_defaults(run=speed)

    one = commands.add_parser("curve", help="exploitability after budgets of core-minutes")
    one.add_argument("job", type=Path)
    one.add_argument("folder", type=Path, help="of the solve; one that is there goes on")
    one.add_argument("--minutes", type=_numbers, default=[10, 60, 240], help="budgets of core-minutes")
    one.add_argument("--flops", type=int, default=20, help="to judge on, 0: all")
    one.add_argument("--seed", type=int, default=1, help="of the flops")
    one.add_argument("--set", action="append", default=[], dest="changes", metavar="KEY=VALUE")
    one.add_argument("--name", help="of the curve in the data; by default the folder's")
    one.add_argument(
        "--start-from", type=Path, metavar="FOLDER", help="of another curve, which this one takes over"
    )
    one.add_argument("--start-name", metavar="NAME", help="of that curve; by default its folder's")
    one.add_argument("--data", type=Path, default=DATA)
    one.set_defaults(run=curve)

    one = commands.add_parser("study", help="abstractions of flop-holdem, judged on all flops")
    one.add_argument("--seconds", type=_numbers, default=[30, 120], help="core-seconds, ascending")
    one.add_argument(
        "--quick", action="store_true", help="the first abstraction, a core-second; nothing is kept"
    )
    one.add_argument("--data", type=Path, default=DATA)
    one.set_defaults(run=study)

    one = commands.add_parser(
        "schedules", help="how much earlier visits count, on flop-holdem, judged on all flops"
    )
    one.add_argument("--deals", type=int, default=32768)
    one.add_argument("--data", type=Path, default=DATA)
    one.set_defaults(run=schedules)

    one = commands.add_parser(
        "answers", help="opponents who answer best on the dealt flop, on flop-holdem, judged on all flops"
    )
    one.add_argument("--deals", type=_numbers, default=[16384, 32768], help="ascending")
    one.add_argument("--data", type=Path, default=DATA)
    one.set_defaults(run=answers)

    one = commands.add_parser("tables", help="write the tables of docs/whole-games.md from the data")
    one.add_argument("--data", type=Path, default=DATA)
    one.add_argument("--page", type=Path, default=PAGE)
    one.set_defaults(run=tables)

    one = commands.add_parser("plot", help="draw the curves of each game")
    one.add_argument("--data", type=Path, default=DATA)
    one.add_argument("--out", type=Path, default=PICTURE)
    one.set_defaults(run=plot)

    args = parser.parse_args(argv)
    return int(args.run(args) or 0)


def speed(args: argparse.Namespace) -> None:
    """One thread against two on the same tables, dealing alone, and judged flops."""
    if args.quick:
        args.job, args.seconds, args.rounds = ROOT / "examples/flop-holdem.toml", 1.0, 1
    job = Job.load(args.job)
    found = abstraction(_wish(job), _counted("boards"))
    solves = [_cfr(job, found, 1)]
    solves.append(_cfr(job, found, 2, solves[0].numbers))
    game = _game(job, found, solves[0])
    paces: list[list[tuple[float, float]]] = [[], []]
    for cfr in solves:
        cfr.run(16)  # machine code is loaded
    for _ in range(args.rounds):
        for cfr, mine in zip(solves, paces, strict=True):
            mine.append(_pace(cfr, args.seconds))
    dealing = _dealing_seconds(found)
    for cfr in solves:
        cfr.close()
    print(f"{job.name}: {', '.join(f'{k:,}' for k in found.n_classes)} classes by round\n")
    print("| threads | deals per core-second | deals per second |\n|---|---|---|")
    rates = [[statistics.median(column) for column in zip(*mine, strict=True)] for mine in paces]
    for cfr, (per_core, per_second) in zip(solves, rates, strict=True):
        print(f"| {cfr.threads} | {per_core:,.1f} | {per_second:,.1f} |")
    gain = statistics.median(b[1] / a[1] for a, b in zip(*paces, strict=True))
    print(f"\ntwo threads deal {gain:.2f} times as fast as one")
    print(f"a deal takes {1e3 / rates[0][0]:.3f} ms of a core, {1e3 * dealing:.3f} ms of it to be dealt")
    desk, drawn = game.desk(), game.drawn(args.flops, SEED)
    firsts = game.to_judge(drawn)[: args.flops]
    game.flop(firsts[0], desk)  # machine code is loaded
    judged = statistics.mean(game.flop(first, desk).seconds for first in firsts)
    print(f"a flop takes {judged:.3g} core-seconds to judge (mean of {len(firsts)})")


def curve(args: argparse.Namespace) -> int:
    """Solve for one budget after another, and judge after each."""
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
            stop = _Budget(60 * minutes - spent, interrupted)
            with Session(job, args.folder, start_from=args.start_from) as session:
                result = session.solve(_Notes(), stop)
            if interrupted.is_set():
                return INTERRUPTED
            spent += stop.spent
            learnt = [{"core_minutes": spent / 60, "seconds": _mark(args.folder).seconds}]
            _keep(args.data, lambda data, learnt=learnt: data.setdefault("learnt", {}).update({name: learnt}))
            judged = judge_folder(args.folder, _Flops(), flops=args.flops or None, seed=args.seed)
            point = {
                "budget": minutes,
                "core_minutes": spent / 60,
                "seconds": _mark(args.folder).seconds,
                "deals": result.sweeps,
                **_judged(judged.finding, judged.chips_mbb),
                "seed": args.seed,
                **_preflop(args.folder),
                "visits": (status_of(args.folder).visits or ((0, 0.0),))[-1][1],
                "deals_per_core_second": result.sweeps / spent,
            }
            kept["points"].append(point)
            classes, rows = job.dealing.classes, job.dealing.rows
            kept |= {"job": job.name, "classes": list(classes[1:]), "rows": list(rows[1:])}
            _keep(args.data, lambda data, kept=kept: data["curves"].update({name: kept}))
            _note(_curve_table({name: kept}).splitlines()[-1])
    print(_curve_table({name: _curve(args.data, name)}))
    return 0


def study(args: argparse.Namespace) -> None:
    """One abstraction after another."""
    if args.quick:
        args.seconds = [1.0]
    job = Job.load(ROOT / "examples/flop-holdem.toml")
    features: dict[str, Any] = {}
    found = []
    for rows, classes in CASES[:1] if args.quick else CASES:
        _note(f"{classes} classes, {rows} rows")
        wish = replace(_wish(job), classes=("all", classes), rows=(169, rows))
        points = _studied(job, Abstraction.of(wish, kept=features), args.seconds)
        found.append({"rows": rows, "classes": classes, "points": points})
        if not args.quick:
            _keep(args.data, lambda data: data.update(study=found))
    print(_study_table(found))


def schedules(args: argparse.Namespace) -> None:
    """One schedule after another, for as many deals each."""
    job = Job.load(ROOT / "examples/flop-holdem.toml")
    made, found = abstraction(_wish(job), _counted("boards")), []
    for schedule in SCHEDULES:
        cfr = _cfr(job, made, 1, schedule=schedule)
        cfr.run(args.deals)
        finding = _game(job, made, cfr).judge(None)
        assert finding is not None  # nobody stops it
        judged = _judged(finding, 1000 / job.rules.big_blind)
        found.append({**schedule._asdict(), "deals": args.deals, **judged})
        _note(_schedule_table(found).splitlines()[-1])
        _keep(args.data, lambda data: data.update(schedules=found))
    print(_schedule_table(found))


def answers(args: argparse.Namespace) -> None:
    """One abstraction after another, with more and more answers."""
    job = Job.load(ROOT / "examples/flop-holdem.toml")
    found = []
    for classes, rows in ANSWERED:
        wish = replace(_wish(job), classes=("all", classes), rows=(169, rows))
        made = abstraction(wish, _counted("boards"))
        for share in ANSWERS:
            points = _answered(job, made, share, args.deals)
            found.append({"classes": classes, "rows": rows, "answers": share, "points": points})
            _note(_answers_table(found).splitlines()[-1])
            _keep(args.data, lambda data: data.update(answers=found))
    print(_answers_table(found))


def tables(args: argparse.Namespace) -> None:
    """Write the page's tables, each between the two comments that name it."""
    data = _data(args.data)
    page = args.page.read_text()
    parts = {
        "curves": _curve_table(data["curves"]),
        "study": _study_table(data["study"]),
        "schedules": _schedule_table(data["schedules"]),
        "answers": _answers_table(data["answers"]),
    }
    for part, text in parts.items():
        begin, end = (f"<!-- {part}: {edge} -->" for edge in ("begin", "end"))
        if begin not in page or end not in page:
            raise SystemExit(f"{args.page}: expected the lines {begin} and {end}, found none")
        between = f"{begin}\n\n{text}\n\n{end}"
        page = re.sub(f"{begin}.*?{end}", lambda _, between=between: between, page, flags=re.DOTALL)
    replace_text(args.page, page)


def _wish(job: Job) -> Wish:
    if job.dealing is None:
        raise SystemExit(f"{job.name}: expected a job with [boards], found none")
    return wish_of(job.rules, job.dealing)


def _cfr(
    job: Job,
    found: Abstraction,
    threads: int,
    numbers: Numbers | None = None,
    schedule: Schedule = DEFAULT_SCHEDULE,
) -> SampledCfr:
    warm_up("sampled", found.n_rounds, job.solve.short, _note)
    return SampledCfr(
        [one.forest for one in line_forests(job.betting_tree)],
        found.n_classes,
        found.n_rows,
        found.n_hands,
        len(found.deck) - sum(found.board_sizes),
        lambda first, n: found.deal(SEED, range(first, first + n)),
        schedule=schedule,
        threads=threads,
        short=job.solve.short,
        numbers=numbers,
    )


def _game(job: Job, found: Abstraction, cfr: SampledCfr) -> RealGame:
    return RealGame(
        job.rules,
        [one.forest for one in line_forests(job.betting_tree)],
        cfr.strips,
        found,
        found.n_classes,
        found.n_rows,
        cfr.numbers.sums,
        symmetric=not rows_know_suits(found.arrays),
    )


def plot(args: argparse.Namespace) -> None:
    """Draw exploitability against core-minutes, a chart for each game."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    by_game: dict[str, dict[str, Any]] = {}
    for name, found in _data(args.data)["curves"].items():
        by_game.setdefault(found["job"], {})[name] = found
    figure = Figure(figsize=(5.6 * len(by_game), 4.2), layout="constrained")
    charts = figure.subplots(1, len(by_game), squeeze=False)
    for ax, (game, curves) in zip(charts[0], by_game.items(), strict=True):
        for (name, found), marker in zip(curves.items(), "osD^vP", strict=False):
            points = found["points"]
            label = (
                f"{name.removeprefix(game).lstrip(', ') or 'deals'}, {'/'.join(map(str, found['classes']))}"
            )
            ax.errorbar(
                [point["core_minutes"] for point in points],
                [point["exploitability_mbb"] for point in points],
                [point["stderr_mbb"] or 0.0 for point in points],
                label=label,
                marker=marker,
                capsize=3,
            )
        ax.set(xscale="log", yscale="log", xlabel="core-minutes", title=game)
        for axis in (ax.xaxis, ax.yaxis):
            low, high = axis.get_view_interval()
            middle = (low * high) ** 0.5  # few points need not fill the chart
            axis.set_view_interval(min(low, middle / 3), max(high, 3 * middle), ignore=True)
            axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axis.set_major_formatter(StrMethodFormatter("{x:g}"))
            axis.set_minor_formatter(NullFormatter())
        ax.grid(which="both", alpha=0.2)
        ax.legend(fontsize=8)
    charts[0][0].set_ylabel("exploitability, mbb per hand")
    figure.savefig(args.out, dpi=110)


def _pace(cfr: SampledCfr, seconds: float) -> tuple[float, float]:
    """Deals per core-second and per second, in portions as a solve has them."""
    core, begun, first, few = time.process_time(), time.perf_counter(), cfr.iteration, 1
    while (took := time.perf_counter() - begun) < seconds:
        started = time.perf_counter()
        cfr.run(few)
        few = max(1, min(2 * few, int(few * PORTION_SECONDS / (time.perf_counter() - started))))
    deals = cfr.iteration - first
    return deals / (time.process_time() - core), deals / took


def _dealing_seconds(found: Abstraction, n: int = 2000) -> float:
    """Of a core, for a deal with its classes, rows and order of hands."""
    out = found.room(16)
    found.deal(SEED, range(16), out)
    started = time.process_time()
    for first in range(0, n, 16):
        found.deal(SEED, range(first, first + 16), out)
    return (time.process_time() - started) / n


def _answered(job: Job, found: Abstraction, share: float, deals: list[float]) -> list[dict[str, Any]]:
    """What a share of answers comes to after each number of deals."""
    cfr, points = _cfr(job, found, 1, schedule=DEFAULT_SCHEDULE._replace(answering=share)), []
    game = _game(job, found, cfr)
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
    """What one abstraction comes to after each budget."""
    cfr, points = _cfr(job, found, 1), []
    game = _game(job, found, cfr)
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
                "classes": found.n_classes[-1],
                **_judged(finding, 1000 / job.rules.big_blind),
            }
        )
    return points


@dataclass
class _Budget:
    """Ends a solve after so many core-seconds, or when a signal comes; counted from the first time it is asked."""

    seconds: float
    interrupted: Event
    begun: float | None = None

    def is_set(self) -> bool:
        """Whether to stop."""
        if self.begun is None:
            self.begun = time.process_time()
        return self.interrupted.is_set() or self.spent >= self.seconds

    @property
    def spent(self) -> float:
        """Core-seconds."""
        return 0.0 if self.begun is None else time.process_time() - self.begun


class _Notes(Silent):
    """Hears a solve."""

    def note(self, text: str) -> None:
        """Tell it."""
        _note(text)


class _Flops:
    """Hears a judge."""

    def begin(self, name: str, cost: JudgingCost) -> None:
        """Before the first flop."""
        _note(f"{name}: {cost.to_judge:,} flops to judge")

    def judged(self, board: str, seconds: float, done: int, total: int, seconds_left: float) -> None:
        """After each flop."""
        if total < 100 or done % 100 == 0:
            _note(f"flop {done:,} of {total:,}: {seconds:.1f} s")


def _spent(folder: Path, data: Path, name: str, threads: int) -> float:
    """Core-seconds behind what a folder holds; since they were known last at most its seconds times threads."""
    if not holds_store(folder):
        return 0.0
    known = _data(data).get("learnt", {}).get(name) or _curve(data, name)["points"][-1:]
    last = known[-1] if known else {"core_minutes": 0.0, "seconds": 0.0}
    return 60 * last["core_minutes"] + threads * max(0.0, _mark(folder).seconds - last["seconds"])


def _mark(folder: Path) -> Mark:
    with open_store(folder, read_only=True) as store:
        return read_mark(store)


def _judged(finding: Any, chips_mbb: float) -> dict[str, float | int | None]:
    """What a judge found, in mbb per hand; the value is the dealer's."""
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


def _preflop(folder: Path) -> dict[str, float]:
    """What the dealer does first, over all hands."""
    with open_policy(folder) as policy:
        decision = policy.decision()
    shares = {"fold": 0.0, "limp": 0.0, "raise": 0.0}
    names = {"Fold": "fold", "Call": "limp", "Check": "limp"}
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
    """Change the data file; whoever kills it meanwhile finds the old one."""
    data = _data(path)
    change(data)
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_text(path, json.dumps(data, indent=1) + "\n")


def _curve_table(curves: dict[str, Any]) -> str:
    lines = [
        "| run | classes × rows | core-minutes | deals | visits of a last class | exploitability (low, high), mbb "
        "| flops | dealer's value, mbb | dealer fold / limp / raise | deals per core-second |",
        "|---" * 10 + "|",
    ]
    for name, found in curves.items():
        for k, point in enumerate(found["points"]):
            head = f"{name} | {_sizes(found)}" if not k else " | "
            played = " / ".join(_told(point[action], ".3f") for action in ("fold", "limp", "raise"))
            lines.append(
                f"| {head} | {_told(point['core_minutes'], '.3g')} | {point['deals']:,} "
                f"| {_told(point['visits'], ',.0f')} | {_exploitability(point)} | {point['flops']:,} "
                f"| {_with_error(point['value_mbb'], point['value_stderr_mbb'])} | {played} "
                f"| {_told(point['deals_per_core_second'], '.0f')} |"
            )
    return "\n".join(lines)


def _study_table(found: list[dict[str, Any]]) -> str:
    lines = [
        "| classes × rows | tables, MiB | core-seconds | deals | visits of a class "
        "| exploitability, mbb | dealer's value, mbb |",
        "|---" * 7 + "|",
    ]
    for case in found:
        for k, point in enumerate(case["points"]):
            size = f"{point['classes']:,} × {case['rows']} | {point['table_mib']:.1f}"
            lines.append(
                f"| {size if not k else ' | '} | {point['core_seconds']:g} | {point['deals']:,} "
                f"| {point['visits']:,.0f} | {_exploitability(point)} | {point['value_mbb']:.1f} |"
            )
    return "\n".join(lines)


def _schedule_table(found: list[dict[str, Any]]) -> str:
    lines = [
        "| regrets below 0 | all regrets | averages | deals | exploitability, mbb | dealer's value, mbb |"
    ]
    lines.append("|---" * 6 + "|")
    for case in found:
        s, f, a = case["sinking"], case["forgetting"], case["averaging"]
        below = "cut off at 0" if s < 0 else "halved" if s == 0 else f"times n^{s:g} / (n^{s:g} + 1)"
        kept = "kept" if not f else f"times n^{f:g} / (n^{f:g} + 1)"
        lines.append(
            f"| {below} | {kept} | n^{a:g} | {case['deals']:,} | {case['exploitability_mbb']:.2f} "
            f"| {case['value_mbb']:.1f} |"
        )
    return "\n".join(lines)


def _answers_table(found: list[dict[str, Any]]) -> str:
    lines = [
        "| classes × rows | `answers` | deals | core-seconds | exploitability, mbb | dealer's value, mbb |"
    ]
    lines.append("|---" * 6 + "|")
    for case in found:
        for point in case["points"]:
            lines.append(
                f"| {case['classes']} × {case['rows']} | {case['answers']:g} | {point['deals']:,} "
                f"| {point['core_seconds']:.0f} | {_exploitability(point)} | {point['value_mbb']:.1f} |"
            )
    return "\n".join(lines)


def _sizes(found: dict[str, Any]) -> str:
    classes, rows = (["all" if k is None else k for k in found[key]] for key in ("classes", "rows"))
    same = str(rows[0]) if len(set(rows)) == 1 else "/".join(map(str, rows))
    return f"{'/'.join(map(str, classes))} × {same}"


def _exploitability(point: dict[str, Any]) -> str:
    told = _with_error(point["exploitability_mbb"], point["stderr_mbb"])
    if point["low_mbb"] is None or point["stderr_mbb"] is None:
        return told
    return f"{told} ({point['low_mbb']:.0f}, {point['high_mbb']:.0f})"


def _with_error(value: float | None, error: float | None) -> str:
    return _told(value, ".1f") if error is None else f"{value:.0f} ± {error:.0f}"


def _told(value: float | None, form: str) -> str:
    return "–" if value is None else format(value, form)


def _counted(what: str) -> Callable[[int, int], None]:
    """Tells progress, at most every five seconds."""
    told = [time.monotonic()]

    def tell(done: int, of: int) -> None:
        if time.monotonic() - told[0] > 5:
            told[0] = time.monotonic()
            _note(f"{done:,} of {of:,} {what}")

    return tell


def _numbers(text: str) -> list[float]:
    """Ascending numbers with commas between them."""
    return sorted(float(part) for part in text.split(","))


def _note(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
