"""Passes over all boards: boards below boards, shared by threads, with the same result whatever their number.

A pass is for one traverser. The first round's one board goes down, all threads taking part; the boards that are dealt
after it are shared out in *portions*, whose number does not depend on the threads, and each portion adds its values up
on its own, in order; the portions are added up in order; the first board goes up. Whichever thread does what, every
number is the same bits.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from compiled import inlined, kernel
from compiled.mapped import let_go
from compiled.records import Packed, unpack, unpack_at
from compiled.threads import CALLED_OFF, CLAIMS, JUDGED, STOP, look, meet, now, take
from compiled.vector import (
    HANDS,
    LANES,
    Address,
    fill8,
    float32_at,
    int32_at,
    int64_at,
    load8,
    put_float64,
    size_kept,
    store,
)
from solvers.exact.kernels import (
    PassFactors,
    RoundPass,
    Scratch,
    count_all,
    count_wins,
    go_down,
    go_up,
    walk_last,
)
from solvers.exact.tables import DealTable
from solvers.reference.kernels import BEST, UPDATE

_ZERO: Any = np.float32(0)


class Entrance(NamedTuple):
    """How the opponent's initial range enters: ``[row][8]`` of which the first counts, and the row of each row."""

    source: Address
    origin: Address


class Deals(NamedTuple):
    """A deal from the side of a traverser: own values come up, the opponent's reach goes down."""

    own: DealTable
    other: DealTable


class Plan(NamedTuple):
    """The passes to do: for traverser 0, for traverser 1, and so on.

    Attributes:
        mode: what is done at the traverser's decisions: UPDATE learns; BEST and EVALUATE, on one iteration, judge.
        every: 0, or how many iterations lie between two measurements of both best responses; one more comes at the end.
        numbers ``[iteration, 4]``: positive, negative, decay and gain of `PassFactors`; dither ``[iteration]``.
        target: chips of exploitability, at which a measurement ends the plan.
        found ``[measurement, 4]``: both best responses in chips, the time, and the seconds that measuring took.
        kept ``[board, own row, exit lane]``, flat, of traverser 0 and then of traverser 1: what the last pass brings up
            to the chance leaves of the second of three rounds, not yet times the probability of a board.
        kept_second: where traverser 1's begin; -1: nothing is kept.
    """

    mode: int
    n_iterations: int
    every: int
    numbers: Address
    dither: Address
    clip: bool
    target: float
    found: Address
    kept: Address
    kept_second: int


class Ranges(NamedTuple):
    """What root values are weighed by. reach0, reach1 ``[row]``: initial ranges; scale: 1 / the weight of all deals."""

    reach0: Address
    n_rows0: int
    reach1: Address
    n_rows1: int
    scale: float


class Team(NamedTuple):
    """A thread among others.

    portions ``[portion][own row][lane]``, flat: values that the portions bring up. counters: common to all threads.

    Attributes:
        n_kept: boards of the last round of this many portions stay in memory, the others' are let go of.
    """

    portions: Address
    n_portions: int
    n_kept: int
    counters: Address
    n_threads: int
    thread: int


class Desk(NamedTuple):
    """What a thread works with. scratch: per round for both traversers; the first round's rows are common to all."""

    scratch: tuple[tuple[Scratch, Scratch], ...]
    ranges: Ranges
    team: Team


class View1(NamedTuple):
    """A game of one round from the side of a traverser.

    Passes get four, packed: strategies from regrets for traverser 0 and 1, then from sums.
    """

    entry: Entrance
    first: RoundPass


class View2(NamedTuple):
    """Two rounds and the deal between them."""

    entry: Entrance
    first: RoundPass
    deal: Deals
    second: RoundPass


class View3(NamedTuple):
    """Three rounds and the deals between them."""

    entry: Entrance
    first: RoundPass
    deal: Deals
    second: RoundPass
    next_deal: Deals
    third: RoundPass


@kernel
def run_one(plan: Plan, views: Packed, packed: Packed) -> int:
    """Passes over a game of one round: one thread's part. Returns how many were done."""
    desk = unpack(packed)
    ranges, team, scratch = desk.ranges, desk.team, desk.scratch[0]
    part, n, n_passes, began = team.thread, team.n_threads, _n_passes(plan), 0.0
    met = meet(team.counters, n, 0)
    if met == CALLED_OFF:
        return 0
    for i in range(n_passes):
        p, f = i % 2, _factors(plan, i, n_passes)
        began = _begin(f, p, began)
        view, s = unpack_at(views, _view(p, f)), scratch[p]
        go_down(view.first, s, f, 0, view.entry.source, LANES, view.entry.origin, 0, part, n)
        met = meet(team.counters, n, met)
        count_wins(view.first, s, 0, part, n)
        met = meet(team.counters, n, met)
        met = _leave(plan, ranges, p, view.first, scratch, f, _ZERO, True, team, met, began)
        if look(team.counters, STOP):
            return i + 1
    return n_passes


@kernel
def run_two(plan: Plan, views: Packed, packed: Packed) -> int:
    """Passes over a game of two rounds: one thread's part."""
    desk = unpack(packed)
    ranges, team, scratch, below = desk.ranges, desk.team, desk.scratch[0], desk.scratch[1]
    n_passes, began = _n_passes(plan), 0.0
    met = meet(team.counters, team.n_threads, 0)
    if met == CALLED_OFF:
        return 0
    for i in range(n_passes):
        p, f = i % 2, _factors(plan, i, n_passes)
        began = _begin(f, p, began)
        view, s, s1 = unpack_at(views, _view(p, f)), scratch[p], below[p]
        met = _enter(view.entry, view.first, s, f, team, met)
        n_entries, n_values = view.deal.other.n_entries, _n_values(view.first)
        portion = _claim(team, i)
        while portion < team.n_portions:
            start = portion * n_values
            _clear_values(team.portions, start, n_values)
            first, last = _entries(team, portion, n_entries)
            for e in range(first, last):
                deal, stride = view.deal.other, view.first.program.n_exit_lanes
                b, origin = int64_at(deal.child, e), int64_at(deal.first_origin, e)
                walk_last(view.second, s1, f, b, s.exits, stride, deal.origin, origin)
                count = int64_at(view.first.own.count, 0)
                _collect(view.deal.own, e, count, s1.roots, stride, team.portions, start)
            if portion >= team.n_kept:
                child = view.deal.other.child
                _let_go(view.second, int64_at(child, first), int64_at(child, last - 1))
            portion = _claim(team, i)
        met = _add_portions(team, s.below, n_values, met)
        probability: Any = np.float32(view.deal.own.probability)
        met = _leave(plan, ranges, p, view.first, scratch, f, probability, False, team, met, began)
        if look(team.counters, STOP):
            return i + 1
    return n_passes


@kernel
def run_three(plan: Plan, views: Packed, packed: Packed) -> int:
    """Passes over a game of three rounds: one thread's part."""
    desk = unpack(packed)
    ranges, team, scratch = desk.ranges, desk.team, desk.scratch[0]
    upper, deepest = desk.scratch[1], desk.scratch[2]
    n_passes, began = _n_passes(plan), 0.0
    met = meet(team.counters, team.n_threads, 0)
    if met == CALLED_OFF:
        return 0
    for i in range(n_passes):
        p, f = i % 2, _factors(plan, i, n_passes)
        began = _begin(f, p, began)
        view, s, s1, s2 = unpack_at(views, _view(p, f)), scratch[p], upper[p], deepest[p]
        met = _enter(view.entry, view.first, s, f, team, met)
        n_entries, n_values = view.deal.other.n_entries, _n_values(view.first)
        portion = _claim(team, i)
        while portion < team.n_portions:
            start = portion * n_values
            _clear_values(team.portions, start, n_values)
            first, last = _entries(team, portion, n_entries)
            for e in range(first, last):
                _walk_middle(view, s, s1, s2, f, e)
                if plan.kept_second >= 0:
                    _keep(plan, p, view.second, s1, int64_at(view.deal.other.child, e))
                stride = view.first.program.n_exit_lanes
                count = int64_at(view.first.own.count, 0)
                _collect(view.deal.own, e, count, s1.roots, stride, team.portions, start)
            if portion >= team.n_kept:
                child, below = view.deal.other.child, view.next_deal.other
                start, stop = int64_at(child, first), int64_at(child, last - 1) + 1
                start, stop = int64_at(below.first, start), int64_at(below.first, stop)
                _let_go(view.third, int64_at(below.child, start), int64_at(below.child, stop - 1))
            portion = _claim(team, i)
        met = _add_portions(team, s.below, n_values, met)
        probability: Any = np.float32(view.deal.own.probability)
        met = _leave(plan, ranges, p, view.first, scratch, f, probability, False, team, met, began)
        if look(team.counters, STOP):
            return i + 1
    return n_passes


@inlined
def _walk_middle(view: View3, s: Scratch, s1: Scratch, s2: Scratch, f: PassFactors, entry: int) -> None:
    """A board of the second of three rounds, and all boards of the third below it."""
    deal, x = view.deal.other, view.second
    b, stride = int64_at(deal.child, entry), view.first.program.n_exit_lanes
    go_down(x, s1, f, b, s.exits, stride, deal.origin, int64_at(deal.first_origin, entry), 0, 1)
    count_all(x, s1, b, 0, 1)
    stride = x.program.n_exit_lanes
    _clear_values(
        s1.below, 0, HANDS * (int64_at(x.own.first_block, b + 1) - int64_at(x.own.first_block, b)) * stride
    )
    down = view.next_deal.other
    for e in range(int64_at(down.first, b), int64_at(down.first, b + 1)):
        child, start = int64_at(down.child, e), int64_at(down.first_origin, e)
        walk_last(view.third, s2, f, child, s1.exits, stride, down.origin, start)
        _collect(view.next_deal.own, e, int64_at(x.own.count, b), s2.roots, stride, s1.below, 0)
    probability: Any = np.float32(view.next_deal.own.probability)
    go_up(x, s1, f, b, probability, False, 0, 1)


@inlined
def _keep(plan: Plan, p: int, x: RoundPass, s: Scratch, b: int) -> None:
    """Keep what came up to the chance leaves of board b of the second of three rounds."""
    stride, first = x.program.n_exit_lanes, int64_at(x.own.first_block, b)
    start = HANDS * first * stride + plan.kept_second * p
    for at in range(0, HANDS * (int64_at(x.own.first_block, b + 1) - first) * stride, LANES):
        store(plan.kept, start + at, load8(s.below, at))


@inlined
def _begin(f: PassFactors, p: int, began: float) -> float:
    """When the last measurement of best responses began."""
    return now() if f.mode == BEST and p == 0 else began


@inlined
def _leave(
    plan: Plan,
    ranges: Ranges,
    p: int,
    x: RoundPass,
    scratch: tuple[Scratch, Scratch],
    f: PassFactors,
    probability: float,
    last: bool,
    team: Team,
    met: int,
    began: float,
) -> int:
    """All threads take the first board up; after the second of two best responses they learn whether to stop."""
    go_up(x, scratch[p], f, 0, probability, last, team.thread, team.n_threads)
    met = meet(team.counters, team.n_threads, met)
    if f.mode == BEST and p == 1:
        met = _judge(plan, ranges, x, scratch, team, met, began)
    return met


@inlined
def _judge(
    plan: Plan,
    ranges: Ranges,
    x: RoundPass,
    scratch: tuple[Scratch, Scratch],
    team: Team,
    met: int,
    began: float,
) -> int:
    """One thread adds up both best responses; all learn whether to stop: NaN, an error to be told, stops too."""
    if team.thread == 0:
        stride = x.program.n_root_lanes
        first = ranges.scale * _dot(ranges.reach0, scratch[0].roots, stride, ranges.n_rows0)
        second = ranges.scale * _dot(ranges.reach1, scratch[1].roots, stride, ranges.n_rows1)
        number, ended = take(team.counters, JUDGED), now()
        put_float64(plan.found, 4 * number, first)
        put_float64(plan.found, 4 * number + 1, second)
        put_float64(plan.found, 4 * number + 2, ended)
        put_float64(plan.found, 4 * number + 3, ended - began)
        if not (first + second) / 2 > plan.target:
            take(team.counters, STOP)
    return meet(team.counters, team.n_threads, met)


@inlined
def _dot(weights: Address, values: Address, stride: int, n: int) -> float:
    total = 0.0
    for row in range(n):
        total += float32_at(weights, row) * np.float64(float32_at(values, row * stride))
    return total


@inlined
def _enter(entry: Entrance, x: RoundPass, s: Scratch, f: PassFactors, team: Team, met: int) -> int:
    """All threads take the first board down."""
    go_down(x, s, f, 0, entry.source, LANES, entry.origin, 0, team.thread, team.n_threads)
    met = meet(team.counters, team.n_threads, met)
    count_all(x, s, 0, team.thread, team.n_threads)
    return meet(team.counters, team.n_threads, met)


@inlined
def _view(p: int, f: PassFactors) -> int:
    """Learning is from regrets, all else from sums."""
    return p if f.mode == UPDATE else 2 + p


@inlined
def _n_passes(plan: Plan) -> int:
    n = plan.n_iterations
    return 2 * n if plan.every == 0 else 2 * (n + (n + plan.every - 1) // plan.every)


@inlined
def _factors(plan: Plan, i: int, n_passes: int) -> PassFactors:
    """The numbers of pass i, and its mode."""
    at, mode = i // 2, plan.mode
    if plan.every > 0:
        measured = i // (2 * plan.every + 2)
        if i - measured * (2 * plan.every + 2) >= 2 * plan.every or i >= n_passes - 2:
            mode = BEST
        at = min(at - measured, plan.n_iterations - 1)
    return PassFactors(
        mode,
        float32_at(plan.numbers, 4 * at),
        float32_at(plan.numbers, 4 * at + 1),
        plan.clip,
        float32_at(plan.numbers, 4 * at + 2),
        float32_at(plan.numbers, 4 * at + 3),
        int32_at(plan.dither, at),
    )


@inlined
def _entries(team: Team, portion: int, n_entries: int) -> tuple[int, int]:
    """The first entry of a portion, and that of the next."""
    return portion * n_entries // team.n_portions, (portion + 1) * n_entries // team.n_portions


@inlined
def _let_go(x: RoundPass, first: int, last: int) -> None:
    """Let go of the regrets and sums of boards first to last of a round whose values are mapped."""
    n_bytes = HANDS * size_kept(x.kind)
    own, other = n_bytes * x.program.n_own_slots, n_bytes * x.program.n_other_slots
    start, stop = int64_at(x.own.first_block, first), int64_at(x.own.first_block, last + 1)
    let_go(x.own_current, own * start, own * stop)
    start, stop = int64_at(x.other.first_block, first), int64_at(x.other.first_block, last + 1)
    let_go(x.other_current, other * start, other * stop)
    let_go(x.other_sums, other * start, other * stop)


@inlined
def _n_values(x: RoundPass) -> int:
    """Values that come up to the first board."""
    n_blocks: int = int64_at(x.own.first_block, 1)
    return HANDS * n_blocks * x.program.n_exit_lanes


@inlined
def _claim(team: Team, i: int) -> int:
    """The next portion of pass i; every thread asks once in vain."""
    claimed: int = take(team.counters, CLAIMS)
    return claimed - i * (team.n_portions + team.n_threads)


@inlined
def _clear_values(values: Address, start: int, n: int) -> None:
    for at in range(start, start + n, LANES):
        store(values, at, fill8(_ZERO))


@inlined
def _collect(
    deal: DealTable, entry: int, count: int, roots: Address, stride: int, values: Address, start: int
) -> None:
    """Add an entry's root values to the board above, once per dealt board that it stands for."""
    for m in range(int64_at(deal.first_image, entry), int64_at(deal.first_image, entry + 1)):
        for h in range(count):
            row = int32_at(deal.image, m * deal.image_width + h)
            if row >= 0:
                to = start + h * stride
                for lane in range(0, stride, LANES):
                    store(values, to + lane, load8(values, to + lane) + load8(roots, row * stride + lane))


@inlined
def _add_portions(team: Team, total: Address, n: int, met: int) -> int:
    """When all are there, add portion after portion, each thread on its share of the places."""
    met = meet(team.counters, team.n_threads, met)
    n_lanes = n // LANES
    for lane in range(team.thread * n_lanes // team.n_threads, (team.thread + 1) * n_lanes // team.n_threads):
        at = LANES * lane
        value = load8(team.portions, at)
        for portion in range(1, team.n_portions):
            value = value + load8(team.portions, portion * n + at)
        store(total, at, value)
    return meet(team.counters, team.n_threads, met)
