"""Link between a batch and the board above: reach enters from its chance leaves, and values return to them.

    r[h] = reach[parent hand of h] · σ[row of the parent hand][sequence of q at the chance leaf]

A batch is *aligned* with a chance leaf above if their 16 lanes are the same lines. Else each of its runs of lanes has a
link of its own, and lanes are moved.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from compiled import inlined
from compiled.records import Packed, record_at, unpack_at
from compiled.vector import WIDTH, fill16, int32_at, int64_at, load16, put_int64, store, where_positive
from solvers.reference.kernels import BEST
from solvers.sampled.program import Program
from solvers.sampled.views import Boards, BoardView, Cursor, RoundView, Workspace, board_view

_ZERO: Any = np.float32(0)
_ONE: Any = np.float32(1)


class Parent(NamedTuple):
    """The board above.

    Attributes:
        program: steps of its round.
        work: buffers of its round.
        board: the board itself.
        mode: `UPDATE`, `BEST` or `EVALUATE` in the round above.
    """

    program: Program
    work: Workspace
    board: BoardView
    mode: int


class ParentLink(NamedTuple):
    """Offsets of a chance leaf in the buffers of the board above.

    Attributes:
        aligned: whether the link serves a whole batch; else it serves one run of its lanes.
        other_width, own_width: numbers in a row of ``other`` and of ``own``.
        exits_width: numbers in a row of ``row_exits``.
        hands: offset in ``reach`` and ``hand_exits``.
        other, own: offsets in ``other`` and ``own``.
        exits: offset in ``row_exits``.
        continuation: offset in ``continuation``.
    """

    aligned: bool
    other_width: int
    own_width: int
    exits_width: int
    hands: int
    other: int
    own: int
    exits: int
    continuation: int


@inlined
def parent_of(x: RoundView, boards: Boards, work: Workspace, mode: int) -> Parent:
    """Make the view of the open board in the round above, from that round's view x."""
    return Parent(x.program, work, board_view(boards, int64_at(work.open, 0)), mode)


@inlined
def link_to(parent: Parent, leaf: int, lane: int, aligned: bool) -> ParentLink:
    """Make the link to chance leaf ``leaf`` of the round above, starting at its lane ``lane``."""
    work, exit_ = parent.work, record_at(parent.program.exits, leaf)
    batch = record_at(parent.program.batches, exit_.batch)
    wide = exit_.batch * work.n_wide + lane
    return ParentLink(
        aligned,
        WIDTH * (1 + batch.other_slots),
        WIDTH * (1 + batch.own_slots),
        WIDTH * batch.n_exits,
        WIDTH * exit_.batch * work.n_most + lane,
        wide + exit_.other_sequence,
        wide + exit_.own_sequence,
        exit_.batch * work.n_ends + WIDTH * exit_.number + lane,
        WIDTH * leaf * work.n_most + lane,
    )


@inlined
def link_of(c: Cursor, parent: Parent, first: bool) -> ParentLink:
    """Make the link of an aligned batch; for other batches only the field ``aligned`` is valid."""
    leaf = -1 if first else c.batch.aligned
    return link_to(parent, max(leaf, 0), 0, leaf >= 0)


@inlined
def enter_round(views: Packed, works: Packed, boards: Boards, t: int, c: Cursor) -> None:
    """Fill ``work.reach`` of a batch, from the board above or, in the first round, from the deal."""
    if t == 0:
        for n in range(0, WIDTH * c.board.n_hands, WIDTH):
            store(c.work.reach, c.at_hands + n, fill16(_ONE))
        return
    parent = parent_of(unpack_at(views, t - 1), boards, unpack_at(works, t - 1), BEST)
    if c.batch.aligned >= 0:
        link = link_to(parent, c.batch.aligned, 0, True)
        for h in range(c.board.n_hands):
            store(c.work.reach, c.at_hands + WIDTH * h, entering_reach(link, parent, c.board, h))
        return
    _enter_by_runs(c, parent)


@inlined
def _enter_by_runs(c: Cursor, parent: Parent) -> None:
    """Fill ``work.reach`` run by run, with each run's lanes shifted to their places in this batch."""
    work, program, above = c.work, c.round.program, parent.work
    first, n_runs = c.batch.runs, c.batch.n_runs
    for k in range(n_runs):
        run = record_at(program.runs, first + k)
        link = link_to(parent, run.exit, run.above - run.here, False)
        put_int64(work.offsets, 3 * k, link.hands)
        put_int64(work.offsets, 3 * k + 1, link.other)
        put_int64(work.offsets, 3 * k + 2, link.other_width)
    for h in range(c.board.n_hands):
        o = _parent_hand(c.board, h)
        row, came = int32_at(parent.board.rows, o), fill16(_ZERO)
        for k in range(n_runs):
            at = int64_at(work.offsets, 3 * k + 1) + int64_at(work.offsets, 3 * k + 2) * row
            reach = load16(above.reach, int64_at(work.offsets, 3 * k) + WIDTH * o) * load16(above.other, at)
            came = where_positive(load16(program.run_lanes, WIDTH * 2 * (first + k)), reach, came)
        store(work.reach, c.at_hands + WIDTH * h, came)


@inlined
def entering_reach(link: ParentLink, parent: Parent, board: BoardView, h: int):  # type: ignore[no-untyped-def]
    """Q's reach with hand h at the roots of an aligned batch."""
    o = _parent_hand(board, h)
    sigma = load16(parent.work.other, link.other + link.other_width * int32_at(parent.board.rows, o))
    return load16(parent.work.reach, link.hands + WIDTH * o) * sigma


@inlined
def _parent_hand(board: BoardView, h: int) -> int:
    """Hand on the board above that corresponds to hand h."""
    return h if board.same_hands else int32_at(board.parent_hand, h)


@inlined
def hand_up(c: Cursor, parent: Parent, link: ParentLink, h: int, value) -> None:  # type: ignore[no-untyped-def]
    """Pass the value of a batch to hand h up; keep it for `hands_up` if the batch is not aligned."""
    if link.aligned:
        _pass_up(c, parent, link, h, value)
    else:
        store(c.work.hand_values, WIDTH * h, value)


@inlined
def hands_up(c: Cursor, parent: Parent) -> None:
    """Pass ``work.hand_values`` up, run by run."""
    program, first = c.round.program, c.batch.runs
    for k in range(first, first + c.batch.n_runs):
        run = record_at(program.runs, k)
        link = link_to(parent, run.exit, 0, False)
        inside = load16(program.run_lanes, WIDTH * (2 * k + 1))
        for h in range(c.board.n_hands):
            value = load16(c.work.hand_values, WIDTH * h + run.here - run.above)
            _pass_up(c, parent, link, h, where_positive(inside, value, fill16(_ZERO)))


@inlined
def _pass_up(c: Cursor, parent: Parent, link: ParentLink, h: int, value) -> None:  # type: ignore[no-untyped-def]
    """Add a value to the chance leaf above, once for each dealt board that this board represents.

    A value by hand is weighted by p's own reach above at once; a value by row is summed. A best response keeps values
    by leaf.
    """
    board, above = c.board, parent.work
    worth = value * c.round.probability
    for image in range(board.n_images):
        o = h if board.same_hands else int32_at(board.parent_hand, image * board.n_hands + h)
        if parent.mode == BEST:
            at = link.continuation + WIDTH * o
            store(above.continuation, at, load16(above.continuation, at) + worth)
        else:
            row, at = int32_at(parent.board.rows, o), link.hands + WIDTH * o
            own_reach = load16(above.own, link.own + link.own_width * row)
            store(above.hand_exits, at, load16(above.hand_exits, at) + worth * own_reach)
            at = link.exits + link.exits_width * row
            store(above.row_exits, at, load16(above.row_exits, at) + worth)
