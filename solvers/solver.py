"""The protocol of a solve in progress.

`reference.cfr.Cfr` implements the protocol for any game, `exact.ExactCfr` for games with a strategy row for each hand.
"""

from __future__ import annotations

import time
from typing import Literal, Protocol

from solvers.game import LeafValues
from solvers.measure import Exploitability, Measurement
from solvers.state import ChunkStrategy
from solvers.tree import Floats

Part = Literal["regrets", "sums", "guesses"]
"""Name of arrays of a solve: regrets, strategy sums, or a predictive variant's predicted regrets ("guesses")."""


class Solver(Protocol):
    """A solve in progress: the attributes and methods that `Cfr` and `ExactCfr` share.

    Attributes:
        iteration: number of iterations done; set it before you `write` the regrets and sums of a saved solve.
        parts: names of the solve's arrays: "regrets", "sums" and, of a predictive variant, "guesses" (its
            predicted regrets).
    """

    iteration: int
    parts: tuple[Part, ...]

    @property
    def state_bytes(self) -> int:
        """Size of all arrays of the solve in bytes."""
        ...

    def run(self, iterations: int) -> None:
        """Run ``iterations`` more iterations."""
        ...

    def run_to(self, target: float, iterations: int, every: int) -> list[Measurement]:
        """Run until the exploitability is at most ``target`` chips, for at most ``iterations`` iterations.

        Returns:
            The measurements, one every ``every`` iterations and one at the end. The run also ends after a measurement
            that is not a number.
        """
        ...

    def exploitability(self) -> Exploitability:
        """Measure the exploitability of the average strategies, by exact best responses."""
        ...

    def expected_values(self) -> tuple[float, float]:
        """Compute both players' chips per deal when both follow the average strategies."""
        ...

    def leaf_values(self) -> LeafValues:
        """Compute the values of all chance leaves when both players follow the average strategies.

        Returns:
            Counterfactual values by (round, board); each player has an array ``[chance leaf, hand]``.
        """
        ...

    def enter(self, p: int, reach: Floats) -> None:
        """Replace player p's range at the root by ``reach[hand]``; later iterations and measurements use it."""
        ...

    def root_values(self, p: int) -> Floats:
        """Return player p's values at the root in the last iteration, when both play that iteration's strategies.

        Returns:
            ``[hand]``: counterfactual values, as in `solvers.game`; numbers after the player's last hand are undefined.
            A variant that looks ahead mixes in the values of the next strategy (`solvers.discount`).
        """
        ...

    def average_values(self, p: int) -> Floats:
        """Compute player p's values at the root when both players follow the average strategies.

        Returns:
            ``[hand]``: counterfactual values, as in `solvers.game`.
        """
        ...

    def best_values(self, p: int) -> Floats:
        """Compute the values at the root of player p's best response to the opponent's average strategy.

        Returns:
            ``[hand]``: counterfactual values, as in `solvers.game`.
        """
        ...

    def read(self, part: Part, t: int, b: int) -> ChunkStrategy:
        """Copy array ``part`` of the solve (see `parts`) on board b of round t.

        The result is ``[slot, row]`` for each player; padding rows are undefined.
        """
        ...

    def write(self, part: Part, t: int, b: int, numbers: ChunkStrategy) -> None:
        """Write array ``part`` of the solve (see `parts`) on board b of round t: per player ``[slot, row]``.

        Regrets are also written as predicted regrets, which may then be written by themselves.
        """
        ...

    def finite(self) -> bool:
        """Whether all numbers in all arrays of the solve are finite."""
        ...

    def let_go(self) -> None:
        """Release the memory of arrays that are mapped from a file; the file keeps their content."""
        ...

    def close(self) -> None:
        """End the solver's threads; a run in another thread ends soon, and `close` waits for it."""
        ...


def step_by_step(solver: Solver, target: float, iterations: int, every: int) -> list[Measurement]:
    """Implement `Solver.run_to` with calls of `Solver.run` and `Solver.exploitability`."""
    started, measurements = time.perf_counter(), list[Measurement]()
    while iterations > 0 and (not measurements or measurements[-1].exploitability.value > target):
        step = min(every, iterations)
        solver.run(step)
        iterations -= step
        run_ended = time.perf_counter()
        exploitability = solver.exploitability()
        ended = time.perf_counter()
        measurements.append(Measurement(solver.iteration, ended - started, ended - run_ended, exploitability))
    return measurements
