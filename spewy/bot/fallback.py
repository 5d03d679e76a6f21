"""Play by pot odds where no strategy is known: check, and call a bet if the hand's equity suffices."""

from __future__ import annotations

import numpy as np

from buckets.cards import equities, hands
from solvers.tree import Floats
from spewy.game.hand import Hand

BOARDS = 300
"""Number of sampled final boards for equities; with at most one card to come, all boards are used."""


def passive_actions(hand: Hand) -> tuple[str, ...]:
    """Return the actions that `pot_odds` chooses from.

    >>> from spewy.game.gamefile import load_game
    >>> start = Hand.start(load_game("kuhn"))
    >>> passive_actions(start), passive_actions(start.apply("r"))
    (('c',), ('f', 'c'))
    """
    return ("f", "c") if hand.betting.can_fold else ("c",)


def pot_odds(hand: Hand, opponent_range: Floats, seed: int) -> Floats:
    """Return ``[action of passive_actions, hand of the deck]``; a hand calls if its equity pays for the call.

    Args:
        hand: a hand in which somebody acts.
        opponent_range: ``[hand of the deck]``, the opponent's range.
        seed: seed of the sampled final boards.
    """
    game = hand.game
    deck = hands(game.deck, game.num_hole_cards)
    if not hand.betting.can_fold:
        return np.ones((1, len(deck)))
    player = hand.to_act
    assert player is not None
    spent = hand.betting.spent
    highest = min(max(spent), hand.betting.stack(player))
    needed = (highest - spent[player]) / (2 * highest)
    n_board = game.board_sizes[-1]
    samples = BOARDS if n_board - len(hand.board) > 1 else None
    equity = equities(hand.board, deck, opponent_range, game.deck, n_board, samples=samples, seed=abs(seed))
    calls = np.nan_to_num(equity, nan=0.5) >= needed
    return np.stack([~calls, calls]).astype(np.float64)
