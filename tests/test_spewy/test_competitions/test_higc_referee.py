"""The referee: what players do wrong, and what becomes of it."""

import errno
import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from cli_runs import good_json, refused, spewy
from higc_tables import QUICK, Scripted, local, program

from spewy.competitions.higc.agents import RandomAgent
from spewy.competitions.higc.referee import greet, play
from spewy.competitions.higc.series import Series, open_channel, outcome, parse_bot, play_series
from spewy.competitions.higc.spiel import SpielGame
from spewy.errors import InputError
from spewy.match.connection import Program, command_words
from spewy.match.entrant import Entrant

RANDOM = """
import random, sys
print_ = lambda text: print(text, flush=True)
name, seat = input(), input()
while not (line := input()).startswith("end of game"):
    words = line.split()[1:]
    if words: print_(random.choice(words))
"""
OLDER = """
input(), input()
say = lambda text: print(text, flush=True)
say("ready")
while True:
    say("start")
    while True:
        line = input()
        if line == "tournament over": say(line); raise SystemExit
        if line.startswith("match over"): say("match over"); break
        words = line.split()[2:]
        say(words[0] if words else "ponder")
"""
SHORT = replace(QUICK, act=0.3, prepare=0.3, leave=0.3)


def played(command, limits=QUICK, game="leduc_poker", seed=5):
    """A match of a program, as player 0, against chance."""
    found = SpielGame(game, limits.dialect)
    with Program(command_words(command), "bot") as bot:
        channels = [bot, local(RandomAgent(1), limits.dialect)]
        return play(found, channels, limits, seed, greet(channels, found, limits))


def kinds(match):
    """Kinds of faults of player 0, and whether it is out."""
    return [fault.kind for fault in match.faults if fault.seat == 0], match.out[0]


@pytest.mark.parametrize("game", ["kuhn_poker", "leduc_poker", "gin_rummy", "matrix_rps"])
def test_a_program_plays_a_match(tmp_path, game):
    found = played(program(tmp_path, RANDOM), game=game)
    assert kinds(found) == ([], False)
    assert sum(found.returns) == 0


def test_a_hundred_and_nine_kilobytes_are_read(tmp_path):
    """All raises of a game without a limit."""
    game = "universal_poker(bettingAbstraction=fullgame,stack=20000 20000)"
    assert kinds(played(program(tmp_path, RANDOM), game=game)) == ([], False)


@pytest.mark.parametrize("word", ["raise", "77", "-1", "1.0", "1 2"])
def test_three_illegal_actions_shut_down(tmp_path, word):
    text = RANDOM.replace("random.choice(words)", repr(word))
    kind, out = kinds(played(program(tmp_path, text), game="gin_rummy"))
    assert (kind, out) == (["illegal"] * 3, True)


def test_lines_while_pondering_shut_down(tmp_path):
    text = RANDOM.replace("if words", "print_('hm')\n    if words")
    kind, out = kinds(played(program(tmp_path, text), game="gin_rummy"))
    assert kind[:2] == ["stray"] * 2
    assert out


def test_one_late_answer_shuts_down(tmp_path):
    text = RANDOM.replace("if words:", "if words:\n        import time; time.sleep(60);")
    assert kinds(played(program(tmp_path, text), SHORT)) == (["late"], True)


@pytest.mark.parametrize(
    "text", ["", "input(); raise SystemExit(3)", RANDOM.replace("if words", "if words: 1/0\n    if words")]
)
def test_a_program_that_ends_is_gone(tmp_path, text):
    kind, out = kinds(played(program(tmp_path, text)))
    assert kind == ["gone"]
    assert out


def test_a_program_that_stays_is_ended(tmp_path):
    command = program(tmp_path, RANDOM + "\nimport time; time.sleep(60)")
    assert kinds(played(command, replace(QUICK, leave=0.3))) == (["stayed"], False)


def test_a_flood_is_no_answer(tmp_path):
    kind, out = kinds(played(program(tmp_path, "while True: print('7' * 100)")))
    assert "stray" in kind
    assert out


def test_commands_that_cannot_be_run():
    for command in ("/no/such/program", "'", ""):
        with pytest.raises(InputError, match="command"):
            Program(command_words(command), "bot")


def test_the_older_dialect_keeps_its_processes(tmp_path):
    limits = replace(QUICK, dialect="older")
    bots = tuple(Entrant("cmd", program(tmp_path, OLDER, name)) for name in ("a", "b"))
    match = Series("leduc_poker", bots, ("a", "b"), 4, 1, limits)
    found = play_series(match, tmp_path / "out", lambda done, total: None, 1)
    assert found.complete
    assert not found.faults(0)
    assert not found.faults(1)


def test_the_older_dialect_counts_what_is_not_said(tmp_path):
    limits = replace(QUICK, dialect="older")
    kind, out = kinds(played(program(tmp_path, OLDER.replace('"ponder"', '"hm"')), limits))
    assert kind[:4] == ["stray"] * 4
    assert out


def series(folder, matches=6, **changes):
    bots = parse_bot("random", folder), parse_bot("random", folder)
    return replace(Series("leduc_poker", bots, ("a", "b"), matches, 1, QUICK), **changes)


def nobody(done, total):
    """Hears of no match."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The folder of a series, and its outcome."""
    folder = tmp_path_factory.mktemp("series")
    return folder, play_series(series(folder), folder, nobody, 1)


@pytest.fixture
def folder(whole, tmp_path):
    """A copy of the folder."""
    return shutil.copytree(whole[0], tmp_path / "out")


def logs(folder):
    return {path: path.read_bytes() for path in folder.glob("*.jsonl")}


def test_a_series_goes_on_where_it_was_broken_off(folder, whole):
    log, heard = folder / "matches.jsonl", []
    log.write_text(log.read_text()[:-20])  # the last line is torn
    assert not outcome(series(folder), folder).complete
    again = play_series(series(folder), folder, lambda done, total: heard.append(done), 1)
    assert again == whole[1]
    assert heard == [5, 6]
    assert again.mean.n == 3


def test_fewer_matches_than_were_played_are_the_first_of_them(folder, whole, tmp_path):
    few = play_series(series(tmp_path, 3), tmp_path / "few", nobody, 1)
    before, heard = logs(folder), []
    assert play_series(series(tmp_path, 3), folder, lambda *told: heard.append(told), 1) == few
    assert (few.complete, len(few.records), heard) == (True, 3, [(3, 3)])
    assert logs(folder) == before
    assert outcome(series(tmp_path), folder) == whole[1]


def test_logs_survive_a_disk_that_is_full(folder, monkeypatch):
    def full(path, text, encoding):
        path.write_bytes(text.encode(encoding)[:1])
        raise OSError(errno.ENOSPC, "No space left on device")

    before = logs(folder)
    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(InputError, match="expected a file that can be written, found: No space left"):
        play_series(series(folder, 8), folder, nobody, 1)
    assert logs(folder) == before


def test_a_log_of_something_else_is_refused(folder):
    def is_refused(told, **changes):
        with pytest.raises(InputError, match=told):
            outcome(series(folder, **changes), folder)

    is_refused(r"matches\.jsonl: expected matches with seed 2, found 1;", seed=2)
    is_refused(r"expected matches with chance 0\.5, found", limits=replace(QUICK, chance=0.5))
    log = folder / "matches.jsonl"
    head, *lines = log.read_text().splitlines()
    old = json.dumps({**json.loads(head), "bots": [["a", "random"], ["b", "random"]]})
    log.write_text("\n".join([old, *lines]) + "\n")
    is_refused("does not say which bots played its matches, as logs of earlier versions")
    log.write_text(json.dumps({**series(folder).head, "swapped": False}) + "\n3\n")
    is_refused("expected matches")


def test_matches_of_another_bot_are_no_score_of_this_one(tmp_path):
    """The bot spewy is its solve, and its options; a solve that was made anew is another one."""

    def played_by(matches=4, game="kuhn_poker", seconds=0.1, name="spewy"):
        bots = parse_bot(name, tmp_path / "solved", seconds=seconds), parse_bot("random", tmp_path)
        new = Series(game, bots, ("a", "b"), matches, 1, QUICK)
        return play_series(new, tmp_path / game, nobody, 1)

    for game in ("kuhn_poker", "liars_dice(numdice=1,dice_sides=2)"):
        first = played_by(game=game)
        assert played_by(game=game) == first
        with pytest.raises(
            InputError, match=r"another bot: a had search_seconds 0\.1, and has search_seconds 0\.2"
        ):
            played_by(game=game, seconds=0.2)
        with pytest.raises(InputError, match="another bot: a had bot 'spewy', and has bot 'random'"):
            played_by(game=game, name="random")
    shutil.rmtree(tmp_path / "solved")
    with pytest.raises(InputError, match=r"another bot: a had (first_check|saved_sweeps) "):
        played_by()


def test_a_program_named_spewy_is_a_program(tmp_path):
    assert parse_bot("cmd:spewy", tmp_path).identity == {"bot": "cmd:spewy"}
    assert type(parse_bot("cmd:spewy", tmp_path)) is not type(parse_bot("spewy", tmp_path))


def test_the_command(tmp_path):
    command = program(tmp_path, RANDOM)
    options = ("--matches", 4, "--chance-seconds", 0, "--workers", 1, "--seconds", 20)
    found = good_json("referee", "kuhn_poker", f"cmd:{command}", "random", *options)
    assert (found["bots"], found["played"], found["complete"]) == (["bot", "random"], 4, True)
    assert found["score"]["n"] == 2
    assert found["faults"] == {"bot": {}, "random": {}}
    named = good_json("referee", "kuhn_poker", f"mine=cmd:{command}", "random", *options)
    assert named["bots"] == ["mine", "random"]


@pytest.mark.parametrize(
    ("game", "bot", "told"),
    [
        ("nope", "random", "game 'nope': OpenSpiel does not have this game"),
        ("kuhn_poker", "cmd:/no", "command '/no' cannot be run"),
        ("kuhn_poker", "", "expected one of random, spewy or cmd:COMMAND"),
    ],
)
def test_bad_words(tmp_path, game, bot, told):
    options = ("--chance-seconds", 0, "--workers", 1, "--out", tmp_path)
    assert told in refused("referee", game, bot, "random", *options)


def test_without_openspiel(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspiel", None)
    result = spewy("referee", "kuhn_poker", "random", "random")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "pip install 'spewy[higc]'" in result.stderr


def test_prints_of_the_bot_never_reach_stdout():
    text = (
        "import os\nfrom spewy.match.connection import Connection, stdout_alone\n"
        "with stdout_alone() as writer:\n"
        "    print('chatter'); os.system('echo more')\n"
        "    Connection(0, 'referee', writer).send('1')\n"
    )
    found = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert found.stdout == "1\n"
    assert "chatter" in found.stderr
    assert "more" in found.stderr


def test_a_scripted_answer_that_is_not_legal_is_drawn_by_the_bot_itself():
    game = SpielGame("kuhn_poker")
    notes = []
    channels = [local(Scripted([9, 9]), notes=notes), local(RandomAgent(1))]
    assert not play(game, channels, QUICK, 1, greet(channels, game, QUICK)).faults
    assert notes


def test_what_goes_wrong_in_this_process_is_logged_without_control_characters(tmp_path, monkeypatch):
    def broken(state):
        raise ValueError(chr(27) + "[2J")

    agent = Scripted([9])
    agent.see = broken
    monkeypatch.setattr("spewy.competitions.higc.series.RandomAgent", lambda seed: agent)
    with open_channel(parse_bot("random", tmp_path), "mine", QUICK, 1, tmp_path / "mine.err") as channel:
        for line in ("kuhn_poker", "0", "AAAA 0 1"):
            channel.send(line)
    first, second = (tmp_path / "mine.err").read_text().splitlines()
    assert first == r"WARNING: ValueError: \x1b[2J"
    assert second == "WARNING: the agent chose 9, which is not a legal action"
