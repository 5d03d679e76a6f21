"""Counterfactual regret minimisation over a live game, with alternating updates.

One iteration updates player 0 against player 1's current strategy, then player 1 against the new player 0. The
opponent's strategy is added to its sums, weighted by its own reach, in the pass that needs that reach anyway.
The variants are in ``variants.py``; Zinkevich et al. 2007 is the source of the decomposition.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from solvers.discount import Variant
from solvers.game import LeafValues, LiveGame, Strategies
from solvers.matrix.chunk import ChunkStrategy
from solvers.measure import Exploitability, Measurement, expected_value, exploitability
from solvers.reference.walk import Walker
from solvers.solver import Part, step_by_step
from solvers.state import all_finite
from solvers.tree import Floats


class Cfr:
    """A solve in progress, a `solvers.solver.Solver`.

    Attributes:
        iteration: number of iterations done.
        regrets, sums: per round and player ``[board, slot, group]``; the average strategy is ``sums``, normalised.
        guesses: predicted regrets of a predictive variant, else None.
        parts: names of the arrays that there are.
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
        self.parts: tuple[Part, ...] = ("regrets", "sums", *(("guesses",) if variant.predictive else ()))
        self._threads = threads
        self._values = [np.zeros(game.reach[p].shape[1]) for p in (0, 1)]

    @cached_property
    def judge(self) -> Walker:
        """Walker for measurements, in double precision whatever the iterations' precision."""
        if self.walker.dtype is np.float64:
            return self.walker
        return Walker(self.game, self._threads)

    @property
    def state_bytes(self) -> int:
        """Bytes of all parts."""
        return sum(mine.nbytes for part in self.parts for pair in self._whole(part) for mine in pair)

    def run(self, iterations: int) -> None:
        """Do more iterations."""
        for _ in range(iterations):
            factors = self.variant.factors(self.iteration + 1)
            for p in (0, 1):
                self._values[p] = self.walker.update(p, factors, self.regrets, self.sums, self.guesses)[0]
            self.iteration += 1

    def run_to(self, target: float, iterations: int, every: int) -> list[Measurement]:
        """Run until exploitability, measured every ``every`` iterations, is at most ``target`` chips."""
        return step_by_step(self, target, iterations, every)

    def exploitability(self) -> Exploitability:
        """The exploitability of the average strategies."""
        return exploitability(self.judge, self.sums)

    def expected_values(self) -> tuple[float, float]:
        """Both players' chips per deal under the average strategies, each from a walk of its own."""
        return expected_value(self.judge, self.sums, 0), expected_value(self.judge, self.sums, 1)

    def leaf_values(self) -> LeafValues:
        """The values of all chance leaves, when both players follow the average strategies."""
        return self.judge.leaf_values(self.sums)

    def enter(self, p: int, reach: Floats) -> None:
        """Set player p's range for all later iterations and measurements."""
        self.game = self.walker.game = self.game.entered(p, reach)
        if "judge" in self.__dict__:
            self.judge.game = self.game

    def root_values(self, p: int) -> Floats:
        """``[row]``: player p's values in the last iteration, against the opponent's strategy of that iteration."""
        return self._values[p]

    def best_values(self, p: int) -> Floats:
        """``[row]``: values of player p's best response to the opponent's average strategy."""
        values: Floats = self.judge.best_response(p, self.sums)[0]
        return values

    def read(self, part: Part, t: int, b: int) -> ChunkStrategy:
        """A copy of a part on board b of round t, per player ``[slot, group]``."""
        first, second = self._whole(part)[t]
        return first[b].copy(), second[b].copy()

    def write(self, part: Part, t: int, b: int, numbers: ChunkStrategy) -> None:
        """Write a part as `read` returned it."""
        for whole, mine in zip(self._whole(part)[t], numbers, strict=True):
            whole[b] = mine

    def finite(self) -> bool:
        """Whether all regrets, sums and guesses are finite."""
        return all(all_finite(*pair) for part in self.parts for pair in self._whole(part))

    def let_go(self) -> None:
        """Do nothing, since no part is mapped from a file."""

    def close(self) -> None:
        """Stop the threads."""
        self.walker.close()
        if "judge" in self.__dict__:
            self.judge.close()

    def _whole(self, part: Part) -> Strategies:
        arrays = {"regrets": self.regrets, "sums": self.sums, "guesses": self.guesses}[part]
        assert arrays is not None
        return arrays
