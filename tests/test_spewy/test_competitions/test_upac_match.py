"""UPAC's games by its rules: the sample log, stacks of few chips, bots that misbehave, and scores."""

import json
import re
import sys
import time
import tracemalloc
import zipfile
from pathlib import Path
from random import Random

import numpy as np
import pytest
from cli_runs import good, good_json, refused, spewy
from upac_tables import fake_tables, sample_rounds

from buckets.cards import cards_name, parse_cards
from spewy.competitions.upac.games import RULES, Game, play_games, rule_contender, standing
from spewy.competitions.upac.package import packed as packed_tables
from spewy.competitions.upac.package import write_package
from spewy.competitions.upac.rules import BadReplyError, Cards, Rules, dealt, play_hand
from spewy.competitions.upac.runtime.protocol import Table
from spewy.errors import InputError
from spewy.match.score import elo_difference, rated

SEATS = {"Defender": 0, "Challenger": 1}
BOARD = "2c 7d 9h Js Kd"


def cards(defender="As Ad", challenger="Qh Qs", board=BOARD):
    return Cards(
        tuple(tuple(parse_cards(hand)) for hand in (defender, challenger)), tuple(parse_cards(board))
    )


def rule(name):
    return rule_contender(name, RULES[name])


def played(replies, stacks=(50, 50), button=0, hand=None, **rules):
    """All lines of a hand, and the stacks after it; each reply is seat and text."""
    replies, lines, reply = list(replies), [], None
    talk = play_hand(Rules(**rules), hand or cards(), stacks, button)
    while True:
        try:
            line = next(talk) if reply is None else talk.send(reply)
        except StopIteration as end:
            assert not replies
            return lines, end.value
        lines.append((line.seat, line.text))
        reply = None
        if line.asks:
            seat, reply = replies.pop(0)
            assert seat == line.seat, line


@pytest.mark.parametrize("lines", sample_rounds(), ids=["10", "11", "12", "13"])
def test_the_sample_log_is_dealt_line_by_line(lines):
    """The engine of the sample tells the other blind in START."""
    said = [line.split(" ", 2) for line in lines]
    hole, board, stacks = {}, "", {}
    for seat, mark, text in said:
        word, *rest = text.split()
        if word == "PREFLOP":
            hole[seat] = " ".join(rest)
        elif word in ("FLOP", "TURN", "RIVER") and seat == "Defender":
            board += " ".join(rest) + " "
        elif word == "STACK" and mark == "<":
            stacks[seat] = int(rest[1])
            stacks.setdefault("Challenger" if seat == "Defender" else "Defender", int(rest[3]))
    unseen = [card for card in parse_cards("2h 3h 4h 5h 7c") if card not in parse_cards(board or "2s")]
    full = cards_name((*parse_cards(board or ""), *unseen)[:5])
    button = next(SEATS[seat] for seat, _, text in said if text.startswith("STACK 1"))
    replies = [(SEATS[seat], text) for seat, mark, text in said if mark == ">"]
    hand = cards(hole["Defender"], hole["Challenger"], full)
    found, after = played(replies, (stacks["Defender"], stacks["Challenger"]), button, hand, old_labels=True)
    assert found == [(SEATS[seat], text) for seat, mark, text in said if mark == "<"]
    assert sum(after) == 100


def test_labels_of_today_tell_the_blinds():
    lines, after = played([(0, "F")])
    assert lines[:2] == [(0, "START SB"), (1, "START BB")]
    assert lines[-2:] == [(0, "END FOLD SB"), (1, "END FOLD SB")]
    assert after == (49, 51)


def checked(*first, streets=3):
    return [*first, *[(seat, "C") for _ in range(streets) for seat in (1, 0)]]


def test_a_hand_that_nobody_raised_hides_the_big_blinds_cards():
    lines, after = played(checked((0, "C"), (1, "C")))
    assert lines[-2:] == [
        (0, "END SHOWDOWN WINNER SB SHOWN Qh Qs"),
        (1, "END SHOWDOWN WINNER SB SHOWN As Ad"),
    ]
    assert after == (52, 48)
    lines, after = played(checked((0, "C"), (1, "C")), hand=cards("Qh Qs", "As Ad"))
    assert lines[-2:] == [(0, "END SHOWDOWN WINNER BB SHOWN As Ad"), (1, "END SHOWDOWN WINNER BB HIDDEN")]


def test_a_tie_shows_the_other_players_cards():
    lines, after = played(checked((0, "R5"), (1, "C")), hand=cards("3c 3d", "3h 3s", "As Ks Qd Jh Tc"))
    assert lines[-2:] == [(0, "END SHOWDOWN TIE 3h 3s"), (1, "END SHOWDOWN TIE 3c 3d")]
    assert after == (50, 50)


def test_all_in_or_not_both_are_asked_in_every_round():
    lines, after = played(checked((0, "R4294967295"), (1, "C")), (70, 30))
    assert sum(text.startswith("STACK 30 ") for _, text in lines) == 6
    assert after == (100, 0)


def test_a_raise_without_chips_behind_is_a_call_that_makes_an_aggressor():
    replies = checked((0, "R48"), (1, "R9"))
    lines, _ = played(replies, hand=cards("Qh Qs", "As Ad"))
    assert lines[-1] == (1, "END SHOWDOWN WINNER BB HIDDEN")
    assert (1, "STACK 50 50 50 50") in lines


def test_folding_where_checking_is_free_gives_the_pot_away():
    assert played([(0, "C"), (1, "F")])[1] == (52, 48)


def test_pushed_chips_have_a_limit_where_the_rules_say_so():
    _, after = played(checked((0, "R500"), (1, "C")), (500, 500), most=50)
    assert after == (550, 450)


@pytest.mark.parametrize(
    ("stacks", "questions", "after"),
    [
        ((99, 1), ["STACK 1 99 1 1", "STACK 1 1 1 99"], (100, 0)),
        ((1, 99), ["STACK 1 1 2 99", "STACK 2 99 1 1"], (2, 98)),
        ((2, 98), ["STACK 1 2 2 98", "STACK 2 98 2 2"], (4, 96)),
    ],
)
def test_blinds_that_are_all_in(stacks, questions, after):
    """A big blind of two against one chip goes back to one when it acts."""
    lines, found = played(checked((0, "C"), (1, "C")), stacks)
    assert [text for _, text in lines if text.startswith("STACK")][:2] == questions
    assert found == after


@pytest.mark.parametrize(
    "reply", ["", "f", "c", "R", "R-1", "R1.0", "R+5", "R4294967296", "CC", "C C", "٣", "R" + "9" * 5000]
)
def test_replies_that_are_none_end_the_game(reply):
    with pytest.raises(BadReplyError, match="expected F, C or R and a number, found ") as caught:
        played([(0, reply)])
    assert caught.value.seat == 0


@pytest.mark.parametrize("reply", [" C ", "C\r", "R0", "R4294967295\t"])
def test_blanks_around_a_reply_are_no_matter(reply):
    assert played(checked((0, reply), (1, "C")))[1]


@pytest.mark.parametrize("bad", [{"chips": 0}, {"rounds": 0}, {"most": 1}, {"chips": 10**7}])
def test_rules_that_are_none(bad):
    with pytest.raises(InputError, match=r"expected [12] to 1,000,000, found"):
        Rules(**bad)


@pytest.mark.parametrize("seed", range(20))
def test_chips_are_kept_and_bots_understand_every_line(seed):
    """Random stacks, buttons and replies; two tables hear all lines and find nothing wrong with them."""
    rng = Random(seed)
    for _ in range(20):
        first = rng.randint(1, 99)
        stacks, hand = (first, 100 - first), dealt(rng)
        talk = play_hand(Rules(), hand, stacks, button=rng.randrange(2))
        tables, reply = (Table(), Table()), None
        while True:
            try:
                line = next(talk) if reply is None else talk.send(reply)
            except StopIteration as end:
                after = end.value
                break
            heard, reply = tables[line.seat].hear(line.text), None
            assert not heard.wrong, line
            if line.asks:
                assert heard.spot.rounds is not None
                reply = rng.choice(["C", "C", "F", f"R{rng.randint(0, 60)}"])
                tables[line.seat].answered(heard.spot, reply)
        assert sum(after) == 100
        assert min(after) >= 0


@pytest.mark.parametrize("name", RULES)
def test_rules_answer_whatever_comes(name):
    games = list(play_games(Rules(), (rule(name), rule("random")), [1, 2], 1.0))
    assert [(game.seed, game.swapped) for game in games] == [(1, False), (1, True), (2, False), (2, True)]
    assert not any(game.fault for game in games)


def test_a_rule_against_itself_with_the_same_cards_is_even():
    found = standing(list(play_games(Rules(), (rule("call"), rule("call")), range(3), 1.0)))
    assert (found.share, found.half) == (0.5, 0.0)


def test_elo_by_hand():
    """K = 12: 0.8 of the chips between equals is 3.6; then 0.5 of them is expected to be 0.5104 and costs 0.1243."""
    first = rated((1500.0, 1500.0), 0.8)
    assert first == pytest.approx((1503.6, 1496.4))
    expected = 1 / (1 + 10 ** (-7.2 / 400))
    assert rated(first, 0.5)[0] == pytest.approx(1503.6 + 12 * (0.5 - expected))
    found = standing([Game(1, False, 0.8, 9), Game(1, True, 0.5, 9)])
    assert found.ratings == rated(first, 0.5)
    assert (found.won, found.drawn, found.lost) == (1, 1, 0)
    assert elo_difference(0.75) == pytest.approx(190.85, abs=0.01)


BOT = """
import sys
for line in sys.stdin:
    if line.startswith("STACK"):
        print({answer}, flush=True)
"""


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        ("'C'", ""),
        ("'hello'", "expected F, C or R and a number, found 'hello'"),
        ("'C' * 2_000_000", "expected F, C or R and a number, found 'CCC"),
        ("sys.exit()", "expected an answer, found that it ended with exit code 0"),
        ("__import__('time').sleep(60)", "expected an answer within 0.5 s, found none"),
    ],
    ids=["calls", "nonsense", "flood", "leaves", "sleeps"],
)
def test_commands_that_misbehave_lose_the_game(tmp_path, answer, fault):
    (tmp_path / "bot.py").write_text(BOT.format(answer=answer))
    command = f"cmd:{sys.executable} -S -E {tmp_path / 'bot.py'}"
    seconds = "0.5" if "sleep" in answer else "60"
    found = good_json("upac-match", command, "call", "--games", "2", "--rounds", "3", "--seconds", seconds)
    assert found["bots"] == ["bot", "call"]
    assert [fault in text for text in found["faults"]] == ([True, True] if fault else [])
    assert found["share"] == (0.0 if fault else pytest.approx(0.5))


def test_a_package_plays_games_to_the_end(tmp_path):
    out = tmp_path / "bot.zip"
    write_package(fake_tables(), out)
    log = tmp_path / "log.txt"
    args = ("upac-match", out, "random", "--games", "2", "--rounds", "5", "--seconds", "60", "--log", log)
    found = good_json(*args)
    assert found["faults"] == []
    assert found["spent"][0]["slowest"] > 0
    within = good_json("upac-match", f"tables:{out}", "call", "--games", "2", "--rounds", "5")
    assert within["faults"] == []
    assert log.read_text().startswith("System > round 1/5\nDefender < START SB\nChallenger < START BB\n")
    assert "Elo" in good("upac-match", "call", "allin", "--games", "3")


@pytest.mark.slow
def test_a_bot_that_reads_nothing_ends_the_game():
    """It answers without being asked, until the pipe to it is full."""
    call = ("upac-match", "cmd:yes C", "call", "--games", "1", "--chips", "100000", "--rounds", "20000")
    found = good_json(*call, "--seconds", "0.5")
    assert found["faults"] == ["yes: has not read a line in time"]


def test_names_before_bots_tell_them_apart():
    for words, names in (
        (("mine=call", "yours=cmd:yes C"), ["mine", "yours"]),
        (("call", "call"), ["call", "call-2"]),
    ):
        found = good_json("upac-match", *words, "--games", "1", "--rounds", "1", "--seconds", "60")
        assert found["bots"] == names


def test_no_time_at_all_is_refused():
    assert "--seconds" in refused("upac-match", "call", "call", "--seconds", "0")


def built(build, run="x"):
    """The configuration of a package."""
    return {"name": "a", "build": build, "run": run}


def packed(file, config):
    """A package of nothing but its configuration."""
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("bot/bot.json", config if isinstance(config, str) else json.dumps(config))
    return file


@pytest.mark.parametrize(
    ("config", "told"),
    [
        ("[" * 100_000, "expected a zip file with bot/bot.json, found: maximum recursion depth"),
        (built("a\0b"), "the build failed: embedded null byte"),
        (built("exit 3"), "the build failed: exit code 3"),
        (
            built("seq 99999; echo no rule; printf '\\033[2J' >&2; exit 2"),
            r"99998 99999 no rule \x1b[2J",
        ),
        (built("sleep 60 & echo lost; exit 4"), "end of its output: lost"),
        (built("sleep 60; true"), "the build failed: not finished within 0.2 s"),
    ],
    ids=["deep", "null", "fails", "tells", "lingers", "hangs"],
)
def test_packages_that_cannot_be_built(tmp_path, monkeypatch, config, told):
    monkeypatch.setattr(
        "spewy.competitions.upac.package.BUILD_SECONDS", 0.2 if "not finished" in told else 60
    )
    assert told in refused("upac-match", packed(tmp_path / "bot.zip", config), "call")


def link(name):
    found = zipfile.ZipInfo(name)
    found.external_attr = 0o120777 << 16
    return found


@pytest.mark.parametrize(
    ("members", "told"),
    [
        (
            [("bot/zeros", bytes(64 * 2**20 + 1))],
            "67,108,865 unpacked bytes; at most 67,108,864 are allowed",
        ),
        ([(f"bot/{i}", "") for i in range(1001)], "1,001 files; at most 1,000 are allowed"),
        ([("../out", "")], "a name that leaves the folder, '../out'"),
        ([("bot/../../out", "")], "a name that leaves the folder, 'bot/../../out'"),
        ([("/out", "")], "a name that leaves the folder, '/out'"),
        ([("bot\\..\\out", "")], "a name that leaves the folder"),
        ([(link("bot/out"), "/etc")], "a link or a device, 'bot/out'"),
    ],
    ids=["bytes", "files", "above", "back", "root", "backslash", "link"],
)
def test_packages_that_would_fill_the_disk_or_leave_their_folder(tmp_path, members, told):
    with zipfile.ZipFile(tmp_path / "bot.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members:
            archive.writestr(name, data)
    package = tmp_path / "bot.zip"
    whole = f"expected a zip file with bot/bot.json, found: {told}"
    assert whole in refused("upac-match", package, "call")
    assert told in refused("upac-match", f"tables:{package}", "call")
    assert told in refused("play", "upac", package)


def says_less(data, declared):
    """A zip file whose directory says that its first member has so many bytes."""
    at = data.index(b"PK\x01\x02") + 24
    return data[:at] + declared.to_bytes(4, "little") + data[at + 4 :]


def test_packages_that_say_less_than_they_hold(tmp_path):
    """The package itself, and the tables within it, may declare a wrong size."""
    told = "more than the 100 bytes that 'bot/tables.npz' declares"
    out = tmp_path / "bot.zip"
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bot/tables.npz", bytes(200 * 2**20))
    out.write_bytes(says_less(out.read_bytes(), 100))
    tracemalloc.start()
    assert told in refused("play", "upac", out)
    assert told in refused("upac-match", out, "call")
    assert tracemalloc.get_traced_memory()[1] < 32 * 2**20
    tracemalloc.stop()
    tables = packed_tables({"odd": np.zeros(2**20, dtype=np.uint8)})
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("bot/tables.npz", says_less(tables, 100))
    assert "more than the 100 bytes that 'odd.npy' declares" in refused("play", "upac", out)


@pytest.mark.parametrize("way", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_packages_of_members_that_cannot_be_unpacked_in_pieces(tmp_path, way):
    with zipfile.ZipFile(tmp_path / "bot.zip", "w", way) as archive:
        archive.writestr("bot/tables.npz", bytes(100))
    told = "a member that is neither stored nor deflated, 'bot/tables.npz'"
    assert told in refused("play", "upac", tmp_path / "bot.zip")
    assert told in refused("upac-match", tmp_path / "bot.zip", "call")


def test_the_last_output_of_a_build_is_read_however_late(tmp_path, monkeypatch):
    """The time of a look at the output has passed when it begins, as on a busy machine."""
    monkeypatch.setattr("spewy.competitions.upac.package.BUILD_POLL_SECONDS", 0.0)
    package = packed(tmp_path / "bot.zip", built("seq 99999; exit 2"))
    assert "99998 99999" in refused("upac-match", package, "call")


def test_tables_in_a_package_are_bounded_too(tmp_path):
    """The tables are a zip file within the package's zip file."""
    tables = packed_tables({"odd": np.zeros(64 * 2**20 + 1, dtype=np.uint8)})
    with zipfile.ZipFile(tmp_path / "bot.zip", "w") as archive:
        archive.writestr("bot/tables.npz", tables)
    assert "unpacked bytes; at most 67,108,864 are allowed" in refused("play", "upac", tmp_path / "bot.zip")


def test_what_a_bot_has_started_ends_with_the_game(tmp_path):
    """Processes that have left the bot's session and parent end, too."""
    starts = "".join(
        f"({how} sh -c 'echo $$ >> {tmp_path}/started; exec sleep 600' &) ; " for how in ("", "setsid")
    )
    bot = tmp_path / "bot.py"
    bot.write_text(BOT.format(answer="'C'"))
    wait = f'until [ "$(wc -l < {tmp_path}/started)" -ge 2 ]; do sleep 0.01; done 2> /dev/null; '
    run = f"{starts}{wait}exec {sys.executable} -S -E {bot}"
    package = packed(tmp_path / "bot.zip", built("true", run))
    call = ("upac-match", package, "call", "--games", "1", "--rounds", "2", "--seconds", "30")
    assert good_json(*call)["faults"] == []
    started = [int(line) for line in (tmp_path / "started").read_text().split()]
    assert len(started) >= 2
    wait_until_gone(started)


def wait_until_gone(processes, seconds=10.0):
    """Wait for killed processes, which stay until their parent has looked at them."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and any(alive(process) for process in processes):
        time.sleep(0.01)
    assert [process for process in processes if alive(process)] == []


def alive(process):
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_lines_that_nobody_asked_for_are_told(tmp_path):
    (tmp_path / "bot.py").write_text(BOT.format(answer="'C\\nC'"))
    command = f"cmd:{sys.executable} -S -E {tmp_path / 'bot.py'}"
    call = ("upac-match", command, "call", "--games", "1", "--rounds", "20", "--seconds", "30")
    result = spewy(*call)
    expected = r"bot wrote [0-9]+ lines before it was asked; each counts as its next answer"
    assert re.search(expected, result.stderr), result.output
    found = good_json(*call)
    assert found["faults"] == []
    assert found["spent"][0]["unasked"] > 0, found


def test_a_line_counts_as_unasked_before_its_end_has_arrived(tmp_path):
    """As from Python with PYTHONUNBUFFERED=1, whose print writes the end of a line in a second call.

    The bot begins each of its answers but the first before it is asked, and ends it when it is asked.
    """
    (tmp_path / "bot.py").write_text(
        "import sys\n"
        "texts = iter(['C\\nC', '\\nC', '\\nC', '\\n'])\n"
        "for line in sys.stdin:\n"
        "    if line.startswith('STACK'):\n"
        "        sys.stdout.write(next(texts))\n"
        "        sys.stdout.flush()\n"
    )
    command = f"cmd:{sys.executable} -S -E {tmp_path / 'bot.py'}"
    found = good_json("upac-match", command, "call", "--games", "1", "--rounds", "1", "--seconds", "30")
    assert found["faults"] == []
    assert found["spent"][0]["unasked"] == 3, found


def test_a_packages_name_is_one_word(tmp_path):
    config = {"name": "a\nb\x1b[31m", "build": "true", "run": "exit 1"}
    found = good_json("upac-match", packed(tmp_path / "bot.zip", config), "call", "--games", "1")
    assert found["bots"] == ["a-b-31m", "call"]
    assert found["faults"][0].startswith("a-b-31m: ")


@pytest.mark.parametrize("mark", [(6, 8, b"\x01\x00"), (8, 10, b"\x63\x00")], ids=["encrypted", "odd"])
def test_zip_files_that_cannot_be_unpacked(tmp_path, mark):
    out = tmp_path / "bot.zip"
    write_package(fake_tables(), out)
    here, there, value = mark
    data = bytearray(out.read_bytes())
    for sign, offset in ((b"PK\x03\x04", here), (b"PK\x01\x02", there)):
        for found in re.finditer(re.escape(sign), bytes(data)):
            data[found.start() + offset : found.start() + offset + 2] = value
    out.write_bytes(data)
    assert "expected a zip file with bot/bot.json" in refused("upac-match", out, "call")
    assert "expected a zip file with tables of UPAC's bot" in refused("play", "upac", out)


def test_bots_that_are_none(tmp_path):
    assert "expected one of random, call" in refused("upac-match", "nobody", "call")
    assert "bot 'cmd: ': expected one of random, call" in refused("upac-match", "cmd: ", "call")
    (tmp_path / "a.zip").write_bytes(b"nonsense")
    assert "expected a zip file with bot/bot.json" in refused("upac-match", tmp_path / "a.zip", "call")
    assert spewy("upac-match", "call", "call", "--games", "0").exit_code == 2
