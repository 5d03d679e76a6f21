"""Gadgets for re-solving a subgame when the opponent's range is not known: steps before the subgame.

The strategy of one player, the *resolver*, is solved again; the resolver enters the subgame with a known range. The
gadget determines the range with which the opponent enters. In most gadgets the opponent decides with each hand whether
to enter the subgame, or to take the hand's *alternative payoff* instead (`ALTERNATIVES` says which value this is):

- *Blended*: the opponent decides nothing. The opponent's estimated range is blended with the range of all hands, so
  that the resolver's strategy answers hands that the estimate lacks.
- *CFR-D* (N. Burch, M. Johanson and M. Bowling, "Solving Imperfect Information Games Using Decomposition", AAAI
  2014): a hand's alternative payoff is what a best response wins against the strategy that the resolver plays in this
  subgame without re-solving. Regret matching learns, beside the subgame's own strategies, how often each hand enters;
  these probabilities are the opponent's range in the subgame. The resolver's strategy then gives no hand more than its
  alternative payoff (as far as the solve has converged, and as far as this is possible), whatever range was estimated
  for the opponent.
- *Mixed*: the opponent's estimated range enters the subgame, and in addition each hand enters or takes its alternative
  payoff as in CFR-D. CFR-D only asks that the resolver plays no worse than without re-solving, and that strategy may be
  bad. The mixed step prefers, among the strategies that give no hand more than its alternative payoff, one that is good
  against the estimated range.
- *Estimate* (after N. Brown and T. Sandholm, "Safe and Nested Subgame Solving for Imperfect-Information Games", NIPS
  2017): the mixed step, but a hand's alternative payoff is what the hand wins if both players play on without
  re-solving. This is less than a best response wins, so more hands enter, and the resolver's strategy improves against
  more hands.

All values are counterfactual, as in `solvers.game`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, Protocol

import numpy as np

from solvers.solver import Solver
from solvers.tree import Floats

Gadget = Literal["blended", "cfr-d", "estimate", "mixed"]

ALTERNATIVES: dict[Gadget, Literal["best", "average"] | None] = {
    "blended": None,
    "cfr-d": "best",
    "estimate": "average",
    "mixed": "best",
}
"""Alternative payoffs of the opponent's hands, by gadget, if the resolver plays on without re-solving.

- ``best``: values of the opponent's best response.
- ``average``: values if the opponent plays on without re-solving, too.
- None: the gadget has no alternative payoffs.
"""

BLEND = 0.1
"""Share of all hands in a blended range."""


class GadgetStep(Protocol):
    """The step before the subgame: it sets the opponent's range in the subgame, and may learn from each iteration."""

    def reach(self) -> Floats:
        """Return the opponent's range in the subgame: ``[hand]``."""
        ...

    def learn(self, values: Floats) -> None:
        """Update the opponent's choices in this step after an iteration of the subgame.

        Args:
            values: ``[hand]``, the value of the subgame for each hand of the opponent.
        """
        ...


def blended(estimated: Floats, possible: Floats) -> Floats:
    """Blend an estimated range with the range of all possible hands, which gets the share `BLEND` of the result.

    Args:
        estimated: ``[hand]``, the estimated range.
        possible: ``[hand]``, 1 for each possible hand, and 0 for all others.
    """
    parts = [weights / max(weights.sum(), 1e-300) for weights in (estimated * possible, possible)]
    out: Floats = (1 - BLEND) * parts[0] + BLEND * parts[1]
    out /= max(out.max(initial=0.0), 1e-300)
    return out


class BlendedStep:
    """The blended gadget: the opponent's range is the estimated range, blended with the range of all hands.

    Args:
        alternatives: ``[hand]``, unused.
        compatible: ``[hand]``, for each hand of the opponent the total weight of the resolver's hands that share no
            card with the hand; a hand for which this is 0 never enters.
        estimated: ``[hand]``, the opponent's estimated range, its largest weight 1.
    """

    def __init__(self, alternatives: Floats, compatible: Floats, estimated: Floats) -> None:
        del alternatives
        self._range = blended(estimated, (compatible > 0).astype(np.float64))

    def reach(self) -> Floats:
        """Return the blended range: ``[hand]``."""
        return self._range

    def learn(self, values: Floats) -> None:
        """Do nothing: the blended range stays the same in all iterations."""


class CfrDStep:
    """The gadget of CFR-D: with each hand the opponent enters the subgame or takes the hand's alternative payoff.

    Args:
        alternatives: ``[hand]``, alternative payoffs of the opponent's hands.
        compatible: ``[hand]``, for each hand of the opponent the total weight of the resolver's hands that share no
            card with the hand; a hand for which this is 0 never enters.
        estimated: ``[hand]``, unused.
    """

    def __init__(self, alternatives: Floats, compatible: Floats, estimated: Floats) -> None:
        self._alternatives, self._possible = alternatives, (compatible > 0).astype(np.float64)
        self._regrets = np.zeros((2, len(alternatives)))

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
        """Update the opponent's regrets for entering the subgame and for the alternative payoffs, as CFR+ does.

        Args:
            values: ``[hand]``, the value of the subgame for each hand of the opponent in the latest iteration.
        """
        enters = self.enters()
        expected = enters * values + (1 - enters) * self._alternatives
        self._regrets += np.stack([values - expected, self._alternatives - expected])
        np.maximum(self._regrets, 0.0, out=self._regrets)


class MixedStep(CfrDStep):
    """The mixed gadget: the opponent's range is the estimated range plus the hands that enter the subgame as in CFR-D.

    Args:
        alternatives: ``[hand]``, alternative payoffs of the opponent's hands.
        compatible: ``[hand]``, for each hand of the opponent the total weight of the resolver's hands that share no
            card with the hand; a hand for which this is 0 never enters.
        estimated: ``[hand]``, the opponent's estimated range, its largest weight 1.
    """

    def __init__(self, alternatives: Floats, compatible: Floats, estimated: Floats) -> None:
        super().__init__(alternatives, compatible, estimated)
        self._estimated = self._possible * estimated

    def reach(self) -> Floats:
        """Return the opponent's range in the subgame: estimated weight plus the probability that the hand enters it."""
        out: Floats = self._estimated + self.enters()
        return out


STEPS: dict[Gadget, Callable[[Floats, Floats, Floats], GadgetStep]] = {
    "blended": BlendedStep,
    "cfr-d": CfrDStep,
    "estimate": MixedStep,
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
