"""Boards that remember the class of the first board: pairs of such a class and a set of cards.

The same turn is several pairs where flops that can have led to it are of different classes. A set of cards is taken
once for each of its subsets that may have come first.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from buckets.cards.boards import BoardMap, binomials, sets_of
from buckets.cards.cards import Deck
from buckets.errors import BoardError
from buckets.types import Ints

MAX_PAIRS = 64_000_000
"""Classes of first boards by canonical boards of a later round, at most: a table of four bytes for each."""


class Pairs(NamedTuple):
    """Pairs that can be dealt, by class of the first board, then by canonical board.

    Attributes:
        numbers: ``[class, canonical]``, flat; -1 where the class does not lead there.
        first: ``[pair]``, the class.
        board: ``[pair]``, the canonical board.
        counts: ``[pair]``, in how many ways a first board of the class and further cards make a board that is like it.
    """

    numbers: NDArray[np.int32]
    first: Ints
    board: Ints
    counts: Ints


def require_pairs(n_classes: int, n_boards: int) -> None:
    """Refuse a table that would be too large.

    Raises:
        BoardError: it would.
    """
    if n_classes * n_boards > MAX_PAIRS:
        raise BoardError(
            f"boards that remember: expected at most {MAX_PAIRS:,} pairs of a class of first boards and a board, "
            f"got {n_classes:,} by {n_boards:,}"
        )


def board_pairs(deck: Deck, firsts: BoardMap, classes: NDArray[np.int32], later: BoardMap) -> Pairs:
    """All pairs of a round.

    Args:
        deck: the game's.
        firsts: of sets, the first boards.
        classes: ``[canonical first board]``.
        later: of sets, the round's boards.

    Raises:
        BoardError: there are too many.
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
    """Cut a number into parts like the weights, of at least 1 each; n is not less than there are weights.

    >>> shared_out(10, np.array([1, 60, 39])).tolist()
    [1, 5, 4]
    """
    exact = weights / weights.sum() * (n - len(weights))
    parts = exact.astype(np.int64)
    most = np.argsort(parts - exact, kind="stable")[: n - len(weights) - parts.sum()]
    parts[most] += 1
    return np.asarray(parts + 1)


def _numbers(places: Ints, n: int) -> Ints:
    """Lexicographic numbers of ascending sets of places: ``[set]``."""
    choose, k = binomials(), places.shape[1]
    terms = [choose[n - 1 - places[:, i], k - i] for i in range(k)]
    numbers: Ints = choose[n, k] - 1 - np.sum(terms, axis=0)
    return numbers
