"""Hierarchical agglomerative clustering of *curves*, the sorted outcomes of hands (`buckets.abstraction.outcomes`).

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
from numpy.typing import ArrayLike, NDArray

from buckets.cards.hands import check_weights
from buckets.errors import BoardError, RangeError
from buckets.types import Floats, Ints

WEIGHTLESS = 1e-9
"""Weight that a row without weight gets, in units of the smallest positive weight."""


class MergeTree(NamedTuple):
    """All merges of n curves (the leaves of the tree), in order.

    Attributes:
        children: (n - 1, 2), the two clusters that each step merges, the smaller number first. The curves are clusters
            0 to n - 1, and step s makes cluster n + s.
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
        max_factor: whether the cost of a merge is Equation 1 (see the module); False: Equation 1 without its last
            factor, which is Ward's linkage.
    """
    from buckets.kernels.clustering import merge_distinct

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
    from buckets.kernels.clustering import pass_down

    top = np.arange(n_leaves + len(children))
    pass_down(top, np.asarray(children, dtype=np.int64), n_leaves)
    return top[:n_leaves]


def _merge_identical(curves: Floats, children: Ints) -> tuple[Ints, Ints]:
    """Write the merges of identical curves into `children`; return the remaining clusters, and a leaf of each."""
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


def cut_labels(
    tree: MergeTree, n_clusters: int, leaf_means: Floats, leaf_weights: Floats
) -> NDArray[np.int32]:
    """Cut a merge tree at a number of clusters, and number the clusters by their means.

    Args:
        tree: a tree with n leaves.
        n_clusters: number of clusters, at least 1; there are fewer if the tree has fewer different leaves.
        leaf_means: (n,), mean of each leaf.
        leaf_weights: (n,), weight of each leaf in the mean of its cluster.

    Returns:
        (n,), the cluster of each leaf. Clusters with equal means are in order of their first leaves.
    """
    if n_clusters < 1:
        raise BoardError(f"clusters: expected at least 1, got {n_clusters!r}")
    n_leaves = len(leaf_means)
    n_merges = n_leaves - min(n_clusters, tree.n_distinct)
    return number_by_mean(clusters_of(tree.children[:n_merges], n_leaves), leaf_means, leaf_weights)


def number_by_mean(clusters: NDArray[np.integer], means: Floats, weights: Floats) -> NDArray[np.int32]:
    """Renumber clusters from the smallest weighted mean up; clusters with equal means in order of their first members.

    All arrays have the shape (n,): each member's cluster, mean and weight, and the new number of its cluster.
    """
    _, first, member_of = np.unique(clusters, return_index=True, return_inverse=True)
    mean = np.bincount(member_of, weights=weights * means) / np.bincount(member_of, weights=weights)
    number = np.empty(len(first), dtype=np.int32)
    number[np.lexsort((first, mean))] = np.arange(len(first))
    labels: NDArray[np.int32] = number[member_of]
    return labels


def cluster_means(
    rows: NDArray[np.floating],
    weights: NDArray[np.floating] | NDArray[np.integer],
    labels: NDArray[np.integer],
) -> Floats:
    """Compute the weighted mean row of each cluster: (n_clusters, n_features).

    ``labels`` (n_rows,) are the clusters of the rows, numbered from 0 without gaps.
    """
    sums = np.zeros((int(labels.max()) + 1, rows.shape[1]))
    np.add.at(sums, labels, rows * weights[:, None])
    means: Floats = sums / np.bincount(labels, weights=weights)[:, None]
    return means


def nearest(
    rows: NDArray[np.floating], centers: NDArray[np.floating], *, max_factor: bool = True
) -> NDArray[np.int32]:
    """Return the number of the nearest center for each row; of equally near centers the first.

    The distance of a row o from a center c is Equation 1 for a single row, ``Σ_k (o(k) - c(k))² · max(o(k), c(k))``,
    without the last factor if `max_factor` is False.
    """
    from buckets.kernels.clustering import fill_nearest

    out = np.empty(len(rows), dtype=np.int32)
    fill_nearest(rows, centers, max_factor, out)
    return out


def positive_weights(weights: ArrayLike | None, n_rows: int) -> Floats:
    """Check the weights of a clustering, and replace weights of 0 by a tiny weight (`WEIGHTLESS`).

    ``weights`` is (n_rows,), or one number for all rows; None: each row weighs 1.
    """
    if weights is None:
        return np.ones(n_rows)
    array = np.asarray(weights)
    checked = check_weights(np.full(n_rows, array) if array.ndim == 0 else array, n_rows, "row")
    if n_rows and not checked.any():
        raise RangeError(f"weights: expected at least one above 0, got {n_rows} zeros")
    return np.where(checked > 0, checked, WEIGHTLESS * checked[checked > 0].min(initial=np.inf))
