"""Hierarchical agglomerative clustering of sorted outcomes by the cost of merging two clusters.

The cost of a merge is what it loses, Equation 1 of the Spewy Louie Jr. paper: for clusters i and j with
weights w and curves o, and with their weighted average a = (w_i o_i + w_j o_j) / (w_i + w_j),

``cost(i, j) = Σ_k (w_i (o_i(k) - a(k))² + w_j (o_j(k) - a(k))²) · max(o_i(k), o_j(k))``

which is, and is computed as, ``w_i w_j / (w_i + w_j) · Σ_k (o_i(k) - o_j(k))² · max(o_i(k), o_j(k))``. The last
factor makes a difference between good outcomes cost more than one between bad outcomes; without it this is
Ward's linkage. At each step the cheapest pair is merged into a cluster of weight w_i + w_j and curve a.

Clusters are numbered as in scikit-learn: leaves 0 to n - 1, and what step s makes is n + s. Of pairs that cost
the same the one with the smallest lower number is merged, then the one with the smallest higher number.

Each cluster keeps its nearest among those with *smaller* numbers, so a new cluster, whose number is the
largest, changes nobody else's. Where the nearest has been merged away, the kept cost still is a lower bound,
and is renewed only when it is the smallest of all. A cost is abandoned as soon as its partial sum exceeds what
it has to beat (D. Müllner, "Modern hierarchical, agglomerative clustering algorithms", 2011, for the rest).
"""

from typing import NamedTuple

import numpy as np

from buckets.types import Floats, Ints


class MergeTree(NamedTuple):
    """All merges of n leaves, in order.

    Attributes:
        children: ``[step]``: the two clusters merged, the smaller number first; shape (n - 1, 2).
        distances: ``[step]``: the cost of the merge; the first n - n_distinct are 0.
        n_distinct: how many different curves there are; no cut goes below what is identical.
    """

    children: Ints
    distances: Floats
    n_distinct: int


def merge_tree(curves: Floats, weights: Floats, *, max_factor: bool = True) -> MergeTree:
    """Merge n curves (n, n_outcomes), nonnegative, of positive weights (n,) until one cluster is left."""
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
    """The number of the cluster that each leaf is in after some merges: shape (n_leaves,)."""
    from buckets.kernels.agglomeration import pass_down

    top = np.arange(n_leaves + len(children))
    pass_down(top, np.asarray(children, dtype=np.int64), n_leaves)
    return top[:n_leaves]


def _merge_identical(curves: Floats, children: Ints) -> tuple[Ints, Ints]:
    """Write the merges that cost nothing; return the clusters left, ascending, and a leaf of each."""
    n = len(curves)
    alike: dict[bytes, list[int]] = {}
    for leaf, curve in enumerate(curves + 0.0):  # which turns -0.0 into 0.0
        alike.setdefault(curve.tobytes(), []).append(leaf)
    leaf_of = [members[0] for members in alike.values()]
    members_of = {leaf: members for members in alike.values() for leaf in members}
    number = step = 0
    while step < n - len(alike):
        # Numbers ascend within a group, and a merge appends the largest: one pass upward finds every pair.
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
