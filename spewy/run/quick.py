"""The game of a quick solve (``solve.quick``): all bets of the first round, and few bets on later rounds.

A quick solve runs for some seconds and keeps the first round only. Whoever looks at a later round solves it then, with
all bets of the job, from the ranges of the first round. So the later rounds of a quick solve only value the leaves of
the first, and one bet, or none, does that almost as well as a rich menu, in a fraction of the time
(`benchmarks.studies.quick_flops`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from spewy.game.names import ROUND_NAMES
from spewy.job.job import Job
from spewy.run.stopping import QUICK_SAVING
from spewy.run.walked_cost import layout_seconds, number_of_cells

SECONDS_PER_CELL = 3e-9
"""Seconds of one core for an action of a hand in a sweep of the exact engine (measured: 2.4 to 3.2 ns)."""
CELL_BYTES = 12
"""Bytes of an action of a hand, with its predicted regret."""
SWEEPS = 20
"""Number of sweeps for which the bets of a quick solve are chosen; more follow if there is time."""
RESERVE = 0.7
"""Largest share of ``solve.memory`` that regrets and strategy sums may take."""
MENUS = (
    ("one bet, all-in as the raise", ("75%", "a"), ("75%", "a")),
    ("one bet, no raise", ("75%", ""), ("75%", "")),
    ("one bet on the turn, none on the river", ("75%", ""), ("", "")),
    ("no bets", ("", ""), ("", "")),
)
"""Bets and raises of the last round but one and of the last, from the richest menu to the leanest, with a name."""


class Lean(NamedTuple):
    """The game of a quick solve.

    Attributes:
        job: the job with fewer bets on later rounds.
        bets: these bets in words; None: all bets of the job.
    """

    job: Job
    bets: str | None = None


def lean(job: Job) -> Lean:
    """Choose the richest game with which a quick solve can make `SWEEPS` sweeps in its time; the leanest if none can.

    A job without ``solve.quick`` stays as it is.
    """
    seconds = job.quick_seconds
    if seconds is None:
        return Lean(job)
    games = [*_games(job)]
    left = (1 - QUICK_SAVING) * seconds - layout_seconds(job)
    most = min(
        left * job.solve.threads / (SWEEPS * SECONDS_PER_CELL), job.solve.memory_bytes * RESERVE / CELL_BYTES
    )
    return next((game for game in games if number_of_cells(game.job) <= most), games[-1])


def _games(job: Job) -> Iterator[Lean]:
    """Yield the game with all bets, and those with fewer bets on later rounds, each leaner than the one before."""
    data, first = job.model_dump(), job.tree_config.start_round
    solve = {key: value for key, value in data["solve"].items() if key != "quick"}
    data = data | {"solve": solve, "save": {"rounds": ROUND_NAMES[first]}}
    yield Lean(Job.stored(data, "solve.quick"))
    if job.rules.limit or job.tree.lines is not None:
        return
    later = ROUND_NAMES[first + 1 : job.rules.num_rounds]
    kept = {name: bets for name, bets in data["bets"].items() if name not in later}
    for words, *menus in MENUS:
        menu = zip(later, menus[-len(later) :], strict=True)
        bets = {name: {"bet": bet, "raise": raises} for name, (bet, raises) in menu}
        yield Lean(Job.stored(data | {"bets": kept | bets}, "solve.quick"), words)
