"""The strength of hands on boards: a stronger hand has a larger number, equal numbers tie, -1: the board blocks a hand.

The number of cards, hole and board together, decides the ranking:

- 1 card: high card (Kuhn);
- 2 cards: a pair beats a high card (Leduc);
- 3 cards: straight flush, three of a kind, straight, flush, pair, high card (Rhode Island hold'em: A. Gilpin
  and T. Sandholm, "Optimal Rhode Island Hold'em Poker", AAAI 2005); A-2-3 is the lowest straight, Q-K-A the
  highest;
- 5, 6 and 7 cards: the best five-card poker hand.

A strength is the number ``category << 26 | main << 13 | kickers``, where `main` and `kickers` are sets of
ranks (bit r for rank r): the ranks that make the category, then the ranks that break ties. Of two sets of equal size
the one with the higher ranks, compared from the highest down, is the larger number. Suits have no order. Strengths of
different numbers of cards cannot be compared.

Flushes apart, the strength of two hole cards on a board depends on their ranks alone, so each board gets a 13 x 13
table of rank pairs in which every hand is looked up.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from buckets.cards.cards import NUM_CARDS, cards_name
from buckets.cards.rank_sets import CATEGORIES, CATEGORY_SHIFT, board_strength
from buckets.errors import BoardError, CardError

CARD_COUNTS = (1, 2, 3, 5, 6, 7)


def strengths(boards: ArrayLike, hands: ArrayLike) -> NDArray[np.int32]:
    """Compute the strength of each hand on each board: (n_boards, n_hands); -1: the hand shares a card with the board.

    Args:
        boards: (n_boards, n_board_cards).
        hands: (n_hands, hole_cards).
    """
    board_array, hand_array = _checked(boards, hands)
    from buckets.kernels.strength import fill_strengths

    out = np.empty((len(board_array), len(hand_array)), dtype=np.int32)
    fill_strengths(board_array, hand_array, out)
    return out


def strength(board: ArrayLike, hands: ArrayLike) -> NDArray[np.int32]:
    """Compute the strength of hands on one board, without loading kernels: (n_hands,); -1: the board blocks the hand.

    Args:
        board: (n_board_cards,).
        hands: (n_hands, hole_cards).
    """
    boards, hand_array = _checked(np.reshape(np.asarray(board, dtype=np.int64), (1, -1)), hands)
    return board_strength(boards[0], hand_array)


def category(strength: int) -> str:
    """Return the name of the category to which a strength belongs.

    >>> category(int(strength((8, 12, 16, 20, 24), [(0, 1)])[0]))
    'straight flush'
    """
    if strength < 0 or strength >> CATEGORY_SHIFT >= len(CATEGORIES):
        raise CardError(f"strength: expected a number that `strengths` returned, got {strength!r}")
    return CATEGORIES[strength >> CATEGORY_SHIFT]


def _checked(boards: ArrayLike, hands: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    board_array, hand_array = _card_rows(boards, "boards"), _card_rows(hands, "hands")
    hole, n_cards = hand_array.shape[1], board_array.shape[1] + hand_array.shape[1]
    if hole not in (1, 2):
        raise CardError(f"hands: expected 1 or 2 cards each, got {hole}")
    if n_cards not in CARD_COUNTS:
        raise BoardError(f"hole and board cards: expected one of {CARD_COUNTS} together, got {n_cards}")
    return board_array, hand_array


def _card_rows(rows: ArrayLike, subject: str) -> NDArray[np.int64]:
    """Check rows of cards and return a writable copy; Numba would compile the kernels again for read-only arrays."""
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
