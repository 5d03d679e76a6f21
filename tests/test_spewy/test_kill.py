"""A solve that is killed again and again ends where an undisturbed one ends, and its folder is sound all the time."""

import json
import random
import signal
import subprocess
import time

import pytest
from cli_runs import COMMAND, good, good_json
from jobs import EXAMPLES

from spewy.look.solution import Solution

SETTINGS = {"solve.target": "0.3%", "solve.workers": "2", "solve.check_every": "1"}
"""With ``--save-every 0`` a save follows each check, so that kills fall into saves and between them."""
A_FEW_SAVES = 0.06
"""Seconds. T1 takes a hundred sweeps or so: twenty kills shall come before it is done."""


def arguments(folder):
    settings = (part for pair in SETTINGS.items() for part in ("--set", "=".join(pair)))
    return "solve", EXAMPLES / "T1.toml", "--out", folder, *settings, "--save-every", "0"


def start(folder):
    command = [*COMMAND, *map(str, arguments(folder)), "--json"]
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
        with start(folder) as process:
            assert told(process, "information sets")
            if rng.random() < 0.3:
                time.sleep(rng.random())  # while it builds, loads or begins
            elif told(process, ": exploitability"):
                time.sleep(A_FEW_SAVES * rng.random())
            process.send_signal(signal.SIGKILL)
            process.communicate()
        killed += process.returncode == -signal.SIGKILL
        assert good("check", folder).endswith(": healthy\n")
        with Solution.open(folder) as solution:
            reached.append(solution.sweeps)
    assert killed > kills / 2
    assert reached == sorted(reached)  # nothing that was saved is lost
    assert reached[-1] > 0
    with start(folder) as process:
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
