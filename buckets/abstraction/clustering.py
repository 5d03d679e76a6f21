"""Clusterings of hands and of boards as scikit-learn estimators.

`OutcomeClustering` clusters hands by Equation 1 of the Spewy Louie Jr. paper. `BoardClustering` clusters boards by
Ward's linkage or mini-batch k-means, refined by k-means.
"""

import warnings
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, check_random_state, validate_data
from threadpoolctl import threadpool_limits

from buckets.abstraction.agglomeration import (
    MergeTree,
    cluster_means,
    cut_labels,
    merge_tree,
    nearest,
    number_by_mean,
    positive_weights,
)
from buckets.errors import BoardError

if TYPE_CHECKING:
    from sklearn.cluster import KMeans

AGGLOMERATED = 2500
"""Largest number of different samples for Ward's linkage: hold'em has fewer flops; its turns would take minutes."""

MAX_STEPS = 50
"""Largest number of steps of k-means; after twenty steps the explained variance changes by less than 0.1 %."""

SAMPLED = 150_000
"""Largest number of different samples from which k-means finds the means: hold'em has fewer rivers as sets of cards.

Of the 652,353 rivers with a turn before them, a random sample of this size finds the means.
"""

BATCH = 4096


class OutcomeClustering(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Agglomerative clustering of hands by Equation 1 of the Spewy Louie Jr. paper (`agglomeration` has the equation).

    A sample is a row: the sorted outcomes of a hand (`buckets.abstraction.outcomes`). After one fit, `cut` returns
    labels for any number of clusters. Rows that are not sorted cause a warning, since Equation 1 compares the k-th
    smallest outcomes of hands.

    Args:
        n_clusters: largest number of clusters of `labels_`.
        max_factor: whether Equation 1 has its last factor, as published; False: Ward's linkage.

    Attributes:
        labels_: ``[n_samples]``, clusters numbered from the smallest mean outcome to the largest.
        children_: ``[n_samples - 1, 2]``, the two clusters that each step merged. Clusters 0 to n_samples - 1 are
            single samples, and step s makes cluster n_samples + s.
        distances_: ``[n_samples - 1]``, the cost of each merge. A later merge can be cheaper than an earlier one.
        n_leaves_: n_samples.
        n_distinct_: number of different rows; equal rows are in one cluster.
        n_clusters_: number of clusters of `labels_`.
        cluster_centers_: ``[n_clusters_, n_outcomes]``, the weighted mean of the rows of each cluster.
        n_features_in_: number of outcomes per row.

    >>> curves = [[0.1, 0.2], [0.8, 0.9], [0.1, 0.3], [0.8, 0.9]]
    >>> OutcomeClustering(n_clusters=2).fit(curves).labels_.tolist()
    [0, 1, 0, 1]
    """

    labels_: NDArray[np.int32]
    children_: NDArray[np.int64]
    distances_: NDArray[np.float64]
    n_leaves_: int
    n_distinct_: int
    n_clusters_: int
    cluster_centers_: NDArray[np.float64]
    n_features_in_: int

    def __init__(self, n_clusters: int = 40, *, max_factor: bool = True) -> None:
        self.n_clusters = n_clusters
        self.max_factor = max_factor

    def fit(self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Merge the rows of X until one cluster remains, and set `labels_` for `n_clusters` clusters.

        Args:
            X: (n_samples, n_outcomes), sorted within each row, at least 0.
            y: ignored; scikit-learn's estimators have this argument.
            sample_weight: (n_samples,), at least 0, not all 0; None: each row weighs 1. A row without weight does not
                change the means, and joins the cluster where it costs least.

        Raises:
            ValueError: X is not finite or has negative values, or a weight is negative, or all weights are 0.
        """
        rows = validate_data(self, X, dtype=np.float64, ensure_non_negative=True)
        _warn_of_unsorted(rows)
        weights = positive_weights(sample_weight, len(rows))
        tree = merge_tree(rows, weights, max_factor=self.max_factor)
        self.children_, self.distances_, self.n_distinct_ = tree
        self.n_leaves_ = len(rows)
        self._leaf_means, self._leaf_weights = rows.mean(axis=1), weights
        self.labels_ = self.cut(self.n_clusters)
        self.n_clusters_ = int(self.labels_.max()) + 1
        self.cluster_centers_ = cluster_means(rows, weights, self.labels_)
        if self.n_clusters_ < self.n_clusters:
            message = f"n_clusters={self.n_clusters}: found only {self.n_clusters_} different rows, so as many clusters"
            warnings.warn(message, ConvergenceWarning, stacklevel=2)
        return self

    def predict(self, X: ArrayLike) -> NDArray[np.int32]:
        """Return the cluster with the nearest mean for each row: (n_samples,); of equally near clusters the first.

        The distance of a row o from a mean c is Equation 1 for a single row, ``Σ_k (o(k) - c(k))² · max(o(k), c(k))``,
        without the last factor if `max_factor` is False. For some rows of the fit the result differs from `labels_`,
        since another cluster can have a nearer mean.

        Args:
            X: (n_samples, n_outcomes), as in `fit`.
        """
        rows, centers = self._compared(X)
        return nearest(rows, centers, max_factor=self.max_factor)

    def transform(self, X: ArrayLike) -> NDArray[np.floating]:
        """Compute the distance of each row from each cluster's mean, as in `predict`: ``[n_samples, n_clusters_]``.

        Args:
            X: (n_samples, n_outcomes), as in `fit`.
        """
        rows, centers = self._compared(X)
        out = np.empty((len(rows), len(centers)), dtype=rows.dtype)
        for c, center in enumerate(centers):
            costs = (rows - center) ** 2
            out[:, c] = (costs * np.maximum(rows, center) if self.max_factor else costs).sum(axis=1)
        return out

    def score(self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None) -> float:
        """Return minus the weighted sum of the distances of rows from their nearest means: higher is better.

        Args:
            X: (n_samples, n_outcomes), as in `fit`.
            y: ignored; scikit-learn's estimators have this argument.
            sample_weight: (n_samples,), as in `fit`.
        """
        costs = self.transform(X).min(axis=1)
        return -float(positive_weights(sample_weight, len(costs)) @ costs)

    def _compared(self, X: ArrayLike) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
        check_is_fitted(self, "cluster_centers_")
        rows = validate_data(
            self, X, reset=False, dtype=[np.float64, np.float32], order="C", ensure_non_negative=True
        )
        _warn_of_unsorted(rows)
        return rows, self.cluster_centers_.astype(rows.dtype)

    @property
    def _n_features_out(self) -> int:
        # scikit-learn reads this attribute: the number of columns of `transform`
        return self.n_clusters_

    def cut(self, n_clusters: int) -> NDArray[np.int32]:
        """Return labels (n_samples,) for another number of clusters, without another fit."""
        check_is_fitted(self, "children_")
        tree = MergeTree(self.children_, self.distances_, self.n_distinct_)
        return cut_labels(tree, n_clusters, self._leaf_means, self._leaf_weights)

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn that outcomes are not negative, and that `transform` preserves the precision."""
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _warn_of_unsorted(rows: NDArray[np.floating]) -> None:
    falls = (rows[:, 1:] < rows[:, :-1]).any(axis=1)
    if falls.any():
        counts = f"{falls.sum():,} of {len(rows):,} unsorted (the first is row {falls.argmax()})"
        message = f"outcomes: expected each row sorted from low to high, found {counts}"
        warnings.warn(message, UserWarning, stacklevel=3)


class BoardClustering(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Clustering of weighted samples that minimises the variance within clusters.

    The first clusters come from Ward's linkage for up to 2,500 different samples, from mini-batch k-means for more.
    Then k-means, on one thread, moves samples to the nearest mean. If there are more than 150,000 samples, the means
    come from a random part of the samples. Equal input gives equal labels.

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
        check_is_fitted(self, "cluster_centers_")
        rows = validate_data(self, X, reset=False, dtype=np.float64, order="C")
        return nearest(rows, self.cluster_centers_, max_factor=False)


def _clusters(
    rows: NDArray[np.float64], weights: NDArray[np.float64], n_clusters: int, seed: int
) -> NDArray[np.int32]:
    if len(rows) > SAMPLED:
        chosen = np.random.default_rng(seed).choice(len(rows), SAMPLED, replace=False)
        found = _k_means(rows[chosen].astype(np.float32), weights[chosen], n_clusters, seed)
        return np.asarray(found.predict(rows.astype(np.float32)), dtype=np.int32)
    return np.asarray(_k_means(rows, weights, n_clusters, seed).labels_, dtype=np.int32)


def _k_means(rows: NDArray[Any], weights: NDArray[np.float64], n_clusters: int, seed: int) -> "KMeans":
    """Return k-means fitted to rows, all of which differ; there are more rows than clusters."""
    from sklearn.cluster import KMeans, MiniBatchKMeans  # `OutcomeClustering` does without

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
    """Return the explained share of the variance, given the mean of each sample's cluster."""
    overall = np.average(rows, axis=0, weights=weights)
    all_in = float(weights @ ((rows - overall) ** 2).sum(axis=1))
    within = float(weights @ ((rows - centers) ** 2).sum(axis=1))
    return 1 - within / all_in if all_in > 0 else 1.0
