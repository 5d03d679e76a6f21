"""Hierarchical agglomerative clustering of sorted outcomes by the cost of merging two clusters.

The cost of a merge is Equation 1 of the Spewy Louie Jr. paper. Clusters i and j have the weights w_i and w_j and the
curves o_i and o_j, and their weighted average is a = (w_i o_i + w_j o_j) / (w_i + w_j):

``cost(i, j) = Σ_k (w_i (o_i(k) - a(k))² + w_j (o_j(k) - a(k))²) · max(o_i(k), o_j(k))``

which equals ``w_i w_j / (w_i + w_j) · Σ_k (o_i(k) - o_j(k))² · max(o_i(k), o_j(k))``. Because of the last factor, a
difference between good outcomes costs more than a difference between bad outcomes; without this factor the cost is
Ward's linkage. Each step merges the cheapest pair into a cluster with weight w_i + w_j and curve a.

Clusters are numbered as in scikit-learn: the n curves are clusters 0 to n - 1, and step s makes cluster n + s. Of pairs
with equal costs the pair with the smallest lower number is merged, then the pair with the smallest higher number.

For speed, each cluster remembers the nearest cluster among those with *smaller* numbers, so a new cluster, which has
the largest number, does not change what other clusters remember. After the nearest cluster was merged with a third, the
remembered cost is still a lower bound; it is computed again only when it is the smallest of all. The summation of a
cost stops as soon as it exceeds the smallest cost so far (see D. Müllner, "Modern hierarchical, agglomerative
clustering algorithms", 2011).
"""

from typing import NamedTuple

import numpy as np

from buckets.types import Floats, Ints


class MergeTree(NamedTuple):
    """All merges of n curves (the leaves of the tree), in order.

    Attributes:
        children: (n - 1, 2), the two clusters that each step merges, the smaller number first.
        distances: (n - 1,), the cost of each merge. The first n - n_distinct steps merge identical curves and cost 0.
        n_distinct: number of different curves.
    """

    children: Ints
    distances: Floats
    n_distinct: int


def merge_tree(curves: Floats, weights: Floats, *, max_factor: bool = True) -> MergeTree:
    """Merge the cheapest pair of clusters of curves again and again until one cluster remains.

    Args:
        curves: (n, n_outcomes). If ``max_factor`` is True, outcomes must be at least 0 and ascend within each row.
        weights: (n,), above 0.
        max_factor: whether the cost of a merge is Equation 1; False: Equation 1 without its last factor, which is
            Ward's linkage.
    """
    from buckets.kernels.agglomeration import merge_distinct

    n = len(curves)
    children = np.empty((max(n - 1, 0), 2), dtype=np.int64)
    distances = np.zeros(max(n - 1, 0))
    numbers, leaf = _merge_identical(curves, children)
    n_distinct = len(numbers)
    done = n - n_distinct
    mass = np.bincount(clusters_of(children[:done], n), weights=weights, minlength=n + done)
    distinct = np.ascontiguousarray(curves[leaf], dtype=np.float64)
    merge_distinct(distinct, mass[numbers], numbers, max_factor, children[done:], distances[done:], n + done)
    return MergeTree(children, distances, n_distinct)


def clusters_of(children: Ints, n_leaves: int) -> Ints:
    """Return the cluster of each leaf after the merges ``children`` (n_merges, 2): shape (n_leaves,)."""
    from buckets.kernels.agglomeration import pass_down

    top = np.arange(n_leaves + len(children))
    pass_down(top, np.asarray(children, dtype=np.int64), n_leaves)
    return top[:n_leaves]


def _merge_identical(curves: Floats, children: Ints) -> tuple[Ints, Ints]:
    """Write the merges of identical curves into `children`.

    Returns:
        The numbers of the remaining clusters, ascending, and the number of one leaf of each.
    """
    n = len(curves)
    alike: dict[bytes, list[int]] = {}
    for leaf, curve in enumerate(curves + 0.0):  # adding 0.0 turns -0.0 into 0.0
        alike.setdefault(curve.tobytes(), []).append(leaf)
    leaf_of = [members[0] for members in alike.values()]
    members_of = {leaf: members for members in alike.values() for leaf in members}
    number = step = 0
    while step < n - len(alike):
        # Numbers ascend within a group, and a merge appends a larger number, so one pass upward finds every pair.
        members = members_of[number]
        if members[0] == number and len(members) > 1:
            children[step] = members[:2]
            members[:2] = []
            members.append(n + step)
            members_of[n + step] = members
            step += 1
        number += 1
    numbers = np.array([members[0] for members in alike.values()], dtype=np.int64)
    ascending = np.argsort(numbers)
    return numbers[ascending], np.array(leaf_of, dtype=np.int64)[ascending]
