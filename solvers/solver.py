"""The protocol of a solve in progress: `reference.cfr.Cfr` solves any game, `exact.ExactCfr` games of hands."""

from __future__ import annotations

import time
from typing import Literal, Protocol

from solvers.game import LeafValues
from solvers.matrix.chunk import ChunkStrategy
from solvers.measure import Exploitability, Measurement
from solvers.tree import Floats

Part = Literal["regrets", "sums", "guesses"]
"""Arrays of a solve: regrets, strategy sums, and the predicted regrets of a predictive variant."""


class Solver(Protocol):
    """A solve in progress.

    Attributes:
        iteration: number of iterations done; set it before any part is written from outside.
        parts: the arrays of the solve.
    """

    iteration: int
    parts: tuple[Part, ...]

    @property
    def state_bytes(self) -> int:
        """Bytes of all parts."""
        ...

    def run(self, iterations: int) -> None:
        """Do more iterations."""
        ...

    def run_to(self, target: float, iterations: int, every: int) -> list[Measurement]:
        """Run until exploitability, measured every ``every`` iterations, is at most ``target`` chips.

        Returns:
            All measurements; the last one reached ``target``, or is NaN, or was made after ``iterations``.
        """
        ...

    def exploitability(self) -> Exploitability:
        """The exploitability of the average strategies, from exact best responses."""
        ...

    def expected_values(self) -> tuple[float, float]:
        """Both players' chips per deal when both follow the average strategies."""
        ...

    def leaf_values(self) -> LeafValues:
        """The values of all chance leaves, when both players follow the average strategies."""
        ...

    def enter(self, p: int, reach: Floats) -> None:
        """Replace player p's range, the game's ``reach[p][0]``, by ``reach[row]`` for all that follows.

        Later iterations and measurements belong to the game with the new range: values weigh hands by both players'
        current ranges, and chips are per deal from these ranges.
        """
        ...

    def root_values(self, p: int) -> Floats:
        """``[row]``: player p's values in the last iteration, against the opponent's strategy of that iteration.

        The values are counterfactual, as in `solvers.game`; rows behind the player's hands mean nothing.
        """
        ...

    def best_values(self, p: int) -> Floats:
        """``[row]``: values of player p's best response to the opponent's average strategy, as `root_values`."""
        ...

    def read(self, part: Part, t: int, b: int) -> ChunkStrategy:
        """Copy a part on board b of round t, per player ``[slot, row]``; padding rows are undefined."""
        ...

    def write(self, part: Part, t: int, b: int, numbers: ChunkStrategy) -> None:
        """Write a part as `read` returned it."""
        ...

    def finite(self) -> bool:
        """Whether all parts hold finite numbers only."""
        ...

    def let_go(self) -> None:
        """Release the memory of parts that are mapped from a file."""
        ...

    def close(self) -> None:
        """Stop the threads."""
        ...


def step_by_step(solver: Solver, target: float, iterations: int, every: int) -> list[Measurement]:
    """Implement `Solver.run_to` by `Solver.run` and `Solver.exploitability`."""
    started, measured = time.perf_counter(), list[Measurement]()
    while iterations > 0 and (not measured or measured[-1].exploitability.value > target):
        few = min(every, iterations)
        solver.run(few)
        iterations -= few
        begun = time.perf_counter()
        exploitability = solver.exploitability()
        ended = time.perf_counter()
        measured.append(Measurement(solver.iteration, ended - started, ended - begun, exploitability))
    return measured
