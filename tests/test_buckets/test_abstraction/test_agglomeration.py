import naive_clustering
import numpy as np
import pytest
from sklearn.cluster import AgglomerativeClustering

from buckets.abstraction import merge_tree
from buckets.abstraction.agglomeration import clusters_of


@pytest.mark.parametrize("max_factor", [True, False])
@pytest.mark.parametrize(("n", "n_outcomes"), [(1, 3), (2, 5), (3, 1), (17, 4), (40, 133), (25, 1)])
def test_the_tree_is_the_naive_one(n, n_outcomes, max_factor):
    rng = np.random.default_rng(n * 1000 + n_outcomes)
    curves = np.sort(rng.random((n, n_outcomes)), axis=1)
    weights = rng.integers(1, 9, n).astype(float)
    children, distances, n_distinct = merge_tree(curves, weights, max_factor=max_factor)

    def cost(*pair):
        return naive_clustering.equation_1(*pair, max_factor=max_factor)

    expected, costs = naive_clustering.merge_tree(curves, weights, cost)
    np.testing.assert_array_equal(children, expected)
    np.testing.assert_allclose(distances, costs, rtol=1e-9)
    assert n_distinct == n


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("max_factor", [True, False])
def test_ties_are_broken_as_the_naive_tree_breaks_them(seed, max_factor):
    """Few levels and weights: many pairs cost exactly the same, and sums of eighths have no rounding."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 14))
    curves = np.sort(rng.integers(0, 4, (n, 2)), axis=1) / 4
    weights = 2.0 ** rng.integers(0, 2, n)

    def cost(weight_i, curve_i, weight_j, curve_j):
        gap = (curve_i - curve_j) ** 2 * (np.maximum(curve_i, curve_j) if max_factor else 1)
        return weight_i * weight_j / (weight_i + weight_j) * float(gap.sum())

    expected, costs = naive_clustering.merge_tree(curves, weights, cost)
    children, distances, n_distinct = merge_tree(curves, weights, max_factor=max_factor)
    np.testing.assert_array_equal(children, expected)
    np.testing.assert_allclose(distances, costs, rtol=1e-12, atol=1e-15)
    assert n_distinct == len(np.unique(curves, axis=0))


def test_the_short_form_of_equation_1_is_the_printed_one():
    rng = np.random.default_rng(1)
    for _ in range(50):
        (i, j), (v, w) = np.sort(rng.random((2, 20)), axis=1), rng.random(2)
        short = v * w / (v + w) * ((i - j) ** 2 * np.maximum(i, j)).sum()
        assert naive_clustering.equation_1(v, i, w, j) == pytest.approx(short, rel=1e-12)


@pytest.mark.parametrize("n_outcomes", [1, 7, 200])
def test_without_the_factor_it_is_ward(n_outcomes):
    rng = np.random.default_rng(n_outcomes)
    curves = np.sort(rng.random((60, n_outcomes)), axis=1)
    tree = merge_tree(curves, np.ones(60), max_factor=False)
    for k in (2, 5, 20, 59):
        ward = AgglomerativeClustering(n_clusters=k, linkage="ward").fit(curves).labels_
        theirs = {frozenset(np.flatnonzero(ward == label).tolist()) for label in range(k)}
        assert naive_clustering.labels(tree.children.tolist(), 60, k) == theirs
    # scikit-learn's distance is the root of twice the loss
    whole = AgglomerativeClustering(n_clusters=None, distance_threshold=0.0, linkage="ward").fit(curves)
    np.testing.assert_allclose(2 * tree.distances, whole.distances_**2, rtol=1e-9)


def test_equal_curves_merge_first_and_cost_nothing():
    curves = np.array([[0.1], [0.3], [0.1], [0.3], [0.1], [-0.0], [0.0]])
    children, distances, n_distinct = merge_tree(curves, np.array([0.3, 1, 0.7, 1, 0.9, 1, 1]))
    assert n_distinct == 3
    assert children[:4].tolist() == [[0, 2], [1, 3], [4, 7], [5, 6]]
    assert (distances[:4] == 0).all()
    assert (distances[4:] > 0).all()


def test_clusters_of():
    children = np.array([[0, 2], [1, 4]])
    assert clusters_of(children, 4).tolist() == [5, 5, 5, 3]
    assert clusters_of(children[:0], 4).tolist() == [0, 1, 2, 3]


def test_the_input_is_left_alone():
    curves, weights = np.random.default_rng(1).random((9, 4)), np.ones(9)
    before = curves.copy()
    merge_tree(curves, weights)
    np.testing.assert_array_equal(curves, before)
    assert (weights == 1).all()
