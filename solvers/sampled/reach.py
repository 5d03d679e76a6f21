"""Reach within a round, and updates of the opponent's average strategy.

With σ_a the frequency of action a at a decision,

    reach[row][child a] = reach[row][decision] · σ_a[row]
    average[row] ← average[row] + share · (sum_scale · row_reach[row] · reach[row] − average[row])

where ``row_reach`` is the opponent's reach at the start of the round, summed over the row's hands, and ``sum_scale``
scales the round's averages (`RoundView`). Slow, plain version:
`solvers.reference.kernels.reach_down`, and for averages `tests/naive_averages.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from compiled import inlined
from compiled.precision import DITHER_STEPS, load_as, prefetch_as, quantum_of, store_as
from compiled.records import record_at
from compiled.vector import WIDTH, Address, fill16, floor16, int32_at, load16, store
from solvers.matching import regret_match
from solvers.sampled.views import Cursor, VisitFactors, other_width

_ZERO: Any = np.float32(0)
_ONE: Any = np.float32(1)
LARGE_SHARE: Any = np.float32(2**-10)
"""Weight of a visit above which an average is updated in plain single precision.

Rounding then loses 2 ** -25 of the average, which is less than 3.1e-5 of the weight.
"""


@inlined
def own_reach(c: Cursor) -> None:
    """Fill ``work.own`` for a batch of lines: the traverser's reach within the round, for each row and sequence."""
    x, batch = c.round, c.batch
    start = c.board.board_bucket * x.program.own_size + batch.own_first
    _reach(c, x.own, start, batch.own_slots, batch.own_down, batch.n_own_down, c.work.own)


@inlined
def other_reach(c: Cursor) -> None:
    """Fill ``work.other`` for a batch of lines: the opponent's reach within the round, for each row and sequence."""
    x, batch = c.round, c.batch
    start = c.board.board_bucket * x.program.other_size + batch.other_first
    _reach(c, x.other, start, batch.other_slots, batch.other_down, batch.n_other_down, c.work.other)


@inlined
def _reach(
    c: Cursor, numbers: Address, start: int, slots: int, down: int, n_down: int, reach: Address
) -> None:
    """Compute one player's reach ``[row][sequence][lane]`` within the round, for 16 lines, by regret matching.

    Rows without hands on the board are skipped.

    Args:
        c: batch of lines on a board.
        numbers: the player's regrets (or averages).
        start: offset of the batch in ``numbers``.
        slots: number of the player's slots (actions of all decisions) in the batch.
        down: the player's first step in ``program.reach_steps``.
        n_down: number of these steps.
        reach: output.
    """
    program = c.round.program
    for row in range(program.n_rows):
        if int32_at(c.work.row_hands, row) == 0:
            continue
        to, at = c.at_rows + row * WIDTH * (1 + slots), start + row * WIDTH * slots
        store(reach, to, fill16(_ONE))
        for k in range(down, down + n_down):
            step = record_at(program.reach_steps, k)
            child = to + WIDTH * (1 + step.slot)
            regret_match(
                c.round.kind, numbers, at + WIDTH * step.slot, step.n_actions, reach, to + step.parent, child
            )


@inlined
def sum_rows(c: Cursor) -> None:
    """Fill ``work.row_reach``: the opponent's reach at the start of the round, summed over each row's hands."""
    for row in range(c.round.program.n_rows):
        store(c.work.row_reach, WIDTH * row, fill16(_ZERO))
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
    added, since adding a small step to a large number would lose it. If the share is above `LARGE_SHARE`, the step is
    added directly.
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
