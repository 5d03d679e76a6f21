"""Strength of a hand without further betting: share against each other hand, equity, and percentile.

If many final boards can follow, a sample of them is used, which depends only on the seed.
"""

from __future__ import annotations

from collections.abc import Sequence
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
    hand_orbits,
    hands,
    strength,
    strengths,
)
from solvers.tree import Floats
from spewy.game.gamefile import Game
from spewy.look.pairs import Pairs, pairs

MOST_BOARDS = 1500
"""Largest number of final boards of a hold'em flop."""
SAMPLES = 100
"""Number of sampled final boards for an equity; the standard error on a flop is about 0.03."""
FIRST_SAMPLES = 1000
"""Number of sampled final boards for the first round, where all hands' equities are computed once."""
_KEPT = 4096

Cards = tuple[int, ...]


def shares(
    game: Game, hand: Sequence[int], board: Sequence[int], seed: int = 0, most: int = MOST_BOARDS
) -> Floats:
    """A hand's share of the pot against each other hand; nan for hands that share cards with it or the board.

    With B the final boards that neither hand blocks, ``share[o]`` is the mean over B of
    ``1[hand beats o] + 1/2 1[hand ties o]``.

    Args:
        game: the game.
        hand: cards of the hand.
        board: the public cards so far.
        seed: seed of final boards that are drawn; the mean of a share over seeds is that over all boards.
        most: largest number of final boards; where there are more, this number is drawn.

    Returns:
        ``[hand of the deck]``.
    """
    deck, n_board = game.deck, sum(game.num_board_cards)
    many = comb(len(deck) - len(board), n_board - len(board)) > most
    boards = final_boards(board, deck, n_board, samples=most if many else None, seed=seed)
    free = ~np.isin(boards, list(hand)).any(axis=1)
    every = hands(deck, game.num_hole_cards)
    strength_of = strengths(boards[free], every)
    own = strength_of[:, [game.hand_number(hand)]]
    met = (strength_of >= 0).sum(axis=0)
    won = (strength_of >= 0) & (strength_of < own)
    out = np.full(len(every), np.nan)
    np.divide(won.sum(axis=0) + 0.5 * (strength_of == own).sum(axis=0), met, out=out, where=met > 0)
    out[blocked(every, hand)] = np.nan
    return out


@lru_cache(maxsize=4)
def deck_pairs(game: Game, board: Sequence[int]) -> Pairs:
    """Compute the pairs of all hands of the deck on a board; both matrices are 0 for hands that the board blocks.

    Args:
        game: the game.
        board: the public cards so far.
    """
    deck = hands(game.deck, game.num_hole_cards).astype(np.int64)
    live = np.flatnonzero(~blocked(deck, board))
    on_board = pairs(game, deck, board, (live, live))
    assert on_board.lead is not None
    if len(live) == len(deck):
        return on_board
    compatible, lead = np.zeros((2, len(deck), len(deck)))
    compatible[np.ix_(live, live)], lead[np.ix_(live, live)] = on_board.compatible, on_board.lead
    return Pairs(compatible, lead)


class HandOdds:
    """Equities and percentiles of single hands in one game, without any knowledge of strategies.

    Args:
        game: the game.
    """

    def __init__(self, game: Game) -> None:
        self._game = game
        self._hands = hands(game.deck, game.num_hole_cards)
        self._n_board = sum(game.num_board_cards)
        self.equity = lru_cache(_KEPT)(self._equity)
        self.percentile = lru_cache(_KEPT)(self._percentile)

    def _equity(self, hole: Cards, board: Cards) -> float:
        """A hand's mean share of the pot against all other hands."""
        if not board:
            return float(self._first[self._game.hand_number(hole)])
        samples = _samples(self._game.deck, len(board), self._n_board, SAMPLES)
        boards = final_boards(board, self._game.deck, self._n_board, samples=samples)
        boards = boards[~blocked(boards, hole)]
        strength_of = strengths(boards, np.concatenate([[hole], self._others(hole, board)]))
        own, others = strength_of[:, :1], strength_of[:, 1:]
        met = others >= 0
        won = np.count_nonzero(met & (others < own)) + 0.5 * np.count_nonzero(met & (others == own))
        return float(won / np.count_nonzero(met))

    def _percentile(self, hole: Cards, board: Cards) -> float:
        """Share of other hands that a hand beats now, ties by half; before any public card, by equity."""
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
    """``[hand]``: equities before any public card, equal for hands that differ in suits only."""
    every = hands(deck, num_hole_cards)
    samples = _samples(deck, 0, n_board, FIRST_SAMPLES)
    estimates = equities((), every, np.ones(len(every)), deck, n_board, samples=samples)
    kinds = hand_orbits((), every, deck)
    means: Floats = (np.bincount(kinds, estimates) / np.bincount(kinds))[kinds]
    return means


def _samples(deck: Deck, n_cards: int, n_board: int, most: int) -> int | None:
    """Number of final boards to draw; None: all of them."""
    return most if comb(len(deck) - n_cards, n_board - n_cards) > most else None


def _beaten(values: np.ndarray) -> float:
    """Share of the values after the first that are smaller than the first; ties count half."""
    return float(np.mean(values[1:] < values[0]) + 0.5 * np.mean(values[1:] == values[0]))
