"""Small whole games solved by dealt boards through jobs: known values, exploitability that falls, two other judges."""

import numpy as np
import pytest
from cli_runs import good_json, write
from dealt_jobs import DEALT_LEDUC, exploitability_of

from solvers.measure import expected_value, exploitability
from solvers.reference.walk import Walker
from spewy.chunks.layout import Layout
from spewy.job.job import Job
from spewy.look.folder import open_policy

VALUES = {"kuhn": -1 / 18, "leduc": -0.085606424078, "rhode-island": -0.65586}
"""Net chips of player 0; Rhode Island's by `benchmarks/studies/rhode_island.py`, to 0.00005."""

AS_MANY_AS_BOARDS = ("boards.flop=3", "rows.preflop=3", "rows.flop=3")
"""Of Leduc, whose kinds of hands are as many as rows: nothing is lost."""

SMALL_RHODE_ISLAND = """
name = "small"
[game]
text = '''
GAMEDEF
limit
numPlayers = 2
numRounds = 3
blind = 5 5
raiseSize = 10 20 20
firstPlayer = 1 1 1
maxRaises = 1 2 1
numSuits = 2
numRanks = 5
numHoleCards = 1
numBoardCards = 0 1 1
END GAMEDEF
'''
[boards]
flop = 4
turn = 7
[rows]
preflop = 5
flop = 4
turn = 3
[solve]
target = "0 mbb"
"""


def solve(folder, text, deals, *settings):
    """Solve a job, or go on with it, up to a number of deals."""
    more = [part for text in (*settings, f"solve.max_sweeps={deals}") for part in ("--set", text)]
    return good_json("solve", write(folder, text), "--out", folder / "out", *more)


@pytest.mark.parametrize(
    ("name", "settings", "deals", "chips"),
    [
        ("leduc", (), 800, 0.02),
        ("leduc", AS_MANY_AS_BOARDS, 800, 0.02),
        pytest.param("leduc", (), 10_000, 0.004, marks=pytest.mark.slow),
        pytest.param("kuhn", (), 800, 1e-4, marks=pytest.mark.slow),
        pytest.param("rhode-island", (), 8000, 0.15, marks=pytest.mark.slow),
    ],
    ids=["leduc", "leduc, as many board buckets as boards", "leduc for longer", "kuhn", "rhode island"],
)
def test_games_are_solved_to_their_values(tmp_path, name, settings, deals, chips):
    """Twice as many deals, three times: exploitability falls, and in the end it is below some chips."""
    text, found = DEALT_LEDUC.replace("leduc", name), []
    for n in (deals, 2 * deals, 4 * deals, 8 * deals):
        told = solve(tmp_path, text, n, *settings)
        found.append(told["exploitability"])
        assert abs(told["value"] - VALUES[name]) < 2 * told["exploitability"]
    assert max(found[1:]) < found[0]
    assert found[-1] < min(chips, 0.6 * found[0])


@pytest.mark.parametrize(
    ("board_buckets", "rows", "deals"),
    [
        (2, (2, 3), 300),
        pytest.param(2, (3, 2), 30_000, marks=pytest.mark.slow),
        pytest.param(1, (2, 1), 30_000, marks=pytest.mark.slow),
    ],
)
def test_leduc_in_classes_is_as_exploitable_as_open_spiel_says(tmp_path, board_buckets, rows, deals):
    """The play locker's bytes are some thousandths off the averages that the solve judges."""
    settings = f"boards.flop={board_buckets}", f"rows.preflop={rows[0]}", f"rows.flop={rows[1]}"
    told = solve(tmp_path, DEALT_LEDUC, deals, *settings)
    exact = exploitability_of(tmp_path / "out", "leduc")
    assert exact == pytest.approx(told["exploitability"], abs=0.01)
    assert exact == pytest.approx(
        good_json("exploit", tmp_path / "out", "--workers", 1)["exploitability"], rel=1e-4
    )


@pytest.mark.slow
@pytest.mark.parametrize("remember", ["false", "true", "order"])
def test_three_rounds_in_classes_are_as_exploitable_as_the_walk_over_all_hands_says(tmp_path, remember):
    told = solve(tmp_path, SMALL_RHODE_ISLAND, 20_000, f"boards.remember={remember}")
    found = good_json("exploit", tmp_path / "out", "--workers", 1)
    exact, value = walked(tmp_path / "out", tmp_path / "job.toml")
    assert found["best_response"] == pytest.approx(exact.best_response, rel=1e-4)
    assert found["exploitability"] == pytest.approx(exact.value, rel=1e-4)
    assert -found["value_mbb"] == pytest.approx(1000 * value / 5, rel=1e-3)
    assert told["exploitability"] == pytest.approx(exact.value, rel=0.05)
    assert told["value"] == pytest.approx(value, abs=0.05)


def walked(folder, job):
    """What the walk over all hands and boards, which knows no board buckets, says of a folder's play locker."""
    with open_policy(folder) as policy:
        plain = Job.of(
            {"name": "plain", "game": {"text": Job.load(job).game.text}, "solve": {"leaves": "live"}}
        )
        layout = Layout.of(plain.problem)
        strategies = [strategies_of(policy, layout, t) for t in range(layout.n_rounds)]
    walker = Walker(layout.live, 1)
    return exploitability(walker, strategies), expected_value(walker, strategies)


def strategies_of(policy, layout, t):
    """Per player ``[board, slot, row]`` of a round, read decision by decision."""
    bets, table = layout.betting[t], layout.boards[t]
    rows = layout.live.rounds[t].hands
    out = [np.zeros((len(table.boards), bets.forest.n_slots[p], rows[p].n_rows)) for p in (0, 1)]
    for b, board in enumerate(table.boards):
        for node, slot in zip(bets.nodes, bets.forest.arrays.slot, strict=True):
            if node.kind == "decision":
                mine = board.hands[node.player]
                found = policy.decision(node.line, board.cards)
                there = found.frequencies[:, np.searchsorted(found.hands, mine.numbers)]
                out[node.player][b, slot : slot + len(node.actions), mine.row] = there.T
    return tuple(out)
