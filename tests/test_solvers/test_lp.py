"""The linear program against closed forms, against itself by other routes, and against CFR's bracket."""

import numpy as np
import pytest
from random_games import locked, raked, two_round_game
from scipy import sparse
from scipy.sparse.linalg import spsolve_triangular
from toy_games import kuhn, leduc

from solvers.discount import variant
from solvers.errors import SolverError
from solvers.matrix.chunk import Chunk, iterate, local_exploitability, normalise, root_matrices, root_values
from solvers.matrix.lp import SequenceForm, chunk_form, chunk_strategy, live_form, live_strategies, solve_lp
from solvers.measure import expected_value, exploitability
from solvers.reference.walk import Walker
from solvers.tree import CHANCE, DECISION, FOLD, Chance, Decision, Fold, Forest, Showdown

ROWS = [(1, 1), (1, 4), (4, 1), (3, 5), (6, 2)]
METHODS = ["highs", "highs-ds", "highs-ipm"]


def betting_tree():
    """Check or bet, then fold, call or raise; closed rounds lead to a deal or to a showdown."""

    def facing(mover, stake, after, last):
        lost = stake if mover == 1 else -stake
        return Decision(mover, (Fold(lost), after, *last))

    raised = facing(0, 2.0, Chance(2), ())
    bet = facing(1, 1.0, Chance(1), (raised,))
    stab = facing(0, 1.0, Showdown(2.0), ())
    return Decision(0, (Decision(1, (Chance(0), stab)), bet))


def random_chunk(seed, rows, *, entering=None, zeros=0.2):
    rng = np.random.default_rng(seed)
    forest = Forest.build([betting_tree()])
    a = forest.arrays
    operator = np.where(a.kind == DECISION, -1, np.where(a.kind == FOLD, 0, 1))
    operator[forest.chance_leaves] = 2 + np.arange(3)
    weight = rng.uniform(size=rows) * (rng.uniform(size=rows) >= zeros)
    weight[0, 0] = 1.0  # at least one pair of rows is possible
    signs = [np.ones(rows), np.sign(rng.normal(size=rows)), *rng.normal(scale=2.0, size=(3, *rows))]
    matrices = np.array([weight * u for u in signs])
    scale = np.where(a.kind == CHANCE, 1.0, a.stake)
    here = entering or (np.ones(rows[0]), np.ones(rows[1]))
    return Chunk(forest, (matrices, matrices), operator, scale, here)


def best_responses(chunk, strategy):
    """(value of player 0's, of player 1's), in weighted chips."""
    return tuple(float(chunk.entering[p] @ root_values(chunk, strategy, p, best=True)) for p in (0, 1))


def lp_strategy(chunk, answer):
    return normalise(chunk, chunk_strategy(chunk, answer))


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("seed", range(3))
def test_value_lies_in_the_bracket_of_cfr(seed, rows):
    chunk = random_chunk(seed, rows)
    value = solve_lp(chunk_form(chunk)).value
    regrets, sums = chunk.zeros(), chunk.zeros()
    iterate(chunk, variant("cfr+"), 0, 4000, regrets, sums)
    first, second = best_responses(chunk, normalise(chunk, sums))
    assert -second - 1e-6 <= value <= first + 1e-6
    assert first + second < 1e-2


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("seed", range(3))
def test_methods_and_storage_agree(seed, rows):
    form = chunk_form(random_chunk(seed, rows))
    values = [solve_lp(form, method, dense=dense).value for method in METHODS for dense in (False, True)]
    np.testing.assert_allclose(values, values[0], rtol=0, atol=1e-8)


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("method", METHODS)
def test_plans_are_an_equilibrium_and_win_the_value(method, rows):
    chunk = random_chunk(7, rows)
    answer = solve_lp(chunk_form(chunk), method)
    strategy = lp_strategy(chunk, answer)
    assert local_exploitability(chunk, strategy) == pytest.approx(0.0, abs=1e-7)
    assert best_responses(chunk, strategy) == pytest.approx((answer.value, -answer.value), abs=1e-7)
    seen_from_above = chunk.entering[0] @ root_matrices(chunk, strategy)[0] @ chunk.entering[1]
    assert seen_from_above == pytest.approx(answer.value, abs=1e-7)


def test_plans_satisfy_the_flow_constraints():
    chunk = random_chunk(3, (3, 5))
    form = chunk_form(chunk)
    answer = solve_lp(form)
    for p in (0, 1):
        np.testing.assert_allclose(form.flow[p] @ answer.plans[p], form.inflow[p], atol=1e-8)
        assert np.all(answer.plans[p] >= 0)
    assert answer.plans[0] @ form.payoff @ answer.plans[1] == pytest.approx(answer.value, abs=1e-8)


def test_rows_that_do_not_enter_change_nothing():
    chunk = random_chunk(11, (3, 5))
    gone = random_chunk(11, (3, 5), entering=(np.array([1.0, 0.0, 1.0]), np.array([1.0, 1.0, 0.0, 1.0, 0.0])))
    keep = [np.flatnonzero(gone.entering[p]) for p in (0, 1)]
    matrices = chunk.matrices[0][:, keep[0]][:, :, keep[1]]
    smaller = Chunk(chunk.forest, (matrices, matrices), chunk.operator, chunk.scale, (np.ones(2), np.ones(3)))
    answer = solve_lp(chunk_form(gone))
    assert answer.value == pytest.approx(solve_lp(chunk_form(smaller)).value, abs=1e-9)
    strategy = lp_strategy(gone, answer)
    first_decision = strategy[0][:2, 1]  # no plan: uniform
    np.testing.assert_allclose(first_decision, 0.5)


def test_a_polarised_range_bluffs_half_as_often_as_it_bets_for_value():
    """Nuts or air, as often, against a bluff catcher; one chip each in the pot and a bet of two."""
    forest = Forest.build([Decision(0, (Showdown(1.0), Decision(1, (Fold(1.0), Showdown(3.0)))))])
    matrices = np.array([[[1.0], [1.0]], [[1.0], [-1.0]]])  # folds, showdowns: [nuts or air, catcher]
    operator = np.where(forest.arrays.kind == DECISION, -1, np.where(forest.arrays.kind == FOLD, 0, 1))
    chunk = Chunk(forest, (matrices, matrices), operator, forest.arrays.stake, (np.ones(2), np.ones(1)))
    answer = solve_lp(chunk_form(chunk))
    assert answer.value == pytest.approx(1.0)  # over two deals: 2 with the nuts, -1 with air
    bets, calls = lp_strategy(chunk, answer)[0][1], lp_strategy(chunk, answer)[1][1]
    np.testing.assert_allclose(bets, [1.0, 0.5], atol=1e-9)
    np.testing.assert_allclose(calls, [0.5], atol=1e-9)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("size", [1e9, 1e3, 1e-3, 1e-6, 1e-9, 1e-12])
def test_the_size_of_the_weights_does_not_matter(size, method):
    """Deep chunks are reached with tiny weights, and HiGHS drops coefficients below 1e-9."""
    chunk = random_chunk(7, (6, 9))
    matrices = size * chunk.matrices[0]
    small = Chunk(chunk.forest, (matrices, matrices), chunk.operator, chunk.scale, chunk.entering)
    answer = solve_lp(chunk_form(small), method)
    assert answer.value / size == pytest.approx(solve_lp(chunk_form(chunk)).value, abs=1e-7)
    assert local_exploitability(small, lp_strategy(small, answer)) / size == pytest.approx(0.0, abs=1e-7)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("size", [1e9, 1e-6, 1e-12])
def test_the_size_of_the_ranges_does_not_matter(size, method):
    """HiGHS takes a constraint that is off by 1e-7 for one that holds."""
    chunk = random_chunk(7, (6, 9))
    entering = size * chunk.entering[0], 3 * size * chunk.entering[1]
    small = Chunk(chunk.forest, chunk.matrices, chunk.operator, chunk.scale, entering)
    answer = solve_lp(chunk_form(small), method)
    assert answer.value / (3 * size**2) == pytest.approx(solve_lp(chunk_form(chunk)).value, abs=1e-7)
    gap = local_exploitability(small, lp_strategy(small, answer))
    assert gap / (3 * size**2) == pytest.approx(0.0, abs=1e-7)


def test_a_chunk_without_decisions_is_worth_its_leaf():
    forest = Forest.build([Showdown(3.0)])
    matrices = np.array([[[1.0, -0.5, 0.25], [0.0, 1.0, -1.0]]])
    chunk = Chunk(forest, (matrices, matrices), np.array([0]), np.array([3.0]), (np.ones(2), np.ones(3)))
    assert solve_lp(chunk_form(chunk)).value == pytest.approx(3 * matrices.sum())


@pytest.mark.parametrize(
    ("make", "method", "value"),
    [*((kuhn, method, -1 / 18) for method in METHODS), (leduc, METHODS[0], -0.0856064240780)],
)
def test_toy_games(make, method, value):
    game = make()
    answer = solve_lp(live_form(game), method)
    assert answer.value / game.deal_weight == pytest.approx(value, abs=1e-9)
    gap = exploitability(Walker(game), live_strategies(game, answer))
    assert gap.value == pytest.approx(0.0, abs=1e-8)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("change", [lambda game, seed: game, locked])
def test_random_games_of_two_rounds_with_and_without_locks(change, seed, method):
    game = change(two_round_game(seed, k=1), seed)
    answer = solve_lp(live_form(game), method)
    walker, strategies = Walker(game), live_strategies(game, answer)
    assert exploitability(walker, strategies).value == pytest.approx(0.0, abs=1e-9)
    assert expected_value(walker, strategies) == pytest.approx(answer.value / game.deal_weight, abs=1e-9)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("k", [1, 2])
def test_running_sums_have_the_payoffs_of_all_pairs_of_hands(k, seed, monkeypatch):
    """Each variable of player 1 has the same payoff in both forms, whatever player 0's plan is."""
    monkeypatch.setattr("solvers.matrix.lp.FEWEST_HANDS", 0)
    game = two_round_game(seed, k=k)
    pairs, form = live_form(game, pairs=True), live_form(game)
    plan = np.random.default_rng(seed).normal(size=pairs.payoff.shape[0])
    of_plan, of_sums = form.sums[:, : len(plan)], form.sums[:, len(plan) :]
    sums = spsolve_triangular(of_sums.tocsr(), -of_plan @ plan)
    assert np.concatenate([plan, sums]) @ form.payoff == pytest.approx(plan @ pairs.payoff, abs=1e-9)
    for one, other in zip(form.flow, pairs.flow, strict=True):
        assert (one != other).nnz == 0


@pytest.mark.parametrize("change", [lambda game, seed: game, locked])
def test_running_sums_change_no_value(change):
    game = change(two_round_game(1), 1)
    answer, other = solve_lp(live_form(game), "highs-ipm"), solve_lp(live_form(game, pairs=True), "highs-ipm")
    assert answer.value == pytest.approx(other.value, abs=1e-9)
    assert len(live_form(game).payoff.data) < len(live_form(game, pairs=True).payoff.data)
    walker, strategies = Walker(game), live_strategies(game, answer)
    assert exploitability(walker, strategies).value == pytest.approx(0.0, abs=1e-9)


def test_rake_is_no_zero_sum_game():
    with pytest.raises(SolverError, match="needs a zero-sum game, found rake"):
        live_form(raked(two_round_game(0)))


def test_two_views_are_no_zero_sum_game():
    chunk = random_chunk(0, (3, 5))
    other = chunk.matrices[0].copy()
    other[0, 0, 0] += 1.0
    torn = Chunk(chunk.forest, (chunk.matrices[0], other), chunk.operator, chunk.scale, chunk.entering)
    with pytest.raises(SolverError, match="found two that differ"):
        chunk_form(torn)


def test_an_infeasible_program_says_so():
    form = chunk_form(random_chunk(0, (3, 5)))
    negative = SequenceForm(form.payoff, form.flow, (-form.inflow[0], form.inflow[1]))
    with pytest.raises(SolverError, match="expected an optimum"):
        solve_lp(negative)


def test_an_unbounded_program_says_so():
    form = chunk_form(random_chunk(0, (3, 5)))
    leaking = sparse.csr_matrix(form.flow[1].shape)  # player 1 has nothing to choose and pays without limit
    with pytest.raises(SolverError, match="expected an optimum"):
        solve_lp(SequenceForm(form.payoff, (form.flow[0], leaking), form.inflow))


def test_matrices_of_another_size_are_refused():
    chunk = random_chunk(0, (3, 5))
    wrong = chunk.matrices[0].transpose(0, 2, 1)
    with pytest.raises(SolverError, match=r"expected \[operator, 3, 5\], found \[5, 5, 3\]"):
        Chunk(chunk.forest, (wrong, wrong), chunk.operator, chunk.scale, chunk.entering)


def test_payoffs_that_are_no_numbers_are_refused():
    chunk = random_chunk(0, (3, 5))
    matrices = chunk.matrices[0].copy()
    matrices[1, 2, 3] = np.nan
    ill = Chunk(chunk.forest, (matrices, matrices), chunk.operator, chunk.scale, chunk.entering)
    with pytest.raises(ValueError, match=r"(?i)nan|numbers|views"):
        solve_lp(chunk_form(ill))
