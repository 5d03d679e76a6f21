"""The deals of an interval, cut into shares for copies that learn apart (`spewy.learn.deal_copy`).

A class of boards that several copies visit takes the mean of what they have learnt, so it moves a share as far as all
of them have moved it (`spewy.learn.exchange`). One that a single copy visits moves as far as with one thread, and is of
no interest to the others. So a share are all deals with certain classes of boards: of the first board, where later
classes tell that one's, so that everything after the first round is one copy's own; else of the last board, since the
last round has the most numbers by far and the fewest visits. Where a share would have few such classes, it is as many
deals as any other, one after the other: else a copy would learn the other rounds against one kind of board alone.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from solvers.tree import Ints

if TYPE_CHECKING:
    from buckets.abstraction import Abstraction

FEWEST_CLASSES = 8
"""That a share has."""
COUNTED = 1 << 15
"""Deals by which classes are handed out, so that shares are alike."""


class Interval(NamedTuple):
    """Deals one after the other, and how many shares they are cut into."""

    first: int
    n: int
    shares: int


class Cut:
    """An interval that is cut.

    Attributes:
        owners: ``[deal]``, its share.
        classes: ``[deal, t]``.
    """

    def __init__(self, interval: Interval, owners: Ints, classes: Ints, n_classes: tuple[int, ...]) -> None:
        self._interval, self._n_classes = interval, n_classes
        self.owners, self.classes = owners, classes

    def deals(self, share: int) -> Ints:
        """The numbers of a share's deals, ascending; all shares together have each deal once."""
        return self._interval.first + np.flatnonzero(self.owners == share).astype(np.int64)

    def visited(self, share: int, t: int) -> np.ndarray:
        """``[class]``: whether a share visits it."""
        seen = np.zeros(self._n_classes[t], dtype=np.bool_)
        seen[self.classes[self.owners == share, t]] = True
        return seen

    @cached_property
    def alone(self) -> list[np.ndarray]:
        """Per round ``[class]``: whether at most one share visits it."""
        shares = range(self._interval.shares)
        return [
            np.sum([self.visited(share, t) for share in shares], axis=0) < 2
            for t in range(len(self._n_classes))
        ]


class Shares:
    """Cuts intervals of an abstraction's deals, which a seed decides."""

    def __init__(self, abstraction: Abstraction, seed: int) -> None:
        self._abstraction, self._seed = abstraction, seed
        self._owners: dict[int, tuple[int, Ints] | None] = {}

    def cut(self, interval: Interval) -> Cut:
        """Cut an interval: the same everywhere and whenever it is asked for."""
        first, n, shares = interval
        classes = self._abstraction.classes_of_deals(self._seed, first, n)
        found = self.owners(shares)
        in_turn = np.arange(n, dtype=np.int64) * shares // max(n, 1)
        owners = in_turn if found is None else found[1][classes[:, found[0]]]
        return Cut(interval, owners, classes, self._abstraction.n_classes)

    def owners(self, shares: int) -> tuple[int, Ints] | None:
        """A round, and the share of each of its classes; None: there are too few for that."""
        if shares not in self._owners:
            made = self._abstraction
            rounds = (made.first, made.n_rounds - 1) if made.all_remember else (made.n_rounds - 1,)
            enough = (t for t in rounds if t < made.n_rounds and made.n_classes[t] >= FEWEST_CLASSES * shares)
            t = None if shares == 1 else next(enough, None)
            self._owners[shares] = None if t is None else (t, self._shared_out(t, shares))
        return self._owners[shares]

    def _shared_out(self, t: int, shares: int) -> Ints:
        """Each class, the most frequent first, to the share that has the fewest deals so far."""
        n_classes = self._abstraction.n_classes[t]
        dealt = self._abstraction.classes_of_deals(self._seed, 0, COUNTED)[:, t]
        counts = np.bincount(dealt, minlength=n_classes)
        owners, so_far = np.empty(n_classes, dtype=np.int64), np.zeros(shares, dtype=np.int64)
        for class_ in np.argsort(-counts, kind="stable"):
            owners[class_] = so_far.argmin()
            so_far[owners[class_]] += counts[class_]
        return owners
