"""Step 3 of a pass, second half: values go up the betting tree, for 16 of the traverser's hands at a time.

    v = Σ_a σ_a v_a at the traverser's decisions (max_a v_a in a best response), v = Σ_a v_a at the opponent's decisions
    R_a ← R_a · discount + (v_a − v), at least 0 with ``clip``
    v ← v + ahead · (Σ_a σ'_a v_a − v), if the variant looks ahead

Here v is the value of a decision, v_a the value after action a, σ_a the action's frequency, R_a its regret, and σ'_a
its frequency after the update. Slow, plain version: `solvers.reference.kernels.values_up` and `update_up`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from compiled import inlined
from compiled.precision import load_as, prefetch_as, store_as
from compiled.records import record_at
from compiled.vector import (
    TILE,
    WIDTH,
    fill16,
    int64_at,
    load16,
    maximum,
    store,
    transpose8_even,
    where_number,
    where_positive,
)
from solvers.exact.reach import AHEAD
from solvers.exact.terminals import terminal_values
from solvers.exact.views import Cursor, blocks_of, share
from solvers.program import ValueStep
from solvers.reference.kernels import BEST, UPDATE
from solvers.state import FLOOR

_ZERO: Any = np.float32(0)
_FLOOR: Any = np.float32(FLOOR)


@inlined
def backward_values(c: Cursor, probability: float, last: bool) -> None:
    """Compute the traverser's values at the start of a round on a board; an `UPDATE` pass also updates the regrets.

    The values go into ``work.roots``, ``[row, betting line that enters the round]``.

    Args:
        c: the board; each thread processes its share of the blocks of 16 hands.
        probability: factor of the values at chance leaves, which come from ``work.continuation``.
        last: whether the round is the last, which has showdowns.
    """
    x, work, program = c.round, c.work, c.round.program
    n_roots = program.root_width
    first_block, n_blocks = blocks_of(x.own, c.board)
    start, stop = share(c, n_blocks)
    for i in range(start, stop):
        block, row = first_block + i, WIDTH * i
        terminal_values(c, block, row, last)
        _continue(c, row, probability)
        for k in range(program.n_up):
            step = record_at(program.up, k)
            if step.own == 0:
                total = load16(work.value, step.child)
                for a in range(1, step.n_actions):
                    total = total + load16(work.value, step.child + WIDTH * a)
                store(work.value, step.node, total)
            elif c.factors.mode == UPDATE:
                _update_regrets(c, step, block)
            else:
                _respond(c, step, block)
        for root in range(0, n_roots, TILE):
            for half in range(0, WIDTH, TILE):
                to = (row + half) * n_roots + root
                transpose8_even(work.value, WIDTH * root + half, WIDTH, work.roots, to, n_roots)


@inlined
def _continue(c: Cursor, row: int, probability: float) -> None:
    """Write the values at chance leaves of the 16 hands from ``row`` on into ``work.value``.

    The values come from ``work.continuation`` and are multiplied by ``probability``.
    """
    work, program, n_exits = c.work, c.round.program, c.round.program.exit_width
    for leaf in range(0, n_exits, TILE):
        for half in range(0, WIDTH, TILE):
            at, to = (row + half) * n_exits + leaf, WIDTH * leaf + half
            transpose8_even(work.continuation, at, n_exits, work.leaf_values, to, WIDTH)
    for leaf in range(program.n_exits):
        value = load16(work.leaf_values, WIDTH * leaf) * probability
        store(work.value, int64_at(program.exit_nodes, leaf), value)


@inlined
def _update_regrets(c: Cursor, step: ValueStep, block: int) -> None:
    """Compute the value of one of the traverser's decisions for 16 hands, and update the decision's regrets.

    Args:
        c: the board.
        step: the decision.
        block: number of the block of 16 hands in the round.
    """
    x, work, child = c.round, c.work, step.child
    at = WIDTH * (block * x.program.n_own_slots + step.slot)
    if step.n_actions == 2 and step.lock < 0:  # two actions fit into registers, three do not
        first, second = _regret(c, at, 0), _regret(c, at, 1)
        value, other_value = load16(work.value, child), load16(work.value, child + WIDTH)
        weight, other = maximum(first, fill16(_FLOOR)), maximum(second, fill16(_FLOOR))
        mean = (weight * value + other * other_value) / (weight + other)
        first = _add_regret(c, at, 0, first, value - mean)
        second = _add_regret(c, at, 1, second, other_value - mean)
        if c.factors.ahead > _ZERO:
            weight, other = maximum(first, fill16(_FLOOR)), maximum(second, fill16(_FLOOR))
            after = (weight * value + other * other_value) / (weight + other)
            mean = mean + (after - mean) * c.factors.ahead
        store(work.value, step.node, mean)
        return
    mean = _mean(c, step, at)
    if step.lock >= 0:
        mean = _locked_mean(c, step, block, mean)
    if c.factors.ahead > _ZERO:
        total, after = fill16(_ZERO), fill16(_ZERO)
        for a in range(step.n_actions):
            regret, value = (
                load_as(x.kind, x.own_current, at + WIDTH * a),
                load16(work.value, child + WIDTH * a),
            )
            weight = maximum(_add_regret(c, at, a, regret, value - mean), fill16(_FLOOR))
            total, after = total + weight, after + weight * value
        after = after / total
        if step.lock >= 0:
            after = _locked_mean(c, step, block, after)
        mean = mean + (after - mean) * c.factors.ahead
    else:
        for a in range(step.n_actions):
            regret, value = (
                load_as(x.kind, x.own_current, at + WIDTH * a),
                load16(work.value, child + WIDTH * a),
            )
            _add_regret(c, at, a, regret, value - mean)
    store(work.value, step.node, mean)


@inlined
def _respond(c: Cursor, step: ValueStep, block: int) -> None:
    """Compute the value of one of the traverser's decisions for 16 hands when no regrets change.

    A best response takes the best action; otherwise the traverser follows its own strategy.
    """
    best = load16(c.work.value, step.child)
    if c.factors.mode == BEST:
        for a in range(1, step.n_actions):
            best = maximum(best, load16(c.work.value, step.child + WIDTH * a))
    else:
        best = _mean(c, step, WIDTH * (block * c.round.program.n_own_slots + step.slot))
    if step.lock >= 0:
        best = _locked_mean(c, step, block, best)
    store(c.work.value, step.node, best)


@inlined
def _regret(c: Cursor, at: int, a: int):  # type: ignore[no-untyped-def]
    """Load the regrets of action ``a`` for 16 hands, and prefetch the regrets of a later block of hands.

    ``at`` is the offset of the decision's regrets.
    """
    x = c.round
    prefetch_as(x.kind, x.own_current, at + AHEAD * x.program.n_own_slots + WIDTH * a)
    return load_as(x.kind, x.own_current, at + WIDTH * a)


@inlined
def _add_regret(c: Cursor, at: int, a: int, regret, gained):  # type: ignore[no-untyped-def]
    """Discount the regrets of action ``a`` for 16 hands, add the regrets of this iteration, and store and return them.

    Args:
        c: the board.
        at: offset of the decision's regrets.
        a: the action.
        regret: the regrets before this iteration, as `_regret` loads them.
        gained: the value after the action minus the value of the decision.
    """
    x, f = c.round, c.factors
    kept = regret * where_positive(regret, fill16(f.positive), fill16(f.negative))
    regret = kept + gained * x.own_gain
    if f.clip:
        regret = maximum(regret, fill16(_ZERO))
    store_as(x.kind, x.own_current, at + WIDTH * a, regret, f.dither)
    return regret


@inlined
def _mean(c: Cursor, step: ValueStep, at: int):  # type: ignore[no-untyped-def]
    """Value of one of the traverser's decisions by regret matching: ``Σ x_a⁺ v_a / Σ x_a⁺``, with x_a the regrets.

    The decision's regrets begin at offset ``at``. Weights below `FLOOR` are raised to `FLOOR`: where no x_a is
    positive the result is the plain mean, and elsewhere the change is smaller than the rounding.
    """
    total = fill16(_ZERO)
    mean = fill16(_ZERO)
    for a in range(step.n_actions):
        weight = maximum(_regret(c, at, a), fill16(_FLOOR))
        total = total + weight
        mean = mean + weight * load16(c.work.value, step.child + WIDTH * a)
    return mean / total


@inlined
def _locked_mean(c: Cursor, step: ValueStep, block: int, free):  # type: ignore[no-untyped-def]
    """Value of one of the traverser's decisions by locked frequencies; hands without a lock keep the value ``free``."""
    x, value = c.round, c.work.value
    lock = int64_at(x.own_lock_first, step.lock) + WIDTH * block * step.n_actions
    frequency = load16(x.own_locks, lock)
    mean = frequency * load16(value, step.child)
    for a in range(1, step.n_actions):
        mean = mean + load16(x.own_locks, lock + WIDTH * a) * load16(value, step.child + WIDTH * a)
    return where_number(frequency, mean, free)
