"""Play by pot odds where no strategy is known: check, or call a bet if the hand's equity pays for the call."""

from __future__ import annotations

import numpy as np

from buckets.cards import equities, hands
from solvers.tree import Floats
from spewy.game.hand import Hand

BOARDS = 300
"""Number of final boards sampled to estimate an equity; with at most one card to come, all final boards are used."""


def passive_actions(hand: Hand) -> tuple[str, ...]:
    """Return the actions that `pot_odds` chooses from: fold and call after a bet, else only the check.

    >>> from spewy.game.gamefile import load_game
    >>> start = Hand.start(load_game("kuhn"))
    >>> passive_actions(start), passive_actions(start.apply("r"))
    (('c',), ('f', 'c'))
    """
    return ("f", "c") if hand.betting.can_fold else ("c",)


def pot_odds(hand: Hand, opponent_range: Floats, seed: int) -> Floats:
    """Compute a pot-odds strategy for the player to act: call a bet if the hand's equity pays for it, else fold.

    If there is no bet to call, every hand checks.

    Args:
        hand: a hand in which a player is to act.
        opponent_range: the opponent's range, ``[hand of the deck]``.
        seed: seed of the sampled final boards.

    Returns:
        Frequencies ``[action, hand of the deck]`` of the actions that `passive_actions` returns.
    """
    if not hand.betting.can_fold:
        return np.ones((1, len(opponent_range)))
    player = hand.to_act
    assert player is not None
    spent = hand.betting.spent
    highest = min(max(spent), hand.betting.stack(player))
    needed = (highest - spent[player]) / (2 * highest)
    calls = equities_of_all(hand, opponent_range, seed) >= needed
    return np.stack([~calls, calls]).astype(np.float64)


def equities_of_all(hand: Hand, opponent_range: Floats, seed: int) -> Floats:
    """Return the equity of each hand of the deck against a range; 0.5 for hands that meet no hand of the range.

    Args:
        hand: the hand, with its public cards.
        opponent_range: the opponent's range, ``[hand of the deck]``.
        seed: seed of the sampled final boards.
    """
    game = hand.game
    deck, n_board = hands(game.deck, game.num_hole_cards), game.board_sizes[-1]
    samples = BOARDS if n_board - len(hand.board) > 1 else None
    found = equities(hand.board, deck, opponent_range, game.deck, n_board, samples=samples, seed=abs(seed))
    out: Floats = np.nan_to_num(found, nan=0.5)
    return out
