"""How a merge tree becomes labels: cut at a number of clusters, numbered from the weakest to the strongest."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from buckets.abstraction.agglomeration import Floats, MergeTree, clusters_of
from buckets.errors import BoardError, RangeError

#: What a row without weight weighs, in units of the smallest positive weight: next to nothing.
WEIGHTLESS = 1e-9


def cut_labels(
    tree: MergeTree, n_clusters: int, leaf_means: Floats, leaf_weights: Floats
) -> NDArray[np.int32]:
    """Cut a tree at min(n_clusters, n_distinct) clusters; number them by mean, of equals by first leaf.

    Args:
        tree: of n leaves.
        n_clusters: at least 1.
        leaf_means: (n,), by which clusters are numbered.
        leaf_weights: (n,), by which leaves count in the mean of a cluster.

    Returns:
        (n,), the cluster of each leaf.
    """
    if n_clusters < 1:
        raise BoardError(f"clusters: expected at least 1, got {n_clusters!r}")
    n_leaves = len(leaf_means)
    n_merges = n_leaves - min(n_clusters, tree.n_distinct)
    return number_by_mean(clusters_of(tree.children[:n_merges], n_leaves), leaf_means, leaf_weights)


def number_by_mean(clusters: NDArray[np.integer], means: Floats, weights: Floats) -> NDArray[np.int32]:
    """Number clusters, whatever their names (n,), from the smallest weighted mean up; of equals by first member."""
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
    """The weighted mean row of each cluster: (n_clusters, n_features), labels from 0 without gaps."""
    sums = np.zeros((int(labels.max()) + 1, rows.shape[1]))
    np.add.at(sums, labels, rows * weights[:, None])
    means: Floats = sums / np.bincount(labels, weights=weights)[:, None]
    return means


def check_weights(weights: ArrayLike | None, n_rows: int) -> Floats:
    """Weights as clustering takes them: positive, those of weightless rows next to nothing.

    Raises:
        RangeError: another shape than (n_rows,), a number that is not finite or negative, or all zero.
    """
    if weights is None:
        return np.ones(n_rows)
    checked = np.array(weights, dtype=np.float64)
    if checked.ndim == 0:
        checked = np.full(n_rows, checked)
    if checked.shape != (n_rows,):
        raise RangeError(f"weights: expected shape ({n_rows},), got {checked.shape}")
    wrong = ~((checked >= 0) & np.isfinite(checked))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise RangeError(f"weight of row {row}: expected a finite number of at least 0, got {checked[row]}")
    if n_rows and not checked.any():
        raise RangeError(f"weights: expected at least one above 0, got {n_rows} zeros")
    return np.where(checked > 0, checked, WEIGHTLESS * checked[checked > 0].min(initial=np.inf))
