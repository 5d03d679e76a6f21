"""Node locks: hands that play given frequencies at a decision of the betting tree, on one board or on all.

A `NodeLock` has a line, a board and hands; `spewy.chunks.live_game.live_game` finds the node, boards and rows. Boards
that are alike are solved once only under suit permutations that leave every lock unchanged (`keeping`), so a lock that
names suits or a board may make a solve larger.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from buckets.cards import Deck, History, Perms, range_symmetries, stabilizer
from solvers.tree import Floats

Ints = NDArray[np.integer]


@dataclass(frozen=True)
class NodeLock:
    """The frequencies of locked hands at one decision.

    Attributes:
        line: the line of the decision.
        player: the player who acts.
        round: the round of the game.
        history: the public cards where the lock applies; None: every board.
        frequencies: ``[action, hand]`` over all hands of the deck, with sum 1 over the actions; NaN: the hand is free.
    """

    line: str
    player: int
    round: int
    history: History | None
    frequencies: Floats

    def write(self, into: Floats, history: History, hands: Ints) -> None:
        """Overwrite ``into[action, row]``, whose rows are these hands, with the frequencies of locked hands."""
        if self.history in (None, history):
            locked = self.frequencies[:, hands]
            np.copyto(into, locked, where=~np.isnan(locked))


def keeping(locks: Iterable[NodeLock], deck: Deck, hole_cards: int, perms: Perms) -> Perms:
    """Select the permutations that leave each lock's board and frequencies unchanged, in their order."""
    for lock in locks:
        if lock.history is not None:
            perms = stabilizer(lock.history, perms)
        for frequencies in np.nan_to_num(lock.frequencies, nan=-1.0):
            perms = range_symmetries(frequencies, deck, hole_cards, perms)
    return perms
