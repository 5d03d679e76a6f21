"""Rows of a board bucket: groups of hands that play alike on its boards.

Before the last round, the hands of each board bucket are clustered by Equation 1 on their curves
(`Percentiles.curves`): a sample of the curves is clustered, and every hand of every board gets the row with the nearest
mean curve. On final boards the only outcome of a hand is its grade, and a row is an interval of grades, so that
stronger hands never have a lower row. Rows are numbered from the weakest to the strongest. A board bucket with fewer
different curves than rows has fewer rows.
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
"""Largest number of curves that are clustered by agglomeration."""

BOARDS_AT_ONCE = 64
"""Number of boards whose curves are in memory at once; the mean curves come from the same number of boards."""


def clustered_rows(
    percentiles: Percentiles,
    boards: Ints,
    counts: Ints,
    board_buckets: Sequence[Ints],
    n_rows: int,
    n_points: int,
    seed: int,
    progress: Progress = lambda n: None,
) -> NDArray[np.uint8]:
    """Cluster the hands on the boards of a round before the last.

    Args:
        percentiles: the grades on the game's final boards.
        boards: ``[board, card]``.
        counts: ``[board]``, number of boards that each board stands for.
        board_buckets: for each board bucket the indices of its boards.
        n_rows: largest number of rows of each board bucket.
        n_points: number of points of a curve.
        seed: seed of the samples.
        progress: called with the number of boards that were finished since the last call.

    Returns:
        The row of each hand: ``[board, hand]``; `NO_ROW`: the board blocks the hand.
    """
    rows = np.full((len(boards), percentiles.grades.shape[1]), NO_ROW, dtype=np.uint8)
    for number, members in enumerate(board_buckets):
        generator = np.random.default_rng((seed, number))
        order = generator.permutation(members)
        means = None
        for start in range(0, len(order), BOARDS_AT_ONCE):
            batch = order[start : start + BOARDS_AT_ONCE]
            curves = percentiles.curves(boards[batch], n_points)
            live = ~np.isnan(curves[:, :, 0])
            if means is None:  # the first batch is a random sample
                weights = np.broadcast_to(counts[batch, None], live.shape)[live]
                means = _means(curves[live], weights, n_rows, generator)
            labels = np.full(live.shape, NO_ROW, dtype=np.uint8)
            labels[live] = nearest(curves[live], means)
            rows[batch] = labels
            progress(len(batch))
    return rows


def _means(
    curves: NDArray[np.float32], weights: Ints, n_rows: int, generator: np.random.Generator
) -> NDArray[np.float32]:
    """Compute the mean curves ``[row, point]`` of a board bucket's rows, weakest first, from curves ``[hand, point]``.

    ``weights[hand]`` are the weights of the curves in the clustering and in the means. A sample, which ``generator``
    draws, is clustered by agglomeration. Then every curve joins the nearest mean, and the means are computed again.
    On hold'em's flops and turns a sample of 600 with this second step explains more variance than a sample of 2,000
    without it, which takes eight times as long.
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
    """Cluster the grades on final boards by Equation 1: return the row of each grade, ``[board bucket, grade]``.

    Args:
        seen: ``[board bucket, grade]``, number of hands of each grade on the boards of a bucket.
        n_rows: largest number of rows of each board bucket.
    """
    rows = [np.append(_row_of_grade(weights, n_rows), NO_ROW) for weights in seen]
    return np.array(rows, dtype=np.uint8)


def _row_of_grade(seen: Ints, n_rows: int) -> Ints:
    """Return the row of each grade, given the number of hands ``seen[grade]``.

    A grade without hands gets the row of the next lower grade with hands.
    """
    grades = np.flatnonzero(seen)
    curves, weights = (grades[:, None] + 0.5) / GRADES, seen[grades].astype(np.float64)
    labels = cut_labels(merge_tree(curves, weights), n_rows, curves[:, 0], weights)
    rows = np.zeros(GRADES, dtype=np.int64)
    rows[grades] = labels
    return np.maximum.accumulate(rows)
