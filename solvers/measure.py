"""Exploitability: what best responses win against a pair of strategies, in the real game.

``exploitability = (BR0 + BR1) / 2`` with ``BRp`` the value of player p's best response, row by row, to the other's
strategy. In a zero-sum game it is 0 at an equilibrium and positive elsewhere; the game's value for player 0 lies
between ``−BR1`` and ``BR0``. With rake the players' values EV0 and EV1 do not cancel, and it is
``(BR0 − EV0 + BR1 − EV1) / 2``, half of NashConv: the mean gain of a player who deviates alone. Locked rows play their
frequencies in best responses too, so exploitability is measured in the locked game.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from solvers.game import LiveGame, Strategies
from solvers.reference.walk import Walker
from solvers.stopping import Stopped, never


@dataclass(frozen=True)
class Exploitability:
    """Best response values of both players in chips per deal.

    Attributes:
        best_response: value of each player's best response.
        expected: both players' values of the measured strategies, in raked games; None without rake.
    """

    best_response: tuple[float, float]
    expected: tuple[float, float] | None = None

    @property
    def value(self) -> float:
        """(BR0 + BR1) / 2 in chips, with rake (BR0 − EV0 + BR1 − EV1) / 2."""
        return (sum(self.best_response) - sum(self.expected or ())) / 2

    @property
    def bracket(self) -> tuple[float, float] | None:
        """Bounds on the game's value for player 0: (−BR1, BR0); None with rake, since the game then has no value."""
        return None if self.expected else (-self.best_response[1], self.best_response[0])


class Measurement(NamedTuple):
    """Exploitability after some iterations.

    Attributes:
        iteration: number of iterations.
        seconds: seconds since the start, with the measurement.
        took: seconds that the measurement took.
        exploitability: the exploitability.
    """

    iteration: int
    seconds: float
    took: float
    exploitability: Exploitability


def exploitability(walker: Walker, strategies: Strategies, stopped: Stopped = never) -> Exploitability:
    """The exploitability of the ``strategies``, regrets or sums that are matched first, from root 0.

    Raises:
        StoppedError: ``stopped()``, which is called every few boards, returned True.
    """
    game = walker.game
    first, second = (_expected(game, p, walker.best_response(p, strategies, stopped)[0]) for p in (0, 1))
    if not game.raked:
        return Exploitability((first, second))
    expected = expected_value(walker, strategies, 0, stopped), expected_value(walker, strategies, 1, stopped)
    return Exploitability((first, second), expected)


def expected_value(walker: Walker, strategies: Strategies, p: int = 0, stopped: Stopped = never) -> float:
    """Player p's chips per deal when both follow the matched ``strategies``, from root 0.

    Raises:
        StoppedError: ``stopped()``, which is called every few boards, returned True.
    """
    return _expected(walker.game, p, walker.evaluate(p, strategies, stopped=stopped)[0])


def _expected(game: LiveGame, p: int, values: np.ndarray) -> float:
    return float(game.reach[p][0] @ values.astype(np.float64)) / game.deal_weight
