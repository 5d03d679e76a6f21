"""One strip of a round on one board, for traverser p against q, told in the order in which data flows.

Buffers have rows of 16 lanes. On a board both players may hold the same hands h, which the last round sorts by
strength; hand h's row of the strategy is x(h). With r[h] q's reach at the strip's roots and σ_j[x] q's reach, inside
the round, of its j-th sequence:

1. `enter`: r from the exits of the round above; `reach`: σ, and p's own reach, by regret matching, row by row.
2. `gather`: ``R[g][c] = Σ r[h]`` over the hands of *group* g that hold card c, and over all of them in the last place.
   Groups are rows; in the last round *segments*: hands of one row that are neighbours in strength.
3. Totals ``T_j[c] = Σ_g σ_j[g] R[g][c]``. A hand of group g with cards a and b has against it ``T_j[all] - T_j[a] -
   T_j[b]`` (and the same hand, which this takes off twice, once back): what a fold is worth.
4. A showdown is worth what is weaker less what is stronger. Between segments the order is the same for all hands of
   both, so ``D_j[c] = below + below and here - T_j`` serves the whole segment, and runs upward from segment to
   segment; within one, hands are compared one by one, and σ_j is a factor (`within`). All sequences of q share the
   order of hands, so what is counted per hand is counted once per line and not once per leaf.
5. To learn, p's rows need the sums of their hands' values at each leaf, ``Σ_h (D[all] - D[a] - D[b])``, which is a
   product with the number of hands that hold each card; and hands need their values at the roots, where p's own reach
   weighs the leaves, so that one vector ``Q[c] = Σ_j w_j D_j[c]`` serves all leaves. A best response needs every hand's
   value at every leaf.

Rows whose hands are all of one strength may share it with other rows (a tie): a *level* is a run of segments that are
compared as one.

Cards are numbered 0 .. N-1 on a board, place N is that of all hands, and N + 1 the second card of hands that have only
one: what is held against it is kept at 0.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from compiled import inlined
from solvers.exact.vector import (
    HANDS,
    Address,
    fill16,
    float32_at,
    int32_at,
    int64_at,
    load16,
    load16_kept,
    maximum,
    put_int32,
    put_int64,
    store,
    store_kept,
    where_positive,
)
from solvers.kernels import BEST, UPDATE
from solvers.sampled.program import (
    ALIGNED,
    EXITS,
    FIRST_EXIT,
    FOLD_LEAVES,
    FOLDS,
    N_EXITS,
    N_FOLD_LEAVES,
    N_FOLDS,
    N_OTHER_DOWN,
    N_OWN_DOWN,
    N_SHOW_LEAVES,
    N_SHOWS,
    N_UP,
    OTHER_DOWN,
    OTHER_FIRST,
    OTHER_SLOTS,
    OWN_DOWN,
    OWN_FIRST,
    OWN_SLOTS,
    PAY,
    SHOW_LEAVES,
    SHOWS,
    UP,
    WIDTH,
    Program,
)

_ZERO: Any = np.float32(0)
_ONE: Any = np.float32(1)
_HALF: Any = np.float32(0.5)
_TINY: Any = np.float32(1e-30)
ROUND, CLASS, N_HANDS, FIRST_HAND, FIRST_ROW, N_CARDS, ORIGIN, N_IMAGES, NODE_WIDTH = range(9)


class Factors(NamedTuple):
    """What a pass does at p's decisions, and the weights of this visit of a class.

    Regrets become ``max(0, keep * regret + gain)``, sums ``decay * sum + own reach``.
    """

    mode: int
    keep: float
    decay: float
    dither: int


class Boards(NamedTuple):
    """Boards one below another, in the order of a walk; see `solvers.sampled.boards`.

    nodes ``[board, NODE_WIDTH]``; cards ``[hand, 2]``, rows and strength ``[hand]``; origin: the hand above, per image.
    direct: one board is below each, with the same hands.
    """

    nodes: Address
    cards: Address
    rows: Address
    strength: Address
    origin: Address
    direct: bool


class Table(NamedTuple):
    """A round for a traverser: its steps, and the numbers of all classes ``[class][strip][row][slot][16]``.

    Attributes:
        kind: how numbers are kept.
        own_gain: by which regrets are scaled.
        own, other: what strategies are matched from.
        other_sums: q's, which grow.
        visits ``[class]``: how often p's numbers were updated.
        probability: of a board of this round, given what both hold and the board above; 1 where one was drawn.
    """

    program: Program
    kind: np.signedinteger[Any]
    own_gain: np.floating[Any]
    own: Address
    other: Address
    other_sums: Address
    visits: Address
    probability: np.floating[Any]


class Scratch(NamedTuple):
    """A thread's buffers for a round: H hands at most, G groups, X rows, C places per group, L lanes, S sequences.

    reach ``[H]``, groups ``[G][C]``, other and own ``[X][S]``, row_reach ``[X]``, totals ``[3 L][C]``: of showdowns, then
    of folds, then what a level makes of the first; counts (numbers) ``[G][C]``, values ``[X][2 L]``, node ``[node]``,
    mixed ``[G][C]``, same ``[G]``, within ``[H]``, within_sums ``[G]``, by_card ``[C]``, weights ``[2 L]``,
    row_exits ``[X][exits of a strip]``, hand_values ``[H]``; exits and below ``[exit][H]``. Of segments: end, row, level. open: the board at hand.
    """

    n_most: int
    reach: Address
    groups: Address
    other: Address
    own: Address
    row_reach: Address
    totals: Address
    counts: Address
    values: Address
    node: Address
    mixed: Address
    same: Address
    within: Address
    within_sums: Address
    by_card: Address
    weights: Address
    row_exits: Address
    hand_values: Address
    exits: Address
    below: Address
    segment_end: Address
    segment_row: Address
    segment_level: Address
    tie_end: Address
    group_of: Address
    open: Address


class View(NamedTuple):
    """A board as the functions below take it: a row of `Boards.nodes`.

    Attributes:
        n_places: cards and the place of all: N + 1.
        stride: of places, odd, so that those of one card do not crowd one part of the cache.
        two: whether hands have two cards.
    """

    n_hands: int
    cards: Address
    rows: Address
    strength: Address
    origin: int
    n_places: int
    stride: int
    two: bool


@inlined
def view(boards: Boards, number: int) -> View:
    """Board ``number``."""
    at = NODE_WIDTH * number
    n_cards, first = int64_at(boards.nodes, at + N_CARDS), int64_at(boards.nodes, at + FIRST_HAND)
    return View(
        int64_at(boards.nodes, at + N_HANDS),
        boards.cards + 8 * first,
        boards.rows + 4 * int64_at(boards.nodes, at + FIRST_ROW),
        boards.strength + 4 * first,
        int64_at(boards.nodes, at + ORIGIN),
        n_cards + 1,
        HANDS * ((n_cards + 2) | 1),
        int32_at(boards.cards, 2 * first + 1) <= n_cards,
    )


@inlined
def prepare(s: Scratch, v: View, n_rows: int, last: bool) -> int:
    """Groups of a board's hands and how many hands hold each card, once for all strips; return how many groups.

    ``counts[g][c]``: minus the hands of group g that hold card c; in place N all of them.
    """
    n_groups = _segments(s, v) if last else n_rows
    if not last:
        for h in range(v.n_hands):
            put_int32(s.group_of, h, int32_at(v.rows, h))
    n_places, stride = v.n_places, v.stride // HANDS
    for at in range(n_groups * stride):
        store(s.counts, at, _ZERO)
    for h in range(v.n_hands):
        first = int32_at(s.group_of, h) * stride
        for place in range(2):
            at = first + int32_at(v.cards, 2 * h + place)
            store(s.counts, at, float32_at(s.counts, at) - _ONE)
        at = first + n_places - 1
        store(s.counts, at, float32_at(s.counts, at) + _ONE)
    return n_groups


@inlined
def _segments(s: Scratch, v: View) -> int:
    """Segments of the last round's hands: where they end, their rows and levels; and where ties end, hand by hand."""
    n_hands, n, level, h = v.n_hands, 0, -1, 0
    while h < n_hands:
        end = h + 1
        while end < n_hands and int32_at(v.strength, end) == int32_at(v.strength, h):
            end += 1
        for i in range(h, end):
            put_int32(s.tie_end, i, end)
        row = int32_at(v.rows, h)
        alone = int32_at(v.rows, end - 1) == row
        grows = n > 0 and alone and int64_at(s.segment_row, n - 1) == row
        if grows:  # with the level before, if nothing else is in it
            grows = n == 1 or int64_at(s.segment_level, n - 2) != int64_at(s.segment_level, n - 1)
        if not grows:
            level += 1
        for i in range(h, end):
            if not grows and (i == h or int32_at(v.rows, i) != int32_at(v.rows, i - 1)):
                put_int64(s.segment_row, n, int32_at(v.rows, i))
                put_int64(s.segment_level, n, level)
                n += 1
            put_int32(s.group_of, i, n - 1)
            put_int64(s.segment_end, n - 1, i + 1)
        h = end
    return n


@inlined
def enter(x: Table, s: Scratch, above: Scratch, boards: Boards, v: View, strip: int, top: bool) -> None:
    """Step 1: r from the exits above, or from the deal."""
    program = x.program
    exit_ = int64_at(program.strips, WIDTH * strip + ALIGNED)
    if top:
        for h in range(v.n_hands):
            store(s.reach, HANDS * h, fill16(_ONE))
    elif exit_ >= 0:
        first = exit_ * above.n_most
        for h in range(v.n_hands):
            store(s.reach, HANDS * h, load16(above.exits, HANDS * (first + _origin(boards, v, h))))
    else:
        for lane in range(HANDS):
            at = 2 * (HANDS * strip + lane)
            exit_, from_ = int64_at(program.sources, at), int64_at(program.sources, at + 1)
            if from_ < 0:
                for h in range(v.n_hands):
                    store(s.reach, HANDS * h + lane, _ZERO)
                continue
            first = HANDS * exit_ * above.n_most + from_
            for h in range(v.n_hands):
                store(s.reach, HANDS * h + lane, float32_at(above.exits, first + HANDS * _origin(boards, v, h)))


@inlined
def _origin(boards: Boards, v: View, h: int) -> int:
    """The hand above of hand h."""
    return h if v.origin < 0 else int32_at(boards.origin, v.origin + h)


@inlined
def reach(x: Table, base: int, strip: int, into: Address, source: Address, size: int, own: bool) -> int:
    """Step 1: a player's reach ``[row][sequence]`` inside a strip; returns the sequences of a row, times 16."""
    program, at = x.program, WIDTH * strip
    slots = int64_at(program.strips, at + (OWN_SLOTS if own else OTHER_SLOTS))
    first = int64_at(program.strips, at + (OWN_DOWN if own else OTHER_DOWN))
    count = int64_at(program.strips, at + (N_OWN_DOWN if own else N_OTHER_DOWN))
    start = base * size + int64_at(program.strips, at + (OWN_FIRST if own else OTHER_FIRST))
    width = HANDS * (1 + slots)
    for row in range(program.n_rows):
        to, numbers = row * width, start + row * HANDS * slots
        store(into, to, fill16(_ONE))
        for k in range(count):
            n_actions, parent = int64_at(program.code, first + 3 * k), int64_at(program.code, first + 3 * k + 1)
            slot = int64_at(program.code, first + 3 * k + 2)
            _play(x, source, numbers + HANDS * slot, n_actions, into, to + parent, to + HANDS * (1 + slot))
    return width


@inlined
def _play(x: Table, source: Address, at: int, n_actions: int, into: Address, parent: int, child: int) -> None:
    """Reach through one decision, by regret matching; evenly where nothing is positive."""
    arriving = load16(into, parent)
    even = arriving * (_ONE / np.float32(n_actions))
    if n_actions == 2:
        first, second = _positive(x, source, at), _positive(x, source, at + HANDS)
        total = first + second
        scaled = arriving / total
        store(into, child, where_positive(total, first * scaled, even))
        store(into, child + HANDS, where_positive(total, second * scaled, even))
    elif n_actions == 3:
        first, second = _positive(x, source, at), _positive(x, source, at + HANDS)
        third = _positive(x, source, at + 2 * HANDS)
        total = first + second + third
        scaled = arriving / total
        store(into, child, where_positive(total, first * scaled, even))
        store(into, child + HANDS, where_positive(total, second * scaled, even))
        store(into, child + 2 * HANDS, where_positive(total, third * scaled, even))
    else:
        total = fill16(_ZERO)
        for a in range(n_actions):
            total = total + _positive(x, source, at + HANDS * a)
        scaled = arriving / total
        for a in range(n_actions):
            share = where_positive(total, _positive(x, source, at + HANDS * a) * scaled, even)
            store(into, child + HANDS * a, share)


@inlined
def _positive(x: Table, source: Address, at: int):  # type: ignore[no-untyped-def]
    return maximum(load16_kept(x.kind, source, at), fill16(_ZERO))


@inlined
def sums_grow(x: Table, s: Scratch, f: Factors, class_: int, strip: int, width: int) -> None:
    """q's sums: ``decay * sum + r * σ``, by the reach of a row's hands together."""
    program = x.program
    start = class_ * program.other_size + int64_at(program.strips, WIDTH * strip + OTHER_FIRST)
    for row in range(program.n_rows):
        arrived, from_, to = load16(s.row_reach, HANDS * row), row * width + HANDS, start + row * (width - HANDS)
        for slot in range(0, width - HANDS, HANDS):
            grown = load16_kept(x.kind, x.other_sums, to + slot) * f.decay + load16(s.other, from_ + slot) * arrived
            store_kept(x.kind, x.other_sums, to + slot, grown, f.dither)


@inlined
def gather(s: Scratch, v: View, n_groups: int, n_rows: int, last: bool) -> None:
    """Step 2; also ``row_reach``, the reach of each row's hands together."""
    nothing, stride, all_ = fill16(_ZERO), v.stride, HANDS * (v.n_places - 1)
    for at in range(0, n_groups * stride, HANDS):
        store(s.groups, at, nothing)
    for h in range(v.n_hands):
        first, arrived = int32_at(s.group_of, h) * stride, load16(s.reach, HANDS * h)
        a = first + HANDS * int32_at(v.cards, 2 * h)
        c = first + HANDS * int32_at(v.cards, 2 * h + 1)
        store(s.groups, a, load16(s.groups, a) + arrived)
        store(s.groups, c, load16(s.groups, c) + arrived)
        store(s.groups, first + all_, load16(s.groups, first + all_) + arrived)
    if not v.two:
        for g in range(n_groups):
            store(s.groups, g * stride + all_ + HANDS, nothing)
    for row in range(n_rows):
        store(s.row_reach, HANDS * row, nothing)
    for g in range(n_groups):
        row = HANDS * (int64_at(s.segment_row, g) if last else g)
        store(s.row_reach, row, load16(s.row_reach, row) + load16(s.groups, g * stride + all_))


@inlined
def _row(s: Scratch, g: int, last: bool) -> int:
    return int64_at(s.segment_row, g) if last else g


@inlined
def total_up(x: Table, s: Scratch, v: View, n_groups: int, lanes: int, n: int, to: int, width: int, last: bool) -> None:
    """Step 3 for n lanes: T_j, from place ``to`` of the totals on; four lanes at a time."""
    stride, code = v.stride, x.program.code
    j = 0
    while j + 3 < n:
        k0, k1 = int64_at(code, lanes + j), int64_at(code, lanes + j + 1)
        k2, k3 = int64_at(code, lanes + j + 2), int64_at(code, lanes + j + 3)
        for place in range(0, HANDS * v.n_places, HANDS):
            t0 = t1 = t2 = t3 = fill16(_ZERO)
            for g in range(n_groups):
                base, held = _row(s, g, last) * width, load16(s.groups, g * stride + place)
                t0 = t0 + load16(s.other, base + k0) * held
                t1 = t1 + load16(s.other, base + k1) * held
                t2 = t2 + load16(s.other, base + k2) * held
                t3 = t3 + load16(s.other, base + k3) * held
            at = to + j * stride + place
            store(s.totals, at, t0)
            store(s.totals, at + stride, t1)
            store(s.totals, at + 2 * stride, t2)
            store(s.totals, at + 3 * stride, t3)
        j += 4
    while j < n:
        k0 = int64_at(code, lanes + j)
        for place in range(0, HANDS * v.n_places, HANDS):
            t0 = fill16(_ZERO)
            for g in range(n_groups):
                t0 = t0 + load16(s.other, _row(s, g, last) * width + k0) * load16(s.groups, g * stride + place)
            store(s.totals, to + j * stride + place, t0)
        j += 1
    if not v.two:
        for j in range(n):
            store(s.totals, to + j * stride + HANDS * v.n_places, fill16(_ZERO))


@inlined
def compare_within(s: Scratch, v: View, n_groups: int) -> None:
    """Step 4 within segments: for each hand, the reach it beats less the reach that beats it, of its own segment."""
    nothing, start = fill16(_ZERO), 0
    for g in range(n_groups):
        store(s.within_sums, HANDS * g, nothing)
        end = int64_at(s.segment_end, g)
        if int32_at(s.tie_end, start) >= end:  # all of one strength
            for h in range(start, end):
                store(s.within, HANDS * h, nothing)
            start = end
            continue
        for place in range(0, v.stride, HANDS):
            store(s.by_card, place, nothing)
        total, h = nothing, start
        while h < end:
            tie = int32_at(s.tie_end, h)
            for i in range(h, tie):
                a, c = HANDS * int32_at(v.cards, 2 * i), HANDS * int32_at(v.cards, 2 * i + 1)
                store(s.within, HANDS * i, total - (load16(s.by_card, a) + load16(s.by_card, c)))
            for i in range(h, tie):
                a, c = HANDS * int32_at(v.cards, 2 * i), HANDS * int32_at(v.cards, 2 * i + 1)
                arrived = load16(s.reach, HANDS * i)
                store(s.by_card, a, load16(s.by_card, a) + arrived)
                if v.two:
                    store(s.by_card, c, load16(s.by_card, c) + arrived)
                total = total + arrived
            for i in range(h, tie):
                a, c = HANDS * int32_at(v.cards, 2 * i), HANDS * int32_at(v.cards, 2 * i + 1)
                beaten = total - (load16(s.by_card, a) + load16(s.by_card, c))
                store(s.within, HANDS * i, load16(s.within, HANDS * i) + beaten)
            h = tie
        all_within = nothing
        for i in range(start, end):
            a, c = HANDS * int32_at(v.cards, 2 * i), HANDS * int32_at(v.cards, 2 * i + 1)
            rest = total - (load16(s.by_card, a) + load16(s.by_card, c))
            beaten = load16(s.within, HANDS * i) - rest
            store(s.within, HANDS * i, beaten)
            all_within = all_within + beaten
        store(s.within_sums, HANDS * g, all_within)
        start = end


@inlined
def weigh(x: Table, s: Scratch, at: int, row: int, own_width: int) -> None:
    """How p's own reach weighs q's lanes, in ``weights``: showdowns, then folds."""
    strips, code, pay = x.program.strips, x.program.code, int64_at(x.program.strips, at + PAY)
    n_shows, n_folds = int64_at(strips, at + N_SHOWS), int64_at(strips, at + N_FOLDS)
    for j in range(n_shows + n_folds):
        store(s.weights, HANDS * j, fill16(_ZERO))
    for leaf in range(int64_at(strips, at + N_SHOW_LEAVES)):
        where = int64_at(strips, at + SHOW_LEAVES) + 3 * leaf
        j, sequence = HANDS * int64_at(code, where), int64_at(code, where + 2)
        more = load16(s.own, row * own_width + sequence) * load16(x.program.pay, pay)
        store(s.weights, j, load16(s.weights, j) + more)
        pay += HANDS
    for leaf in range(int64_at(strips, at + N_FOLD_LEAVES)):
        where = int64_at(strips, at + FOLD_LEAVES) + 3 * leaf
        j, sequence = HANDS * (n_shows + int64_at(code, where)), int64_at(code, where + 2)
        more = load16(s.own, row * own_width + sequence) * load16(x.program.pay, pay)
        store(s.weights, j, load16(s.weights, j) + more)
        pay += HANDS


@inlined
def fold_group(x: Table, s: Scratch, v: View, at: int, g: int, row: int, width: int, into: int, n_lanes: int) -> None:
    """Step 5 at folds: a group's sums in ``values[row]``, ``Q`` in ``mixed`` from place ``into`` on, and ``same``."""
    strips, code = x.program.strips, x.program.code
    n_shows, n_folds, lanes = (
        int64_at(strips, at + N_SHOWS),
        int64_at(strips, at + N_FOLDS),
        int64_at(strips, at + FOLDS),
    )
    stride, counts = v.stride, g * (v.stride // HANDS)
    for place in range(0, stride, HANDS):
        store(s.mixed, into + place, fill16(_ZERO))
    same = fill16(_ZERO)
    held = load16(s.groups, g * stride + HANDS * (v.n_places - 1))
    j = 0
    while j < n_folds:
        two = j + 1 < n_folds
        k, next_ = n_shows + j, n_shows + j + (1 if two else 0)
        w0, w1 = load16(s.weights, HANDS * k), load16(s.weights, HANDS * next_)
        if not two:
            w1 = fill16(_ZERO)
        sum0 = sum1 = fill16(_ZERO)
        for c in range(v.n_places):
            count = float32_at(s.counts, counts + c)
            t0, t1 = load16(s.totals, k * stride + HANDS * c), load16(s.totals, next_ * stride + HANDS * c)
            sum0 = sum0 + t0 * count
            sum1 = sum1 + t1 * count
            place = into + HANDS * c
            store(s.mixed, place, load16(s.mixed, place) + w0 * t0 + w1 * t1)
        for n in range(2 if two else 1):
            sigma = load16(s.other, row * width + int64_at(code, lanes + j + n))
            there = HANDS * (row * n_lanes + n_shows + j + n)
            mine = sum0 if n == 0 else sum1
            if v.two:
                mine = mine + sigma * held
                same = same + sigma * (w0 if n == 0 else w1)
            store(s.values, there, load16(s.values, there) + mine)
        j += 2
    store(s.same, HANDS * g, same)


@inlined
def show_group(x: Table, s: Scratch, v: View, at: int, g: int, row: int, width: int, n_lanes: int, alone: bool):  # type: ignore[no-untyped-def]
    """Steps 4 and 5 at showdowns: a segment's sums in ``values[row]``, ``Q`` added to ``mixed``; returns Σ_j w_j σ_j.

    Where the segment is a level of its own, D moves on by the way; else `level_up` has made it.
    """
    strips, code = x.program.strips, x.program.code
    n_shows, lanes = int64_at(strips, at + N_SHOWS), int64_at(strips, at + SHOWS)
    n_both = n_shows + int64_at(strips, at + N_FOLDS)
    stride, counts, groups = v.stride, g * (v.stride // HANDS), g * v.stride
    inside = load16(s.within_sums, HANDS * g)
    mean = fill16(_ZERO)
    j = 0
    while j < n_shows:
        n = min(3, n_shows - j)
        k1, k2 = j + (1 if n > 1 else 0), j + (2 if n > 2 else 0)
        w0, w1, w2 = load16(s.weights, HANDS * j), load16(s.weights, HANDS * k1), load16(s.weights, HANDS * k2)
        o0 = load16(s.other, row * width + int64_at(code, lanes + j))
        o1 = load16(s.other, row * width + int64_at(code, lanes + k1))
        o2 = load16(s.other, row * width + int64_at(code, lanes + k2))
        sum0 = sum1 = sum2 = fill16(_ZERO)
        d0, d1, d2 = j * stride, k1 * stride, k2 * stride
        if n == 3 and alone:
            for c in range(v.n_places):
                place, count = HANDS * c, float32_at(s.counts, counts + c)
                held, mixed = load16(s.groups, groups + place), load16(s.mixed, place)
                before = load16(s.totals, d0 + place)
                after = before + o0 * held
                store(s.totals, d0 + place, after)
                between = before + after
                sum0 = sum0 + between * count
                mixed = mixed + w0 * between
                before = load16(s.totals, d1 + place)
                after = before + o1 * held
                store(s.totals, d1 + place, after)
                between = before + after
                sum1 = sum1 + between * count
                mixed = mixed + w1 * between
                before = load16(s.totals, d2 + place)
                after = before + o2 * held
                store(s.totals, d2 + place, after)
                between = before + after
                sum2 = sum2 + between * count
                store(s.mixed, place, mixed + w2 * between)
        else:
            for i in range(n):
                d = (j + i) * stride
                o, w = (o0, w0) if i == 0 else ((o1, w1) if i == 1 else (o2, w2))
                total = fill16(_ZERO)
                for c in range(v.n_places):
                    place, count = HANDS * c, float32_at(s.counts, counts + c)
                    if alone:
                        before = load16(s.totals, d + place)
                        after = before + o * load16(s.groups, groups + place)
                        store(s.totals, d + place, after)
                        between = before + after
                    else:
                        between = load16(s.totals, n_both * stride + d + place)
                    total = total + between * count
                    store(s.mixed, place, load16(s.mixed, place) + w * between)
                if i == 0:
                    sum0 = total
                elif i == 1:
                    sum1 = total
                else:
                    sum2 = total
        for i in range(n):
            there = HANDS * (row * n_lanes + j + i)
            mine, o, w = (sum0, o0, w0) if i == 0 else ((sum1, o1, w1) if i == 1 else (sum2, o2, w2))
            store(s.values, there, load16(s.values, there) + mine + o * inside)
            mean = mean + w * o
        j += 3
    return mean


@inlined
def level_up(x: Table, s: Scratch, v: View, at: int, first: int, end: int, width: int) -> None:
    """Step 4 for segments first to end - 1 as one level: D, behind the totals of all lanes, moves on past them."""
    strips, code, stride = x.program.strips, x.program.code, v.stride
    n_shows, lanes = int64_at(strips, at + N_SHOWS), int64_at(strips, at + SHOWS)
    n_both = n_shows + int64_at(strips, at + N_FOLDS)
    for j in range(n_shows):
        sequence = int64_at(code, lanes + j)
        for place in range(0, HANDS * v.n_places, HANDS):
            before = after = load16(s.totals, j * stride + place)
            for g in range(first, end):
                sigma = load16(s.other, int64_at(s.segment_row, g) * width + sequence)
                after = after + sigma * load16(s.groups, g * stride + place)
            store(s.totals, j * stride + place, after)
            store(s.totals, (n_both + j) * stride + place, before + after)
        if not v.two:
            store(s.totals, (n_both + j) * stride + HANDS * v.n_places, fill16(_ZERO))


@inlined
def learn_rows(x: Table, s: Scratch, f: Factors, class_: int, at: int, n_lanes: int, n_exits: int) -> None:
    """Values of a strip's nodes, row by row from ``values`` and ``row_exits``, and p's regrets."""
    program, strips, code = x.program, x.program.strips, x.program.code
    slots = HANDS * int64_at(strips, at + OWN_SLOTS)
    start = class_ * program.own_size + int64_at(strips, at + OWN_FIRST)
    n_shows, first_up, n_up = (
        int64_at(strips, at + N_SHOWS),
        int64_at(strips, at + UP),
        int64_at(strips, at + N_UP),
    )
    for row in range(program.n_rows):
        pay, values = int64_at(strips, at + PAY), HANDS * row * n_lanes
        for leaf in range(int64_at(strips, at + N_SHOW_LEAVES)):
            where = int64_at(strips, at + SHOW_LEAVES) + 3 * leaf
            worth = load16(s.values, values + HANDS * int64_at(code, where)) * load16(program.pay, pay)
            store(s.node, int64_at(code, where + 1), worth)
            pay += HANDS
        for leaf in range(int64_at(strips, at + N_FOLD_LEAVES)):
            where = int64_at(strips, at + FOLD_LEAVES) + 3 * leaf
            worth = load16(s.values, values + HANDS * (n_shows + int64_at(code, where)))
            store(s.node, int64_at(code, where + 1), worth * load16(program.pay, pay))
            pay += HANDS
        for e in range(n_exits):
            node = int64_at(code, int64_at(strips, at + EXITS) + 3 * e)
            store(s.node, node, load16(s.row_exits, HANDS * (row * n_exits + e)))
        numbers = start + row * slots
        for k in range(n_up):
            where = first_up + 5 * k
            n_actions, node, child = (
                int64_at(code, where + 1),
                int64_at(code, where + 2),
                int64_at(code, where + 3),
            )
            if int64_at(code, where) == 0:
                total = load16(s.node, child)
                for a in range(1, n_actions):
                    total = total + load16(s.node, child + HANDS * a)
                store(s.node, node, total)
            else:
                _learn(x, s, f, numbers + HANDS * int64_at(code, where + 4), n_actions, node, child)


@inlined
def _learn(x: Table, s: Scratch, f: Factors, at: int, n_actions: int, node: int, child: int) -> None:
    """One of p's decisions: its value by regret matching, and its regrets."""
    total = mean = fill16(_ZERO)
    for a in range(n_actions):
        weight = maximum(load16_kept(x.kind, x.own, at + HANDS * a), fill16(_TINY))
        total = total + weight
        mean = mean + weight * load16(s.node, child + HANDS * a)
    mean = mean / total
    store(s.node, node, mean)
    for a in range(n_actions):
        regret = load16_kept(x.kind, x.own, at + HANDS * a) * f.keep
        regret = regret + (load16(s.node, child + HANDS * a) - mean) * x.own_gain
        store_kept(x.kind, x.own, at + HANDS * a, maximum(regret, fill16(_ZERO)), f.dither)


@inlined
def respond_hand(x: Table, s: Scratch, v: View, at: int, h: int, row: int, width: int, shows: int) -> None:
    """A hand's best response: its value at the strip's roots in ``hand_values``.

    Counts of showdowns lie in ``totals`` from place ``shows`` on.
    """
    program, strips, code = x.program, x.program.strips, x.program.code
    n_shows, all_ = int64_at(strips, at + N_SHOWS), HANDS * (v.n_places - 1)
    a, c = HANDS * int32_at(v.cards, 2 * h), HANDS * int32_at(v.cards, 2 * h + 1)
    pay, lanes = int64_at(strips, at + PAY), int64_at(strips, at + SHOWS)
    for leaf in range(int64_at(strips, at + N_SHOW_LEAVES)):
        where = int64_at(strips, at + SHOW_LEAVES) + 3 * leaf
        j = int64_at(code, where)
        d = shows + j * v.stride
        won = load16(s.totals, d + all_) - (load16(s.totals, d + a) + load16(s.totals, d + c))
        sigma = load16(s.other, row * width + int64_at(code, lanes + j))
        won = won + sigma * load16(s.within, HANDS * h)
        store(s.node, int64_at(code, where + 1), won * load16(program.pay, pay))
        pay += HANDS
    lanes = int64_at(strips, at + FOLDS)
    for leaf in range(int64_at(strips, at + N_FOLD_LEAVES)):
        where = int64_at(strips, at + FOLD_LEAVES) + 3 * leaf
        j = int64_at(code, where)
        d = (n_shows + j) * v.stride
        rest = load16(s.totals, d + all_) - (load16(s.totals, d + a) + load16(s.totals, d + c))
        if v.two:
            sigma = load16(s.other, row * width + int64_at(code, lanes + j))
            rest = rest + sigma * load16(s.reach, HANDS * h)
        store(s.node, int64_at(code, where + 1), rest * load16(program.pay, pay))
        pay += HANDS
    first_exit = int64_at(strips, at + FIRST_EXIT)
    for e in range(int64_at(strips, at + N_EXITS)):
        below = HANDS * ((first_exit + e) * s.n_most + h)
        store(s.node, int64_at(code, int64_at(strips, at + EXITS) + 3 * e), load16(s.below, below))
    for k in range(int64_at(strips, at + N_UP)):
        where = int64_at(strips, at + UP) + 5 * k
        n_actions, node, child = int64_at(code, where + 1), int64_at(code, where + 2), int64_at(code, where + 3)
        value = load16(s.node, child)
        if int64_at(code, where) == 0:
            for b in range(1, n_actions):
                value = value + load16(s.node, child + HANDS * b)
        else:
            for b in range(1, n_actions):
                value = maximum(value, load16(s.node, child + HANDS * b))
        store(s.node, node, value)
    store(s.hand_values, HANDS * h, load16(s.node, 0))
