import naive_boards
import naive_clustering
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from buckets.abstraction import BoardTree, OutcomeClustering, canonical_board, outcomes
from buckets.cards import Deck, blocked, hand_permutation, hands, parse_cards, stabilizer, suit_permutations
from buckets.errors import BoardError, RangeError

FULL = Deck()
PAIRS = hands(FULL, 2)
EXCEPTIONS = {
    "check_clustering": "it feeds standardised, so negative, data in spite of the positive_only tag"
}


@parametrize_with_checks([OutcomeClustering(n_clusters=2)], expected_failed_checks=lambda _: EXCEPTIONS)
@pytest.mark.filterwarnings("ignore")  # data may be unsorted, and have fewer different rows than clusters
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def curves_of(n=30, n_outcomes=8, seed=0):
    return np.sort(np.random.default_rng(seed).random((n, n_outcomes)), axis=1)


def test_one_fit_serves_every_number_of_clusters():
    curves = curves_of()
    model = OutcomeClustering(n_clusters=7).fit(curves)
    assert (model.n_leaves_, model.n_distinct_, model.n_clusters_, model.n_features_in_) == (30, 30, 7, 8)
    assert model.children_.shape == (29, 2)
    for k in range(1, 31):
        labels = model.cut(k)
        found = {frozenset(np.flatnonzero(labels == label).tolist()) for label in range(k)}
        assert found == naive_clustering.labels(model.children_.tolist(), 30, k)
        np.testing.assert_array_equal(labels, clone(model).set_params(n_clusters=k).fit(curves).labels_)


def test_clusters_are_numbered_from_weakest_to_strongest():
    curves = curves_of()
    weights = np.random.default_rng(1).random(30)
    labels = OutcomeClustering(n_clusters=9).fit(curves, sample_weight=weights).labels_
    means = [np.average(curves[labels == c].mean(axis=1), weights=weights[labels == c]) for c in range(9)]
    assert means == sorted(means)
    assert len(means) == 9


def test_a_repeated_row_is_a_weight_and_a_row_without_weight_pulls_nothing():
    curves, counts = curves_of(20, 5), np.random.default_rng(2).integers(0, 4, 20)
    weighted = OutcomeClustering(n_clusters=5).fit(curves, sample_weight=counts).labels_
    repeated = OutcomeClustering(n_clusters=5).fit(np.repeat(curves, counts, axis=0)).labels_
    assert (counts == 0).any()
    np.testing.assert_array_equal(np.repeat(weighted, counts), repeated)


def test_fewer_different_rows_than_clusters():
    curves = np.repeat(curves_of(4, 3), 5, axis=0)
    with pytest.warns(ConvergenceWarning, match="n_clusters=6: found only 4 different rows"):
        model = OutcomeClustering(n_clusters=6).fit(curves)
    assert (model.n_clusters_, model.n_distinct_) == (4, 4)
    assert len(set(model.labels_.tolist())) == 4


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.zeros(30), "at least one above 0, got 30 zeros"),
        (-np.ones(30), "weight of row 0: expected a finite number of at least 0, got -1.0"),
        (np.where(np.arange(30) == 4, np.nan, 1), "weight of row 4.*nan"),
        (np.ones(3), r"expected shape \(30,\), got \(3,\)"),
    ],
)
def test_bad_weights_are_refused(weights, message):
    with pytest.raises(RangeError, match=message):
        OutcomeClustering().fit(curves_of(), sample_weight=weights)


def test_bad_outcomes_are_refused():
    curves = curves_of()
    curves[3, 3] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        OutcomeClustering().fit(curves)
    with pytest.raises(ValueError, match="Negative values"):
        OutcomeClustering().fit(-curves_of())
    with pytest.raises(BoardError, match="at least 1, got 0"):
        OutcomeClustering(n_clusters=0).fit(curves_of())
    for use in (lambda model: model.cut(3), lambda model: model.predict(curves_of())):
        with pytest.raises(NotFittedError):
            use(OutcomeClustering())
    with pytest.raises(ValueError, match="5 features, but OutcomeClustering is expecting 8"):
        OutcomeClustering(n_clusters=3).fit(curves_of()).predict(curves_of(4, 5))


@pytest.mark.parametrize("max_factor", [True, False])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_others_go_to_the_cluster_whose_mean_is_nearest(max_factor, dtype):
    curves, weights = curves_of(40, 9), np.random.default_rng(5).integers(1, 4, 40)
    model = OutcomeClustering(n_clusters=6, max_factor=max_factor).fit(curves, sample_weight=weights)
    for c, center in enumerate(model.cluster_centers_):
        own = model.labels_ == c
        np.testing.assert_allclose(center, np.average(curves[own], axis=0, weights=weights[own]))
    others = curves_of(60, 9, seed=6).astype(dtype)
    found = model.predict(others)
    assert found.tolist() == naive_boards.nearest(others, model.cluster_centers_, max_factor)
    assert len(set(found.tolist())) > 3


@pytest.mark.parametrize("max_factor", [True, False])
def test_distances_are_those_that_predictions_compare(max_factor):
    curves, others = curves_of(40, 9), curves_of(25, 9, seed=6)
    model = OutcomeClustering(n_clusters=6, max_factor=max_factor).fit(curves)
    found = model.transform(others)
    for i, row in enumerate(others.tolist()):
        for c, center in enumerate(model.cluster_centers_.tolist()):
            factors = [max(o, m) if max_factor else 1.0 for o, m in zip(row, center, strict=True)]
            cost = sum((o - m) ** 2 * f for o, m, f in zip(row, center, factors, strict=True))
            assert found[i, c] == pytest.approx(cost)
    np.testing.assert_array_equal(found.argmin(axis=1), model.predict(others))
    weights = np.arange(25.0)
    assert model.score(others, sample_weight=weights) == pytest.approx(-(weights @ found.min(axis=1)))
    assert list(model.get_feature_names_out()) == [f"outcomeclustering{c}" for c in range(6)]


def test_model_selection_prefers_more_clusters_as_long_as_they_tell_hands_apart():
    """Three kinds of hands with noise: three clusters are far better than two, and thirty hardly better than ten."""
    rng = np.random.default_rng(3)
    kinds = rng.integers(3, size=90)
    curves = np.sort(np.clip((kinds[:, None] + 1) / 4 + rng.normal(0, 0.02, (90, 8)), 0, 1), axis=1)
    search = GridSearchCV(OutcomeClustering(), {"n_clusters": [1, 2, 3]}, cv=3).fit(curves)
    assert search.best_params_ == {"n_clusters": 3}
    scores = [cross_val_score(OutcomeClustering(n_clusters=k), curves, cv=3).mean() for k in (1, 2, 3, 10)]
    assert scores[2] > 0.2 * scores[1] > 0.2 * scores[0]
    assert scores[3] < 0


def test_unsorted_outcomes_are_warned_of():
    curves = curves_of()
    model = OutcomeClustering(n_clusters=3).fit(curves)
    curves[4] = curves[4, ::-1]
    expected = r"sorted from low to high, found 1 of 30 unsorted \(the first is row 4\)"
    for use in (OutcomeClustering(n_clusters=3).fit, model.predict, model.transform, model.score):
        with pytest.warns(UserWarning, match=expected):
            use(curves)


@pytest.mark.parametrize("board", ["Ks7d2c9h", "QsJs2d8c3d", "9s8s7s2d"])
def test_a_board_tree_serves_all_boards_that_are_alike(board):
    cards = parse_cards(board)
    tree = BoardTree.of(cards)
    assert tree.board == canonical_board(cards, FULL)
    labels = tree.labels(cards, 12)
    assert ((labels == -1) == blocked(PAIRS, cards)).all()
    for perm in suit_permutations(FULL)[::5]:
        turned = [card - card % 4 + int(perm[card % 4]) for card in cards]
        np.testing.assert_array_equal(tree.labels(turned, 12)[hand_permutation(FULL, 2, perm)], labels)
    for perm in stabilizer((tuple(sorted(cards)),), suit_permutations(FULL)):
        np.testing.assert_array_equal(labels[hand_permutation(FULL, 2, perm)], labels)


def test_a_board_tree_is_the_estimator_on_the_canonical_board():
    board = canonical_board(parse_cards("QsJh2h8c"), FULL)
    curves = outcomes(board, PAIRS)[~blocked(PAIRS, board)]
    model = OutcomeClustering(n_clusters=40).fit(curves)
    tree = BoardTree.of(board)
    np.testing.assert_array_equal(tree.tree.children, model.children_)
    np.testing.assert_array_equal(tree.labels(board, 40)[~blocked(PAIRS, board)], model.labels_)


def test_a_board_tree_refuses_other_boards():
    with pytest.raises(BoardError, match="up to suits, got QsJh2h9c"):
        BoardTree.of(parse_cards("QsJh2h8c")).labels(parse_cards("QsJh2h9c"), 4)
