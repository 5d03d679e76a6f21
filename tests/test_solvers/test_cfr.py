"""Every variant solves Kuhn and Leduc; published exploitabilities are met (DESIGN's reference numbers)."""

import re
from dataclasses import replace

import numpy as np
import pytest
from random_games import two_round_game
from toy_games import kuhn, leduc

from solvers.discount import VARIANTS, dcfr, variant
from solvers.errors import SolverError
from solvers.measure import decision_losses, expected_value, exploitability
from solvers.reference.cfr import Cfr

LEDUC_VALUE = -0.085606424078


def after(cfr, iterations):
    """Exploitability and value after so many iterations in all."""
    cfr.run(iterations - cfr.iteration)
    return exploitability(cfr.walker, cfr.sums).value, expected_value(cfr.walker, cfr.sums)


@pytest.mark.parametrize("name", VARIANTS)
def test_kuhn_value_by_every_variant(name):
    gap, value = after(Cfr(kuhn(), VARIANTS[name]), 2000 if name == "cfr" else 400)
    assert value == pytest.approx(-1 / 18, abs=1e-3)
    assert gap < 2e-3


@pytest.mark.parametrize(
    ("schedule", "published"),
    [
        (VARIANTS["cfr"], {100: 0.096}),
        (VARIANTS["cfr+"], {100: 0.0134, 500: 0.00094}),
        (dcfr(), {100: 0.0074, 200: 0.0019}),
    ],
    ids=["cfr", "cfr+", "dcfr"],
)
def test_leduc_converges_as_published_and_to_its_value(schedule, published):
    cfr = Cfr(leduc(), schedule)
    for iterations, expected in published.items():
        gap, value = after(cfr, iterations)
        assert gap == pytest.approx(
            expected, rel=0.12
        )  # who is averaged when in an iteration differs a little
        assert value == pytest.approx(LEDUC_VALUE, abs=2 * gap)


@pytest.mark.parametrize("groups", [None, 6])
def test_blocked_hands_and_groups_converge(groups):
    """With two blockers a hand the average must still approach an equilibrium; grouped rows may only stall higher."""
    cfr = Cfr(two_round_game(12, 2, groups), VARIANTS["cfr+"])
    (early, _), (late, _) = after(cfr, 10), after(cfr, 400)
    assert late < early / (20 if groups is None else 1)
    if groups is None:
        assert late < 2e-3


def test_first_iteration_by_hand():
    """CFR's regrets after one iteration are the values of uniform play, action by action."""
    game = kuhn()
    cfr = Cfr(game, VARIANTS["cfr"])
    cfr.run(1)
    # player 0 with the jack: checking loses 1 or (after a bet) half of 1 or 2; against two hands, uniform play
    check = 0.5 * (-1 - 1) + 0.5 * 0.5 * ((-1 - 2) + (-1 - 2))
    bet = 0.5 * (1 + 1) + 0.5 * (-2 - 2)
    value = (check + bet) / 2
    np.testing.assert_allclose(cfr.regrets[0][0][0][:2, 0], [check - value, bet - value], atol=1e-12)


def test_schedules_are_the_papers():
    assert variant("cfr").factors(7)[:2] == (1.0, 1.0)
    assert variant("lcfr").factors(4)[:2] == (0.75, 0.75)
    f = dcfr().factors(5)
    assert f.positive == pytest.approx(8 / 9)
    assert f.negative == 0.5
    assert f.decay == pytest.approx((4 / 5) ** 2)


def test_unknown_variant_and_iteration():
    with pytest.raises(SolverError, match=re.escape(f"expected one of {', '.join(VARIANTS)}, found 'cfr--'")):
        variant("cfr--")
    with pytest.raises(SolverError, match="expected 1 or more, found 0"):
        variant("cfr").factors(0)


@pytest.mark.parametrize("name", VARIANTS)
def test_tables_and_weights_are_the_factors_of_many_iterations(name):
    schedule, total, sums = replace(variant(name), trembles=2.0), 0.0, [0.0]
    for first in (1, 2, 40):
        expected = [schedule.factors(first + i) for i in range(5)]
        np.testing.assert_allclose(
            schedule.table(first, 5),
            [(f.positive, f.negative, f.decay, f.ahead, f.tremble) for f in expected],
            rtol=1e-14,
        )
    for t in range(1, 40):
        total = total * schedule.factors(t).decay + 1  # sums of ones
        sums.append(total)
    np.testing.assert_allclose(schedule.weight(np.arange(40)), sums)
    np.testing.assert_allclose(schedule.weight(np.array([7])), sums[7])


def test_trembles_make_play_good_where_it_hardly_goes():
    game = two_round_game(4)
    plain, trembling = (Cfr(game, replace(variant("dcfr"), trembles=n)) for n in (0.0, 0.3))
    plain.run(300)
    trembling.run(400)
    assert trembling.exploitability().value < 1.5 * max(plain.exploitability().value, 1e-3)
    pots = [np.ones(r.forest.n_nodes) for r in game.rounds]
    before, after = (decision_losses(cfr.judge, cfr.sums, pots).value for cfr in (plain, trembling))
    assert after < before / 3
