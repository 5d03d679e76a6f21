"""Regrets and sums of some board buckets, exchanged between the solve's process and workers that own flops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import poch

from solvers.sampled.numbers import Numbers, Pair
from solvers.tree import Ints


class Part(NamedTuple):
    """Regrets and sums of some buckets of a round.

    Attributes:
        t: the round.
        buckets: ``[n]``, each once.
        regrets, sums: per player ``[n, number]``.
        visits, ahead: ``[player, n]``, as `solvers.sampled.numbers.Numbers` has them.
    """

    t: int
    buckets: Ints
    regrets: Pair
    sums: Pair
    visits: Ints
    ahead: Ints


def part_of(numbers: Numbers, t: int, buckets: Ints) -> Part:
    """Copy the regrets and sums of some buckets."""
    (r0, r1), (s0, s1) = (
        tuple(_by_bucket(whole, numbers, t)[buckets] for whole in pair)
        for pair in (numbers.regrets[t], numbers.sums[t])
    )
    return Part(t, buckets, (r0, r1), (s0, s1), numbers.visits[t][:, buckets], numbers.ahead[t][:, buckets])


def put(numbers: Numbers, part: Part) -> None:
    """Overwrite the regrets and sums of some buckets."""
    wholes = (*numbers.regrets[part.t], *numbers.sums[part.t])
    for whole, some in zip(wholes, (*part.regrets, *part.sums), strict=True):
        _by_bucket(whole, numbers, part.t)[part.buckets] = some
    numbers.visits[part.t][:, part.buckets] = part.visits
    numbers.ahead[part.t][:, part.buckets] = part.ahead


def parts_of(numbers: Numbers, t: int, buckets: Ints, most_bytes: int) -> list[Ints]:
    """Split buckets of a round into pieces of at most ``most_bytes``; a larger bucket forms its own piece."""
    wholes = (*numbers.regrets[t], *numbers.sums[t])
    each = max(1, sum(whole.nbytes for whole in wholes) // numbers.visits[t].shape[1])
    at_once = max(1, most_bytes // each)
    return [buckets[first : first + at_once] for first in range(0, len(buckets), at_once)]


def averaged(before: Part, after: Sequence[Part], gamma: float) -> Part:
    """Merge the results of several shares for common buckets.

    With ``m_s`` visits of share s after ``V`` visits, ``M = sum m_s``, and the weight ``w(V, m)`` that ``m`` visits
    leave to the average of the ``V`` visits before them (`weight_left`):

        mean = sum_s m_s / M * regrets_s
        regrets = mean where that is below 0, since regrets sink there by a factor, else
                  max(0, before + sum_s (regrets_s - before))
        average = average + (1 - w(V, M)) * sum_s m_s / M * (average_s - average) / (1 - w(V, m_s))

    Args:
        before: the buckets before the visits.
        after: the buckets after the visits of each share.
        gamma: exponent of the weights of visits.
    """
    if len(after) == 1:
        return after[0]
    made = np.array([part.visits[:, 0] - before.visits[:, 0] for part in after])
    visits, total = before.visits[:, 0], made.sum(axis=0)
    regrets, sums = [], []
    for p in (0, 1):
        regrets.append(_added(before.regrets[p], [part.regrets[p] for part in after], made[:, p]))
        o = 1 - p  # a player's average moves when the other player learns
        change = np.zeros(before.sums[p].shape)
        for part, m in zip(after, made[:, o], strict=True):
            if m:
                own = 1 - weight_left(visits[o], m, gamma)
                change += m / total[o] * (part.sums[p].astype(np.float64) - before.sums[p]) / own
        whole = 1 - weight_left(visits[o], total[o], gamma)
        sums.append(np.maximum(before.sums[p] + whole * change, 0).astype(before.sums[p].dtype))
    ahead = before.ahead + sum(part.ahead - before.ahead for part in after)
    return Part(
        *(before.t, before.buckets, (regrets[0], regrets[1]), (sums[0], sums[1])),
        *(before.visits + total[:, None], np.maximum(ahead, 0)),
    )


def _added(before: np.ndarray, after: Sequence[np.ndarray], made: Ints) -> np.ndarray:
    """Merge the regrets from shares with ``made`` visits each."""
    total = made.sum()
    if not total:
        return before
    mean = sum(m / total * each.astype(np.float64) for m, each in zip(made, after, strict=True))
    whole = before + sum(each.astype(np.float64) - before for each in after)
    most = float(np.finfo(before.dtype).max)
    added: np.ndarray = np.where(mean < 0, mean, np.clip(whole, 0, most)).astype(before.dtype)
    return added


def weight_left(visits: Ints, more: Ints, gamma: float) -> np.ndarray:
    """Weight of an average over ``visits`` visits within the average after ``more`` further ones; 0 without visits.

    By `solvers.sampled.passes.share`, n visits together weigh ``n (n + 1) .. (n + a)``, where ``a`` is ``gamma``.
    """
    weight: np.ndarray = poch(visits, gamma + 1) / poch(np.maximum(visits + more, 1), gamma + 1)
    return weight


def is_part(part: Any, numbers: Numbers) -> bool:
    """Whether a value is a valid `Part` with finite numbers and no bucket twice."""
    n_buckets = [visits.shape[1] for visits in numbers.visits]
    if not isinstance(part, Part) or part.t not in range(len(n_buckets)):
        return False
    n, whole = len(part.buckets), (*numbers.regrets[part.t], *numbers.sums[part.t])
    fits = all(
        one.shape == (n, len(like) // n_buckets[part.t])
        and one.dtype == like.dtype
        and bool(np.isfinite(one).all())
        for one, like in zip((*part.regrets, *part.sums), whole, strict=True)
    )
    return (
        fits
        and len(np.unique(part.buckets)) == n
        and bool(np.isin(part.buckets, np.arange(n_buckets[part.t])).all())
        and all(counts.shape == (2, n) and bool((counts >= 0).all()) for counts in (part.visits, part.ahead))
    )


def _by_bucket(whole: np.ndarray, numbers: Numbers, t: int) -> np.ndarray:
    """Return the view ``[bucket, number]``."""
    return whole.reshape(numbers.visits[t].shape[1], -1)
