"""How long the stages of a solve take, from how long they took: what does not fit into a decision's time is left out.

Times are those of the wall clock, so that a busy machine counts as a slow one.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from spewy.errors import SpewyError

Stage = Literal["read", "iterate", "judge"]
"""Reading what a player does on all boards, one iteration, and one best response."""


class OutOfTimeError(SpewyError):
    """A stage of a solve did not fit into a decision's time."""


class Pace:
    """Seconds of each stage per number that a sub-game keeps.

    A stage counts as long as it took the last time, and after a slower time only half as much shorter.
    """

    def __init__(self) -> None:
        self._rates: dict[Stage, float] = {}

    def forget(self) -> None:
        """Know nothing; stages count as taking no time until they are timed."""
        self._rates.clear()

    def seconds(self, stage: Stage, size: int) -> float:
        """How long a stage takes in a sub-game of so many numbers."""
        return self._rates.get(stage, 0.0) * size

    def took(self, stage: Stage, size: int, seconds: float) -> None:
        """Remember how long a stage took."""
        rate = seconds / max(size, 1)
        self._rates[stage] = max(rate, (rate + self._rates.get(stage, rate)) / 2)

    @contextmanager
    def timed(self, stage: Stage, size: int) -> Iterator[None]:
        """Remember how long what is done in here took, also where it was broken off."""
        began = time.monotonic()
        try:
            yield
        finally:
            self.took(stage, size, time.monotonic() - began)

    def require(self, deadline: float | None, size: int, *stages: Stage) -> None:
        """Refuse stages that do not fit before a deadline on the clock of `time.monotonic`.

        They count as half as long from then on: a moment in which the machine stood still would rule them out forever.

        Raises:
            OutOfTimeError: they do not fit.
        """
        if deadline is None:
            return
        needed, left = sum(self.seconds(stage, size) for stage in stages), deadline - time.monotonic()
        if left > 0 and needed <= left:
            return
        for stage in set(stages) & self._rates.keys():
            self._rates[stage] /= 2
        raise OutOfTimeError(f"expected {needed:.2f} s for {' and '.join(stages)}, found {max(left, 0):.2f} s left")
