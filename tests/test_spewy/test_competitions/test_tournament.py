"""``spewy tournament``: files, what is played and kept, and the page."""

import json
import socket

import pytest
from cli_runs import LEDUC, good, good_json, refused, spewy, write
from jobs import EXAMPLES
from match_tables import clients_at

from spewy.competitions.tournament.file import read_tournament

BOTS = "".join(
    f'[[bots]]\nname = "{name}"\nbot = "{bot}"\n'
    for name, bot in (("one", "call"), ("two", "raise"), ("three", "random"))
)
ACPC = f'name = "small"\nrules = "acpc-{{}}"\n{BOTS}[acpc]\ngame = "leduc"\nhands = 6\n'
HIGC = (
    'name = "general"\nrules = "higc"\n[[bots]]\nname = "a"\nbot = "random"\n[[bots]]\nname = "b"\nbot = "random"\n'
    '[higc]\ngames = ["kuhn_poker", "matrix_rps"]\nmatches = 4\nchance_seconds = 0\n'
)
LIMIT = "holdem.limit.2p.reverse_blinds"
UPAC = 'name = "ladder"\nrules = "upac"\n[[bots]]\nname = "a"\n[[bots]]\nname = "b"\n[upac]\nresults = "games.jsonl"\n'


@pytest.mark.parametrize("rules", ["bankroll", "points", "online"])
def test_hands_are_played_and_ranked(tmp_path, rules):
    file = write(tmp_path, ACPC.format(rules))
    found = good_json("tournament", file, "--workers", 1)
    assert sorted(found["places"]) == ["one", "three", "two"]
    assert [stage["title"] for stage in found["stages"]] == ["all against all"]
    assert all(pair["n"] == 6 for pair in found["stages"][0]["pairs"])


def test_folders_beside_the_file_take_no_names_that_are_known(tmp_path):
    for name in ("leduc", "call"):
        (tmp_path / name).mkdir()
    found = good_json("tournament", write(tmp_path, ACPC.format("points")), "--workers", 1)
    assert sorted(found["places"]) == ["one", "three", "two"]


def test_a_folder_beside_the_file_may_have_a_name_with_an_equals_sign(tmp_path):
    good("solve", write(tmp_path, LEDUC), "--out", tmp_path / "stack=400", "--set", "solve.max_sweeps=1")
    file = write(tmp_path, ACPC.format("points").replace('"raise"', '"stack=400"'))
    assert sorted(good_json("tournament", file, "--workers", 1)["places"]) == ["one", "three", "two"]


def test_a_command_that_is_too_long_for_a_path_is_run(tmp_path):
    file = write(tmp_path, ACPC.format("points").replace('"raise"', f'"cmd:true {"x" * 300}"'))
    result = spewy("tournament", file, "--workers", 1)
    assert result.exit_code == 1
    assert "two ended with exit code 0 before it connected" in result.stderr


def test_clients_at_one_port_play_one_run_after_the_other(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    file = write(tmp_path, ACPC.format("points").replace('"raise"', f'"tcp:{port}"').replace("leduc", LIMIT))
    with clients_at(port):
        result = spewy("tournament", file, "--workers", 2)
    assert result.exit_code == 0, result.stderr
    assert f"two: waiting for a client of the ACPC's protocol at 127.0.0.1:{port}" in result.stderr


def test_logs_are_not_kept_in_a_file(tmp_path):
    file = write(tmp_path, ACPC.format("points"))
    assert "expected a folder that is there or can be made" in refused("tournament", file, "--out", file)


def test_a_tournament_goes_on_and_writes_a_page(tmp_path):
    file, out, page = write(tmp_path, ACPC.format("bankroll")), tmp_path / "out", tmp_path / "page.md"
    first = good("tournament", file, "--workers", 1, "--out", out, "--page", page)
    logs = {path: path.read_bytes() for path in out.rglob("*.log")}
    log = next(iter(logs))
    log.write_bytes(b"\n".join(logs[log].split(b"\n")[:-3]) + b"\n")
    assert good("tournament", file, "--workers", 1, "--out", out, "--page", page) == first
    assert {path: path.read_bytes() for path in out.rglob("*.log")} == logs
    text = page.read_text()
    assert text.startswith("# small\n")
    assert "| place | bot | one | two | three | faults |" in text
    assert "±" in text


def test_more_than_ten_bots_qualify(tmp_path):
    bots = "".join(f'[[bots]]\nname = "bot{i}"\nbot = "random"\n' for i in range(11))
    text = f'name = "many"\nrules = "acpc-bankroll"\n{bots}[acpc]\ngame = "kuhn"\nhands = 4\n'
    found = good_json("tournament", write(tmp_path, text), "--workers", 1)
    titles = [stage["title"] for stage in found["stages"]]
    assert titles[:2] == ["qualifying round 1, set 1", "qualifying round 1, set 2"]
    assert titles[-1] == "all against all"
    assert len(found["places"]) == 11


def test_general_games_are_voted_on(tmp_path):
    found = good_json("tournament", write(tmp_path, HIGC), "--workers", 1, "--out", tmp_path / "out")
    assert [stage["title"] for stage in found["stages"]] == ["kuhn_poker", "matrix_rps"]
    assert good_json("tournament", write(tmp_path, HIGC), "--workers", 1, "--out", tmp_path / "out") == found


def test_ratings_over_a_file_of_games(tmp_path):
    games = [{"bots": ["a", "b"], "chips": [80, 20]}, {"bots": ["b", "a"], "chips": [None, 100]}]
    (tmp_path / "games.jsonl").write_text("\n".join(map(json.dumps, games)))
    found = good_json("tournament", write(tmp_path, UPAC))
    assert found["places"] == {"a": 1, "b": 2}
    assert found["ratings"]["a"] == pytest.approx(1503.6 + 12 * (1 - 0.510361), abs=1e-3)
    assert "1,509.5" in good("tournament", write(tmp_path, UPAC))


@pytest.mark.parametrize(
    "line",
    [
        "x",
        "3",
        '{"bots": ["a", "b"]}',
        '{"bots": ["a", "c"], "chips": [1, 2]}',
        '{"bots": ["a", "b"], "chips": [0, 0]}',
    ],
)
def test_games_that_are_none(tmp_path, line):
    (tmp_path / "games.jsonl").write_text(line)
    assert "games.jsonl, line 1: expected" in refused("tournament", write(tmp_path, UPAC))


def test_a_file_without_games_rates_nobody(tmp_path):
    (tmp_path / "games.jsonl").write_text("\n\n")
    assert "games.jsonl: the file has no games" in refused("tournament", write(tmp_path, UPAC))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a." * 20_000 + "a = 1", "expected keys of at most 16 names"),
        ("x", "expected TOML, found: Expected '=' after a key in a key/value pair (at end of document)"),
        ('name = "x"\nseed = 1,5', "(at line 2, column 9): 'seed = 1,5'"),
        ('name = "x"', "rules: expected a value, found none"),
        (ACPC.format("nothing"), "rules: expected 'acpc-bankroll'"),
        (ACPC.format("online") + "x = 1\n", "unknown key acpc.x"),
        (ACPC.format("online").replace('"two"', '"one"'), "expected each name once"),
        (
            ACPC.format("online")
            + "".join(f'[[bots]]\nname = "{n}"\nbot = "call"\n' for n in ("a", "b--c", "a--b", "c")),
            "would share the folder a--b--c",
        ),
        (ACPC.format("online").replace('bot = "call"\n', ""), "bot one: the key bot is missing"),
        (HIGC.replace("higc", "upac", 1), "need the section [upac] and no other"),
        (ACPC.format("online").replace("raise", "nobody"), "bot 'nobody': expected one of"),
        (
            ACPC.format("online").replace("small", "small\\n# large"),
            "name: expected one line, found 'small\\n# large'",
        ),
        (
            ACPC.format("online") + "seconds = 1e10\n",
            "acpc.seconds: expected a number less than or equal to 1000000000",
        ),
        (HIGC.replace("kuhn_poker", "nope"), "game 'nope': OpenSpiel does not have this game"),
    ],
)
def test_files_that_are_wrong(tmp_path, text, told):
    assert told in refused("tournament", write(tmp_path, text), "--workers", 1)


def test_the_example_can_be_read():
    assert read_tournament(EXAMPLES / "tournaments" / "leduc.toml").names == (
        "equity",
        "tight",
        "call",
        "random",
    )
