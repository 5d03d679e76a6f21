"""Functions of benchmarks that solve whole games with board buckets in memory and measure exploitability."""

import re
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.paths import EXAMPLES
from buckets.abstraction import Abstraction, AbstractionSpec
from solvers.discount import Discount
from solvers.sampled.engine import DEFAULT_DISCOUNT, SampledCfr
from solvers.sampled.numbers import Numbers
from spewy import Job
from spewy.chunks.rounds import line_forests
from spewy.errors import InputError
from spewy.game.gamefile import format_game
from spewy.learn.real_game import RealGame, rows_know_suits
from spewy.run.sampled_plan import spec_of
from spewy.run.warmup import Kernels, warm_up

SEED = 1
"""Default seed of the random boards that the solvers deal."""


def abstraction_spec(job: Job) -> AbstractionSpec:
    if job.dealing is None:
        raise InputError(f"{job.name}: expected a job with [boards], found none")
    return spec_of(job.rules, job.dealing)


def small_limit(
    ranks: int,
    board_buckets: Sequence[int | str],
    rows: int,
    deals: int,
    *,
    remember: bool = False,
    **solve: Any,
) -> Job:
    """Make a job of limit hold'em with a small deck, whose exploitability can be measured on all flops in a minute.

    Args:
        ranks: number of ranks in the deck.
        board_buckets: numbers of board buckets of flop, turn and river.
        rows: number of rows (buckets of hands) in each board bucket.
        deals: number of deals at which the solve ends.
        remember: whether boards of different flop buckets never share a board bucket on turn and river.
        solve: other keys of the section ``[solve]``.
    """
    limit, rounds = Job.load(EXAMPLES / "limit-holdem.toml"), ("flop", "turn", "river")
    return Job.of(
        {
            "name": "small-limit",
            "game": {"text": re.sub(r"numRanks = \d+", f"numRanks = {ranks}", format_game(limit.rules))},
            "boards": dict(zip(rounds, board_buckets, strict=True)) | {"remember": remember},
            "rows": dict.fromkeys(rounds, rows),
            "solve": {
                "target": "0 mbb",
                "max_sweeps": deals,
                "check_flops": 1,
                "cfr_br": limit.solve.cfr_br,
                **solve,
            },
        }
    )


def sampled_cfr(
    job: Job,
    found: Abstraction,
    threads: int,
    numbers: Numbers | None = None,
    discount: Discount = DEFAULT_DISCOUNT,
    cfr_br: float = 0.0,
    seed: int = SEED,
) -> SampledCfr:
    warm_up([Kernels("sampled", found.n_rounds, job.solve.short)], note)
    return SampledCfr(
        [one.forest for one in line_forests(job.betting_tree)],
        found.n_board_buckets,
        found.n_rows,
        found.n_hands,
        len(found.deck) - sum(found.board_sizes),
        lambda first, n: found.deal(seed, range(first, first + n)),
        discount=discount,
        cfr_br=cfr_br,
        threads=threads,
        short=job.solve.short,
        numbers=numbers,
    )


def real_game(job: Job, found: Abstraction, cfr: SampledCfr) -> RealGame:
    return RealGame(
        job.rules,
        [one.forest for one in line_forests(job.betting_tree)],
        cfr.batches,
        found,
        found.n_board_buckets,
        found.n_rows,
        cfr.numbers.sums,
        symmetric=not rows_know_suits(found.arrays),
    )


def progress_note(what: str) -> Callable[[int, int], None]:
    """Return a function that prints "DONE of ALL `what`", at most every five seconds."""
    last_print = time.monotonic()

    def progress(done: int, total: int) -> None:
        nonlocal last_print
        if time.monotonic() - last_print > 5:
            last_print = time.monotonic()
            note(f"{done:,} of {total:,} {what}")

    return progress


def note(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
