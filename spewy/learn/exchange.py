"""Puts together what several copies of a solve by deals have learnt apart from each other.

Copies begin with the same numbers and deal different boards. If several copies have visited a class, it gets:

    regrets = the mean of the copies' regrets
    visits  = the visits before, plus the visits of all copies
    sums    = copy by copy: the mean of the average so far and of the copy's own average, by the weights of their visits

After ``V`` visits and ``m`` more, the average over the first ``V`` has the weight ``w(V, m)`` (`weight_left`) and the
``m`` later visits have the rest. A copy whose average was ``A'`` before its ``m`` visits and ``A`` after them has
played ``(A - w(V, m) A') / (1 - w(V, m))`` in these visits. So visits of copies count as if one copy had made them
after the other, and a single copy leaves what it would have left by itself.

A class can be ahead of the deals that are counted (`solvers.sampled.numbers.Numbers.ahead`). Then that many visits of
copies do not count again: what a share has learnt for the class counts with the rest of its visits, or not at all.

Regrets are not added up. Each copy answers to what it sees by itself, so that their increments together answer several
times, and play swings from one side to the other: three copies of Leduc end at 500 mbb instead of 20 (docs/scale.md).
Their mean loses nothing but scale, which regret matching does not know; but it moves a share as far as all copies have.
Where they meet so often that all increments are small beside the regrets, which grow like the square root of visits,
`summed` takes the increments of all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import poch

from solvers.discount import Discount
from solvers.sampled.numbers import Numbers, Pair
from solvers.tree import Ints


class Part(NamedTuple):
    """Numbers of some classes of a round.

    Attributes:
        t: the round.
        classes: ``[n]``, each once.
        regrets, sums: per player ``[n, number]``.
        visits: ``[player, n]``.
    """

    t: int
    classes: Ints
    regrets: Pair
    sums: Pair
    visits: Ints


def copied(numbers: Numbers, t: int, classes: Ints) -> Part:
    """A copy of what some classes have."""
    first, second = (
        tuple(_by_class(whole, numbers, t)[classes] for whole in pair)
        for pair in (numbers.regrets[t], numbers.sums[t])
    )
    return Part(t, classes, (first[0], first[1]), (second[0], second[1]), numbers.visits[t][:, classes])


def put(numbers: Numbers, part: Part) -> None:
    """Have some classes have what is given, as large as fits into the bits of the numbers."""
    wholes = (*numbers.regrets[part.t], *numbers.sums[part.t])
    for whole, some in zip(wholes, (*part.regrets, *part.sums), strict=True):
        most = np.finfo(whole.dtype).max
        _by_class(whole, numbers, part.t)[part.classes] = np.clip(some, -most, most)
    numbers.visits[part.t][:, part.classes] = part.visits


def added(before: Part, after: Part, discount: Discount, *, alone: np.ndarray) -> Part:
    """The part that a copy sends: its regrets, the number of its own visits, and the average over its own visits.

    Args:
        before: the classes' numbers before the copy's visits.
        after: the classes' numbers after the copy's visits.
        discount: weights of earlier visits.
        alone: ``[n]``, whether no other copy visits a class; its sums are then sent as they are.
    """
    made = after.visits - before.visits
    sums = []
    for p, (then, now) in enumerate(zip(before.sums, after.sums, strict=True)):
        left = weight_left(before.visits[1 - p], made[1 - p], discount.gamma)[:, None]
        played = (now - left * then) / np.maximum(1 - left, np.finfo(np.float64).tiny)
        sums.append(
            np.where(alone[:, None], now, played).astype(np.float32)
        )  # below 0 where rounding was down
    return Part(before.t, before.classes, after.regrets, (sums[0], sums[1]), made)


def summed(before: Part, mean: Part, copies: int) -> Part:
    """Classes with the increments of regrets of so many copies, which all have visited them, in place of their mean.

    Where the mean is below 0 it stays, since it sinks there by a factor; nothing else falls below 0.

    Args:
        before: with what they began.
        mean: what `Exchange` has made of them.
        copies: how many.
    """
    first, second = (
        np.where(now < 0, now, np.maximum(then + copies * (now - then), 0)).astype(now.dtype)
        for then, now in zip(before.regrets, mean.regrets, strict=True)
    )
    return mean._replace(regrets=(first, second))


class Exchange:
    """Puts together what copies have learnt that began with the same numbers.

    Args:
        numbers: with which they began; they become what all have learnt.
        discount: weights of earlier visits while learning.
        alone: per round ``[class]``, as `added` takes it.
    """

    def __init__(self, numbers: Numbers, discount: Discount, alone: Sequence[np.ndarray]) -> None:
        self._numbers, self._discount, self._alone = numbers, discount, alone
        self._copies = [np.zeros(visits.shape[1], dtype=np.int64) for visits in numbers.visits]

    def take(self, part: Part) -> None:
        """Add what a copy sends, as `added` returns it, to the numbers."""
        part = self._counted(part)
        now, copies = copied(self._numbers, part.t, part.classes), self._copies[part.t]
        copies[part.classes] += 1
        share = (1 / copies[part.classes]).astype(np.float32)[:, None]
        single, alone = share == 1, self._alone[part.t][part.classes][:, None]
        first, second = (
            np.where(single, new, mine + (new - mine) * share)  # of one copy, to the bit
            for mine, new in zip(now.regrets, part.regrets, strict=True)
        )
        sums = []
        for p, (old, new) in enumerate(zip(now.sums, part.sums, strict=True)):
            left = weight_left(now.visits[1 - p], part.visits[1 - p], self._discount.gamma)[:, None]
            merged = np.maximum(left * old + (1 - left) * new, 0)
            sums.append(np.where(alone, new, merged).astype(np.float32))
        put(
            self._numbers,
            Part(part.t, part.classes, (first, second), (sums[0], sums[1]), now.visits + part.visits),
        )

    def copies(self, t: int) -> Ints:
        """``[class]``: how many copies have told what counts of each class of round t."""
        return self._copies[t]

    def _counted(self, part: Part) -> Part:
        """A part without the visits that the numbers include already, and without classes that have no other visits."""
        ahead = self._numbers.ahead[part.t]
        again = np.minimum(ahead[:, part.classes], part.visits)
        if not again.any():
            return part
        ahead[:, part.classes] -= again
        visits = part.visits - again
        new = visits.any(axis=0)
        regrets, sums = ((first[new], second[new]) for first, second in (part.regrets, part.sums))
        return Part(part.t, part.classes[new], regrets, sums, visits[:, new])


def weight_left(visits: Ints, more: Ints, averaging: float) -> np.ndarray:
    """The weight of the average over ``visits`` visits in the average after ``more`` further ones; 0 without visits.

    By `solvers.sampled.passes.share`, n visits together weigh ``n (n + 1) .. (n + a)``, where ``a`` is ``gamma``.
    """
    weight: np.ndarray = poch(visits, averaging + 1) / poch(np.maximum(visits + more, 1), averaging + 1)
    return weight


def _by_class(whole: np.ndarray, numbers: Numbers, t: int) -> np.ndarray:
    """``[class, number]``: a view."""
    return whole.reshape(numbers.visits[t].shape[1], -1)
