"""The hands of a deck and their numbers.

A *hand number* is the row of a hand in `hands(deck, hole_cards)`: cards ascending within a row, rows in
lexicographic order. Arrays over hands, such as ranges, use this order everywhere. Hands of one or of two
cards are supported.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from buckets.cards.cards import NUM_CARDS, RANKS, Deck, cards_name, parse_cards
from buckets.errors import CardError, RangeError


@lru_cache(maxsize=32)
def hands(deck: Deck, hole_cards: int) -> NDArray[np.int16]:
    """Return all hands of a deck as a read-only array, shape (n_hands, hole_cards); hold'em has 1326 hands.

    The order is by the lower card, then by the higher card: 2c2d, 2c2h, 2c2s, 2c3c, ..., AdAh, AdAs, AhAs in hold'em.
    Other programs have other orders.
    """
    if hole_cards not in (1, 2):
        raise CardError(f"hole cards: expected 1 or 2, got {hole_cards!r}")
    if len(deck) < hole_cards:
        raise CardError(f"hole cards: expected at most the deck's {len(deck)} cards, got {hole_cards}")
    rows = np.array(list(combinations(deck.cards, hole_cards)), dtype=np.int16)
    rows.flags.writeable = False
    return rows


def hand_index(deck: Deck, hole: ArrayLike) -> NDArray[np.int64]:
    """Return the number of each hand: shape (...) for an array of hands ``hole`` of shape (..., hole_cards).

    The cards of a hand can be in any order.

    >>> int(hand_index(Deck(), (51, 50)))
    1325
    """
    cards = np.asarray(hole)
    if cards.ndim == 0 or cards.shape[-1] not in (1, 2) or not np.issubdtype(cards.dtype, np.integer):
        raise CardError(
            f"hands: expected ints of shape (..., 1) or (..., 2), got {cards.dtype} {cards.shape}"
        )
    if cards.size and not 0 <= cards.min() <= cards.max() < NUM_CARDS:
        raise CardError(
            f"hands: expected cards from 0 to {NUM_CARDS - 1}, got {cards.min()} to {cards.max()}"
        )
    position = card_places(deck)[cards]
    if (position < 0).any():
        foreign = int(cards[position < 0][0])
        raise CardError(f"hands: expected cards of {deck}, got {cards_name([foreign])}")
    if cards.shape[-1] == 1:
        single: NDArray[np.int64] = position[..., 0]
        return single
    low, high = position.min(axis=-1), position.max(axis=-1)
    if (low == high).any():
        raise CardError(
            f"hands: expected two different cards, got {cards_name(cards[low == high][0].tolist())}"
        )
    # First the hands whose lower card is below `low`, then the hands from (low, low + 1) to this one.
    index: NDArray[np.int64] = low * (2 * len(deck) - low - 1) // 2 + high - low - 1
    return index


def blocked(hands: NDArray[np.integer], board: Sequence[int]) -> NDArray[np.bool_]:
    """Return whether each hand shares a card with the board: shape (n_hands,)."""
    if any(not 0 <= card < NUM_CARDS for card in board):
        raise CardError(f"board: expected cards from 0 to {NUM_CARDS - 1}, got {list(board)}")
    on_board = np.zeros(NUM_CARDS, dtype=np.bool_)
    on_board[list(board)] = True
    mask: NDArray[np.bool_] = on_board[hands[..., 0]]
    for place in range(1, hands.shape[-1]):
        mask = mask | on_board[hands[..., place]]
    return mask


def hand_name(cards: Sequence[int] | NDArray[np.integer]) -> str:
    """Return the name of a hand: the higher card first, and of two cards of a rank the higher suit.

    >>> hand_name((46, 51))
    'AsKh'
    """
    return cards_name(sorted((int(card) for card in cards), reverse=True))


@lru_cache(
    maxsize=4096
)  # there are 2,652 names of two cards, and a page asks for each of its hands several times
def parse_hand(text: str) -> tuple[int, ...]:
    """Read a hand of one or two cards; the result is ascending.

    >>> parse_hand("AsKh") == parse_hand("KhAs") == (46, 51)
    True
    """
    cards = parse_cards(text)
    if len(cards) not in (1, 2):
        raise CardError(f"hand {text!r}: expected 1 or 2 cards, got {len(cards)}")
    return tuple(sorted(cards))


def check_weights(weights: ArrayLike, n: int, subject: str = "hand") -> NDArray[np.float64]:
    """Return weights as a writable float64 copy of shape (n,).

    Args:
        weights: the weights of hands, or of other rows.
        subject: what a weight belongs to, for error messages.
    """
    checked = np.array(weights, dtype=np.float64)
    if checked.shape != (n,):
        raise RangeError(f"weights: expected shape ({n},), got {checked.shape}")
    wrong = ~((checked >= 0) & np.isfinite(checked))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise RangeError(
            f"weight of {subject} {row}: expected a finite number of at least 0, got {checked[row]}"
        )
    return checked


@lru_cache(maxsize=1)
def preflop_classes() -> tuple[NDArray[np.int16], tuple[str, ...]]:
    """Return the starting hand (0 to 168) of each of hold'em's 1326 hands, and the names of the 169 starting hands.

    Starting hands are numbered row by row through the usual chart: aces first, pairs on the diagonal, suited hands
    above it.

    >>> preflop_classes()[1][:3], preflop_classes()[1][13:15]
    (('AA', 'AKs', 'AQs'), ('AKo', 'KK'))
    """
    size = len(RANKS)
    pairs = hands(Deck(), 2)
    low, high = (size - 1 - (pairs >> 2)).T  # from the ace down: the higher card has the smaller number
    suited = (pairs[:, 0] & 3) == (pairs[:, 1] & 3)
    classes = np.where(suited, size * high + low, size * low + high).astype(np.int16)
    classes.flags.writeable = False
    names = []
    for row, row_rank in enumerate(reversed(RANKS)):
        for column, column_rank in enumerate(reversed(RANKS)):
            if row == column:
                names.append(row_rank + column_rank)
            else:
                names.append(f"{row_rank}{column_rank}s" if row < column else f"{column_rank}{row_rank}o")
    return classes, tuple(names)


@lru_cache(maxsize=32)
def card_places(deck: Deck) -> NDArray[np.int64]:
    """Return the index of each of the 52 cards in the deck; -1: the deck lacks the card."""
    places = np.full(NUM_CARDS, -1, dtype=np.int64)
    places[list(deck.cards)] = np.arange(len(deck))
    return places
