"""Time limit of one decision, and predictions of how long the stages of a solve take.

A bot skips stages that do not fit into a decision's time. Predictions come from earlier times on the wall clock, so a
busy machine counts as a slow one.
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
"""A stage of a solve.

- ``read``: read the stored strategy of one player on all boards.
- ``first``: the first iteration, which takes longer than later ones.
- ``iterate``: a later iteration.
- ``judge``: a best response.
"""


PATIENCE = 10
"""Number of refusals of a stage, after which its fastest measured speed counts again."""


class OutOfTimeError(SpewyError):
    """A stage of a solve does not fit into a decision's time."""


class Budget:
    """Time limit of one decision.

    Args:
        seconds: seconds of each decision; None: no limit.

    Attributes:
        deadline: end of the decision's time, on the clock of `time.monotonic`; None: no limit.
    """

    def __init__(self, seconds: float | None) -> None:
        self._seconds = seconds
        self.deadline: float | None = None

    def start(self) -> None:
        """Begin the time of a decision now."""
        self.deadline = None if self._seconds is None else time.monotonic() + self._seconds

    def after(self, share: float) -> float | None:
        """Return the moment when a share of the remaining time will be over."""
        now = time.monotonic()
        return None if self.deadline is None else now + share * (self.deadline - now)

    @contextmanager
    def limited(self, share: float) -> Iterator[None]:
        """Limit the block to a share of the remaining time; the old deadline returns after the block."""
        deadline, self.deadline = self.deadline, self.after(share)
        try:
            yield
        finally:
            self.deadline = deadline


class Pace:
    """The speed of each stage, in seconds per number of a subgame's strategies (`builder.strategy_size`).

    The speed is total seconds divided by total numbers; each new measurement halves the weight of all earlier ones. A
    small subgame has little weight, since most of its time can be that of other processes.

    A measurement taken while the machine stood still would rule a stage out forever, since a refused stage is not
    measured. After `PATIENCE` refusals the budget therefore assumes the stage's fastest measured speed, and tries the
    stage once more.
    """

    def __init__(self) -> None:
        self._done: dict[Stage, tuple[float, float]] = {}
        self._fastest: dict[Stage, float] = {}
        self._refused = Counter[Stage]()

    def forget(self) -> None:
        """Forget all measurements; unmeasured stages count as taking no time."""
        self._done.clear()
        self._fastest.clear()
        self._refused.clear()

    def seconds(self, stage: Stage, size: int) -> float:
        """Predicted seconds of a stage in a subgame with ``size`` numbers."""
        seconds, numbers = self._done.get(stage, (0.0, 1.0))
        return seconds / numbers * size

    def took(self, stage: Stage, size: int, seconds: float, whole: bool = True) -> None:
        """Record how long a stage took.

        Args:
            stage: the stage.
            size: numbers of the subgame; for a stage done n times, n times as many.
            seconds: measured time.
            whole: whether the stage came to its end; a stage that was broken off does not count as the fastest.
        """
        before, numbers = self._done.get(stage, (0.0, 0.0))
        self._done[stage] = before / 2 + seconds, numbers / 2 + max(size, 1)
        if whole:
            self._fastest[stage] = min(self._fastest.get(stage, math.inf), seconds / max(size, 1))

    @contextmanager
    def timed(self, stage: Stage, size: int) -> Iterator[None]:
        """Record the duration of the block as the time of a stage, even if the block raises an error."""
        began, whole = time.monotonic(), False
        try:
            yield
            whole = True
        finally:
            self.took(stage, size, time.monotonic() - began, whole)

    def require(self, deadline: float | None, size: int, *stages: Stage) -> None:
        """Check that some stages fit before a deadline on the clock of `time.monotonic`.

        Raises:
            OutOfTimeError: the stages do not fit.
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
            f"stages {', '.join(stages)}: {needed:.2f} s are needed, and {max(left, 0):.2f} s are left"
        )

    def _refuse(self, stage: Stage) -> None:
        """Count a refusal; after `PATIENCE` refusals, assume the stage's fastest measured speed."""
        self._refused[stage] += 1
        if self._refused[stage] == PATIENCE:
            _, numbers = self._done[stage]
            self._done[stage] = self._fastest[stage] * numbers, numbers
            del self._refused[stage]
