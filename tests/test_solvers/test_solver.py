"""Both solvers do what the protocol says: boards are read and written, targets reached, steps counted."""

from itertools import product

import numpy as np
import pytest
from random_games import raked, two_round_game

from solvers.discount import variant
from solvers.exact import ExactCfr
from solvers.measure import expected_value, exploitability
from solvers.reference.cfr import Cfr
from solvers.reference.walk import Walker

MAKERS = {
    "exact": lambda game: ExactCfr(game, variant("dcfr")),
    "16 bits": lambda game: ExactCfr(game, variant("dcfr"), short=True),
    "walks": lambda game: Cfr(game, variant("dcfr"), threads=2),
    "walks, single": lambda game: Cfr(game, variant("dcfr"), dtype=np.float32),
    "walks, predictive": lambda game: Cfr(game, variant("pcfr+")),
}


SINGLE = pytest.mark.slow  # walks in single precision take a minute to compile


@pytest.fixture(params=[pytest.param(name, marks=SINGLE if "single" in name else ()) for name in MAKERS])
def make(request):
    return MAKERS[request.param]


def boards(game):
    return [(t, b) for t, r in enumerate(game.rounds) for b in range(r.n_boards)]


def test_what_is_read_and_written_goes_on_as_the_original(make):
    game = two_round_game(4)
    first, again = make(game), make(game)
    first.run(5)
    again.iteration = first.iteration
    for part, (t, b) in product(first.parts, boards(game)):
        numbers = first.read(part, t, b)
        for p in (0, 1):
            assert numbers[p].shape[0] == game.rounds[t].forest.n_slots[p]
            assert numbers[p].shape[1] >= game.rounds[t].hands[p].n_hands[b]
        again.write(part, t, b, numbers)
    first.let_go()
    for solver in (first, again):
        solver.run(3)
    for part, (t, b) in product(first.parts, boards(game)):
        for mine, theirs in zip(first.read(part, t, b), again.read(part, t, b), strict=True):
            np.testing.assert_array_equal(mine, theirs)
    for solver in (first, again):
        solver.close()


def test_what_is_read_is_a_copy(make):
    game = two_round_game(4)
    solver = make(game)
    solver.run(2)
    before = solver.exploitability()
    for part, (t, b) in product(solver.parts, boards(game)):
        for numbers in solver.read(part, t, b):
            numbers[:] = np.nan
    assert solver.exploitability() == before
    solver.close()


@pytest.mark.parametrize("rake", [False, True])
def test_running_to_a_target_is_running_and_measuring(make, rake):
    game = raked(two_round_game(5)) if rake else two_round_game(5)
    stepwise, straight = make(game), make(game)
    expected = []
    for few in (4, 4, 4, 4, 1):
        stepwise.run(few)
        expected.append((stepwise.iteration, stepwise.exploitability().value))
    found = straight.run_to(-1.0, 17, 4)
    assert [m.iteration for m in found] == [n for n, _ in expected] == [4, 8, 12, 16, 17]
    for ours, (_, theirs) in zip(found, expected, strict=True):
        assert ours.exploitability.value == pytest.approx(theirs, abs=1e-12)
    assert 0 < found[0].took < found[0].seconds < found[1].seconds
    low = min(value for _, value in expected)
    again = make(game)
    reached = next(n for n, value in expected if value <= low + 1e-9)
    assert again.run_to(low + 1e-9, 1000, 4)[-1].iteration in (reached, 20)
    for solver in (stepwise, straight, again):
        solver.close()


@SINGLE
def test_walks_measure_in_double_precision():
    game = two_round_game(6)
    single = Cfr(game, variant("dcfr"), dtype=np.float32)
    single.run(7)
    walker = Walker(game)
    assert single.exploitability() == exploitability(walker, single.sums)
    assert single.expected_values() == tuple(expected_value(walker, single.sums, p) for p in (0, 1))
    single.close()


def test_the_bytes_of_a_state(make):
    game = two_round_game(6)
    solver = make(game)
    numbers = sum(
        part.size for kind, (t, b) in product(solver.parts, boards(game)) for part in solver.read(kind, t, b)
    )
    itemsize = solver.state_bytes / numbers
    assert itemsize in (4, 8) if isinstance(solver, Cfr) else itemsize >= 2  # whole blocks of 16 hands
    solver.close()


def test_average_values_are_those_of_the_reference_walk(make):
    game = two_round_game(4)
    solver, reference = make(game), Walker(game)
    solver.run(7)
    sums = game.zeros()
    for t, b in boards(game):
        for p, numbers in enumerate(solver.read("sums", t, b)):
            n = game.rounds[t].hands[p].n_hands[b]
            sums[t][p][b][:, :n] = numbers[:, :n]
    for p in (0, 1):
        n = game.rounds[0].hands[p].n_hands[0]
        expected = reference.evaluate(p, sums)[0][:n]
        np.testing.assert_allclose(solver.average_values(p)[:n], expected, atol=1e-3 * np.abs(expected).max())
        assert (expected < solver.best_values(p)[:n] + 1e-3).all()
    solver.close()
