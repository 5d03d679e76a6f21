"""Boards in the order in which passes of the sampled engine visit them.

A board has a round, a board bucket, hands (the same for both players) and a row for each hand. Cards are numbered from
0 among the cards that are not on the board. Hands of the last round are sorted by strength, then by row.

`paths` makes boards for learning: each deal is one board per round, and all its rounds have the hands that are possible
on the full board. `tree` makes boards for best responses: each board has hands of its own, and it may stand for several
dealt boards that are equal up to suits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from compiled.records import Records
from solvers.errors import SolverError
from solvers.sampled.views import BoardNode, Boards
from solvers.tree import Ints


@dataclass(frozen=True)
class Board:
    """A board of a tree of boards, with the hands that are possible on it.

    Attributes:
        round: number of the round, from 0.
        board_bucket: number of the board bucket in the round.
        cards: ``[hand, 2]``, the cards of each hand, numbered from 0 among the cards that are not on the board; the
            second card of one-card hands is n_cards.
        n_cards: number of cards that are not on the board.
        rows: ``[hand]``, the row of each hand.
        strength: ``[hand]``, used in the last round only.
        parent_hand: ``[dealt board, hand]``, number of the hand on the board of the previous round, for each dealt
            board that this board stands for.
    """

    round: int
    board_bucket: int
    cards: Ints
    n_cards: int
    rows: Ints
    strength: Ints
    parent_hand: Ints


def paths(board_buckets: Ints, rows: Ints, cards: Ints, strength: Ints, n_cards: int) -> Boards:
    """Make the boards of some deals, for learning.

    In a game of R rounds, board ``R * d + t`` is the board of round t in deal d.

    Args:
        board_buckets: ``[deal, round]``, the board buckets.
        rows: ``[deal, round, hand]``, the row of each hand.
        cards: ``[deal, hand, 2]``, the cards of each hand, numbered among the cards that are not on the full board; the
            second card of one-card hands is n_cards.
        strength: ``[deal, hand]``, the strength of each hand, ascending.
        n_cards: number of cards that are not on a full board.
    """
    n_deals, n_rounds, n_hands = rows.shape
    number = np.arange(n_deals * n_rounds)
    nodes = np.zeros((n_deals * n_rounds, len(BoardNode._fields)), dtype=np.int64)
    deal, t = number // n_rounds, number % n_rounds
    for column, values in enumerate(
        (t, board_buckets.ravel(), n_hands, deal * n_hands, number * n_hands, n_cards, -1, 1)
    ):
        nodes[:, column] = values
    return Boards(
        Records(BoardNode, nodes),
        _cards(cards, n_cards),
        rows.astype(np.int32).ravel(),
        strength.astype(np.int32).ravel(),
        np.zeros(1, dtype=np.int32),
    )


def tree(boards: Sequence[Board]) -> Boards:
    """Make the arrays of a tree of boards, for best responses.

    ``boards`` begins with one board of the first round and is in depth-first order.
    """
    nodes = np.zeros((len(boards), len(BoardNode._fields)), dtype=np.int64)
    n_hands = np.array([len(board.rows) for board in boards])
    first_hand = np.concatenate([[0], np.cumsum(n_hands)])
    n_images = np.array([len(board.parent_hand) for board in boards])
    first_parent = np.concatenate([[0], np.cumsum(n_hands * n_images)])
    numbers = np.array([(board.round, board.board_bucket, board.n_cards) for board in boards])
    for column, values in enumerate(
        (
            numbers[:, 0],
            numbers[:, 1],
            n_hands,
            first_hand[:-1],
            first_hand[:-1],
            numbers[:, 2],
            first_parent[:-1],
            n_images,
        )
    ):
        nodes[:, column] = values
    return Boards(
        Records(BoardNode, nodes),
        np.concatenate([_cards(board.cards, board.n_cards) for board in boards]),
        np.concatenate([board.rows for board in boards]).astype(np.int32),
        np.concatenate([board.strength for board in boards]).astype(np.int32),
        np.concatenate([board.parent_hand.ravel() for board in boards] + [[0]]).astype(np.int32),
    )


def _cards(cards: Ints, n_cards: int) -> Ints:
    """Return the cards of hands as a flat array ``[hand, 2]``, for the kernels' totals of reach by card.

    In these totals element n_cards is the total of all hands. So the missing second card of one-card hands, which is
    n_cards in ``cards``, becomes n_cards + 1.
    """
    if cards.size and int(cards.max()) > n_cards:
        raise SolverError(f"cards: expected numbers from 0 to {n_cards}, found {int(cards.max())}")
    out: Ints = np.where(cards == n_cards, n_cards + 1, cards).astype(np.int32).ravel()
    return out
