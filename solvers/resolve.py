"""Gadgets for safe re-solving of a subgame, from which the opponent must not gain.

One player, the *resolver*, is re-solved, and enters the subgame with a range. The opponent has a value for each hand:
the value of a best response to the strategy that the resolver plays in this subgame if it is not re-solved. A gadget is
a step of the opponent before the subgame:

- CFR-D (N. Burch, M. Johanson and M. Bowling, "Solving Imperfect Information Games Using Decomposition", AAAI 2014):
  with each hand the opponent either enters the subgame or takes the hand's value. The opponent's range in the subgame
  is the strategy of this step, which regret matching improves beside the subgame's own regrets. The resolver's
  strategy then gives no hand more than its value (as far as the solve has converged, and as far as this is possible),
  whatever range was estimated for the opponent.
- *Mixed*: the opponent's estimated range enters, and in addition all hands enter or take their value as in CFR-D. CFR-D
  asks the resolver to play no worse than without the re-solve, which is little where that strategy is bad. In the mixed
  step a hand that gets more than its value still costs the resolver as much as the hand weighs in the range; among
  strategies that give no hand more than its value, those that are good against the estimated range cost least.

All values are counterfactual, as in `solvers.game`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, Protocol

import numpy as np

from solvers.solver import Solver
from solvers.tree import Floats

Gadget = Literal["cfr-d", "mixed"]


class GadgetStep(Protocol):
    """The opponent's step before the subgame."""

    def reach(self) -> Floats:
        """``[row]``: the opponent's range in the subgame."""
        ...

    def learn(self, values: Floats) -> None:
        """Improve the step by the values ``[row]`` of the opponent's hands in the subgame."""
        ...


class CfrDStep:
    """CFR-D's step.

    Args:
        blueprint_values: ``[row]``: values that the opponent's hands can take in place of the subgame.
        compatible: ``[row]``: mass of the resolver's range that shares no card with a hand; a hand without any mass
            never enters.
        estimated: ``[row]``: the opponent's estimated range, its largest weight 1; CFR-D does not use it.
    """

    def __init__(self, blueprint_values: Floats, compatible: Floats, estimated: Floats) -> None:
        self._blueprint_values, self._possible = blueprint_values, (compatible > 0).astype(np.float64)
        self._regrets = np.zeros((2, len(blueprint_values)))

    def enters(self) -> Floats:
        """``[row]``: the probability that each hand enters."""
        total = self._regrets.sum(axis=0)
        share = np.divide(self._regrets[0], total, out=np.ones_like(total), where=total > 0)
        out: Floats = self._possible * share
        return out

    def reach(self) -> Floats:
        """``[row]``: the probability that each hand enters."""
        return self.enters()

    def learn(self, values: Floats) -> None:
        """Update the regrets as CFR+ does."""
        enters = self.enters()
        expected = enters * values + (1 - enters) * self._blueprint_values
        self._regrets += np.stack([values - expected, self._blueprint_values - expected])
        np.maximum(self._regrets, 0.0, out=self._regrets)


class MixedStep(CfrDStep):
    """The mixed step: the estimated range enters, and in addition hands enter or take their value as in CFR-D.

    Args:
        blueprint_values, compatible: as in `CfrDStep`.
        estimated: ``[row]``: the opponent's estimated range, its largest weight 1.
    """

    def __init__(self, blueprint_values: Floats, compatible: Floats, estimated: Floats) -> None:
        super().__init__(blueprint_values, compatible, estimated)
        self._estimated = self._possible * estimated

    def reach(self) -> Floats:
        """``[row]``: the sum of the estimated range and of the probabilities that hands enter."""
        out: Floats = self._estimated + self.enters()
        return out


STEPS: dict[Gadget, Callable[[Floats, Floats, Floats], GadgetStep]] = {
    "cfr-d": CfrDStep,
    "mixed": MixedStep,
}


def run_with_gadget(solver: Solver, opponent: int, step: GadgetStep, iterations: int) -> None:
    """Do iterations of the subgame, each after an iteration of the opponent's step."""
    for _ in range(iterations):
        solver.enter(opponent, step.reach())
        solver.run(1)
        step.learn(solver.root_values(opponent).astype(np.float64))
