"""Exploitability: what best responses win against a pair of strategies, in the full game without abstraction.

Exploitability is ``(BR0 + BR1) / 2``, where BR0 is the value of player 0's best response to player 1's strategy, and
BR1 the value of player 1's best response to player 0's. A best response chooses for each hand separately. In a
zero-sum game exploitability is 0 at an equilibrium and else positive, and the game's value for player 0 lies between
−BR1 and BR0. With rake the players' values EV0 and EV1 do not cancel, and exploitability is
``(BR0 − EV0 + BR1 − EV1) / 2``, half of NashConv: the mean gain of a player who deviates alone. Locked hands play their
frequencies in best responses too, so exploitability is measured in the locked game.

Exploitability weighs each decision by how often play gets there. `DecisionLosses` weighs all decisions alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from solvers.game import LiveGame, Strategies
from solvers.stopping import Stopped, never
from solvers.tree import Floats

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
        seconds: seconds from the start of the run to the end of the measurement.
        took: seconds that the measurement took.
    """

    iteration: int
    seconds: float
    took: float
    exploitability: Exploitability


class DecisionLosses(NamedTuple):
    """Mean loss of a hand at a decision, over all decisions alike.

    A hand's loss at a decision is the value of its best action less the value of its strategy, when both players follow
    their strategies afterwards: a share of the pot at the decision, given that play has got there with this hand. All
    hands of a decision count alike, and so do all decisions on all dealt boards. Locked hands do not count.

    Attributes:
        mean: each player's mean loss over the decisions, a share of the pot; NaN if it is known at no decision.
        decisions: number of each player's decisions on all boards.
        unknown: number of each player's decisions that the opponent's strategy never reaches, which do not count.
    """

    mean: tuple[float, float]
    decisions: tuple[int, int]
    unknown: tuple[int, int]

    @property
    def value(self) -> float:
        """Mean loss over the decisions of both players together, a share of the pot."""
        weights = [n - left for n, left in zip(self.decisions, self.unknown, strict=True)]
        total = sum(weight * mean for weight, mean in zip(weights, self.mean, strict=True) if weight)
        return total / sum(weights) if any(weights) else float("nan")


LEAST_MET = 1e-9
"""Smallest share of the opponent's reach that a hand must meet; less may be a rounding error."""


def decision_losses(
    walker: Walker, strategies: Strategies, pots: Sequence[Floats], stopped: Stopped = never
) -> DecisionLosses:
    """Measure what hands lose at all decisions by the strategies that regrets or strategy sums stand for.

    ``pots`` has the chips in the pot at the nodes of each round's betting trees: ``[node]``.
    """
    times = _times_dealt(walker.game)
    first, second = (_losses(walker, strategies, pots, p, times, stopped) for p in (0, 1))
    means = [lost / known if known else float("nan") for lost, known, _ in (first, second)]
    return DecisionLosses(
        (means[0], means[1]), (first[1] + first[2], second[1] + second[2]), (first[2], second[2])
    )


def _losses(
    walker: Walker,
    strategies: Strategies,
    pots: Sequence[Floats],
    p: int,
    times: list[np.ndarray],
    stopped: Stopped,
) -> tuple[float, int, int]:
    from solvers.reference.kernels import lock_arrays, losses_at  # whose package imports this module

    game, boards = walker.game, dict[tuple[int, int], tuple[float, int, int]]()
    locks = [lock_arrays(game, t, p) for t in range(len(game.rounds))]

    def watch(t: int, b: int, values: Floats, reach: Floats) -> None:
        r = game.rounds[t]
        own, other = r.hands[p], r.hands[1 - p]
        boards[t, b] = losses_at(
            r.forest.arrays,
            p,
            (int(own.n_hands[b]), own.cards[b], own.same_cards[b]),
            (int(other.n_hands[b]), other.cards[b]),
            locks[t],
            b,
            game.n_ids,
            LEAST_MET,
            pots[t],
            values,
            reach,
        )

    walker.evaluate(p, strategies, watch, len(game.rounds), stopped=stopped)
    rows = [(int(times[t][b]), *boards[t, b]) for t, b in sorted(boards)]
    total = sum(count * lost for count, lost, _, _ in rows)
    return total, sum(row[0] * row[2] for row in rows), sum(row[0] * row[3] for row in rows)


def _times_dealt(game: LiveGame) -> list[np.ndarray]:
    """Count, for each round ``[board]``, the dealt boards that equal a board up to suits."""
    times = [np.ones(game.rounds[0].n_boards, dtype=np.int64)]
    for t, r in enumerate(game.rounds[:-1]):
        assert r.deal is not None
        parents = np.repeat(np.arange(r.n_boards), np.diff(r.deal.first))
        times.append(np.zeros(game.rounds[t + 1].n_boards, dtype=np.int64))
        np.add.at(times[-1], r.deal.child, times[-2][parents] * np.diff(r.deal.first_image))
    return times


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
