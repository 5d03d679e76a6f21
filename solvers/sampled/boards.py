"""Boards one below another, as the sampled engine walks over them.

A board knows its round, its class, the hands that it leaves to both players (the same ones), and each hand's row.
Nothing here knows cards: they are numbers 0 .. N-1 of what a board leaves. Hands of the last round are sorted by
strength, then by row.

Two kinds of walk: *paths*, where each deal is one board per round and hands are those that the last one leaves
(`paths`); and *trees*, where all boards of interest lie below one another, each with its own hands, and a board may
stand for several that differ by a relabelling of the hands above (`tree`).
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
    """One board of a tree.

    Attributes:
        round: counted from the first.
        class_: its number among the round's.
        cards: ``[hand, 2]`` of 0 .. n_cards - 1; hands of one card have n_cards in the second place.
        n_cards: that the board leaves.
        rows: ``[hand]``.
        strength: ``[hand]``; of the last round.
        origins: ``[image, hand]``: the hand on the board above, for each dealt board that this one stands for.
    """

    round: int
    class_: int
    cards: Ints
    n_cards: int
    rows: Ints
    strength: Ints
    origins: Ints


def paths(classes: Ints, rows: Ints, cards: Ints, strength: Ints, n_cards: int) -> Boards:
    """Deals as boards: board ``R * d + t`` is deal d's of round t.

    Args:
        classes: ``[deal, round]``.
        rows: ``[deal, round, hand]``.
        cards: ``[deal, hand, 2]``.
        strength: ``[deal, hand]``, ascending.
        n_cards: that a last board leaves.
    """
    n_deals, n_rounds, n_hands = rows.shape
    number = np.arange(n_deals * n_rounds)
    nodes = np.zeros((n_deals * n_rounds, len(BoardNode._fields)), dtype=np.int64)
    deal, t = number // n_rounds, number % n_rounds
    for column, values in enumerate(
        (t, classes.ravel(), n_hands, deal * n_hands, number * n_hands, n_cards, -1, 1)
    ):
        nodes[:, column] = values
    return Boards(
        Records(BoardNode, nodes),
        _cards(cards, n_cards),
        rows.astype(np.int32).ravel(),
        strength.astype(np.int32).ravel(),
        np.zeros(1, dtype=np.int32),
        True,
    )


def tree(boards: Sequence[Board]) -> Boards:
    """Boards in depth-first order, from one of the first round."""
    nodes = np.zeros((len(boards), len(BoardNode._fields)), dtype=np.int64)
    n_hands = np.array([len(board.rows) for board in boards])
    first_hand = np.concatenate([[0], np.cumsum(n_hands)])
    n_images = np.array([len(board.origins) for board in boards])
    first_origin = np.concatenate([[0], np.cumsum(n_hands * n_images)])
    numbers = np.array([(board.round, board.class_, board.n_cards) for board in boards])
    for column, values in enumerate(
        (
            numbers[:, 0],
            numbers[:, 1],
            n_hands,
            first_hand[:-1],
            first_hand[:-1],
            numbers[:, 2],
            first_origin[:-1],
            n_images,
        )
    ):
        nodes[:, column] = values
    return Boards(
        Records(BoardNode, nodes),
        np.concatenate([_cards(board.cards, board.n_cards) for board in boards]),
        np.concatenate([board.rows for board in boards]).astype(np.int32),
        np.concatenate([board.strength for board in boards]).astype(np.int32),
        np.concatenate([board.origins.ravel() for board in boards] + [[0]]).astype(np.int32),
        False,
    )


def _cards(cards: Ints, n_cards: int) -> Ints:
    """Cards as the kernels number them: place n_cards is that of all hands, and what is no card comes behind it."""
    if cards.size and int(cards.max()) > n_cards:
        raise SolverError(f"cards: expected 0 to {n_cards}, found {int(cards.max())}")
    out: Ints = np.where(cards == n_cards, n_cards + 1, cards).astype(np.int32).ravel()
    return out
