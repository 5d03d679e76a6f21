"""``spewy tournament``: files, what is played and kept, the page, and rankings by the rules."""

import json
import socket
from random import Random

import pytest
from cli_runs import LEDUC, good, good_json, refused, spewy, write
from jobs import EXAMPLES
from match_tables import clients_at

from spewy.competitions.tournament.file import read_tournament
from spewy.competitions.tournament.standings import (
    Table,
    elo,
    lexicographic,
    online,
    place_of,
    qualified,
    qualifying_sets,
    runoff,
    voted,
)
from spewy.errors import InputError
from spewy.match.score import expected_score

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
    for name in ("leduc", "call"):  # folders beside the file take no names that are known
        (tmp_path / name).mkdir()
    found = good_json("tournament", write(tmp_path, ACPC.format(rules)), "--workers", 1)
    assert sorted(found["places"]) == ["one", "three", "two"]
    assert [stage["title"] for stage in found["stages"]] == ["all against all"]
    assert all(pair["n"] == 6 for pair in found["stages"][0]["pairs"])


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
    ("text", "told"),
    [
        ("x", "line 1: expected"),
        ("3", "line 1: expected"),
        ('{"bots": ["a", "b"]}', "line 1: expected"),
        ('{"bots": ["a", "c"], "chips": [1, 2]}', "line 1: expected"),
        ('{"bots": ["a", "b"], "chips": [0, 0]}', "line 1: expected"),
        ("\n\n", "the file has no games"),
    ],
)
def test_files_of_no_games_rate_nobody(tmp_path, text, told):
    (tmp_path / "games.jsonl").write_text(text)
    found = refused("tournament", write(tmp_path, UPAC))
    assert "games.jsonl" in found
    assert told in found


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
    names = read_tournament(EXAMPLES / "tournaments" / "leduc.toml").names
    assert names == ("equity", "tight", "call", "random")


# The two games of the example in the HIGC's rules.
G1 = Table(("A", "B", "C"), {("A", "B"): 2, ("A", "C"): 3, ("B", "C"): -1})
G2 = Table(("A", "B", "C"), {("A", "B"): -1, ("A", "C"): 2, ("B", "C"): 5})

# d is beaten by all. Without it: a has 10 - 4 = 6, b -10 + 8 = -2, c 4 - 8 = -4; then a beats b.
CHIPS = {("a", "b"): 10, ("a", "c"): -4, ("a", "d"): 1, ("b", "c"): 8, ("b", "d"): 1, ("c", "d"): 100}
FOUR = Table(("a", "b", "c", "d"), CHIPS)


def test_the_example_of_the_higc():
    first, second = voted(G1.names, G1.total), voted(G2.names, G2.total)
    assert first == [["A"], ["B"], ["C"]]
    assert second == [["B"], ["A"], ["C"]]
    ranking = lexicographic([first, second])
    assert ranking == [["A", "B"], ["C"]]
    assert place_of(ranking) == {"A": 1, "B": 1, "C": 3}


def test_votes_are_redistributed():
    """First choices are a, a, b, b, c. c goes, and its voter's next choice, b, has three of five."""
    ballots = {"a": "bcde", "b": "acde", "c": "bade", "d": "abce", "e": "cbad"}
    won = {}
    for voter, order in ballots.items():
        for i, other in enumerate(order):
            won[voter, other] = i - 4.0
    assert voted(tuple(ballots), lambda one, two: won[one, two])[0] == ["b"]


@pytest.mark.parametrize("names", ["ab", "abc", "cba", "badc"])
def test_bots_that_tie_in_everything_share_a_place(names):
    assert voted(tuple(names), lambda one, two: 0.0) == [list(names)]


@pytest.mark.parametrize("names", ["abcd", "dcba", "cadb"])
def test_the_order_of_names_decides_no_vote(names):
    """a, b and c tie with each other and win as much from d, whose vote they share."""
    found = voted(tuple(names), lambda one, two: float((two == "d") - (one == "d")))
    assert [sorted(place) for place in found] == [["a", "b", "c"], ["d"]]


def test_a_run_off_of_bankrolls():
    """The best total of all is c's, from d alone: the run-off takes it away again."""
    assert runoff(FOUR.names, FOUR.total) == [["a"], ["b"], ["c"], ["d"]]


def test_a_run_off_of_points():
    """Points: a +1 -1 +1, b -1 +1 +1, c +1 -1 +1, d -3. Without d all have none: they tie."""
    assert runoff(FOUR.names, FOUR.points) == [["a", "b", "c"], ["d"]]


def test_the_total_bankroll_decides_among_four():
    """Of five, e goes first; then c has -4... 4 - 8 + 100 = 96, a 10 - 4 + 1 = 7, b -10 + 8 + 1 = -1, d -102."""
    names = (*FOUR.names, "e")
    table = Table(names, {**FOUR.won, **{(name, "e"): 1000 for name in FOUR.names}})
    assert online(names, table.total) == [["c"], ["a"], ["b"], ["d"], ["e"]]


def test_a_tie_that_straddles_the_four_stays():
    names = ("a", "b", "c", "d", "e")
    won = {(one, two): 0 for i, one in enumerate(names) for two in names[i + 1 :]}
    table = Table(names, {**won, ("a", "d"): 3, ("a", "e"): 3})
    assert online(names, table.total) == [["a"], ["b", "c"], ["d", "e"]]


@pytest.mark.parametrize(
    ("bots", "sizes"),
    [(11, [5, 6]), (12, [6, 6]), (13, [6, 7]), (16, [8, 8]), (17, [5, 6, 6]), (5, [5]), (4, [4])],
)
def test_sets_of_six(bots, sizes):
    names = [f"bot{i}" for i in range(bots)]
    sets = qualifying_sets(names, Random(3))
    assert sorted(map(len, sets)) == sizes
    assert sorted(name for group in sets for name in group) == sorted(names)
    assert sets == qualifying_sets(names, Random(3))


def test_three_proceed_or_more_in_a_tie():
    assert qualified(FOUR.names, FOUR.total) == ["a", "b", "c"]
    tied = Table(("a", "b", "c", "d"), dict.fromkeys(FOUR.won, 0))
    assert qualified(tied.names, tied.total) == ["a", "b", "c", "d"]


def test_elo_by_hand():
    """a and b are even: 12 * (0.8 - 0.5) = 3.6. Then a expects 1 / (1 + 10 ** (-3.6 / 400)) = 0.505181 from c."""
    found = elo(("a", "b", "c"), [("a", "b", 0.8), ("c", "a", 1.0)])
    assert expected_score(1503.6, 1500.0) == pytest.approx(0.505181, abs=1e-6)
    assert found["b"] == pytest.approx(1496.4)
    assert found["a"] == pytest.approx(1503.6 - 12 * 0.505181, abs=1e-4)
    assert found["c"] == pytest.approx(1500.0 + 12 * 0.505181, abs=1e-4)
    assert sum(found.values()) == pytest.approx(4500.0)


def test_ratings_far_apart_are_no_matter():
    assert (expected_score(-1e300, 1e300), expected_score(1e300, -1e300)) == pytest.approx((0.0, 1.0))
    assert elo(("a", "b"), [("a", "b", 1.0), ("b", "a", 0.0)], k=1e9) == {"a": 5e8 + 1500, "b": -5e8 + 1500}


def test_elo_of_games_that_are_none():
    for game in (("a", "x", 0.5), ("a", "a", 0.5), ("a", "b", 1.5)):
        with pytest.raises(InputError, match="expected two bots of the tournament"):
            elo(("a", "b"), [game])


def test_a_table_needs_all_pairs():
    with pytest.raises(InputError, match="the results of a against b are missing"):
        Table(("a", "b"), {})
