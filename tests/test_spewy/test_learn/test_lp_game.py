"""``method = "lp"`` alone: a whole small game as one linear program, from the job file to the folder."""

import json
import os
import re
import signal
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pool_tasks
import pytest
from cli_runs import KUHN, LEDUC, POLARISED, TURN, good, good_json, process, refused, spewy, write
from dask_cluster import wait_until
from jobs import EXAMPLES
from open_spiel.python.algorithms.exploitability import exploitability as spiel_exploitability
from process_groups import running_in
from running import says, started, wait_for
from spiel import tabular_policy

from buckets.cards import cards_name
from solvers.matrix.lp import live_form
from spewy.chunks.layout import Layout
from spewy.game.ranges.range import combo_name
from spewy.job.job import Job
from spewy.learn import lp
from spewy.learn.lp import lp_size
from spewy.look.solution import Solution, solve

LP = ("--set", "solve.method=lp")
LEDUC_VALUE = -0.0856064240780
LOCK = '[[lock]]\nline = ""\nstrategy = [0.5, 0.5]\n[[lock]]\nline = "cc/"\nhands = { AhAd = [0.2, 0.8] }\n'

# A turn of 30 hands each: half a million nonzeros, a minute and more.
LONG = TURN.replace("AhAd,KdQd,JcTc", "AA,KQs,JTs,98s,77,A5s,66").replace(
    "KhKc,8s7s", "KK,87s,AKs,AQs,55,JJ,T9s"
)


@pytest.fixture(scope="module")
def leduc(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lp") / "leduc"
    return good_json("solve", EXAMPLES / "leduc-lp.toml", "--out", folder), folder


def test_kuhn(tmp_path):
    found = good_json("solve", write(tmp_path, KUHN), "--out", tmp_path / "kuhn", *LP)
    assert found["value"] == pytest.approx(-1 / 18, abs=1e-9)
    assert (found["sweeps"], found["converged"], found["interrupted"]) == (1, True, False)
    assert abs(found["exploitability"]) < 1e-9
    assert [row[0] for row in found["trace"]] == [1]
    assert found["trace"][0][2] == found["exploitability"]
    out_of_reach = ("--set", "solve.target=0 chips", "--set", "solve.check_every=7")
    found = good_json("solve", tmp_path / "job.toml", "--out", tmp_path / "more", *LP, *out_of_reach)
    assert found["sweeps"] == len(found["trace"]) == 1  # nothing follows the one sweep
    assert found["converged"] == (found["exploitability"] <= 0)


def test_keys_of_cfr_have_no_effect(tmp_path):
    """job-file.md lists these keys; other keys without effect are refused."""
    cfr = ("variant=pcfr+", "max_sweeps=7", "check_every=3", "symmetry=false", "precision=single")
    job = write(tmp_path, 'name = "Kuhn"\ngame.file = "kuhn"\nsolve.method = "lp"\n')
    sets = [part for key in cfr for part in ("--set", f"solve.{key}")]
    plain, found = (
        good_json("solve", job, "--out", tmp_path / name, *more) for name, more in (("a", []), ("b", sets))
    )
    assert all(found[key] == plain[key] for key in ("sweeps", "value", "exploitability"))
    page = (EXAMPLES.parent / "docs/reference/job-file.md").read_text()
    listed = page.split("In a solve by one linear program, the keys ")[1].split(" have no effect")[0]
    assert re.findall(r"`(\w+)`", listed) == [key.split("=")[0] for key in cfr]
    assert "solve.iterations" in refused("solve", job, "--set", "solve.iterations=5")


def test_leduc(leduc):
    found, _ = leduc
    assert found["value"] == pytest.approx(LEDUC_VALUE, abs=1e-9)
    assert found["value_bracket"] == pytest.approx([LEDUC_VALUE, LEDUC_VALUE], abs=1e-9)
    assert (found["sweeps"], found["converged"]) == (1, True)
    assert abs(found["exploitability"]) < 1e-9


def test_leduc_is_an_equilibrium_in_open_spiel_too(leduc):
    with Solution.open(leduc[1]) as solution:
        assert spiel_exploitability(*tabular_policy(solution, "leduc")) == pytest.approx(0, abs=1e-9)


def test_every_command_reads_the_folder(leduc, tmp_path):
    """Boards are solved without symmetry whatever the job says, and are found again."""
    _, folder = leduc
    assert good_json("exploit", folder)["exploitability"] == pytest.approx(0, abs=1e-9)
    deck = {rank + suit for rank in "AKQ" for suit in "hs"}
    for board in deck:
        assert set(good_json("show", folder, "--line", "cc/", "--board", board)["hands"]) == deck - {board}
    good("export", folder, tmp_path / "x.csv")
    assert set(pd.read_csv(tmp_path / "x.csv").board.dropna()) == deck
    assert good("check", folder).endswith(": healthy\n")


def test_a_folder_that_is_done_is_not_solved_again(leduc, monkeypatch):
    monkeypatch.setattr(lp.LpEngine, "_solve", None)
    again = good_json("solve", EXAMPLES / "leduc-lp.toml", "--out", leduc[1])
    assert (again["value"], again["trace"]) == (leduc[0]["value"], leduc[0]["trace"])


def test_a_polarised_river_by_arithmetic(tmp_path):
    """One bluff to two value bets, and half of the bluff-catchers call: see the same spot by CFR."""
    folder = tmp_path / "out"
    found = good_json("solve", write(tmp_path, POLARISED), "--out", folder, *LP)
    assert found["ev"] == pytest.approx([37.5, 62.5], abs=1e-9)
    first = good_json("show", folder)["hands"]
    bets = {hand: row["strategy"][1] for hand, row in first.items()}
    assert bets.pop("KhKd") == pytest.approx(1, abs=1e-9)
    assert sum(bets.values()) == pytest.approx(0.5, abs=1e-9)
    assert good_json("show", folder, "--line", "r100")["hands"]["AhAd"]["strategy"] == pytest.approx(
        [0.5, 0.5]
    )


@pytest.mark.parametrize("locks", ["", LOCK], ids=["free", "locked"])
def test_a_turn_is_worth_what_cfr_finds(locks, tmp_path):
    job = write(tmp_path, TURN.replace("AhAd,KdQd,JcTc", "AhAd,KdQd:0.3,JcTc,9h9s:0.01") + locks)
    by_lp = good_json("solve", job, "--out", tmp_path / "lp", *LP)
    by_cfr = good_json("solve", job, "--out", tmp_path / "cfr", "--set", "solve.target=0.01%")
    assert abs(by_lp["exploitability"]) < 1e-9
    assert by_lp["ev"] == pytest.approx(by_cfr["ev"], abs=0.02)
    if locks:
        views = [good_json("show", tmp_path / name) for name in ("lp", "cfr")]
        assert all(row["strategy"] == [0.5, 0.5] for view in views for row in view["hands"].values())


def test_whole_chunks_are_solved_where_the_job_averages(tmp_path):
    options = ("solve.integrate=average", "solve.leaves=auto", "solve.max_sweeps=2")
    sets = [part for option in options for part in ("--set", option)]
    found = good_json("solve", write(tmp_path, LEDUC), "--out", tmp_path / "out", *LP, *sets)
    assert found["sweeps"] == 2
    assert found["exploitability"] > 0.01


@pytest.mark.parametrize(
    ("text", "options", "named"),
    [
        (TURN, ["rows.river=3"], 'expected rows.river = "hands", found 3'),
        (TURN, ["rows.turn=3", "solve.leaves=live"], 'expected rows.turn = "hands", found 3'),
        (TURN, ["solve.leaves=stored"], 'expected solve.leaves = "auto" or "live", found "stored"'),
        (TURN, ["spot.rake={ rate = 0.1 }"], "expected no spot.rake"),
        (TURN, ["solve.precision=16-bit"], "16-bit"),
        (TURN, ["solve.memory=20 MiB"], "found 20 MiB"),
    ],
)
def test_refused(text, options, named, tmp_path):
    sets = [part for option in options for part in ("--set", option)]
    assert named in refused("solve", write(tmp_path, text), "--out", tmp_path / "out", *LP, *sets)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("command", ["solve", "estimate"])
@pytest.mark.parametrize("name", ["T1", "F1", "rhode-island"])
def test_too_large_is_said_with_its_size_before_anything_is_laid_out(name, command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("spewy.chunks.layout.board_rounds", None)
    line = refused(command, EXAMPLES / f"{name}.toml", *LP)
    assert "which must take at most about 5 minutes" in line
    assert "nonzeros, about" in line
    assert 'use solve.method = "cfr"' in line
    assert list(tmp_path.iterdir()) == []


def test_estimate_counts_the_program(tmp_path):
    for text in (KUHN, TURN):
        job = write(tmp_path, text)
        found = good_json("estimate", job, *LP)["program"]
        form = live_form(Layout.of(Job.load(job, ["solve.method=lp"]).problem).live)
        assert found["nonzeros"] == form.payoff.nnz + form.flow[0].nnz + form.flow[1].nnz
    assert found == {"variables": 2919, "constraints": 2641, "nonzeros": 9527, "sums": 0, "further": 0}
    assert "2,919 variables" in good("estimate", job, *LP)
    assert good_json("estimate", job)["program"] is None
    assert good_json("estimate", EXAMPLES / "R1.toml", *LP)["fits"]


def test_counted_without_boards_as_with_them():
    """Ties at showdowns, which Leduc has, are the only zeros that are not counted out."""
    job = Job.load(EXAMPLES / "leduc-lp.toml")
    form, size = live_form(Layout.of(job.problem).live), lp_size(job.problem)
    (n_x, n_y), (n_e, n_f) = form.payoff.shape, (flow.shape[0] for flow in form.flow)
    assert (size.variables, size.constraints) == (n_x + n_f, n_y + n_e)
    assert 0 < size.nonzeros - (form.payoff.nnz + form.flow[0].nnz + form.flow[1].nnz) < form.payoff.nnz / 4


def test_running_sums_are_counted_without_boards():
    """Only sums over no hand, and up to the same hand, are not counted out."""
    job = Job.load(EXAMPLES / "R1.toml", ["solve.method=lp"])
    form, size = live_form(Layout.of(job.problem).live), lp_size(job.problem)
    (n_x, n_y), n_sums = form.payoff.shape, form.sums.shape[0]
    assert (size.variables, size.constraints) == (
        n_x + form.flow[1].shape[0],
        n_y + n_sums + form.flow[0].shape[0],
    )
    nonzeros = form.payoff.nnz + form.sums.nnz + form.flow[0].nnz + form.flow[1].nnz
    assert nonzeros <= size.nonzeros < 1.1 * nonzeros


def random_river(rng, hands, name, bet="40%, 100%, a"):
    """A river with random ranges of so many hands, and a random depth."""
    cards = rng.permutation(52)
    oop, ip = (
        ",".join(
            f"{combo_name(hand)}:{rng.uniform(0.05, 1):.3f}"
            for hand in rng.choice(1326, hands, replace=False)
        )
        for _ in range(2)
    )
    pot = int(rng.integers(10, 60))
    return Job.of(
        {
            "name": name,
            "game": {"file": "holdem.nolimit.2p.reverse_blinds"},
            "spot": {
                "board": cards_name(cards[:5]),
                "pot": 2 * pot,
                "stack": int(rng.integers(pot, 12 * pot)),
                "oop": oop,
                "ip": ip,
            },
            "bets": {"river": {"bet": bet, "raise": "a"}},
            "solve": {"target": "0.3%"},
        }
    )


def referee(job):
    """CFR and the linear program say the same of a river."""
    with solve(job) as solution:
        bounds = solution.exploitability().value_bracket
        result = solution.exploitability(lp=True)
    low, high = result.value_bracket
    pot = job.spot.pot
    assert abs(high - low) < 1e-9 * pot
    assert bounds[0] - 1e-9 <= low
    assert high <= bounds[1] + 1e-9
    assert bounds[1] - bounds[0] > 1e-5 * pot
    assert min(result.of_players) >= 0
    assert sum(result.of_players) / 2 == pytest.approx(result.exploitability, abs=1e-9)


@pytest.mark.parametrize("hands", [12, 60])
def test_the_referee_of_a_river(hands):
    """The program of 12 hands has pairs of hands, the program of 60 hands running sums."""
    referee(random_river(np.random.default_rng(hands), hands, "river"))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_the_referee_of_ten_rivers(seed):
    rng = np.random.default_rng(seed)
    if seed == 0:  # all hands
        referee(random_river(rng, 1326, "river 0", "100%"))
    else:
        referee(random_river(rng, int(rng.integers(40, 250)), f"river {seed}"))


def test_the_command_tells_the_value_and_both_strategies(tmp_path):
    good("solve", write(tmp_path, POLARISED), "--out", tmp_path / "out", "--set", "solve.max_sweeps=300")
    found = good_json("exploit", tmp_path / "out", "--lp")
    assert found["value_bracket"] == pytest.approx([-12.5, -12.5], abs=1e-9)
    assert sum(found["of_players"]) / 2 == pytest.approx(found["exploitability"], abs=1e-9)
    result = spewy("exploit", tmp_path / "out", "--lp")
    told = result.stdout
    assert result.stderr.startswith("polarised: linear program with 15 variables")
    assert "player 0's value   -12.50000000 net chips, within" in told
    assert "exploitability of  oop" in told


def test_games_without_a_program_are_refused(tmp_path):
    raked = POLARISED.replace("[spot]", "[spot]\nrake = { rate = 0.05, cap = 3 }")
    good("solve", write(tmp_path, raked), "--out", tmp_path / "out", "--set", "solve.max_sweeps=20")
    assert "needs a zero-sum game, found spot.rake" in refused("exploit", tmp_path / "out", "--lp")
    wide = EXAMPLES / "T1.toml"
    good("solve", wide, "--out", tmp_path / "T1", "--set", "solve.max_sweeps=1", "--set", "solve.target=90%")
    assert "the linear program must take at most about 5 minutes" in refused(
        "exploit", tmp_path / "T1", "--lp"
    )


def test_ctrl_c_ends_the_program(tmp_path):
    """HiGHS knows no interruption: its process is ended, and nothing stays behind."""
    with started("solve", write(tmp_path, LONG), "--out", tmp_path / "out", *LP, "--json") as running:
        assert says(running, "information sets")
        children = Path(f"/proc/{running.pid}/task/{running.pid}/children")
        wait_for(children.read_text, running)  # HiGHS's process starts once everything is imported
        time.sleep(2)  # long enough for its process to be at work
        os.killpg(running.pid, signal.SIGINT)  # what a terminal does: helpers get it too
        out, err = running.communicate(timeout=120)
    assert running.returncode == 130, err
    found = json.loads(out)
    assert (found["interrupted"], found["sweeps"], found["exploitability"]) == (True, 0, None)
    assert "Traceback" not in err
    assert "Warning" not in err
    assert good("check", tmp_path / "out").endswith(": healthy\n")
    wait_until(lambda: not running_in(running.pid))


def test_a_killed_program_is_a_failure_of_the_machine(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.fspath(Path(pool_tasks.__file__).parent), prepend=os.pathsep)
    monkeypatch.setattr(lp, "_solve", pool_tasks.killed)
    result = spewy("solve", write(tmp_path, KUHN), "--out", tmp_path / "out", *LP)
    assert (result.exit_code, result.stdout) == (1, "")
    told = "Error: a worker process was ended by SIGKILL"
    assert result.stderr.splitlines()[-1].startswith(told)
    assert "Traceback" not in result.stderr


@pytest.mark.slow
def test_a_batch_of_programs(tmp_path):
    jobs = [write(tmp_path, text, f"{name}.toml") for name, text in (("k", KUHN), ("p", POLARISED))]
    result = process("solve", *jobs, "--out", tmp_path / "out", "--jobs", "2", *LP, "--json")
    assert result.returncode == 0, result.stderr
    assert [found["sweeps"] for found in json.loads(result.stdout)] == [1, 1]
    assert "Warning" not in result.stderr


def test_light_ranges_are_solved_as_heavy_ones(tmp_path):
    job = write(tmp_path, POLARISED.replace("AhAd", "AhAd:0.000000001"))
    found = good_json("solve", job, "--out", tmp_path / "out", *LP)
    assert found["ev"] == pytest.approx([37.5, 62.5], abs=1e-9)
