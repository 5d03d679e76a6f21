"""How long the stages of a solve take, from how long they took: what does not fit into a decision's time is left out.

Times are those of the wall clock, so that a busy machine counts as a slow one.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from spewy.errors import SpewyError

Stage = Literal["read", "first", "iterate", "judge"]
"""Reading what a player does on all boards; a solve's first iteration, which takes longer than the others; each of
these; and one best response."""


PATIENCE = 10
"""How often a stage is refused that would fit if it were as fast as it was once, until it counts as that fast again."""


class OutOfTimeError(SpewyError):
    """A stage of a solve did not fit into a decision's time."""


class Pace:
    """Seconds of each stage per number that a sub-game keeps.

    The rate is all seconds over all numbers, of which those of an earlier time count half as much as those of a later
    one. Small sub-games, whose times are mostly those of other processes, say little in it.

    A moment in which the machine stood still would rule a stage out forever, since what is left out is not timed. So
    after some refusals a stage counts as taking what it took at its fastest, and is tried once more.
    """

    def __init__(self) -> None:
        self._done: dict[Stage, tuple[float, float]] = {}
        self._fastest: dict[Stage, float] = {}
        self._refused = Counter[Stage]()

    def forget(self) -> None:
        """Know nothing; stages count as taking no time until they are timed."""
        self._done.clear()
        self._fastest.clear()
        self._refused.clear()

    def seconds(self, stage: Stage, size: int) -> float:
        """How long a stage takes in a sub-game of so many numbers."""
        seconds, numbers = self._done.get(stage, (0.0, 1.0))
        return seconds / numbers * size

    def took(self, stage: Stage, size: int, seconds: float, whole: bool = True) -> None:
        """Remember how long a stage took; done several times, it has the numbers of all of them.

        Args:
            stage: what was done.
            size: the sub-game's.
            seconds: that it took.
            whole: whether it came to its end; how fast it can be is not known from one that was broken off.
        """
        before, numbers = self._done.get(stage, (0.0, 0.0))
        self._done[stage] = before / 2 + seconds, numbers / 2 + max(size, 1)
        if whole:
            self._fastest[stage] = min(self._fastest.get(stage, math.inf), seconds / max(size, 1))

    @contextmanager
    def timed(self, stage: Stage, size: int) -> Iterator[None]:
        """Remember how long what is done in here took, also where it was broken off."""
        began, whole = time.monotonic(), False
        try:
            yield
            whole = True
        finally:
            self.took(stage, size, time.monotonic() - began, whole)

    def require(self, deadline: float | None, size: int, *stages: Stage) -> None:
        """Refuse stages that do not fit before a deadline on the clock of `time.monotonic`.

        Raises:
            OutOfTimeError: they do not fit.
        """
        if deadline is None:
            return
        needed, left = sum(self.seconds(stage, size) for stage in stages), deadline - time.monotonic()
        if left > 0 and needed <= left:
            return
        if sum(self._fastest.get(stage, 0.0) * size for stage in stages) <= left:
            for stage in self._fastest.keys() & stages:
                self._refuse(stage)
        raise OutOfTimeError(
            f"expected {needed:.2f} s for {' and '.join(stages)}, found {max(left, 0):.2f} s left"
        )

    def _refuse(self, stage: Stage) -> None:
        """Count a refusal; the last that is waited for lets the stage count as fast as it was once."""
        self._refused[stage] += 1
        if self._refused[stage] == PATIENCE:
            _, numbers = self._done[stage]
            self._done[stage] = self._fastest[stage] * numbers, numbers
            del self._refused[stage]
