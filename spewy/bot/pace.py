"""How long the stages of a solve take, from how long they took: what does not fit into a decision's time is left out.

Times are those of the wall clock, so that a busy machine counts as a slow one.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from spewy.errors import SpewyError

Stage = Literal["read", "first", "iterate", "judge"]
"""Reading what a player does on all boards; a solve's first iteration, which takes longer than the others; each of
these; and one best response."""


class OutOfTimeError(SpewyError):
    """A stage of a solve did not fit into a decision's time."""


class Pace:
    """Seconds of each stage per number that a sub-game keeps.

    The rate is all seconds over all numbers, of which those of an earlier time count half as much as those of a later
    one. Small sub-games, whose times are mostly those of other processes, say little in it.
    """

    def __init__(self) -> None:
        self._done: dict[Stage, tuple[float, float]] = {}

    def forget(self) -> None:
        """Know nothing; stages count as taking no time until they are timed."""
        self._done.clear()

    def seconds(self, stage: Stage, size: int) -> float:
        """How long a stage takes in a sub-game of so many numbers."""
        seconds, numbers = self._done.get(stage, (0.0, 1.0))
        return seconds / numbers * size

    def took(self, stage: Stage, size: int, seconds: float) -> None:
        """Remember how long a stage took; done several times, it has the numbers of all of them."""
        before, numbers = self._done.get(stage, (0.0, 0.0))
        self._done[stage] = before / 2 + seconds, numbers / 2 + max(size, 1)

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
        for stage in set(stages) & self._done.keys():
            before, numbers = self._done[stage]
            self._done[stage] = before / 2, numbers
        raise OutOfTimeError(
            f"expected {needed:.2f} s for {' and '.join(stages)}, found {max(left, 0):.2f} s left"
        )
