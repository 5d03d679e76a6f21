"""Boards that remember the class of the first board: pairs of a class of first boards and a set of cards.

A turn makes several pairs if the flops that can have led to it are of different classes: one pair for each class of a
subset of its cards that may have come first.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from buckets.cards.boards import BoardMap, binomials, sets_of
from buckets.cards.cards import Deck
from buckets.errors import BoardError
from buckets.types import Ints

MAX_PAIRS = 64_000_000
"""Largest number of first classes times later canonical boards; the table has four bytes for each."""


class Pairs(NamedTuple):
    """Pairs that can be dealt, ordered by class of the first board, then by canonical board.

    Attributes:
        numbers: ``[class, canonical]``, flat: the number of the pair; -1: the class does not lead to the board.
        first: ``[pair]``, the class of the first board.
        board: ``[pair]``, the canonical board.
        counts: ``[pair]``, number of ways to deal a first board of the class and then the other cards of the board.
    """

    numbers: NDArray[np.int32]
    first: Ints
    board: Ints
    counts: Ints


def require_pairs(n_classes: int, n_boards: int) -> None:
    """Check that the table of pairs has at most `MAX_PAIRS` entries.

    Raises:
        BoardError: the table would have more.
    """
    if n_classes * n_boards > MAX_PAIRS:
        raise BoardError(
            f"boards that remember: expected at most {MAX_PAIRS:,} pairs of a class of first boards and a board, "
            f"got {n_classes:,} by {n_boards:,}"
        )


def board_pairs(deck: Deck, firsts: BoardMap, classes: NDArray[np.int32], later: BoardMap) -> Pairs:
    """List all pairs of a round.

    Args:
        deck: the cards of the game.
        firsts: the first boards, as sets.
        classes: ``[canonical first board]``, the class of each first board.
        later: the boards of the round, as sets.

    Raises:
        BoardError: there are more than `MAX_PAIRS`.
    """
    n_classes, n_boards = int(classes.max()) + 1, len(later.boards)
    require_pairs(n_classes, n_boards)
    n_first, n_cards = int(firsts.groups.sum()), later.boards.shape[1]
    places = np.searchsorted(np.array(deck.cards), later.boards)
    weights = np.zeros((n_classes, n_boards), dtype=np.int64)
    for chosen in sets_of(n_cards, n_first):
        canonical = firsts.canonical[_numbers(places[:, chosen], len(deck))]
        weights[classes[canonical], np.arange(n_boards)] += later.counts
    first, board = np.nonzero(weights)
    numbers = np.full(weights.shape, -1, dtype=np.int32)
    numbers[first, board] = np.arange(len(first))
    return Pairs(numbers.ravel(), first, board, weights[first, board])


def shared_out(n: int, weights: Ints) -> Ints:
    """Split n into whole parts in proportion to the weights, each at least 1; n is at least the number of weights.

    >>> shared_out(10, np.array([1, 60, 39])).tolist()
    [1, 5, 4]
    """
    exact = weights / weights.sum() * (n - len(weights))
    parts = exact.astype(np.int64)
    most = np.argsort(parts - exact, kind="stable")[: n - len(weights) - parts.sum()]
    parts[most] += 1
    return np.asarray(parts + 1)


def _numbers(places: Ints, n: int) -> Ints:
    """Return the lexicographic numbers ``[set]`` of ascending sets of places."""
    choose, k = binomials(), places.shape[1]
    terms = [choose[n - 1 - places[:, i], k - i] for i in range(k)]
    numbers: Ints = choose[n, k] - 1 - np.sum(terms, axis=0)
    return numbers
