"""Representatives of weighted samples: one per cluster, chosen so that their weighted mean is close to the whole mean.

Ward's linkage makes the clusters, and a representative has the weight of its cluster. If each representative were the
member nearest to the mean of its cluster, all representatives would be ordinary samples. So they are chosen together:
the search starts with the members nearest to the means. Then each cluster in turn exchanges its representative for the
member that brings the weighted mean of all representatives nearest to the mean of all samples, until no representative
changes.

With feature rows x, weights w, clusters C_j of weight m_j = Σ_{i in C_j} w_i and representatives s_j, the exchanges
minimise ``|Σ_j m_j x[s_j] - Σ_i w_i x[i]|²``. Of equally good members the first is chosen.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from buckets.abstraction.agglomeration import MergeTree, merge_tree
from buckets.abstraction.cut import cluster_means, cut_labels
from buckets.types import Ints

MAX_SWEEPS = 100
"""Largest number of passes over all clusters; flops need four to eight (measured)."""


class Representatives(NamedTuple):
    """Representatives of all samples; clusters are in the order of their representatives' indices.

    Attributes:
        samples: ``[cluster]``, the index of the sample that represents each cluster.
        weights: ``[cluster]``, the weight of all samples of the cluster.
        labels: ``[sample]``, the cluster of each sample.
    """

    samples: Ints
    weights: Ints
    labels: Ints


def representatives(
    rows: NDArray[np.integer], weights: NDArray[np.integer], n: int, tree: MergeTree | None = None
) -> Representatives:
    """Choose `n` representatives, or one for each different sample if there are fewer.

    The result is the same on every machine, because sums and squares of integers are exact.

    Args:
        rows: ``[sample, feature]``; the sum of all squares of features times weights must fit into 63 bits.
        weights: ``[sample]``, at least 1.
        n: number of representatives, at least 1.
        tree: the merge tree of the samples; None: compute it.
    """
    features = np.asarray(rows, dtype=np.int64)
    known = tree or ward_tree(features, weights)
    curves = features.astype(np.float64)
    clusters = cut_labels(known, n, curves.mean(axis=1), weights.astype(np.float64))
    mass = np.bincount(clusters, weights=weights).astype(np.int64)
    members = [np.flatnonzero(clusters == j) for j in range(len(mass))]
    means = cluster_means(curves, weights, clusters)
    nearest = [
        int(cluster[np.argmin(((curves[cluster] - mean) ** 2).sum(axis=1))])
        for cluster, mean in zip(members, means, strict=True)
    ]
    chosen = _balanced(features, np.asarray(weights, dtype=np.int64) @ features, mass, members, nearest)
    order = np.argsort(chosen)
    return Representatives(chosen[order], mass[order], np.argsort(order)[clusters])


def ward_tree(rows: Ints, weights: NDArray[np.integer]) -> MergeTree:
    """Compute the merge tree of samples by Ward's linkage; ``rows`` is ``[sample, feature]``."""
    shifted = (rows - rows.min(initial=0)).astype(np.float64)
    return merge_tree(shifted, weights.astype(np.float64), max_factor=False)


def _balanced(rows: Ints, wanted: Ints, mass: Ints, members: list[Ints], first: list[int]) -> Ints:
    """Improve the representatives `first` of the clusters by exchanges; return the index of each representative.

    The search brings the sum of the representatives' feature rows, times the weights of their clusters, close to
    `wanted`.

    Args:
        rows: ``[sample, feature]``.
        wanted: ``[feature]``, the sum of all samples' rows times their weights.
        mass: ``[cluster]``, the weight of each cluster.
        members: for each cluster the indices of its samples.
        first: for each cluster the index of the representative with which the search starts.
    """
    chosen = np.array(first, dtype=np.int64)
    error = mass @ rows[chosen] - wanted
    for _ in range(MAX_SWEEPS):
        before = chosen.copy()
        for j, cluster in enumerate(members):
            without = error - mass[j] * rows[chosen[j]]
            squares = ((without + mass[j] * rows[cluster]) ** 2).sum(axis=1)
            chosen[j] = cluster[np.argmin(squares)]
            error = without + mass[j] * rows[chosen[j]]
        if np.array_equal(chosen, before):
            break
    return chosen
