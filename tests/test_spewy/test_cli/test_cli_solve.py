"""``spewy solve`` from file to result: output, resume, interruption, and spots that arithmetic solves."""

import json
import os
import signal
import subprocess

import numpy as np
import pytest
from cli_runs import (
    COMMAND,
    KUHN,
    LEDUC,
    POLARISED,
    SOLVE_FIELDS,
    TURN,
    good,
    good_json,
    process,
    spewy,
    write,
)
from jobs import EXAMPLES

from lockers import open_store
from spewy.cli.solve import default_folder
from spewy.run.session import Session


def test_whole_game(tmp_path):
    found = good_json("solve", write(tmp_path, KUHN), "--out", tmp_path / "kuhn")
    assert list(found) == SOLVE_FIELDS
    assert found["converged"] is True
    assert found["interrupted"] is False
    assert found["value"] == pytest.approx(-1 / 18, abs=0.001)
    assert found["value_bracket"][0] <= -1 / 18 <= found["value_bracket"][1]
    assert found["exploitability_mbb"] == pytest.approx(1000 * found["exploitability"])
    assert found["exploitability_pct"] is found["ev"] is found["equity"] is None
    assert list(found["seconds"]) == ["build", "solve", "best_response", "total"]
    assert found["trace"][-1][0] == found["sweeps"]
    assert found["trace"][-1][2] == found["exploitability"]


def test_spot(tmp_path):
    found = good_json("solve", write(tmp_path, TURN), "--out", tmp_path / "turn")
    assert found["value"] is found["value_bracket"] is found["exploitability_mbb"] is None
    assert found["exploitability_pct"] == pytest.approx(found["exploitability"])  # of a pot of 100
    assert sum(found["ev"]) == pytest.approx(100)
    assert sum(found["equity"]) == pytest.approx(1)


def test_streams_are_apart(tmp_path):
    result = process("solve", write(tmp_path, KUHN), "--out", tmp_path / "kuhn", "--json")
    assert result.returncode == 0
    found = json.loads(result.stdout)
    assert found["name"] == "Kuhn"
    seconds = found["seconds"]
    assert seconds["total"] > seconds["build"] + seconds["solve"] + 0.1  # imports alone take longer
    assert "information sets" in result.stderr
    assert "sweep 50: exploitability" in result.stderr
    assert "\r" not in result.stderr  # no bar where nobody watches


def test_for_people(tmp_path):
    text = good("solve", write(tmp_path, POLARISED), "--out", tmp_path / "out")
    lines = dict(line.split("  ", 1) for line in text.splitlines())
    names = "job converged sweeps variant exploitability EV equity first action time process"
    assert " ".join(name.strip() for name in lines) == names
    assert lines["converged"].strip() == "yes"
    assert "% of the pot" in lines["exploitability"]
    assert "all-in 100 37.5%" in lines["first action"]


def test_not_converged_is_said(tmp_path):
    job = write(tmp_path, KUHN)
    args = ["solve", job, "--out", tmp_path / "kuhn", "--set", "solve.max_sweeps=3"]
    found = good_json(*args)
    assert (found["converged"], found["sweeps"]) == (False, 3)
    assert "converged       no\n" in good(*args)
    further = spewy(*args, "--set", "solve.max_sweeps=4", "--set", "solve.workers=2")
    assert "continuing after sweep 3" in further.stderr


@pytest.mark.parametrize("name", ["..", "../../x", "/etc", "a/b", "..."])
def test_no_name_leads_out_of_results(name):
    assert default_folder(name).parent.as_posix() == "results"
    assert default_folder(name).name not in ("", ".", "..")


def test_interrupt_and_go_on(tmp_path):
    options = ["--set", "solve.max_sweeps=20", "--json"]
    job, folder = write(tmp_path, LEDUC), tmp_path / "interrupted"
    command = [*COMMAND, "solve", str(job), "--out", str(folder), *options]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as running:
        for line in running.stderr:
            if line.startswith("sweep "):
                break
        os.killpg(running.pid, signal.SIGINT)  # what a terminal does: helpers get it too
        out, err = running.communicate(timeout=60)
    assert running.returncode == 130, err
    stopped = json.loads(out)
    assert stopped["interrupted"] is True
    assert 0 < stopped["sweeps"] < 20
    assert "everything is saved" in err
    assert "Traceback" not in err
    assert "Warning" not in err
    with open_store(folder, read_only=True) as store:
        assert store.check() == []
    resumed = good_json("solve", job, "--out", folder, *options)
    whole = good_json("solve", job, "--out", tmp_path / "whole", *options)
    assert resumed["sweeps"] == whole["sweeps"] == 20
    for field in ("exploitability", "ev", "value"):
        assert resumed[field] == (None if whole[field] is None else pytest.approx(whole[field], rel=1e-12))


def test_second_interrupt(tmp_path, monkeypatch):
    def solve(self, listener):
        raise KeyboardInterrupt

    monkeypatch.setattr(Session, "solve", solve)
    result = spewy("solve", write(tmp_path, KUHN), "--out", tmp_path / "kuhn")
    assert result.exit_code == 130
    assert result.stdout == ""
    assert "interrupted" in result.stderr


def test_unexpected_errors(tmp_path, monkeypatch):
    def solve(self, listener):
        raise RuntimeError("a bug\nof two lines")

    monkeypatch.setattr(Session, "solve", solve)
    args = ["solve", write(tmp_path, KUHN), "--out", tmp_path / "kuhn"]
    quiet = spewy(*args)
    assert quiet.exit_code == 1
    assert quiet.stderr.splitlines()[-1].startswith("Error: unexpected RuntimeError: a bug of two lines")
    for loud in (spewy("-v", *args), spewy(*args, "-v")):
        assert loud.exit_code == 1
        assert isinstance(loud.exception, RuntimeError)


def test_a_refused_job_leaves_the_folder_free(tmp_path):
    """A budget or a unit that cannot be is told before the folder is stamped with the job."""
    job, folder = write(tmp_path, TURN), tmp_path / "turn"
    for bad in ("solve.memory=1 KiB", "solve.target=1 mbb"):
        assert spewy("solve", job, "--out", folder, "--set", bad).exit_code == 2
        assert not folder.exists()
    good("solve", job, "--out", folder, "--set", "rows.river=3", "--set", "solve.max_sweeps=1")


# Two spots that arithmetic solves (through files, lockers and output).

ROUNDED = 2e-5  # chips: what single precision leaves of pots of 100 to 200


@pytest.mark.parametrize("leaves", ["live", "stored"])
def test_everyone_checks(leaves, tmp_path):
    """No bet sizes, so nobody can bet: EV = pot · equity.

    Of the 44 river cards 2 are kings and beat the aces: equity 42/44; jack-ten never wins. Neither hand shares a card
    with the kings, so each is held half the time: equity 21/44.
    """
    text = TURN.replace('"AhAd,KdQd,JcTc"', '"AhAd,JcTc"').replace('"KhKc,8s7s"', '"KhKd"')
    job = write(tmp_path, text.replace('bet = "50%"', 'bet = ""'))
    args = [job, "--out", tmp_path / "out", "--set", f"solve.leaves={leaves}"]
    assert good_json("tree", job)["root"]["actions"].keys() == {"check"}
    found = good_json("solve", *args)
    assert found["converged"]
    assert found["exploitability"] == pytest.approx(0, abs=ROUNDED if leaves == "live" else 1e-12)
    assert found["equity"] == pytest.approx([21 / 44, 23 / 44], abs=1e-12)
    assert found["ev"] == pytest.approx(
        [100 * 21 / 44, 100 * 23 / 44], abs=ROUNDED if leaves == "live" else 1e-9
    )
    hands = good_json("show", tmp_path / "out")["hands"]
    assert hands["AhAd"] == {
        "reach": 1,
        "strategy": [1],
        "ev": pytest.approx(100 * 42 / 44),
        "action_ev": [pytest.approx(100 * 42 / 44)],
        "equity": pytest.approx(42 / 44),
    }
    assert hands["JcTc"]["ev"] == pytest.approx(0, abs=ROUNDED)


def test_everyone_checks_with_wide_ranges(tmp_path):
    """The same with card removal and weights: each hand's EV is the pot times its equity."""
    text = (EXAMPLES / "T1.toml").read_text().split("[bets.turn]")[0].replace("AJo+", "AJo+:0.5")
    job = write(tmp_path, text + '[bets.turn]\nbet = ""\n')
    found = good_json("solve", job, "--out", tmp_path / "out")
    assert found["ev"] == pytest.approx([200 * share for share in found["equity"]], abs=ROUNDED)
    hands = good_json("show", tmp_path / "out", "--line", "c")["hands"]
    assert len(hands) > 100
    for hand in hands.values():
        assert hand["ev"] == pytest.approx(200 * hand["equity"], abs=ROUNDED)


def test_polarised_river(tmp_path):
    """A pot-sized all-in: bluffs are half of the value bets, and half of the bluff-catchers call.

    Pot 100, bet 100; oop has 1 value hand that always bets and 3 hands of air, ip one bluff-catcher.
    ip is indifferent when b · 200 = v · 100, so b = 1/2 of the v = 1 value hand: oop bets 1.5 of 4 hands, 0.375.
    Air is indifferent (0, what checking gives) when c · (-100) + (1 - c) · 100 = 0, so ip calls c = 1/2.
    EV: value gets 1/2 · 100 + 1/2 · 200 = 150, air 0: oop (150 + 3 · 0) / 4 = 37.5, ip 100 - 37.5 = 62.5.
    Equity of oop: 1/4.
    """
    found = good_json("solve", write(tmp_path, POLARISED), "--out", tmp_path / "out")
    assert found["converged"]
    assert found["ev"] == pytest.approx([37.5, 62.5], abs=0.01)
    assert found["equity"] == pytest.approx([0.25, 0.75], abs=1e-12)
    root = good_json("show", tmp_path / "out")
    assert root["actions"] == ["check", "all-in 100"]
    bets = {hand: row["strategy"][1] for hand, row in root["hands"].items()}
    assert bets.pop("KhKd") == pytest.approx(1, abs=0.01)
    assert sum(bets.values()) == pytest.approx(0.5, abs=0.01)
    assert root["hands"]["KhKd"]["ev"] == pytest.approx(150, abs=1)
    assert np.mean([row["ev"] for row in root["hands"].values()]) == pytest.approx(37.5, abs=0.01)
    facing = good_json("show", tmp_path / "out", "--line", "r100")
    assert facing["player"] == 1
    calls = facing["hands"]["AhAd"]["strategy"][facing["actions"].index("call")]
    assert calls == pytest.approx(0.5, abs=0.01)
