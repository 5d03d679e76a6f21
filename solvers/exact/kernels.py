"""A pass over one board for traverser p against q, told in the order in which data flows.

1. `go_down`: per block of q's hands, reach from the round above, by regret matching down the betting, through a buffer
   ``reach[sequence][16 hands]`` that stays in the first-level cache; q's sums grow by the way. What terminals and the
   next round need is turned to ``[hand][lane]``.
2. `count_wins` (last round) or `count_all`: running totals over q's hands in order of strength, per lane, in all and
   per card; a hand's own sums leave out what shares a card with it (Johanson et al. 2011). A class of equal strength
   is looked at before and after its own opposing hands are added: ``wins[h] = Σ_below + Σ_below or equal``.
3. `go_up`: per block of p's hands, wins and totals become

       T[h] = all - with card a - with card b + the same hand      D[h] = wins[h] - (all - with a - with b)

   (the same hand cancels in D), are paid, turned back from ``[hand][lane]`` to ``[node][16 hands]``, and values go up:
   ``v = Σ σ_a v_a`` at p's decisions, whose regrets are updated, ``Σ v_a`` at q's.

Blocks and strips are independent, so threads may take a `part` of each step, one step after the other.
Regrets and sums lie in the order of use, so a block streams through memory once. Slow twin:
`solvers.reference.walk.Walker`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from compiled import inlined
from compiled.vector import (
    HANDS,
    LANES,
    Address,
    fill16,
    int32_at,
    int64_at,
    load16,
    load16_kept,
    maximum,
    prefetch_kept,
    put_int64,
    store,
    store_kept,
    transpose8,
    transpose8_even,
    transpose8_to,
    where_number,
    where_positive,
)
from solvers.exact.program import Program
from solvers.exact.tables import ClassTable, HandTable
from solvers.reference.kernels import BEST, UPDATE
from solvers.state import FLOOR

N_CARDS = 53  # the last one is that of dummies
STRIP = 16  # lanes counted at once
AHEAD = 2 * HANDS  # two blocks ahead
_ZERO: Any = np.float32(0)
_ONE: Any = np.float32(1)
_FLOOR: Any = np.float32(FLOOR)


class PassFactors(NamedTuple):
    """The numbers of `solvers.discount.Factors` in single precision, and what a pass does at p's decisions."""

    mode: int
    positive: float
    negative: float
    clip: bool
    decay: float
    gain: float
    dither: int


class RoundPass(NamedTuple):
    """A round as a pass sees it: steps, both players' hands, and storage ``[block, slot, 16]``, flat.

    Attributes:
        own_current, other_current: what strategies are matched from; own_current is updated by ``own_gain`` times the
            regret, other_sums grow; kept as ``kind`` (see `storage`).
        own_locks, other_locks: frequencies ``[block, action, 16]`` of each lock, NaN = free; ``first``: where a lock's
            begin.
    """

    program: Program
    own: HandTable
    other: HandTable
    classes: ClassTable
    kind: np.signedinteger[Any]
    own_gain: np.floating[Any]
    own_current: Address
    other_current: Address
    other_sums: Address
    own_locks: Address
    own_lock_first: Address
    other_locks: Address
    other_lock_first: Address


class Scratch(NamedTuple):
    """One thread's buffers for a round, flat; L lanes (whole tiles), E next roots and R roots (padded to tiles).

    reach ``[sequence][16]``, value ``[node + 1][16]``, theirs ``[opposing row + 1][L]``, wins ``[own row][L]``,
    total ``[L]``, by_card ``[L / 16][53][16]``, rows_win and rows_total ``[16][16]``,
    exits ``[opposing row + 1][E]``, below ``[own row][E]``, lanes_below ``[E][16]``, roots ``[own row][R]``.
    places ``[16]``: scratch.
    """

    reach: Address
    value: Address
    theirs: Address
    wins: Address
    total: Address
    by_card: Address
    rows_win: Address
    rows_total: Address
    exits: Address
    below: Address
    lanes_below: Address
    roots: Address
    places: Address


@inlined
def walk_last(
    x: RoundPass,
    s: Scratch,
    f: PassFactors,
    b: int,
    source: Address,
    stride: int,
    origin: Address,
    start: int,
) -> None:
    """Board b of the last round, entered from ``source`` (see `go_down`); leaves ``s.roots``."""
    go_down(x, s, f, b, source, stride, origin, start, 0, 1)
    count_wins(x, s, b, 0, 1)
    go_up(x, s, f, b, _ZERO, True, 0, 1)


@inlined
def go_down(
    x: RoundPass,
    s: Scratch,
    f: PassFactors,
    b: int,
    source: Address,
    stride: int,
    origin: Address,
    start: int,
    part: int,
    n_parts: int,
) -> None:
    """Step 1. Reach enters as ``source[row above][root]``, rows ``stride`` apart; row h was ``origin[start + h]``."""
    program = x.program
    n_lanes, n_exits = program.n_lanes, program.n_exit_lanes
    first, last = int64_at(x.other.first_block, b), int64_at(x.other.first_block, b + 1)
    n_blocks = last - first
    for block in range(first + part * n_blocks // n_parts, first + (part + 1) * n_blocks // n_parts):
        row = HANDS * (block - first)
        for i in range(HANDS):
            put_int64(s.places, i, int32_at(origin, start + row + i) * stride)
        for root in range(0, program.n_roots, LANES):
            for half in range(0, HANDS, LANES):
                transpose8(source, s.places, half, root, s.reach, HANDS * root + half, HANDS)
        base = HANDS * block * program.n_other_slots
        for step in range(program.n_down):
            n_actions, parent = int64_at(program.down, 4 * step), int64_at(program.down, 4 * step + 1)
            slot = int64_at(program.down, 4 * step + 2)
            _play(x, s, f, base + HANDS * slot, n_actions, parent, HANDS * (program.n_roots + slot))
            if int64_at(program.down, 4 * step + 3) >= 0:
                lock = (
                    int64_at(x.other_lock_first, int64_at(program.down, 4 * step + 3))
                    + HANDS * block * n_actions
                )
                _play_locked(
                    x, s, lock, base + HANDS * slot, n_actions, parent, HANDS * (program.n_roots + slot)
                )
        for half in range(0, HANDS, LANES):
            for lane in range(0, n_lanes, LANES):
                transpose8(
                    s.reach, program.lanes, lane, half, s.theirs, (row + half) * n_lanes + lane, n_lanes
                )
            for exit_ in range(0, n_exits, LANES):
                transpose8(
                    s.reach, program.exits, exit_, half, s.exits, (row + half) * n_exits + exit_, n_exits
                )
    silent = HANDS * (last - first)
    for lane in range(n_lanes):
        store(s.theirs, silent * n_lanes + lane, _ZERO)
    for exit_ in range(n_exits):
        store(s.exits, silent * n_exits + exit_, _ZERO)


@inlined
def _play(x: RoundPass, s: Scratch, f: PassFactors, at: int, n_actions: int, parent: int, child: int) -> None:
    """Reach after one of q's decisions: ``reach[child a] = reach[parent] * x_a⁺ / Σ x⁺``.

    Where ``Σ x⁺`` is at most `FLOOR`, every action gets the same share.

    Two and three actions, nearly all there are, stay in registers.
    """
    reach = load16(s.reach, parent)
    even = reach * (_ONE / np.float32(n_actions))
    if n_actions == 2:
        first, second = _weight(x, at, 0), _weight(x, at, 1)
        total = first + second
        scaled, above = reach / total, total - fill16(_FLOOR)
        _send(x, s, f, at, child, 0, where_positive(above, first * scaled, even))
        _send(x, s, f, at, child, 1, where_positive(above, second * scaled, even))
    elif n_actions == 3:
        first, second, third = _weight(x, at, 0), _weight(x, at, 1), _weight(x, at, 2)
        total = first + second + third
        scaled, above = reach / total, total - fill16(_FLOOR)
        _send(x, s, f, at, child, 0, where_positive(above, first * scaled, even))
        _send(x, s, f, at, child, 1, where_positive(above, second * scaled, even))
        _send(x, s, f, at, child, 2, where_positive(above, third * scaled, even))
    else:
        total = fill16(_ZERO)
        for a in range(n_actions):
            weight = _weight(x, at, a)
            store(s.reach, child + HANDS * a, weight)
            total = total + weight
        scaled, above = reach / total, total - fill16(_FLOOR)
        for a in range(n_actions):
            share = where_positive(above, load16(s.reach, child + HANDS * a) * scaled, even)
            _send(x, s, f, at, child, a, share)


@inlined
def _weight(x: RoundPass, at: int, a: int):  # type: ignore[no-untyped-def]
    """``x_a⁺`` at one of q's decisions."""
    prefetch_kept(x.kind, x.other_current, at + AHEAD * x.program.n_other_slots + HANDS * a)
    return maximum(load16_kept(x.kind, x.other_current, at + HANDS * a), fill16(_ZERO))


@inlined
def _send(x: RoundPass, s: Scratch, f: PassFactors, at: int, child: int, a: int, reach) -> None:  # type: ignore[no-untyped-def]
    """Reach behind action a, whose sum grows by the way: ``sum ← decay * sum + gain * reach``."""
    store(s.reach, child + HANDS * a, reach)
    if f.mode == UPDATE and f.gain > _ZERO:
        prefetch_kept(x.kind, x.other_sums, at + AHEAD * x.program.n_other_slots + HANDS * a)
        grown = load16_kept(x.kind, x.other_sums, at + HANDS * a) * f.decay + reach * f.gain
        store_kept(x.kind, x.other_sums, at + HANDS * a, grown, f.dither)


@inlined
def _play_locked(
    x: RoundPass, s: Scratch, lock: int, at: int, n_actions: int, parent: int, child: int
) -> None:
    """Put the locked hands' reach in place of what `_play` found; their sums mean nothing."""
    reach = load16(s.reach, parent)
    for a in range(n_actions):
        fixed = load16(x.other_locks, lock + HANDS * a)
        free = load16(s.reach, child + HANDS * a)
        store(s.reach, child + HANDS * a, where_number(fixed, fixed * reach, free))


@inlined
def count_wins(x: RoundPass, s: Scratch, b: int, part: int, n_parts: int) -> None:
    """Step 2 in the last round: ``s.wins``, and the final totals; two strips of 16 lanes at a time."""
    n_strips = x.program.n_lanes // STRIP
    strip, last = part * n_strips // n_parts, (part + 1) * n_strips // n_parts
    while strip < last and STRIP * strip < x.program.win_start:
        other = HANDS * int64_at(x.other.first_block, b)
        _add_up(x, s, other, 0, int64_at(x.other.count, b), STRIP * strip, _clear(s, STRIP * strip))
        strip += 1
    while strip + 1 < last:
        _count_strips(x, s, b, STRIP * strip, True)
        strip += 2
    if strip < last:
        _count_strips(x, s, b, STRIP * strip, False)


@inlined
def _count_strips(x: RoundPass, s: Scratch, b: int, lane: int, two: bool) -> None:
    """One strip, or two adjacent ones, whose additions to the same card's totals do not wait for each other."""
    n_lanes, next_lane = x.program.n_lanes, lane + STRIP
    own, other = HANDS * int64_at(x.own.first_block, b), HANDS * int64_at(x.other.first_block, b)
    by_card, next_by_card = N_CARDS * lane, N_CARDS * next_lane
    total = _clear(s, lane)
    next_total = _clear(s, next_lane) if two else total
    h = o = 0
    for k in range(int64_at(x.classes.first, b), int64_at(x.classes.first, b + 1)):
        h_end, o_end = int32_at(x.classes.ends, 2 * k), int32_at(x.classes.ends, 2 * k + 1)
        for i in range(h, h_end):
            a, c = (
                STRIP * int32_at(x.own.cards, 2 * (own + i)),
                STRIP * int32_at(x.own.cards, 2 * (own + i) + 1),
            )
            taken = load16(s.by_card, by_card + a) + load16(s.by_card, by_card + c)
            store(s.wins, i * n_lanes + lane, total - taken)
            if two:
                taken = load16(s.by_card, next_by_card + a) + load16(s.by_card, next_by_card + c)
                store(s.wins, i * n_lanes + next_lane, next_total - taken)
        for j in range(o, o_end):
            a, c = (
                STRIP * int32_at(x.other.cards, 2 * (other + j)),
                STRIP * int32_at(x.other.cards, 2 * (other + j) + 1),
            )
            total = _add_hand(s, a, c, j * n_lanes + lane, by_card, total)
            if two:
                next_total = _add_hand(s, a, c, j * n_lanes + next_lane, next_by_card, next_total)
        for i in range(h, h_end):
            a, c = (
                STRIP * int32_at(x.own.cards, 2 * (own + i)),
                STRIP * int32_at(x.own.cards, 2 * (own + i) + 1),
            )
            at, taken = i * n_lanes + lane, load16(s.by_card, by_card + a) + load16(s.by_card, by_card + c)
            store(s.wins, at, load16(s.wins, at) + (total - taken))
            if two:
                at, taken = (
                    at + STRIP,
                    load16(s.by_card, next_by_card + a) + load16(s.by_card, next_by_card + c),
                )
                store(s.wins, at, load16(s.wins, at) + (next_total - taken))
        h, o = h_end, o_end
    store(s.total, lane, total)
    if two:
        store(s.total, next_lane, next_total)


@inlined
def count_all(x: RoundPass, s: Scratch, b: int, part: int, n_parts: int) -> None:
    """Step 2 in other rounds: the totals alone."""
    other, count = HANDS * int64_at(x.other.first_block, b), int64_at(x.other.count, b)
    n_strips = x.program.n_lanes // STRIP
    for strip in range(part * n_strips // n_parts, (part + 1) * n_strips // n_parts):
        lane = STRIP * strip
        _add_up(x, s, other, 0, count, lane, _clear(s, lane))


@inlined
def _clear(s: Scratch, lane: int):  # type: ignore[no-untyped-def]
    """Empty a strip's totals by card; return the one in all."""
    nothing = fill16(_ZERO)
    for card in range(N_CARDS):
        store(s.by_card, N_CARDS * lane + STRIP * card, nothing)
    return nothing


@inlined
def _add_up(x: RoundPass, s: Scratch, other: int, o: int, o_end: int, lane: int, total) -> None:  # type: ignore[no-untyped-def]
    """Add opposing rows o .. o_end - 1 to a strip's totals."""
    for j in range(o, o_end):
        a, c = (
            STRIP * int32_at(x.other.cards, 2 * (other + j)),
            STRIP * int32_at(x.other.cards, 2 * (other + j) + 1),
        )
        total = _add_hand(s, a, c, j * x.program.n_lanes + lane, N_CARDS * lane, total)
    store(s.total, lane, total)


@inlined
def _add_hand(s: Scratch, a: int, c: int, at: int, by_card: int, total):  # type: ignore[no-untyped-def]
    """Add one opposing hand's reach to a strip's totals by card; return the one in all."""
    reach = load16(s.theirs, at)
    store(s.by_card, by_card + a, load16(s.by_card, by_card + a) + reach)
    store(s.by_card, by_card + c, load16(s.by_card, by_card + c) + reach)
    return total + reach


@inlined
def go_up(
    x: RoundPass, s: Scratch, f: PassFactors, b: int, probability: float, last: bool, part: int, n_parts: int
) -> None:
    """Step 3; leaves the root values in ``s.roots``. Values from below come in ``s.below``, to be scaled."""
    program = x.program
    n_exits, n_roots = program.n_exit_lanes, program.n_root_lanes
    first = int64_at(x.own.first_block, b)
    n_blocks = int64_at(x.own.first_block, b + 1) - first
    for block in range(first + part * n_blocks // n_parts, first + (part + 1) * n_blocks // n_parts):
        row = HANDS * (block - first)
        _pay(x, s, b, block, row, last)
        for exit_ in range(0, n_exits, LANES):
            for half in range(0, HANDS, LANES):
                transpose8_even(
                    s.below,
                    (row + half) * n_exits + exit_,
                    n_exits,
                    s.lanes_below,
                    HANDS * exit_ + half,
                    HANDS,
                )
        for exit_ in range(program.n_exits):
            store(
                s.value,
                int64_at(program.exit_nodes, exit_),
                load16(s.lanes_below, HANDS * exit_) * probability,
            )
        for step in range(program.n_up):
            mine, n_actions = int64_at(program.up, 6 * step), int64_at(program.up, 6 * step + 1)
            node, child = int64_at(program.up, 6 * step + 2), int64_at(program.up, 6 * step + 3)
            slot = int64_at(program.up, 6 * step + 4)
            if mine == 0:
                total = load16(s.value, child)
                for a in range(1, n_actions):
                    total = total + load16(s.value, child + HANDS * a)
                store(s.value, node, total)
                continue
            at = HANDS * (block * program.n_own_slots + slot)
            lock = int64_at(program.up, 6 * step + 5)
            if lock >= 0:
                lock = int64_at(x.own_lock_first, lock) + HANDS * block * n_actions
            if f.mode == UPDATE:
                _learn(x, s, f, at, n_actions, node, child, lock)
            else:
                _respond(x, s, f, at, n_actions, node, child, lock)
        for root in range(0, n_roots, LANES):
            for half in range(0, HANDS, LANES):
                transpose8_even(
                    s.value, HANDS * root + half, HANDS, s.roots, (row + half) * n_roots + root, n_roots
                )


@inlined
def _pay(x: RoundPass, s: Scratch, b: int, block: int, row: int, last: bool) -> None:
    """What folds and showdowns are worth to one block of own hands, in ``s.value``; nothing to dummies."""
    program = x.program
    n_lanes, total_end = program.n_lanes, program.total_end
    win_start = program.win_start if last else n_lanes
    n_real = min(HANDS, int64_at(x.own.count, b) - row)
    for i in range(n_real, HANDS):
        store(s.rows_total, STRIP * i, fill16(_ZERO))
        store(s.rows_win, STRIP * i, fill16(_ZERO))
    for lane in range(0, n_lanes, STRIP):
        by_card, total = N_CARDS * lane, load16(s.total, lane)
        fold_pay, win_pay = load16(program.fold_pay, lane), load16(program.win_pay, lane)
        for i in range(n_real):
            h = HANDS * block + i
            a, c = int32_at(x.own.cards, 2 * h), int32_at(x.own.cards, 2 * h + 1)
            rest = total - (load16(s.by_card, by_card + STRIP * a) + load16(s.by_card, by_card + STRIP * c))
            with_h = rest
            if lane < total_end:
                with_h = rest + load16(s.theirs, n_lanes * int32_at(x.own.twin, h) + lane)
                store(s.rows_total, STRIP * i, with_h * fold_pay)
            if lane >= win_start:
                won = (load16(s.wins, (row + i) * n_lanes + lane) - rest) * win_pay
                if program.raked:
                    won = won + with_h * load16(program.rake_pay, lane)
                store(s.rows_win, STRIP * i, won)
        for half in range(0, HANDS, LANES):
            for part in range(0, STRIP, LANES):
                start = STRIP * half + part
                if lane < total_end:
                    transpose8_to(s.rows_total, start, STRIP, s.value, program.folds, lane + part, half)
                if lane >= win_start:
                    transpose8_to(s.rows_win, start, STRIP, s.value, program.showdowns, lane + part, half)


@inlined
def _learn(
    x: RoundPass, s: Scratch, f: PassFactors, at: int, n_actions: int, node: int, child: int, lock: int
) -> None:
    """One of p's decisions: its value by regret matching, and regrets discounted and increased."""
    if n_actions == 2 and lock < 0:  # in registers; three actions do not fit
        first, second = _regret(x, at, 0), _regret(x, at, 1)
        value, other_value = load16(s.value, child), load16(s.value, child + HANDS)
        weight, other = maximum(first, fill16(_FLOOR)), maximum(second, fill16(_FLOOR))
        mean = (weight * value + other * other_value) / (weight + other)
        store(s.value, node, mean)
        _regret_more(x, f, at, 0, first, value - mean)
        _regret_more(x, f, at, 1, second, other_value - mean)
        return
    mean = _mean(x, s, at, n_actions, child)
    if lock >= 0:
        mean = _locked_mean(x, s, n_actions, child, lock, mean)
    store(s.value, node, mean)
    for a in range(n_actions):
        regret = load16_kept(x.kind, x.own_current, at + HANDS * a)
        _regret_more(x, f, at, a, regret, load16(s.value, child + HANDS * a) - mean)


@inlined
def _regret(x: RoundPass, at: int, a: int):  # type: ignore[no-untyped-def]
    prefetch_kept(x.kind, x.own_current, at + AHEAD * x.program.n_own_slots + HANDS * a)
    return load16_kept(x.kind, x.own_current, at + HANDS * a)


@inlined
def _regret_more(x: RoundPass, f: PassFactors, at: int, a: int, regret, gained) -> None:  # type: ignore[no-untyped-def]
    kept = regret * where_positive(regret, fill16(f.positive), fill16(f.negative))
    regret = kept + gained * x.own_gain
    if f.clip:
        regret = maximum(regret, fill16(_ZERO))
    store_kept(x.kind, x.own_current, at + HANDS * a, regret, f.dither)


@inlined
def _respond(
    x: RoundPass, s: Scratch, f: PassFactors, at: int, n_actions: int, node: int, child: int, lock: int
) -> None:
    """One of p's decisions: the best action, or what p's own strategy makes of it."""
    best = load16(s.value, child)
    if f.mode == BEST:
        for a in range(1, n_actions):
            best = maximum(best, load16(s.value, child + HANDS * a))
    else:
        best = _mean(x, s, at, n_actions, child)
    if lock >= 0:
        best = _locked_mean(x, s, n_actions, child, lock, best)
    store(s.value, node, best)


@inlined
def _mean(x: RoundPass, s: Scratch, at: int, n_actions: int, child: int):  # type: ignore[no-untyped-def]
    """The value of one of p's decisions by regret matching: ``Σ x_a⁺ v_a / Σ x_a⁺``.

    Weights below `FLOOR` are raised to `FLOOR`: where no x is positive the result is the plain mean, and elsewhere the
    change is smaller than the rounding.
    """
    total = fill16(_ZERO)
    mean = fill16(_ZERO)
    for a in range(n_actions):
        weight = maximum(_regret(x, at, a), fill16(_FLOOR))
        total = total + weight
        mean = mean + weight * load16(s.value, child + HANDS * a)
    return mean / total


@inlined
def _locked_mean(x: RoundPass, s: Scratch, n_actions: int, child: int, lock: int, free):  # type: ignore[no-untyped-def]
    """The value that locked hands get by their frequencies; ``free`` for the others."""
    fixed = load16(x.own_locks, lock)
    mean = fixed * load16(s.value, child)
    for a in range(1, n_actions):
        mean = mean + load16(x.own_locks, lock + HANDS * a) * load16(s.value, child + HANDS * a)
    return where_number(fixed, mean, free)
