"""Records for the exact engine's kernels: a round for one traverser, a thread's buffers, and a cursor over both.

Buffers of one thread, with bytes for the river of the flop spot P1 (40 lanes, 400 hands a side) and the cache that each
is meant for. L lanes, N nodes, S sequences; H, H' hands of the traverser and of the opponent on a board:

| buffer | shape | bytes | written by, read by | cache |
|---|---|---|---|---|
| reach | [S][16] | 64 S, 6 KiB | reach step, for one block of hands at a time | L1 |
| value | [N + 1][16] | 64 N, 8 KiB | terminals, updates, for one block at a time | L1 |
| rows_win, rows_total | [16][16] | 1 KiB each | terminals, one batch of lanes at a time | L1 |
| by_card | [L / 16][53][16] | 212 L, 8 KiB | totals, terminals | L1 |
| total | [L] | 4 L | totals, terminals | L1 |
| theirs | [H' + 1][L] | 4 H' L, 64 KiB | reach step, totals, terminals | L2 |
| wins | [H][L] | 4 H L, 64 KiB | showdown totals, terminals | L2 |
| exits | [H' + 1][E] | 4 H' E | reach step, boards of the next round | L2 |
| continuation | [H][E] | 4 H E | boards of the next round, updates | L2 |
| roots | [H][R] | 4 H R | updates, boards of the previous round | L2 |

Regrets and sums, ``[block][slot][16]``, stream through memory once per pass.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from compiled import inlined
from compiled.vector import Address, int64_at
from solvers.exact.program import Program
from solvers.exact.tables import ClassTable, HandTable

N_CARDS = 53
"""Number of cards of a deck, which is also the card of padding rows."""


class PassFactors(NamedTuple):
    """Weights of one iteration, as in `solvers.discount.Factors`, and what a pass does at the traverser's decisions.

    Attributes:
        mode: `UPDATE`, `BEST` or `EVALUATE`.
        positive, negative: factors of earlier positive and negative regrets.
        clip: whether negative regrets become 0.
        decay, gain: factors of an earlier sum and of what is added to a sum.
        dither: rounding of 16-bit numbers, see `compiled.precision`.
    """

    mode: int
    positive: float
    negative: float
    clip: bool
    decay: float
    gain: float
    dither: int


class RoundView(NamedTuple):
    """One round for one traverser: betting, both players' hands, and stored numbers ``[block, slot, 16]``, flat.

    Attributes:
        program: steps of the betting.
        own, other: hands of the traverser and of the opponent.
        classes: hands of equal strength.
        kind: precision of the stored numbers.
        own_gain: factor of instantaneous regrets.
        own_current, other_current: numbers that strategies are matched from; a pass updates own_current.
        other_sums: the opponent's strategy sums, which a pass increases.
        own_locks, other_locks: frequencies ``[block, action, 16]`` of each lock; NaN where a hand is free.
        own_lock_first, other_lock_first: offset of each lock's frequencies.
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


class Workspace(NamedTuple):
    """One thread's buffers for a round, flat; the module's text has their shapes.

    Attributes:
        places: ``[16]``, offsets of the rows that a block of hands enters from.
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
    continuation: Address
    leaf_values: Address
    roots: Address
    places: Address


class Entry(NamedTuple):
    """The opponent's reach as it enters a board.

    Attributes:
        reach: ``[row][root]`` of the board above, flat.
        stride: numbers in a row of ``reach``.
        parent_row: ``[row]``: the row above of each row here, 32-bit.
    """

    reach: Address
    stride: int
    parent_row: Address


class Cursor(NamedTuple):
    """A board of a round, and a thread's share of each step there: part ``part`` of ``n_parts``."""

    round: RoundView
    work: Workspace
    factors: PassFactors
    board: int
    part: int
    n_parts: int


@inlined
def share(c: Cursor, n: int) -> tuple[int, int]:
    """The first of the thread's items among ``n``, and the end of them."""
    return c.part * n // c.n_parts, (c.part + 1) * n // c.n_parts


@inlined
def blocks_of(hands: HandTable, board: int) -> tuple[int, int]:
    """The first block of a board's hands, and the number of its blocks."""
    first = int64_at(hands.first_block, board)
    return first, int64_at(hands.first_block, board + 1) - first
