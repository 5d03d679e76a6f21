"""A server of Slumbot's protocol that sends hostile or damaged answers, and sessions that are played at it."""

import json
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

from benchmarks.studies.online_servers import Slumbot, serving
from spewy.competitions.online import server as requests
from spewy.competitions.online.record import STATE
from spewy.competitions.online.text import online_game
from spewy.match.log import read_log
from spewy.match.opponents import OPPONENTS, opponent
from spewy.match.phh import read_phh

from .case import Case
from .judge import Answer, session_faults
from .text import CARDS, ODD_NUMBERS, ODD_TEXTS, odd_text

Fields = dict[str, Any]
Sent = tuple[int, bytes] | Iterable[bytes]
Change = Callable[[Random, Fields], Sent]

LOG = "slumbot.log"
USER, PASSWORD = "me", "s3cr3t-word"
TIMEOUT = 0.3
"""Seconds that the client waits for an answer that may be wrong."""
LONG_TIMEOUT = 60.0
"""Seconds that the client waits for an answer that is right, also on a busy machine."""
MOST_SECONDS = 20.0
"""Seconds that a session may last on a busy machine."""
MOST_RUNS = 30
"""Number of runs after which a session at a server that is sound again must be complete."""


def _sent(fields: object) -> Sent:
    return 200, json.dumps(fields).encode()


def _body(rng: Random, fields: Fields) -> Sent:
    """Send something else than a JSON object."""
    page = b"<!DOCTYPE html><html><body>Just a moment...</body></html>"
    bodies = (
        page, b"null", b"[]", b"NaN", b'"x"', b"[" * 100_000, b'{"a":' * 100_000, b"{", b"\xff\xfe\0",
        b"\x1b[2J", b" " * 2_000_000, b"x" * (1 << 20), json.dumps(fields).encode()[:-1],
        json.dumps(fields).encode() + b"}", json.dumps(fields).encode("utf-16")[1:],
        b'{"winnings": ' + b"9" * 5000 + b"}",
    )  # fmt: skip
    return 200, rng.choice(bodies)


def _refused(rng: Random, fields: Fields) -> Sent:
    """Refuse the request, in words that may repeat the client's secrets."""
    words = (*ODD_TEXTS, None, 3, [1], float("nan"), "no\nway\x1b[2J", fields.get("token"), PASSWORD)
    return rng.choice((200, 200, 400, 403, 500)), json.dumps(
        {**rng.choice(({}, fields)), "error_msg": rng.choice(words)}
    ).encode()


def _status(rng: Random, _: Fields) -> Sent:
    """Answer with a status after which no client asks again, some of them redirections."""
    places = ("http://[", "//", "http://127.0.0.1:9/", "ftp://x", "\xff", "", "/api/new_hand", "javascript:x")
    status = rng.choice((301, 302, 303, 307, 308, 300, 304, 400, 401, 403, 404, 405, 407, 410, 451, 505, 999))
    lines = [f"HTTP/1.1 {status} {rng.choice(('Odd', '', 'x' * 500))}", f"Location: {rng.choice(places)}"]
    return ["\r\n".join([*lines, "Content-Length: 0", "", ""]).encode("latin-1")]


def _busy(rng: Random, _: Fields) -> Sent:
    """Answer with a status after which a client asks again later."""
    status = rng.choice((408, 429, 500, 502, 503, 504))
    after = rng.choice(("", "0", "1", "-1", "nan", "9" * 400, "Wed, 21 Oct 2026 07:28:00 GMT", "١"))
    return [f"HTTP/1.1 {status} Busy\r\nRetry-After: {after}\r\nContent-Length: 0\r\n\r\n".encode()]


def _broken(rng: Random, fields: Fields) -> Sent:
    """Close the connection before the end of an answer, or send nothing or next to nothing for a long time."""
    data = json.dumps(fields).encode()
    head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(data)
    whole = head + data
    return rng.choice(
        (
            (200, b""), (200, b" \n"), [], [whole[: rng.randrange(len(head))]], [whole[:-1]], [head], [b"\0" * 99],
            [b"HTTP/1.1 x OK\r\n\r\n"],
            [b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 200], [b"HTTP/1.1 200 OK\r\n" + b"a" * 70_000],
            [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}"],
            [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{}"],
            _slowly([b"", b""]), _slowly([whole[:9], whole[9:]]), _slowly([head, data]),
            _slowly(whole[place : place + 1] for place in range(len(whole))),
        )
    )  # fmt: skip


def _slowly(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Send pieces with pauses: the first one is longer than the client waits, or there are many."""
    ending = time.monotonic() + 5 * TIMEOUT
    for number, piece in enumerate(pieces):
        yield piece
        if time.monotonic() > ending:
            return
        time.sleep(2 * TIMEOUT if number == 0 else TIMEOUT / 3)


def _wrong(rng: Random, fields: Fields) -> Sent:
    """Give a field a value that it cannot have."""
    numbers = ("0", "x", None, True, [1], {}, 0.5, float("nan"), float("inf"), -float("inf"), 10**400)
    used = [*fields["hole_cards"], *fields["board"]]
    wrong: dict[str, tuple[Any, ...]] = {
        "action": (
            None, 3, ["k"], "x", "b", "kk", "ck", "b30000", "b99999999999", "b-1", "b" + "9" * 400, "/", "c//", "f/",
            "k" * 3000, "b300b300", "b200b1250c/b19000", "b٣٠٠", fields["action"] + "x", fields["action"] + "/k/",
        ),
        "client_pos": (1 - fields["client_pos"], 2, -1, *numbers),
        "hole_cards": (
            None, "AdAc", [], ["Ad"], ["Ad"] * 2, ["Ad", "1x"], ["Ad", 3], ["ad", "ac"], ["Ad", "Ac", "As"], {}, "",
            [used[0], used[0]], [["Ad"], ["Ac"]], ["AdA", "c"], ["Ad"] * 10_000,
        ),
        "board": (
            None, 3, "AsKsQs", ["As"], ["As", "As", "Ks"], [used[0]] * 3, [*fields["board"], used[0]], {"a": 1},
            [used[0], "2x", "3c"], ["As", "Ks", "Qs", "Js", "Ts", "9s"], [*CARDS],
        ),
        "token": (3, "", ["x"], True, float("nan"), {}),
        "session_total": tuple(each for each in numbers if each is not None),
        "baseline_winnings": (*(each for each in numbers if each is not None), 10**9, -(10**12), 20_001),
    }  # fmt: skip
    if "winnings" in fields:
        won = fields["winnings"]
        wrong["winnings"] = (won + 1, -won or 50, 10**9, -0.5, *numbers)
    name = rng.choice(sorted(wrong))
    return _sent({**fields, name: rng.choice(wrong[name])})


def _missing(rng: Random, fields: Fields) -> Sent:
    """Leave a needed field out."""
    needed = [name for name in ("action", "client_pos", "hole_cards", "board", "winnings") if name in fields]
    left_out = rng.choice(needed) if needed else "token"
    return _sent({name: value for name, value in fields.items() if name != left_out})


def _odd(rng: Random, fields: Fields) -> Sent:
    """Change a field, or the text of the answer, in any way; the answer may still be right."""
    value = rng.choice(
        (*ODD_NUMBERS, *ODD_TEXTS, None, True, [], {}, [[]], [*CARDS[:3]], [float("nan")], "x" * 900_000)
    )
    name = rng.choice((*sorted(fields), "bot_hole_cards", "baseline_winnings", "more", "\udcff", ""))
    changed = json.dumps({**fields, name: value})
    deep = rng.randrange(900, 1000)
    texts = (
        changed, changed, changed, odd_text(rng, json.dumps(fields), "line"),
        json.dumps(fields)[:-1] + f', "more": {"[" * deep}{"]" * deep}}}',
        json.dumps(fields)[:-1] + f', "{name}": 1, "{name}": 2}}',
    )  # fmt: skip
    return 200, rng.choice(texts).encode(errors="surrogatepass")


FAILS, FAILURE, ANY = "fails", "failure", "any"
CHANGES: tuple[tuple[Change, str, bool], ...] = (
    (_body, FAILS, True),
    (_refused, ANY, True),
    (_status, FAILS, True),
    (_busy, FAILURE, True),
    (_broken, FAILURE, True),
    (_wrong, FAILS, False),
    (_missing, FAILS, False),
    (_odd, ANY, False),
    (_odd, ANY, False),
)
"""Changes of an answer, what they must lead to, and whether answers to a login can be changed so."""


@dataclass
class HostileServer:
    """Changes some answers of a stand-in; the generator decides which.

    Attributes:
        note: called with a description of each changed answer.
        share: share of the answers that are changed.
        changed: what each changed answer must lead to.
        finished: chips that the client has won in each hand that is over for the server.
        shifted: whether the server's total of a session was changed after a hand of the same run.
        damaged: whether an answer to an earlier run was changed, which the session may remember.
    """

    rng: Random
    sessions: Slumbot
    note: Callable[[str], None]
    share: float = 0.0
    changed: list[str] = field(default_factory=list)
    finished: list[int] = field(default_factory=list)
    shifted: bool = False
    damaged: bool = False
    _before: list[Fields] = field(default_factory=list)
    _totals: int = 0

    def spoil(self, status: int, path: str, data: bytes) -> Sent:
        """Return the answer to a request: the right one, or another one."""
        fields = json.loads(data)
        if "error_msg" in fields:
            return status, data
        state = path != "/api/login"
        if "winnings" in fields:
            self.finished.append(fields["winnings"])
        if self.rng.random() < self.share:
            changed = self._changed(path, fields, state)
            if changed is not None:
                return changed
        self._before += [fields] if path == "/api/act" else []
        self._totals += "winnings" in fields
        return status, data

    def _changed(self, path: str, fields: Fields, state: bool) -> Sent | None:
        """Return an answer in place of the right one; None: the right one stays."""
        rng = self.rng
        if state and rng.random() < 0.2:
            return self._out_of_order(path, fields)
        change, leads_to, of_login = rng.choice(CHANGES)
        if not (state or of_login):
            return None
        sent = change(rng, fields)
        self.changed.append(ANY if leads_to == FAILURE and path == "/api/act" else leads_to)
        self.note(
            f"{path}, {change.__name__}: {fields} became {sent if isinstance(sent, tuple | list) else 'slow'}"
        )
        return sent

    def _out_of_order(self, path: str, fields: Fields) -> Sent | None:
        """Return an earlier state, a state of another session, another total, or another token that is right."""
        hole, line = fields["hole_cards"], fields["old_action"]
        before = [
            each for each in self._before if each["hole_cards"] != hole or not each["action"].startswith(line)
        ]
        if self.rng.random() < 0.3 and before and path == "/api/act":
            self.changed.append(FAILS)
            return _sent(self.rng.choice(before))
        if self.rng.random() < 0.4 and "winnings" in fields:
            self.changed.append(ANY)
            self.shifted = self.shifted or self._totals > 0
            total = fields["session_total"] + self.rng.choice((-100, 1, 50))
            return _sent({**fields, "session_total": total})
        token = f"{self.rng.randrange(10**9)}"
        if self.rng.random() < 0.5:
            games = self.sessions._games
            games[token] = games.pop(fields["token"])
            return _sent({**fields, "token": token})
        self.changed.append(ANY)
        return _sent({**fields, "token": token})

    def begin(self, share: float) -> None:
        """Forget what was changed before a new run of the command."""
        self.share, self._totals, self.shifted = share, 0, False
        self.damaged = self.damaged or bool(self.changed)
        self.changed.clear()

    def code(self, patient: bool) -> tuple[int, ...]:
        """Exit codes with which the command may end."""
        leads_to = set(self.changed)
        if FAILS in leads_to:
            return (1,)
        if ANY in leads_to or self.damaged:
            return 0, 1
        return (0,) if patient or FAILURE not in leads_to else (1,)


def slumbot(case: Case) -> None:
    """A session at a server that sends odd answers, continued at the same server when its answers are right."""
    rng = case.rng
    ours, theirs = rng.choice(sorted(OPPONENTS)), rng.choice(sorted(OPPONENTS))
    game = online_game()
    logged_in, patient, hands = rng.random() < 0.3, rng.random() < 0.4, rng.randint(1, 8)
    sessions = Slumbot(opponent(theirs, game), rng.randrange(99), {USER: PASSWORD})
    server = HostileServer(rng, sessions, lambda text: case.note(text[:500]))
    case.write("password", PASSWORD)
    words: list[object] = ["play", "slumbot", ours, "--out", "out", "--hands", hands]
    words += ["--patience", 5 if patient else 0, "--log", "messages", "--phh", "hands.phhs"]
    words += ["--user", USER, "--password-file", "password"] if logged_in else []
    with (
        patch.multiple(requests, FIRST_PAUSE=0.01, LONGEST_PAUSE=0.05),
        serving(server.sessions, spoil=server.spoil) as url,
    ):
        for run in range(MOST_RUNS):
            hostile = run < 3
            server.begin(rng.choice((0.05, 0.2, 0.5)) if hostile else 0.0)
            text, begun = _log(), time.monotonic()
            json_too = rng.choice(([], ["--json"]))
            timeout = ("--timeout", TIMEOUT if hostile else LONG_TIMEOUT)
            answer = case.table(*words, *timeout, "--url", url, *json_too, judge=session_faults)
            case.note(f"changed: {server.changed}")
            _judge(case, server, answer, patient, text)
            in_time = not hostile or time.monotonic() - begun < MOST_SECONDS
            case.expect(in_time, "expected the timeout to end a request")
            if case.faults or (not hostile and answer.code == 0):
                break
            if "remove session.jsonl" in answer.error:
                Path("out", STATE).unlink()
        else:
            case.expect(False, f"expected a session to be complete after {MOST_RUNS} runs")
    if not case.faults:
        _judge_log(case, server, hands, ours)


def _log() -> str:
    log = Path("out", LOG)
    return log.read_text() if log.exists() else ""


def _judge(case: Case, server: HostileServer, answer: Answer, patient: bool, text: str) -> None:
    """Compare the end of a run with what was sent to it."""
    codes = server.code(patient)
    slow = "no answer within" in answer.err  # the client may not have waited for a changed answer
    case.expect(slow or answer.code in codes, f"expected exit code {codes}, found {answer.code}")
    case.expect(_log().startswith(text), "expected that the log keeps the hands of earlier runs")
    if server.shifted and answer.code == 0 and not slow and "logging in again" not in answer.err:
        case.expect("the server's total of the session" in answer.err, "expected a warning of another total")
    messages = Path("messages").read_text() if Path("messages").exists() else ""
    known = "--user" in answer.arguments
    told = messages + answer.err + answer.out
    case.expect(not known or PASSWORD not in told, "expected no password in a message")


def _judge_log(case: Case, server: HostileServer, hands: int, ours: str) -> None:
    """Compare the log of a complete session with the hands that the server has played."""
    text = _log()
    results = [int(line.split(":")[1]) for line in text.splitlines() if line.startswith("# result ")]
    logged = list(read_log(online_game(), text.splitlines()))
    case.expect(len(results) >= hands, f"expected {hands} results, found {len(results)}")
    won = [each.hand.net()[each.names.index(ours)] for each in logged]
    case.expect(won == results, "expected the results of the logged hands")
    rest = iter(server.finished)
    case.expect(all(each in rest for each in results), "expected results of hands that the server has played")
    read = [each.hand.net() for each in read_phh(online_game(), Path("hands.phhs").read_text())]
    case.expect(read == [each.hand.net() for each in logged], "expected the hands of the log in the PHH file")
