"""Regrets and strategy sums of some board buckets, as a solve on a cluster exchanges them with its workers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import poch

from solvers.sampled.numbers import Arrays, Numbers
from solvers.tree import Ints


class Part(NamedTuple):
    """Regrets and strategy sums of some board buckets of a round.

    Attributes:
        t: the round.
        buckets: numbers of the buckets, each once.
        regrets: regrets of each player, and of each rival if there are rivals, ``[bucket, index within the bucket]``.
        sums: strategy sums of each player, ``[bucket, index within the bucket]``.
        visits: number of visits, ``[player, bucket]``.
        ahead: ``[player, bucket]``, how many of these visits belong to deals that are not yet counted as finished.
    """

    t: int
    buckets: Ints
    regrets: Arrays
    sums: Arrays
    visits: Ints
    ahead: Ints


def part_of(numbers: Numbers, t: int, buckets: Ints) -> Part:
    """Copy regrets and strategy sums of board buckets of round t from ``numbers``, the arrays of the whole game."""
    regrets, sums = (
        tuple(_by_bucket(whole, numbers, t)[buckets] for whole in wholes)
        for wholes in (numbers.regrets[t], numbers.sums[t])
    )
    return Part(t, buckets, regrets, sums, numbers.visits[t][:, buckets], numbers.ahead[t][:, buckets])


def put(numbers: Numbers, part: Part) -> None:
    """Write the regrets, strategy sums and visits of ``part`` into ``numbers``, the arrays of the whole game."""
    wholes = (*numbers.regrets[part.t], *numbers.sums[part.t])
    for whole, values in zip(wholes, (*part.regrets, *part.sums), strict=True):
        _by_bucket(whole, numbers, part.t)[part.buckets] = values
    numbers.visits[part.t][:, part.buckets] = part.visits
    numbers.ahead[part.t][:, part.buckets] = part.ahead


def parts_of(numbers: Numbers, t: int, buckets: Ints, most_bytes: int) -> list[Ints]:
    """Split board buckets of round t into groups whose regrets and sums take at most ``most_bytes``.

    If a single bucket takes more, each group has one bucket.

    Args:
        numbers: regrets and strategy sums of the whole game, which say how many bytes a bucket takes.
        t: the round.
        buckets: numbers of the buckets.
        most_bytes: largest size of a group in bytes.
    """
    wholes = (*numbers.regrets[t], *numbers.sums[t])
    each = max(1, sum(whole.nbytes for whole in wholes) // numbers.visits[t].shape[1])
    at_once = max(1, most_bytes // each)
    return [buckets[first : first + at_once] for first in range(0, len(buckets), at_once)]


def averaged(before: Part, after: Sequence[Part], gamma: float) -> Part:
    """Merge the updates that several shares have made to the same board buckets.

    A bucket had ``V`` visits before the updates. Share s made ``m_s`` visits, and ``M = sum m_s``. ``w(V, m)`` is the
    weight that the first ``V`` visits keep in an average after ``m`` more visits (`weight_left`). ``regrets_s`` and
    ``average_s`` are the values after the updates of share s. Then:

        mean = sum_s m_s / M * regrets_s
        regrets = mean if mean < 0, else max(0, before + sum_s (regrets_s - before))
        average = average + (1 - w(V, M)) * sum_s m_s / M * (average_s - average) / (1 - w(V, m_s))

    Negative regrets are averaged, not added, because each visit multiplies them by a discount.

    Args:
        before: the buckets before the updates.
        after: for each share, the buckets after its updates.
        gamma: exponent of the weights of visits in the average strategies.
    """
    if len(after) == 1:
        return after[0]
    added = np.array([part.visits[:, 0] - before.visits[:, 0] for part in after])
    visits, total = before.visits[:, 0], added.sum(axis=0)
    regrets = tuple(
        _added(values, [part.regrets[i] for part in after], added[:, i % 2])
        for i, values in enumerate(before.regrets)
    )
    sums = []
    for p in (0, 1):
        o = 1 - p  # without CFR-BR, visits of the other player update p's average; both visit equally often
        change = np.zeros(before.sums[p].shape)
        for part, m in zip(after, added[:, o], strict=True):
            if m:
                own = 1 - weight_left(visits[o], m, gamma)
                change += m / total[o] * (part.sums[p].astype(np.float64) - before.sums[p]) / own
        whole = 1 - weight_left(visits[o], total[o], gamma)
        sums.append(np.maximum(before.sums[p] + whole * change, 0).astype(before.sums[p].dtype))
    ahead = before.ahead + sum(part.ahead - before.ahead for part in after)
    return Part(
        *(before.t, before.buckets, regrets, tuple(sums)),
        *(before.visits + total[:, None], np.maximum(ahead, 0)),
    )


def _added(before: np.ndarray, after: Sequence[np.ndarray], visits: Ints) -> np.ndarray:
    """Merge the regrets of several shares by the rule of `averaged`.

    If the mean of a regret over the shares is negative, the result is this mean. Otherwise it is the regret before the
    updates plus the changes of all shares, at least 0.

    Args:
        before: the regrets before the updates.
        after: for each share, the regrets after its updates.
        visits: number of visits that each share made.
    """
    total = visits.sum()
    if not total:
        return before
    mean = sum(m / total * each.astype(np.float64) for m, each in zip(visits, after, strict=True))
    whole = before + sum(each.astype(np.float64) - before for each in after)
    most = float(np.finfo(before.dtype).max)
    added: np.ndarray = np.where(mean < 0, mean, np.clip(whole, 0, most)).astype(before.dtype)
    return added


def weight_left(visits: Ints, more: Ints, gamma: float) -> np.ndarray:
    """Return the weight that the average of the first ``visits`` visits keeps after ``more`` visits; 0 for no visits.

    The first n visits together have the weight ``n (n + 1) .. (n + gamma)``, see `solvers.sampled.decisions.share`.
    """
    weight: np.ndarray = poch(visits, gamma + 1) / poch(np.maximum(visits + more, 1), gamma + 1)
    return weight


def is_part(part: Any, numbers: Numbers) -> bool:
    """Whether a value is a `Part` that fits the game of ``numbers``, with finite numbers and no bucket twice."""
    n_buckets = [visits.shape[1] for visits in numbers.visits]
    if not isinstance(part, Part) or part.t not in range(len(n_buckets)):
        return False
    n, whole = len(part.buckets), (*numbers.regrets[part.t], *numbers.sums[part.t])
    fits = all(
        values.shape == (n, len(like) // n_buckets[part.t])
        and values.dtype == like.dtype
        and bool(np.isfinite(values).all())
        for values, like in zip((*part.regrets, *part.sums), whole, strict=True)
    )
    return (
        fits
        and len(np.unique(part.buckets)) == n
        and bool(np.isin(part.buckets, np.arange(n_buckets[part.t])).all())
        and all(counts.shape == (2, n) and bool((counts >= 0).all()) for counts in (part.visits, part.ahead))
    )


def _by_bucket(whole: np.ndarray, numbers: Numbers, t: int) -> np.ndarray:
    """View ``whole``, a flat array of round t in ``numbers``, as ``[bucket, index within the bucket]``."""
    return whole.reshape(numbers.visits[t].shape[1], -1)
