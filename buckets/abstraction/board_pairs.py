"""Pairs of a board bucket of flops and a canonical board, for later rounds that remember the board bucket of the flop.

The four cards of a turn board can come from several flops. If these flops are in different board buckets, the turn
board makes a pair with each of these board buckets. (The *flop* of any game is the board after the first deal.)
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from buckets.cards.boards import BoardMap, board_numbers, sets_of
from buckets.cards.cards import Deck
from buckets.errors import BoardError
from buckets.types import Ints

MAX_PAIRS = 64_000_000
"""Largest number of board buckets of flops times canonical boards; the table of pairs has four bytes for each."""


class Pairs(NamedTuple):
    """Pairs of a board bucket of flops and a canonical board that can be dealt, in ascending order.

    Attributes:
        numbers: ``[board bucket of flops, canonical board]``, flattened: the number of the pair; -1: no flop of the
            bucket leads to the board.
        first: ``[pair]``, the board bucket of flops.
        board: ``[pair]``, the canonical board.
        counts: ``[pair]``, number of ways to deal a flop of the bucket and then the other cards of the board.
    """

    numbers: NDArray[np.int32]
    first: Ints
    board: Ints
    counts: Ints


def require_pairs(n_board_buckets: int, n_boards: int) -> None:
    """Check that the table of pairs has at most `MAX_PAIRS` entries.

    Args:
        n_board_buckets: number of board buckets of flops.
        n_boards: number of canonical boards.

    Raises:
        BoardError: the table would have more than `MAX_PAIRS` entries.
    """
    if n_board_buckets * n_boards > MAX_PAIRS:
        raise BoardError(
            f"boards that remember the flop: expected at most {MAX_PAIRS:,} pairs of a flop bucket and a board, "
            f"got {n_board_buckets:,} by {n_boards:,}"
        )


def board_pairs(deck: Deck, firsts: BoardMap, board_buckets: NDArray[np.int32], later: BoardMap) -> Pairs:
    """List all pairs of a board bucket of flops and a canonical board of a later round.

    Args:
        deck: the cards of the game.
        firsts: index of the flops.
        board_buckets: ``[canonical flop]``, the board bucket of each flop.
        later: index of the boards of the later round, in which the order of the cards does not matter.

    Raises:
        BoardError: there are more than `MAX_PAIRS` pairs.
    """
    n_board_buckets, n_boards = int(board_buckets.max()) + 1, len(later.boards)
    require_pairs(n_board_buckets, n_boards)
    n_first, n_cards = int(firsts.groups.sum()), later.boards.shape[1]
    keys = [  # few: a table of weights would have an entry for every pair, also for pairs that cannot be dealt
        board_buckets[firsts.canonical[board_numbers(deck, later.boards[:, chosen])]].astype(np.int64)
        * n_boards
        + np.arange(n_boards)
        for chosen in sets_of(n_cards, n_first)
    ]
    pairs, pair_of = np.unique(np.concatenate(keys), return_inverse=True)
    counts = np.zeros(len(pairs), dtype=np.int64)
    np.add.at(counts, pair_of, np.tile(later.counts, len(keys)))
    numbers = np.full(n_board_buckets * n_boards, -1, dtype=np.int32)
    numbers[pairs] = np.arange(len(pairs))
    return Pairs(numbers, pairs // n_boards, pairs % n_boards, counts)


def shared_out(n: int, weights: Ints) -> Ints:
    """Split n into integers of at least 1, in proportion to the weights; n is at least the number of weights.

    >>> shared_out(10, np.array([1, 60, 39])).tolist()
    [1, 5, 4]
    """
    exact = weights / weights.sum() * (n - len(weights))
    parts = exact.astype(np.int64)
    most = np.argsort(parts - exact, kind="stable")[: n - len(weights) - parts.sum()]
    parts[most] += 1
    return np.asarray(parts + 1)
