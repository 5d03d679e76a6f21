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
from compiled.precision import DITHER_STEPS, load_as, prefetch_as, quantum_of, store_as
from compiled.records import Packed, unpack_at
from compiled.vector import (
    WIDTH,
    Address,
    fill16,
    float32_at,
    floor16,
    int32_at,
    int64_at,
    load16,
    maximum,
    put_int32,
    put_int64,
    store,
    where_positive,
)
from solvers.reference.kernels import BEST
from solvers.sampled.program import (
    ALIGNED,
    EXITS,
    FIRST_EXIT,
    FOLD_LEAVES,
    FOLDS,
    N_COLUMNS,
    N_COUNTED,
    N_EXITS,
    N_FOLD_LEAVES,
    N_FOLDS,
    N_OTHER_DOWN,
    N_OWN_DOWN,
    N_RUNS,
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
    RUNS,
    SHARED,
    SHOW_LEAVES,
    SHOWS,
    UP,
    Program,
)
from solvers.state import FLOOR

_ZERO: Any = np.float32(0)
_ONE: Any = np.float32(1)
_HALF: Any = np.float32(0.5)
_FLOOR: Any = np.float32(FLOOR)
LARGE_SHARE: Any = np.float32(2**-10)
"""Shares above this one are added to an average directly.

Adding in single precision loses 2 ** -25 of the average, which is less than 3e-5 of such a share.
"""
BLOCK = 8  # hands whose best responses are found at once, a multiple of 4
ROUND, CLASS, N_HANDS, FIRST_HAND, FIRST_ROW, N_CARDS, ORIGIN, N_IMAGES, NODE_WIDTH = range(9)


class Factors(NamedTuple):
    """The weights of this visit of a class.

    Regrets become ``keep * regret + gain``, and negative results are multiplied by ``sink``. Averages move the fraction
    ``share`` of the way to own reach times strategy.

    Attributes:
        dither: how regrets in 16 bits are rounded, see `compiled.vector.store_as`.
        rounding: how averages are rounded: the part of a quantum, in [0, 1), that is added before rounding down.
    """

    keep: float
    sink: np.floating[Any]
    share: np.floating[Any]
    dither: int
    rounding: np.floating[Any]


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
        own_gain: factor of regrets.
        sum_scale: factor of averages.
        own, other: numbers of p and q from which strategies are matched.
        other_sums: q's averages of own reach times strategy, which a pass moves.
        visits ``[class]``: how often p's numbers were updated.
        ahead ``[class]``: coming visits that the numbers include already; a pass learns nothing from these visits.
        probability: probability of a board of this round, given both hands and the board above; 1 for drawn boards.
    """

    program: Program
    kind: np.signedinteger[Any]
    own_gain: np.floating[Any]
    sum_scale: np.floating[Any]
    own: Address
    other: Address
    other_sums: Address
    visits: Address
    ahead: Address
    probability: np.floating[Any]


class Scratch(NamedTuple):
    """A thread's buffers for a round.

    H hands at most, G groups, X rows, C places of a group, L lanes, S sequences, E exits of a strip. Those with [strip]
    are kept for all strips at once where boards are below, and for one in the last round.

    reach ``[strip][H]``, groups ``[G][C]``, other and own ``[strip][X][S]``, row_reach ``[X]``; totals ``[4 L][C]``: of
    folds, then of showdowns, then two more of these for `level_up`; counts to n_holders: see `prepare`, numbers
    ``[G][C]`` and ``[C][G]``; values ``[X][2 L]``, node ``[node]``, nodes ``[node][BLOCK]``, mixed ``[G][C]``, same
    ``[G]``, within ``[H]``, within_sums ``[G]``, weights ``[X][2 L]``, hand_values ``[H]``. Of the boards below:
    row_exits ``[strip][X][E]`` and hand_exits ``[strip][H]``, what p's own strategy makes of them; for best responses
    below ``[exit][H]``. Of segments: end, row, level. open: the board at hand. ways: `Way` of each run.
    n_wide: numbers of a strip in other and own; n_ends: in row_exits.
    """

    n_most: int
    n_wide: int
    n_ends: int
    n_groups: int
    reach: Address
    groups: Address
    other: Address
    own: Address
    row_reach: Address
    totals: Address
    counts: Address
    held: Address
    places: Address
    n_places: Address
    holders: Address
    n_holders: Address
    values: Address
    node: Address
    nodes: Address
    mixed: Address
    same: Address
    within: Address
    within_sums: Address
    weights: Address
    row_exits: Address
    hand_values: Address
    hand_exits: Address
    below: Address
    segment_end: Address
    segment_row: Address
    segment_level: Address
    tie_end: Address
    open: Address
    ways: Address


class View(NamedTuple):
    """A board as the functions below take it: a row of `Boards.nodes`.

    Attributes:
        n_places: cards and the place of all: N + 1.
        stride: of places, odd, so that those of one card do not crowd one part of the cache.
        two: whether hands have two cards.
        n_images: dealt boards that it stands for.
    """

    n_hands: int
    cards: Address
    rows: Address
    strength: Address
    origin: int
    n_places: int
    stride: int
    two: bool
    n_images: int


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
        WIDTH * ((n_cards + 2) | 1),
        int32_at(boards.cards, 2 * first + 1) <= n_cards,
        int64_at(boards.nodes, at + N_IMAGES),
    )


@inlined
def prepare(s: Scratch, v: View) -> int:
    """Segments of a board of the last round, and which cards their hands hold; return how many segments.

    A segment's hands hold two thirds of the cards, so only those places are gone through: ``places[g]``, one after
    another, ``n_places[g]`` of them, and for each ``counts``: minus the hands that hold it; last all hands, N. The
    other way round, ``holders[c]`` are the segments whose hands hold card c, ``n_holders[c]`` of them.
    """
    n_groups, width, h = _segments(s, v), v.stride // WIDTH, 0
    for c in range(width):
        put_int32(s.n_holders, c, 0)
    for g in range(n_groups):
        for c in range(width):
            put_int32(s.held, c, 0)
        n_hands, end = -h, int64_at(s.segment_end, g)
        while h < end:
            for place in range(2):
                c = int32_at(v.cards, 2 * h + place)
                put_int32(s.held, c, int32_at(s.held, c) - 1)
            h += 1
        put_int32(s.held, v.n_places - 1, n_hands + h)
        n = 0
        for c in range(v.n_places):
            if int32_at(s.held, c) != 0:
                put_int32(s.places, g * width + n, WIDTH * c)
                store(s.counts, g * width + n, np.float32(int32_at(s.held, c)))
                put_int32(s.holders, c * s.n_groups + int32_at(s.n_holders, c), g)
                put_int32(s.n_holders, c, int32_at(s.n_holders, c) + 1)
                n += 1
        put_int32(s.n_places, g, n)
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
            put_int64(s.segment_end, n - 1, i + 1)
        h = end
    return n


class Way(NamedTuple):
    """How a strip hangs on the board above. Places are those of its exit there, if the strip is aligned with one.

    Attributes:
        aligned: whether it is; else each of its runs (`Program.runs`) has a way of its own.
        width: of the rows of ``other``; own_width: of ``own``; n_ends: of ``row_exits``.
        reach, other, own, ends, hands, below: places in the buffers above.
    """

    aligned: bool
    width: int
    own_width: int
    n_ends: int
    reach: int
    other: int
    own: int
    ends: int
    below: int


@inlined
def way_of(y: Table, above: Scratch, exit_: int, lane: int, aligned: bool) -> Way:
    """The way by an exit of the round above, y."""
    ways, strips = y.program.ways, y.program.strips
    strip, e = int64_at(ways, 4 * exit_), int64_at(ways, 4 * exit_ + 1)
    wide = strip * above.n_wide + lane
    return Way(
        aligned,
        WIDTH * (1 + int64_at(strips, N_COLUMNS * strip + OTHER_SLOTS)),
        WIDTH * (1 + int64_at(strips, N_COLUMNS * strip + OWN_SLOTS)),
        WIDTH * int64_at(strips, N_COLUMNS * strip + N_EXITS),
        WIDTH * strip * above.n_most + lane,
        wide + int64_at(ways, 4 * exit_ + 2),
        wide + int64_at(ways, 4 * exit_ + 3),
        strip * above.n_ends + WIDTH * e + lane,
        WIDTH * exit_ * above.n_most + lane,
    )


@inlined
def enter(
    x: Table, y: Table, s: Scratch, above: Scratch, boards: Boards, v: View, w: View, strip: int, to: int
) -> None:
    """Step 1: r, from place ``to`` on, of a strip of a round that is not the first; y and w are what is above."""
    exit_ = int64_at(x.program.strips, N_COLUMNS * strip + ALIGNED)
    if exit_ >= 0:
        way = way_of(y, above, exit_, 0, True)
        for h in range(v.n_hands):
            store(s.reach, to + WIDTH * h, arriving(way, above, boards, v, w, h))
        return
    program = x.program
    first, n_runs = (
        int64_at(program.strips, N_COLUMNS * strip + RUNS),
        int64_at(program.strips, N_COLUMNS * strip + N_RUNS),
    )
    for k in range(n_runs):  # lanes above are read so that they come out where they are here
        at = 4 * (first + k)
        by = int64_at(program.runs, at + 1) - int64_at(program.runs, at + 2)
        way = way_of(y, above, int64_at(program.runs, at), by, False)
        put_int64(s.ways, 3 * k, way.reach)
        put_int64(s.ways, 3 * k + 1, way.other)
        put_int64(s.ways, 3 * k + 2, way.width)
    for h in range(v.n_hands):
        o = _origin(boards, v, h)
        row, came = int32_at(w.rows, o), fill16(_ZERO)
        for k in range(n_runs):
            sigma = load16(above.other, int64_at(s.ways, 3 * k + 1) + int64_at(s.ways, 3 * k + 2) * row)
            mine = load16(program.run_lanes, WIDTH * 2 * (first + k))
            came = where_positive(
                mine, load16(above.reach, int64_at(s.ways, 3 * k) + WIDTH * o) * sigma, came
            )
        store(s.reach, to + WIDTH * h, came)


@inlined
def enter_round(
    tables: Packed, scratch: Packed, boards: Boards, t: int, v: View, strip: int, to: int
) -> None:
    """Step 1: r of a strip, from the round above or from the deal."""
    x, s = unpack_at(tables, t), unpack_at(scratch, t)
    if t == 0:
        for n in range(0, WIDTH * v.n_hands, WIDTH):
            store(s.reach, to + n, fill16(_ONE))
        return
    above = unpack_at(scratch, t - 1)
    enter(x, unpack_at(tables, t - 1), s, above, boards, v, view(boards, int64_at(above.open, 0)), strip, to)


@inlined
def arriving(way: Way, above: Scratch, boards: Boards, v: View, w: View, h: int):  # type: ignore[no-untyped-def]
    """R of hand h in a strip that is aligned."""
    o = _origin(boards, v, h)
    sigma = load16(above.other, way.other + way.width * int32_at(w.rows, o))
    return load16(above.reach, way.reach + WIDTH * o) * sigma


@inlined
def _origin(boards: Boards, v: View, h: int) -> int:
    """The hand above of hand h."""
    return h if v.origin < 0 else int32_at(boards.origin, v.origin + h)


@inlined
def hand_out(  # type: ignore[no-untyped-def]
    mode_above: int,
    x: Table,
    s: Scratch,
    above: Scratch,
    boards: Boards,
    v: View,
    w: View,
    way: Way,
    h: int,
    value,
) -> None:
    """What a strip is worth to hand h: to the exit above, or for `hands_up`.

    Above, p's own strategy weighs it at once, and rows add it up; for a best response it is kept by exit.
    """
    if way.aligned:
        pass_up(mode_above, x, above, boards, v, w, way, h, value)
    else:
        store(s.hand_values, WIDTH * h, value)


@inlined
def pass_up(  # type: ignore[no-untyped-def]
    mode_above: int, x: Table, above: Scratch, boards: Boards, v: View, w: View, way: Way, h: int, value
) -> None:
    """Add what hand h has in the lanes of a way to the exit above, for each board that this one stands for."""
    worth = value * x.probability
    for image in range(v.n_images):
        o = h if v.origin < 0 else int32_at(boards.origin, v.origin + image * v.n_hands + h)
        if mode_above == BEST:
            at = way.below + WIDTH * o
            store(above.below, at, load16(above.below, at) + worth)
        else:
            row, at = int32_at(w.rows, o), way.reach + WIDTH * o
            often = load16(above.own, way.own + way.own_width * row)
            store(above.hand_exits, at, load16(above.hand_exits, at) + worth * often)
            at = way.ends + way.n_ends * row
            store(above.row_exits, at, load16(above.row_exits, at) + worth)


@inlined
def hands_up(
    mode_above: int,
    x: Table,
    y: Table,
    s: Scratch,
    above: Scratch,
    boards: Boards,
    v: View,
    w: View,
    strip: int,
) -> None:
    """`hand_out` of ``hand_values`` where each run of lanes has a way of its own."""
    program, at = x.program, N_COLUMNS * strip
    first = int64_at(program.strips, at + RUNS)
    for k in range(first, first + int64_at(program.strips, at + N_RUNS)):
        by = int64_at(program.runs, 4 * k + 2) - int64_at(program.runs, 4 * k + 1)
        way = way_of(y, above, int64_at(program.runs, 4 * k), 0, False)
        mine = load16(program.run_lanes, WIDTH * (2 * k + 1))
        for h in range(v.n_hands):
            value = where_positive(mine, load16(s.hand_values, WIDTH * h + by), fill16(_ZERO))
            pass_up(mode_above, x, above, boards, v, w, way, h, value)


@inlined
def reach(
    x: Table, base: int, strip: int, into: Address, begin: int, source: Address, size: int, own: bool
) -> None:
    """Step 1: a player's reach ``[row][sequence]`` inside a strip, from place ``begin`` on."""
    program, at = x.program, N_COLUMNS * strip
    slots = int64_at(program.strips, at + (OWN_SLOTS if own else OTHER_SLOTS))
    first = int64_at(program.strips, at + (OWN_DOWN if own else OTHER_DOWN))
    count = int64_at(program.strips, at + (N_OWN_DOWN if own else N_OTHER_DOWN))
    start = base * size + int64_at(program.strips, at + (OWN_FIRST if own else OTHER_FIRST))
    width = WIDTH * (1 + slots)
    for row in range(program.n_rows):
        to, numbers = begin + row * width, start + row * WIDTH * slots
        store(into, to, fill16(_ONE))
        for k in range(count):
            n_actions, parent = (
                int64_at(program.code, first + 3 * k),
                int64_at(program.code, first + 3 * k + 1),
            )
            slot = int64_at(program.code, first + 3 * k + 2)
            play(x, source, numbers + WIDTH * slot, n_actions, into, to + parent, to + WIDTH * (1 + slot))


@inlined
def play(x: Table, source: Address, at: int, n_actions: int, into: Address, parent: int, child: int) -> None:
    """Reach after one decision by regret matching; uniform where the positive parts add up to at most `FLOOR`."""
    arriving = load16(into, parent)
    even = arriving * (_ONE / np.float32(n_actions))
    if n_actions == 2:
        first, second = _positive(x, source, at), _positive(x, source, at + WIDTH)
        total = first + second
        scaled, sure = arriving / total, total - fill16(_FLOOR)
        store(into, child, where_positive(sure, first * scaled, even))
        store(into, child + WIDTH, where_positive(sure, second * scaled, even))
    elif n_actions == 3:
        first, second = _positive(x, source, at), _positive(x, source, at + WIDTH)
        third = _positive(x, source, at + 2 * WIDTH)
        total = first + second + third
        scaled, sure = arriving / total, total - fill16(_FLOOR)
        store(into, child, where_positive(sure, first * scaled, even))
        store(into, child + WIDTH, where_positive(sure, second * scaled, even))
        store(into, child + 2 * WIDTH, where_positive(sure, third * scaled, even))
    else:
        total = fill16(_ZERO)
        for a in range(n_actions):
            total = total + _positive(x, source, at + WIDTH * a)
        scaled, sure = arriving / total, total - fill16(_FLOOR)
        for a in range(n_actions):
            share = where_positive(sure, _positive(x, source, at + WIDTH * a) * scaled, even)
            store(into, child + WIDTH * a, share)


@inlined
def _positive(x: Table, source: Address, at: int):  # type: ignore[no-untyped-def]
    return maximum(load_as(x.kind, source, at), fill16(_ZERO))


@inlined
def average(x: Table, s: Scratch, f: Factors, class_: int, strip: int, begin: int) -> None:
    """Move q's averages the fraction ``f.share`` of the way to ``r * σ``, r being the summed reach of a row's hands."""
    program = x.program
    start = class_ * program.other_size + int64_at(program.strips, N_COLUMNS * strip + OTHER_FIRST)
    width = WIDTH * (1 + int64_at(program.strips, N_COLUMNS * strip + OTHER_SLOTS))
    for row in range(program.n_rows):
        arrived = load16(s.row_reach, WIDTH * row) * x.sum_scale
        from_, to = begin + row * width + WIDTH, start + row * (width - WIDTH)
        for slot in range(0, width - WIDTH, WIDTH):
            played = load16(s.other, from_ + slot) * arrived
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
    """``A ← q * floor((A + share * (played - A)) / q + rounding)``, where the quantum q is the spacing of kept numbers.

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
def arrive(
    s: Scratch, above: Scratch, boards: Boards, v: View, w: View, way: Way, n_groups: int, n_rows: int
) -> None:
    """Steps 1, 2 and 4 within segments, of a strip of the last round, whose r are there already if it is not aligned.

    ``within[h]``: the reach that hand h beats less the reach that beats it, of its own segment; ``row_reach``: that of
    each row's hands together.
    """
    nothing, h, all_, width = fill16(_ZERO), 0, WIDTH * (v.n_places - 1), v.stride // WIDTH
    for row in range(n_rows):
        store(s.row_reach, WIDTH * row, nothing)
    for g in range(n_groups):
        start, end, first, total = h, int64_at(s.segment_end, g), g * v.stride, nothing
        for k in range(g * width, g * width + int32_at(s.n_places, g)):
            store(s.groups, first + int32_at(s.places, k), nothing)
        one_tie = int32_at(s.tie_end, start) >= end
        while h < end:
            tie = min(int32_at(s.tie_end, h), end)
            if not one_tie:
                for i in range(h, tie):
                    a, c = (
                        first + WIDTH * int32_at(v.cards, 2 * i),
                        first + WIDTH * int32_at(v.cards, 2 * i + 1),
                    )
                    beaten = total - (load16(s.groups, a) + load16(s.groups, c))
                    store(s.within, WIDTH * i, beaten)
            for i in range(h, tie):
                a, c = first + WIDTH * int32_at(v.cards, 2 * i), first + WIDTH * int32_at(v.cards, 2 * i + 1)
                if way.aligned:
                    came = arriving(way, above, boards, v, w, i)
                    store(s.reach, WIDTH * i, came)
                else:
                    came = load16(s.reach, WIDTH * i)
                store(s.groups, a, load16(s.groups, a) + came)
                if v.two:
                    store(s.groups, c, load16(s.groups, c) + came)
                total = total + came
            if not one_tie:
                for i in range(h, tie):
                    a, c = (
                        first + WIDTH * int32_at(v.cards, 2 * i),
                        first + WIDTH * int32_at(v.cards, 2 * i + 1),
                    )
                    beaten = total - (load16(s.groups, a) + load16(s.groups, c))
                    store(s.within, WIDTH * i, load16(s.within, WIDTH * i) + beaten)
            h = tie
        all_within = nothing
        for i in range(start, end):
            beaten = nothing
            if not one_tie:
                a, c = first + WIDTH * int32_at(v.cards, 2 * i), first + WIDTH * int32_at(v.cards, 2 * i + 1)
                beaten = load16(s.within, WIDTH * i) - (total - (load16(s.groups, a) + load16(s.groups, c)))
            store(s.within, WIDTH * i, beaten)
            all_within = all_within + beaten
        store(s.within_sums, WIDTH * g, all_within)
        store(s.groups, first + all_, total)
        row = WIDTH * int64_at(s.segment_row, g)
        store(s.row_reach, row, load16(s.row_reach, row) + total)


@inlined
def total_up(x: Table, s: Scratch, v: View, at: int) -> None:
    """Step 3 in the last round: T_j of folds, and of showdowns by -1/2, which is D below the first segment."""
    strips, code = x.program.strips, x.program.code
    n_folds, n_shows = int64_at(strips, at + N_FOLDS), int64_at(strips, at + N_SHOWS)
    folds, shows = int64_at(strips, at + FOLDS), int64_at(strips, at + SHOWS)
    n_counted, shared = int64_at(strips, at + N_COUNTED), int64_at(strips, at + SHARED)
    width, j = WIDTH * (1 + int64_at(strips, at + OTHER_SLOTS)), 0
    while j < n_counted:
        n = min(8, n_counted - j)
        for k in range(8):
            lane = j + min(k, n - 1)
            put_int64(s.ways, k, int64_at(code, folds + lane if lane < n_folds else shows + lane - n_folds))
        if n > 4:
            _total_eight(s, v, width, j * v.stride)
        else:
            _total_four(s, v, width, j * v.stride)
        j += n
    for place in range(n_folds * v.stride, n_counted * v.stride, WIDTH):
        store(s.totals, place, load16(s.totals, place) * -_HALF)
    for j in range(n_counted, n_folds + n_shows):
        from_ = int64_at(code, shared + j - n_counted) * v.stride
        for place in range(0, WIDTH * v.n_places, WIDTH):
            store(s.totals, j * v.stride + place, load16(s.totals, from_ + place) * -_HALF)
    if not v.two:
        for j in range(n_folds + n_shows):
            store(s.totals, j * v.stride + WIDTH * v.n_places, fill16(_ZERO))


@inlined
def _total_eight(s: Scratch, v: View, width: int, to: int) -> None:
    """T_j of the eight lanes whose sequences `total_up` has listed."""
    k0, k1, k2, k3 = int64_at(s.ways, 0), int64_at(s.ways, 1), int64_at(s.ways, 2), int64_at(s.ways, 3)
    k4, k5, k6, k7 = int64_at(s.ways, 4), int64_at(s.ways, 5), int64_at(s.ways, 6), int64_at(s.ways, 7)
    stride = v.stride
    for place in range(0, WIDTH * v.n_places, WIDTH):
        t0 = t1 = t2 = t3 = t4 = t5 = t6 = t7 = fill16(_ZERO)
        first = place // WIDTH * s.n_groups
        for k in range(first, first + int32_at(s.n_holders, place // WIDTH)):
            g = int32_at(s.holders, k)
            base, held = int64_at(s.segment_row, g) * width, load16(s.groups, g * stride + place)
            t0 = t0 + load16(s.other, base + k0) * held
            t1 = t1 + load16(s.other, base + k1) * held
            t2 = t2 + load16(s.other, base + k2) * held
            t3 = t3 + load16(s.other, base + k3) * held
            t4 = t4 + load16(s.other, base + k4) * held
            t5 = t5 + load16(s.other, base + k5) * held
            t6 = t6 + load16(s.other, base + k6) * held
            t7 = t7 + load16(s.other, base + k7) * held
        at = to + place
        store(s.totals, at, t0)
        store(s.totals, at + stride, t1)
        store(s.totals, at + 2 * stride, t2)
        store(s.totals, at + 3 * stride, t3)
        store(s.totals, at + 4 * stride, t4)
        store(s.totals, at + 5 * stride, t5)
        store(s.totals, at + 6 * stride, t6)
        store(s.totals, at + 7 * stride, t7)


@inlined
def _total_four(s: Scratch, v: View, width: int, to: int) -> None:
    """The same of four."""
    k0, k1, k2, k3 = int64_at(s.ways, 0), int64_at(s.ways, 1), int64_at(s.ways, 2), int64_at(s.ways, 3)
    stride = v.stride
    for place in range(0, WIDTH * v.n_places, WIDTH):
        t0 = t1 = t2 = t3 = fill16(_ZERO)
        first = place // WIDTH * s.n_groups
        for k in range(first, first + int32_at(s.n_holders, place // WIDTH)):
            g = int32_at(s.holders, k)
            base, held = int64_at(s.segment_row, g) * width, load16(s.groups, g * stride + place)
            t0 = t0 + load16(s.other, base + k0) * held
            t1 = t1 + load16(s.other, base + k1) * held
            t2 = t2 + load16(s.other, base + k2) * held
            t3 = t3 + load16(s.other, base + k3) * held
        at = to + place
        store(s.totals, at, t0)
        store(s.totals, at + stride, t1)
        store(s.totals, at + 2 * stride, t2)
        store(s.totals, at + 3 * stride, t3)


@inlined
def total_folds(x: Table, s: Scratch, v: View, at: int, begin: int, reach_: int) -> None:
    """Step 3 in rounds that boards follow, hand by hand: T_j of folds."""
    strips, code, all_ = x.program.strips, x.program.code, WIDTH * (v.n_places - 1)
    n_folds, folds = int64_at(strips, at + N_FOLDS), int64_at(strips, at + FOLDS)
    width = WIDTH * (1 + int64_at(strips, at + OTHER_SLOTS))
    for place in range(0, n_folds * v.stride, WIDTH):
        store(s.totals, place, fill16(_ZERO))
    for h in range(v.n_hands):
        came, sigmas = load16(s.reach, reach_ + WIDTH * h), begin + int32_at(v.rows, h) * width
        a, c = WIDTH * int32_at(v.cards, 2 * h), WIDTH * int32_at(v.cards, 2 * h + 1)
        for j in range(n_folds):
            mine, d = load16(s.other, sigmas + int64_at(code, folds + j)) * came, j * v.stride
            store(s.totals, d + a, load16(s.totals, d + a) + mine)
            if v.two:
                store(s.totals, d + c, load16(s.totals, d + c) + mine)
            store(s.totals, d + all_, load16(s.totals, d + all_) + mine)


@inlined
def fold_hand(x: Table, s: Scratch, v: View, at: int, h: int, begin: int, reach_: int):  # type: ignore[no-untyped-def]
    """Step 5 in rounds that boards follow: hand h's part of ``values`` at folds; returns its value by p's own reach."""
    strips, code, all_ = x.program.strips, x.program.code, WIDTH * (v.n_places - 1)
    n_folds, folds, row = int64_at(strips, at + N_FOLDS), int64_at(strips, at + FOLDS), int32_at(v.rows, h)
    came = load16(s.reach, reach_ + WIDTH * h)
    sigmas = begin + row * WIDTH * (1 + int64_at(strips, at + OTHER_SLOTS))
    a, c = WIDTH * int32_at(v.cards, 2 * h), WIDTH * int32_at(v.cards, 2 * h + 1)
    value = fill16(_ZERO)
    for j in range(n_folds):
        d, there = j * v.stride, WIDTH * (row * n_folds + j)
        rest = load16(s.totals, d + all_) - (load16(s.totals, d + a) + load16(s.totals, d + c))
        if v.two:
            rest = rest + load16(s.other, sigmas + int64_at(code, folds + j)) * came
        store(s.values, there, load16(s.values, there) + rest)
        value = value + load16(s.weights, there) * rest
    return value


@inlined
def prefetch_row(x: Table, class_: int, strip: int, row: int) -> None:
    """Ask for a row's numbers in a strip that comes soon."""
    program, at = x.program, N_COLUMNS * strip
    own, other = (
        WIDTH * int64_at(program.strips, at + OWN_SLOTS),
        WIDTH * int64_at(program.strips, at + OTHER_SLOTS),
    )
    first = class_ * program.own_size + int64_at(program.strips, at + OWN_FIRST) + row * own
    for n in range(first, first + own, WIDTH):
        prefetch_as(x.kind, x.own, n)
    first = class_ * program.other_size + int64_at(program.strips, at + OTHER_FIRST) + row * other
    for n in range(first, first + other, WIDTH):
        prefetch_as(x.kind, x.other, n)
        prefetch_as(x.kind, x.other_sums, n)


@inlined
def weigh(x: Table, s: Scratch, at: int, begin: int) -> None:
    """How p's own reach weighs q's lanes, row by row: folds, then showdowns."""
    strips, code = x.program.strips, x.program.code
    n_folds, n_shows = int64_at(strips, at + N_FOLDS), int64_at(strips, at + N_SHOWS)
    width, n_lanes = WIDTH * (1 + int64_at(strips, at + OWN_SLOTS)), WIDTH * (n_folds + n_shows)
    for n in range(0, x.program.n_rows * n_lanes, WIDTH):
        store(s.weights, n, fill16(_ZERO))
    for kind in range(2):
        leaves = int64_at(strips, at + (FOLD_LEAVES if kind == 0 else SHOW_LEAVES))
        n_leaves = int64_at(strips, at + (N_FOLD_LEAVES if kind == 0 else N_SHOW_LEAVES))
        pay = int64_at(strips, at + PAY) + (WIDTH * int64_at(strips, at + N_SHOW_LEAVES) if kind == 0 else 0)
        for leaf in range(n_leaves):
            lane = WIDTH * (int64_at(code, leaves + 3 * leaf) + (0 if kind == 0 else n_folds))
            sequence, chips = (
                begin + int64_at(code, leaves + 3 * leaf + 2),
                load16(x.program.pay, pay + WIDTH * leaf),
            )
            for row in range(x.program.n_rows):
                to = row * n_lanes + lane
                store(s.weights, to, load16(s.weights, to) + load16(s.own, row * width + sequence) * chips)


@inlined
def fold_group(x: Table, s: Scratch, v: View, at: int, g: int, row: int) -> None:
    """Step 5 at folds: a group's sums in ``values[row]``, ``Q`` in ``mixed[g]``, and Σ_j w_j σ_j in ``same[g]``."""
    strips, code = x.program.strips, x.program.code
    n_folds, lanes = int64_at(strips, at + N_FOLDS), int64_at(strips, at + FOLDS)
    n_lanes = WIDTH * (n_folds + int64_at(strips, at + N_SHOWS))
    stride, into, first_place = v.stride, g * v.stride, g * (v.stride // WIDTH)
    last_place = first_place + int32_at(s.n_places, g)
    sigmas = row * WIDTH * (1 + int64_at(strips, at + OTHER_SLOTS))
    for k in range(first_place, last_place):
        store(s.mixed, into + int32_at(s.places, k), fill16(_ZERO))
    same = fill16(_ZERO)
    held = load16(s.groups, into + WIDTH * (v.n_places - 1))
    j = 0
    while j < n_folds:
        n = min(4, n_folds - j)
        k1, k2, k3 = j + min(1, n - 1), j + min(2, n - 1), j + n - 1
        first = row * n_lanes
        w0 = load16(s.weights, first + WIDTH * j)
        w1 = load16(s.weights, first + WIDTH * k1) if n > 1 else fill16(_ZERO)
        w2 = load16(s.weights, first + WIDTH * k2) if n > 2 else fill16(_ZERO)
        w3 = load16(s.weights, first + WIDTH * k3) if n > 3 else fill16(_ZERO)
        sum0 = sum1 = sum2 = sum3 = fill16(_ZERO)
        for k in range(first_place, last_place):
            count, place = fill16(float32_at(s.counts, k)), int32_at(s.places, k)
            t0, t1 = load16(s.totals, j * stride + place), load16(s.totals, k1 * stride + place)
            t2, t3 = load16(s.totals, k2 * stride + place), load16(s.totals, k3 * stride + place)
            sum0 = sum0 + t0 * count
            sum1 = sum1 + t1 * count
            sum2 = sum2 + t2 * count
            sum3 = sum3 + t3 * count
            more = (w0 * t0 + w1 * t1) + (w2 * t2 + w3 * t3)
            store(s.mixed, into + place, load16(s.mixed, into + place) + more)
        for i in range(n):
            total = sum0 if i == 0 else (sum1 if i == 1 else (sum2 if i == 2 else sum3))
            there = first + WIDTH * (j + i)
            if v.two:
                sigma = load16(s.other, sigmas + int64_at(code, lanes + j + i))
                total = total + sigma * held
                same = same + sigma * load16(s.weights, there)
            store(s.values, there, load16(s.values, there) + total)
        j += n
    store(s.same, WIDTH * g, same)


@inlined
def show_group(x: Table, s: Scratch, v: View, at: int, g: int, row: int, alone: bool):  # type: ignore[no-untyped-def]
    """Steps 4 and 5 at showdowns: a segment's sums in ``values[row]``, ``Q`` in ``mixed[g]``; returns Σ_j w_j σ_j.

    Where the segment is a level of its own, D moves on by the way; else `level_up` has made it.
    """
    strips, code = x.program.strips, x.program.code
    n_shows, lanes = int64_at(strips, at + N_SHOWS), int64_at(strips, at + SHOWS)
    n_folds, stride = int64_at(strips, at + N_FOLDS), v.stride
    into, first_place = g * stride, g * (stride // WIDTH)
    last_place = first_place + int32_at(s.n_places, g)
    sigmas = row * WIDTH * (1 + int64_at(strips, at + OTHER_SLOTS))
    first = WIDTH * (row * (n_folds + n_shows) + n_folds)
    inside = load16(s.within_sums, WIDTH * g)
    mean = fill16(_ZERO)
    j = 0
    while j < n_shows:
        n = min(3, n_shows - j)
        k1, k2 = j + min(1, n - 1), j + n - 1
        w0, w1 = load16(s.weights, first + WIDTH * j), load16(s.weights, first + WIDTH * k1)
        w2 = load16(s.weights, first + WIDTH * k2)
        o0, o1 = (
            load16(s.other, sigmas + int64_at(code, lanes + j)),
            load16(s.other, sigmas + int64_at(code, lanes + k1)),
        )
        o2 = load16(s.other, sigmas + int64_at(code, lanes + k2))
        sum0 = sum1 = sum2 = fill16(_ZERO)
        d0, d1, d2 = (n_folds + j) * stride, (n_folds + k1) * stride, (n_folds + k2) * stride
        if n == 3 and alone:
            for k in range(first_place, last_place):
                place, count = int32_at(s.places, k), fill16(float32_at(s.counts, k))
                held, mixed = load16(s.groups, into + place), load16(s.mixed, into + place)
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
                store(s.mixed, into + place, mixed + w2 * between)
        else:
            for i in range(n):
                o, w = (o0, w0) if i == 0 else ((o1, w1) if i == 1 else (o2, w2))
                sum2 = _show_lane(
                    s,
                    first_place,
                    last_place,
                    into,
                    (n_folds + j + i) * stride,
                    2 * n_shows * stride,
                    o,
                    w,
                    alone,
                )
                if i == 0:
                    sum0 = sum2
                elif i == 1:
                    sum1 = sum2
        for i in range(n):
            there = first + WIDTH * (j + i)
            mine, o, w = (sum0, o0, w0) if i == 0 else ((sum1, o1, w1) if i == 1 else (sum2, o2, w2))
            store(s.values, there, load16(s.values, there) + mine + o * inside)
            mean = mean + w * o
        j += n
    return mean


@inlined
def _show_lane(  # type: ignore[no-untyped-def]
    s: Scratch, first: int, last: int, into: int, d: int, ahead: int, sigma, weight, alone: bool
):
    """What `show_group` does, for one lane."""
    total = fill16(_ZERO)
    for k in range(first, last):
        place, count = int32_at(s.places, k), fill16(float32_at(s.counts, k))
        if alone:
            before = load16(s.totals, d + place)
            after = before + sigma * load16(s.groups, into + place)
            store(s.totals, d + place, after)
            between = before + after
        else:
            between = load16(s.totals, ahead + d + place)
        total = total + between * count
        store(s.mixed, into + place, load16(s.mixed, into + place) + weight * between)
    return total


@inlined
def level_up(x: Table, s: Scratch, v: View, at: int, first: int, end: int) -> None:
    """Step 4 for segments first to end - 1 as one level: D, two areas behind the totals, which move on past them.

    The area between keeps what the totals were, since segments of a level may share cards; one alone needs none.
    """
    strips, code, stride, width = x.program.strips, x.program.code, v.stride, v.stride // WIDTH
    n_shows, lanes, n_folds = (
        int64_at(strips, at + N_SHOWS),
        int64_at(strips, at + SHOWS),
        int64_at(strips, at + N_FOLDS),
    )
    wide, area = WIDTH * (1 + int64_at(strips, at + OTHER_SLOTS)), n_shows * stride
    for j in range(n_shows):
        sequence, d = int64_at(code, lanes + j), (n_folds + j) * stride
        if end == first + 1:
            sigma = load16(s.other, int64_at(s.segment_row, first) * wide + sequence)
            for k in range(first * width, first * width + int32_at(s.n_places, first)):
                place = int32_at(s.places, k)
                before = load16(s.totals, d + place)
                after = before + sigma * load16(s.groups, first * stride + place)
                store(s.totals, d + place, after)
                store(s.totals, 2 * area + d + place, before + after)
            continue
        for step in range(3):
            for g in range(first, end):
                sigma = load16(s.other, int64_at(s.segment_row, g) * wide + sequence)
                for k in range(g * width, g * width + int32_at(s.n_places, g)):
                    place = int32_at(s.places, k)
                    now = load16(s.totals, d + place)
                    if step == 0:
                        store(s.totals, area + d + place, now)
                    elif step == 1:
                        store(s.totals, d + place, now + sigma * load16(s.groups, g * stride + place))
                    else:
                        store(s.totals, 2 * area + d + place, load16(s.totals, area + d + place) + now)


@inlined
def clear_values(x: Table, s: Scratch, at: int) -> None:
    """Make ``values`` of a strip 0."""
    n_lanes = int64_at(x.program.strips, at + N_SHOWS) + int64_at(x.program.strips, at + N_FOLDS)
    for n in range(0, WIDTH * x.program.n_rows * n_lanes, WIDTH):
        store(s.values, n, fill16(_ZERO))


@inlined
def level_end(s: Scratch, g: int, n_groups: int) -> int:
    """Behind the last segment of g's level."""
    end = g + 1
    while end < n_groups and int64_at(s.segment_level, end) == int64_at(s.segment_level, g):
        end += 1
    return end


@inlined
def lay_leaves(x: Table, s: Scratch, at: int, row: int, ends: int) -> None:
    """Values of a row at a strip's leaves, from ``values`` and, from place ``ends`` on, ``row_exits``."""
    program, strips, code = x.program, x.program.strips, x.program.code
    n_folds, n_exits = int64_at(strips, at + N_FOLDS), int64_at(strips, at + N_EXITS)
    pay = int64_at(strips, at + PAY)
    values = WIDTH * row * (n_folds + int64_at(strips, at + N_SHOWS))
    for leaf in range(int64_at(strips, at + N_SHOW_LEAVES)):
        where = int64_at(strips, at + SHOW_LEAVES) + 3 * leaf
        worth = load16(s.values, values + WIDTH * (n_folds + int64_at(code, where)))
        store(s.node, int64_at(code, where + 1), worth * load16(program.pay, pay))
        pay += WIDTH
    for leaf in range(int64_at(strips, at + N_FOLD_LEAVES)):
        where = int64_at(strips, at + FOLD_LEAVES) + 3 * leaf
        worth = load16(s.values, values + WIDTH * int64_at(code, where))
        store(s.node, int64_at(code, where + 1), worth * load16(program.pay, pay))
        pay += WIDTH
    for e in range(n_exits):
        node = int64_at(code, int64_at(strips, at + EXITS) + 3 * e)
        store(s.node, node, load16(s.row_exits, ends + WIDTH * (row * n_exits + e)))


@inlined
def learn_rows(x: Table, s: Scratch, f: Factors, class_: int, at: int, ends: int) -> None:
    """Values of a strip's nodes, row by row from ``values`` and, from place ``ends`` on, ``row_exits``; p's regrets."""
    program, strips, code = x.program, x.program.strips, x.program.code
    slots = WIDTH * int64_at(strips, at + OWN_SLOTS)
    start = class_ * program.own_size + int64_at(strips, at + OWN_FIRST)
    first_up, n_up = int64_at(strips, at + UP), int64_at(strips, at + N_UP)
    for row in range(program.n_rows):
        lay_leaves(x, s, at, row, ends)
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
                    total = total + load16(s.node, child + WIDTH * a)
                store(s.node, node, total)
            else:
                _learn(x, s, f, numbers + WIDTH * int64_at(code, where + 4), n_actions, node, child)


@inlined
def _learn(x: Table, s: Scratch, f: Factors, at: int, n_actions: int, node: int, child: int) -> None:
    """One of p's decisions: its value by regret matching, and its regrets."""
    total = mean = fill16(_ZERO)
    for a in range(n_actions):
        weight = maximum(load_as(x.kind, x.own, at + WIDTH * a), fill16(_FLOOR))
        total = total + weight
        mean = mean + weight * load16(s.node, child + WIDTH * a)
    mean = mean / total
    store(s.node, node, mean)
    for a in range(n_actions):
        regret = load_as(x.kind, x.own, at + WIDTH * a) * f.keep
        regret = regret + (load16(s.node, child + WIDTH * a) - mean) * x.own_gain
        store_as(x.kind, x.own, at + WIDTH * a, where_positive(regret, regret, regret * f.sink), f.dither)


@inlined
def respond(x: Table, s: Scratch, v: View, at: int, first: int, n: int, begin: int, reach_: int) -> None:
    """Best responses of at most `BLOCK` hands from the first on, in a round that boards follow: ``nodes[0]``."""
    program, strips, code = x.program, x.program.strips, x.program.code
    all_, width = WIDTH * (v.n_places - 1), WIDTH * (1 + int64_at(strips, at + OTHER_SLOTS))
    for i in range(n):
        put_int64(s.ways, 3 * i, WIDTH * int32_at(v.cards, 2 * (first + i)))
        put_int64(s.ways, 3 * i + 1, WIDTH * int32_at(v.cards, 2 * (first + i) + 1))
        put_int64(s.ways, 3 * i + 2, begin + width * int32_at(v.rows, first + i))
    pay, lanes = int64_at(strips, at + PAY), int64_at(strips, at + FOLDS)
    for leaf in range(int64_at(strips, at + N_FOLD_LEAVES)):
        where = int64_at(strips, at + FOLD_LEAVES) + 3 * leaf
        j, to, chips = int64_at(code, where), BLOCK * int64_at(code, where + 1), load16(program.pay, pay)
        d, sequence = j * v.stride, int64_at(code, lanes + j)
        everybody = load16(s.totals, d + all_)
        for i in range(n):
            a, c = d + int64_at(s.ways, 3 * i), d + int64_at(s.ways, 3 * i + 1)
            rest = everybody - (load16(s.totals, a) + load16(s.totals, c))
            if v.two:
                sigma = load16(s.other, int64_at(s.ways, 3 * i + 2) + sequence)
                rest = rest + sigma * load16(s.reach, reach_ + WIDTH * (first + i))
            store(s.nodes, to + WIDTH * i, rest * chips)
        pay += WIDTH
    exit_ = int64_at(strips, at + FIRST_EXIT)
    for e in range(int64_at(strips, at + N_EXITS)):
        to = BLOCK * int64_at(code, int64_at(strips, at + EXITS) + 3 * e)
        below = WIDTH * ((exit_ + e) * s.n_most + first)
        for i in range(0, WIDTH * n, WIDTH):
            store(s.nodes, to + i, load16(s.below, below + i))
    _best_up(x, s, at, n)


@inlined
def respond_last(x: Table, s: Scratch, v: View, at: int, first: int, n: int, row: int) -> None:
    """The same in the last round, after `level_up`, for hands of one row: four at a time share what is loaded."""
    program, strips, code = x.program, x.program.strips, x.program.code
    all_, sigmas = WIDTH * (v.n_places - 1), WIDTH * (1 + int64_at(strips, at + OTHER_SLOTS)) * row
    behind = int64_at(strips, at + N_FOLDS) + 2 * int64_at(strips, at + N_SHOWS)
    for h in range(first, first + n, 4):
        end, pay = first + n - 1, int64_at(strips, at + PAY)
        h1, h2, h3 = min(h + 1, end), min(h + 2, end), min(h + 3, end)
        a0, c0 = WIDTH * int32_at(v.cards, 2 * h), WIDTH * int32_at(v.cards, 2 * h + 1)
        a1, c1 = WIDTH * int32_at(v.cards, 2 * h1), WIDTH * int32_at(v.cards, 2 * h1 + 1)
        a2, c2 = WIDTH * int32_at(v.cards, 2 * h2), WIDTH * int32_at(v.cards, 2 * h2 + 1)
        a3, c3 = WIDTH * int32_at(v.cards, 2 * h3), WIDTH * int32_at(v.cards, 2 * h3 + 1)
        for kind in range(2):  # showdowns and then folds, as in `Program.pay`
            shown = kind == 0
            leaves = int64_at(strips, at + (SHOW_LEAVES if shown else FOLD_LEAVES))
            n_leaves = int64_at(strips, at + (N_SHOW_LEAVES if shown else N_FOLD_LEAVES))
            lanes, counted = int64_at(strips, at + (SHOWS if shown else FOLDS)), behind if shown else 0
            same = s.within if shown else s.reach
            own0, own1 = load16(same, WIDTH * h), load16(same, WIDTH * h1)
            own2, own3 = load16(same, WIDTH * h2), load16(same, WIDTH * h3)
            for where in range(leaves, leaves + 3 * n_leaves, 3):
                j, to = int64_at(code, where), BLOCK * int64_at(code, where + 1) + WIDTH * (h - first)
                d, chips, sigma = (counted + j) * v.stride, load16(program.pay, pay), fill16(_ZERO)
                if shown or v.two:
                    sigma = load16(s.other, sigmas + int64_at(code, lanes + j))
                everybody = load16(s.totals, d + all_)
                won0 = everybody - (load16(s.totals, d + a0) + load16(s.totals, d + c0)) + sigma * own0
                won1 = everybody - (load16(s.totals, d + a1) + load16(s.totals, d + c1)) + sigma * own1
                won2 = everybody - (load16(s.totals, d + a2) + load16(s.totals, d + c2)) + sigma * own2
                won3 = everybody - (load16(s.totals, d + a3) + load16(s.totals, d + c3)) + sigma * own3
                store(s.nodes, to, won0 * chips)
                store(s.nodes, to + WIDTH, won1 * chips)
                store(s.nodes, to + 2 * WIDTH, won2 * chips)
                store(s.nodes, to + 3 * WIDTH, won3 * chips)
                pay += WIDTH
    _best_up(x, s, at, n)


@inlined
def _best_up(x: Table, s: Scratch, at: int, n: int) -> None:
    """Values of a strip's nodes for n hands at once, from those of its leaves: p's best, q's sum."""
    strips, code = x.program.strips, x.program.code
    for k in range(int64_at(strips, at + N_UP)):
        where = int64_at(strips, at + UP) + 5 * k
        mine, n_actions = int64_at(code, where), int64_at(code, where + 1)
        node, child = BLOCK * int64_at(code, where + 2), BLOCK * int64_at(code, where + 3)
        for i in range(0, WIDTH * n, WIDTH):
            value = load16(s.nodes, child + i)
            for b in range(1, n_actions):
                other = load16(s.nodes, child + WIDTH * BLOCK * b + i)
                value = maximum(value, other) if mine == 1 else value + other
            store(s.nodes, node + i, value)
