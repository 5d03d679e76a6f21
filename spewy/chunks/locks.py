"""Node locks: hands that play given frequencies at a decision of the betting tree, on one board or on all.

A `NodeLock` speaks of lines, boards and hands; `spewy.chunks.live_game.live_game` finds their nodes,
boards and rows. Boards
that are the same up to suits are solved once only by permutations that leave every lock as it is (`keeping`), so
a lock that names suits or a board may make a solve larger.
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
    """What hands do at one decision.

    Attributes:
        line, player, round: the decision, who acts there, and its round of the game.
        history: the public cards where it applies; None: on every board.
        frequencies: ``[action, hand]`` over all hands of the deck, summing to 1 over the actions; NaN: free.
    """

    line: str
    player: int
    round: int
    history: History | None
    frequencies: Floats

    def write(self, into: Floats, history: History, hands: Ints) -> None:
        """Write the frequencies of locked hands over ``into[action, row]``, whose rows are these hands of a board."""
        if self.history in (None, history):
            given = self.frequencies[:, hands]
            np.copyto(into, given, where=~np.isnan(given))


def keeping(locks: Iterable[NodeLock], deck: Deck, hole_cards: int, perms: Perms) -> Perms:
    """Those of ``perms`` that leave each lock's board and frequencies unchanged, in their order."""
    for lock in locks:
        if lock.history is not None:
            perms = stabilizer(lock.history, perms)
        for frequencies in np.nan_to_num(lock.frequencies, nan=-1.0):
            perms = range_symmetries(frequencies, deck, hole_cards, perms)
    return perms
