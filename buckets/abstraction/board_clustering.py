"""Clustering of boards as a scikit-learn estimator: Ward's linkage or mini-batch k-means, refined by k-means."""

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans, MiniBatchKMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, check_random_state, validate_data
from threadpoolctl import threadpool_limits

from buckets.abstraction.agglomeration import merge_tree
from buckets.abstraction.cut import cluster_means, cut_labels, number_by_mean, positive_weights
from buckets.errors import BoardError

AGGLOMERATED = 2500
"""Largest number of different samples for Ward's linkage: hold'em has fewer flops; its turns would take minutes."""

MAX_STEPS = 50
"""Largest number of steps of k-means; after twenty steps the explained variance changes by less than 0.1 %."""

SAMPLED = 150_000
"""Largest number of different samples from which k-means finds the means: hold'em has fewer rivers as sets of cards.

Of the 652,353 rivers with a turn before them, a random sample of this size finds the means.
"""

BATCH = 4096


class BoardClustering(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Clustering of weighted samples that minimises the variance within clusters.

    Ward's linkage makes the first clusters of up to 2,500 different samples, mini-batch k-means the first clusters of
    more samples. Then k-means, on one thread, moves samples to the nearest mean. Of more than 150,000 samples a random
    sample finds the means. Equal input gives equal labels.

    Args:
        n_clusters: largest number of clusters.
        random_state: seed of mini-batch k-means and of the random sample.

    Attributes:
        labels_: ``[n_samples]``, clusters numbered from the smallest weighted mean feature to the largest; clusters
            with equal means in order of their first members.
        cluster_centers_: ``[n_clusters_, n_features]``, weighted means.
        n_clusters_: number of clusters; at most the number of different samples.
        explained_: share of the weighted variance that the clusters explain; 1: each cluster is one point.
        n_features_in_: number of features.

    >>> BoardClustering(n_clusters=2).fit([[0.0, 1.0], [5.0, 5.0], [0.1, 1.0]]).labels_.tolist()
    [0, 1, 0]
    """

    labels_: NDArray[np.int32]
    cluster_centers_: NDArray[np.float64]
    n_clusters_: int
    explained_: float
    n_features_in_: int

    def __init__(self, n_clusters: int = 100, *, random_state: int | None = 0) -> None:
        self.n_clusters = n_clusters
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Cluster the rows of X.

        Args:
            X: (n_samples, n_features).
            y: ignored; scikit-learn's estimators have this argument.
            sample_weight: (n_samples,), at least 0, not all 0; None: each row weighs 1.

        Raises:
            ValueError: X is not finite, a weight is negative, all weights are 0, or `n_clusters` is below 1.
        """
        if self.n_clusters < 1:
            raise BoardError(f"board_buckets: expected at least 1, got {self.n_clusters!r}")
        rows = validate_data(self, X, dtype=np.float64)
        weights = positive_weights(sample_weight, len(rows))
        distinct, of = np.unique(rows, axis=0, return_inverse=True)
        mass = np.bincount(of, weights=weights).astype(np.float64)
        if len(distinct) <= self.n_clusters:
            clusters = np.arange(len(distinct), dtype=np.int32)
        else:
            seed = check_random_state(self.random_state).randint(2**31 - 1)
            with threadpool_limits(1):  # the order of sums would vary with several threads
                clusters = _clusters(distinct, mass, self.n_clusters, seed)
        self.labels_ = number_by_mean(clusters[of], rows.mean(axis=1), weights)
        self.n_clusters_ = int(self.labels_.max()) + 1
        self.cluster_centers_ = cluster_means(rows, weights, self.labels_)
        self.explained_ = _explained(rows, weights, self.cluster_centers_[self.labels_])
        if self.n_clusters_ < self.n_clusters:
            message = (
                f"n_clusters={self.n_clusters}: found only {self.n_clusters_} clusters of different rows"
            )
            warnings.warn(message, ConvergenceWarning, stacklevel=2)
        return self

    def predict(self, X: ArrayLike) -> NDArray[np.int32]:
        """Return the cluster with the nearest mean for each row: (n_samples,); of equally near clusters the first."""
        from buckets.abstraction.clustering import nearest

        check_is_fitted(self, "cluster_centers_")
        rows = validate_data(self, X, reset=False, dtype=np.float64, order="C")
        return nearest(rows, self.cluster_centers_, max_factor=False)


def _clusters(
    rows: NDArray[np.float64], weights: NDArray[np.float64], n_clusters: int, seed: int
) -> NDArray[np.int32]:
    """Return the cluster of each row; all rows differ, and there are more rows than clusters."""
    if len(rows) > SAMPLED:
        chosen = np.random.default_rng(seed).choice(len(rows), SAMPLED, replace=False)
        found = _k_means(rows[chosen].astype(np.float32), weights[chosen], n_clusters, seed)
        return np.asarray(found.predict(rows.astype(np.float32)), dtype=np.int32)
    return np.asarray(_k_means(rows, weights, n_clusters, seed).labels_, dtype=np.int32)


def _k_means(rows: NDArray[Any], weights: NDArray[np.float64], n_clusters: int, seed: int) -> KMeans:
    """Return k-means fitted to rows, all of which differ; there are more rows than clusters."""
    if len(rows) <= AGGLOMERATED:
        tree = merge_tree(rows, weights, max_factor=False)
        labels = cut_labels(tree, n_clusters, rows.mean(axis=1), weights)
        start = cluster_means(rows, weights, labels)
    else:
        first = MiniBatchKMeans(
            n_clusters, batch_size=BATCH, n_init=1, random_state=seed, compute_labels=False
        )
        start = first.fit(rows, sample_weight=weights).cluster_centers_
    means = KMeans(n_clusters, init=start, n_init=1, max_iter=MAX_STEPS, random_state=seed)
    return means.fit(rows, sample_weight=weights)


def _explained(
    rows: NDArray[np.float64], weights: NDArray[np.float64], centers: NDArray[np.float64]
) -> float:
    """Return the explained share of the variance: 1 minus the variance within clusters divided by the whole variance.

    ``centers`` (n_samples, n_features) are the means of the samples' clusters.
    """
    overall = np.average(rows, axis=0, weights=weights)
    all_in = float(weights @ ((rows - overall) ** 2).sum(axis=1))
    within = float(weights @ ((rows - centers) ** 2).sum(axis=1))
    return 1 - within / all_in if all_in > 0 else 1.0
