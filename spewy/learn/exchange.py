"""What copies of a solve by deals have learnt apart from each other, added up.

Copies begin with the same numbers, deal different boards, and are put together: what the first has learnt is taken as
it is, of the others what they have more than before. An increment is what visits brought, and no more: regrets below
0 sink and sums lose weight with each visit, which is not the visits' own and is done again, once, to the numbers that
an increment is added to. Were the plain differences of three copies added up, a regret below 0 that each of them has
halved would end above 0. With ``V`` visits before and ``m`` more, and ``sunk`` the product of the factors that these
visits take regrets below 0 by:

    increment = after - sunk(V, m) * before          of regrets below 0 before
    increment = after - (V / (V + m))^a * before     of sums

One copy alone thus leaves what it would have left by itself, bit for bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from solvers.forest import Floats, Ints
from solvers.sampled.numbers import Numbers, Pair
from solvers.sampled.passes import Schedule


class Part(NamedTuple):
    """Numbers of some classes of a round, or increments of them.

    Attributes:
        t: the round.
        classes: ``[n]``, ascending.
        regrets, sums: per player ``[n, number]``.
        visits: ``[player, n]``.
    """

    t: int
    classes: Ints
    regrets: Pair
    sums: Pair
    visits: Ints

    @property
    def n_bytes(self) -> int:
        """Of all arrays."""
        return sum(array.nbytes for array in (self.classes, *self.regrets, *self.sums, self.visits))


def copied(numbers: Numbers, t: int, classes: Ints) -> Part:
    """A copy of what some classes have."""
    regrets, sums = (_of_classes(pair, numbers, t, classes) for pair in (numbers.regrets[t], numbers.sums[t]))
    return Part(t, classes, regrets, sums, numbers.visits[t][:, classes])


def put(numbers: Numbers, part: Part) -> None:
    """Have some classes have what is given."""
    kept = zip((*numbers.regrets[part.t], *numbers.sums[part.t]), (*part.regrets, *part.sums), strict=True)
    for whole, some in kept:
        _rows(whole, numbers, part.t)[part.classes] = some
    numbers.visits[part.t][:, part.classes] = part.visits


def increments(before: Part, after: Part, schedule: Schedule) -> Part:
    """What visits have brought; the visits are how many there were."""
    more = after.visits - before.visits
    regrets, sums = _weakened(before, more, schedule)

    def left(found: Pair, weakened: Pair) -> Pair:
        first, second = (a - b for a, b in zip(found, weakened, strict=True))
        return first, second

    return Part(before.t, before.classes, left(after.regrets, regrets), left(after.sums, sums), more)


def add(numbers: Numbers, part: Part, schedule: Schedule) -> None:
    """Add increments to what the numbers have now."""
    now = copied(numbers, part.t, part.classes)
    regrets, sums = _weakened(now, part.visits, schedule)

    def total(weakened: Pair, found: Pair) -> Pair:
        first, second = (_kept(a + b, numbers) for a, b in zip(weakened, found, strict=True))
        return first, second

    visits = now.visits + part.visits
    put(numbers, Part(part.t, part.classes, total(regrets, part.regrets), total(sums, part.sums), visits))


def _weakened(part: Part, more: Ints, schedule: Schedule) -> tuple[Pair, Pair]:
    """Regrets and sums as so many visits leave them that bring nothing; in 32 bits.

    Regrets of a player weaken with its own visits, its sums with the opponent's, on which they grow.
    """
    regrets, sums = [], []
    for p in (0, 1):
        kept, sunk = _factors(part.visits[p], more[p], schedule)
        found = part.regrets[p].astype(np.float32)
        regrets.append(found * np.where(found > 0, kept[:, None], sunk[:, None]))
        visits = part.visits[1 - p]
        weight = (visits / np.maximum(visits + more[1 - p], 1)) ** schedule.averaging
        sums.append(part.sums[p].astype(np.float32) * weight.astype(np.float32)[:, None])
    return (regrets[0], regrets[1]), (sums[0], sums[1])


def _factors(visits: Ints, more: Ints, schedule: Schedule) -> tuple[Floats, Floats]:
    """``[n]``: what visits ``V .. V + m - 1`` multiply regrets by, those above 0 and those below."""
    numbers = [np.arange(first, first + n, dtype=np.float64) for first, n in zip(visits, more, strict=True)]
    kept = _products(numbers, schedule.forgetting) if schedule.forgetting > 0 else np.ones(len(numbers))
    sunk = _products(numbers, schedule.sinking) if schedule.sinking >= 0 else (more == 0).astype(float)
    return kept.astype(np.float32), (kept * sunk).astype(np.float32)


def _products(numbers: Sequence[Floats], power: float) -> Floats:
    return np.array([np.prod(some**power / (some**power + 1)) for some in numbers])


def _kept(values: np.ndarray, numbers: Numbers) -> np.ndarray:
    """Values in the bits that numbers have, as large as fits there."""
    kind = numbers.regrets[0][0].dtype
    most = np.finfo(kind).max
    out: np.ndarray = np.clip(values, -most, most).astype(kind)
    return out


def _of_classes(pair: Pair, numbers: Numbers, t: int, classes: Ints) -> Pair:
    first, second = (_rows(whole, numbers, t)[classes] for whole in pair)
    return first, second


def _rows(whole: np.ndarray, numbers: Numbers, t: int) -> np.ndarray:
    """``[class, number]``: a view."""
    n_classes = numbers.visits[t].shape[1]
    return whole.reshape(n_classes, -1)
