"""GTO Wizard's benchmark: the client at the local stand-in, and answers in other words than the stand-in's."""

import json
import threading
from contextlib import contextmanager

import pytest
from cli_runs import refused, spewy

from benchmarks.studies.online_servers import GtoWizard, serving
from spewy.competitions.online.gtowizard import SITE, GtoWizardSession, parse_answer
from spewy.competitions.online.record import STATE, Record
from spewy.competitions.online.server import Reply, Server
from spewy.competitions.online.text import online_game
from spewy.errors import InputError, PeerError
from spewy.match.log import read_log
from spewy.match.opponents import opponent

GAME = online_game()
KEY = "s3cr3t-key"
NAMES = ("random", "gtowizard")
BOT = {"bot": "random", "seed": 0}


@contextmanager
def stand_in(bot="equity", spoil=None, **options):
    server = GtoWizard(opponent(bot, GAME), key=KEY, **options)
    with serving(server, spoil=spoil) as url:
        yield server, url


def play(*args):
    return spewy("play", "gtowizard", *args, "--patience", 0)


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("GTOW_API_KEY", KEY)


@pytest.mark.parametrize("bots", [("random", "equity"), ("call", "raise"), ("raise", "raise")])
def test_hands_are_logged_as_they_were_played(bots, tmp_path):
    ours, theirs = bots
    out, messages = tmp_path / "out", tmp_path / "messages"
    with stand_in(theirs) as (server, url):
        result = play(ours, "--url", url, "--hands", 30, "--json", "--out", out, "--log", messages)
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    assert (found["hands"], found["faults"], found["lost"]) == (30, 0, 0)
    assert found["chips"] == server.total
    assert found["aivat"]["mean"] == pytest.approx((server.values / 30 + 0.25) * 10)  # 100 chips a big blind
    assert found["aivat"]["n"] == 30
    hands = list(read_log(GAME, (out / "gtowizard.log").read_text().splitlines()))
    assert sum(each.hand.net()[each.names.index(ours)] for each in hands) == found["chips"]
    texts = [each.read_text() for each in tmp_path.rglob("*") if each.is_file()]
    assert not [text for text in (*texts, result.output) if KEY in text]


def test_a_client_that_folds_reads_minus_750():
    with stand_in("raise") as (_, url):
        found = json.loads(play("fold", "--url", url, "--hands", 20, "--json").stdout)
    assert (found["chips"], found["score"]["mean"]) == (-1500, -750.0)


def test_the_same_command_goes_on(tmp_path):
    with stand_in() as (_, url):
        args = ("random", "--url", url, "--out", tmp_path, "--json", "--hands")
        first = json.loads(play(*args, 5).stdout)
        assert json.loads(play(*args, 5).stdout)["aivat"] == first["aivat"]
        assert json.loads(play(*args, 9).stdout)["hands"] == 9
        assert KEY not in (tmp_path / STATE).read_text()


class Interrupted(Server):
    """A server at which Ctrl-C hits a request: before it is sent, or before its answer is read."""

    def post(self, path, fields, busy=()):
        self.left -= 1
        if self.left == 0 and not self.late:
            raise KeyboardInterrupt
        reply = super().post(path, fields, busy)
        if self.left == 0:
            raise KeyboardInterrupt
        return reply


def session(folder, url, server=None, bot="random"):
    folder.mkdir(exist_ok=True)
    record = Record(folder, GAME, url, "", NAMES, BOT, "gtowizard")
    server = server or Server(SITE, url, 5, 0, headers={"X-API-KEY": KEY})
    return GtoWizardSession(server, opponent(bot, GAME), record, NAMES)


@pytest.mark.parametrize("late", [False, True])
def test_a_session_continues_after_an_interruption(tmp_path, late):
    """An action that is sent twice may be played twice: then the hand has a fault, or is lost."""
    with stand_in(most_hands=99) as (_, url):
        for left in range(1, 12):
            server = Interrupted(SITE, url, 5, 0, headers={"X-API-KEY": KEY})
            server.left, server.late = left, late
            folder = tmp_path / str(left)
            try:
                session(folder, url, server).play(4)
            except KeyboardInterrupt:
                again = session(folder, url)
                again.play(4)
                assert len(again.results.winnings) == 4
                assert again.results.lost + again.results.faults <= late


def test_a_wrong_key_ends_the_session(tmp_path, monkeypatch):
    monkeypatch.setenv("GTOW_API_KEY", "another")
    with stand_in() as (_, url):
        result = play("call", "--url", url, "--out", tmp_path)
    assert result.exit_code == 1
    assert f"{url}: the server refuses: Invalid API key" in result.stderr


@pytest.mark.parametrize("status", [502, 503, 504])
def test_a_busy_server_is_asked_again(status, tmp_path):
    answers = [status, status]

    def spoil(now, path, data):
        return (answers.pop(), b'{"detail": "engine busy"}') if answers else (now, data)

    notes, waited = [], []

    class Waits(threading.Event):
        def wait(self, seconds):
            waited.append(seconds)
            return False

    with stand_in("raise", spoil) as (_, url):
        server = Server(SITE, url, 5, 600, notes.append, Waits(), {"X-API-KEY": KEY})
        one = session(tmp_path, url, server)
        one.play(2)
    assert waited == [1, 2]
    assert len(one.results.winnings) == 2


def test_a_full_table_is_waited_for(tmp_path):
    """Hands that other commands play count too."""
    with stand_in(most_hands=0) as (server, url):

        class Waits(threading.Event):
            def wait(self, seconds):
                server._most = 1
                return False

        one = session(tmp_path, url, Server(SITE, url, 5, 600, stop=Waits(), headers={"X-API-KEY": KEY}))
        one.play(1)
        assert len(one.results.winnings) == 1


def state(history, over=False, own="AhKd", other=None, position="SB", **more):
    players = [
        {"name": "GTO Wizard", "position": "BB" if position == "SB" else "SB", "hole_cards": other},
        {"name": "us", "position": position, "hole_cards": own},
    ]
    fields = {"board_cards": "", "is_hand_over": over, "players": players, "action_history": history}
    return {"hand_id": 7, "game_state": fields | more}


def test_answers_in_other_words():
    """Values from the rules: the button folds 50 chips, or calls and loses 100 after the big blind's bet."""
    found = parse_answer(GAME, state([]))
    assert (found.position, found.action, found.played.hand.to_act) == (1, "", 1)
    late = parse_answer(GAME, state(["c", "k", "_", "b250.0"], board_cards="2c3d4h", position="BTN"))
    assert late.played.hand.betting.spent == (350, 100)
    assert late.action == "ck/b250"
    unknown = parse_answer(GAME, state(["b225"], position="?"))
    assert unknown.position == 0
    over = parse_answer(GAME, state(["f"], over=True, winnings=-50.0, aivat_score=-14.66))
    assert (over.winnings, over.estimate) == (-50, -14.66)
    shown = parse_answer(
        GAME,
        state(
            ["b20000", "c", "_", "_", "_"],
            over=True,
            other="QcQd",
            board_cards="2c3d4h8s9s",
            winnings=-20000,
            aivat_score=None,
        ),
    )
    assert (shown.winnings, shown.estimate, shown.played.is_shown) == (-20000, None, True)
    hidden = parse_answer(GAME, state(["b20000", "c"], over=True, board_cards="2c3d4h5s9s", winnings=20000))
    assert (hidden.winnings, hidden.played.is_shown) == (20000, False)


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({}, "hand_id: expected a number"),
        ({"hand_id": "../x"}, "hand_id: expected a number"),
        ({"hand_id": 1}, "game_state: expected an object"),
        (
            state([]) | {"game": {"starting_stack": 200.0, "blinds": [0.5, 1.0]}},
            "expected blinds of 50 and 100",
        ),
        (state("f"), "action_history: expected a list"),
        (state(["x"]), "action_history: expected f, c, k, _ or b"),
        (state(["b225.5"]), "action_history: expected f, c, k, _ or b"),
        (state(["b30000"]), "a bet that is not legal"),
        (state(["b300"]), "it is not the client's turn"),
        (state([], own=None), "players: expected the client's hole cards"),
        (state([], own="AhKx"), "hole_cards: card 'Kx'"),
        (state([], own=3), "hole_cards: expected a text"),
        (state([], over="no"), "is_hand_over: expected true or false"),
        (state(["f"], over=True), "winnings: expected a whole number"),
        (state(["f"], over=True, winnings=50), "winnings after 'f': expected -50, found 50"),
        (state(["f"], over=True, winnings=-50, aivat_score="x"), "aivat_score: expected a number"),
        (
            state(["b20000", "c"], over=True, board_cards="2c3d4h5s9s", winnings=7),
            "which the rules do not allow",
        ),
        (state([], players=[{}]), "players: expected a list of two players"),
        (
            state([], players=[{"hole_cards": "AhKd", "name": "a"}] * 2),
            "players: expected one that is GTO Wizard",
        ),
    ],
)
def test_answers_that_are_refused(fields, told):
    with pytest.raises(InputError) as raised:
        parse_answer(GAME, fields)
    assert told in str(raised.value)


def test_a_showdown_whose_cards_are_hidden_is_recorded(tmp_path):
    states = [
        state(["b20000"], position="BB"),
        state(["b20000", "c"], over=True, position="BB", board_cards="2c3d4h5s9s", winnings=20000),
    ]
    sent = []

    class Scripted(Server):
        def post(self, path, fields, busy=()):
            sent.append((path, fields))
            return Reply(states.pop(0), False)

    one = session(tmp_path, "http://127.0.0.1:9", Scripted(SITE, "http://127.0.0.1:9"), "call")
    one.play(1)
    assert sent == [("hands", {"game_name": "HUNL 200BB"}), ("hands/7/act", {"action": "c"})]
    assert (tmp_path / "gtowizard.log").read_text().splitlines()[-2:] == [
        "# hand 0:b20000c",
        "# result 0:20000:-",
    ]
    assert session(tmp_path, "http://127.0.0.1:9").results.winnings == (20000,)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (None, "expected the key of GTO Wizard's benchmark, found none"),
        ("a b", "found other text"),
        ("é", "found"),
    ],
)
def test_keys_that_are_refused(value, told, monkeypatch):
    monkeypatch.delenv("GTOW_API_KEY")
    if value is not None:
        monkeypatch.setenv("GTOW_API_KEY", value)
    assert told in refused("play", "gtowizard", "call")


def test_a_key_goes_over_https_only():
    assert "a key is sent over https only" in refused(
        "play", "gtowizard", "call", "--url", "http://192.0.2.1"
    )


def test_an_action_that_is_refused_ends_the_command(tmp_path):
    """The next run drops the hand, and goes on."""

    def spoil(status, path, data):
        nonlocal done
        if path.endswith("/act") and not done:
            done = True
            return 400, b'{"detail": "illegal action"}'
        return status, data

    done = False
    with stand_in("raise", spoil) as (server, url):
        result = play("call", "--url", url, "--out", tmp_path, "--hands", 3)
        assert (result.exit_code, "illegal action, hand 0" in result.stderr) == (1, True)
        server._games.clear()
        found = json.loads(play("call", "--url", url, "--out", tmp_path, "--hands", 3, "--json").stdout)
    assert (found["hands"], found["lost"]) == (3, 1)


def test_two_actions_at_once_are_out_of_order(tmp_path):
    states = [state([]), state(["c", "k", "_", "k", "k", "_", "k"], board_cards="2c3d4h5s")]

    class Scripted(Server):
        def post(self, path, fields, busy=()):
            return Reply(states.pop(0), False)

    one = session(tmp_path, "http://127.0.0.1:9", Scripted(SITE, "http://127.0.0.1:9"), "call")
    with pytest.raises(PeerError, match="the client has acted once, and not 2 times"):
        one.play(1)
