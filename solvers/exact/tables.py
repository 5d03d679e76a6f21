"""Boards as the exact engine's kernels read them: blocks of 16 hands, cards, ties, and maps between rounds.

A player's hands on a board fill whole blocks of 16 rows. Rows after the last hand are padding: they hold card
`NO_CARD`, never get reach, and have values of 0. The player's blocks on board b are ``first_block[b] .. first_block[b +
1] - 1`` of the round. Buffers with a row for each hand of a board have one more row after all blocks, the *zero row*,
which is always 0.
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
    """Hands of a player on all boards of a round, in blocks of 16 rows.

    Attributes:
        count: ``[board]``, number of hands.
        first_block: ``[board + 1]``, first block of each board.
        cards: ``[row, 2]``, cards of each hand, for the rows of all blocks of the round.
        same_cards: ``[row]``, the opponent's row on the board with the same two cards. If there is no such row, the row
            after the opponent's last block, in which buffers have 0.
    """

    count: Ints  # type: ignore[assignment]  # tuples have a method of that name
    first_block: Ints
    cards: Int32s
    same_cards: Int32s


class ClassTable(NamedTuple):
    """Groups of hands of equal strength, of both players and in ascending order; empty in rounds without showdowns.

    Attributes:
        first: ``[board + 1]``; board b has the groups ``first[b] .. first[b + 1] - 1``.
        ends: ``[group, 2]``; group k ends before row ``ends[k, 0]`` of the player and row ``ends[k, 1]`` of the
            opponent.
    """

    first: Ints
    ends: Int32s


class DealTable(NamedTuple):
    """Maps from the boards of a round to the boards of the next round, for one player.

    Each *entry* leads from a board to a board of the next round. It stands for one or several dealt boards, which are
    equal up to suits.

    Attributes:
        first: ``[board + 1]``, first entry of each board.
        n_entries: number of entries.
        child: ``[entry]``, the board of the next round.
        first_row: ``[entry]``, index of the entry's first row in ``parent_row``.
        parent_row: for each row of the entry's board of the next round, the row of the same hand in this round. Padding
            rows have the row after the last block, in which buffers have 0.
        first_image: entry e stands for the dealt boards ``first_image[e] .. first_image[e + 1] - 1``.
        child_row_width: number of rows of ``child_row`` for a dealt board.
        child_row: ``[dealt board, row]``, the next round's row of each row of this round, or -1.
        probability: probability of one dealt board, given both hands.
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
    """Number of blocks of 16 rows that ``count`` hands fill."""
    return padded(count, WIDTH) // WIDTH


def hand_table(rows: Hands, other: Hands) -> HandTable:
    """Make the `HandTable` of a player's hands ``rows`` against the hands ``other`` of the opponent."""
    count, other_count = rows.n_hands.astype(np.int64), other.n_hands.astype(np.int64)
    first = first_rows(count)
    cards = np.full((first[-1], 2), NO_CARD, dtype=np.int32)
    same_cards = np.repeat(padded_rows(other_count), np.diff(first)).astype(np.int32)
    present = np.arange(rows.cards.shape[1]) < count[:, None]
    board, hand = np.nonzero(present)
    place = first[board] + hand
    cards[place] = rows.cards[present]
    there = rows.same_cards[present]
    same_cards[place] = np.where(there >= 0, there, same_cards[place])
    return HandTable(count, first // WIDTH, cards, same_cards)


def padded_rows(count: Ints) -> Ints:
    """Number of rows of the blocks that each board's hands fill, given the number of hands ``count[board]``."""
    rows: Ints = -(-count // WIDTH) * WIDTH
    return rows


def first_rows(count: Ints) -> Ints:
    """First row of each board, and the end: ``[board + 1]``; ``count[board]`` is the number of hands."""
    return np.concatenate([[0], np.cumsum(padded_rows(count))]).astype(np.int64)


def class_table(own: Hands, other: Hands) -> ClassTable:
    """Make a player's `ClassTable` of a round with showdowns, from the player's hands and the opponent's."""
    n_boards = len(own.n_hands)
    strengths = []  # of all boards, ascending: the board counts more than the strength
    for rows in (own, other):
        present = np.arange(rows.strength.shape[1]) < rows.n_hands[:, None]
        above = np.arange(n_boards, dtype=np.int64)[:, None] << 32
        strengths.append((rows.strength + above)[present])
    levels = distinct(*strengths)
    board = levels >> 32
    first = np.searchsorted(board, np.arange(n_boards + 1))
    starts = [np.concatenate([[0], np.cumsum(rows.n_hands)])[board] for rows in (own, other)]
    ends = [
        np.searchsorted(strength, levels, side="right") - start
        for strength, start in zip(strengths, starts, strict=True)
    ]
    return ClassTable(first.astype(np.int64), np.stack(ends, axis=1).astype(np.int32))


def distinct(first: Ints, second: Ints) -> Ints:
    """Return the different numbers of two arrays, ascending.

    np.union1d does the same, but it loads numpy.ma, which takes longer than the rest of a small job's plan.
    """
    both = np.sort(np.concatenate([first, second]))
    different: Ints = both[np.diff(both, prepend=both[:1] - 1) > 0]
    return different


def no_classes() -> ClassTable:
    """Make the `ClassTable` of a round without showdowns."""
    return ClassTable(np.zeros(1, dtype=np.int64), np.zeros((0, 2), dtype=np.int32))


def deal_table(deal: Deal, above: Hands, below: Hands, p: int) -> DealTable:
    """Make player p's `DealTable`.

    Args:
        deal: links between the boards of two rounds.
        above: p's hands on the boards of the earlier round.
        below: p's hands on the boards of the later round.
        p: the player.
    """
    parent_of = np.repeat(np.arange(len(deal.first) - 1), np.diff(deal.first))
    count = below.n_hands[deal.child].astype(np.int64)
    first = first_rows(count)
    parent_row = np.repeat(padded_rows(above.n_hands[parent_of]), np.diff(first)).astype(np.int32)
    present = np.arange(deal.parent_row[p].shape[1]) < count[:, None]
    entry, hand = np.nonzero(present)
    parent_row[first[entry] + hand] = deal.parent_row[p][present]
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
    """Player p's initial range in the form of reach that comes from a previous round: flat ``[row, 8]``.

    The first of 8 columns has the range, and the other columns are 0.
    """
    rows = game.rounds[0].hands[p]
    count = int(rows.n_hands[0])
    out = np.zeros((WIDTH * n_blocks(count) + 1, padded(1)), dtype=np.float32)
    out[:count, 0] = game.reach[p][0, :count]
    return out.reshape(-1)
