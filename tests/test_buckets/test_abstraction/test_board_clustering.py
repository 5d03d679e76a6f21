import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from buckets.abstraction import BoardClustering
from buckets.abstraction import clustering as module
from buckets.errors import BucketError


@parametrize_with_checks([BoardClustering(n_clusters=2)])
@pytest.mark.filterwarnings("ignore")  # data of the checks may have fewer different rows than clusters
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def heaps(n_heaps=6, n=40, seed=0):
    generator = np.random.default_rng(seed)
    heap = generator.integers(0, n_heaps, n)
    return 10 * heap[:, None] + generator.random((n, 3)), heap


@pytest.mark.parametrize("agglomerated", [2500, 5])
def test_heaps_are_found_and_numbered_by_their_mean(monkeypatch, agglomerated):
    monkeypatch.setattr(module, "AGGLOMERATED", agglomerated)
    rows, heap = heaps()
    model = BoardClustering(6).fit(rows)
    np.testing.assert_array_equal(model.labels_, heap)
    np.testing.assert_array_equal(model.predict(rows), heap)
    assert model.explained_ > 0.99


def test_the_order_of_samples_changes_no_class():
    rows = np.random.default_rng(1).random((50, 4))
    order = np.random.default_rng(2).permutation(50)
    labels = BoardClustering(7).fit(rows).labels_
    np.testing.assert_array_equal(BoardClustering(7).fit(rows[order]).labels_, labels[order])


def test_a_weight_is_a_repeated_sample():
    rows = np.random.default_rng(3).random((30, 4))
    counts = np.random.default_rng(4).integers(1, 5, 30)
    weighted = BoardClustering(5).fit(rows, sample_weight=counts)
    repeated = BoardClustering(5).fit(np.repeat(rows, counts, axis=0))
    np.testing.assert_array_equal(np.repeat(weighted.labels_, counts), repeated.labels_)
    np.testing.assert_allclose(weighted.cluster_centers_, repeated.cluster_centers_)
    assert weighted.explained_ == pytest.approx(repeated.explained_)


def test_more_classes_than_different_samples():
    with pytest.warns(ConvergenceWarning, match="n_clusters=4: found only 2 clusters"):
        model = BoardClustering(4).fit([[0.0], [1.0], [0.0]])
    assert model.labels_.tolist() == [0, 1, 0]
    assert model.explained_ == 1


def test_fewer_than_one_class_is_refused():
    with pytest.raises(BucketError, match="board_buckets: expected at least 1, got 0"):
        BoardClustering(0).fit([[0.0], [1.0]])
