"""Strength of hands on many boards, from sets of ranks (ints with bit r for rank r): see `buckets.cards.strength`."""

import numpy as np

from buckets.cards.cards import NUM_CARDS
from buckets.cards.rank_sets import (
    CATEGORY_SHIFT,
    FLUSH,
    FLUSH_3,
    FULL_HOUSE,
    HIGH_CARD,
    N_RANKS,
    PAIR,
    QUADS,
    STRAIGHT,
    STRAIGHT_3,
    STRAIGHT_FLUSH,
    STRAIGHT_FLUSH_3,
    STRAIGHT_TOP,
    STRAIGHT_TOP_3,
    TOP,
    TRIPS,
    TRIPS_3,
    TWO_PAIR,
)
from buckets.types import Array
from compiled import kernel, part


@kernel
def fill_strengths(boards: Array, hands: Array, out: Array) -> None:
    """Write the strength of each hand on each board: ``out[board, hand]``; -1: the board blocks the hand."""
    n_board, hole = boards.shape[1], hands.shape[1]
    n_cards = n_board + hole
    flush_length = 3 if n_cards == 3 else 5
    by_ranks = np.zeros((N_RANKS, N_RANKS), dtype=np.int32)
    suit_ranks = np.zeros(4, dtype=np.int64)
    suit_count = np.zeros(4, dtype=np.int64)
    on_board = np.zeros(NUM_CARDS, dtype=np.bool_)
    for b in range(len(boards)):
        on_board[:] = False
        suit_ranks[:] = 0
        suit_count[:] = 0
        one = two = three = four = 0
        for card in boards[b]:
            on_board[card] = True
            suit_ranks[card & 3] |= 1 << (card >> 2)
            suit_count[card & 3] += 1
            one, two, three, four = _add_rank(card >> 2, one, two, three, four)
        flush_suit = -1
        if n_cards >= 3:
            for suit in range(4):
                # At most one suit has enough cards: 2 * (flush length - hole) > board cards.
                if suit_count[suit] + hole >= flush_length:
                    flush_suit = suit
        for low in range(N_RANKS):
            one_low, two_low, three_low, four_low = _add_rank(low, one, two, three, four)
            if hole == 1:
                by_ranks[low, low] = _rank_strength(one_low, two_low, three_low, four_low, n_cards)
                continue
            for high in range(low, N_RANKS):
                ones, twos, threes, fours = _add_rank(high, one_low, two_low, three_low, four_low)
                value = _rank_strength(ones, twos, threes, fours, n_cards)
                by_ranks[low, high] = value
                by_ranks[high, low] = value
        for h in range(len(hands)):
            first, second = hands[h, 0], hands[h, hole - 1]
            if on_board[first] or on_board[second]:
                out[b, h] = -1
                continue
            value = by_ranks[first >> 2, second >> 2]
            if flush_suit >= 0:
                count, ranks = suit_count[flush_suit], suit_ranks[flush_suit]
                if first & 3 == flush_suit:
                    count += 1
                    ranks |= 1 << (first >> 2)
                if hole == 2 and second & 3 == flush_suit:
                    count += 1
                    ranks |= 1 << (second >> 2)
                if count >= flush_length:
                    value = max(value, _flush_strength(ranks, n_cards))
            out[b, h] = value


@part
def _add_rank(rank: int, one: int, two: int, three: int, four: int) -> tuple[int, int, int, int]:
    """Add a card's rank to the sets of ranks that occur at least once, twice, three and four times; return the sets."""
    bit = 1 << rank
    return one | bit, two | (one & bit), three | (two & bit), four | (three & bit)


@part
def _rank_strength(one: int, two: int, three: int, four: int, n_cards: int) -> np.int32:
    """Return the strength of `n_cards` cards, apart from flushes, from the sets of ranks that `_add_rank` makes."""
    if n_cards == 3:
        if three:
            return _pack(TRIPS_3, three, 0)
        if STRAIGHT_TOP_3[one]:
            return _pack(STRAIGHT_3, STRAIGHT_TOP_3[one], 0)
    elif four:
        main = TOP[1, four]
        return _pack(QUADS, main, TOP[1, one & ~main])
    elif three:
        main = TOP[1, three]
        if two & ~main:
            return _pack(FULL_HOUSE, main, TOP[1, two & ~main])
        if not STRAIGHT_TOP[one]:
            return _pack(TRIPS, main, TOP[2, one & ~main])
    if n_cards >= 5:
        if STRAIGHT_TOP[one]:
            return _pack(STRAIGHT, STRAIGHT_TOP[one], 0)
        main = TOP[2, two]
        if main != TOP[1, two]:
            return _pack(TWO_PAIR, main, TOP[1, one & ~main])
    if two:
        return _pack(PAIR, two, TOP[3, one & ~two])
    return _pack(HIGH_CARD, 0, TOP[5, one])


@part
def _flush_strength(ranks: int, n_cards: int) -> np.int32:
    """Return the strength of a flush or straight flush from the set of all ranks of its suit.

    ``n_cards`` is the number of cards of the board and of the hand together.
    """
    if n_cards == 3:
        if STRAIGHT_TOP_3[ranks]:
            return _pack(STRAIGHT_FLUSH_3, STRAIGHT_TOP_3[ranks], 0)
        return _pack(FLUSH_3, 0, ranks)
    if STRAIGHT_TOP[ranks]:
        return _pack(STRAIGHT_FLUSH, STRAIGHT_TOP[ranks], 0)
    return _pack(FLUSH, 0, TOP[5, ranks])


@part
def _pack(category_number: int, main: int, kickers: int) -> np.int32:
    return np.int32(category_number << CATEGORY_SHIFT | main << N_RANKS | kickers)
