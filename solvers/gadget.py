"""Safe re-solving of a game's end: gadgets with which the other player gains nothing from the new solve.

One player (*mine*) is re-solved, and enters with a range. The other player has a value for each hand outside the
re-solved game: what a best response wins against the strategy that mine plays there. Each gadget puts a step before
the game:

- CFR-D (N. Burch, M. Johanson and M. Bowling, "Solving Imperfect Information Games Using Decomposition", AAAI 2014):
  the other player, holding a hand, follows into the game or takes the value. The other's range in the game is the
  step's strategy, learnt by regret matching beside the game's own regrets. Mine then gives no hand more than its value
  (as far as the game was solved, and as far as that can be), whatever range was assumed for the other player.
- *Mixed*: the range that is believed must come, and beside it all hands follow or leave as in CFR-D. CFR-D's step
  asks mine to play no worse than outside, which is little where mine plays badly there. In the mixed step a hand that
  gets more than its value still costs mine as much as the hand would cost in the range; among the strategies that give
  no hand more, those that are good against the believed range cost least.

All values are counterfactual, as in `solvers.game`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, Protocol

import numpy as np

from solvers.solver import Solver
from solvers.tree import Floats

Gadget = Literal["cfr-d", "mixed"]


class Step(Protocol):
    """What the other player does before the game."""

    def reach(self) -> Floats:
        """``[row]``: the other's range in the game."""
        ...

    def learn(self, values: Floats) -> None:
        """Learn from what each hand makes in the game, ``[row]``."""
        ...


class FollowOrLeave:
    """CFR-D's step.

    Args:
        elsewhere: ``[row]``: what a hand gets that leaves.
        meets: ``[row]``: mass of my range that a hand goes with; those without any do not come.
        believed: ``[row]``: the other's range as it was played down, its largest weight 1; means nothing here.
    """

    def __init__(self, elsewhere: Floats, meets: Floats, believed: Floats) -> None:
        self._elsewhere, self._comes = elsewhere, (meets > 0).astype(np.float64)
        self._regrets = np.zeros((2, len(elsewhere)))

    def follows(self) -> Floats:
        """``[row]``: how often each hand follows."""
        total = self._regrets.sum(axis=0)
        share = np.divide(self._regrets[0], total, out=np.ones_like(total), where=total > 0)
        out: Floats = self._comes * share
        return out

    def reach(self) -> Floats:
        """``[row]``: how often each hand follows."""
        return self.follows()

    def learn(self, values: Floats) -> None:
        """As CFR+ does."""
        follows = self.follows()
        made = follows * values + (1 - follows) * self._elsewhere
        self._regrets += np.stack([values - made, self._elsewhere - made])
        np.maximum(self._regrets, 0.0, out=self._regrets)


class ComeOrLeave(FollowOrLeave):
    """The mixed step: the believed range comes, and beside it every hand, which follows or leaves.

    Args:
        elsewhere, meets: as of `FollowOrLeave`.
        believed: ``[row]``: the other's range as it was played down, its largest weight 1.
    """

    def __init__(self, elsewhere: Floats, meets: Floats, believed: Floats) -> None:
        super().__init__(elsewhere, meets, believed)
        self._believed = self._comes * believed

    def reach(self) -> Floats:
        """``[row]``: both together."""
        out: Floats = self._believed + self.follows()
        return out


STEPS: dict[Gadget, Callable[[Floats, Floats, Floats], Step]] = {
    "cfr-d": FollowOrLeave,
    "mixed": ComeOrLeave,
}


def iterate(solver: Solver, other: int, step: Step, iterations: int) -> None:
    """Do so many iterations of the game and of the other's step before it."""
    for _ in range(iterations):
        solver.enter(other, step.reach())
        solver.run(1)
        step.learn(solver.root_values(other).astype(np.float64))
