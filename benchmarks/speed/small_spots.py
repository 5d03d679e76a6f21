"""Time to solve small spots in a process that is warmed up, as bots and batches do thousands of times.

    python -m benchmarks.speed.small_spots [--rivers 10] [--turns 5] [--flops 5] [--repeat 30] [--against CHECKOUT]
        [--batch 10000] [--quick]
    python -m benchmarks.speed.small_spots --classes [--repeat 30] [--against CHECKOUT]

`random_spot` makes each spot from a seed of `SEEDS`. One thread solves it to 0.1 % of the pot within milliseconds, a
flop within a quarter of a second. Each is solved ``--repeat`` times with one worker and with two, alone and while
another process keeps one core busy. "solve" is the median time of the iterations, "all" that of a whole `Session`, in
ms. ``--against`` also measures another checkout of this project, in alternation; a "ratio" is its time divided by the
time of this checkout. At the end, each river's ranges are solved on 200 boards in one process: in one call of
`spewy.solve_rivers`, and for comparison by a `Session` on each board. The second table has the mean processor time for
each board in ms. The last table has a batch of ``--batch`` rivers, each with ranges of its own, in one call of
`spewy.solve_rivers` with one thread and with two, and a tenth as many with all hands. "iterations alone" is the rate
of the iterations and checks of `ExactCfr` on 200 of these rivers, without anything else. ``--rivers 0 --turns 0 --flops
0`` measures only the batch.

``--classes`` solves 44 rivers, 15 turns and six flops instead (``--flops 0``: no flops). Spots whose iterations take
about as long are a class, whose figures are medians. "iterations" is the shortest time of a spot's iterations (or
their processor time, if that is shorter), "whole" the processor time of a whole `Session`, with one worker.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import subprocess
import sys
import time
from bisect import bisect
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks.command import as_command
from benchmarks.paths import ROOT
from buckets.cards import cards_name
from solvers.discount import variant
from solvers.exact import ExactCfr
from spewy import Job, Session, solve_rivers
from spewy.game.ranges.range import combo_name

SEEDS = {
    "river": (1, 2, 3, 4, 5, 6, 7, 8, 9, 10),
    "turn": (1, 5, 7, 8, 9),
    "flop": (32, 92, 118, 124, 135),
}
"""Seeds of the spots; other seeds give larger turns and flops."""
MANY = {"river": range(1, 45), "turn": range(1, 16), "flop": (*SEEDS["flop"], 31)}
"""Seeds of the spots that ``--classes`` solves."""
CLASSES = 0.2, 0.5, 1.0, 5.0, 20.0
"""Upper bounds in ms of the iterations of a class of spots; the last class has no bound."""
FEWER = {"river": 1, "turn": 3, "flop": 10}
"""Factor by which longer spots are solved fewer times."""
MOST_HANDS = {"river": 150, "turn": 40, "flop": 12}
"""Largest number of hands of a random range."""
N_CARDS = {"river": 5, "turn": 4, "flop": 3}
"""Number of board cards at the beginning of a spot."""
WORK = """
import json, sys, time
from statistics import median
from spewy import Job, Session
def once(job):
    started, used = time.perf_counter(), time.process_time()
    session, marks = Session(job), {}
    def mark(event):
        name = type(event).__name__
        if name == "Checked" or name not in marks:
            marks[name] = time.process_time()
    result = session.solve(mark)
    session.close()
    whole, used = time.perf_counter() - started, time.process_time() - used
    alone = marks["Checked"] - marks["Stated"]  # the first status comes before the first sweep
    return result.seconds["solve"], whole, used, min(alone, result.seconds["solve"]), result.sweeps
for line in sys.stdin:
    data, workers, repeat = json.loads(line)
    job = Job.of(data | {"solve": data["solve"] | {"workers": workers}})
    once(job)
    runs = [once(job) for _ in range(repeat)]
    medians = [1e3 * median(run[k] for run in runs) for k in (0, 1, 2)]
    print(json.dumps([*medians, 1e3 * min(run[3] for run in runs), runs[0][4]]), flush=True)
"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rivers", type=int, default=10, help="number of rivers to solve")
    parser.add_argument("--turns", type=int, default=5, help="number of turns to solve")
    parser.add_argument("--flops", type=int, default=5, help="number of flops to solve")
    parser.add_argument(
        "--repeat",
        type=int,
        default=30,
        help="number of solves of each river; of turns a third, of flops a tenth",
    )
    parser.add_argument(
        "--against", type=Path, help="folder of another checkout of this project, whose time is measured too"
    )
    parser.add_argument("--batch", type=int, default=10_000, help="number of rivers in the batch at the end")
    parser.add_argument(
        "--quick",
        action="store_true",
        help="run a short benchmark: two rivers and a turn, solved five times each",
    )
    parser.add_argument(
        "--classes", action="store_true", help="print one line for each class of spots with similar sizes"
    )
    options = parser.parse_args()
    if options.classes:
        checkouts = [ROOT] + ([options.against] if options.against else [])
        kinds = [kind for kind in MANY if getattr(options, f"{kind}s")]
        for line in by_class(kinds, [Solver(checkout) for checkout in checkouts], options.repeat):
            print(line, flush=True)
        return
    if options.quick:
        options.rivers, options.turns, options.flops, options.repeat, options.batch = 2, 1, 0, 5, 500
    ours = Solver(ROOT)
    solvers = [ours] + ([Solver(options.against)] if options.against else [])
    rivers = small_spots("river", options.rivers)
    spots = [("river", *spot) for spot in rivers]
    for kind, n in (("turn", options.turns), ("flop", options.flops)):
        spots += [(kind, *spot) for spot in small_spots(kind, n)]
    print(
        "| spot | sweeps | workers | other processes | solve ms | all ms |"
        + " solve ratio | all ratio |" * (len(solvers) > 1)
    )
    print("|---|---|---|---|---|---|" + "---|---|" * (len(solvers) > 1), flush=True)
    ratios: dict[tuple[str, int, str], list[tuple[float, float]]] = {}
    for others in ("none", "one busy"):
        with Busy(others != "none"):
            for (kind, name, data), workers in product(spots, (1, 2)):
                times = alternating(solvers, data, workers, max(1, options.repeat // FEWER[kind]))
                solve, whole, _, _, sweeps = times[0]
                line = f"| {kind} {name} | {sweeps} | {workers} | {others} | {solve:.3f} | {whole:.2f} |"
                if len(solvers) > 1:
                    pair = times[1][0] / solve, times[1][1] / whole
                    ratios.setdefault((kind, workers, others), []).append(pair)
                    line += f" {pair[0]:.2f} | {pair[1]:.2f} |"
                print(line, flush=True)
    for (kind, workers, others), pairs in ratios.items():
        solve, whole = (median(pair[k] for pair in pairs) for k in (0, 1))
        print(
            f"{kind}s, {workers} worker(s), other processes: {others}; "
            f"median ratio {solve:.2f} (solve), {whole:.2f} (all)"
        )
    print("\n| river | on boards | one call, ms a river | sessions, ms a river |")
    print("|---|---|---|---|")
    for name, data in rivers:
        n = 20 if options.quick else 200
        one_call, sessions = in_one_call(data, n)
        print(f"| {name} | {n} | {one_call:.3f} | {sessions:.2f} |", flush=True)
    print(
        "\n| rivers | hands of a player | threads | EVs of single actions | rivers a second | rivers a core-second | "
        "iterations alone, a core-second |"
    )
    print("|---|---|---|---|---|---|---|")
    for line in batch(options.batch):
        print(line, flush=True)


def by_class(kinds: list[str], solvers: list[Solver], repeat: int) -> Iterator[str]:
    """Solve the spots of `MANY`, and yield a table's lines, one for each kind of spot and class of sizes.

    With two solvers, the line also has the times of the second one divided by those of the first.
    """
    spots: dict[tuple[str, int], list[list[float]]] = {}
    for kind, seed in [(each, seed) for each in kinds for seed in MANY[each]]:
        data, n = random_spot(kind, seed), max(1, repeat // FEWER[kind] // 3)
        times = alternating(solvers, data, 1, n)
        _, _, whole, solve, sweeps = times[0]
        figures = [sweeps, solve, whole, whole / solve]
        figures += [each[k] / times[0][k] for each in times[1:] for k in (3, 2)]
        spots.setdefault((kind, bisect(CLASSES, solve)), []).append(figures)
    compared = len(solvers) > 1
    yield (
        "| spots | iterations | number | sweeps | iterations, ms | whole, ms | whole / iterations |"
        + " before / now: iterations | whole |" * compared
    )
    yield "|---|---|---|---|---|---|---|" + "---|---|" * compared
    bounds = [f"below {bound:g} ms" for bound in CLASSES] + [f"{CLASSES[-1]:g} ms or more"]
    for (kind, size), rows in sorted(spots.items(), key=lambda item: (kinds.index(item[0][0]), item[0][1])):
        sweeps, solve, whole, *ratios = (median(column) for column in zip(*rows, strict=True))
        line = f"| {kind}s | {bounds[size]} | {len(rows)} | {sweeps:.0f} | {solve:.3g} | {whole:.3g} |"
        yield line + "".join(f" {ratio:.2f} |" for ratio in ratios)


def batch(n: int) -> Iterator[str]:
    """Solve random rivers in one call, with one thread and with two; yield a table's lines.

    Ranges of n rivers have 10 to 150 hands; ranges of n / 10 more rivers have all 1,326 with random weights.
    """
    data, job = random_spot("river", 1), Job.of(random_spot("river", 1))
    for name, number in (("10 to 150", n), ("all 1,326", n // 10)):
        rng = np.random.default_rng(1)
        boards = np.array([rng.choice(52, 5, replace=False) for _ in range(number)])
        oop, ip = (np.zeros((number, 1326)) for _ in range(2))
        for weights in (oop, ip):
            for row in weights:
                if number < n:
                    row[:] = rng.uniform(size=1326)
                    continue
                many = int(np.exp(rng.uniform(np.log(10), np.log(150))))
                row[rng.choice(1326, many, replace=False)] = 1.0
        solve_rivers(job, boards[:1], oop[:1], ip[:1])  # loads the machine code
        alone = f"{iterations_alone(data, boards[:200], oop, ip):,.0f}" if number == n else "–"
        for workers, every in ((1, False), (2, False), (2, True)):
            started, used = time.perf_counter(), time.process_time()
            solve_rivers(job, boards, oop, ip, workers=workers, every_action=every)
            seconds, core_seconds = time.perf_counter() - started, time.process_time() - used
            rates = f"{number / seconds:,.0f} | {number / core_seconds:,.0f}"
            yield f"| {number} | {name} | {workers} | {'all' if every else 'none'} | {rates} | {alone} |"


def iterations_alone(data: dict, boards: np.ndarray, oop: np.ndarray, ip: np.ndarray) -> float:
    """Solve each river by an `ExactCfr`; return the number of rivers per core-second of iterations and checks.

    ``oop`` and ``ip`` are the ranges ``[river, hand]``.
    """
    used = 0.0
    for k, board in enumerate(boards):
        first, second = (",".join(map(combo_name, np.flatnonzero(own[k]).tolist())) for own in (oop, ip))
        spot = data["spot"] | {"board": cards_name(board), "oop": first, "ip": second}
        with Session(Job.of(data | {"spot": spot})) as session:
            plan = session.plan
            solver = ExactCfr(plan.layout.live, variant(plan.setup.variant))
            before = time.process_time()
            solver.run_to(session.stopping.target, 100_000, 10)
            used += time.process_time() - before
            solver.close()
    return len(boards) / used


def in_one_call(data: dict, n: int) -> tuple[float, float]:
    """Solve the river of job ``data`` on n random boards, by one call of `solve_rivers`, then by a `Session` per board.

    Returns:
        Milliseconds of processor time per board, of both ways.
    """
    job, rng = Job.of(data), np.random.default_rng(1)
    boards = np.array([rng.choice(52, 5, replace=False) for _ in range(n)])
    ranges = [own.weights for own in job.ranges]
    solve_rivers(job, boards[:1], *ranges)  # loads the machine code
    started = time.process_time()
    solve_rivers(job, boards, *ranges)
    between = time.process_time()
    for board in boards:
        on_board = data["spot"] | {"board": cards_name(board)}
        with Session(Job.of(data | {"spot": on_board, "solve": data["solve"] | {"workers": 1}})) as session:
            session.solve()
    return 1e3 * (between - started) / n, 1e3 * (time.process_time() - between) / n


def alternating(solvers: list, data: dict, workers: int, repeat: int) -> list[list]:
    """Let solvers measure a spot (``data``) in three rounds of alternation, each time with ``repeat`` solves.

    Returns:
        For each solver the medians of what `Solver.time` returns, with ``workers`` workers.
    """
    turns = [[solver.time(data, workers, repeat) for solver in solvers] for _ in range(3)]
    return [[median(turn[s][k] for turn in turns) for k in range(5)] for s in range(len(solvers))]


class Solver:
    """A process that solves spots with the code of one checkout of this project."""

    def __init__(self, checkout: Path) -> None:
        env = os.environ | {"PYTHONPATH": str(checkout.resolve())}
        command = [sys.executable, "-c", WORK]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env, cwd=checkout
        )

    def time(self, data: dict, workers: int, repeat: int) -> list[float]:
        """Solve a spot ``repeat`` times.

        Returns:
            Medians of ms of the iterations, ms in all, and ms of processor time; least ms of the iterations; sweeps.
        """
        self.process.stdin.write(json.dumps([data, workers, repeat]) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


def small_spots(kind: str, n: int) -> list[tuple[str, dict]]:
    """Return the first n small spots of a kind (river, turn or flop); each is a name and the data of a job."""
    spots = [(seed, random_spot(kind, seed)) for seed in SEEDS[kind][:n]]
    return [
        (f"{seed}: {len(data['spot']['oop'].split(','))} x {len(data['spot']['ip'].split(','))}", data)
        for seed, data in spots
    ]


def random_spot(kind: str, seed: int) -> dict:
    """Return the data of a job: a random board, two random ranges of at least 5 hands, and a few bet sizes.

    Args:
        kind: river, turn or flop.
        seed: seed of the random numbers.
    """
    rng = np.random.default_rng(seed)
    cards = [rank + suit for rank in "23456789TJQKA" for suit in "cdhs"]
    order = rng.permutation(52)
    n_cards = N_CARDS[kind]
    board, remaining = [cards[i] for i in order[:n_cards]], [cards[i] for i in order[n_cards:]]
    pairs = [a + b for i, a in enumerate(remaining) for b in remaining[:i]]

    def held() -> str:
        n = int(np.exp(rng.uniform(np.log(5), np.log(MOST_HANDS[kind]))))
        return ",".join(pairs[i] for i in rng.choice(len(pairs), n, replace=False))

    sizes = {
        "bet": str(rng.choice(["50%", "75%", "33%, 100%", "50%, a"])),
        "raise": str(rng.choice(["", "3x", "a"])),
    }
    return {
        "name": f"{kind} {seed}",
        "game": {"file": "holdem.nolimit.2p.reverse_blinds"},
        "spot": {
            "board": " ".join(board), "pot": 100, "stack": int(rng.integers(50, 600)), "oop": held(), "ip": held()
        },
        "bets": dict.fromkeys(("flop", "turn", "river")[n_cards - 3 :], sizes),
        "solve": {"target": "0.1%", "max_sweeps": 100_000},
    }  # fmt: skip


class Busy:
    """A process that keeps a core busy until the block ends; with ``wanted=False`` no process runs."""

    def __init__(self, wanted: bool) -> None:
        self.process = multiprocessing.Process(target=spin, daemon=True) if wanted else None

    def __enter__(self) -> None:
        if self.process:
            self.process.start()
            time.sleep(0.2)

    def __exit__(self, *exc: object) -> None:
        if self.process:
            self.process.terminate()
            self.process.join()


def spin() -> None:
    while True:
        pass


if __name__ == "__main__":
    as_command(main)
