"""The interface of a solved subgame, whichever engine has solved it."""

from __future__ import annotations

from typing import Protocol

from solvers.tree import Floats


class Solution(Protocol):
    """A solved subgame."""

    @property
    def iterations(self) -> int:
        """Number of iterations, without those of a warm start, or number of deals."""
        ...

    @property
    def n_bytes(self) -> int:
        """Memory in bytes of regrets and strategy sums."""
        ...

    def frequencies(self, line: str, board: tuple[int, ...]) -> Floats:
        """Return the average strategy after a line of the subgame, ``[action, hand of the deck]``.

        Raises:
            KeyError: the solution does not cover the line or the board.
            SolveError: the strategy has values that are not finite.
        """
        ...

    def best_values(self, player: int) -> Floats:
        """Return a player's best-response value of each hand against the opponent's strategy, ``[hand of the deck]``.

        Raises:
            KeyError: the player's best response was not computed.
        """
        ...
