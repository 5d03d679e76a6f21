"""``spewy match`` and ``spewy review``."""

import json
from dataclasses import replace

import pytest
from cli_runs import LEDUC, good, good_json, refused, spewy, write

from spewy.bot.transport import Doors
from spewy.match.match import play_match

TOLD = ("plain", "duplicate", "AIVAT", "AIVAT, duplicate")


@pytest.fixture(scope="module")
def leduc(tmp_path_factory):
    folder = tmp_path_factory.mktemp("leduc")
    good("solve", write(folder, LEDUC), "--out", folder / "leduc")
    return folder / "leduc"


@pytest.fixture(scope="module")
def played(tmp_path_factory, leduc):
    folder = tmp_path_factory.mktemp("match") / "logs"
    arguments = ("match", leduc, "random", "--hands", 40, "--seeds", "1-2", "--out", folder, "--workers", 1)
    return arguments, folder, good(*arguments)


def test_a_match_is_told(played):
    text = played[2]
    assert "leduc against random" in text
    assert "4 runs of 40 hands" in text
    assert all(f"\n{name} " in text for name in TOLD)


def test_a_match_that_is_whole_is_told_again(played):
    found = good_json(*played[0])
    assert (found["bots"], found["game"]) == (["leduc", "random"], "leduc")
    assert (found["hands"], found["seeds"], found["complete"], found["faults"]) == (40, [1, 2], True, [0, 0])
    assert found["score"]["plain"]["n"] == 160
    assert found["score"]["duplicate"]["n"] == 80
    assert found["score"]["aivat"]["mean"] > 0


def test_bots_that_tell_no_strategy_keep_their_luck():
    found = good_json("match", "call", "raise", "--game", "leduc", "--hands", 5)
    assert found["score"]["aivat"] is None


def test_bad_words():
    assert "bot 'nobody': expected one of random" in refused("match", "nobody", "call", "--game", "leduc")
    assert "--game: expected a game" in refused("match", "call", "call")
    assert "--seeds: expected numbers" in refused("match", "call", "call", "--game", "leduc", "--seeds", "x")
    assert "LBR setting" in refused("match", "lbr:x", "call", "--game", "leduc")
    assert "bots: expected a port for each, found 7001 for both" in refused(
        "match", "tcp:7001", "tcp:7001", "--game", "leduc"
    )
    assert "expected hold'em" in refused(
        "match", "call", "call", "--game", "leduc", "--hands", 1, "--phh", "x.phhs"
    )


def test_nothing_is_played_that_cannot_be_written(tmp_path):
    call = ("match", "call", "call", "--game", "leduc", "--hands", 1)
    assert "expected hold'em" in refused(*call, "--phh", tmp_path / "x.phhs", "--out", tmp_path / "logs")
    assert not (tmp_path / "logs").exists()
    (tmp_path / "file").write_text("")
    for folder in ("file", "file/logs"):
        assert f"{folder}: expected one that is there or can be made" in refused(
            *call, "--out", tmp_path / folder
        )


def test_who_is_waited_for_is_told():
    with Doors("127.0.0.1", (0,)) as doors:
        (port,) = doors.ports
    result = spewy("match", f"tcp:{port}", "call", "--game", "kuhn", "--hands", 1, "--seconds", 0.1)
    assert result.exit_code == 1
    first, *_, last = result.stderr.splitlines()
    assert (
        first
        == f"tcp-{port}: a client of the ACPC's protocol is waited for at 127.0.0.1:{port}, once in each of 2 runs"
    )
    assert last == f"Error: tcp-{port}: expected to connect in time, found nobody"


def test_no_time_at_all_is_refused(leduc):
    call = ("match", leduc, "call", "--hands", 1)
    for option in ("--seconds", "--budget"):
        assert f"Invalid value for '{option}': 0.0 is not in the range x>0" in refused(*call, option, 0)


def test_hands_are_written_and_reviewed_from_either_file(tmp_path):
    """In limit hold'em, whose lockers are too large here: the file alone."""
    file = tmp_path / "hands.phhs"
    good("match", "call", "raise", "--game", "holdem.limit.2p.reverse_blinds", "--hands", 3, "--phh", file)
    assert file.read_text().count('variant = "FT"') == 6


def test_a_review(played, leduc):
    text = good("review", played[1] / "seed-1.log", "--lockers", leduc)
    assert "lockers do it" in text
    found = good_json("review", played[1] / "seed-1.log", "--lockers", leduc)
    mine, other = found["players"]["leduc"], found["players"]["random"]
    assert (mine["hands"], other["hands"]) == (40, 40)
    assert mine["won"] == -other["won"]
    assert other["cost"] > abs(mine["cost"])
    first = found["decisions"][0]
    assert first["frequency"] == first["frequencies"][first["actions"].index(first["action"])]
    alone = good_json("review", played[1] / "seed-1.log", "--lockers", leduc, "--player", "leduc")
    assert {each["name"] for each in alone["decisions"]} == {"leduc"}
    assert alone["players"]["leduc"] == mine


def test_reviews_of_what_is_no_log(played, leduc, tmp_path):
    assert "expected a readable text file" in refused("review", tmp_path / "x", "--lockers", leduc)
    (tmp_path / "x").write_text("STATE:0\n")
    assert "line 1: log line: expected STATE:" in refused("review", tmp_path / "x", "--lockers", leduc)
    for name in ("empty.log", "empty.phhs"):
        (tmp_path / name).write_text("# a match that was interrupted\n")
        assert f"{name}: expected hands that were played, found none" in refused(
            "review", tmp_path / name, "--lockers", leduc, "--player", "x"
        )
    (tmp_path / "x.phh").write_text("=")
    assert "expected TOML" in refused("review", tmp_path / "x.phh", "--lockers", leduc)
    log = played[1] / "seed-1.log"
    assert "--player: expected one of leduc, random, found 'x'" in refused(
        "review", log, "--lockers", leduc, "--player", "x"
    )


def test_ctrl_c_tells_the_score_so_far(monkeypatch, tmp_path):
    def some(match, folder, watcher, workers):
        play_match(replace(match, seeds=match.seeds[:1]), folder, watcher, 1)
        raise KeyboardInterrupt

    monkeypatch.setattr("spewy.match.match.play_match", some)
    arguments = (
        "match",
        "call",
        "raise",
        "--game",
        "leduc",
        "--hands",
        5,
        "--seeds",
        "1-3",
        "--out",
        tmp_path,
    )
    result = spewy(*arguments, "--json")
    assert result.exit_code == 130
    found = json.loads(result.stdout)
    assert (found["complete"], found["score"]["plain"]["n"]) == (False, 10)
    assert "6 runs of 5 hands, 10 hands of them so far" in spewy(*arguments).stdout
    monkeypatch.undo()
    assert good_json(*arguments, "--workers", 1)["complete"]
