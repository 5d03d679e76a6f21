"""How good a hand is against one that may be any other: its equity, and its place among hands as they are now.

For opponents that know no strategy. Where many final boards follow, some are drawn, always the same ones.
"""

from __future__ import annotations

from functools import lru_cache
from math import comb

import numpy as np

from buckets.cards import (
    CARD_COUNTS,
    Deck,
    blocked,
    equities,
    final_boards,
    hand_index,
    hand_kinds,
    hands,
    strength,
    strengths,
)
from solvers.tree import Floats
from spewy.game.gamefile import Game

SAMPLES = 100
"""Final boards that are drawn where more follow; the standard error of a flop's equity is about 0.03."""
FIRST_SAMPLES = 1000
"""The same for the first round, which is answered once for all hands."""
_KEPT = 4096

Cards = tuple[int, ...]


class HandOdds:
    """Odds of hands of one game.

    Args:
        game: what is played.
    """

    def __init__(self, game: Game) -> None:
        self._game = game
        self._hands = hands(game.deck, game.num_hole_cards)
        self._n_board = sum(game.num_board_cards)
        self.equity = lru_cache(_KEPT)(self._equity)
        self.percentile = lru_cache(_KEPT)(self._percentile)

    def _equity(self, hole: Cards, board: Cards) -> float:
        """The share of the pot that a hand wins against any other when no betting follows."""
        if not board:
            return float(self._first[self._game.hand_number(hole)])
        boards = final_boards(
            board,
            self._game.deck,
            self._n_board,
            samples=_samples(self._game.deck, len(board), self._n_board, SAMPLES),
        )
        boards = boards[~blocked(boards, hole)]
        others = self._others(hole, board)
        found = strengths(boards, np.concatenate([[hole], others]))
        mine, theirs = found[:, :1], found[:, 1:]
        there = theirs >= 0
        won = np.count_nonzero(there & (theirs < mine)) + 0.5 * np.count_nonzero(there & (theirs == mine))
        return float(won / np.count_nonzero(there))

    def _percentile(self, hole: Cards, board: Cards) -> float:
        """The share of other hands that a hand beats, ties by half: by the cards on the table, and first by equity."""
        others = self._others(hole, board)
        if board and len(hole) + len(board) in CARD_COUNTS:
            return _beaten(strength(board, np.concatenate([[hole], others])))
        numbers = hand_index(self._game.deck, np.concatenate([[hole], others]))
        return _beaten(self._first[numbers])

    @property
    def _first(self) -> Floats:
        return first_equities(self._game.deck, self._game.num_hole_cards, self._n_board)

    def _others(self, hole: Cards, board: Cards) -> np.ndarray:
        return self._hands[~blocked(self._hands, (*hole, *board))]


@lru_cache(maxsize=8)
def first_equities(deck: Deck, num_hole_cards: int, n_board: int) -> Floats:
    """``[hand]``: equities before any public card, the same for hands that are the same up to suits."""
    every = hands(deck, num_hole_cards)
    samples = _samples(deck, 0, n_board, FIRST_SAMPLES)
    found = equities((), every, np.ones(len(every)), deck, n_board, samples=samples)
    kinds = hand_kinds((), every, deck)
    means: Floats = (np.bincount(kinds, found) / np.bincount(kinds))[kinds]
    return means


def _samples(deck: Deck, n_cards: int, n_board: int, most: int) -> int | None:
    """How many final boards to draw; None: all of them."""
    return most if comb(len(deck) - n_cards, n_board - n_cards) > most else None


def _beaten(values: np.ndarray) -> float:
    """The share of all but the first that are less than the first, ties by half."""
    return float(np.mean(values[1:] < values[0]) + 0.5 * np.mean(values[1:] == values[0]))
