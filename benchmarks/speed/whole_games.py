"""Speed of whole games: deals per second with one thread and with two, and the time of best responses on a flop.

    python -m benchmarks.speed.whole_games [JOB] [--seconds 10] [--rounds 5] [--flops 3] [--cfr-br 0] [--quick]

A core-second is a second of processor time, all threads together, so other work on the machine does not count. One
thread and two threads take turns, and continue the same solve. `benchmarks.speed.whole_game_stages` measures the steps
of a deal.
"""

import argparse
import statistics
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.command import as_command
from benchmarks.paths import EXAMPLES
from benchmarks.sampled_games import SEED, abstraction_spec, progress_note, real_game, sampled_cfr
from buckets.abstraction import Abstraction
from solvers.sampled.engine import SampledCfr
from spewy import Job
from spewy.chunks.bucket_locker import abstraction
from spewy.learn.sampled import PORTION_SECONDS


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "job",
        nargs="?",
        type=Path,
        default=EXAMPLES / "limit-holdem.toml",
        help="job file of a whole game with [boards]",
    )
    parser.add_argument("--seconds", type=float, default=10, help="seconds of wall time of each measurement")
    parser.add_argument(
        "--rounds", type=int, default=5, help="number of measurements for each number of threads"
    )
    parser.add_argument(
        "--flops",
        type=int,
        default=3,
        help="number of random flops on which the time of best responses is measured",
    )
    parser.add_argument(
        "--cfr-br", type=float, default=0, help="share of CFR-BR; see docs/how-to/whole-games.md"
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="run a short benchmark: the job flop-holdem, and one measurement of a second for each number of threads",
    )
    speed(parser.parse_args(argv))


def speed(args: argparse.Namespace) -> None:
    """Print deals per second with one thread and with two, and the time of best responses on a flop."""
    if args.quick:
        args.job, args.seconds, args.rounds = EXAMPLES / "flop-holdem.toml", 1.0, 1
    job = Job.load(args.job)
    found = abstraction(abstraction_spec(job), progress_note("boards"))
    solves = [sampled_cfr(job, found, 1, cfr_br=args.cfr_br)]
    solves.append(sampled_cfr(job, found, 2, solves[0].numbers, cfr_br=args.cfr_br))
    game = real_game(job, found, solves[0])
    paces: list[list[tuple[float, float]]] = [[], []]
    for cfr in solves:
        cfr.run(16)  # machine code is loaded
    for _ in range(args.rounds):
        for cfr, measurements in zip(solves, paces, strict=True):
            measurements.append(_pace(cfr, args.seconds))
    dealing = _dealing_seconds(found)
    for cfr in solves:
        cfr.close()
    print(f"{job.name}: {', '.join(f'{k:,}' for k in found.n_board_buckets)} board buckets in each round\n")
    print("| threads | deals per core-second | deals per second |\n|---|---|---|")
    rates = [
        [statistics.median(column) for column in zip(*measurements, strict=True)] for measurements in paces
    ]
    for cfr, (per_core, per_second) in zip(solves, rates, strict=True):
        print(f"| {cfr.threads} | {per_core:,.1f} | {per_second:,.1f} |")
    gain = statistics.median(b[1] / a[1] for a, b in zip(*paces, strict=True))
    print(f"\ntwo threads deal {gain:.2f} times as fast as one")
    print(
        f"a deal takes {1e3 / rates[0][0]:.3f} ms of a core; {1e3 * dealing:.3f} ms of it make the board, "
        "its buckets and rows"
    )
    desk, drawn = game.desk(), game.drawn(args.flops, SEED)
    firsts = game.to_judge(drawn)[: args.flops]
    game.flop(firsts[0], desk)  # machine code is loaded
    judged = statistics.mean(game.flop(first, desk).seconds for first in firsts)
    print(f"best responses on a flop take {judged:.3g} core-seconds (mean of {len(firsts)} flops)")


def _pace(cfr: SampledCfr, seconds: float) -> tuple[float, float]:
    """Run deals for some seconds, in calls that grow as in a solve; return deals per core-second and per second."""
    core, begun, first, few = time.process_time(), time.perf_counter(), cfr.iteration, 1
    while (took := time.perf_counter() - begun) < seconds:
        started = time.perf_counter()
        cfr.run(few)
        few = max(1, min(2 * few, int(few * PORTION_SECONDS / (time.perf_counter() - started))))
    deals = cfr.iteration - first
    return deals / (time.process_time() - core), deals / took


def _dealing_seconds(found: Abstraction, n: int = 2000) -> float:
    """Return the core-seconds to deal one board: to look up its board bucket and rows, and to sort its hands."""
    out = found.room(16)
    found.deal(SEED, range(16), out)
    started = time.process_time()
    for first in range(0, n, 16):
        found.deal(SEED, range(first, first + 16), out)
    return (time.process_time() - started) / n


if __name__ == "__main__":
    as_command(main)
