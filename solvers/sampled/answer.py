"""What the opponent would best do on the last round of a dealt board, row by row: the answer that a traverser fears.

Boards of a class share strategies, so an opponent who follows them cannot punish what is wrong on one of the boards,
and an equilibrium against it gives much away in the real game (K. Waugh et al. 2009). After the last round nothing is
dealt, so on a board as it is the opponent q may know all that p, the traverser, plays now: its hands' values against
p's reach, summed over the hands of each row, choose q's action at each of its decisions. Learning against that
is CFR-BR (M. Johanson et al. 2012), here in the round that has most of a game's numbers.

The *mirror* is q's view of a walk of p's: steps and buffers as if q were the traverser, of which rounds before the last
need reach alone. Segments are the board's, which both views share. Where p brings no hand, all that q can do is worth
the same; there q follows what it has learnt.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from compiled import inlined, kernel
from compiled.records import Packed, unpack, unpack_at
from compiled.vector import WIDTH, Address, fill16, int64_at, load16, maximum, store, where_positive
from solvers.sampled.kernels import (
    CLASS,
    NODE_WIDTH,
    Scratch,
    Table,
    arrive,
    clear_values,
    enter_round,
    fold_group,
    lay_leaves,
    level_end,
    level_up,
    play,
    reach,
    show_group,
    total_up,
    view,
    way_of,
)
from solvers.sampled.program import ALIGNED, N_COLUMNS, N_SHOWS, N_UP, OWN_DOWN, OWN_FIRST, OWN_SLOTS, UP

_ZERO: Any = np.float32(0)
_ONE: Any = np.float32(1)


@kernel
def mirror_down(tables: Packed, mirror: Packed, boards: Packed, t: int) -> None:
    """P's reach through a round that is not the last, as q sees it."""
    x, s, cards = unpack_at(tables, t), unpack_at(mirror, t), unpack(boards)
    number = int64_at(s.open, 0)
    v, class_ = view(cards, number), int64_at(cards.nodes, NODE_WIDTH * number + CLASS)
    for strip in range(x.program.n_strips):
        enter_round(tables, mirror, cards, t, v, strip, WIDTH * strip * s.n_most)
        reach(x, class_, strip, s.other, strip * s.n_wide, x.other, x.program.other_size, False)


@kernel
def answer(
    weight: float,
    tables: Packed,
    mirror: Packed,
    boards: Packed,
    t: int,
    strip: int,
    n_groups: int,
    into: Address,
) -> None:
    """Mix q's best answers into its reach ``[row][sequence]`` inside a strip of the last round.

    Args:
        weight: of the answers; what was learnt has the rest.
        tables: per round, for q as the traverser.
        mirror: its buffers; the last round's board is open and prepared.
        boards: see `Boards`.
        t: the last round.
        strip: of it.
        n_groups: segments of the board.
        into: q's reach by what it has learnt.
    """
    x, s, cards = unpack_at(tables, t), unpack_at(mirror, t), unpack(boards)
    number, at = int64_at(s.open, 0), N_COLUMNS * strip
    v, class_ = view(cards, number), int64_at(cards.nodes, NODE_WIDTH * number + CLASS)
    above, up = unpack_at(mirror, max(t - 1, 0)), unpack_at(tables, max(t - 1, 0))
    w = view(cards, int64_at(above.open, 0))
    exit_ = int64_at(x.program.strips, at + ALIGNED) if t > 0 else -1
    way = way_of(up, above, max(exit_, 0), 0, exit_ >= 0)
    if not way.aligned:
        enter_round(tables, mirror, cards, t, v, strip, 0)
    reach(x, class_, strip, s.other, 0, x.other, x.program.other_size, False)
    arrive(s, above, cards, v, w, way, n_groups, x.program.n_rows)
    total_up(x, s, v, at)
    clear_values(x, s, at)
    for g in range(n_groups):
        fold_group(x, s, v, at, g, int64_at(s.segment_row, g))
    g = 0
    while g < n_groups:
        end = level_end(s, g, n_groups)
        alone = end == g + 1
        if not alone and int64_at(x.program.strips, at + N_SHOWS) > 0:
            level_up(x, s, v, at, g, end)
        while g < end:
            show_group(x, s, v, at, g, int64_at(s.segment_row, g), alone)
            g += 1
    width = WIDTH * (1 + int64_at(x.program.strips, at + OWN_SLOTS))
    mine = np.float32(weight)
    for row in range(x.program.n_rows):
        _choose(x, s, class_, at, row)
        for n in range(row * width, (row + 1) * width, WIDTH):
            store(into, n, load16(into, n) * (_ONE - mine) + load16(s.own, n) * mine)


@inlined
def _choose(x: Table, s: Scratch, class_: int, at: int, row: int) -> None:
    """Q's reach by its best answers, of a row: ``own[row]``."""
    strips, code = x.program.strips, x.program.code
    slots = WIDTH * int64_at(strips, at + OWN_SLOTS)
    to = row * (WIDTH + slots)
    numbers = class_ * x.program.own_size + int64_at(strips, at + OWN_FIRST) + row * slots
    lay_leaves(x, s, at, row, 0)
    first_up, n_up = int64_at(strips, at + UP), int64_at(strips, at + N_UP)
    for k in range(n_up):
        where = first_up + 5 * k
        mine, n_actions = int64_at(code, where), int64_at(code, where + 1)
        node, child = int64_at(code, where + 2), int64_at(code, where + 3)
        value = load16(s.node, child)
        for a in range(1, n_actions):
            other = load16(s.node, child + WIDTH * a)
            value = maximum(value, other) if mine == 1 else value + other
        store(s.node, node, value)
    store(s.own, to, fill16(_ONE))
    down = int64_at(strips, at + OWN_DOWN)
    for k in range(n_up - 1, -1, -1):  # parents before children, q's in the order of `OWN_DOWN`
        where = first_up + 5 * k
        if int64_at(code, where) == 0:
            continue
        n_actions, node, child = (
            int64_at(code, where + 1),
            int64_at(code, where + 2),
            int64_at(code, where + 3),
        )
        parent, slot = to + int64_at(code, down + 1), WIDTH * int64_at(code, where + 4)
        down += 3
        there = to + WIDTH + slot
        play(x, x.own, numbers + slot, n_actions, s.own, parent, there)
        best, left = load16(s.node, node), load16(s.own, parent)
        worst = best
        for a in range(n_actions):
            other = load16(s.node, child + WIDTH * a)
            worst = where_positive(worst - other, other, worst)
        for a in range(n_actions):
            chosen = where_positive(best - load16(s.node, child + WIDTH * a), fill16(_ZERO), left)
            left = left - chosen
            played = load16(s.own, there + WIDTH * a)
            store(s.own, there + WIDTH * a, where_positive(best - worst, chosen, played))
