"""Measures how long each step of a deal takes, and each step of best responses on a flop.

    python -m benchmarks.speed.whole_game_stages [JOB] [--deals 320] [--cfr-br 0.25] [--flops 1]

The command compiles the kernels once more, with a reading of the processor's clock at the beginning and end of each
step (`benchmarks.speed.stopwatch`). The time of a step excludes the steps that it calls.
"""

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.command import as_command
from benchmarks.paths import EXAMPLES
from benchmarks.sampled_games import SEED, abstraction_spec, progress_note, real_game
from benchmarks.speed.stopwatch import Stopwatch
from solvers.sampled import learn, respond, terminals
from solvers.sampled.engine import SampledCfr
from spewy import Job
from spewy.chunks.bucket_locker import abstraction
from spewy.chunks.rounds import line_forests
from spewy.errors import InputError

STEPS = {
    "_go_down": "earlier rounds: clear buffers",
    "_go_up": "rest of a pass",
    "_go_up_last": "rest of the last round",
    "find_segments": "cards of segments",
    "find_rows": "earlier rounds: cards of rows",
    "enter_round": "reach of hands that enter a round",
    "other_reach": "opponent's strategy",
    "own_reach": "traverser's strategy",
    "sum_rows": "earlier rounds: reach of rows, for averages",
    "gather_rows": "earlier rounds: reach of rows",
    "gather_segments": "reach of hands and segments",
    "update_averages": "averages",
    "ending_totals": "totals of reach by card",
    "own_weights": "weights of folds and showdowns",
    "clear_values": "clear values",
    "begin_mixed": "comparisons within segments",
    "fold_values": "folds",
    "showdown_values": "showdowns",
    "advance_level": "showdowns with ties",
    "follow_last": "values of hands",
    "hands_up": "values of unaligned batches to the previous round",
    "follow": "earlier rounds: values of hands",
    "update_regrets": "regrets",
    "respond_last": "best responses of hands",
    "_responses_up": "values of hands to the previous round",
    "respond": "earlier rounds: best responses",
    "_mix": "mixture of the rival's and the other player's strategy",
    "answer": "best responses of rows",
    "_choose": "best actions of rows",
}
"""Steps of a deal or of a measured flop: the name of a function, and a title."""

MODULES = {learn: "", terminals: "", respond: "best responses: "}
"""Modules with these functions or with kernels that call them, and the beginning of their titles."""


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
    parser.add_argument("--deals", type=int, default=320, help="number of deals")
    parser.add_argument(
        "--cfr-br", type=float, help="share of CFR-BR (default: the job's); see docs/how-to/whole-games.md"
    )
    parser.add_argument("--flops", type=int, default=1, help="number of measured flops; 0: none")
    stages(parser.parse_args(argv))


def stages(args: argparse.Namespace) -> None:
    """Print a table of the steps of a deal, and a table of the steps of best responses on a flop."""
    job = Job.load(args.job)
    if job.dealing is None:
        raise InputError(f"{job.name}: expected a job with [boards], found none")
    share = job.solve.cfr_br if args.cfr_br is None else args.cfr_br
    stopwatch = Stopwatch(list(MODULES), list(STEPS))
    found = abstraction(abstraction_spec(job), progress_note("boards"))
    cfr = SampledCfr(
        [one.forest for one in line_forests(job.betting_tree)],
        found.n_board_buckets,
        found.n_rows,
        found.n_hands,
        len(found.deck) - sum(found.board_sizes),
        lambda first, n: found.deal(SEED, range(first, first + n)),
        cfr_br=share,
        short=job.solve.short,
    )
    cfr.run(16)  # machine code is compiled
    stopwatch.reset()
    core = time.process_time()
    cfr.run(args.deals)
    core = time.process_time() - core
    print(f"{job.name}, cfr_br = {share}: {args.deals / core:.1f} deals per core-second\n")
    _table(stopwatch, "ms a deal", 1e3 * core / args.deals)
    if args.flops:
        game = real_game(job, found, cfr)
        desk, drawn = game.desk(), game.drawn(args.flops, SEED)
        firsts = game.to_judge(drawn)[: args.flops]
        stopwatch.reset()
        core = time.process_time()
        for first in firsts:
            game.flop(first, desk)
        print()
        _table(stopwatch, "core-seconds a flop", (time.process_time() - core) / len(firsts))
    cfr.close()


def _table(stopwatch: Stopwatch, unit: str, total: float) -> None:
    titles = [start + title for start in MODULES.values() for title in STEPS.values()]
    ticks = stopwatch.ticks.ravel()
    if not ticks.any():
        raise RuntimeError(
            "no step was measured: kernels were loaded before the stopwatch, or are not in MODULES"
        )
    print(f"| step | {unit} | share |\n|---|---|---|")
    for step in np.argsort(-ticks):
        if ticks[step] > 0:
            part = ticks[step] / ticks.sum()
            print(f"| {titles[step]} | {part * total:.3f} | {part:.1%} |")


if __name__ == "__main__":
    as_command(main)
