"""What every solve in progress can do: `reference.cfr.Cfr`, which takes any game, and `exact.ExactCfr`."""

from __future__ import annotations

import time
from typing import Literal, Protocol

from solvers.game import LeafValues
from solvers.matrix.chunk import ChunkStrategy
from solvers.measure import Exploitability, Measurement
from solvers.tree import Floats

Part = Literal["regrets", "sums", "guesses"]
"""Numbers that a solve keeps: regrets, sums of strategies, and what a predictive variant plays by."""


class Solver(Protocol):
    """A solve in progress.

    Attributes:
        iteration: how many are done; set before any part is written from outside.
        parts: what is kept.
    """

    iteration: int
    parts: tuple[Part, ...]

    @property
    def state_bytes(self) -> int:
        """Bytes of all parts."""
        ...

    def run(self, iterations: int) -> None:
        """Do so many iterations more."""
        ...

    def run_to(self, target: float, iterations: int, every: int) -> list[Measurement]:
        """Run, and measure exploitability after ``every`` so many, until it is at most ``target`` chips.

        Returns:
            Every measurement; the last was at ``target``, or NaN, or after so many iterations.
        """
        ...

    def exploitability(self) -> Exploitability:
        """Exact best responses to the average strategies."""
        ...

    def expected_values(self) -> tuple[float, float]:
        """Both players' chips per deal when both follow the average strategies."""
        ...

    def leaf_values(self) -> LeafValues:
        """What going on is worth at the chance leaves of every board, when both follow the average strategies."""
        ...

    def enter(self, p: int, reach: Floats) -> None:
        """Replace player p's range, the game's ``reach[p][0]``, by ``reach[row]`` for all that follows.

        Later iterations and measurements belong to the game with the new range: values weigh hands by both players'
        current ranges, and chips are per deal from these ranges.
        """
        ...

    def root_values(self, p: int) -> Floats:
        """``[row]``: player p's values in the last iteration, against the strategy that the other played in it.

        As in `solvers.game` they are counterfactual; there may be more rows than are used.
        """
        ...

    def best_values(self, p: int) -> Floats:
        """``[row]``: values of player p's best response to the other's average strategy, as `root_values`."""
        ...

    def read(self, part: Part, t: int, b: int) -> ChunkStrategy:
        """A copy of a part on board b of round t, per player ``[slot, row]``; there may be more rows than are used."""
        ...

    def write(self, part: Part, t: int, b: int, numbers: ChunkStrategy) -> None:
        """Put what `read` gave back."""
        ...

    def finite(self) -> bool:
        """Whether all parts are finite numbers."""
        ...

    def let_go(self) -> None:
        """Give memory back that reading and writing took, where a part is mapped from a file."""
        ...

    def close(self) -> None:
        """Stop the threads."""
        ...


def step_by_step(solver: Solver, target: float, iterations: int, every: int) -> list[Measurement]:
    """Do what `Solver.run_to` says by `Solver.run` and `Solver.exploitability`."""
    started, found = time.perf_counter(), list[Measurement]()
    while iterations > 0 and (not found or found[-1].exploitability.value > target):
        few = min(every, iterations)
        solver.run(few)
        iterations -= few
        begun = time.perf_counter()
        measured = solver.exploitability()
        ended = time.perf_counter()
        found.append(Measurement(solver.iteration, ended - started, ended - begun, measured))
    return found
