"""Exploitability: what best responses win against a pair of strategies, in the full game without abstraction.

Exploitability is ``(BR0 + BR1) / 2``, where BR0 is the value of player 0's best response to player 1's strategy, and
BR1 the value of player 1's best response to player 0's. A best response chooses for each hand separately. In a
zero-sum game exploitability is 0 at an equilibrium and else positive, and the game's value for player 0 lies between
−BR1 and BR0. With rake the players' values EV0 and EV1 do not cancel, and exploitability is
``(BR0 − EV0 + BR1 − EV1) / 2``, half of NashConv: the mean gain of a player who deviates alone. Locked hands play their
frequencies in best responses too, so exploitability is measured in the locked game.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from solvers.game import LiveGame, Strategies
from solvers.stopping import Stopped, never

if TYPE_CHECKING:
    from solvers.reference.walk import Walker  # whose package imports this module


@dataclass(frozen=True)
class Exploitability:
    """Exploitability of a pair of strategies, and the values that it is computed from, in chips per deal.

    Attributes:
        best_response: value of each player's best response.
        expected: value of each player when both follow the measured strategies; None in games without rake, where
            exploitability does not depend on these values.
    """

    best_response: tuple[float, float]
    expected: tuple[float, float] | None = None

    @property
    def value(self) -> float:
        """Exploitability in chips per deal: the mean gain of both best responses over the measured strategies."""
        return (sum(self.best_response) - sum(self.expected or ())) / 2

    @property
    def bracket(self) -> tuple[float, float] | None:
        """Bounds on the game's value for player 0, from both best responses; None for a raked game (not zero-sum)."""
        return None if self.expected else (-self.best_response[1], self.best_response[0])


class Measurement(NamedTuple):
    """Exploitability after some iterations.

    Attributes:
        iteration: number of iterations.
        seconds: seconds from the start of the run to the end of the measurement.
        took: seconds that the measurement took.
        exploitability: the measured exploitability.
    """

    iteration: int
    seconds: float
    took: float
    exploitability: Exploitability


def exploitability(walker: Walker, strategies: Strategies, stopped: Stopped = never) -> Exploitability:
    """Measure the exploitability of the strategies that regrets or strategy sums stand for."""
    game = walker.game
    first, second = (_expected(game, p, walker.best_response(p, strategies, stopped)[0]) for p in (0, 1))
    if not game.raked:
        return Exploitability((first, second))
    expected = expected_value(walker, strategies, 0, stopped), expected_value(walker, strategies, 1, stopped)
    return Exploitability((first, second), expected)


def expected_value(walker: Walker, strategies: Strategies, p: int = 0, stopped: Stopped = never) -> float:
    """Compute player p's chips per deal when both follow the strategies that regrets or strategy sums stand for."""
    return _expected(walker.game, p, walker.evaluate(p, strategies, stopped=stopped)[0])


def _expected(game: LiveGame, p: int, values: np.ndarray) -> float:
    return float(game.reach[p][0] @ values.astype(np.float64)) / game.deal_weight
