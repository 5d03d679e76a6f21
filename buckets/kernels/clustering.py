"""Kernels of the clusterings: agglomeration with cached nearest neighbours, and the nearest center of each row.

See `buckets.abstraction.agglomeration`. The argument ``max_factor`` says whether costs and distances are those of
Equation 1. If False, the last factor of Equation 1 is left out: costs are Ward's linkage, distances squared Euclidean.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from buckets.types import Array, Floats, Ints
from compiled import kernel, part

_BLOCK = 32  # number of terms between two comparisons with the limit


@kernel
def pass_down(top: Ints, children: Ints, n_leaves: int) -> None:
    """Replace each cluster's own number, ``top[cluster]``, by the number of the cluster that contains it at the end.

    ``children[merge, 2]`` are the two clusters of each merge; merge s makes cluster ``n_leaves + s``.
    """
    for step in range(len(children) - 1, -1, -1):
        top[children[step, 0]] = top[children[step, 1]] = top[n_leaves + step]


class _Clusters(NamedTuple):
    """The remaining clusters, in arrays with a slot for each of the m curves at the start.

    A merged cluster takes over the slot of one of the two clusters, and the other slot becomes free.

    Attributes:
        curves: (m, n_outcomes), the curve of each cluster.
        weights: (m,), the weight of each cluster.
        numbers: (m,), the number of each cluster; -1: the slot is free.
        means: (m,), the mean of each curve.
        nearest: (m,), the slot of the nearest cluster with a smaller number.
        nearest_number: (m,), the number of the nearest cluster.
        cost: (m,), the cost of merging a cluster with its nearest cluster; only a lower bound after the nearest cluster
            was merged with another one.
        order: the used slots by ascending mean, then free slots; neighbours in this order are likely to be near.
    """

    curves: Floats
    weights: NDArray[Any]
    numbers: Ints
    means: Floats
    nearest: Ints
    nearest_number: Ints
    cost: Floats
    order: Ints


@kernel
def merge_distinct(
    curves: Floats,
    weights: NDArray[Any],
    numbers: Ints,
    max_factor: bool,
    children: Ints,
    distances: Floats,
    next_number: int,
) -> None:
    """Merge m different curves until one cluster remains.

    Args:
        curves: (m, n_outcomes), overwritten.
        weights: (m,), the weight of each curve, overwritten.
        numbers: (m,), the cluster number of each curve, overwritten.
        children: (m - 1, 2), output: the two clusters of each merge, the smaller number first.
        distances: (m - 1,), output: the cost of each merge.
        next_number: number of the cluster that the first merge makes.
    """
    m = len(curves)
    means = np.empty(m)
    for slot in range(m):
        means[slot] = curves[slot].mean()
    clusters = _Clusters(
        curves,
        weights,
        numbers,
        means,
        np.full(m, -1),
        np.full(m, -1),
        np.full(m, np.inf),
        np.argsort(means, kind="mergesort"),
    )
    for place in range(m):
        _find_nearest(clusters, place, m, max_factor)
    for step in range(m - 1):
        n_left = m - step
        high = _cheapest(clusters, n_left)
        while numbers[clusters.nearest[high]] != clusters.nearest_number[high]:
            _find_nearest(clusters, _place(clusters, high, n_left), n_left, max_factor)
            high = _cheapest(clusters, n_left)
        low = clusters.nearest[high]
        children[step, 0] = numbers[low]
        children[step, 1] = numbers[high]
        distances[step] = clusters.cost[high]
        _remove(clusters, high, n_left)
        _remove(clusters, low, n_left - 1)
        share = weights[high] / (weights[low] + weights[high])
        curves[low] += (curves[high] - curves[low]) * share
        weights[low] += weights[high]
        means[low] = curves[low].mean()
        numbers[high] = -1
        numbers[low] = next_number + step
        _find_nearest(clusters, _insert(clusters, low, n_left - 2), n_left - 1, max_factor)


@part
def _find_nearest(clusters: _Clusters, place: int, n_left: int, max_factor: bool) -> None:
    """Find the nearest cluster, among those with smaller numbers, of the cluster in slot ``clusters.order[place]``.

    The result goes into `nearest`, `nearest_number` and `cost` of `clusters`. The search goes up and down the order
    from index ``place``, since neighbours are likely to be near. ``n_left`` is the number of remaining clusters.
    """
    slot = clusters.order[place]
    number, mean, weight = clusters.numbers[slot], clusters.means[slot], clusters.weights[slot]
    best, best_number, best_slot = np.inf, -1, -1
    below, above = place - 1, place + 1
    while below >= 0 or above < n_left:
        downward = above >= n_left or (
            below >= 0
            and mean - clusters.means[clusters.order[below]] <= clusters.means[clusters.order[above]] - mean
        )
        other = clusters.order[below] if downward else clusters.order[above]
        if downward:
            below -= 1
        else:
            above += 1
        other_number = clusters.numbers[other]
        if other_number > number:
            continue
        scale = weight * clusters.weights[other] / (weight + clusters.weights[other])
        cost = _merge_cost(clusters.curves[slot], clusters.curves[other], scale, best, max_factor)
        if cost < best or (cost == best and (other_number < best_number or best_number < 0)):
            best, best_number, best_slot = cost, other_number, other
    clusters.nearest[slot] = best_slot
    clusters.nearest_number[slot] = best_number
    clusters.cost[slot] = best


# The compiler may reorder sums, and so vectorise them; both orders of a pair of clusters give the same bits.
@kernel(fastmath={"reassoc", "contract"})
def _merge_cost(first: Floats, second: Floats, scale: float, limit: float, max_factor: bool) -> float:
    """Return the cost of merging two curves, or infinity as soon as the partial sum exceeds the limit.

    ``scale`` is the product of the two weights divided by their sum.
    """
    total = 0.0
    n = len(first)
    start = 0
    while start < n:
        end = min(start + _BLOCK, n)
        part = 0.0
        if max_factor:
            for k in range(start, end):
                gap = first[k] - second[k]
                part += gap * gap * (first[k] if first[k] > second[k] else second[k])
        else:
            for k in range(start, end):
                gap = first[k] - second[k]
                part += gap * gap
        total += part
        if scale * total > limit:
            return np.inf
        start = end
    return scale * total


@part
def _cheapest(clusters: _Clusters, n_left: int) -> int:
    """Return the slot of the cluster that is cheapest to merge with its nearest cluster.

    Of pairs with equal costs, the pair with the smallest numbers is chosen. ``n_left`` clusters remain.
    """
    best: int = clusters.order[0]
    for place in range(1, n_left):
        slot = clusters.order[place]
        if clusters.cost[slot] > clusters.cost[best] or clusters.nearest[slot] < 0:
            continue
        if (
            clusters.nearest[best] < 0
            or clusters.cost[slot] < clusters.cost[best]
            or clusters.nearest_number[slot] < clusters.nearest_number[best]
            or (
                clusters.nearest_number[slot] == clusters.nearest_number[best]
                and clusters.numbers[slot] < clusters.numbers[best]
            )
        ):
            best = slot
    return best


@part
def _place(clusters: _Clusters, slot: int, n_left: int) -> int:
    """Return the index of a slot in ``clusters.order``, whose first `n_left` elements are in use."""
    place: int = np.searchsorted(clusters.means[clusters.order[:n_left]], clusters.means[slot])
    while clusters.order[place] != slot:
        place += 1
    return place


@part
def _remove(clusters: _Clusters, slot: int, n_left: int) -> None:
    for place in range(_place(clusters, slot, n_left), n_left - 1):
        clusters.order[place] = clusters.order[place + 1]


@part
def _insert(clusters: _Clusters, slot: int, n_left: int) -> int:
    """Insert a slot into ``clusters.order``, behind slots with an equal mean; return its index.

    ``n_left`` is the number of elements in use before the insertion.
    """
    place = n_left
    while place > 0 and clusters.means[clusters.order[place - 1]] > clusters.means[slot]:
        clusters.order[place] = clusters.order[place - 1]
        place -= 1
    clusters.order[place] = slot
    return place


@kernel
def fill_nearest(rows: Array, centers: Array, max_factor: bool, out: Array) -> None:
    """Write the number of the nearest center of each row ``[row, feature]`` into ``out[row]``; the first of equals."""
    for i in range(len(rows)):
        best = np.inf
        for c in range(len(centers)):
            cost = _weighted_gap(rows[i], centers[c]) if max_factor else _gap(rows[i], centers[c])
            if cost < best:
                best = cost
                out[i] = c


# The compiler may reorder sums, and so vectorise them.
@kernel(fastmath={"reassoc", "contract", "nnan", "nsz"})
def _weighted_gap(first: Array, second: Array) -> Any:
    total = first.dtype.type(0)
    for k in range(len(first)):
        gap = first[k] - second[k]
        total += gap * gap * max(first[k], second[k])
    return total


@kernel(fastmath={"reassoc", "contract"})
def _gap(first: Array, second: Array) -> Any:
    total = first.dtype.type(0)
    for k in range(len(first)):
        gap = first[k] - second[k]
        total += gap * gap
    return total
