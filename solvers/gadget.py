"""Re-solving a game's end so that the other player gains nothing: the gadgets of CFR-D and of the largest margin.

One player (*mine*) is re-solved, and enters with a range. The other has, for each hand, a value that it can get
elsewhere: what a best response wins there against the strategy that is played otherwise. Before the game a step is put:

- CFR-D (N. Burch, M. Johanson and M. Bowling, "Solving Imperfect Information Games Using Decomposition", AAAI 2014):
  the other, holding a hand, follows into the game or takes the value.
- Largest margin (M. Moravčík and others, "Refining Subgames in Large Imperfect Information Games", AAAI 2016): the
  other picks the hand, and wins what it makes with it above its value, per chance to meet my range.

In both the other's range in the game is that step's strategy, learnt by regret matching beside the game's own
regrets. Mine then gives no hand more than it had elsewhere (as far as the game was solved, and as far as that can be),
which no range that was assumed for the other can spoil. All values are counterfactual, as in `solvers.live`.

Where mine played badly elsewhere, CFR-D's step asks for no more than to play as badly. So there is a third, *mixed*:
the range that is believed must come, and beside it all hands, which follow or leave. What gives a hand more than
elsewhere still costs mine, as much as that hand would cost in the range; among strategies that do not, those that are
good against the range cost least.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, Protocol

import numpy as np

from solvers.forest import Floats
from solvers.solver import Solver

Gadget = Literal["cfr-d", "margin", "mixed"]


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


class PickHand:
    """The largest margin's step; arguments as of `FollowOrLeave`."""

    def __init__(self, elsewhere: Floats, meets: Floats, believed: Floats) -> None:
        self._elsewhere = elsewhere
        per_meeting = np.divide(1.0, meets, out=np.zeros_like(meets), where=meets > 0)
        self._weights = per_meeting * meets.max(initial=0.0)
        self._regrets = np.zeros(len(elsewhere))

    def reach(self) -> Floats:
        """``[row]``: how often each hand is picked, times the number of hands."""
        comes = (self._weights > 0).astype(np.float64)
        picked = np.where(self._regrets.any(), self._regrets, comes)
        out: Floats = self._weights * picked * (comes.sum() / max(picked.sum(), 1e-300))
        return out

    def learn(self, values: Floats) -> None:
        """As CFR+ does."""
        gains = self._weights * (values - self._elsewhere)
        picked = np.divide(self.reach(), self._weights, out=np.zeros_like(gains), where=self._weights > 0)
        mean = float(picked @ gains) / max(float(picked.sum()), 1e-300)
        self._regrets = np.maximum(self._regrets + np.where(self._weights > 0, gains - mean, 0.0), 0.0)


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
    "margin": PickHand,
    "mixed": ComeOrLeave,
}


def iterate(solver: Solver, other: int, step: Step, iterations: int) -> None:
    """Do so many iterations of the game and of the other's step before it."""
    for _ in range(iterations):
        solver.enter(other, step.reach())
        solver.run(1)
        step.learn(solver.root_values(other).astype(np.float64))
