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
from spewy.job.job import Job, SpotJob
from spewy.run.stopping import QUICK_SAVING, QUICK_SWEEPS
from spewy.run.walked_cost import layout_seconds, number_of_cells, sweep_seconds

CELL_BYTES = 6
"""Bytes of an action of a hand in 16-bit numbers: regret, predicted regret and strategy sum."""
VARIANT = "pdcfr"
"""Default variant of CFR, which loses least after 20 sweeps."""
RESERVE = 0.7
"""Largest share of ``solve.memory`` that regrets and strategy sums may take."""
GROUPS = 5
"""Number of groups of boards of the last round; a sweep visits one group.

The values of a fifth of the rivers are good enough for the flop, and twice as many sweeps lose half as much.
"""
PLENTY = 150
"""Number of sweeps from which each sweep visits all boards: the values of a group are estimates."""
MENUS = (
    (None, ("", ""), ("", ""), 120),
    ("one bet, all-in as the raise", ("75%", "a"), ("75%", "a"), 50),
    ("one bet, no raise", ("75%", ""), ("75%", ""), 50),
    ("one bet on the turn, all-in as the raise, none on the river", ("75%", "a"), ("", ""), QUICK_SWEEPS),
    ("no bets", ("", ""), ("", ""), 1),
)
"""Games from the richest to the leanest.

Each has a name; bet and raise on the last round but one, and on the last; and the sweeps that it needs.

The name None stands for all bets of the job. A game is chosen if the time allows its number of sweeps. One bet with
many sweeps loses less than a rich menu with few, and a river without bets loses more than too few sweeps. Rounds
without bets are checked down without decisions, which takes a third of the time. Without any bets a flop loses 3 to
12 % of the pot, more than with few sweeps of any other game; this game is for trees that fit into memory no other way.
"""
LOSSES = {3.0: ((2.0, 0.1, 0.6, 20), (6.0, 0.2, 0.5, 14), (20.0, 0.4, 0.7, 6))}
"""Losses of quick flops that the study `docs/research/quick-flops.md` has measured, by the seconds of the quick solve.

Each line is a class of depths: its deepest stack in pots, mean and largest loss in % of the pot, number of flops.
"""
FLOP_CARDS = 3


def measured_loss(job: Job, seconds: float) -> str:
    """Say what quick answers of the same time lost on flops of similar depth; empty where none was measured."""
    if not isinstance(job, SpotJob) or len(job.board) != FLOP_CARDS:
        return ""
    behind = job.spot.stack / job.spot.pot
    found = next((row for row in LOSSES.get(seconds, ()) if behind <= row[0]), None)
    if found is None:
        return ""
    most, mean, worst, flops = found
    return (
        f"such answers lost {mean:g} % of the pot on average, and {worst:g} % at most "
        f"(in {seconds:g} s, {flops} flops with up to {most:g} pots behind)"
    )


class Lean(NamedTuple):
    """The game of a quick solve.

    Attributes:
        job: the job with fewer bets on later rounds.
        bets: these bets in words; None: all bets of the job.
        groups: number of groups of boards of the last round; a sweep visits one group (`solvers.exact.ExactCfr`).
    """

    job: Job
    bets: str | None = None
    groups: int = 1


def lean(job: Job) -> Lean:
    """Choose the richest game for which a quick solve has time and memory, or else the leanest game.

    A job without ``solve.quick`` stays as it is.
    """
    if job.quick_seconds is None:
        return Lean(job)
    game = Lean(job)
    for game, fewest in _games(job):
        if number_of_cells(game.job) * CELL_BYTES > job.solve.memory_bytes * RESERVE:
            continue
        if sweeps_in(job, game._replace(groups=1)) >= PLENTY:
            return game._replace(groups=1)
        if sweeps_in(job, game) >= fewest:
            return game
    return game


def sweeps_in(job: Job, game: Lean) -> int:
    """Estimate the number of sweeps of a quick solve of ``game`` on an idle machine."""
    assert job.quick_seconds is not None
    left = (1 - QUICK_SAVING) * job.quick_seconds - layout_seconds(game.job)
    return max(QUICK_SWEEPS, int(left * job.solve.threads / sweep_seconds(game.job, game.groups)))


def _games(job: Job) -> Iterator[tuple[Lean, int]]:
    """Yield the games of `MENUS` for a job, each with the number of sweeps that it needs."""
    data, first = job.model_dump(), job.tree_config.start_round
    precision = {} if job.too_deep_for_single else {"precision": "16-bit"}
    solve = {"variant": VARIANT, **precision} | {
        key: value for key, value in data["solve"].items() if key != "quick"
    }
    data = data | {"solve": solve, "save": {"rounds": ROUND_NAMES[first]}}
    later = ROUND_NAMES[first + 1 : job.rules.num_rounds]
    kept = {name: bets for name, bets in data["bets"].items() if name not in later}
    for words, *menus, fewest in MENUS:
        menu = zip(later, menus[-len(later) :], strict=True)
        bets = {name: {"bet": bet, "raise": raises} for name, (bet, raises) in menu}
        tree = data.get("tree", {}) | {"check_down": True}
        changed = data if words is None else data | {"bets": kept | bets, "tree": tree}
        yield Lean(Job.stored(changed, "solve.quick"), words, GROUPS), fewest
        if job.rules.limit or job.tree.lines is not None:
            return  # their bets are not given by sizes
