"""Gadgets for safe re-solving of a subgame, from which the opponent must not gain.

The strategy of one player, the *resolver*, is solved again; the resolver enters the subgame with a known range. Each
hand of the opponent has a value: what a best response wins against the strategy that the resolver plays in this subgame
without re-solving. A gadget is a step before the subgame, in which the opponent decides:

- CFR-D (N. Burch, M. Johanson and M. Bowling, "Solving Imperfect Information Games Using Decomposition", AAAI 2014):
  with each hand the opponent either enters the subgame or takes the hand's value. The opponent's range in the subgame
  is the strategy of this step, which regret matching improves beside the subgame's own regrets. The resolver's
  strategy then gives no hand more than its value (as far as the solve has converged, and as far as this is possible),
  whatever range was estimated for the opponent.
- *Mixed*: the opponent's estimated range enters the subgame, and in addition each hand enters or takes its value as in
  CFR-D. CFR-D only asks that the resolver plays no worse than without re-solving, and that strategy may be bad. The
  mixed step prefers, among the strategies that give no hand more than its value, one that is good against the estimated
  range.

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
    """The step before the subgame: with each hand the opponent enters the subgame or takes the hand's value."""

    def reach(self) -> Floats:
        """Return the opponent's range in the subgame: ``[hand]``."""
        ...

    def learn(self, values: Floats) -> None:
        """Improve the opponent's strategy in this step, by the values ``[hand]`` of entering the subgame."""
        ...


class CfrDStep:
    """The gadget of CFR-D: with each hand the opponent enters the subgame or takes the hand's value.

    Args:
        blueprint_values: ``[hand]``, the values that the opponent's hands can take in place of the subgame.
        compatible: ``[hand]``, the weight of the resolver's hands that share no card with a hand; a hand for which
            this is 0 never enters.
        estimated: ``[hand]``, the opponent's estimated range, its largest weight 1; CFR-D does not use it.
    """

    def __init__(self, blueprint_values: Floats, compatible: Floats, estimated: Floats) -> None:
        self._blueprint_values, self._possible = blueprint_values, (compatible > 0).astype(np.float64)
        self._regrets = np.zeros((2, len(blueprint_values)))

    def enters(self) -> Floats:
        """Return the probability that the opponent enters the subgame with each hand: ``[hand]``."""
        total = self._regrets.sum(axis=0)
        share = np.divide(self._regrets[0], total, out=np.ones_like(total), where=total > 0)
        out: Floats = self._possible * share
        return out

    def reach(self) -> Floats:
        """Return the opponent's range in the subgame: the probability ``[hand]`` that each hand enters it."""
        return self.enters()

    def learn(self, values: Floats) -> None:
        """Improve the opponent's strategy in this step by CFR+, from the values ``[hand]`` of entering the subgame."""
        enters = self.enters()
        expected = enters * values + (1 - enters) * self._blueprint_values
        self._regrets += np.stack([values - expected, self._blueprint_values - expected])
        np.maximum(self._regrets, 0.0, out=self._regrets)


class MixedStep(CfrDStep):
    """The mixed gadget: the opponent's range is the estimated range plus the hands that enter the subgame as in CFR-D.

    In CFR-D the opponent decides for each hand whether to enter the subgame or to take the hand's value.

    Args:
        blueprint_values: ``[hand]``, the values that the opponent's hands can take in place of the subgame.
        compatible: ``[hand]``, the weight of the resolver's hands that share no card with a hand; a hand for which
            this is 0 never enters.
        estimated: ``[hand]``, the opponent's estimated range, its largest weight 1.
    """

    def __init__(self, blueprint_values: Floats, compatible: Floats, estimated: Floats) -> None:
        super().__init__(blueprint_values, compatible, estimated)
        self._estimated = self._possible * estimated

    def reach(self) -> Floats:
        """Return the opponent's range in the subgame: estimated weight plus the probability that the hand enters it."""
        out: Floats = self._estimated + self.enters()
        return out


STEPS: dict[Gadget, Callable[[Floats, Floats, Floats], GadgetStep]] = {
    "cfr-d": CfrDStep,
    "mixed": MixedStep,
}


def run_with_gadget(solver: Solver, opponent: int, step: GadgetStep, iterations: int) -> None:
    """Run iterations of a subgame with a gadget.

    In each iteration the gadget sets the opponent's range, the solver runs one iteration, and the gadget learns from
    the values of the opponent's hands.
    """
    for _ in range(iterations):
        solver.enter(opponent, step.reach())
        solver.run(1)
        step.learn(solver.root_values(opponent).astype(np.float64))
