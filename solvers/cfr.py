"""Counterfactual regret minimisation over a live game, with alternating updates.

One iteration updates player 0 against player 1's current strategy, then player 1 against the new player 0. The
opponent's strategy is added to its sums, weighted by its own reach, in the pass that needs that reach anyway.
The variants are in ``variants.py``; Zinkevich et al. 2007 is the source of the decomposition.
"""

from __future__ import annotations

import numpy as np

from solvers.live import LiveGame, Strategies
from solvers.variants import Variant
from solvers.walk import Walker


class Cfr:
    """A solve in progress: regrets and sums that iterations improve. All arrays are open to the caller.

    Attributes:
        iteration: how many are done.
        regrets, sums: per round and player ``[board, slot, group]``; the average strategy is ``sums``, normalised.
        guesses: what a predictive variant plays by, else None.
    """

    def __init__(
        self, game: LiveGame, variant: Variant, *, threads: int = 1, dtype: type = np.float64
    ) -> None:
        self.game = game
        self.variant = variant
        self.walker = Walker(game, threads, dtype)
        self.iteration = 0
        self.regrets: Strategies = game.zeros(dtype)
        self.sums: Strategies = game.zeros(dtype)
        self.guesses: Strategies | None = game.zeros(dtype) if variant.predictive else None

    def run(self, iterations: int) -> None:
        """Do so many iterations more."""
        for _ in range(iterations):
            factors = self.variant.factors(self.iteration + 1)
            for p in (0, 1):
                self.walker.update(p, factors, self.regrets, self.sums, self.guesses)
            self.iteration += 1
