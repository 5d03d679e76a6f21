"""Kuhn and Leduc through jobs and lockers, judged by OpenSpiel."""

from itertools import permutations, product

import numpy as np
import pytest
from jobs import example, solved, toy
from open_spiel.python.algorithms.exploitability import exploitability as spiel_exploitability
from scipy.optimize import linprog
from spiel import UnchunkedLeduc, tabular_policy

from spewy.job.job import Job
from spewy.run.session import Session

VALUES = {"kuhn": -1 / 18, "leduc": -0.085606424078}
BOTTOM_UP = [(1, 0), (1, 1), (0, 0), (0, 1)]


UNEVEN = """GAMEDEF
nolimit
numPlayers = 2
numRounds = 1
blind = 5 10
stack = 7 20
firstPlayer = 2
maxRaises = 1
numSuits = 1
numRanks = 3
numHoleCards = 1
numBoardCards = 0
END GAMEDEF
"""


@pytest.mark.parametrize("method", ["lp", "cfr"])
def test_a_game_with_uneven_stacks(tmp_path, method):
    """Player 1 calls or goes all-in, then player 0, who has 2 chips left, folds (-5) or calls (7 or -7)."""
    (tmp_path / "uneven.game").write_text(UNEVEN)
    data = {"name": "uneven", "game": {"file": str(tmp_path / "uneven.game")}}
    bets = {"preflop": {"bet": "a", "raise": "a"}}
    result, _ = solved(Job.of(data | {"bets": bets, "solve": {"method": method, "target": "0.1 mbb"}}))
    plans = [list(product(range(n), repeat=3)) for n in (4, 2)]
    # A plan of player 0 has for each card its calls: of a call (1), of an all-in (2).
    wins = [
        [
            sum(
                -5 if not answers[x] & (1 + moves[y]) else 7 if x > y else -7
                for x, y in permutations(range(3), 2)
            )
            / 6
            for moves in plans[1]
        ]
        for answers in plans[0]
    ]
    payoffs = np.array(wins)
    n, m = payoffs.shape
    value = linprog(
        np.r_[np.zeros(n), -1],
        A_ub=np.c_[-payoffs.T, np.ones(m)],
        b_ub=np.zeros(m),
        A_eq=np.r_[np.ones(n), 0][None],
        b_eq=[1],
        bounds=[(0, None)] * n + [(None, None)],
    ).x[-1]
    assert result.value == pytest.approx(value, abs=1e-3)


@pytest.mark.parametrize(("name", "variant"), [("kuhn", "pcfr+"), ("leduc", "dcfr")])
@pytest.mark.parametrize("symmetry", [False, True])
def test_value_by_cfr(name, variant, symmetry):
    job = toy(name, leaves="live", variant=variant, symmetry=symmetry, max_sweeps=1500)
    result, _ = solved(job)
    assert result.value == pytest.approx(VALUES[name], abs=1e-4)
    low, high = result.value_bracket
    assert low <= VALUES[name] <= high


@pytest.mark.parametrize(
    ("name", "sweeps"),
    [
        ("kuhn", 1),
        ("kuhn", 7),
        ("leduc", 7),
        *(pytest.param("leduc", sweeps, marks=pytest.mark.slow) for sweeps in (1, 40)),
        pytest.param("kuhn", 40, marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("integrate", ["regret", "average"])
def test_exploitability_is_open_spiels(name, sweeps, integrate):
    result, solution = solved(toy(name, max_sweeps=sweeps, integrate=integrate))
    game, policy = tabular_policy(solution, name)
    assert result.exploitability == pytest.approx(spiel_exploitability(game, policy), abs=1e-9)


@pytest.mark.parametrize("sweeps", [12, pytest.param(30, marks=pytest.mark.slow)])
def test_chunks_are_unchunked_cfr_plus(sweeps):
    """The lockers hold, to rounding, what CFR+ over OpenSpiel's whole tree computes in the same order of updates."""
    whole = UnchunkedLeduc(BOTTOM_UP)
    for _ in range(sweeps):
        whole.sweep()
    result, _ = solved(toy("leduc", max_sweeps=sweeps))
    assert result.exploitability == pytest.approx(spiel_exploitability(*whole.policy()), abs=1e-9)


@pytest.mark.slow
def test_top_down_converges_too():
    result, _ = solved(toy("leduc", max_sweeps=100, order="top-down"))
    assert result.exploitability < 0.02


@pytest.mark.slow
def test_average_integration_converges_slowly():
    """The paper's integration falls below 0.2 within 50 sweeps and keeps falling, not without bumps."""
    result, _ = solved(toy("leduc", integrate="average", max_sweeps=75, check_every=25))
    gaps = [gap for _, _, gap in result.trace]
    assert gaps[1] < 0.2
    assert gaps[2] < gaps[1] < gaps[0]


@pytest.mark.slow
def test_leduc_regret_500_sweeps():
    whole = UnchunkedLeduc(BOTTOM_UP)
    for _ in range(500):
        whole.sweep()
    result, _ = solved(toy("leduc", max_sweeps=500))
    assert result.exploitability <= 1e-3
    # rounding decides ties, so that two orders of summation part slowly: 1e-9 after 30 sweeps, 1 % after 500
    assert result.exploitability == pytest.approx(spiel_exploitability(*whole.policy()), rel=0.02)


@pytest.mark.slow
def test_rhode_island_with_and_without_symmetry():
    """The target is reached, and switching suit symmetry off changes nothing but what rounding makes of ties."""
    brackets = []
    for symmetry, sweeps in ((True, 1500), (False, 60)):
        job = example(
            "rhode-island",
            f"solve.symmetry={str(symmetry).lower()}",
            f"solve.max_sweeps={sweeps}",
            "solve.memory=6 GiB",
        )
        brackets.append(Session(job).solve())
    assert brackets[0].converged
    assert brackets[0].exploitability <= 0.005
    same = Session(example("rhode-island", "solve.max_sweeps=60")).solve()
    assert brackets[1].exploitability == pytest.approx(same.exploitability, rel=1e-4)
