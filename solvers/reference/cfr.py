"""Counterfactual regret minimisation in a `LiveGame`, with alternating updates (Zinkevich et al. 2007).

One iteration updates player 0 against player 1's current strategy, then player 1 against player 0's new strategy. Each
update also adds the opponent's current strategy, weighted by the opponent's reach, to the opponent's sums: the
traversal needs this reach anyway. `solvers.discount` has the variants.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from solvers.discount import Variant
from solvers.game import LeafValues, LiveGame, Strategies
from solvers.measure import Exploitability, Measurement, expected_value, exploitability
from solvers.reference.walk import Walker
from solvers.solver import Part, Solver, step_by_step
from solvers.state import ChunkStrategy, all_finite
from solvers.tree import Floats


class Cfr(Solver):
    """A solve in progress by a variant of CFR, in plain loops; `solvers.tree` explains slots.

    Attributes:
        regrets: for each round and player ``[board, slot, row]``.
        sums: strategy sums, for each round and player ``[board, slot, row]``; normalised they are the average strategy.
        guesses: predicted regrets of a predictive variant, for each round and player ``[board, slot, row]``; else None.
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
        """The `Walker` that measures exploitability and values, always in double precision."""
        if self.walker.dtype is np.float64:
            return self.walker
        return Walker(self.game, self._threads)

    @property
    def state_bytes(self) -> int:
        return sum(array.nbytes for part in self.parts for pair in self._whole(part) for array in pair)

    def run(self, iterations: int) -> None:
        for _ in range(iterations):
            factors = self.variant.factors(self.iteration + 1)
            for p in (0, 1):
                self._values[p] = self.walker.update(p, factors, self.regrets, self.sums, self.guesses)[0]
            self.iteration += 1

    def run_to(self, target: float, iterations: int, every: int) -> list[Measurement]:
        return step_by_step(self, target, iterations, every)

    def exploitability(self) -> Exploitability:
        return exploitability(self.judge, self.sums)

    def expected_values(self) -> tuple[float, float]:
        return expected_value(self.judge, self.sums, 0), expected_value(self.judge, self.sums, 1)

    def leaf_values(self) -> LeafValues:
        return self.judge.leaf_values(self.sums)

    def enter(self, p: int, reach: Floats) -> None:
        self.game = self.walker.game = self.game.entered(p, reach)
        if "judge" in self.__dict__:
            self.judge.game = self.game

    def root_values(self, p: int) -> Floats:
        return self._values[p]

    def average_values(self, p: int) -> Floats:
        values: Floats = self.judge.evaluate(p, self.sums)[0]
        return values

    def best_values(self, p: int) -> Floats:
        values: Floats = self.judge.best_response(p, self.sums)[0]
        return values

    def read(self, part: Part, t: int, b: int) -> ChunkStrategy:
        first, second = self._whole(part)[t]
        return first[b].copy(), second[b].copy()

    def write(self, part: Part, t: int, b: int, numbers: ChunkStrategy) -> None:
        written = [self._whole(part)[t]]
        if part == "regrets" and self.guesses is not None:  # until somebody writes others
            written.append(self.guesses[t])
        for pair in written:
            for all_boards, board in zip(pair, numbers, strict=True):
                all_boards[b] = board

    def finite(self) -> bool:
        return all(all_finite(*pair) for part in self.parts for pair in self._whole(part))

    def let_go(self) -> None:
        pass  # no array is mapped from a file

    def close(self) -> None:
        self.walker.close()
        if "judge" in self.__dict__:
            self.judge.close()

    def _whole(self, part: Part) -> Strategies:
        arrays = {"regrets": self.regrets, "sums": self.sums, "guesses": self.guesses}[part]
        assert arrays is not None
        return arrays
