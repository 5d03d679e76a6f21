"""Gadgets for re-solving a subgame when the opponent's range is not known: steps before the subgame.

The strategy of one player, the *resolver*, is solved again; the resolver enters the subgame with a known range. In the
gadget the opponent decides with each hand whether to enter the subgame, or to take the hand's *alternative payoff*
instead: what a best response wins with the hand against the strategy that the resolver plays in this subgame without
re-solving. These decisions are the opponent's range in the subgame.

- *CFR-D* (N. Burch, M. Johanson and M. Bowling, "Solving Imperfect Information Games Using Decomposition", AAAI
  2014): regret matching learns, beside the subgame's own strategies, how often each hand enters. The resolver's
  strategy then gives no hand more than its alternative payoff (as far as the solve has converged, and as far as this is
  possible), whatever range was estimated for the opponent.
- *Mixed*: the opponent's estimated range enters the subgame, and in addition each hand enters or takes its alternative
  payoff as in CFR-D. CFR-D only asks that the resolver plays no worse than without re-solving, and that strategy may be
  bad. The mixed step prefers, among the strategies that give no hand more than its alternative payoff, one that is good
  against the estimated range.

All values are counterfactual, as in `solvers.game`. `docs/research/no-limit.md` compares both gadgets with two others.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from solvers.solver import Solver
from solvers.tree import Floats

Gadget = Literal["cfr-d", "mixed"]


class GadgetStep:
    """The opponent's decisions before the subgame: with each hand, enter it or take the hand's alternative payoff.

    Args:
        alternatives: ``[hand]``, alternative payoffs of the opponent's hands.
        compatible: ``[hand]``, for each hand of the opponent the total weight of the resolver's hands that share no
            card with the hand; a hand for which this is 0 never enters.
        estimated: ``[hand]``, the opponent's estimated range, its largest weight 1, for the gadget *mixed*; None:
            CFR-D.
    """

    def __init__(self, alternatives: Floats, compatible: Floats, estimated: Floats | None = None) -> None:
        self._alternatives, self._possible = alternatives, (compatible > 0).astype(np.float64)
        self._estimated = None if estimated is None else self._possible * estimated
        self._regrets = np.zeros((2, len(alternatives)))

    def enters(self) -> Floats:
        """Return the probability ``[hand]`` that the opponent enters the subgame."""
        total = self._regrets.sum(axis=0)
        share = np.divide(self._regrets[0], total, out=np.ones_like(total), where=total > 0)
        out: Floats = self._possible * share
        return out

    def reach(self) -> Floats:
        """Return the opponent's range ``[hand]`` in the subgame: `enters`, in *mixed* plus the estimated range."""
        return self.enters() if self._estimated is None else self._estimated + self.enters()

    def learn(self, values: Floats) -> None:
        """Update the opponent's regrets for entering the subgame and for the alternative payoffs, as CFR+ does.

        Args:
            values: ``[hand]``, the value of the subgame for each hand of the opponent in the latest iteration.
        """
        enters = self.enters()
        expected = enters * values + (1 - enters) * self._alternatives
        self._regrets += np.stack([values - expected, self._alternatives - expected])
        np.maximum(self._regrets, 0.0, out=self._regrets)


def run_with_gadget(solver: Solver, opponent: int, step: GadgetStep, iterations: int) -> None:
    """Run iterations of a subgame with a gadget.

    In each iteration the gadget sets the opponent's range, the solver runs one iteration, and the gadget learns from
    the values of the opponent's hands.
    """
    for _ in range(iterations):
        solver.enter(opponent, step.reach())
        solver.run(1)
        step.learn(solver.root_values(opponent).astype(np.float64))
