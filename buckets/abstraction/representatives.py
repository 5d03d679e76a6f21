"""Representatives of weighted samples: one of each cluster, so that their weighted mean is that of all.

Samples are merged by Ward's linkage, and a representative stands for its cluster with the cluster's weight. The members
nearest to the clusters' means would all be ordinary, and what is extreme in every cluster would be missing from their
means. So representatives are chosen together: cluster by cluster the member that brings the weighted mean of all
representatives nearest to that of all samples, from the ordinary ones on, until none changes.

With rows x, weights w, clusters C_j of weight m_j = Σ_{i in C_j} w_i and representatives s_j, what becomes small is
``|Σ_j m_j x[s_j] - Σ_i w_i x[i]|²``. Of equals the first sample is taken.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from buckets.abstraction.agglomeration import MergeTree, merge_tree
from buckets.abstraction.cut import cluster_means, cut_labels
from buckets.types import Ints

MAX_SWEEPS = 100
"""Over all clusters; measured: flops need four to eight."""


class Representatives(NamedTuple):
    """Some samples that stand for all.

    Attributes:
        samples: ``[cluster]``, the number of the sample that stands for it.
        weights: ``[cluster]``, of all samples of the cluster.
        labels: ``[sample]``, its cluster; clusters are numbered by their representatives' numbers.
    """

    samples: Ints
    weights: Ints
    labels: Ints


def representatives(
    rows: NDArray[np.integer], weights: NDArray[np.integer], n: int, tree: MergeTree | None = None
) -> Representatives:
    """Choose ``n`` representatives, or fewer where fewer samples are different.

    Whole numbers make the answer the same on every machine: sums and squares of them are exact.

    Args:
        rows: ``[sample, feature]``; features times the sum of weights, squared and summed, fit into 63 bits.
        weights: ``[sample]``, at least 1.
        n: at least 1.
        tree: of the samples, where it is known.
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
    """Exchange representatives within their clusters until no exchange brings their sum nearer to the one wanted."""
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
