"""Boards as the exact engine reads them: blocks of 16 hands, cards, classes of equal strength, and maps between rounds.

A player's hands on a board fill whole blocks. Rows behind the last hand are padding: they hold card `NO_CARD`, never
get reach, and have values of 0. Board b's blocks of a player are ``first_block[b] .. first_block[b + 1] - 1`` of the
round. Buffers by hand of one board have one more row behind all blocks, the *zero row*, which is always 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from compiled.vector import WIDTH
from solvers.exact.program import padded
from solvers.game import Deal, Hands, LiveGame
from solvers.tree import Ints

Int32s = NDArray[np.int32]
NO_CARD = 52


class HandTable(NamedTuple):
    """One player's hands on all boards of a round; see the module.

    Attributes:
        count: ``[board]``, number of hands.
        first_block: ``[board + 1]``.
        cards: ``[row, 2]``; rows are those of all blocks.
        same_cards: ``[row]``, the opponent's row on the board with the same two cards, or the opponent's zero row.
    """

    count: Ints  # type: ignore[assignment]  # which tuples have too
    first_block: Ints
    cards: Int32s
    same_cards: Int32s


class ClassTable(NamedTuple):
    """Classes of hands of equal strength, ascending; no classes in rounds without showdowns.

    Attributes:
        first: board b has the classes ``first[b] .. first[b + 1] - 1``.
        ends: class k ends before own row ``ends[k, 0]`` and before opposing row ``ends[k, 1]``.
    """

    first: Ints
    ends: Int32s


class DealTable(NamedTuple):
    """From the boards of a round to those of the next, for one player.

    Entry e leads to board ``child[e]`` and stands for the dealt boards ``first_image[e] .. first_image[e + 1] - 1``.

    Attributes:
        first: ``[board + 1]``, first entry of each board above.
        parent_row: at ``first_row[e] + h``, the row above of row h of entry e's board; padding rows have the zero row.
        child_row: ``[m, h]``, the row below of row h above on dealt board m, or -1.
        probability: probability of one board, given both hands.
    """

    first: Ints
    n_entries: int
    child: Ints
    first_row: Ints
    parent_row: Int32s
    first_image: Ints
    child_row_width: int
    child_row: Int32s
    probability: float


def n_blocks(count: int) -> int:
    """Number of blocks that ``count`` hands fill."""
    return padded(count, WIDTH) // WIDTH


def hand_table(rows: Hands, other: Hands) -> HandTable:
    """The table of a player's hands, against the hands of the other player."""
    blocks = np.array([n_blocks(int(n)) for n in rows.n_hands])
    first = np.concatenate([[0], np.cumsum(blocks)]).astype(np.int64)
    cards = np.full((WIDTH * first[-1], 2), NO_CARD, dtype=np.int32)
    same_cards = np.zeros(WIDTH * first[-1], dtype=np.int32)
    for b, n in enumerate(rows.n_hands.tolist()):
        start = WIDTH * first[b]
        zero_row = WIDTH * n_blocks(int(other.n_hands[b]))
        cards[start : start + n] = rows.cards[b, :n]
        rows_there = rows.same_cards[b, :n]
        same_cards[start : WIDTH * first[b + 1]] = zero_row
        same_cards[start : start + n] = np.where(rows_there >= 0, rows_there, zero_row)
    return HandTable(rows.n_hands.astype(np.int64), first, cards, same_cards)


def class_table(own: Hands, other: Hands) -> ClassTable:
    """Classes of equal strength of both players' hands together, from the side of ``own``."""
    first, ends = [0], []
    for b in range(len(own.n_hands)):
        mine, theirs = own.strength[b, : own.n_hands[b]], other.strength[b, : other.n_hands[b]]
        levels = np.union1d(mine, theirs)
        pair = [np.searchsorted(strength, levels, side="right") for strength in (mine, theirs)]
        ends.append(np.stack(pair, axis=1))
        first.append(first[-1] + len(levels))
    return ClassTable(np.array(first, dtype=np.int64), np.concatenate(ends).astype(np.int32))


def no_classes() -> ClassTable:
    """The table of a round without showdowns."""
    return ClassTable(np.zeros(1, dtype=np.int64), np.zeros((0, 2), dtype=np.int32))


def deal_table(deal: Deal, above: Hands, below: Hands, p: int) -> DealTable:
    """Player p's maps of a deal."""
    parent_of = np.repeat(np.arange(len(deal.first) - 1), np.diff(deal.first))
    lengths = [WIDTH * n_blocks(int(below.n_hands[c])) for c in deal.child]
    first = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    parent_row = np.zeros(first[-1], dtype=np.int32)
    for e, c in enumerate(deal.child.tolist()):
        n = int(below.n_hands[c])
        zero_row = WIDTH * n_blocks(int(above.n_hands[parent_of[e]]))
        parent_row[first[e] : first[e + 1]] = zero_row
        parent_row[first[e] : first[e] + n] = deal.parent_row[p][e, :n]
    return DealTable(
        deal.first.astype(np.int64),
        len(deal.child),
        deal.child.astype(np.int64),
        first,
        parent_row,
        deal.first_image.astype(np.int64),
        deal.child_row[p].shape[1],
        np.ascontiguousarray(deal.child_row[p], dtype=np.int32),
        float(deal.probability),
    )


def entering_reach(game: LiveGame, p: int) -> np.ndarray:
    """``[row, 8]``, flat: player p's initial range in the first of 8 lanes, as if it came from a round above."""
    rows = game.rounds[0].hands[p]
    count = int(rows.n_hands[0])
    out = np.zeros((WIDTH * n_blocks(count) + 1, padded(1)), dtype=np.float32)
    out[:count, 0] = game.reach[p][0, :count]
    return out.reshape(-1)
