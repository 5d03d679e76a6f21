"""Slumbot's protocol: its text, a client at the local stand-in, and servers that send something else."""

import json
import re
import signal
import socket
import subprocess
import threading
import time
from contextlib import contextmanager, suppress
from itertools import islice

import pytest
from cli_runs import COMMAND, good, refused, spewy

from benchmarks.studies.online_servers import Slumbot, WrongRequestError, actions_text, serving
from buckets.cards import parse_cards
from spewy.competitions.online.record import STATE, Record
from spewy.competitions.online.server import FIRST_PAUSE, Server
from spewy.competitions.online.slumbot import SITE, Login, SlumbotSession
from spewy.competitions.online.text import online_game, replayed
from spewy.errors import InputError, PeerError
from spewy.match.acpc_text import read_action
from spewy.match.log import read_log
from spewy.match.opponents import opponent
from spewy.match.phh import read_phh
from spewy.match.table import Seat, deals, play_hand

GAME = online_game()
LOG = "slumbot.log"
OWN, FLOP = parse_cards("AdJc"), parse_cards("8h4d2s")
ALL_IN = "b200b1250c/kb750b18650"
NAMES = ("mine", "slumbot")
BOT = {"bot": "random", "seed": 0}


@contextmanager
def stand_in(bot="equity", spoil=None, **options):
    """Yield a stand-in with a rule's bot, and its address."""
    sessions = Slumbot(opponent(bot, GAME), **options)
    with serving(sessions, spoil=spoil) as url:
        yield sessions, url


def session(folder, url, bot="random", login=None, server=None):
    folder.mkdir(exist_ok=True)
    record = Record(folder, GAME, url, login.user if login else "", NAMES, BOT, "slumbot")
    return SlumbotSession(server or Server(SITE, url, 5, 0), opponent(bot, GAME), record, NAMES, login)


def play(*args):
    """Run ``spewy play slumbot`` with no patience."""
    return spewy("play", "slumbot", *args, "--patience", 0)


def error_of(result):
    """The only line that a command has written to stderr, after it failed with exit code 1.

    A line that says where a session continues does not count.
    """
    lines = [each for each in result.stderr.strip().splitlines() if not each.startswith("continuing ")]
    assert (result.exit_code, len(lines)) == (1, 1), result.stderr
    return lines[0].removeprefix("Error: ")


def test_every_hand_is_read_as_it_is_written():
    bots = Seat(opponent("random", GAME)), Seat(opponent("random", GAME))
    for number, dealt in enumerate(islice(deals(GAME, 1), 200)):
        hand = play_hand(dealt, bots, GAME, (number, -number)).hand
        text = actions_text(hand)
        for form in (text, text.rstrip("/")):
            assert replayed(GAME, form, hand.hole, hand.board).hand == hand


def test_all_ins_below_the_smallest_raise_are_legal():
    """Slumbot made this raise to the author of issue 29 of its repository."""
    found = replayed(GAME, f"{ALL_IN}b18750", (OWN, None), FLOP)
    assert found.hand.betting.spent == (19900, 20000)
    assert (found.short, found.legal) == ((), found.hand)
    assert found.incr("c") == "c"


def test_short_raises_are_shown_as_legal_ones():
    found = replayed(GAME, f"{ALL_IN}b18700", (OWN, None), FLOP)
    assert found.hand.betting.spent == (19900, 19950)
    assert found.legal.betting.line == "r200r1250c/cr2000r19900r20000"
    assert found.short == ("raise to 19950, below the smallest legal raise to 20000",)
    assert read_action(found.hand, "c") == ("c", None)
    later = replayed(GAME, f"{ALL_IN}b18700c/", (OWN, None), (*FLOP, *parse_cards("3c")))
    assert later.legal is None
    assert later.hand.to_act == 0


@pytest.mark.parametrize(
    ("text", "board", "told"),
    [
        ("x", "", "expected k, c, f, / or b with a number"),
        ("k", "", "a check where a bet must be answered"),
        ("ck/c", "8h4d2s", "a call where there is no bet"),
        ("ck/f", "8h4d2s", "a fold where there is no bet"),
        ("b20001", "", "a bet that is not legal (the most is 20000)"),
        ("b200b200", "", "a bet that is not legal"),
        ("b20000b30000", "", "a bet that is not legal (none is legal)"),
        ("b200b1250c/b19000", "8h4d2s", "(the most is 18750)"),
        ("ckk", "8h4d2s", "expected '/' after a round"),
        ("c/k", "", "found '/' inside a round"),
        ("fk", "", "expected no action after the end of the hand"),
        ("ck/", "8h4d", "public cards after 'cc/': expected 3, found 2"),
        ("ck/", "8h4d2s3c", "expected 3 cards after the actions"),
        ("ck/", "Ad4d2s", "expected cards left in the deck, found Ad"),
        ("b9999999999", "", "a bet that is not legal"),
        ("k" * 3000, "", "expected at most 2,000 characters"),
    ],
)
def test_texts_that_are_no_hand(text, board, told):
    with pytest.raises(InputError) as raised:
        replayed(GAME, text, (OWN, None), parse_cards(board))
    assert told in str(raised.value)


def test_a_client_that_folds_reads_minus_750(tmp_path):
    with stand_in("raise") as (_, url):
        result = play("fold", "--url", url, "--hands", 20, "--json")
    found = json.loads(result.stdout)
    assert (found["chips"], found["score"]["mean"], found["hands"]) == (-1500, -750.0, 20)


@pytest.mark.parametrize("bots", [("random", "equity"), ("equity", "random"), ("raise", "raise")])
def test_hands_are_logged_as_they_were_played(bots, tmp_path):
    ours, theirs = bots
    out, histories, messages = (tmp_path / name for name in ("out", "a.phhs", "messages"))
    files = ("--out", out, "--phh", histories, "--log", messages)
    with stand_in(theirs) as (sessions, url):
        result = play(ours, "--url", url, "--hands", 40, "--json", *files)
        game = next(iter(sessions._games.values()))
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    assert (found["faults"], found["lost"], found["hands"]) == (0, 0, 40)
    assert (found["chips"], found["baseline_chips"]) == (game.total, game.baseline)
    hands = list(read_log(GAME, logged(out).splitlines()))
    assert [each.number for each in hands] == list(range(40))
    assert [each.names.index(ours) for each in hands] == [0, 1] * 20
    assert sum(each.hand.net()[each.names.index(ours)] for each in hands) == found["chips"]
    for read, hand in zip(read_phh(GAME, histories.read_text()), hands, strict=True):
        assert (read.hand.betting, read.hand.hole) == (hand.hand.betting, hand.hand.hole)
        assert (read.names, read.hand.net()) == (hand.names, hand.hand.net())
    assert [each.hand.hole for each in hands] == [dealt.hole for dealt in islice(deals(GAME, 0), 40)]
    assert stored(out)["token"] not in messages.read_text()
    assert (out / STATE).stat().st_mode & 0o077 == 0


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


def interrupted(url, left, late):
    server = Interrupted(SITE, url, 5, 0)
    server.left, server.late = left, late
    return server


def stored(folder):
    return json.loads((folder / STATE).read_text().splitlines()[-1])


def logged(folder):
    return (folder / LOG).read_text()


@pytest.mark.parametrize("bot", ["random", "equity"])
def test_a_session_continues_where_it_was_interrupted(bot, tmp_path):
    with stand_in() as (_, url):
        session(tmp_path / "whole", url, bot).play(4)
    with stand_in() as (_, url):
        for left in range(1, 14, 2):
            folder = tmp_path / str(left)
            first = session(folder, url, bot, server=interrupted(url, left, late=False))
            try:
                first.play(4)
            except KeyboardInterrupt:
                assert first.results.winnings == session(folder, url, bot).results.winnings
            session(folder, url, bot).play(4)
            ours, whole = logged(folder).splitlines(), logged(tmp_path / "whole").splitlines()
            assert ours[4:] == whole[4:]  # the addresses differ


def test_an_action_without_an_answer_is_sent_again(tmp_path):
    told = 0
    with stand_in() as (_, url):
        for left in range(1, 14):
            folder = tmp_path / str(left)
            with suppress(KeyboardInterrupt):
                session(folder, url, server=interrupted(url, left, late=True)).play(4)
            again = session(folder, url)
            again.play(4)
            assert again.results.lost + again.results.faults <= 1
            assert len(again.results.winnings) == 4
            told += again.results.lost + again.results.faults
    assert told > 0


def test_ctrl_c_ends_a_session_after_the_hand(tmp_path):
    with stand_in() as (_, url):
        server = Server(SITE, url, 5, 0)
        one = session(tmp_path, url, server=server)
        one.play(10, lambda done: server.stop.set() if done == 4 else None)
        assert len(one.results.winnings) == 4
        assert session(tmp_path, url).record.hand is None


def test_the_same_command_goes_on(tmp_path):
    with stand_in() as (_, url):
        args = ("random", "--url", url, "--out", tmp_path, "--json", "--hands")
        first = json.loads(play(*args, 5).stdout)
        text = logged(tmp_path)
        assert json.loads(play(*args, 5).stdout)["chips"] == first["chips"]
        assert logged(tmp_path) == text
        assert json.loads(play(*args, 9).stdout)["hands"] == 9
        assert logged(tmp_path).startswith(text)


def test_a_log_that_was_cut_is_repaired(tmp_path):
    with stand_in() as (_, url):
        session(tmp_path, url).play(5)
        text = logged(tmp_path)
        (tmp_path / LOG).write_text(text + "# short 5:a raise\nSTATE:5:")
        assert session(tmp_path, url).results.winnings
        assert logged(tmp_path) == text


@pytest.mark.parametrize(
    ("line", "other", "told"),
    [
        ("STATE:1:.*\n", "", "expected a line with hand 1 and the winnings"),
        ("# result 1:.*", "# result 1:77:1", "expected a line with hand 1 and the winnings 77"),
        ("# result 1:.*\n", "", "expected the result of hand 1, found hand 2"),
    ],
)
def test_a_log_that_was_changed_is_refused(line, other, told, tmp_path):
    with stand_in() as (_, url):
        assert play("random", "--url", url, "--hands", 4, "--out", tmp_path).exit_code == 0
        (tmp_path / LOG).write_text(re.sub(line, other, logged(tmp_path)))
        result = play("random", "--url", url, "--hands", 5, "--out", tmp_path, "--json")
    assert (result.exit_code, result.stdout) == (2, "")
    assert told in result.stderr


def test_faults_survive_an_interruption(tmp_path):
    def one(server):
        return SlumbotSession(
            server, Failing(), Record(tmp_path, GAME, url, "", NAMES, BOT, "slumbot"), NAMES
        )

    with stand_in("call") as (_, url):
        with pytest.raises(KeyboardInterrupt):
            one(interrupted(url, 3, late=False)).play(1)
        assert len(stored(tmp_path)["hand"]["faults"]) == 2
        assert one(None).results.unfinished == 0
        again = one(Server(SITE, url, 5, 0))
        again.play(1)
    assert (again.results.faults, again.results.unfinished) == (4, None)
    assert logged(tmp_path).count("# fault 0:the bot failed") == 4


def spoiled(path, number, change):
    """A function that replaces the answer to the request with a number (from 1) to a path by ``change(answer)``."""
    count = 0

    def spoil(status, at, data):
        nonlocal count
        count += at == f"/api/{path}"
        if count != number or at != f"/api/{path}":
            return status, data
        return change(json.loads(data))

    return spoil


def body(**fields):
    return lambda answer: (200, json.dumps(answer | fields).encode())


def without(*names):
    return lambda answer: (200, json.dumps({k: v for k, v in answer.items() if k not in names}).encode())


def raw(data, status=200):
    return lambda answer: (status, data)


@pytest.mark.parametrize(
    ("path", "change", "told"),
    [
        ("new_hand", raw(b"<html>hello</html>"), "expected JSON, found an HTML page: '<html>hello</html>'"),
        ("act", raw(b"<html>hello</html>"), "expected JSON, found an HTML page"),
        ("act", raw(b""), "expected JSON, found nothing (HTTP status 200)"),
        ("act", raw(b"[1]"), "expected JSON, found no JSON object: '[1]'"),
        ("act", raw(b"[" * 100_000), "expected JSON, found no JSON object"),
        ("act", raw(b"\x1b[2J\xff"), r"'\x1b[2J"),
        ("act", raw(b" " * 2_000_000), "expected an answer of at most 1,048,576 bytes, found more"),
        ("act", raw(b"<html>", 502), "the server answers 502 Bad Gateway"),
        ("act", raw(b"<html>", 404), "the server answers 404 Not Found; is this the address"),
        ("act", raw(b"", 301), "found a redirection to nowhere"),
        ("act", raw(b'{"error_msg": "no\\nway"}'), r"the server refuses: no\nway"),
        ("act", raw(b'{"error_msg": 1}', 500), "the server refuses: 1"),
        ("new_hand", raw(b'{"error_msg": "full"}'), "the server refuses: full"),
        ("new_hand", without("token"), "token: expected one in the answer to new_hand, found none"),
        ("new_hand", without("action"), "hand 0: action: expected a text, found None"),
        ("new_hand", body(client_pos=2), "client_pos: expected 0 or 1, found 2"),
        ("new_hand", body(client_pos=True), "client_pos: expected a whole number, found True"),
        ("new_hand", body(hole_cards=["Ad"]), "expected a list of 2 cards such as Ac, found ['Ad']"),
        ("new_hand", body(hole_cards=["Ad", "Ad"]), "hole_cards: expected a list of 2 cards such as Ac"),
        ("new_hand", body(hole_cards=["Ad", "1x"]), "hole_cards: expected a list"),
        ("new_hand", body(board="AdAc"), "board: expected a list of cards"),
        ("new_hand", body(client_pos=1), "state 'b300' out of order: it is not the client's turn"),
        ("new_hand", body(action="b300b900b3000"), "expected the beginning of a hand, found a later state"),
        ("new_hand", body(action="b30000"), "action 'b30000': a bet that is not legal (the most is 20000)"),
        ("new_hand", body(bot_hole_cards=["Ad", "5d"]), "found 5d"),
        ("new_hand", body(winnings=50), "out of order: it has winnings, but the hand is not over"),
        ("act", body(action="b300", board=[]), "out of order"),
        ("act", body(action="b400c/"), "out of order"),
        ("act", body(token=3), "token: expected a text of 1 to 1,000 characters, found 3"),
        ("new_hand", body(token=""), "token: expected a text of 1 to 1,000 characters, found 0 characters"),
        ("act", body(token="x" * 2000), "token: expected a text of 1 to 1,000 characters, found 2,000"),
        ("act", body(baseline_winnings=10**9), "baseline_winnings: expected at most 20,000 chips"),
        ("act", raw(b'{"a":' + b"[" * 900 + b"]" * 900 + b"}"), "expected JSON, found no JSON object"),
        ("act", body(winnings=1e400), "winnings: expected a whole number, found inf"),
        ("act", body(winnings=0.5), "winnings: expected a whole number, found 0.5"),
        ("act", body(session_total="x"), "session_total: expected a whole number, found 'x'"),
    ],
)
def test_servers_that_send_something_else(path, change, told, tmp_path):
    with stand_in("raise", spoiled(path, 1, change)) as (_, url):
        error = error_of(play("call", "--url", url, "--hands", 4, "--out", tmp_path / "out"))
        assert error.startswith(url)
        assert told in error


@pytest.mark.parametrize("change", [body(winnings=1), without("winnings"), body(bot_hole_cards=[])])
def test_winnings_are_checked(change, tmp_path):
    """In the stand-in's first hand the client calls down; the sixth answer ends the hand."""
    ends = spoiled_end(change)
    with stand_in("call", ends) as (_, url):
        error = error_of(play("call", "--url", url, "--hands", 4))
        assert "hand 0: " in error


def spoiled_end(change):
    """A function that replaces the first answer that ends a hand."""
    done = False

    def spoil(status, at, data):
        nonlocal done
        if done or b'"winnings"' not in data:
            return status, data
        done = True
        return change(json.loads(data))

    return spoil


def test_a_refused_action_costs_one_hand_at_most(tmp_path):
    """The command ends; the next run drops the hand, and goes on."""
    refuse = spoiled("act", 2, raw(b'{"error_msg": "Illegal bet"}'))
    with stand_in("raise", refuse) as (sessions, url):
        args = ("call", "--url", url, "--hands", 4, "--out", tmp_path)
        assert "hand 0, 'k' after 'b300c/'" in error_of(play(*args))
        for game in sessions._games.values():
            game.table = None
        result = play(*args, "--json")
        assert result.exit_code == 0
        found = json.loads(result.stdout)
        assert (found["hands"], found["lost"]) == (4, 1)


def test_nothing_for_a_while():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        assert error_of(play("call", "--url", url, "--timeout", 0.2)) == f"{url}: no answer within 0.2 s"


def test_a_redirection_to_no_address():
    """Python's own treatment of a redirection raises a ValueError here."""
    head = b"HTTP/1.1 302 Found\r\nLocation: http://[\r\nContent-Length: 0\r\n\r\n"
    with stand_in(spoil=lambda *answer: [head]) as (_, url):
        told = error_of(play("call", "--url", url))
    assert told == f"{url}: expected an answer, found a redirection to http://[; give its --url"


def test_cookies_that_cannot_be_sent_back():
    """httpx would keep a cookie, and fail at each later request if it is not ASCII."""

    def spoil(status, at, data):
        head = f"HTTP/1.1 {status} OK\r\nSet-Cookie: a=\xe9; Path=/\r\nContent-Length: {len(data)}\r\n\r\n"
        return [head.encode("latin-1") + data]

    with stand_in(spoil=spoil) as (_, url):
        assert play("call", "--url", url, "--hands", 2, "--patience", 0).exit_code == 0


@pytest.mark.slow
def test_headers_that_do_not_end():
    """Each byte arrives in time, and the answer does not."""

    def drip():
        for _ in range(20):
            yield b"x"
            time.sleep(0.1)

    with stand_in(spoil=lambda *answer: drip()) as (_, url):
        begun = time.monotonic()
        assert error_of(play("call", "--url", url, "--timeout", 0.5)) == f"{url}: no answer within 0.5 s"
        assert time.monotonic() - begun < 1.8


def test_secrets_that_the_server_repeats(tmp_path, monkeypatch):
    monkeypatch.setenv("SPEWY_SLUMBOT_PASSWORD", "s3cr3t-word")
    words = json.dumps({"error_msg": "wrong password: s3cr3t-word"}).encode()
    with stand_in(spoil=lambda *answer: (200, words)) as (_, url):
        told = error_of(play("call", "--url", url, "--user", "me", "--log", tmp_path / "log"))
    assert told == f"{url}: the server refuses: wrong password: ..."
    assert "s3cr3t" not in (tmp_path / "log").read_text()


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 500 not s3cr3t-word\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 302 Found\r\nLocation: /?s3cr3t-word\r\nContent-Length: 0\r\n\r\n",
        b'HTTP/1.1 200 OK\r\nContent-Length: 30\r\n\r\n{"error_msg": ["s3cr3t-word"] }',
        b"s3cr3t-word\r\n\r\n",
    ],
)
def test_secrets_beside_the_body_of_an_answer(answer, monkeypatch):
    monkeypatch.setenv("SPEWY_SLUMBOT_PASSWORD", "s3cr3t-word")
    with stand_in(spoil=lambda *sent: [answer]) as (_, url):
        told = error_of(play("call", "--url", url, "--user", "me"))
    assert "..." in told
    assert "s3cr3t" not in told


def test_an_answer_that_does_not_end():
    def drip(listening):
        connection, _ = listening.accept()
        with connection:
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{")

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=drip, args=(listening,), daemon=True).start()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        told = error_of(play("call", "--url", url, "--timeout", 0.3))
        assert told.startswith(f"{url}: ")


def closed_port():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]


def test_a_refused_connection():
    url = f"http://127.0.0.1:{closed_port()}"
    assert error_of(play("call", "--url", url)) == f"{url}: the connection was refused"


class Waits:
    """A `threading.Event` that notes how long it is waited for."""

    def __init__(self, ends=None):
        self.waited, self._ends = [], ends

    def is_set(self):
        return False

    def wait(self, seconds):
        self.waited.append(seconds)
        return len(self.waited) == self._ends


def test_failed_requests_are_repeated_after_longer_and_longer_pauses(tmp_path):
    """The server is not asked again before the time that it has named."""
    answers = [503, 502, 500, 429, 200]
    notes, waits = [], Waits()

    def spoil(status, at, data):
        now = answers.pop(0) if answers else 200
        return (status, data) if now == 200 else (now, b"<html>")

    with stand_in("raise", spoil) as (_, url):
        server = Server(SITE, url, 5, 600, notes.append, waits)
        session(tmp_path, url, "fold", server=server).play(2)
    assert waits.waited == [FIRST_PAUSE, 2, 4, 8]
    told = f"WARNING: {url}: the server answers 503 Service Unavailable; the next attempt follows in 1 s"
    assert next(note for note in notes if note.startswith("WARNING")) == told


def test_patience_ends_and_so_does_a_pause_that_is_interrupted(tmp_path):
    url = f"http://127.0.0.1:{closed_port()}"
    waits = Waits()
    with pytest.raises(PeerError, match="the connection was refused"):
        session(tmp_path, url, server=Server(SITE, url, 5, 10, stop=waits)).play(1)
    with pytest.raises(KeyboardInterrupt):
        session(tmp_path, url, server=Server(SITE, url, 5, 10, stop=Waits(ends=1))).play(1)


def test_an_expired_token(tmp_path):
    with stand_in() as (sessions, url):
        args = ("random", "--url", url, "--out", tmp_path, "--hands")
        assert play(*args, 3).exit_code == 0
        sessions.expire()
        told = error_of(play(*args, 6))
        assert told.startswith(f"{url}: the server refuses: Invalid token; the session may have expired")
        (tmp_path / STATE).unlink()
        result = play(*args, 6, "--json")
        assert json.loads(result.stdout)["hands"] == 6


def test_a_user_logs_in_again_when_the_token_expires(tmp_path):
    with stand_in(users={"me": "geheim"}) as (sessions, url):
        login = Login("me", "geheim")
        assert "geheim" not in repr(login)
        session(tmp_path, url, login=login).play(3)
        assert [game.user for game in sessions._games.values()] == ["me"]
        sessions.expire()
        again = session(tmp_path, url, login=login)
        again.play(6)
        assert len(again.results.winnings) == 6
        sessions.expire()
        with pytest.raises(PeerError, match="Invalid username or password"):
            session(tmp_path, url, login=Login("me", "no")).play(7)


def test_a_password_is_told_to_nobody(tmp_path, monkeypatch):
    secret, file = "s3cr3t-word", tmp_path / "password"
    file.write_text(secret + "\n")
    with stand_in(users={"me": secret}) as (_, url):
        args = ("random", "--url", url, "--hands", 2, "--user", "me", "--log", tmp_path / "log", "-v")
        for more in (("--out", tmp_path / "a", "--password-file", file), ("--out", tmp_path / "b")):
            result = play(*args, *more)
            assert result.exit_code == 0
            texts = [each.read_text() for each in tmp_path.rglob("*") if each.is_file() and each != file]
            assert not [text for text in (*texts, result.output) if secret in text]
            monkeypatch.setenv("SPEWY_SLUMBOT_PASSWORD", secret)
        monkeypatch.setenv("SPEWY_SLUMBOT_PASSWORD", "another")
        assert "Invalid username or password" in error_of(play(*args))


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("nobody",), "bot 'nobody': expected one of random, call, raise, fold, tight, loose, equity"),
        (("call", "--url", "slumbot"), "expected an address such as https://slumbot.com, found 'slumbot'"),
        (("call", "--url", "ftp://a"), "--url: expected an address"),
        (("call", "--url", "http://a:b"), "--url: expected an address"),
        (("call", "--url", "http://a..b"), "--url: expected an address"),
        (("call", "--url", "http://%00"), "--url: expected an address"),
        (("call", "--url", "http://me:word@a"), "such as https://slumbot.com, found 'a'"),
        (("call", "--user", "me"), "a password in the environment variable SPEWY_SLUMBOT_PASSWORD"),
        (("call", "--password-file", "x"), "--password-file: there is no user; name one with --user"),
        (("call", "--user", "me", "--password-file", "/nowhere"), "/nowhere: expected a readable"),
        (("call", "--hands", "0"), "Invalid value for '--hands'"),
        (("call", "--timeout", "0"), "Invalid value for '--timeout'"),
        (("call", "--phh", "a.txt"), "expected a name that ends in .phhs"),
    ],
)
def test_options_that_are_refused(args, told, monkeypatch):
    monkeypatch.delenv("SPEWY_SLUMBOT_PASSWORD", raising=False)
    assert told in refused("play", "slumbot", *args)


@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:9", "nonsense://127.0.0.1:9", "http://127.0.0.1:x"])
def test_a_proxy_that_cannot_be_used_is_refused(proxy, monkeypatch):
    monkeypatch.setenv("ALL_PROXY", proxy)
    with pytest.raises(InputError, match="proxy of the environment: "):
        Server(SITE, "http://192.0.2.1")
    assert Server(SITE, "http://127.0.0.1").is_private


def test_passwords_go_over_https_only(monkeypatch):
    monkeypatch.setenv("SPEWY_SLUMBOT_PASSWORD", "x")
    told = refused("play", "slumbot", "call", "--url", "http://192.0.2.1", "--user", "me")
    assert "a password is sent over https only" in told


def test_sessions_of_others_are_refused(tmp_path):
    with stand_in() as (_, url), stand_in() as (_, other):
        assert play("random", "--url", url, "--hands", 2, "--out", tmp_path).exit_code == 0
        for args, *texts in (
            (("random", "--url", other), f"slumbot had url '{url}', and has url '{other}'"),
            (
                ("call", "--url", url),
                "belongs to another match",
                "expected the line '# names call|slumbot', found '# names random|slumbot'",
            ),
            (("random", "--url", url, "--seed", 1), "random had seed 0, and has seed 1"),
            (("random=call", "--url", url), "random had bot 'random', and has bot 'call'"),
        ):
            told = refused("play", "slumbot", *args, "--patience", 0, "--hands", 3, "--out", tmp_path)
            assert all(text in told for text in texts), told
        (tmp_path / STATE).write_text("{}")
        told = refused("play", "slumbot", "random", "--url", url, "--hands", 3, "--out", tmp_path)
        assert "remove the file" in told


class Scripted:
    """A server that answers with given states; it notes the client's actions."""

    def __init__(self, *states):
        self.states, self.heard = list(states), []
        self.url, self.stop, self.is_private = "http://script", threading.Event(), True
        self.note = lambda text: None

    def post(self, path, fields):
        from spewy.competitions.online.server import Reply

        self.heard.append(fields.get("incr"))
        return Reply(self.states.pop(0), False)


def state(action, board="", **more):
    cards = [board[at : at + 2] for at in range(0, len(board), 2)]
    fields = {"client_pos": 0, "hole_cards": ["Ad", "Jc"], "board": cards, "token": "t"}
    return {"action": action, **fields, **more}


class Shown:
    """A bot that calls, but for given actions; it notes the hands that it is shown."""

    def __init__(self, **actions):
        self.game, self.actions, self.lines = GAME, actions, []

    def new_hand(self, hand, seat, seed):
        pass

    def act(self, hand):
        self.lines.append(hand.betting.line)
        return self.actions.get(f"n{len(self.lines)}", "c")

    def hand_over(self, hand):
        pass


def test_a_raise_below_the_smallest_one_is_answered(tmp_path):
    """The bot is shown a legal hand, in which the raise is an all-in; the rest is checked and called."""
    ends = {"winnings": -20000, "bot_hole_cards": ["8c", "8d"], "baseline_winnings": -5}
    server = Scripted(
        state("b200"),
        state("b200b1250c/", "8h4d2s"),
        state("b200b1250c/kb750", "8h4d2s"),
        state(f"{ALL_IN}b18700", "8h4d2s"),
        state(f"{ALL_IN}b18700c/", "8h4d2s3c"),
        state(f"{ALL_IN}b18700c/kb50", "8h4d2s3c"),
        state(f"{ALL_IN}b18700c/kb50c/", "8h4d2s3cTh", **ends),
    )
    bot = Shown(n1="r1250", n3="r19900")
    record = Record(tmp_path, GAME, server.url, "", NAMES, BOT, "slumbot")
    one = SlumbotSession(server, bot, record, NAMES)
    one.play(1)
    assert server.heard == [None, "b1250", "k", "b18650", "c", "k", "c"]
    assert bot.lines[-1] == "r200r1250c/cr2000r19900r20000"
    assert (one.results.winnings, one.results.short, one.results.faults) == ((-20000,), 1, 0)
    lines = logged(tmp_path).splitlines()
    assert lines[4:] == [
        "# short 0:raise to 19950, below the smallest legal raise to 20000",
        f"# hand 0:{ALL_IN}b18700c/kb50c/",
        "# result 0:-20000:-5",
    ]
    assert Record(tmp_path, GAME, server.url, "", NAMES, BOT, "slumbot").results == one.results
    assert record.hands() == []


class Failing(Shown):
    def act(self, hand):
        raise KeyError("oh")


class FailsAtOnce(Failing):
    def new_hand(self, hand, seat, seed):
        raise ValueError


def test_a_bot_that_fails_costs_an_action(tmp_path):
    with stand_in("raise") as (_, url):
        one = SlumbotSession(
            Server(SITE, url, 5, 0),
            FailsAtOnce(),
            Record(tmp_path, GAME, url, "", NAMES, BOT, "slumbot"),
            NAMES,
        )
        one.play(2)
    assert (one.results.winnings, one.results.faults) == ((-100, -50), 4)
    assert "# fault 0:the bot failed after 'r300': KeyError: 'oh'" in logged(tmp_path)


@pytest.mark.parametrize(
    ("path", "fields", "told"),
    [
        ("/", {}, "expected /api/login"),
        ("/api/new_hand", {"token": 1}, "expected the texts token"),
        ("/api/new_hand", {"tok": "x"}, "expected the texts token"),
        ("/api/new_hand", {"token": "x"}, "Invalid token"),
        ("/api/act", {}, "expected the texts token, incr"),
        ("/api/act", {"token": "T"}, "expected the texts token, incr"),
        ("/api/act", {"token": "T", "incr": "x"}, "expected k, c, f or b with a number"),
        ("/api/act", {"token": "T", "incr": "/"}, "expected k, c, f or b with a number"),
        ("/api/act", {"token": "T", "incr": "k"}, "a check where a bet must be answered"),
        ("/api/act", {"token": "T", "incr": "b20001"}, "a bet that is not legal"),
        ("/api/act", {"token": "T", "incr": "b301"}, "expected f, c, r500 to r20000"),
        ("/api/login", {"username": "me", "password": "x"}, "Invalid username or password"),
    ],
)
def test_the_stand_in_checks_every_message(path, fields, told):
    sessions = Slumbot(opponent("raise", GAME))
    token = sessions.answer("/api/new_hand", {})["token"]
    fields = {name: token if value == "T" else value for name, value in fields.items()}
    with pytest.raises(WrongRequestError) as raised:
        sessions.answer(path, fields)
    assert told in str(raised.value)


def test_the_stand_in_forgets_idle_hands():
    sessions = Slumbot(opponent("raise", GAME), idle=0.0)
    token = sessions.answer("/api/new_hand", {})["token"]
    with pytest.raises(WrongRequestError, match="No hand is being played"):
        sessions.answer("/api/act", {"token": token, "incr": "c"})


def test_a_hand_of_the_day_before_is_lost(tmp_path):
    with stand_in() as (_, url):
        first = session(tmp_path, url, "call", server=interrupted(url, 2, late=False))
        with pytest.raises(KeyboardInterrupt):
            first.play(2)
        kept = stored(tmp_path)
        kept["hand"]["since"] -= 25 * 3600
        (tmp_path / STATE).write_text(json.dumps(kept) + "\n")
        again = session(tmp_path, url, "call")
        again.play(2)
        assert (len(again.results.winnings), again.results.lost) == (2, 1)


def test_a_server_names_the_time_of_the_next_request(tmp_path):
    def busy(listening):
        connection, _ = listening.accept()
        with connection:
            connection.recv(1 << 16)
            connection.sendall(b"HTTP/1.1 503 Busy\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n")

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=busy, args=(listening,))
        thread.start()
        url, waits = f"http://127.0.0.1:{listening.getsockname()[1]}", Waits(ends=1)
        with pytest.raises(KeyboardInterrupt):
            session(tmp_path, url, server=Server(SITE, url, 5, 600, stop=waits)).play(1)
        thread.join()
    assert waits.waited == [7]


@pytest.mark.parametrize("kill", [signal.SIGKILL, signal.SIGINT])
def test_a_process_that_is_ended_loses_nothing(tmp_path, kill):
    """After Ctrl-C the hand is played to its end; a killed process continues it."""
    with stand_in("call") as (sessions, url):
        options = ("--url", url, "--out", str(tmp_path / "out"), "--hands")
        command = [*COMMAND, "play", "slumbot", "call", *options]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        child = subprocess.Popen([*command, "100000"], **pipes)
        while not sessions._games or next(iter(sessions._games.values())).hands < 3:
            time.sleep(0.02)
        child.send_signal(kill)
        out, told = child.communicate(timeout=60)
        assert child.returncode == (130 if kill == signal.SIGINT else -kill)
        done = logged(tmp_path / "out").count("# result")
        if kill == signal.SIGINT:
            assert told.startswith("\nthe command ends after this hand; Ctrl-C again ends it at once\n")
            assert told.endswith("interrupted; everything that was saved is kept\n")
            assert f"hands         {done:,} of 100,000\n" in out
            assert stored(tmp_path / "out")["hand"] is None
        found = json.loads(good(*command[len(COMMAND) :], done + 2, "--json"))
        assert found["hands"] == done + 2
        assert found["lost"] <= (kill == signal.SIGKILL)  # if it was killed between a request and the answer


def test_another_total_of_the_session_is_told(tmp_path):
    with stand_in("raise", spoiled("act", 2, body(session_total=7))) as (_, url):
        result = play("fold", "--url", url, "--hands", 2)
    told = (
        "WARNING: hand 1: the chips won are -50, and the server's total of the session went from -100 to 7\n"
    )
    assert (result.exit_code, result.stderr) == (0, told)
