"""Slow, obvious twin of the agglomeration: every pair looked at, in every step, by Equation 1 as printed."""

from itertools import combinations

import numpy as np


def equation_1(weight_i, curve_i, weight_j, curve_j, max_factor=True):
    average = (weight_i * curve_i + weight_j * curve_j) / (weight_i + weight_j)
    loss = weight_i * (curve_i - average) ** 2 + weight_j * (curve_j - average) ** 2
    return float((loss * np.maximum(curve_i, curve_j)).sum() if max_factor else loss.sum())


def merge_tree(curves, weights, cost=equation_1):
    """(children, distances): O(n³), ties to the smallest lower, then the smallest higher number."""
    pairs = enumerate(zip(curves, weights, strict=True))
    clusters = {leaf: (float(weight), np.array(curve, dtype=float)) for leaf, (curve, weight) in pairs}
    children, distances = [], []
    n = len(curves)
    while len(clusters) > 1:
        best = min((cost(*clusters[i], *clusters[j]), i, j) for i, j in combinations(sorted(clusters), 2))
        (w_i, c_i), (w_j, c_j) = clusters.pop(best[1]), clusters.pop(best[2])
        merged = c_i if np.array_equal(c_i, c_j) else (w_i * c_i + w_j * c_j) / (w_i + w_j)
        clusters[n + len(children)] = (w_i + w_j, merged)
        children.append(best[1:])
        distances.append(best[0])
    return np.array(children).reshape(-1, 2), np.array(distances)


def labels(children, n, k):
    """Sets of leaves after n - k merges."""
    groups = {leaf: {leaf} for leaf in range(n)}
    for step, (i, j) in enumerate(children[: n - k]):
        groups[n + step] = groups.pop(i) | groups.pop(j)
    return {frozenset(group) for group in groups.values()}
