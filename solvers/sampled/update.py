"""Values of the nodes of a batch of lines, row by row, and updates of the traverser's regrets.

    v = Σ_a σ_a v_a at the traverser's decisions, v = Σ_a v_a at the opponent's decisions
    R_a ← (keep · R_a + own_gain · (v_a − v)), multiplied by ``sink`` if negative

Here v is the value of a decision, v_a the value after action a, σ_a the action's frequency and R_a its regret; ``keep``
and ``sink`` are factors of the visit (`VisitFactors`), and ``own_gain`` scales the round's regrets (`RoundView`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from compiled import inlined
from compiled.precision import load_as, store_as
from compiled.records import record_at
from compiled.vector import WIDTH, fill16, int32_at, int64_at, load16, maximum, store, where_positive
from solvers.program import ValueStep
from solvers.sampled.views import Cursor, VisitFactors
from solvers.state import FLOOR

_ZERO: Any = np.float32(0)
_FLOOR: Any = np.float32(FLOOR)


@inlined
def update_regrets(c: Cursor, f: VisitFactors) -> None:
    """Update the traverser's regrets in all rows of a batch of lines.

    The values at folds and showdowns come from ``work.values``, those at chance leaves from ``work.row_exits``.
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
    """Update the regrets of a row without hands, whose values are 0; they begin at offset ``first``."""
    x = c.round
    for at in range(first, first + WIDTH * c.batch.own_slots, WIDTH):
        regret = load_as(x.kind, x.own, at) * f.keep
        store_as(x.kind, x.own, at, where_positive(regret, regret, regret * f.sink), f.dither)


@inlined
def leaf_values(c: Cursor, row: int) -> None:
    """Fill ``work.node`` with the values of one row at folds, showdowns and chance leaves."""
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
    """Compute the value of one of the traverser's decisions by regret matching, and update the decision's regrets.

    Args:
        c: batch of lines.
        f: weights of the visit.
        step: the decision.
        at: offset of the decision's regrets in the traverser's regrets ``c.round.own``.
    """
    x, node, total, mean = c.round, c.work.node, fill16(_ZERO), fill16(_ZERO)
    for a in range(step.n_actions):
        weight = maximum(load_as(x.kind, x.own, at + WIDTH * a), fill16(_FLOOR))
        total = total + weight
        mean = mean + weight * load16(node, step.child + WIDTH * a)
    mean = mean / total
    store(node, step.node, mean)
    for a in range(step.n_actions):
        regret = load_as(x.kind, x.own, at + WIDTH * a) * f.keep
        regret = regret + (load16(node, step.child + WIDTH * a) - mean) * x.own_gain
        store_as(x.kind, x.own, at + WIDTH * a, where_positive(regret, regret, regret * f.sink), f.dither)
