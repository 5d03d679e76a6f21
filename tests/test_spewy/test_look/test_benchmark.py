"""Benchmark games: values and files, checked by other programs and by CFR."""

import numpy as np
import pyspiel
import pytest
from cli_runs import good, refused
from scipy import optimize, sparse

import spewy
from spewy.errors import InputError
from spewy.job.job import Job
from spewy.look.benchmark import benchmark_games, write_efg, write_matrices

GAMES = {game.name: game for game in benchmark_games()}


def test_the_games_are_three_rivers_two_turns_and_a_flop():
    cards = [len(game.job.board) for game in benchmark_games()]
    assert cards == [5, 5, 5, 4, 4, 3]
    assert all(0 < game.within < 1e-3 * game.job.problem.pot / 100 for game in benchmark_games())


@pytest.mark.parametrize("name", ["river-small", "river-medium", "river-wide", "turn-small"])
def test_values_agree_with_cfr(name):
    """The second route: the exact engine's average strategies, whose EV lies within twice the exploitability."""
    game = GAMES[name]
    result = spewy.solve(game.job.replace(target="0.05%")).result
    pot = game.job.problem.pot
    assert result.ev[0] - pot / 2 == pytest.approx(game.value, abs=2 * result.exploitability + 1e-3)


def matrix(data, name):
    entries = data[f"{name}_value"], (data[f"{name}_row"], data[f"{name}_column"])
    return sparse.coo_matrix(entries, data[f"{name}_shape"]).tocsr()


@pytest.mark.parametrize("name", ["river-small", "turn-small"])
def test_matrices_have_the_value(name, tmp_path):
    """The second route: a linear program over the file alone, from ip's side."""
    data = np.load(write_matrices(GAMES[name].job, tmp_path / "game.npz"))
    a, e, f = (matrix(data, each) for each in "AEF")
    # ip minimises what oop can get: min e·u subject to E'u >= A y, F y = f, y >= 0
    n_u, n_y = e.shape[0], a.shape[1]
    answer = optimize.linprog(
        np.concatenate([data["e"], np.zeros(n_y)]),
        A_ub=sparse.hstack([-e.T, a]).tocsr(),
        b_ub=np.zeros(a.shape[0]),
        A_eq=sparse.hstack([sparse.csr_matrix((f.shape[0], n_u)), f]).tocsr(),
        b_eq=data["f"],
        bounds=[(None, None)] * n_u + [(0, None)] * n_y,
        method="highs-ipm",
    )
    assert answer.fun == pytest.approx(GAMES[name].value, abs=1e-5)


def test_the_variables_of_a_river_are_named(tmp_path):
    data = np.load(write_matrices(GAMES["river-small"].job, tmp_path / "game.npz"))
    n, actions = len(data["oop_hands"]), data["oop_actions"].tolist()
    assert actions[:3] == ["check", "bet 50", "all-in 150"]
    assert data["A_shape"].tolist() == [
        n * (1 + len(actions)),
        len(data["ip_hands"]) * (1 + len(data["ip_actions"])),
    ]
    plan = np.zeros(n * (1 + len(actions)))
    plan[:n] = plan[n : 2 * n] = data["e"][:n]  # every hand checks, and folds to a bet
    folds = [k for k, name in enumerate(actions) if name.endswith("fold")]
    after_check = [k for k in folds if actions[k].startswith("c")]
    for k in after_check:
        plan[n * (1 + k) : n * (2 + k)] = data["e"][:n]
    assert np.abs(matrix(data, "E") @ plan - data["e"]).max() == 0


def test_openspiel_reads_the_tree_and_finds_the_value(tmp_path):
    path = write_efg(GAMES["river-small"].job, tmp_path / "game.efg")
    game = pyspiel.load_game("efg_game", {"filename": str(path)})
    solver = pyspiel.CFRPlusSolver(game)
    for _ in range(300):
        solver.evaluate_and_update_policy()
    policy = solver.tabular_average_policy()
    exploitability = pyspiel.exploitability(game, policy)
    found = pyspiel.expected_returns(game.new_initial_state(), policy, -1, True)[0]
    assert exploitability < 1
    assert found == pytest.approx(GAMES["river-small"].value, abs=2 * exploitability)


def test_the_command_lists_and_writes_games(tmp_path):
    listed = good("examples", "--benchmark").splitlines()
    assert [line.split()[0] for line in listed] == ["game", *GAMES]
    assert f"{GAMES['river-small'].value:.6f}" in listed[1]
    folder = tmp_path / "games"
    good("examples", "--benchmark", folder)
    names = {path.name for path in folder.iterdir()}
    assert names == {
        *(f"{name}.toml" for name in GAMES),
        *(f"{name}.npz" for name in GAMES if name != "flop-small"),
        "river-small.efg",
        "values.json",
    }
    assert Job.load(folder / "turn-medium.toml").board == GAMES["turn-medium"].job.board
    good("examples", "--benchmark", folder)
    (folder / "river-wide.toml").write_text("changed")
    assert "river-wide.toml exists and differs" in refused("examples", "--benchmark", folder)
    (tmp_path / "file").write_text("")
    assert "expected a folder, found a file" in refused("examples", "--benchmark", tmp_path / "file")


@pytest.mark.parametrize(
    ("job", "told"),
    [
        (Job.of({"name": "Kuhn", "game": {"file": "kuhn"}}), "expected a spot, found a whole game"),
        (
            GAMES["river-small"].job.replace({"spot.rake.rate": 0.05}),
            "expected a game without rake and locks",
        ),
        (GAMES["river-small"].job.replace(lock=["x: bet"]), "expected a game without rake and locks"),
        (GAMES["turn-small"].job, "expected a river"),
        (GAMES["river-wide"].job, "expected a tree of at most 100,000 nodes, found 610,512"),
    ],
)
def test_games_without_a_tree(job, told, tmp_path):
    with pytest.raises(InputError, match=told):
        write_efg(job, tmp_path / "game.efg")
