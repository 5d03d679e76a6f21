"""Strength of a hand without further betting: its share of the pot against each other hand, equity, and percentile.

If too many final boards are possible, a random sample of them is used, which depends only on a seed.
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
from spewy.look.pairs import pairs

MOST_BOARDS = 1500
"""Default limit of the number of final boards: more than follow a flop of hold'em."""
SAMPLES = 100
"""Number of random final boards for the equity of one hand; the standard error on a flop is about 0.03."""
FIRST_SAMPLES = 1000
"""Number of random final boards for the equities before any public card, which are computed once for all hands."""
_KEPT = 4096
"""Largest number of cached results."""

Cards = tuple[int, ...]


def shares(
    game: Game, hand: Sequence[int], board: Sequence[int], seed: int = 0, most: int = MOST_BOARDS
) -> Floats:
    """Return the share of the pot that a hand wins against each other hand without further betting.

    The share against another hand is the mean over the final boards that block neither hand: 1 on a board where the
    hand wins, 1/2 on a board where both tie.

    Args:
        seed: seed of the random final boards; the mean over many seeds is the exact share.
        most: largest number of final boards; if more are possible, this number of random boards is used.

    Returns:
        Shares ``[hand of the deck]``; NaN for hands that share a card with the hand or the board.
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


class BoardOdds:
    """Compares each hand of the deck with an opponent's range on a board.

    For each hand of the deck, the methods add up weights of the opponent's range; both the range and the sums are
    ``[hand of the deck]``, and either player can be the opponent. A sum leaves out the opponent's hands that share a
    card with the player's hand or the board. Hands that the board blocks get 0.
    """

    def __init__(self, game: Game, board: Sequence[int]) -> None:
        self.deck = hands(game.deck, game.num_hole_cards).astype(np.int64)
        self.live = np.flatnonzero(~blocked(self.deck, board))
        on_board = pairs(game, self.deck, board, (self.live, self.live))
        assert on_board.lead is not None
        # In single precision a product is twice as fast, since it waits for memory.
        self._lead = on_board.lead.astype(np.float32)

    def met(self, weights: Floats) -> Floats:
        """Return for each hand of the deck the total weight of the opponent's hands that share no card with it."""
        own, opponent = self.deck[self.live], weights[self.live]
        out = np.zeros(len(self.deck))
        of_card = np.zeros(self.deck.max() + 1)
        for cards in own.T:
            of_card += np.bincount(cards, opponent, minlength=len(of_card))
        together = opponent.sum() - of_card[own].sum(axis=1)
        # The opponent's hand with the same two cards was subtracted twice, once for each card.
        out[self.live] = together + (opponent if own.shape[1] > 1 else 0.0)
        return out

    def ahead(self, weights: Floats) -> Floats:
        """Return for each hand of the deck the opponent's weight that it beats minus the weight that beats it.

        Both weights are means over final boards.
        """
        out = np.zeros(len(self.deck))
        out[self.live] = self._lead @ weights[self.live].astype(np.float32)
        return out


@lru_cache(maxsize=8)
def board_odds(game: Game, board: tuple[int, ...]) -> BoardOdds:
    return BoardOdds(game, board)


class HandOdds:
    """Equities and percentiles of single hands in one game against all other hands, each with the same weight."""

    def __init__(self, game: Game) -> None:
        self._game = game
        self._hands = hands(game.deck, game.num_hole_cards)
        self._n_board = sum(game.num_board_cards)
        self.equity = lru_cache(_KEPT)(self._equity)
        self.percentile = lru_cache(_KEPT)(self._percentile)

    def _equity(self, hole: Cards, board: Cards) -> float:
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
        """Share of the other hands that a hand beats on the board, without a board by equity; a tie counts half."""
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
    """Return the equities ``[hand of the deck]`` before any public card, equal for hands that differ only in suits."""
    every = hands(deck, num_hole_cards)
    samples = _samples(deck, 0, n_board, FIRST_SAMPLES)
    estimates = equities((), every, np.ones(len(every)), deck, n_board, samples=samples)
    kinds = hand_orbits((), every, deck)
    means: Floats = (np.bincount(kinds, estimates) / np.bincount(kinds))[kinds]
    return means


def _samples(deck: Deck, n_cards: int, n_board: int, most: int) -> int | None:
    """Return ``most`` if more than ``most`` final boards are possible with ``n_cards`` known cards, else None."""
    return most if comb(len(deck) - n_cards, n_board - n_cards) > most else None


def _beaten(values: np.ndarray) -> float:
    """Share of the values after the first that are smaller than the first; ties count half."""
    return float(np.mean(values[1:] < values[0]) + 0.5 * np.mean(values[1:] == values[0]))
