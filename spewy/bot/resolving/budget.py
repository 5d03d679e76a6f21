"""Time limits of a match and of a decision, and predictions of how long the stages of a solve take.

The Annual Computer Poker Competition limits the time of a match: all answers of a player together may take at most a
number of seconds times the number of hands. Most hands never reach a round that is re-solved, so their seconds are left
for the hands that do: each hand adds seconds to a `TimeBank`, and the bot spends them where they help most.

A bot skips stages that do not fit into a decision's time (`Budget`). The predictions of a `Pace` come from earlier
measurements of elapsed time, so a busy machine counts as a slow machine.
"""

from __future__ import annotations

import math
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from spewy.errors import InputError, SpewyError, shown
from spewy.system.tools import MOST_SECONDS

HORIZON = 20
"""Number of coming hands over which the bank plans to spend its seconds."""
PRIOR_HANDS, PRIOR_DECISIONS = 20, 0.5
"""Number of hands that the bank pretends to have seen before the first hand, and number of solves in each of them."""
RESERVE = 5
"""Number of hands whose seconds the bank holds back, since one hand may need several solves."""
SHARE = 0.5
"""Largest share of the bank that one decision may spend, so that a decision that runs late does not overdraw it."""
MOST_OF_ANSWER = 60.0
"""Largest allowance of a decision in seconds; the ACPC's dealer waits ten minutes for an answer."""
AROUND = 0.002
"""Seconds charged for each decision in addition to the measured time, because sending messages takes time too."""
PATIENCE = 10
"""Number of refusals of a stage after which its prediction uses the fastest measured speed again."""

Stage = Literal["read", "lay", "first", "iterate", "deal", "judge"]
"""A stage of a solve.

- ``read``: read the stored strategy of one player on all boards.
- ``lay``: lay out boards, tables and memory.
- ``first``: the first iteration, which takes longer than later ones.
- ``iterate``: a later iteration.
- ``deal``: a deal of a sampled solve.
- ``judge``: a best response.
"""


class OutOfTimeError(SpewyError):
    """A stage of a solve does not fit into a decision's time."""


def importance(pot: float, size: float) -> float:
    """Weight of a solve: the bank divides time among solves in proportion to their weights.

    A strategy that was solved for a time T loses about ``pot * size / T`` chips: the loss is a share of the pot, which
    falls with each iteration, and an iteration takes time in proportion to the size. The sum of the losses is smallest
    if each solve has time in proportion to the square root of ``pot * size``.

    Args:
        size: size of the subgame: hands times actions, on all boards.

    >>> importance(400, 9) / importance(100, 9), importance(100, 36) / importance(100, 9)
    (2.0, 2.0)
    """
    return math.sqrt(pot * size)


class TimeBank:
    """The seconds of a match that a bot has not spent.

    Each hand adds a fixed number of seconds when it begins. The caller measures each decision and charges its seconds.
    If the bank is empty, solves get no time. So all decisions together last at most the fixed number of seconds times
    the number of hands, except for the short time of decisions without a solve.

    Attributes:
        hands: number of hands that have begun.
    """

    def __init__(self, per_hand: float) -> None:
        if not 0 < per_hand <= MOST_SECONDS:
            raise InputError(
                f"seconds per hand: expected more than 0 and at most {MOST_SECONDS:,.0f}, found {shown(per_hand)}"
            )
        self.per_hand, self.hands, self.spent = per_hand, 0, 0.0
        self._weights = 0.0

    @property
    def left(self) -> float:
        """Seconds in the bank; below 0 if decisions without a solve have overdrawn it."""
        return self.per_hand * self.hands - self.spent

    def new_hand(self) -> None:
        self.hands += 1

    def allowance(self, weight: float, pending: float = 0.0) -> float:
        """Return the seconds that a solve may last now; 0 if the bank is empty.

        The bank adds up the seconds that it has now and those that the next `HORIZON` hands will add, and subtracts the
        seconds of `RESERVE` hands. It divides the result among the solves that it expects in the next `HORIZON` hands,
        in proportion to their weights (`importance`). One solve gets at most the share `SHARE` of the bank and
        `MOST_OF_ANSWER` seconds.

        Args:
            pending: seconds that the current decision has already taken, and that are not charged yet.
        """
        left = self.left - pending
        if left <= 0:
            return 0.0
        weights = PRIOR_HANDS * PRIOR_DECISIONS * weight + self._weights
        per_hand = weights / (PRIOR_HANDS + self.hands)
        rate = (left + (HORIZON - RESERVE) * self.per_hand) / (HORIZON * per_hand)
        return min(rate * weight, SHARE * left, MOST_OF_ANSWER)

    def charge(self, seconds: float, weight: float = 0.0) -> None:
        """Take the seconds of a decision out of the bank; the weight is that of its solve, 0 without a solve."""
        self.spent += seconds + AROUND
        self._weights += weight


class Budget:
    """The time limit of one decision.

    Attributes:
        deadline: end of the decision's time, on the clock of `time.monotonic`; None: no limit.
    """

    def __init__(self, seconds: float | None) -> None:
        self._seconds = seconds
        self.deadline: float | None = None

    def start(self) -> None:
        self.deadline = None if self._seconds is None else time.monotonic() + self._seconds

    @property
    def left(self) -> float | None:
        """Seconds until the deadline; None: no limit."""
        return None if self.deadline is None else self.deadline - time.monotonic()

    def after(self, share: float) -> float | None:
        """Return when a share of the remaining time will have passed, by `time.monotonic`; None: no limit."""
        now = time.monotonic()
        return None if self.deadline is None else now + share * (self.deadline - now)

    def allow(self, seconds: float) -> None:
        """Let the current decision last ``seconds`` from now on."""
        self.deadline = time.monotonic() + seconds

    @contextmanager
    def unlimited(self) -> Iterator[None]:
        """Take the limit away for a ``with`` block; restore the deadline after the block."""
        deadline, self.deadline = self.deadline, None
        try:
            yield
        finally:
            self.deadline = deadline

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

    The ``size`` is the number of entries in the subgame's strategies (`builder.strategy_size`). The speed is the total
    time divided by the total size of all measurements; each new measurement halves the weight of all earlier
    measurements. A small subgame has little weight, because other processes can take most of its time.

    A single measurement on a blocked machine could rule out a stage forever, because a stage that is ruled out is not
    measured again. So once it was ruled out `PATIENCE` times, the prediction uses the stage's fastest measured speed.
    """

    def __init__(self) -> None:
        self._done: dict[Stage, tuple[float, float]] = {}
        self._fastest: dict[Stage, float] = {}
        self._refused = Counter[Stage]()
        self._spent = defaultdict[str, float](float)

    def forget(self) -> None:
        """Forget all measurements; a stage without a measurement is predicted to take no time."""
        self._done.clear()
        self._fastest.clear()
        self._refused.clear()

    def seconds(self, stage: Stage, size: int) -> float:
        seconds, numbers = self._done.get(stage, (0.0, 1.0))
        return seconds / numbers * size

    def iterations(self, size: int, seconds: float) -> float:
        """Predict the number of iterations that a solve can do within some seconds if two best responses follow.

        The result is below 1 if the time is too short for both best responses and one iteration.
        """
        rest = seconds - self.seconds("first", size) - 2 * self.seconds("judge", size)
        return 1 + rest / max(self.seconds("iterate", size), 1e-9)

    def took(self, stage: Stage, size: int, seconds: float, whole: bool = True) -> None:
        """Record how long a stage took.

        Args:
            size: size of the subgame; if the stage was repeated n times, n times the size.
            whole: whether the stage was completed. The speed of an incomplete stage is never recorded as the stage's
                fastest measured speed.
        """
        self._spent["iterate" if stage in ("first", "deal") else stage] += seconds
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
            self._spent[stage] += time.monotonic() - began

    def take_spent(self) -> dict[str, float]:
        """Return the seconds spent on each stage since the last call of this method.

        The seconds of first iterations and of deals are included in those of the stage ``iterate``.
        """
        spent = dict(self._spent)
        self._spent.clear()
        return spent

    def require(self, deadline: float | None, size: int, *stages: Stage) -> None:
        """Raise an `OutOfTimeError` unless the stages can be completed before a deadline; None: no limit."""
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

    def _refuse(self, stage: Stage) -> None:
        """Count a refusal; after `PATIENCE` refusals, replace the stage's speed by its fastest measured speed."""
        self._refused[stage] += 1
        if self._refused[stage] == PATIENCE:
            _, numbers = self._done[stage]
            self._done[stage] = self._fastest[stage] * numbers, numbers
            del self._refused[stage]
