"""Rows of a class of boards: which hands of its boards play alike.

Before the last round hands are clustered by Equation 1 on their curves (`Percentiles.curves`), one clustering for the
class: it is fitted to a sample of the curves of its boards, and every hand of every board goes to the nearest mean. On
final boards the only outcome of a hand is its grade, and rows are intervals of it, so that a row is a nondecreasing
function of strength. Rows are numbered from the weakest to the strongest. A class that cannot be told into so many has
fewer.
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
"""Curves that are agglomerated, at most."""

BOARDS_AT_ONCE = 64
"""Boards whose curves are held at once; rows of a class with more are made of so many, drawn."""


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
    """Rows on the boards of an earlier round: ``[board, hand]``, `NO_ROW` where the board hits the hand.

    Args:
        percentiles: the game's.
        boards: ``[board, card]``.
        counts: ``[board]``, how many boards each one stands for.
        classes: numbers of the boards of each class.
        n_rows: of each class, at most.
        n_points: of a curve.
        seed: of the samples.
        progress: told of finished boards.
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
            if means is None:  # the first boards, which are a sample, tell all
                weights = np.broadcast_to(counts[some, None], live.shape)[live]
                means = _means(curves[live], weights, n_rows, generator)
            found = np.full(live.shape, NO_ROW, dtype=np.uint8)
            found[live] = nearest(curves[live], means)
            rows[some] = found
            progress(len(some))
    return rows


def _means(
    curves: NDArray[np.float32], weights: Ints, n_rows: int, generator: np.random.Generator
) -> NDArray[np.float32]:
    """Mean curves of the rows, weakest first, from curves ``[hand, point]``.

    Few are agglomerated; then each of all goes to the nearest mean, and the means are taken anew: on hold'em's flops
    and turns 600 explain more that way than 2,000 without the second step, which take eight times as long.
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
    """Rows on final boards by Equation 1 in one dimension: ``[class, grade]``, nondecreasing.

    Args:
        seen: ``[class, grade]``, how many hands of the boards of a class have a grade.
        n_rows: of each class, at most.
    """
    rows = [np.append(_row_of_grade(weights, n_rows), NO_ROW) for weights in seen]
    return np.array(rows, dtype=np.uint8)


def _row_of_grade(seen: Ints, n_rows: int) -> Ints:
    """Row of each grade; one that no hand has goes with the next below that some hand has."""
    some = np.flatnonzero(seen)
    curves, weights = (some[:, None] + 0.5) / GRADES, seen[some].astype(np.float64)
    labels = cut_labels(merge_tree(curves, weights), n_rows, curves[:, 0], weights)
    rows = np.zeros(GRADES, dtype=np.int64)
    rows[some] = labels
    return np.maximum.accumulate(rows)
