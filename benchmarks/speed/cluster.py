"""Speed of a solve with one thread or process, with two, and on Dask clusters of several processes.

    python -m benchmarks.speed.cluster compare [JOB] [--deals 8192] [--flops all] [--workers 1,2,3]
                                             [--seeds 3] [--set ...] [--quick]
    python -m benchmarks.speed.cluster stored [JOB] [--sweeps 6] [--workers 1,2,3] [--rounds 3] [--set ...] [--quick]

``compare`` solves a whole game from scratch with one thread, with two threads and on each cluster, for a number of
deals and with several seeds of the deals. It measures exploitability, always on the same flops. It prints means over
the seeds: exploitability with its standard error, and deals per second of wall time and of processor time (all
processes together). ``stored`` runs sweeps (each visits every chunk) over a job's stored chunks (see the glossary) with
one process, with two and on each cluster, and repeats these runs --rounds times. Each run gives the mean time of its
sweeps without the first one; ``stored`` prints the median of these times over the repetitions. A cluster is a Dask
scheduler and a number of worker processes.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.command import as_command
from benchmarks.paths import ROOT
from spewy import Job
from spewy.look.judging import judge_folder
from spewy.run.events import Advanced, Event, Stated
from spewy.run.session import Session
from spewy.system.children import start_python


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    compared = commands.add_parser(
        "compare", help="measure speed and exploitability of a whole game with threads and with clusters"
    )
    compared.add_argument(
        "job",
        nargs="?",
        type=Path,
        default=ROOT / "examples/flop-holdem.toml",
        help="job file of a whole game with [boards]",
    )
    compared.add_argument("--deals", type=int, default=8192, help="number of deals of each solve")
    compared.add_argument(
        "--flops", type=int, default=0, help="number of flops on which exploitability is measured; 0: all"
    )
    compared.add_argument(
        "--seeds",
        type=int,
        default=3,
        help="number of solves with each number of workers, each with other random deals",
    )
    stored = commands.add_parser(
        "stored", help="measure the speed of sweeps over stored chunks with processes and with clusters"
    )
    stored.add_argument(
        "job", nargs="?", type=Path, default=ROOT / "examples/T1.toml", help="job file of the solve"
    )
    stored.add_argument("--sweeps", type=int, default=6, help="number of sweeps of each solve")
    stored.add_argument("--rounds", type=int, default=3, help="number of solves with each number of workers")
    for command in (compared, stored):
        command.add_argument(
            "--workers",
            type=_sizes,
            default=[1, 2, 3],
            help="sizes of the clusters to measure (numbers of workers), with commas between them",
        )
        command.add_argument(
            "--set",
            action="append",
            default=[],
            dest="overrides",
            metavar="KEY=VALUE",
            help="set a key of the job file; can be given several times",
        )
        command.add_argument(
            "--quick", action="store_true", help="run a short benchmark with a small game and few repetitions"
        )
    args = parser.parse_args(argv)
    if args.quick:
        args.deals = 300
    if args.command == "compare":
        _compare(args)
    else:
        _stored(args)
    return 0


def _sizes(text: str) -> list[int]:
    return [int(size) for size in text.split(",")]


def _compare(args: argparse.Namespace) -> None:
    if args.quick:
        args.flops, args.seeds, args.workers = 2, 1, [1, 2]
        args.overrides += ["boards.flop=3", "rows.flop=5"]
    rows: dict[str, list[tuple[float, float, float]]] = {}
    for seed in range(1, args.seeds + 1):
        with TemporaryDirectory(prefix="spewy-") as scratch:
            for name, threads in (("one thread", 1), ("two threads", 2)):
                found = _solved(args, seed, [f"solve.workers={threads}"], Path(scratch, name))
                rows.setdefault(name, []).append(found)
            for size in args.workers:
                with _cluster(Path(scratch, str(size)), size) as (address, spent):
                    dask = ['solve.workers="dask"', f'dask.address="{address}"']
                    found = _solved(args, seed, dask, Path(scratch, f"dask {size}"), spent)
                    rows.setdefault(f"Dask, {size}", []).append(found)
    print(
        f"| workers | exploitability after {args.deals:,} deals, mbb | deals per second | deals per core-second |"
    )
    print("|---|---|---|---|")
    for name, points in rows.items():
        mbb, wall, core = np.mean(points, axis=0)
        error = np.std(points, axis=0, ddof=1)[0] / len(points) ** 0.5 if len(points) > 1 else np.nan
        print(f"| {name} | {mbb:.1f} ± {error:.1f} | {wall:,.0f} | {core:,.0f} |")


def _solved(
    args: argparse.Namespace,
    seed: int,
    settings: list[str],
    folder: Path,
    spent: Callable[[], float] = float,
) -> tuple[float, float, float]:
    """Solve the job in a folder, and measure its exploitability.

    Args:
        args: the command's arguments.
        seed: seed of the deals.
        settings: changes of job keys, each as KEY=VALUE.
        folder: folder of the solve.
        spent: returns the processor time of other processes that take part, in seconds.

    Returns:
        Exploitability in mbb per hand, deals per second, and deals per second of processor time.
    """
    ended = ["solve.target=0 mbb", f"solve.max_sweeps={args.deals}", "solve.check_flops=1"]
    job = Job.load(args.job, [*args.overrides, *settings, f"solve.seed={seed}", *ended])
    watch = _Watch(spent)
    with Session(job, folder) as session:
        session.solve(watch)
    found = judge_folder(folder, flops=args.flops or None, seed=1)
    mbb = found.exploitability_mbb
    assert mbb is not None
    line = f"{folder.name}, seed {seed}: {mbb:.1f} mbb, {watch.rates()[0]:,.0f} deals per second"
    print(line, file=sys.stderr, flush=True)
    return mbb, *watch.rates()


class _Watch:
    """Measures the speed of a solve from its reports of progress.

    Args:
        spent: returns the processor time of other processes that take part, in seconds.
    """

    def __init__(self, spent: Callable[[], float]) -> None:
        self._spent = spent
        self._points: list[tuple[int, float, float]] = []

    def __call__(self, event: Event) -> None:
        if isinstance(event, Stated):
            spent = time.process_time() + self._spent()
            self._points.append((event.status.deals, time.perf_counter(), spent))

    def rates(self) -> tuple[float, float]:
        """Return deals per second of wall time and of processor time, without the check at the end of the solve."""
        first, begun, before = self._points[0]
        last, ended, after = next(point for point in self._points if point[0] == self._points[-1][0])
        return (last - first) / max(ended - begun, 1e-9), (last - first) / max(after - before, 1e-9)


def _stored(args: argparse.Namespace) -> None:
    if args.quick:
        args.sweeps, args.rounds, args.workers = 2, 1, [1]
        args.overrides += ["rows.turn=7", "rows.river=5"]
    setups = [("one process", 1, 0), ("two processes", 2, 0), *((f"Dask, {n}", n, n) for n in args.workers)]
    times: dict[str, list[float]] = {name: [] for name, _, _ in setups}
    for _ in range(args.rounds):
        for name, workers, size in setups:
            with TemporaryDirectory(prefix="spewy-") as scratch:
                times[name].append(_sweep_seconds(args, Path(scratch), workers, size))
    print("| workers | seconds of a sweep | times as fast as one process |\n|---|---|---|")
    for name, seconds in times.items():
        ratio = statistics.median(
            alone / shared for alone, shared in zip(times["one process"], seconds, strict=True)
        )
        print(f"| {name} | {statistics.median(seconds):.3g} | {ratio:.2f} |")


def _sweep_seconds(args: argparse.Namespace, scratch: Path, workers: int, size: int) -> float:
    ended = ["solve.leaves=stored", "solve.target=0 chips", f"solve.max_sweeps={args.sweeps}"]
    settings = [*args.overrides, *ended, f"solve.check_every={args.sweeps}"]
    with _cluster(scratch / "cluster", size) if size else nullcontext(("", float)) as (address, _):
        own = ['solve.workers="dask"', f'dask.address="{address}"'] if size else [f"solve.workers={workers}"]
        sweeps = _Sweeps()
        with Session(Job.load(args.job, [*settings, *own]), scratch / "out") as session:
            session.solve(sweeps)
    return (sweeps.ends[-1] - sweeps.ends[0]) / (len(sweeps.ends) - 1)


class _Sweeps:
    def __init__(self) -> None:
        self.ends: list[float] = []

    def __call__(self, event: Event) -> None:
        if isinstance(event, Advanced) and event.done == event.total and (event.sweep or 0) > len(self.ends):
            self.ends.append(time.perf_counter())


@contextmanager
def _cluster(folder: Path, size: int) -> Iterator[tuple[str, Callable[[], float]]]:
    """Run a Dask scheduler with ``size`` workers until the block ends.

    Yields:
        The scheduler's address, and a function that returns the seconds of processor time of scheduler and workers.
    """
    folder.mkdir()
    file = folder / "scheduler.json"
    at = ["--scheduler-file", os.fspath(file)]
    dask = "distributed.cli.dask_"
    local = ["--port", "0", "--host", "127.0.0.1", "--no-dashboard"]
    processes = [start_python(["-m", f"{dask}scheduler", *at, *local], stderr=subprocess.DEVNULL)]
    try:
        for number in range(size):
            own = ["--local-directory", os.fspath(folder / f"worker-{number}"), "--no-dashboard"]
            alone = ["--no-nanny", "--nthreads", "1"]
            processes.append(
                start_python(["-m", f"{dask}worker", *at, *alone, *own], stderr=subprocess.DEVNULL)
            )
        while not (file.exists() and file.stat().st_size):  # the file is empty before Dask writes it
            time.sleep(0.1)
        yield json.loads(file.read_text())["address"], lambda: sum(_seconds_of(one.pid) for one in processes)
    finally:
        for process in processes:
            process.kill()
            process.wait()


def _seconds_of(process: int) -> float:
    """Return the processor time of a process in seconds (on Linux)."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    as_command(main)
