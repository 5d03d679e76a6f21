"""The deals of an interval, cut into shares for copies that learn apart (`spewy.learn.deal_copy`).

A class of boards that several copies visit takes the mean of what they have learnt, so it moves a share as far as all
of them have moved it (`spewy.learn.exchange`). One that a single copy visits moves as far as with one thread. So a
share are the deals whose last boards are of certain classes: the last round has the most numbers by far and the fewest
visits, and nothing of it is lost. Where a share would have few such classes, it is as many deals as any other, one
after the other: else a copy would learn the rounds before against one kind of last board alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from solvers.forest import Ints

if TYPE_CHECKING:
    from buckets import Abstraction

FEWEST_CLASSES = 8
"""Of the last round, that a share has."""
COUNTED = 1 << 15
"""Deals by which classes are handed out, so that shares are alike."""


class Interval(NamedTuple):
    """Deals one after the other, and how many shares they are cut into."""

    first: int
    n: int
    shares: int


class Shares:
    """Cuts intervals of an abstraction's deals, which a seed decides."""

    def __init__(self, abstraction: Abstraction, seed: int) -> None:
        self._abstraction, self._seed = abstraction, seed
        self._owners: dict[int, Ints | None] = {}

    def deals(self, interval: Interval, share: int) -> Ints:
        """The numbers of a share's deals, ascending; all shares together have each deal once."""
        first, n, shares = interval
        owners = self.owners(shares)
        if owners is None:
            begin, end = (first + i * n // shares for i in (share, share + 1))
            return np.arange(begin, end, dtype=np.int64)
        classes = self._abstraction.last_classes(self._seed, first, n)
        return first + np.flatnonzero(owners[classes] == share).astype(np.int64)

    def owners(self, shares: int) -> Ints | None:
        """``[class]`` of the last round: the share that it belongs to; None: there are too few for that.

        Each class, the most frequent first, goes to the share that has the fewest deals so far.
        """
        if shares not in self._owners:
            self._owners[shares] = self._found(shares)
        return self._owners[shares]

    def _found(self, shares: int) -> Ints | None:
        n_classes = self._abstraction.n_classes[-1]
        if shares == 1 or n_classes < FEWEST_CLASSES * shares:
            return None
        counts = np.bincount(self._abstraction.last_classes(self._seed, 0, COUNTED), minlength=n_classes)
        owners, dealt = np.empty(n_classes, dtype=np.int64), np.zeros(shares, dtype=np.int64)
        for class_ in np.argsort(-counts, kind="stable"):
            owners[class_] = dealt.argmin()
            dealt[owners[class_]] += counts[class_]
        return owners
