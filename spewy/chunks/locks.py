"""Node locks: hands that play given frequencies at a decision of the betting tree, on one board or on all boards.

Suit symmetry uses only permutations that leave every lock unchanged (`keeping`), so a lock that names suits or a board
may make a solve larger.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from buckets.cards import Deck, History, Perms, range_symmetries, stabilizer
from solvers.tree import Floats, Ints


@dataclass(frozen=True)
class NodeLock:
    """The frequencies of one player's locked hands at one decision.

    Attributes:
        line: the betting line that leads to the decision.
        player: the player who acts there.
        round: the decision's round, counted from the deal (0: preflop).
        history: the public cards of the board on which the lock applies; None: it applies on all boards.
        frequencies: ``[action, hand]`` for all hands of the deck; NaN: the hand is not locked.
    """

    line: str
    player: int
    round: int
    history: History | None
    frequencies: Floats

    def write(self, into: Floats, history: History, hands: Ints) -> None:
        """Overwrite a strategy with the frequencies of the locked hands, if the lock applies on the board.

        Args:
            into: the strategy at the locked decision, ``[action, hand]``, changed in place.
            history: the public cards of the board.
            hands: ``[hand]``, the number of each hand of `into` among all hands of the deck.
        """
        if self.history in (None, history):
            locked = self.frequencies[:, hands]
            np.copyto(into, locked, where=~np.isnan(locked))


def keeping(locks: Iterable[NodeLock], deck: Deck, hole_cards: int, perms: Perms) -> Perms:
    """Select the suit permutations that leave the boards and frequencies of all locks unchanged.

    Args:
        locks: the locks.
        deck: the deck.
        hole_cards: number of hole cards of each player.
        perms: the suit permutations to select from; the result has them in the same order.
    """
    for lock in locks:
        if lock.history is not None:
            perms = stabilizer(lock.history, perms)
        for frequencies in np.nan_to_num(lock.frequencies, nan=-1.0):
            perms = range_symmetries(frequencies, deck, hole_cards, perms)
    return perms
