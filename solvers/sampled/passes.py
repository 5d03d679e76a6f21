"""Walks over boards one below another: down round by round, up as soon as all boards below are done.

`walk` takes boards in depth-first order. `learn_paths` is what sampling does: each deal is a path of one board per
round, walked once for either player; hands are those that the last board leaves, in all rounds the same.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from compiled import inlined, kernel
from compiled.precision import DITHER_STEPS
from compiled.records import Packed, unpack, unpack_at
from compiled.vector import WIDTH, Address, fill16, int32_at, int64_at, load16, put_int64, store
from solvers.reference.kernels import BEST, EVALUATE, UPDATE
from solvers.sampled.answer import answer, mirror_down
from solvers.sampled.kernels import (
    BLOCK,
    CLASS,
    NODE_WIDTH,
    ROUND,
    Boards,
    Factors,
    Scratch,
    Table,
    View,
    Way,
    arrive,
    average,
    clear_values,
    enter_round,
    fold_group,
    fold_hand,
    hand_out,
    hands_up,
    learn_rows,
    level_end,
    level_up,
    prefetch_row,
    prepare,
    reach,
    respond,
    respond_last,
    show_group,
    total_folds,
    total_up,
    view,
    way_of,
    weigh,
)
from solvers.sampled.program import ALIGNED, N_COLUMNS, N_SHOWS

GOLDEN = (5**0.5 - 1) / 2
BELOW_ONE: Any = np.nextafter(np.float32(1), np.float32(0))
_ZERO: Any = np.float32(0)
_ONE: Any = np.float32(1)


class Schedule(NamedTuple):
    """Weights of earlier visits of a class in its regrets and averages.

    Attributes:
        averaging: the power with which the weight of a visit in the average grows, see `share`.
        forgetting: regrets are multiplied by ``n^f / (n^f + 1)``; 0: by 1.
        sinking: regrets below 0 are multiplied by ``n^s / (n^s + 1)``; below 0: they are floored at 0.
        answering: share of the opponent's play on the last round that is its best answer on the dealt board, 0 to 1;
            see `solvers.sampled.answer`.
    """

    averaging: float
    forgetting: float
    sinking: float
    answering: float = 0.0


@kernel
def walk(
    mode: int,
    best_from: int,
    schedule: Schedule,
    tables: tuple[Packed, Packed],
    scratch: tuple[Packed, Packed],
    boards: Packed,
    first: int,
    last: int,
    n_rounds: int,
    out: Address,
    dither: int,
    depth: int,
    ends: bool,
) -> int:
    """Do a pass, or a part of one, over boards first to last - 1: depth first, beginning at a board of the first round.

    Args:
        mode: UPDATE learns; BEST responds, EVALUATE follows the strategy.
        best_from: the first round in which BEST responds; earlier rounds are evaluated.
        schedule: weights of visits.
        tables: numbers of each round, for the traverser, and for the opponent as traverser.
        scratch: buffers of each round, of the traverser and of its mirror.
        boards: the boards, see `Boards`.
        first: number of the first board of this part.
        last: number after that of the last board of this part.
        n_rounds: number of rounds of the game.
        out: gets the values of the first board's hands, ``[strip][hand][16]``.
        dither: how 16-bit numbers are rounded, see `compiled.vector.store_as`.
        depth: round of the board that the previous part has left open; -1 for the first part.
        ends: whether this is the last part.

    Returns:
        The ``depth`` of the next part.
    """
    all_boards, answering = unpack(boards), mode == UPDATE and schedule.answering > 0
    for number in range(first, last):
        t = int64_at(all_boards.nodes, NODE_WIDTH * number + ROUND)
        while depth >= t:
            _go_up(mode, best_from, schedule, tables, scratch, boards, depth, n_rounds, out, dither)
            depth -= 1
        depth = t
        put_int64(unpack_at(scratch[0], t).open, 0, number)
        if t < n_rounds - 1:
            _go_down(_mode_of(mode, best_from, t), schedule, tables[0], scratch[0], boards, t, dither)
            if answering:
                mirror_down(tables[1], scratch[1], boards, t)
    while ends and depth >= 0:
        _go_up(mode, best_from, schedule, tables, scratch, boards, depth, n_rounds, out, dither)
        depth -= 1
    return depth


@inlined
def _mode_of(mode: int, best_from: int, t: int) -> int:
    """The mode of a round."""
    return EVALUATE if mode == BEST and t < best_from else mode


@kernel
def learn_paths(
    schedule: Schedule,
    tables: tuple[Packed, Packed],
    scratch: tuple[Packed, Packed],
    boards: Packed,
    first: int,
    last: int,
    n_rounds: int,
    out: Address,
    number: int,
) -> None:
    """Learn from deals first to last - 1, each a path of boards, for one player and then for the other.

    ``number`` is that of deal 0 among all, on which depend who is first and how 16-bit numbers are rounded.
    """
    for deal in range(first, last):
        start = deal * n_rounds
        for turn in range(2):
            p = (number + deal + turn) & 1
            dither = (((2 * (number + deal) + p) * 2654435761) >> 8) & (DITHER_STEPS - 1)
            views = tables if p == 0 else (tables[1], tables[0])
            end = start + n_rounds
            walk(UPDATE, 0, schedule, views, scratch, boards, start, end, n_rounds, out, dither, -1, True)


@inlined
def share(visit: int, averaging: float) -> float:
    """Weight of visit n = 1, 2, ... in the average over visits 1 to n: ``(a + 1) / (n + a)``.

    In the average over many visits, visit k then weighs ``k (k + 1) .. (k + a - 1)``, which grows like ``k ** a``
    (O. Shamir and T. Zhang 2013). Averages of numbers in [0, 1] stay in [0, 1], however many visits there are.
    """
    return (averaging + 1.0) / (visit + averaging)


@inlined
def rounding(visits: int) -> np.floating[Any]:
    """`Factors.rounding` after some visits: multiples of the golden section, which lie evenly in [0, 1)."""
    return min(np.float32(visits * GOLDEN % 1.0), BELOW_ONE)


@inlined
def _factors(schedule: Schedule, x: Table, class_: int, dither: int) -> Factors:
    """The weights of the next visit of a class."""
    visits = int64_at(x.visits, class_)
    before = np.float64(visits)
    keep, sink = 1.0, 0.0
    if schedule.forgetting > 0:
        power = before**schedule.forgetting
        keep = power / (power + 1.0)
    if schedule.sinking >= 0:
        power = before**schedule.sinking
        sink = power / (power + 1.0)
    mine = np.float32(share(visits + 1, schedule.averaging))
    factors: Factors = Factors(keep, np.float32(sink), mine, dither, rounding(visits))
    return factors


@kernel
def _go_down(
    mode: int, schedule: Schedule, tables: Packed, scratch: Packed, boards: Packed, t: int, dither: int
) -> None:
    """Reach through a round that is not the last; q's averages move on the way, and buffers for values are cleared."""
    x, s, cards = unpack_at(tables, t), unpack_at(scratch, t), unpack(boards)
    number, program = int64_at(s.open, 0), x.program
    v, class_ = view(cards, number), int64_at(cards.nodes, NODE_WIDTH * number + CLASS)
    f, learns = _factors(schedule, x, class_, dither), mode == UPDATE and int64_at(x.ahead, class_) == 0
    for strip in range(program.n_strips):
        first, wide = WIDTH * strip * s.n_most, strip * s.n_wide
        enter_round(tables, scratch, cards, t, v, strip, first)
        reach(x, class_, strip, s.other, wide, x.other, program.other_size, False)
        if learns:
            for row in range(program.n_rows):
                store(s.row_reach, WIDTH * row, fill16(_ZERO))
            for h in range(v.n_hands):
                row = WIDTH * int32_at(v.rows, h)
                store(s.row_reach, row, load16(s.row_reach, row) + load16(s.reach, first + WIDTH * h))
            average(x, s, f, class_, strip, wide)
        if mode != BEST:
            reach(x, class_, strip, s.own, wide, x.own, program.own_size, True)
            for n in range(0, WIDTH * v.n_hands, WIDTH):
                store(s.hand_exits, first + n, fill16(_ZERO))
            for n in range(0, s.n_ends, WIDTH):
                store(s.row_exits, strip * s.n_ends + n, fill16(_ZERO))
    if mode == BEST:
        for exit_ in range(program.n_exits):
            for n in range(0, WIDTH * v.n_hands, WIDTH):
                store(s.below, WIDTH * exit_ * s.n_most + n, fill16(_ZERO))


@kernel
def _go_up(
    whole_mode: int,
    best_from: int,
    schedule: Schedule,
    tables: tuple[Packed, Packed],
    scratch: tuple[Packed, Packed],
    boards: Packed,
    t: int,
    n_rounds: int,
    out: Address,
    dither: int,
) -> None:
    """Values of a round's open board, from its leaves and from what the boards below left, to the board above."""
    mode, mode_above = _mode_of(whole_mode, best_from, t), _mode_of(whole_mode, best_from, t - 1)
    x, s, cards = unpack_at(tables[0], t), unpack_at(scratch[0], t), unpack(boards)
    number, program, final = int64_at(s.open, 0), x.program, t == n_rounds - 1
    v, class_ = view(cards, number), int64_at(cards.nodes, NODE_WIDTH * number + CLASS)
    f, learns = _factors(schedule, x, class_, dither), mode == UPDATE and int64_at(x.ahead, class_) == 0
    n_groups = prepare(s, v) if final else 0
    above, up = unpack_at(scratch[0], max(t - 1, 0)), unpack_at(tables[0], max(t - 1, 0))
    w = view(cards, int64_at(above.open, 0))
    for strip in range(program.n_strips):
        at = N_COLUMNS * strip
        exit_ = int64_at(program.strips, at + ALIGNED) if t > 0 else -1
        way = way_of(up, above, max(exit_, 0), 0, exit_ >= 0)
        if final:
            if not way.aligned:
                enter_round(tables[0], scratch[0], cards, t, v, strip, 0)
            reach(x, class_, strip, s.other, 0, x.other, program.other_size, False)
            arrive(s, above, cards, v, w, way, n_groups, program.n_rows)
            if learns:
                average(x, s, f, class_, strip, 0)
            if mode == UPDATE and schedule.answering > 0:
                answer(schedule.answering, tables[1], scratch[1], boards, t, strip, n_groups, s.other)
            total_up(x, s, v, at)
            if mode == BEST:
                _respond_last(mode_above, x, s, above, cards, v, w, way, at, n_groups)
            else:
                reach(x, class_, strip, s.own, 0, x.own, program.own_size, True)
                _follow_last(learns, mode_above, x, s, above, cards, v, w, way, f, class_, strip, n_groups)
        else:
            first, wide = WIDTH * strip * s.n_most, strip * s.n_wide
            total_folds(x, s, v, at, wide, first)
            if mode == BEST:
                _respond(mode_above, x, s, above, cards, v, w, way, strip)
            else:
                _follow(learns, mode_above, x, s, above, cards, v, w, way, f, class_, strip)
        if t == 0:
            for h in range(v.n_hands):
                store(out, WIDTH * (strip * s.n_most + h), load16(s.hand_values, WIDTH * h))
        elif not way.aligned:
            hands_up(mode_above, x, up, s, above, cards, v, w, strip)
    if learns:
        put_int64(x.visits, class_, int64_at(x.visits, class_) + 1)
    elif mode == UPDATE:
        put_int64(x.ahead, class_, max(0, int64_at(x.ahead, class_) - 1))


@inlined
def _respond_last(
    mode_above: int,
    x: Table,
    s: Scratch,
    above: Scratch,
    cards: Boards,
    v: View,
    w: View,
    way: Way,
    at: int,
    n_groups: int,
) -> None:
    """Every hand's best response in the last round."""
    g = h = 0
    while g < n_groups:
        end = level_end(s, g, n_groups)
        level_up(x, s, v, at, g, end)
        while g < end:
            stop, row = int64_at(s.segment_end, g), int64_at(s.segment_row, g)
            while h < stop:
                n = min(BLOCK, stop - h)
                respond_last(x, s, v, at, h, n, row)
                _out(mode_above, x, s, above, cards, v, w, way, h, n)
                h += n
            g += 1


@inlined
def _respond(
    mode_above: int,
    x: Table,
    s: Scratch,
    above: Scratch,
    cards: Boards,
    v: View,
    w: View,
    way: Way,
    strip: int,
) -> None:
    """The same in a round that boards follow."""
    at, begin, reach_ = N_COLUMNS * strip, strip * s.n_wide, WIDTH * strip * s.n_most
    for h in range(0, v.n_hands, BLOCK):
        n = min(BLOCK, v.n_hands - h)
        respond(x, s, v, at, h, n, begin, reach_)
        _out(mode_above, x, s, above, cards, v, w, way, h, n)


@inlined
def _out(
    mode_above: int,
    x: Table,
    s: Scratch,
    above: Scratch,
    cards: Boards,
    v: View,
    w: View,
    way: Way,
    first: int,
    n: int,
) -> None:
    """What best responses are worth to hands."""
    for i in range(n):
        hand_out(mode_above, x, s, above, cards, v, w, way, first + i, load16(s.nodes, WIDTH * i))


@inlined
def _follow_last(
    learns: bool,
    mode_above: int,
    x: Table,
    s: Scratch,
    above: Scratch,
    cards: Boards,
    v: View,
    w: View,
    way: Way,
    f: Factors,
    class_: int,
    strip: int,
    n_groups: int,
) -> None:
    """Every hand's value in the last round by p's own strategy, which learns where that is asked for."""
    program, at, all_ = x.program, N_COLUMNS * strip, WIDTH * (v.n_places - 1)
    n_shows = int64_at(program.strips, at + N_SHOWS)
    weigh(x, s, at, 0)
    clear_values(x, s, at)
    for g in range(n_groups):  # apart from showdowns: either kind's totals fill the first-level cache
        fold_group(x, s, v, at, g, int64_at(s.segment_row, g))
        if g < program.n_rows and strip + 1 < program.n_strips:
            prefetch_row(x, class_, strip + 1, g)
    g = h = 0
    while g < n_groups:
        end = level_end(s, g, n_groups)
        alone = end == g + 1
        if not alone and n_shows > 0:
            level_up(x, s, v, at, g, end)
        while g < end:
            stop, mixed = int64_at(s.segment_end, g), g * v.stride
            inside = show_group(x, s, v, at, g, int64_at(s.segment_row, g), alone)
            same, all_mixed = load16(s.same, WIDTH * g), load16(s.mixed, mixed + all_)
            while h < stop:
                a, c = mixed + WIDTH * int32_at(v.cards, 2 * h), mixed + WIDTH * int32_at(v.cards, 2 * h + 1)
                value = all_mixed - (load16(s.mixed, a) + load16(s.mixed, c))
                value = value + same * load16(s.reach, WIDTH * h) + inside * load16(s.within, WIDTH * h)
                hand_out(mode_above, x, s, above, cards, v, w, way, h, value)
                h += 1
            g += 1
    if learns:
        learn_rows(x, s, f, class_, at, 0)


@inlined
def _follow(
    learns: bool,
    mode_above: int,
    x: Table,
    s: Scratch,
    above: Scratch,
    cards: Boards,
    v: View,
    w: View,
    way: Way,
    f: Factors,
    class_: int,
    strip: int,
) -> None:
    """The same in a round that boards follow."""
    at, first = N_COLUMNS * strip, WIDTH * strip * s.n_most
    weigh(x, s, at, strip * s.n_wide)
    clear_values(x, s, at)
    for h in range(v.n_hands):
        value = fold_hand(x, s, v, at, h, strip * s.n_wide, first) + load16(s.hand_exits, first + WIDTH * h)
        hand_out(mode_above, x, s, above, cards, v, w, way, h, value)
    if learns:
        learn_rows(x, s, f, class_, at, strip * s.n_ends)
