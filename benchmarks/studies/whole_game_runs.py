"""Helpers of `whole_games`: listeners that print the progress of solves and measurements, and a time limit."""

import time
from dataclasses import dataclass
from threading import Event

from benchmarks.sampled_games import note
from spewy.look.exploit import JudgingCost
from spewy.run.reporter import Silent


@dataclass
class Budget:
    """A stop event that is set after some core-seconds (from the first `is_set` on), or at an interruption."""

    seconds: float
    interrupted: Event
    begun: float | None = None

    def is_set(self) -> bool:
        """Whether the solve has to stop; the first call starts the time."""
        if self.begun is None:
            self.begun = time.process_time()
        return self.interrupted.is_set() or self.spent >= self.seconds

    @property
    def spent(self) -> float:
        """Core-seconds of this process since the first call of `is_set`."""
        return 0.0 if self.begun is None else time.process_time() - self.begun


class Notes(Silent):
    """A reporter of a solve that prints its notes only."""

    def note(self, text: str) -> None:
        """Print a line of text for the user."""
        note(text)


class Flops:
    """A listener that prints the progress of best responses on flops."""

    def begin(self, name: str, cost: JudgingCost) -> None:
        """Print the number of flops to measure."""
        note(f"{name}: best responses on {cost.to_judge:,} flops")

    def judged(self, board: str, seconds: float, done: int, total: int, seconds_left: float) -> None:
        """Print the time of a finished flop; with 100 flops or more, print only every hundredth flop."""
        if total < 100 or done % 100 == 0:
            note(f"flop {done:,} of {total:,}: {seconds:.1f} s")
