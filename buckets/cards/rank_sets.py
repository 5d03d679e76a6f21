"""Strength of hands on one board (see `buckets.cards.strength`), from sets of ranks: ints with bit r for rank r.

This module needs NumPy only. The kernel for many boards, `buckets.kernels.strength`, takes most of a second to load,
too long for a command that needs one board; it uses the tables of this module.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from buckets.cards.cards import RANKS
from buckets.cards.hands import blocked
from buckets.types import Ints

CATEGORIES = (
    "high card",
    "pair",
    "two pair",
    "three of a kind",
    "straight",
    "flush",
    "full house",
    "four of a kind",
    "straight flush",
    "flush",
    "straight",
    "three of a kind",
    "straight flush",
)
"""Names of categories by their numbers, which are the highest bits of a strength.

The last four are categories of three cards, which rank in another order.
"""
N_RANKS = len(RANKS)
CATEGORY_SHIFT = 2 * N_RANKS
HIGH_CARD, PAIR, TWO_PAIR, TRIPS, STRAIGHT, FLUSH, FULL_HOUSE, QUADS, STRAIGHT_FLUSH = range(9)
FLUSH_3, STRAIGHT_3, TRIPS_3, STRAIGHT_FLUSH_3 = range(9, 13)


def _top_ranks() -> NDArray[np.int64]:
    """Return the k highest ranks of each set of ranks, or all ranks of a smaller set: ``[k, set]``."""
    out = np.zeros((6, 1 << N_RANKS), dtype=np.int64)
    rest = np.arange(1 << N_RANKS)
    for k in range(1, len(out)):
        highest = np.zeros_like(rest)
        for rank in range(N_RANKS):
            highest[rest >= 1 << rank] = 1 << rank
        highest[rest == 0] = 0
        out[k] = out[k - 1] | highest
        rest = rest & ~highest
    return out


def _straights(length: int) -> NDArray[np.int64]:
    """Return the top rank of the highest straight in each set of ranks: ``[set]``; 0: the set has no straight.

    The top rank is a set with one rank. The ace also counts as the rank below the deuce.
    """
    sets = np.arange(1 << N_RANKS)
    with_low_ace = sets << 1 | sets >> (N_RANKS - 1)
    out = np.zeros_like(sets)
    for top in range(length - 2, N_RANKS):
        run = ((1 << length) - 1) << (top + 2 - length)
        out[with_low_ace & run == run] = 1 << top
    return out


_BITS = 1 << np.arange(N_RANKS)[:, None], 1 << np.arange(N_RANKS)
TOP = _top_ranks()
STRAIGHT_TOP = _straights(5)
STRAIGHT_TOP_3 = _straights(3)


def board_strength(board: Ints, hands: Ints) -> NDArray[np.int32]:
    """Compute the strength of hands ``[hand, hole card]`` on a board ``[card]``, without checking the cards.

    The result is ``[hand]``; -1: the board blocks the hand.
    """
    n_cards, hole = len(board) + hands.shape[1], hands.shape[1]
    cards = np.ascontiguousarray(hands.T)
    ranks = cards >> 2
    held = tuple(sorted((board >> 2).tolist()))
    by_ranks = np.broadcast_to(_by_ranks(held, hole, n_cards), (N_RANKS, N_RANKS))
    value = by_ranks.take(ranks[0] * N_RANKS + ranks[-1])
    length = 3 if n_cards == 3 else 5
    count = np.bincount(board & 3, minlength=4)
    if n_cards >= 3 and count.max() + hole >= length:
        suit = int(count.argmax())  # at most one suit has enough cards: 2 * (length - hole) > board cards
        suited_cards = cards & 3 == suit
        flush = np.flatnonzero(count[suit] + suited_cards.sum(axis=0) >= length)
        of_suit = np.bitwise_or.reduce(1 << (board[board & 3 == suit] >> 2), initial=0)
        for rank, suited in zip(ranks[:, flush], suited_cards[:, flush], strict=True):
            of_suit = of_suit | np.where(suited, 1 << rank, 0)
        value[flush] = np.maximum(value[flush], _flushes(of_suit, n_cards))
    value[blocked(hands, board.tolist())] = -1
    strength: NDArray[np.int32] = value.astype(np.int32)
    return strength


@lru_cache(maxsize=128)  # the final boards of a flop add at most 91 pairs of ranks
def _by_ranks(board: tuple[int, ...], hole: int, n_cards: int) -> Ints:
    """Return the strength of each pair of hole cards on the ranks of a board, apart from flushes: ``[rank, rank]``.

    With one hole card the shape is ``[rank, 1]``.
    """
    one = two = three = four = np.array(0)
    on_board: list[Ints] = [np.array(1 << rank) for rank in board]
    for bit in (*on_board, *_BITS[:hole]):
        one, two, three, four = one | bit, two | one & bit, three | two & bit, four | three & bit
    value = _pack(HIGH_CARD, 0, TOP[5][one])
    np.copyto(value, _pack(PAIR, two, TOP[3][one & ~two]), where=two > 0)
    if n_cards == 3:
        np.copyto(value, _pack(STRAIGHT_3, STRAIGHT_TOP_3[one], 0), where=STRAIGHT_TOP_3[one] > 0)
        np.copyto(value, _pack(TRIPS_3, three, 0), where=three > 0)
    if n_cards < 5:
        return value
    pairs, trips = TOP[2][two], TOP[1][three]
    np.copyto(value, _pack(TWO_PAIR, pairs, TOP[1][one & ~pairs]), where=pairs != TOP[1][two])
    np.copyto(value, _pack(TRIPS, trips, TOP[2][one & ~trips]), where=three > 0)
    straight = STRAIGHT_TOP[one]
    np.copyto(value, _pack(STRAIGHT, straight, 0), where=straight > 0)
    rest = two & ~trips
    np.copyto(value, _pack(FULL_HOUSE, trips, TOP[1][rest]), where=(three > 0) & (rest > 0))
    if np.any(four):
        quads = TOP[1][four]
        np.copyto(value, _pack(QUADS, quads, TOP[1][one & ~quads]), where=four > 0)
    return value


def _flushes(ranks: Ints, n_cards: int) -> Ints:
    """Return the strength of flushes and straight flushes from the set of all ranks of their suit.

    ``n_cards`` is the number of cards of the board and of a hand together.
    """
    if n_cards == 3:
        top = STRAIGHT_TOP_3[ranks]
        return np.where(top > 0, _pack(STRAIGHT_FLUSH_3, top, 0), _pack(FLUSH_3, 0, ranks))
    top = STRAIGHT_TOP[ranks]
    return np.where(top > 0, _pack(STRAIGHT_FLUSH, top, 0), _pack(FLUSH, 0, TOP[5, ranks]))


def _pack(category_number: int, main: Ints | int, kickers: Ints | int) -> Ints:
    packed: Ints = category_number << CATEGORY_SHIFT | main << N_RANKS | np.asarray(kickers)
    return packed
