"""Solves that are killed again and again lose nothing that was saved, and their folders are sound all the time.

A spot ends where an undisturbed solve ends. A whole game counts every deal once.
"""

import json
import random
import signal
import subprocess
import time

import pytest
from cli_runs import COMMAND, good, good_json, write
from dealt_jobs import DEALT_FLOP, visits_in
from jobs import EXAMPLES

from lockers import open_store
from spewy.records.progress import saved_sweeps
from spewy.records.status import LOG

SETTINGS = {"solve.target": "0.3%", "solve.workers": "2", "solve.check_every": "1"}
"""With ``--save-every 0`` a save follows each check, so that kills fall into saves and between them."""
A_FEW_SAVES = 0.06
"""Seconds. T1 takes a hundred sweeps or so: twenty kills shall come before it is done."""


def arguments(folder):
    settings = (part for pair in SETTINGS.items() for part in ("--set", "=".join(pair)))
    return "solve", EXAMPLES / "T1.toml", "--out", folder, *settings, "--save-every", "0"


def start(*given):
    command = [*COMMAND, *map(str, given), "--json"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def told(process, text):
    """Read what a solve says until it says this, or ends."""
    return any(text in line for line in process.stderr)


@pytest.mark.slow
@pytest.mark.parametrize("kills", [20])
def test_killed_again_and_again(kills, tmp_path):
    rng = random.Random(kills)
    whole = good_json(*arguments(tmp_path / "whole"))
    folder, reached, killed = tmp_path / "killed", [], 0
    for _ in range(kills):
        with start(*arguments(folder)) as process:
            assert told(process, "information sets")
            if rng.random() < 0.3:
                time.sleep(rng.random())  # while it builds, loads or begins
            elif told(process, ": exploitability"):
                time.sleep(A_FEW_SAVES * rng.random())
            process.send_signal(signal.SIGKILL)
            process.communicate()
        killed += process.returncode == -signal.SIGKILL
        assert good("check", folder).endswith(": healthy\n")
        reached.append(deals_saved(folder))
    assert killed > kills / 2
    assert reached == sorted(reached)  # nothing that was saved is lost
    assert reached[-1] > 0
    with start(*arguments(folder)) as process:
        said, _ = process.communicate()
    assert process.returncode == 0
    result = json.loads(said)
    assert result["converged"]
    assert result["exploitability_pct"] <= 0.3
    assert result["sweeps"] >= reached[-1]
    assert good_json("exploit", folder)["exploitability"] == pytest.approx(result["exploitability"], rel=1e-3)
    for mine, theirs in zip(result["ev"], whole["ev"], strict=True):
        assert mine == pytest.approx(theirs, abs=0.003 * 200)
    sweeps = [row[0] for row in result["trace"]]
    assert sweeps == sorted(set(sweeps))  # no sweep is told twice
    assert good("check", folder).endswith(": healthy\n")


GAME = DEALT_FLOP.replace("flop = 3", "flop = 60").replace("flop = 5", "flop = 20")
"""A game with so many board buckets that a save takes as long as a few deals, and most kills fall into a save."""
KILLS = 40
FOR_EVER = ("--set", "solve.max_sweeps=1000000000", "--set", "solve.check_every=8 h")


@pytest.fixture(scope="module")
def game(tmp_path_factory):
    """A whole game that was killed `KILLS` times and then finished.

    Returns:
        The folder; after each kill, the deals in the lockers, and the deals of the last save in the log.
    """
    rng, folder = random.Random(KILLS), tmp_path_factory.mktemp("game")
    job, out, reached, logged = write(folder, GAME), folder / "out", [], []
    solve = ("solve", job, "--out", out, "--save-every", "0")
    for _ in range(KILLS):
        with start(*solve, *FOR_EVER) as process:
            assert told(process, "information sets")
            if rng.random() < 0.2:
                time.sleep(rng.random())  # while it builds, loads or begins
            else:
                before, deadline = saves_told(out), time.monotonic() + 60
                while saves_told(out) == before and time.monotonic() < deadline:
                    time.sleep(0.01)
                time.sleep(0.3 * rng.random())
            process.send_signal(signal.SIGKILL)
            process.communicate()
        assert process.returncode == -signal.SIGKILL
        assert good("check", out).endswith(": healthy\n")
        reached.append(deals_saved(out))
        logged.append(saves_told(out)[-1])
    last = max(map(max, visits_in(out).values())) + 1000  # after all deals beyond the last mark
    told_last = good_json(*solve, "--set", f"solve.max_sweeps={last}", "--set", "solve.check_flops=1")
    assert told_last["sweeps"] == last
    return out, reached, logged


def deals_saved(folder):
    """The number of sweeps or deals that a folder's lockers hold."""
    with open_store(folder, read_only=True) as store:
        return saved_sweeps(store)


def saves_told(folder):
    """The number of saved deals in each line of the log that tells of a save, after a 0."""
    log = folder / LOG
    lines = [line.split() for line in log.read_text().splitlines()] if log.exists() else []
    return [0, *(int(line[3]) for line in lines if line[2] == "save")]


@pytest.mark.slow
def test_a_whole_game_that_is_killed_loses_no_save(game):
    folder, reached, logged = game
    assert reached == sorted(reached)
    assert all(deals >= told for deals, told in zip(reached, logged, strict=True))
    assert len(set(reached)) > KILLS / 3  # many a run has saved something
    assert saves_told(folder) == sorted(saves_told(folder))
    assert good("check", folder).endswith(": healthy\n")


@pytest.mark.slow
def test_a_whole_game_that_is_killed_counts_every_deal_once(game):
    """Each deal visits one class of each round, for either player."""
    folder, _, _ = game
    deals = deals_saved(folder)
    assert visits_in(folder) == {t: [deals, deals] for t in range(2)}


@pytest.mark.slow
def test_a_deal_visits_one_class_of_each_round(tmp_path):
    good("solve", write(tmp_path, DEALT_FLOP), "--out", tmp_path / "out", "--set", "solve.check_flops=1")
    assert visits_in(tmp_path / "out") == {0: [100, 100], 1: [100, 100]}
