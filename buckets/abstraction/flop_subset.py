"""Weighted subsets of hold'em's 1,755 flops whose average equities are nearly those of all flops.

The features of a flop come from sixty random pairs of sixteen random ranges. Each pair gives twenty features: the
equity of one range against the other, and for each equity of 1/20, 2/20, ..., 19/20 the share of the range's hands
with a lower equity; each minus its average over all flops. The features of all pairs are projected on their 64 longest
principal axes and rounded. `benchmarks.studies.flop_subsets` computes the features.

`representatives` chooses one flop of each cluster, so that the weighted mean of the chosen flops is close to the mean
of all flops. Ward's linkage makes the clusters, and a representative has the weight of its cluster. If each
representative were the member nearest to the mean of its cluster, all representatives would be ordinary samples. So
they are chosen together: the search starts with the members nearest to the means. Then each cluster in turn exchanges
its representative for the member that brings the weighted mean of all representatives nearest to the mean of all
samples, until no representative changes.

With feature rows x, weights w, clusters C_j of weight m_j = Σ_{i in C_j} w_i and representatives s_j, the exchanges
minimise ``|Σ_j m_j x[s_j] - Σ_i w_i x[i]|²``. Of equally good members the first is chosen.
"""

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from buckets.abstraction.agglomeration import MergeTree, cluster_means, cut_labels, merge_tree
from buckets.cards.cards import cards_name
from buckets.cards.symmetry import canonical_flops
from buckets.errors import BoardError
from buckets.types import Ints

N_FLOPS = 1755

TABLE = Path(__file__).parents[1] / "data" / "flops.npy"
"""File with the features of all flops: ``[flop, axis]``, in the order of `buckets.cards.canonical_flops`."""

MAX_SWEEPS = 100
"""Largest number of passes over all clusters; flops need four to eight (measured)."""


class FlopSubset(NamedTuple):
    """Flops that represent all flops.

    Attributes:
        flops: ``[flop, card]``, the cards of each flop ascending.
        counts: ``[flop]``, number of hold'em's 22,100 flops that each flop represents.
    """

    flops: NDArray[np.int64]
    counts: NDArray[np.int64]

    def named(self) -> dict[str, int]:
        """Return the number of flops that each flop represents, by the flop's name with high cards first."""
        names = (cards_name(flop[::-1]) for flop in self.flops.tolist())
        return dict(zip(names, self.counts.tolist(), strict=True))


def flop_subset(n: int) -> FlopSubset:
    """Return a subset of `n` flops; it is the same on every machine.

    Raises:
        BoardError: `n` is less than 1 or more than 1,755.

    >>> flop_subset(25).counts.sum()
    np.int64(22100)
    """
    if not 1 <= n <= N_FLOPS:
        raise BoardError(f"subset of flops: expected 1 to {N_FLOPS:,} flops, found {n:,}")
    flops, counts = canonical_flops()
    chosen = representatives(flop_features(), counts, n, _tree())
    return FlopSubset(flops[chosen.samples], chosen.weights)


@lru_cache(maxsize=1)
def flop_features() -> NDArray[np.int16]:
    """Return 64 numbers for each flop, which describe the equities of random ranges on it: ``[flop, axis]``.

    Flops are in the order of `canonical_flops`; the module's docstring describes the numbers.
    """
    table: NDArray[np.int16] = np.load(TABLE, allow_pickle=False)
    table.flags.writeable = False
    return table


@lru_cache(maxsize=1)
def _tree() -> MergeTree:
    return ward_tree(flop_features().astype(np.int64), canonical_flops()[1])


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
    """Choose at most `n` different samples, whose weighted mean is close to the weighted mean of all samples.

    The result is the same on every machine, because sums and squares of integers are exact.

    Args:
        rows: ``[sample, feature]``; the sum of all squares of features times weights must fit into 63 bits.
        weights: ``[sample]``, at least 1.
        n: number of samples to choose, at least 1.
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
    shifted = (rows - rows.min(initial=0)).astype(np.float64)
    return merge_tree(shifted, weights.astype(np.float64), max_factor=False)


def _balanced(rows: Ints, wanted: Ints, mass: Ints, members: list[Ints], first: list[int]) -> Ints:
    """Improve the representatives ``first[cluster]`` by exchanges; return the index of each representative.

    The search brings the sum of the representatives' rows ``[sample, feature]``, times ``mass[cluster]``, the weight of
    each cluster, close to `wanted`, the sum of all samples' rows times their weights.
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
