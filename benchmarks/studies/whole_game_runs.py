"""Listeners of the solves and measurements of `whole_games`, and the time limit of a solve."""

import time
from dataclasses import dataclass
from threading import Event

from benchmarks.sampled_games import note
from spewy.look.exploit import JudgingCost
from spewy.run.reporter import Silent


@dataclass
class Budget:
    """Ends a solve after a number of core-seconds, or at an interruption; the time starts with the first `is_set`."""

    seconds: float
    interrupted: Event
    begun: float | None = None

    def is_set(self) -> bool:
        """Return whether the solve is to stop."""
        if self.begun is None:
            self.begun = time.process_time()
        return self.interrupted.is_set() or self.spent >= self.seconds

    @property
    def spent(self) -> float:
        """Core-seconds since the first `is_set`."""
        return 0.0 if self.begun is None else time.process_time() - self.begun


class Notes(Silent):
    """A listener that prints the notes of a solve."""

    def note(self, text: str) -> None:
        """Print a note."""
        note(text)


class Flops:
    """A listener that prints the progress of best responses on flops."""

    def begin(self, name: str, cost: JudgingCost) -> None:
        """Print the number of flops."""
        note(f"{name}: best responses on {cost.to_judge:,} flops")

    def judged(self, board: str, seconds: float, done: int, total: int, seconds_left: float) -> None:
        """Print the time of a finished flop; of many flops only every hundredth."""
        if total < 100 or done % 100 == 0:
            note(f"flop {done:,} of {total:,}: {seconds:.1f} s")
