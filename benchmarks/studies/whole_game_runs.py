"""Helpers of `whole_games`: listeners that print the progress of solves and measurements, and a time limit."""

import threading
import time
from dataclasses import dataclass

from benchmarks.sampled_games import note
from spewy.look.exploit import FlopJudged, JudgingBegan
from spewy.run.events import Event, Noted


@dataclass
class Budget:
    """A stop event that is set after some core-seconds (from the first `is_set` on), or at an interruption."""

    seconds: float
    interrupted: threading.Event
    begun: float | None = None

    def is_set(self) -> bool:
        """Whether the solve has to stop; the core-seconds count from the first call."""
        if self.begun is None:
            self.begun = time.process_time()
        return self.interrupted.is_set() or self.spent >= self.seconds

    @property
    def spent(self) -> float:
        """Core-seconds of this process since the first call of `is_set`."""
        return 0.0 if self.begun is None else time.process_time() - self.begun


def print_notes(event: Event) -> None:
    if isinstance(event, Noted):
        note(event.text)


def print_flops(event: JudgingBegan | FlopJudged) -> None:
    """A listener that prints the times of flops; of 100 flops or more, only each hundredth flop's."""
    if isinstance(event, JudgingBegan):
        note(f"{event.name}: best responses on {event.cost.to_judge:,} flops")
    elif event.total < 100 or event.done % 100 == 0:
        note(f"flop {event.done:,} of {event.total:,}: {event.seconds:.1f} s")
