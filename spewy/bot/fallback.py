"""What is played where nothing is known: check for nothing, call where the equity pays for it, else fold."""

from __future__ import annotations

import numpy as np

from buckets.cards import equities, hands
from solvers.tree import Floats
from spewy.game.hand import Hand

BOARDS = 300
"""Final boards that equities are taken on; all where there are fewer."""


def passive(hand: Hand) -> tuple[str, ...]:
    """The actions that this chooses from.

    >>> from spewy.game.gamefile import load_game
    >>> start = Hand.start(load_game("kuhn"))
    >>> passive(start), passive(start.apply("r"))
    (('c',), ('f', 'c'))
    """
    return ("f", "c") if hand.betting.can_fold else ("c",)


def by_equity(hand: Hand, theirs: Floats, seed: int) -> Floats:
    """``[action of passive, hand of the deck]``: calls what wins often enough without further betting.

    Args:
        hand: where somebody acts.
        theirs: ``[hand of the deck]``, the other player's range.
        seed: of the final boards.
    """
    game = hand.game
    held = hands(game.deck, game.num_hole_cards)
    if not hand.betting.can_fold:
        return np.ones((1, len(held)))
    player = hand.to_act
    assert player is not None
    spent = hand.betting.spent
    highest = min(max(spent), hand.betting.stack(player))
    needed = (highest - spent[player]) / (2 * highest)
    n_board = game.board_sizes[-1]
    samples = BOARDS if n_board - len(hand.board) > 1 else None
    found = equities(hand.board, held, theirs, game.deck, n_board, samples=samples, seed=abs(seed))
    calls = np.nan_to_num(found, nan=0.5) >= needed
    return np.stack([~calls, calls]).astype(np.float64)
