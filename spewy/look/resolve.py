"""A dropped chunk, solved again when somebody looks at it, from the ranges that are played down to it.

A chunk of the first dropped round and all that follows it is a game of its own: both ranges at its root, its pot, its
stacks and its betting are what they were. It is solved with a row per hand to a target in that game and kept in memory.
Its value is that of the dropped strategies within both targets, its strategies may be those of another equilibrium;
where the ranges hardly ever come, nothing ties them to what was dropped.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass

import numpy as np

from buckets.cards import cards_name
from solvers.discount import DEFAULT_VARIANT, EXACT_VARIANT, variant
from solvers.errors import SolverError
from solvers.exact import ExactCfr, supports, useful_threads
from solvers.game import LiveGame
from solvers.reference.cfr import Cfr
from solvers.solver import Solver
from solvers.tree import Floats
from spewy.chunks.layout import Layout
from spewy.chunks.live_game import with_ranges
from spewy.errors import InputError, SolveError
from spewy.game.names import ROUND_NAMES
from spewy.job.job import Job
from spewy.job.units import parse_memory, parse_target, unit_chips
from spewy.records.patched_reads import PatchedReads
from spewy.run.warmup import warm_up

CHECK_EVERY = 10
MAX_ITERATIONS = 2000
"""Where a target is below what single precision or patience can reach, it ends here and says so."""


@dataclass(frozen=True)
class Order:
    """How dropped chunks are solved.

    Attributes:
        job: what they were dropped from.
        target: accuracy, as in a job file, % are of the pot where a chunk begins.
        note: told of each solve before and after.
    """

    job: Job
    target: str
    note: Callable[[str], None]


def resolve(order: Order, part: Layout, ranges: tuple[Floats, Floats], overlay: PatchedReads) -> None:
    """Solve a chunk with all that follows it, and lay strategies and values of leaves over the store.

    Args:
        order: how to solve.
        part: the chunk, which is chunk (0, 0, 0), and all that follows it, with a row per hand.
        ranges: ranges at the chunk's root, per player ``[row's hand]``.
        overlay: overlay of the store that the chunk was dropped from.

    Raises:
        InputError: the solve needs more memory than ``solve.memory`` allows.
        SolveError: the numbers are not finite, neither in single nor in double precision.
    """
    if not any(sum(bets.forest.n_slots) for bets in part.betting):
        return  # nobody has anything to decide any more
    subject = _subject(order.job, part)
    _require_memory(order.job, part, subject)
    largest = [float(mine.max(initial=0.0)) or 1.0 for mine in ranges]
    first, second = (mine[None] / most for mine, most in zip(ranges, largest, strict=True))
    game = with_ranges(
        part.live, (first, second)
    )  # strategies depend on ratios, and single precision on sizes
    try:
        game.deal_weight  # noqa: B018 - which is an error where no pair of hands is possible
    except SolverError:
        order.note(f"{subject} was dropped, and nobody comes there: all strategies are uniform")
        nothing = part.live.zeros()
        for t, b in part.every_board():
            overlay.put_board(part, t, b, (nothing[t][0][b], nothing[t][1][b]))
        return
    for solver in _solvers(order, game, part.n_rounds, subject):
        with closing(solver):
            if not _solve(order, part, solver, subject):
                continue
            for t, b in part.every_board():
                overlay.put_board(part, t, b, solver.read("sums", t, b))
            for (t, b), (values, others) in solver.leaf_values().items():
                overlay.put_leaves(part, t, b, (values * largest[1], others * largest[0]))
            return
    raise SolveError(f"{subject}, which was dropped: expected finite numbers, found others")


def _solvers(order: Order, game: LiveGame, n_rounds: int, subject: str) -> Iterator[Solver]:
    """Solvers of a chunk, one after another; the second is asked for where the first one leaves no finite numbers."""
    threads = order.job.solve.threads
    if supports(game, variant(EXACT_VARIANT)):
        warm_up("exact", n_rounds, False, order.note)
        yield ExactCfr(game, variant(EXACT_VARIANT), threads=useful_threads(game, threads))
        order.note(f"{subject}: single precision has left numbers that are not finite; solving it in double")
    yield Cfr(game, variant(DEFAULT_VARIANT), threads=threads)


def _solve(order: Order, part: Layout, solver: Solver, subject: str) -> bool:
    """Solve to the target, and report the result; return False, without a report, if numbers are not finite."""
    amount, unit = parse_target(order.target)
    pot = part.problem.pot + sum(part.tree(0, 0).nodes[0].put_in)
    chips = pot / 100 if unit == "%" else unit_chips(order.job.rules, order.job.pot, unit)
    order.note(f"{subject} was dropped: solving it from the played-down ranges to {order.target}")
    started, found = time.perf_counter(), np.inf
    while found > amount * chips and solver.iteration < MAX_ITERATIONS:
        solver.run(CHECK_EVERY)
        found = solver.exploitability().value
    if not (math.isfinite(found) and solver.finite()):
        return False
    missed = "" if found <= amount * chips else ", which is not the target"
    order.note(
        f"{subject}: exploitability {max(found, 0.0) / chips:.3g} {unit}{missed} "
        f"after {solver.iteration} iterations, {time.perf_counter() - started:.2f} s".replace(" %", "%")
    )
    return True


def _require_memory(job: Job, part: Layout, subject: str) -> None:
    """Of regrets and sums, in double precision: far more than tables and buffers need."""
    needed = 0
    for bets, table in zip(part.betting, part.boards, strict=True):
        for p, slots in enumerate(bets.forest.n_slots):
            widest = max(len(board.rows[p].hands) for board in table.boards)
            needed += 2 * 8 * len(table.boards) * slots * widest
    if needed > parse_memory(job.solve.memory):
        raise InputError(
            f"solve.memory: solving {subject}, which was dropped, needs {needed / 2**20:,.0f} MiB, "
            f"found {job.solve.memory}"
        )


def _subject(job: Job, layout: Layout) -> str:
    board = layout.board(0, 0)
    name, line = ROUND_NAMES[layout.boards[0].round], job.amounts.line_text(layout.tree(0, 0).line)
    return f"{name} {cards_name(job.rules.board_order(board.cards))} after {line}"
