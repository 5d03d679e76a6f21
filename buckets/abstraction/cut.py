"""Cluster numbers from a merge tree that is cut at a number of clusters, and helpers for weighted clusters."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from buckets.abstraction.agglomeration import MergeTree, clusters_of
from buckets.cards.hands import check_weights
from buckets.errors import BoardError, RangeError
from buckets.types import Floats

#: Weight that a row without weight gets, in units of the smallest positive weight.
WEIGHTLESS = 1e-9


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

    Args:
        clusters: (n,), the cluster of each member.
        means: (n,), the mean of each member.
        weights: (n,), the weight of each member.

    Returns:
        (n,), the new number of each member's cluster.
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


def positive_weights(weights: ArrayLike | None, n_rows: int) -> Floats:
    """Check the weights of a clustering, and replace weights of 0 by a tiny weight (`WEIGHTLESS`).

    Args:
        weights: (n_rows,), or one number for all rows; None: each row weighs 1.
        n_rows: number of rows.

    Raises:
        RangeError: the weights have another shape, a weight is negative or not finite, or all weights are zero.
    """
    if weights is None:
        return np.ones(n_rows)
    array = np.asarray(weights)
    checked = check_weights(np.full(n_rows, array) if array.ndim == 0 else array, n_rows, "row")
    if n_rows and not checked.any():
        raise RangeError(f"weights: expected at least one above 0, got {n_rows} zeros")
    return np.where(checked > 0, checked, WEIGHTLESS * checked[checked > 0].min(initial=np.inf))
