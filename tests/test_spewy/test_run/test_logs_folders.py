"""Folders that matches, series and tournaments keep their logs in: one command at a time, and the same bots."""

import pytest
from cli_runs import good, refused, spewy, write

from lockers import LOCK
from spewy.system.folders import FolderLock

MATCH = ("match", "call", "raise", "--game", "leduc", "--hands", 3, "--workers", 1)
CUP = """
name = "cup"
rules = "acpc-bankroll"
[[bots]]
name = "a"
bot = "{}"
[[bots]]
name = "b"
bot = "raise"
[acpc]
game = "leduc"
hands = 3
"""


@pytest.fixture
def taken(tmp_path):
    with FolderLock(tmp_path / "logs", "match"):
        yield tmp_path / "logs"


def test_two_commands_do_not_write_into_the_same_logs(taken, tmp_path):
    referee = ("referee", "kuhn_poker", "random", "random", "--matches", 1, "--chance-seconds", 0)
    for call in (MATCH, ("tournament", write(tmp_path, CUP.format("call"))), referee):
        another = "another " if call[0] == "match" else ""
        assert f"logs is in use by {another}`spewy match`" in refused(*call, "--out", taken)
    assert [path.name for path in taken.iterdir()] == [LOCK]


def test_hands_of_one_bot_are_no_score_of_another(tmp_path):
    out, cup = tmp_path / "out", write(tmp_path, CUP.format("call"))
    first = good("tournament", cup, "--out", out, "--workers", 1)
    cup.write_text(CUP.format("random"))
    told = refused("tournament", cup, "--out", out, "--workers", 1)
    assert "a--b/seed-0.log has hands of another bot: a had bot 'call', and has bot 'random'" in told
    cup.write_text(CUP.format("call"))
    assert good("tournament", cup, "--out", out, "--workers", 1) == first


def test_a_bot_that_never_played_may_be_mended(tmp_path):
    for command in ("cmd:true one", "cmd:true two"):
        result = spewy("match", command, *MATCH[2:], "--out", tmp_path)
        assert result.exit_code == 1
        assert "true ended with exit code 0 before it connected" in result.stderr
    good("match", "true=call", *MATCH[2:], "--out", tmp_path)
