"""Walks over boards one below another: down round by round, up as soon as all boards below are done.

`walk` takes boards in depth-first order. `learn_paths` is what sampling does: each deal is a path of one board per
round, walked once for either player; hands are those that the last board leaves, in all rounds the same.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from compiled import inlined, kernel
from solvers.exact.bundle import Packed, unpack, unpack_at
from solvers.exact.vector import (
    HANDS,
    Address,
    fill16,
    float32_at,
    int32_at,
    int64_at,
    load16,
    put_int64,
    store,
)
from solvers.kernels import BEST, UPDATE
from solvers.sampled.kernels import (
    CLASS,
    N_IMAGES,
    NODE_WIDTH,
    ORIGIN,
    ROUND,
    Boards,
    Factors,
    Scratch,
    Table,
    View,
    compare_within,
    enter,
    fold_group,
    gather,
    learn_rows,
    level_up,
    prepare,
    reach,
    respond_hand,
    show_group,
    sums_grow,
    total_up,
    view,
    weigh,
)
from solvers.sampled.program import (
    ALIGNED,
    EXITS,
    FIRST_EXIT,
    FOLDS,
    N_EXITS,
    N_FOLDS,
    N_SHOWS,
    SHOWS,
    WIDTH,
)

_ZERO: Any = np.float32(0)
_HALF: Any = np.float32(0.5)


class Schedule(NamedTuple):
    """How much earlier visits of a class count.

    Attributes:
        averaging: the average weighs visit n by ``n ** averaging``.
        forgetting: regrets are multiplied by ``n^f / (n^f + 1)``; 0: by 1.
    """

    averaging: float
    forgetting: float


@kernel
def walk(
    mode: int,
    schedule: Schedule,
    tables: Packed,
    scratch: Packed,
    boards: Packed,
    first: int,
    last: int,
    n_rounds: int,
    out: Address,
    dither: int,
) -> None:
    """A pass over boards first to last - 1, depth first from one of the first round.

    Args:
        mode: UPDATE learns; BEST responds, EVALUATE follows the strategy.
        schedule: of learning.
        tables: per round, for the traverser.
        scratch: per round.
        boards: see `Boards`.
        first: its first board.
        last: behind its last one.
        n_rounds: of the game.
        out: gets the values of the first board's hands, ``[strip][hand][16]``.
        dither: for the rounding of 16-bit numbers.
    """
    all_boards = unpack(boards)
    depth = -1
    for number in range(first, last):
        t = int64_at(all_boards.nodes, NODE_WIDTH * number + ROUND)
        while depth >= t:
            _go_up(mode, schedule, tables, scratch, boards, depth, n_rounds, out, dither)
            depth -= 1
        depth = t
        put_int64(unpack_at(scratch, t).open, 0, number)
        if t < n_rounds - 1:
            _go_down(mode, schedule, tables, scratch, boards, t, dither)
    while depth >= 0:
        _go_up(mode, schedule, tables, scratch, boards, depth, n_rounds, out, dither)
        depth -= 1


@kernel
def learn_paths(
    schedule: Schedule,
    tables: tuple[Packed, Packed],
    scratch: Packed,
    boards: Packed,
    first: int,
    last: int,
    n_rounds: int,
    out: Address,
    dither: int,
) -> None:
    """Learn from deals first to last - 1, each a path of boards, for player 0 and then for player 1."""
    for deal in range(first, last):
        start = deal * n_rounds
        for p in range(2):
            dither = (dither * 1103515245 + 12345) & 0x7FFFFFFF
            noise = (dither >> 8) & 8191
            mine = tables[0] if p == 0 else tables[1]
            walk(UPDATE, schedule, mine, scratch, boards, start, start + n_rounds, n_rounds, out, noise)


@inlined
def _factors(mode: int, schedule: Schedule, x: Table, class_: int, dither: int) -> Factors:
    """The weights of the visit of a class."""
    before = np.float64(int64_at(x.visits, class_))
    keep = 1.0
    if schedule.forgetting > 0:
        power = before**schedule.forgetting
        keep = power / (power + 1.0)
    decay = (before / (before + 1.0)) ** schedule.averaging
    return Factors(mode, np.float32(keep), np.float32(decay), dither)


@kernel
def _go_down(
    mode: int, schedule: Schedule, tables: Packed, scratch: Packed, boards: Packed, t: int, dither: int
) -> None:
    """Reach through a round that is not the last, to its exits; q's sums grow by the way."""
    x, s, above, cards = unpack_at(tables, t), unpack_at(scratch, t), unpack_at(scratch, max(t - 1, 0)), unpack(boards)
    number, program = int64_at(s.open, 0), x.program
    v, class_ = view(cards, number), int64_at(cards.nodes, NODE_WIDTH * number + CLASS)
    f = _factors(mode, schedule, x, class_, dither)
    for strip in range(program.n_strips):
        at = WIDTH * strip
        enter(x, s, above, cards, v, strip, t == 0)
        width = reach(x, class_, strip, s.other, x.other, program.other_size, False)
        if mode == UPDATE:
            for row in range(program.n_rows):
                store(s.row_reach, HANDS * row, fill16(_ZERO))
            for h in range(v.n_hands):
                row = HANDS * int32_at(v.rows, h)
                store(s.row_reach, row, load16(s.row_reach, row) + load16(s.reach, HANDS * h))
            sums_grow(x, s, f, class_, strip, width)
        for e in range(int64_at(program.strips, at + N_EXITS)):
            sequence = int64_at(program.code, int64_at(program.strips, at + EXITS) + 3 * e + 1)
            to = HANDS * (int64_at(program.strips, at + FIRST_EXIT) + e) * s.n_most
            for h in range(v.n_hands):
                sigma = load16(s.other, int32_at(v.rows, h) * width + sequence)
                store(s.exits, to + HANDS * h, load16(s.reach, HANDS * h) * sigma)
                if not cards.direct:
                    store(s.below, to + HANDS * h, fill16(_ZERO))


@kernel
def _go_up(
    mode: int,
    schedule: Schedule,
    tables: Packed,
    scratch: Packed,
    boards: Packed,
    t: int,
    n_rounds: int,
    out: Address,
    dither: int,
) -> None:
    """Values of a round's open board, from its leaves and from what the boards below left, to the board above."""
    x, s, above, cards = unpack_at(tables, t), unpack_at(scratch, t), unpack_at(scratch, max(t - 1, 0)), unpack(boards)
    number, program, final = int64_at(s.open, 0), x.program, t == n_rounds - 1
    v, class_ = view(cards, number), int64_at(cards.nodes, NODE_WIDTH * number + CLASS)
    f = _factors(mode, schedule, x, class_, dither)
    n_groups = prepare(s, v, program.n_rows, final)
    for strip in range(program.n_strips):
        at = WIDTH * strip
        n_shows, n_folds = int64_at(program.strips, at + N_SHOWS), int64_at(program.strips, at + N_FOLDS)
        enter(x, s, above, cards, v, strip, t == 0)
        width = reach(x, class_, strip, s.other, x.other, program.other_size, False)
        gather(s, v, n_groups, program.n_rows, final)
        if mode == UPDATE and final:
            sums_grow(x, s, f, class_, strip, width)
        shows, folds = int64_at(program.strips, at + SHOWS), int64_at(program.strips, at + FOLDS)
        total_up(x, s, v, n_groups, folds, n_folds, n_shows * v.stride, width, final)
        if n_shows > 0:
            total_up(x, s, v, n_groups, shows, n_shows, 0, width, final)
            for place in range(0, n_shows * v.stride, HANDS):  # nothing is below the first segment
                store(s.totals, place, load16(s.totals, place) * -_HALF)
            compare_within(s, v, n_groups)
        if mode == BEST:
            _respond(x, s, v, at, n_groups, width, final)
        else:
            _follow(mode, x, s, v, f, class_, strip, n_groups, width, final)
        if t == 0:
            for h in range(v.n_hands):
                store(out, HANDS * (strip * s.n_most + h), load16(s.hand_values, HANDS * h))
        else:
            _hand_up(x, s, above, cards, v, number, strip)
    if mode == UPDATE:
        put_int64(x.visits, class_, int64_at(x.visits, class_) + 1)


@inlined
def _respond(x: Table, s: Scratch, v: View, at: int, n_groups: int, width: int, final: bool) -> None:
    """Every hand's best response."""
    n_shows = int64_at(x.program.strips, at + N_SHOWS)
    behind = (n_shows + int64_at(x.program.strips, at + N_FOLDS)) * v.stride
    if not final:
        for h in range(v.n_hands):
            row = int32_at(v.rows, h)
            respond_hand(x, s, v, at, h, row, width, behind)
        return
    g = h = 0
    while g < n_groups:
        end = _level_end(s, g, n_groups)
        level_up(x, s, v, at, g, end, width)
        while g < end:
            stop = int64_at(s.segment_end, g)
            while h < stop:
                respond_hand(x, s, v, at, h, int64_at(s.segment_row, g), width, behind)
                h += 1
            g += 1


@inlined
def _level_end(s: Scratch, g: int, n_groups: int) -> int:
    end = g + 1
    while end < n_groups and int64_at(s.segment_level, end) == int64_at(s.segment_level, g):
        end += 1
    return end


@inlined
def _follow(
    mode: int,
    x: Table,
    s: Scratch,
    v: View,
    f: Factors,
    class_: int,
    strip: int,
    n_groups: int,
    width: int,
    final: bool,
) -> None:
    """Every hand's value by p's own strategy, which learns where that is asked for."""
    program, at, all_ = x.program, WIDTH * strip, HANDS * (v.n_places - 1)
    n_shows = int64_at(program.strips, at + N_SHOWS)
    n_lanes, n_exits = n_shows + int64_at(program.strips, at + N_FOLDS), int64_at(program.strips, at + N_EXITS)
    own_width = reach(x, class_, strip, s.own, x.own, program.own_size, True)
    for n in range(0, HANDS * program.n_rows * n_lanes, HANDS):
        store(s.values, n, fill16(_ZERO))
    if final:
        g = h = 0
        while g < n_groups:
            end = _level_end(s, g, n_groups)
            alone = end == g + 1
            if not alone and n_shows > 0:
                level_up(x, s, v, at, g, end, width)
            while g < end:
                row, stop = int64_at(s.segment_row, g), int64_at(s.segment_end, g)
                weigh(x, s, at, row, own_width)
                fold_group(x, s, v, at, g, row, width, 0, n_lanes)
                inside = show_group(x, s, v, at, g, row, width, n_lanes, alone)
                same = load16(s.same, HANDS * g)
                while h < stop:
                    a, c = HANDS * int32_at(v.cards, 2 * h), HANDS * int32_at(v.cards, 2 * h + 1)
                    value = load16(s.mixed, all_) - (load16(s.mixed, a) + load16(s.mixed, c))
                    value = value + same * load16(s.reach, HANDS * h) + inside * load16(s.within, HANDS * h)
                    store(s.hand_values, HANDS * h, value)
                    h += 1
                g += 1
    else:
        for row in range(n_groups):
            weigh(x, s, at, row, own_width)
            fold_group(x, s, v, at, row, row, width, row * v.stride, n_lanes)
        for h in range(v.n_hands):
            row = int32_at(v.rows, h)
            first = row * v.stride
            a, c = first + HANDS * int32_at(v.cards, 2 * h), first + HANDS * int32_at(v.cards, 2 * h + 1)
            value = load16(s.mixed, first + all_) - (load16(s.mixed, a) + load16(s.mixed, c))
            value = value + load16(s.same, HANDS * row) * load16(s.reach, HANDS * h)
            store(s.hand_values, HANDS * h, value)
        _exits_up(x, s, v, at, n_exits, own_width)
    if mode == UPDATE:
        learn_rows(x, s, f, class_, at, n_lanes, n_exits)


@inlined
def _exits_up(x: Table, s: Scratch, v: View, at: int, n_exits: int, own_width: int) -> None:
    """What the boards below are worth: to hands, as often as they get there, and to rows."""
    program, first_exit = x.program, int64_at(x.program.strips, at + FIRST_EXIT)
    for n in range(0, HANDS * program.n_rows * n_exits, HANDS):
        store(s.row_exits, n, fill16(_ZERO))
    for e in range(n_exits):
        sequence = int64_at(program.code, int64_at(program.strips, at + EXITS) + 3 * e + 2)
        below = HANDS * (first_exit + e) * s.n_most
        for h in range(v.n_hands):
            row, worth = int32_at(v.rows, h), load16(s.below, below + HANDS * h)
            to = HANDS * (row * n_exits + e)
            store(s.row_exits, to, load16(s.row_exits, to) + worth)
            value = load16(s.hand_values, HANDS * h) + worth * load16(s.own, row * own_width + sequence)
            store(s.hand_values, HANDS * h, value)


@inlined
def _hand_up(x: Table, s: Scratch, above: Scratch, cards: Boards, v: View, number: int, strip: int) -> None:
    """Hand a strip's root values to the exits above that it was entered by."""
    exit_, first = int64_at(x.program.strips, WIDTH * strip + ALIGNED), NODE_WIDTH * number
    n_images, first_origin = int64_at(cards.nodes, first + N_IMAGES), int64_at(cards.nodes, first + ORIGIN)
    if exit_ >= 0:
        to = HANDS * exit_ * above.n_most
        if cards.direct:
            for h in range(v.n_hands):
                store(above.below, to + HANDS * h, load16(s.hand_values, HANDS * h))
            return
        for image in range(n_images):
            origin = first_origin + image * v.n_hands
            for h in range(v.n_hands):
                place = to + HANDS * int32_at(cards.origin, origin + h)
                worth = load16(s.hand_values, HANDS * h) * x.probability
                store(above.below, place, load16(above.below, place) + worth)
        return
    for lane in range(HANDS):
        at = 2 * (HANDS * strip + lane)
        exit_, to_lane = int64_at(x.program.sources, at), int64_at(x.program.sources, at + 1)
        if to_lane < 0:
            continue
        to = HANDS * exit_ * above.n_most + to_lane
        if cards.direct:
            for h in range(v.n_hands):
                store(above.below, to + HANDS * h, float32_at(s.hand_values, HANDS * h + lane))
            continue
        for image in range(n_images):
            origin = first_origin + image * v.n_hands
            for h in range(v.n_hands):
                place = to + HANDS * int32_at(cards.origin, origin + h)
                worth = float32_at(s.hand_values, HANDS * h + lane) * x.probability
                store(above.below, place, float32_at(above.below, place) + worth)
