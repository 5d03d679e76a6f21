"""The interface of a solved subgame, which is the same for exact and for sampled solves."""

from __future__ import annotations

from typing import Protocol

from solvers.tree import Floats


class Solution(Protocol):
    """A solved subgame, from which the bot reads strategies and best-response values."""

    @property
    def iterations(self) -> int:
        """Number of iterations, not counting a warm start; in a sampled solve, number of deals."""
        ...

    @property
    def n_bytes(self) -> int:
        """Size of the regrets and strategy sums in bytes."""
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
