"""The share of the pot that one hand has of each other hand, when no betting follows.

With B the final boards that neither hand blocks, ``share[o]`` is the mean over B of
``1[hand beats o] + 1/2 1[hand ties o]``.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb

import numpy as np

from buckets.cards import blocked, final_boards, hands, strengths
from solvers.tree import Floats
from spewy.game.gamefile import Game

MOST_BOARDS = 1500
"""There are no more final boards than this on any flop of hold'em."""


def shares(
    game: Game, hand: Sequence[int], board: Sequence[int], seed: int = 0, most: int = MOST_BOARDS
) -> Floats:
    """``[hand of the deck]``: one hand's share against each other; nan where they share cards, or one with the board.

    Args:
        game: what is played.
        hand: its cards.
        board: the public cards so far.
        seed: of final boards that are drawn; the mean of a share over seeds is what all boards give.
        most: final boards to look at: all of them, or so many that are drawn.
    """
    deck, n_board = game.deck, sum(game.num_board_cards)
    many = comb(len(deck) - len(board), n_board - len(board)) > most
    boards = final_boards(board, deck, n_board, samples=most if many else None, seed=seed)
    free = ~np.isin(boards, list(hand)).any(axis=1)
    every = hands(deck, game.num_hole_cards)
    found = strengths(boards[free], every)
    mine = found[:, [game.hand_number(hand)]]
    met = (found >= 0).sum(axis=0)
    won = (found >= 0) & (found < mine)
    out = np.full(len(every), np.nan)
    np.divide(won.sum(axis=0) + 0.5 * (found == mine).sum(axis=0), met, out=out, where=met > 0)
    out[blocked(every, hand)] = np.nan
    return out
