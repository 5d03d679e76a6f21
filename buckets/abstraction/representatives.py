"""Representatives of weighted samples: one per cluster, with a weighted mean close to that of all samples.

Ward's linkage makes the clusters, and a representative has the weight of its cluster. The members nearest to the means
of the clusters would all be ordinary, and the extreme members of every cluster would be missing. So the representatives
are chosen together: starting with the nearest members, each cluster in turn takes the member that brings the weighted
mean of all representatives nearest to the mean of all samples, until no representative changes.

With rows x, weights w, clusters C_j of weight m_j = Σ_{i in C_j} w_i and representatives s_j, the exchanges minimise
``|Σ_j m_j x[s_j] - Σ_i w_i x[i]|²``. Of equally good members the first is taken.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from buckets.abstraction.agglomeration import MergeTree, merge_tree
from buckets.abstraction.cut import cluster_means, cut_labels
from buckets.types import Ints

MAX_SWEEPS = 100
"""Largest number of sweeps over all clusters; flops need four to eight (measured)."""


class Representatives(NamedTuple):
    """Samples that represent all samples.

    Attributes:
        samples: ``[cluster]``, the number of the representative.
        weights: ``[cluster]``, the weight of all samples of the cluster.
        labels: ``[sample]``, the cluster of each sample; clusters are in the order of their representatives' numbers.
    """

    samples: Ints
    weights: Ints
    labels: Ints


def representatives(
    rows: NDArray[np.integer], weights: NDArray[np.integer], n: int, tree: MergeTree | None = None
) -> Representatives:
    """Choose `n` representatives, or as many as there are different samples.

    The result is the same on every machine, because sums and squares of whole numbers are exact.

    Args:
        rows: ``[sample, feature]``; the sum of all squares of features times weights must fit into 63 bits.
        weights: ``[sample]``, at least 1.
        n: number of representatives, at least 1.
        tree: the merge tree of the samples; None: computed here.
    """
    features = np.asarray(rows, dtype=np.int64)
    known = tree or ward_tree(features, weights)
    curves = features.astype(np.float64)
    clusters = cut_labels(known, n, curves.mean(axis=1), weights.astype(np.float64))
    mass = np.bincount(clusters, weights=weights).astype(np.int64)
    members = [np.flatnonzero(clusters == j) for j in range(len(mass))]
    means = cluster_means(curves, weights, clusters)
    nearest = [
        int(some[np.argmin(((curves[some] - mean) ** 2).sum(axis=1))])
        for some, mean in zip(members, means, strict=True)
    ]
    chosen = _balanced(features, np.asarray(weights, dtype=np.int64) @ features, mass, members, nearest)
    order = np.argsort(chosen)
    return Representatives(chosen[order], mass[order], np.argsort(order)[clusters])


def ward_tree(rows: Ints, weights: NDArray[np.integer]) -> MergeTree:
    """Merge samples by Ward's linkage."""
    shifted = (rows - rows.min(initial=0)).astype(np.float64)
    return merge_tree(shifted, weights.astype(np.float64), max_factor=False)


def _balanced(rows: Ints, wanted: Ints, mass: Ints, members: list[Ints], first: list[int]) -> Ints:
    """Choose one representative a cluster by local search, so that weighted feature rows add up to `wanted`."""
    chosen = np.array(first, dtype=np.int64)
    off = mass @ rows[chosen] - wanted
    for _ in range(MAX_SWEEPS):
        before = chosen.copy()
        for j, some in enumerate(members):
            without = off - mass[j] * rows[chosen[j]]
            left = ((without + mass[j] * rows[some]) ** 2).sum(axis=1)
            chosen[j] = some[np.argmin(left)]
            off = without + mass[j] * rows[chosen[j]]
        if np.array_equal(chosen, before):
            break
    return chosen
