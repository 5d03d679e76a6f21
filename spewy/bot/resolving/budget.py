"""The time limit of a decision, and predictions of how long the stages of a solve take.

A bot skips stages that do not fit into a decision's time. Predictions come from earlier measurements of elapsed time,
so a busy machine counts as a slow machine.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from spewy.errors import SpewyError

Stage = Literal["read", "lay", "first", "iterate", "deal", "judge"]
"""A stage of a solve.

- ``read``: read the stored strategy of one player on all boards.
- ``lay``: lay out boards, tables and memory.
- ``first``: the first iteration, which takes longer than later ones.
- ``iterate``: a later iteration.
- ``deal``: a deal of a sampled solve.
- ``judge``: a best response.
"""


PATIENCE = 10
"""Number of refusals of a stage after which its prediction uses the fastest measured speed again."""


class OutOfTimeError(SpewyError):
    """A stage of a solve does not fit into a decision's time."""


class Budget:
    """The time limit of one decision.

    Args:
        seconds: seconds for each decision; None: no limit.

    Attributes:
        deadline: end of the decision's time, on the clock of `time.monotonic`; None: no limit.
    """

    def __init__(self, seconds: float | None) -> None:
        self._seconds = seconds
        self.deadline: float | None = None

    def start(self) -> None:
        """Start the time of a decision now."""
        self.deadline = None if self._seconds is None else time.monotonic() + self._seconds

    @property
    def left(self) -> float | None:
        """Seconds until the deadline; None: no limit."""
        return None if self.deadline is None else self.deadline - time.monotonic()

    def after(self, share: float) -> float | None:
        """Return the time, on the clock of `time.monotonic`, at which a share of the remaining time is over."""
        now = time.monotonic()
        return None if self.deadline is None else now + share * (self.deadline - now)

    def allow(self, seconds: float) -> None:
        """Let the current decision last ``seconds`` from now on."""
        self.deadline = time.monotonic() + seconds

    @contextmanager
    def limited(self, share: float) -> Iterator[None]:
        """Limit a ``with`` block to a share of the remaining time; restore the deadline after the block."""
        deadline, self.deadline = self.deadline, self.after(share)
        try:
            yield
        finally:
            self.deadline = deadline


class Pace:
    """Predicts the time of each stage from its measured speed and the size of a subgame.

    The size is the number of entries in the subgame's strategies (`builder.strategy_size`). The speed is the total time
    divided by the total size of all measurements; each new measurement halves the weight of all earlier measurements. A
    small subgame has little weight, because other processes can take most of its time.

    A single measurement on a machine that was blocked could rule out a stage forever, because a refused stage is not
    measured again. So after `PATIENCE` refusals the prediction uses the fastest measured speed of the stage.
    """

    def __init__(self) -> None:
        self._done: dict[Stage, tuple[float, float]] = {}
        self._fastest: dict[Stage, float] = {}
        self._refused = Counter[Stage]()
        self._spent = dict[str, float]()

    def forget(self) -> None:
        """Forget all measurements; a stage without a measurement is predicted to take no time."""
        self._done.clear()
        self._fastest.clear()
        self._refused.clear()

    def seconds(self, stage: Stage, size: int) -> float:
        """Predict the seconds of a stage in a subgame with ``size`` strategy entries."""
        seconds, numbers = self._done.get(stage, (0.0, 1.0))
        return seconds / numbers * size

    def iterations(self, size: int, seconds: float) -> float:
        """Predict the number of iterations that a solve can do within some seconds if two best responses follow.

        Args:
            size: strategy entries of the subgame.
            seconds: time for the iterations and the best responses; if it is too short for both best responses and one
                iteration, the result is below 1.
        """
        rest = seconds - self.seconds("first", size) - 2 * self.seconds("judge", size)
        return 1 + rest / max(self.seconds("iterate", size), 1e-9)

    def took(self, stage: Stage, size: int, seconds: float, whole: bool = True) -> None:
        """Record how long a stage took.

        Args:
            stage: the stage.
            size: strategy entries of the subgame; if the stage was repeated n times, n times as many.
            seconds: measured time.
            whole: whether the stage was completed. The speed of an incomplete stage is never recorded as the stage's
                fastest measured speed.
        """
        self._spend(stage, seconds)
        before, numbers = self._done.get(stage, (0.0, 0.0))
        self._done[stage] = before / 2 + seconds, numbers / 2 + max(size, 1)
        if whole:
            self._fastest[stage] = min(self._fastest.get(stage, math.inf), seconds / max(size, 1))

    @contextmanager
    def timed(self, stage: Stage, size: int) -> Iterator[None]:
        """Record the duration of a ``with`` block as the time of a stage, even if the block raises an error."""
        began, whole = time.monotonic(), False
        try:
            yield
            whole = True
        finally:
            self.took(stage, size, time.monotonic() - began, whole)

    @contextmanager
    def spending(self, stage: Stage) -> Iterator[None]:
        """Add the duration of a ``with`` block to the time spent on a stage, without using it for predictions."""
        began = time.monotonic()
        try:
            yield
        finally:
            self._spend(stage, time.monotonic() - began)

    def take_spent(self) -> dict[str, float]:
        """Return the seconds spent on each stage since the last call of this method.

        The seconds of first iterations and of deals are included in those of the stage ``iterate``.
        """
        spent, self._spent = self._spent, {}
        return spent

    def require(self, deadline: float | None, size: int, *stages: Stage) -> None:
        """Check that stages can be completed before a deadline.

        Args:
            deadline: deadline on the clock of `time.monotonic`; None: no limit.
            size: strategy entries of the subgame.
            stages: the stages.

        Raises:
            OutOfTimeError: the stages do not fit.
        """
        if deadline is None:
            return
        needed = sum(self.seconds(stage, size) for stage in stages)
        remaining = deadline - time.monotonic()
        if remaining > 0 and needed <= remaining:
            return
        if sum(self._fastest.get(stage, 0.0) * size for stage in stages) <= remaining:
            for stage in self._fastest.keys() & stages:
                self._refuse(stage)
        raise OutOfTimeError(
            f"stages {', '.join(stages)}: {needed:.2f} s are needed, and {max(remaining, 0):.2f} s remain"
        )

    def _spend(self, stage: Stage, seconds: float) -> None:
        name = "iterate" if stage in ("first", "deal") else stage
        self._spent[name] = self._spent.get(name, 0.0) + seconds

    def _refuse(self, stage: Stage) -> None:
        """Count a refusal; after `PATIENCE` refusals, replace the stage's speed by its fastest measured speed."""
        self._refused[stage] += 1
        if self._refused[stage] == PATIENCE:
            _, numbers = self._done[stage]
            self._done[stage] = self._fastest[stage] * numbers, numbers
            del self._refused[stage]
