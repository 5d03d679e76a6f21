"""Index from each board of a deck to its canonical board, in constant time.

The cards of a board are in groups. If the order of the rounds matters, there is a group for each round that dealt
cards. If only the last card matters, this card is a group, and the cards before it are another. Otherwise one group has
all cards. The order within a group does not matter. Boards are numbered in lexicographic order
(`buckets.kernels.combinations`). Of all boards that are equal up to suits, the board with the smallest number is
canonical, as in `symmetry`.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations
from math import comb, prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from buckets.cards.cards import NUM_CARDS, Deck
from buckets.cards.symmetry import permute_cards, suit_permutations
from buckets.errors import BoardError
from buckets.types import Ints

MAX_NUMBERS = 16_000_000
"""Largest number of boards in an index.

Hold'em has 2.6 million final boards if the order of the cards does not matter, fourteen million if it matters which
card came last, and sixty million if the order of the rounds matters.
"""


class BoardMap(NamedTuple):
    """Index from the boards of a deck to their canonical boards.

    Attributes:
        groups: ``[group]``, number of cards of each group.
        canonical: ``[board number]``, index in `boards` of the board's canonical board; -1: the board has a card twice.
        perm_of: ``[board number]``, row of `suit_permutations` with the permutation that maps the board onto its
            canonical board.
        boards: ``[canonical board, card]``, the canonical boards in order of their numbers, each group ascending.
        counts: ``[canonical board]``, number of boards that are equal to the canonical board up to suits.
    """

    groups: Ints
    canonical: NDArray[np.int32]
    perm_of: NDArray[np.uint8]
    boards: Ints
    counts: Ints


def board_map(deck: Deck, groups: Sequence[int]) -> BoardMap:
    """Make the index of all boards of a deck, given the number of cards of each group (see `buckets.cards.boards`).

    Without groups there is one board, which has no cards.

    Raises:
        BoardError: there are more than `MAX_NUMBERS` boards.
    """
    from buckets.kernels.combinations import fill_boards, fill_map

    n_numbers = prod(comb(len(deck), size) for size in groups)
    if n_numbers > MAX_NUMBERS:
        raise BoardError(
            f"boards of {tuple(groups)} cards: expected at most {MAX_NUMBERS:,}, got {n_numbers:,}"
        )
    sizes = np.array(groups, dtype=np.int64)
    canonical, perm_of = np.empty(n_numbers, dtype=np.int32), np.zeros(n_numbers, dtype=np.uint8)
    moved = _moved_places(deck)
    inverse = np.array([np.flatnonzero((moved[:, perm] == moved[0]).all(axis=1))[0] for perm in moved])
    n_canonical = fill_map(sizes, len(deck), binomials(), moved, inverse, canonical, perm_of)
    first = np.full(n_canonical, n_numbers)
    possible = np.flatnonzero(canonical >= 0)
    np.minimum.at(first, canonical[possible], possible)
    places = np.empty((n_canonical, sum(groups)), dtype=np.int64)
    fill_boards(first, sizes, len(deck), binomials(), places)
    boards = np.array(deck.cards, dtype=np.int64)[places]
    counts = np.bincount(canonical[possible], minlength=n_canonical)
    return BoardMap(sizes, canonical, perm_of, boards, counts)


def board_numbers(deck: Deck, boards: Ints) -> Ints:
    """Return the number of each board, ``[board]``, among all sets of as many cards in lexicographic order.

    Args:
        boards: ``[board, card]``, in any order of the cards.
    """
    places = np.sort(np.searchsorted(np.array(deck.cards), boards), axis=1)
    choose, n, k = binomials(), len(deck), boards.shape[1]
    terms = [choose[n - 1 - places[:, i], k - i] for i in range(k)]
    numbers: Ints = choose[n, k] - 1 - np.sum(terms, axis=0)
    return numbers


@lru_cache(maxsize=1)
def binomials() -> Ints:
    """Return the binomial coefficients ``[n, k]``: the number of ways to choose k of n cards, for k up to 7."""
    return np.array([[comb(n, k) for k in range(8)] for n in range(NUM_CARDS + 1)], dtype=np.int64)


def sets_of(n: int, k: int) -> Ints:
    """List all sets of k numbers below n, in ascending order: ``[set, k]``."""
    return np.array(list(combinations(range(n), k)), dtype=np.int64).reshape(comb(n, k), k)


def _moved_places(deck: Deck) -> Ints:
    """Return where in the deck each suit permutation moves each card: ``[permutation, index of the card]``."""
    cards = np.array(deck.cards, dtype=np.int64)
    return np.array([np.searchsorted(cards, permute_cards(cards, p)) for p in suit_permutations(deck)])
