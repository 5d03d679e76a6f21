"""Named tuples that the exact engine's kernels read: a round's arrays, a thread's buffers, and the current board.

The table lists one thread's buffers, with sizes in bytes for a river with 400 hands on each side, and the processor
cache that each buffer is meant for. H and H' are the numbers of hands of the traverser and of the opponent on a board,
N of nodes, S of the opponent's sequences, E of chance leaves and R of betting lines that enter the round. L is the
number (40) of leaf pairs: a fold, a showdown, or one of each, all after the same sequence of the opponent. An axis of
16 is a block of 16 hands, or a batch of 16 leaf pairs.

| buffer | shape | bytes | written by, read by | cache |
|---|---|---|---|---|
| reach | [S][16] | 64 S, 6 KiB | reach step, for one block of hands at a time | L1 |
| value | [N + 1][16] | 64 N, 8 KiB | terminals, updates, for one block at a time | L1 |
| rows_win, rows_total | [16][16] | 1 KiB each | terminals, one batch of leaf pairs at a time | L1 |
| by_card | [L / 16][53][16] | 212 L, 8 KiB | totals, terminals | L1 |
| total | [L] | 4 L | totals, terminals | L1 |
| theirs | [H' + 1][L] | 4 H' L, 64 KiB | reach step, totals, terminals | L2 |
| wins | [H][L] | 4 H L, 64 KiB | showdown totals, terminals | L2 |
| exits | [H' + 1][E] | 4 H' E | reach step, boards of the next round | L2 |
| continuation | [H][E] | 4 H E | boards of the next round, updates | L2 |
| roots | [H][R] | 4 H R | updates, boards of the previous round | L2 |

Regrets and sums, ``[block][slot][16]``, are read and written once per pass; a slot is one action of one decision.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from compiled import inlined
from compiled.vector import Address, int64_at
from solvers.exact.program import Program
from solvers.exact.tables import ClassTable, HandTable

N_CARDS = 53
"""53: the number of cards of a deck, and one more for padding rows."""


class PassFactors(NamedTuple):
    """Mode of a pass, and weights of its iteration.

    Attributes:
        mode: `UPDATE`, `BEST` or `EVALUATE`: what the pass does at the traverser's decisions.
        positive, negative: factors of earlier positive and of earlier negative regrets.
        clip: whether negative regrets become 0.
        decay, gain: factor of the earlier strategy sum, and factor of the reach that is added to it.
        dither: rounding of 16-bit numbers, see `compiled.precision`.
        ahead: weight of the strategy after the update in the values that an `UPDATE` pass carries up the tree.
    """

    mode: int
    positive: float
    negative: float
    clip: bool
    decay: float
    gain: float
    dither: int
    ahead: float


class RoundView(NamedTuple):
    """Arrays of a round, as a pass for one traverser needs them: betting, both players' hands, regrets and sums.

    Regrets and sums are flat arrays ``[block, slot, 16 hands]``; a slot is one action of one decision.

    Attributes:
        program: steps of the betting.
        own, other: hands of the traverser and of the opponent.
        classes: groups of hands of equal strength.
        kind: precision of regrets and sums: `SINGLE` or `HALF`.
        own_gain: factor by which instantaneous regrets are multiplied before they are added to stored regrets.
        own_current, other_current: regrets (or sums) of the traverser and of the opponent, from which a pass takes the
            strategies; an `UPDATE` pass changes ``own_current``.
        other_sums: the opponent's strategy sums, which an `UPDATE` pass increases.
        own_locks, other_locks: frequencies ``[block, action, 16 hands]`` of one lock after another; NaN for hands that
            are not locked.
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
    """Flat buffers of a thread for a round, of which kernels get the addresses.

    A leaf pair is a fold, a showdown, or one of each, all after the same sequence of the opponent.

    Attributes:
        reach: ``[opponent's sequence][16 hands]``, the opponent's reach.
        value: ``[node][16 hands]``, the traverser's values.
        theirs: ``[opponent's row][leaf pair]``, the opponent's reach.
        wins: ``[traverser's row][leaf pair]``, reach of weaker hands plus reach of weaker and equal hands.
        total: ``[leaf pair]``, the opponent's whole reach.
        by_card: ``[batch][card][16 leaf pairs]``, the opponent's reach with each card.
        rows_win, rows_total: ``[16 hands][16 leaf pairs]``, values of showdowns and of folds, before they are
            transposed into ``value``.
        exits: ``[opponent's row][chance leaf]``, the opponent's reach.
        continuation: ``[traverser's row][chance leaf]``, values from the boards of the next round.
        leaf_values: ``[chance leaf][16 hands]``, the values of ``continuation``, transposed for 16 hands.
        roots: ``[traverser's row][betting line]``, values at the start of the round.
        places: ``[16 hands]``, offsets in `Entry.reach` of the rows from which the hands' reach comes.
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
    """The opponent's reach at the start of a round on a board, as rows of the previous round's board.

    Attributes:
        reach: flat ``[row of the previous board, betting line that enters this round]``.
        stride: number of elements in a row of ``reach``.
        parent_row: ``[row of this board]``, the row of ``reach`` with the same hand, 32-bit.
    """

    reach: Address
    stride: int
    parent_row: Address


class Cursor(NamedTuple):
    """The board that a thread processes in a pass, and the thread's share of each step on it.

    Attributes:
        round: the arrays of the board's round.
        work: the thread's buffers.
        factors: mode and weights of the pass.
        board: number of the board.
        part, n_parts: the thread does part ``part`` of ``n_parts`` equal parts of each step.
    """

    round: RoundView
    work: Workspace
    factors: PassFactors
    board: int
    part: int
    n_parts: int


@inlined
def share(c: Cursor, n: int) -> tuple[int, int]:
    """Range of the n items of a step that a thread processes: the first item, and the item after the last."""
    return c.part * n // c.n_parts, (c.part + 1) * n // c.n_parts


@inlined
def blocks_of(hands: HandTable, board: int) -> tuple[int, int]:
    """First block of a board's hands, and number of its blocks; a block is 16 hands."""
    first = int64_at(hands.first_block, board)
    return first, int64_at(hands.first_block, board + 1) - first
