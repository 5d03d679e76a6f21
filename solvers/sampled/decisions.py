"""Decisions of a batch of lines on one board: reach within the round, values of rows, updates of regrets and averages.

With σ_a the frequency of action a at a decision,

    reach[row][child a] = reach[row][decision] · σ_a[row]
    average[row][a] ← average[row][a] + share · (sum_scale · row_reach[row] · reach[row][child a] − average[row][a])

where averages and reach are the opponent's, ``row_reach`` is the reach at the start of the round, summed over the row's
hands, and ``sum_scale`` scales the round's averages (`RoundView`). With v the value of a decision, v_a the value after
action a, and R_a the action's regret,

    v = Σ_a σ_a v_a at the traverser's decisions, v = Σ_a v_a at the opponent's decisions
    R_a ← (keep · R_a + own_gain · (v_a − v)), multiplied by ``sink`` if negative

where ``own_gain`` scales the round's regrets. `visit_factors` computes ``share``, ``keep`` and ``sink``, the weights of
a visit of a board bucket. Slow, plain versions: `solvers.reference.kernels.reach_down`, and for averages
`tests/naive_averages.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from compiled import inlined
from compiled.precision import DITHER_STEPS, load_as, prefetch_as, quantum_of, store_as
from compiled.records import record_at
from compiled.vector import (
    WIDTH,
    Address,
    fill16,
    floor16,
    int32_at,
    int64_at,
    load16,
    maximum,
    put_int64,
    store,
    where_positive,
)
from solvers.discount import Discount, retained
from solvers.sampled.views import Cursor, RoundView, VisitFactors, other_width
from solvers.state import GOLDEN
from solvers.steps import LEAST, ONE, ZERO, ValueStep, regret_match

LARGE_SHARE: Any = np.float32(2**-10)
"""Weight of a visit above which an average is updated in plain single precision.

Rounding then loses 2 ** -25 of the average, which is less than 3.1e-5 of the weight.
"""
BELOW_ONE: Any = np.nextafter(np.float32(1), np.float32(0))

_retained = inlined(retained)


@inlined
def own_reach(c: Cursor) -> None:
    """Fill `Workspace.own` for a batch of lines: the traverser's reach within the round, for each row and sequence."""
    x, batch = c.round, c.batch
    start = c.board.board_bucket * x.program.own_size + batch.own_first
    _reach(c, x.own, start, batch.own_slots, batch.own_down, batch.n_own_down, c.work.own)


@inlined
def other_reach(c: Cursor) -> None:
    """Fill `Workspace.other` for a batch of lines: the opponent's reach within the round, for each row and sequence."""
    x, batch = c.round, c.batch
    start = c.board.board_bucket * x.program.other_size + batch.other_first
    _reach(c, x.other, start, batch.other_slots, batch.other_down, batch.n_other_down, c.work.other)


@inlined
def _reach(
    c: Cursor, numbers: Address, start: int, slots: int, down: int, n_down: int, reach: Address
) -> None:
    """Compute one player's reach ``[row][sequence][lane]`` within the round, except for rows without hands.

    The batch begins at offset ``start`` of ``numbers`` (regrets or averages), with ``slots`` slots in a row. The
    player's steps are the ``n_down`` elements of `Program.reach_steps` from ``down`` on.
    """
    program = c.round.program
    for row in range(program.n_rows):
        if int32_at(c.work.row_hands, row) == 0:
            continue
        to, at = c.at_rows + row * WIDTH * (1 + slots), start + row * WIDTH * slots
        store(reach, to, fill16(ONE))
        for k in range(down, down + n_down):
            step = record_at(program.reach_steps, k)
            child = to + WIDTH * (1 + step.slot)
            regret_match(
                c.round.kind, numbers, at + WIDTH * step.slot, step.n_actions, reach, to + step.parent, child
            )


@inlined
def sum_rows(c: Cursor) -> None:
    """Fill `Workspace.row_reach`: the opponent's reach at the start of the round, summed over each row's hands."""
    for row in range(c.round.program.n_rows):
        store(c.work.row_reach, WIDTH * row, fill16(ZERO))
    for h in range(c.board.n_hands):
        row = WIDTH * int32_at(c.board.rows, h)
        reach = load16(c.work.reach, c.at_hands + WIDTH * h)
        store(c.work.row_reach, row, load16(c.work.row_reach, row) + reach)


@inlined
def update_averages(c: Cursor, f: VisitFactors) -> None:
    """Move the opponent's averages the fraction ``f.share`` of the way to its reach under the current strategy."""
    x, program = c.round, c.round.program
    start, width = c.board.board_bucket * program.other_size + c.batch.other_first, other_width(c)
    for row in range(program.n_rows):
        arrived = load16(c.work.row_reach, WIDTH * row) * x.sum_scale
        from_, to = c.at_rows + row * width + WIDTH, start + row * (width - WIDTH)
        for slot in range(0, width - WIDTH, WIDTH):
            played = load16(c.work.other, from_ + slot) * arrived
            move_average(x.kind, x.other_sums, to + slot, played, f.share, f.rounding)


@inlined
def move_average(  # type: ignore[no-untyped-def]
    kind: np.signedinteger[Any],
    averages: Address,
    at: int,
    played,
    share: np.floating[Any],
    rounding: np.floating[Any],
) -> None:
    """Move 16 stored averages A the fraction ``share`` of the way to ``played``.

    A begins at offset ``at`` of ``averages``, an array of precision ``kind`` (see `compiled.precision`). The averages
    become ``q · floor((A + share · (played − A)) / q + rounding)``, where q is the spacing of stored numbers. This
    rounding is right on average over visits. Rounding to the nearest number would not be: after millions of visits a
    step is smaller than q and would always be dropped. The whole multiples of q in A are set aside before the step is
    added, since adding a small step to a large number would lose it. If the share is above 1 / 1024, the step is added
    directly.
    """
    now = load_as(kind, averages, at)
    step = (played - now) * share
    if share > LARGE_SHARE:
        store_as(kind, averages, at, now + step, np.int32(rounding * np.float32(DITHER_STEPS)))
        return
    quantum = quantum_of(kind, now + step)
    per = fill16(ONE) / quantum
    quanta = now * per
    whole = floor16(quanta)
    moved = (whole + floor16((quanta - whole) + step * per + rounding)) * quantum
    store_as(kind, averages, at, moved, np.int32(0))


@inlined
def prefetch_row(c: Cursor, row: int) -> None:
    """Prefetch the regrets and averages of one row for the next batch of lines."""
    x, program = c.round, c.round.program
    batch = record_at(program.batches, c.number + 1)
    own, other = WIDTH * batch.own_slots, WIDTH * batch.other_slots
    first = c.board.board_bucket * program.own_size + batch.own_first + row * own
    for n in range(first, first + own, WIDTH):
        prefetch_as(x.kind, x.own, n)
    first = c.board.board_bucket * program.other_size + batch.other_first + row * other
    for n in range(first, first + other, WIDTH):
        prefetch_as(x.kind, x.other, n)
        prefetch_as(x.kind, x.other_sums, n)


@inlined
def update_regrets(c: Cursor, f: VisitFactors) -> None:
    """Update the traverser's regrets in all rows of a batch of lines.

    The values at folds and showdowns come from `Workspace.values`, those at chance leaves from `Workspace.row_exits`.
    """
    batch, program, node = c.batch, c.round.program, c.work.node
    start = c.board.board_bucket * program.own_size + batch.own_first
    for row in range(program.n_rows):
        if int32_at(c.work.row_hands, row) == 0:
            _keep(c, f, start + WIDTH * row * batch.own_slots)
            continue
        leaf_values(c, row)
        for k in range(batch.up, batch.up + batch.n_up):
            step = record_at(program.value_steps, k)
            if step.own == 0:
                total = load16(node, step.child)
                for a in range(1, step.n_actions):
                    total = total + load16(node, step.child + WIDTH * a)
                store(node, step.node, total)
            else:
                _update(c, f, step, start + WIDTH * (row * batch.own_slots + step.slot))


@inlined
def _keep(c: Cursor, f: VisitFactors, first: int) -> None:
    """Update the regrets of a row without hands, whose values are 0."""
    x = c.round
    for at in range(first, first + WIDTH * c.batch.own_slots, WIDTH):
        regret = load_as(x.kind, x.own, at) * f.keep
        store_as(x.kind, x.own, at, where_positive(regret, regret, regret * f.sink), f.dither)


@inlined
def leaf_values(c: Cursor, row: int) -> None:
    """Fill `Workspace.node` with the values of one row at folds, showdowns and chance leaves."""
    work, batch, program, pay = c.work, c.batch, c.round.program, c.batch.pay
    shows = WIDTH * (row * (batch.n_folds + batch.n_shows) + batch.n_folds)
    folds = WIDTH * row * (batch.n_folds + batch.n_shows)
    for k in range(batch.n_show_leaves):
        leaf = record_at(program.leaves, batch.show_leaves + k)
        worth = load16(work.values, shows + WIDTH * leaf.ending)
        store(work.node, leaf.node, worth * load16(program.pay, pay))
        pay += WIDTH
    for k in range(batch.n_fold_leaves):
        leaf = record_at(program.leaves, batch.fold_leaves + k)
        worth = load16(work.values, folds + WIDTH * leaf.ending)
        store(work.node, leaf.node, worth * load16(program.pay, pay))
        pay += WIDTH
    for e in range(batch.n_exits):
        at = c.at_exits + WIDTH * (row * batch.n_exits + e)
        store(work.node, int64_at(program.exit_nodes, batch.exit_nodes + e), load16(work.row_exits, at))


@inlined
def _update(c: Cursor, f: VisitFactors, step: ValueStep, at: int) -> None:
    x, node, total, mean = c.round, c.work.node, fill16(ZERO), fill16(ZERO)
    for a in range(step.n_actions):
        weight = maximum(load_as(x.kind, x.own, at + WIDTH * a), fill16(LEAST))
        total = total + weight
        mean = mean + weight * load16(node, step.child + WIDTH * a)
    mean = mean / total
    store(node, step.node, mean)
    for a in range(step.n_actions):
        regret = load_as(x.kind, x.own, at + WIDTH * a) * f.keep
        regret = regret + (load16(node, step.child + WIDTH * a) - mean) * x.own_gain
        store_as(x.kind, x.own, at + WIDTH * a, where_positive(regret, regret, regret * f.sink), f.dither)


@inlined
def learns(x: RoundView, board_bucket: int) -> bool:
    """Whether a visit of a board bucket changes regrets: not if they already include the visit, see `Numbers.ahead`."""
    return bool(int64_at(x.ahead, board_bucket) == 0)


@inlined
def count_visit(x: RoundView, board_bucket: int, learnt: bool) -> None:
    """Count a board bucket's visit: add 1 to `RoundView.visits` if ``learnt``, else take 1 from `RoundView.ahead`."""
    if learnt:
        put_int64(x.visits, board_bucket, int64_at(x.visits, board_bucket) + 1)
    else:
        put_int64(x.ahead, board_bucket, max(0, int64_at(x.ahead, board_bucket) - 1))


@inlined
def share(visit: int, gamma: float) -> float:
    """Weight of visit n = 1, 2, ... in the average over visits 1 to n: ``(γ + 1) / (n + γ)``.

    In the average over many visits, visit k then weighs ``k (k + 1) .. (k + γ - 1)``, which grows like ``k ** γ`` (O.
    Shamir and T. Zhang 2013). Averages of numbers in [0, 1] stay in [0, 1], however many visits there are.
    """
    return (gamma + 1.0) / (visit + gamma)


@inlined
def rounding(visits: int) -> np.floating[Any]:
    """Number in [0, 1) to add to an average before it is rounded down; over the visits these numbers spread evenly."""
    return min(np.float32(visits * GOLDEN % 1.0), BELOW_ONE)


@inlined
def visit_factors(discount: Discount, x: RoundView, board_bucket: int, dither: int) -> VisitFactors:
    """Compute the weights of the next visit of a board bucket; ``dither`` is the rounding of 16-bit regrets."""
    visits = int64_at(x.visits, board_bucket)
    keep = _retained(np.float64(visits), discount.alpha)
    sink = 0.0 if discount.clip else _retained(np.float64(visits), discount.beta)
    part = np.float32(share(visits + 1, discount.gamma))
    factors: VisitFactors = VisitFactors(keep, np.float32(sink), part, dither, rounding(visits))
    return factors
