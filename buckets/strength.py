# mypy: disable-error-code="no-untyped-call"
"""The strength of hands on boards: ``strengths[b, h]``, larger is stronger, equal is a tie, -1 is no hand.

The number of cards, hole and board together, decides the ranking:

- 1 card: high card (Kuhn);
- 2 cards: a pair beats a high card (Leduc);
- 3 cards: straight flush, three of a kind, straight, flush, pair, high card (Rhode Island hold'em: A. Gilpin
  and T. Sandholm, "Optimal Rhode Island Hold'em Poker", AAAI 2005); A-2-3 is the lowest straight, Q-K-A the
  highest;
- 5, 6 and 7 cards: the best five-card poker hand.

A strength is the number ``category << 26 | main << 13 | kickers``, where `main` and `kickers` are sets of
ranks (bit r for rank r): the ranks that make the category, then those that break ties. Two sets of equal size
compare as numbers as their ranks do from the highest down. Suits have no order. Strengths of different
numbers of cards do not compare.

What two hole cards add to a board depends on their ranks alone, flushes apart, so per board a 13 x 13 table
of rank pairs is made and each hand looks itself up.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from compiled import kernel

from .cards import NUM_CARDS, RANKS, cards_name
from .errors import BoardError, CardError

#: Names by category number. The last four belong to three cards, where their order is another one.
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
CARD_COUNTS = (1, 2, 3, 5, 6, 7)


def strengths(boards: ArrayLike, hands: ArrayLike) -> NDArray[np.int32]:
    """Strength of each hand on each board: shape (n_boards, n_hands).

    boards, hands: shapes (n_boards, n_board_cards) and (n_hands, hole). -1 where the hand shares a card with
    the board.
    """
    board_array, hand_array = _card_rows(boards, "boards"), _card_rows(hands, "hands")
    hole, n_cards = hand_array.shape[1], board_array.shape[1] + hand_array.shape[1]
    if hole not in (1, 2):
        raise CardError(f"hands: expected 1 or 2 cards each, got {hole}")
    if n_cards not in CARD_COUNTS:
        raise BoardError(f"hole and board cards: expected one of {CARD_COUNTS} together, got {n_cards}")
    out = np.empty((len(board_array), len(hand_array)), dtype=np.int32)
    _fill_strengths(board_array, hand_array, out)
    return out


def strength(board: ArrayLike, hands: ArrayLike) -> NDArray[np.int32]:
    """Strength of each hand on one board: (n_board_cards,) and (n_hands, hole) to (n_hands,)."""
    alone: NDArray[np.int32] = strengths(np.reshape(np.asarray(board, dtype=np.int64), (1, -1)), hands)[0]
    return alone


def category(strength: int) -> str:
    """Name the category of a strength.

    >>> category(int(strength((8, 12, 16, 20, 24), [(0, 1)])[0]))
    'straight flush'
    """
    if strength < 0 or strength >> _CATEGORY_SHIFT >= len(CATEGORIES):
        raise CardError(f"strength: expected one that `strengths` gave, got {strength!r}")
    return CATEGORIES[strength >> _CATEGORY_SHIFT]


_N_RANKS = len(RANKS)
_CATEGORY_SHIFT = 2 * _N_RANKS
_HIGH_CARD, _PAIR, _TWO_PAIR, _TRIPS, _STRAIGHT, _FLUSH, _FULL_HOUSE, _QUADS, _STRAIGHT_FLUSH = range(9)
_FLUSH_3, _STRAIGHT_3, _TRIPS_3, _STRAIGHT_FLUSH_3 = range(9, 13)


def _top_ranks() -> NDArray[np.int64]:
    """``out[k, set]``: the k highest ranks of a set of ranks (all, where it has fewer)."""
    out = np.zeros((6, 1 << _N_RANKS), dtype=np.int64)
    rest = np.arange(1 << _N_RANKS)
    for k in range(1, len(out)):
        highest = np.zeros_like(rest)
        for rank in range(_N_RANKS):
            highest[rest >= 1 << rank] = 1 << rank
        highest[rest == 0] = 0
        out[k] = out[k - 1] | highest
        rest = rest & ~highest
    return out


def _straights(length: int) -> NDArray[np.int64]:
    """``out[set]``: the top rank, as a set of one, of the highest straight in a set of ranks, or 0.

    The ace plays below the deuce too.
    """
    sets = np.arange(1 << _N_RANKS)
    with_low_ace = sets << 1 | sets >> (_N_RANKS - 1)
    out = np.zeros_like(sets)
    for top in range(length - 2, _N_RANKS):
        run = ((1 << length) - 1) << (top + 2 - length)
        out[with_low_ace & run == run] = 1 << top
    return out


_TOP = _top_ranks()
_STRAIGHT_TOP = _straights(5)
_STRAIGHT_TOP_3 = _straights(3)


@kernel
def _fill_strengths(boards, hands, out):  # type: ignore[no-untyped-def]
    n_board, hole = boards.shape[1], hands.shape[1]
    n_cards = n_board + hole
    flush_length = 3 if n_cards == 3 else 5
    by_ranks = np.zeros((_N_RANKS, _N_RANKS), dtype=np.int32)
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
                # At most one suit comes that close: 2 * (flush length - hole) > board cards.
                if suit_count[suit] + hole >= flush_length:
                    flush_suit = suit
        for low in range(_N_RANKS):
            one_low, two_low, three_low, four_low = _add_rank(low, one, two, three, four)
            if hole == 1:
                by_ranks[low, low] = _rank_strength(one_low, two_low, three_low, four_low, n_cards)
                continue
            for high in range(low, _N_RANKS):
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


@kernel
def _add_rank(rank, one, two, three, four):  # type: ignore[no-untyped-def]
    """Add a card to the sets of ranks that are there at least once, twice, three and four times."""
    bit = 1 << rank
    return one | bit, two | (one & bit), three | (two & bit), four | (three & bit)


@kernel
def _rank_strength(one, two, three, four, n_cards):  # type: ignore[no-untyped-def]
    """Strength of what `_add_rank` collected, suits apart."""
    if n_cards == 3:
        if three:
            return _pack(_TRIPS_3, three, 0)
        if _STRAIGHT_TOP_3[one]:
            return _pack(_STRAIGHT_3, _STRAIGHT_TOP_3[one], 0)
    elif four:
        main = _TOP[1, four]
        return _pack(_QUADS, main, _TOP[1, one & ~main])
    elif three:
        main = _TOP[1, three]
        if two & ~main:
            return _pack(_FULL_HOUSE, main, _TOP[1, two & ~main])
        if not _STRAIGHT_TOP[one]:
            return _pack(_TRIPS, main, _TOP[2, one & ~main])
    if n_cards >= 5:
        if _STRAIGHT_TOP[one]:
            return _pack(_STRAIGHT, _STRAIGHT_TOP[one], 0)
        main = _TOP[2, two]
        if main != _TOP[1, two]:
            return _pack(_TWO_PAIR, main, _TOP[1, one & ~main])
    if two:
        return _pack(_PAIR, two, _TOP[3, one & ~two])
    return _pack(_HIGH_CARD, 0, _TOP[5, one])


@kernel
def _flush_strength(ranks, n_cards):  # type: ignore[no-untyped-def]
    """Strength of a flush or straight flush from all ranks of its suit."""
    if n_cards == 3:
        if _STRAIGHT_TOP_3[ranks]:
            return _pack(_STRAIGHT_FLUSH_3, _STRAIGHT_TOP_3[ranks], 0)
        return _pack(_FLUSH_3, 0, ranks)
    if _STRAIGHT_TOP[ranks]:
        return _pack(_STRAIGHT_FLUSH, _STRAIGHT_TOP[ranks], 0)
    return _pack(_FLUSH, 0, _TOP[5, ranks])


@kernel
def _pack(category_number, main, kickers):  # type: ignore[no-untyped-def]
    return np.int32(category_number << _CATEGORY_SHIFT | main << _N_RANKS | kickers)


def _card_rows(rows: ArrayLike, subject: str) -> NDArray[np.int64]:
    """Check card rows; return a writable copy, since Numba would compile once more for read-only arrays."""
    array = np.array(rows)
    if array.ndim != 2 or not (np.issubdtype(array.dtype, np.integer) or array.size == 0):
        raise BoardError(f"{subject}: expected ints of shape (n, cards), got {array.dtype} {array.shape}")
    array = np.ascontiguousarray(array, dtype=np.int64)
    if array.size and not 0 <= array.min() <= array.max() < NUM_CARDS:
        raise BoardError(
            f"{subject}: expected cards 0 to {NUM_CARDS - 1}, got {array.min()} to {array.max()}"
        )
    for i in range(array.shape[1]):
        for j in range(i):
            twice = array[:, i] == array[:, j]
            if twice.any():
                raise BoardError(
                    f"{subject}: expected each card once, got {cards_name(array[twice][0].tolist())}"
                )
    return array
