"""Rows of a board bucket (a class of boards): the hands of its boards that play alike.

Before the last round hands are clustered by Equation 1 on their curves (`Percentiles.curves`), with one clustering per
class: it is fitted to a sample of the curves of the class, and every hand of every board gets the row with the nearest
mean. On final boards the only outcome of a hand is its grade, and rows are intervals of grades, so the row is a
nondecreasing function of strength. Rows are numbered from the weakest to the strongest. A class with fewer different
curves than rows has fewer rows.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from buckets.abstraction.agglomeration import merge_tree
from buckets.abstraction.clustering import OutcomeClustering, nearest
from buckets.abstraction.cut import cluster_means, cut_labels
from buckets.abstraction.percentiles import Percentiles, Progress
from buckets.abstraction.row_kinds import GRADES, NO_ROW
from buckets.types import Ints

CURVES = 600
"""Largest number of curves in the agglomeration."""

BOARDS_AT_ONCE = 64
"""Number of boards whose curves are in memory at once, and of random boards from which the rows of a class are made."""


def clustered_rows(
    percentiles: Percentiles,
    boards: Ints,
    counts: Ints,
    classes: Sequence[Ints],
    n_rows: int,
    n_points: int,
    seed: int,
    progress: Progress = lambda n: None,
) -> NDArray[np.uint8]:
    """Cluster the hands on boards of a round before the last: rows ``[board, hand]``, `NO_ROW`: blocked.

    Args:
        percentiles: the table of the game.
        boards: ``[board, card]``.
        counts: ``[board]``, number of boards for which each board stands.
        classes: the numbers of the boards of each class.
        n_rows: number of rows of each class, at most.
        n_points: number of points of a curve.
        seed: seed of the samples.
        progress: called with the number of boards that were finished since the last call.
    """
    rows = np.full((len(boards), percentiles.grades.shape[1]), NO_ROW, dtype=np.uint8)
    for number, members in enumerate(classes):
        generator = np.random.default_rng((seed, number))
        order = generator.permutation(members)
        means = None
        for start in range(0, len(order), BOARDS_AT_ONCE):
            some = order[start : start + BOARDS_AT_ONCE]
            curves = percentiles.curves(boards[some], n_points)
            live = ~np.isnan(curves[:, :, 0])
            if means is None:  # the first boards are a random sample
                weights = np.broadcast_to(counts[some, None], live.shape)[live]
                means = _means(curves[live], weights, n_rows, generator)
            labels = np.full(live.shape, NO_ROW, dtype=np.uint8)
            labels[live] = nearest(curves[live], means)
            rows[some] = labels
            progress(len(some))
    return rows


def _means(
    curves: NDArray[np.float32], weights: Ints, n_rows: int, generator: np.random.Generator
) -> NDArray[np.float32]:
    """Compute the mean curves of the rows, weakest first, from curves ``[hand, point]``.

    A sample is agglomerated; then every curve goes to the nearest mean, and the means are computed again. On hold'em's
    flops and turns a sample of 600 with this second step explains more variance than a sample of 2,000 without it,
    which takes eight times as long.
    """
    chosen = np.arange(len(curves))
    if len(curves) > CURVES:
        chosen = np.sort(generator.choice(len(curves), CURVES, replace=False))
    different, of = np.unique(curves[chosen], axis=0, return_inverse=True)
    mass = np.bincount(of, weights=weights[chosen])
    model = OutcomeClustering(min(n_rows, len(different))).fit(different, sample_weight=mass)
    labels = nearest(curves, model.cluster_centers_.astype(np.float32))
    without_gaps = np.unique(labels, return_inverse=True)[1]
    means = cluster_means(curves, weights, without_gaps)
    return means[np.argsort(means.mean(axis=1), kind="stable")].astype(np.float32)


def interval_rows(seen: Ints, n_rows: int) -> NDArray[np.uint8]:
    """Cluster grades on final boards by Equation 1 in one dimension: rows ``[class, grade]``, nondecreasing.

    Args:
        seen: ``[class, grade]``, number of hands of each grade on the boards of a class.
        n_rows: number of rows of each class, at most.
    """
    rows = [np.append(_row_of_grade(weights, n_rows), NO_ROW) for weights in seen]
    return np.array(rows, dtype=np.uint8)


def _row_of_grade(seen: Ints, n_rows: int) -> Ints:
    """Return the row of each grade; a grade without hands gets the row of the next lower grade with hands."""
    some = np.flatnonzero(seen)
    curves, weights = (some[:, None] + 0.5) / GRADES, seen[some].astype(np.float64)
    labels = cut_labels(merge_tree(curves, weights), n_rows, curves[:, 0], weights)
    rows = np.zeros(GRADES, dtype=np.int64)
    rows[some] = labels
    return np.maximum.accumulate(rows)
