"""Reach within a round, and updates of the opponent's average strategy.

    reach[row][child a] = reach[row][parent] · σ_a[row]            A ← A + share · (r[row] · reach[row] − A)

Slow twin: `solvers.reference.kernels.reach_down`, and for averages `tests/naive_averages.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from compiled import inlined
from compiled.precision import DITHER_STEPS, load_as, prefetch_as, quantum_of, store_as
from compiled.records import record_at
from compiled.vector import WIDTH, Address, fill16, floor16, load16, store
from solvers.matching import regret_match
from solvers.sampled.views import Cursor, VisitFactors, other_width

_ZERO: Any = np.float32(0)
_ONE: Any = np.float32(1)
LARGE_SHARE: Any = np.float32(2**-10)
"""Share above which a term is added to an average directly.

Adding in single precision loses 2 ** -25 of the average, which is less than 3e-5 of such a share.
"""


@inlined
def own_reach(c: Cursor) -> None:
    """Fill ``work.own`` with p's reach."""
    x, batch = c.round, c.batch
    start = c.board.class_ * x.program.own_size + batch.own_first
    _reach(c, x.own, start, batch.own_slots, batch.own_down, batch.n_own_down, c.work.own)


@inlined
def other_reach(c: Cursor) -> None:
    """Fill ``work.other`` with q's reach."""
    x, batch = c.round, c.batch
    start = c.board.class_ * x.program.other_size + batch.other_first
    _reach(c, x.other, start, batch.other_slots, batch.other_down, batch.n_other_down, c.work.other)


@inlined
def _reach(
    c: Cursor, numbers: Address, start: int, slots: int, down: int, n_down: int, reach: Address
) -> None:
    """Fill a player's reach ``[row][sequence]`` by regret matching, row by row."""
    program = c.round.program
    for row in range(program.n_rows):
        to, at = c.at_rows + row * WIDTH * (1 + slots), start + row * WIDTH * slots
        store(reach, to, fill16(_ONE))
        for k in range(down, down + n_down):
            step = record_at(program.reach_steps, k)
            child = to + WIDTH * (1 + step.slot)
            regret_match(
                c.round.kind, numbers, at + WIDTH * step.slot, step.n_actions, reach, to + step.parent, child
            )


@inlined
def update_averages(c: Cursor, f: VisitFactors) -> None:
    """Move q's averages the fraction ``share`` of the way to ``work.row_reach`` times q's reach."""
    x, program = c.round, c.round.program
    start, width = c.board.class_ * program.other_size + c.batch.other_first, other_width(c)
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
    """``A ← q · floor((A + share · (played − A)) / q + rounding)``; q is the spacing of stored numbers.

    This rounding is right on average over visits. Rounding to the nearest number would not be: after millions of visits
    a step is smaller than a quantum and would always be dropped. The whole quanta of A are set aside before the step is
    added, since adding a small step to a large number would lose it. A share above `LARGE_SHARE` is added directly.
    """
    now = load_as(kind, averages, at)
    step = (played - now) * share
    if share > LARGE_SHARE:
        store_as(kind, averages, at, now + step, np.int32(rounding * np.float32(DITHER_STEPS)))
        return
    quantum = quantum_of(kind, now + step)
    per = fill16(_ONE) / quantum
    quanta = now * per
    whole = floor16(quanta)
    moved = (whole + floor16((quanta - whole) + step * per + rounding)) * quantum
    store_as(kind, averages, at, moved, np.int32(0))


@inlined
def prefetch_row(c: Cursor, row: int) -> None:
    """Prefetch a row's numbers of the next batch."""
    x, program = c.round, c.round.program
    batch = record_at(program.batches, c.number + 1)
    own, other = WIDTH * batch.own_slots, WIDTH * batch.other_slots
    first = c.board.class_ * program.own_size + batch.own_first + row * own
    for n in range(first, first + own, WIDTH):
        prefetch_as(x.kind, x.own, n)
    first = c.board.class_ * program.other_size + batch.other_first + row * other
    for n in range(first, first + other, WIDTH):
        prefetch_as(x.kind, x.other, n)
        prefetch_as(x.kind, x.other_sums, n)
