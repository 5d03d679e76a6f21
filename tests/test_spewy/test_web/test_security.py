"""Requests that do not come from the server's own page, or ask for what they must not get."""

import asyncio
import json
import logging
import re
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette
from web_client import Client

from spewy.errors import InputError
from spewy.match.table import BotError
from spewy.web import security
from spewy.web.answers import FAILED, Parameters, answer_of, get, post
from spewy.web.app import STATIC, make_app
from spewy.web.folders import Folders
from spewy.web.security import HEADERS, MOST_BYTES, POLICY, Guard
from spewy.web.server import LOCAL

HERE = "http://127.0.0.1:8417"
TOKEN = "a-token-of-the-tests"


@pytest.fixture
def client(solved: Path) -> Client:
    return Client(make_app(Folders([solved]), LOCAL), HERE)


@pytest.fixture
def changed() -> list[dict]:
    return []


@pytest.fixture
def changing(changed: list[dict]) -> Client:
    """A client of a server with a route that changes something, and a route that fails."""

    def change(parameters: dict) -> dict:
        changed.append(dict(parameters))
        return {"done": True}

    def fail(parameters: dict) -> dict:
        raise ZeroDivisionError("a secret of the server")

    app = Starlette(routes=[post("/api/change", change), get("/api/fail", fail)])
    return Client(Guard(app, LOCAL), HERE)


OWN_NAMES = ["127.0.0.1:8417", "localhost:8417", "LocalHost:9", "localhost", "[::1]:8417", "[::1]"]


@pytest.mark.parametrize("host", OWN_NAMES)
def test_own_names(client: Client, host: str) -> None:
    assert client.get("/api/folders", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        *("", "evil.example", "evil.example:8417", "127.0.0.1.evil.example"),
        *("localhost.evil.example:8417", "localhost.", "0.0.0.0:8417", "127.0.0.2", "[::]:8417", "[::1"),
        *("[::1]evil.example", "[::1].evil.example:8417", "localhost:8417@evil.example"),
        *("evil.example@localhost", "localhost:evil.example", "localhost:", "localhost:123456"),
        *("localhost, evil.example", "localhost\tx", "127.1", "2130706433"),
    ],
)
def test_foreign_names(client: Client, host: str) -> None:
    """A foreign name can resolve to this machine, so that a foreign page would be allowed to read the answers."""
    for path in ("/", "/api/folders", "/static/main.js"):
        answer = client.get(path, headers={"host": host})
        assert answer.status_code == 421
        assert "open the address that spewy serve printed" in answer.json()["error"]


def test_a_request_without_host(served) -> None:
    assert served.raw(b"GET / HTTP/1.0\r\n\r\n").startswith(b"HTTP/1.1 421")
    assert served.raw(b"GET / HTTP/1.1\r\n\r\n").startswith(b"HTTP/1.1 400")


def test_two_hosts(served) -> None:
    request = b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n"
    assert served.raw(request).startswith(b"HTTP/1.1 400")


def test_a_host_in_the_request_line_counts_for_nothing(served) -> None:
    line = b"GET http://localhost:%d/api/folders HTTP/1.1\r\n" % served.port
    assert served.raw(line + b"Host: evil.example\r\nConnection: close\r\n\r\n").startswith(b"HTTP/1.1 421")


@pytest.mark.parametrize("origin", [None, HERE, HERE.upper()])
def test_changes_from_the_page_itself(changing: Client, changed: list[dict], origin: str | None) -> None:
    headers = {} if origin is None else {"origin": origin}
    assert changing.post("/api/change", json={"a": 1}, headers=headers).json() == {"done": True}
    assert changed == [{"a": 1}]


@pytest.mark.parametrize(
    "origin",
    [
        "null",
        "",
        "http://evil.example",
        "http://localhost:8417",  # another name of this server: another origin for browsers
        "http://127.0.0.1",
        "http://127.0.0.1:84170",
        "http://127.0.0.1:8417.evil.example",
        "http://evil.example/http://127.0.0.1:8417",
        "evil://127.0.0.1:8417",
        "127.0.0.1:8417",
    ],
)
def test_changes_from_other_pages(changing: Client, changed: list[dict], origin: str) -> None:
    answer = changing.post("/api/change", json={}, headers={"origin": origin})
    assert (answer.status_code, changed) == (403, [])
    assert answer.json() == {"error": "the request comes from the page of another server"}


@pytest.mark.parametrize("name", ["origin", "content-type", "content-length", "sec-fetch-site"])
def test_headers_that_stand_twice(changing: Client, changed: list[dict], name: str) -> None:
    values = {
        "origin": (HERE, "http://evil.example"),
        "content-type": ("application/json", "text/plain"),
        "content-length": ("2", "2"),
        "sec-fetch-site": ("cross-site", "same-origin"),
    }[name]
    others = {"content-type": "application/json", "content-length": "2"}
    headers = [*((key, value) for key, value in others.items() if key != name), *((name, v) for v in values)]
    answer = changing.post("/api/change", content=b"{}", headers=headers)
    assert (answer.status_code, answer.json()) == (400, {"error": f"the request has two headers {name}"})
    assert changed == []


@pytest.mark.parametrize(
    "kind",
    [
        *(None, "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"),
        *("text/plain", "text/plain; application/json", "application/jsonx"),
    ],
)
def test_changes_by_a_form(changing: Client, changed: list[dict], kind: str | None) -> None:
    """A foreign page can send these types without asking this server first."""
    headers = {} if kind is None else {"content-type": kind}
    answer = changing.post("/api/change", content=b'{"a": 1}', headers=headers)
    assert (answer.status_code, changed) == (415, [])


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "X" * 1000])
def test_other_methods(changing: Client, changed: list[dict], method: str) -> None:
    """OPTIONS included: no foreign page gets leave to send JSON."""
    answer = changing.request(method, "/api/change", json={})
    assert (answer.status_code, changed) == (405, [])
    assert "access-control-allow-origin" not in answer.headers
    assert "evil" not in answer.text
    assert len(answer.text) < 200


def test_a_question_changes_nothing(changing: Client, changed: list[dict]) -> None:
    for method in ("GET", "HEAD"):
        answer = changing.request(method, "/api/change", params={"a": "1"})
        assert (answer.status_code, changed) == (405, [])


def test_every_change_is_a_post(solved: Path) -> None:
    """No route takes both kinds of requests, so that no question changes anything by mistake."""
    app = make_app(Folders([solved]), LOCAL)
    assert isinstance(app, Guard)
    for route in app._app.routes:
        methods = getattr(route, "methods", None) or {"GET"}  # files
        assert methods in ({"GET"}, {"GET", "HEAD"}, {"POST"}), route


@pytest.mark.parametrize(
    ("path", "method", "headers", "status"),
    [
        ("/", "GET", {}, 200),
        ("/static/main.js", "GET", {}, 200),
        ("/static/main.js", "HEAD", {}, 200),
        ("/static/nothing.js", "GET", {}, 404),
        ("/nothing", "GET", {}, 404),
        ("/api/folders", "GET", {}, 200),
        ("/api/position?folder=R1", "GET", {}, 200),
        ("/api/position?folder=nothing", "GET", {}, 400),
        ("/api/table.csv?folder=R1", "GET", {}, 200),
        ("/api/folders", "POST", {"content-type": "application/json"}, 405),
        ("/", "GET", {"host": "evil.example"}, 421),
        ("/", "PUT", {}, 405),
    ],
)
def test_headers_of_every_answer(client: Client, path: str, method: str, headers: dict, status: int) -> None:
    content = b"{}" if method in ("POST", "PUT") else None
    answer = client.request(method, path, headers=headers, content=content)
    assert answer.status_code == status
    for name, value in HEADERS.items():
        assert answer.headers.get_list(name) == [value], name
    assert "set-cookie" not in answer.headers
    assert not any(name.startswith("access-control") for name in answer.headers)


def test_headers_of_a_file_that_has_not_changed(client: Client) -> None:
    etag = client.get("/static/main.js").headers["etag"]
    answer = client.get("/static/main.js", headers={"if-none-match": etag})
    assert answer.status_code == 304
    assert answer.headers["content-security-policy"] == POLICY


def test_headers_of_a_failure(changing: Client, caplog: pytest.LogCaptureFixture) -> None:
    """The traceback goes to the log only."""
    with caplog.at_level(logging.ERROR):
        answer = changing.get("/api/fail")
    assert answer.status_code == 500
    assert answer.json() == {"error": "the answer failed unexpectedly; the log on the terminal says why"}
    assert answer.headers["content-security-policy"] == POLICY
    assert "a secret of the server" in caplog.text


def test_a_bug_of_a_bot_is_no_bad_input(caplog: pytest.LogCaptureFixture) -> None:
    def act(parameters: Parameters) -> None:
        raise BotError("bot, act: expected an answer, found KeyError: 7")

    assert answer_of(act, {}) == (500, {"error": FAILED})
    assert "KeyError: 7" in caplog.text


def test_the_policy_forbids_inline_scripts_and_other_servers() -> None:
    rules = dict(rule.strip().split(" ", 1) for rule in POLICY.split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == rules["style-src"] == rules["connect-src"] == "'self'"
    assert {rules[name] for name in ("base-uri", "form-action", "frame-ancestors")} == {"'none'"}
    assert not re.search(r"unsafe|\*|https?:", POLICY)


def test_scripts_make_no_html_from_text() -> None:
    """Names of folders and hands come into the page as text only, so they cannot bring scripts along."""
    forbidden = re.compile(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|srcdoc|javascript:"
        r"|\.setAttribute\(\"on|createContextualFragment|DOMParser"
    )
    for path in STATIC.glob("*.js"):
        assert not forbidden.search(path.read_text()), path.name
    page = (STATIC / "index.html").read_text()
    assert not re.search(r"<style|style=|\son\w+=|<script(?![^>]*src=)", page)
    for path in STATIC.iterdir():
        links = re.findall(r"(?:https?:)?//[\w.-]+\.\w+", path.read_text())
        assert set(links) <= {"http://www.w3.org"}, path.name


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("js", "text/javascript; charset=utf-8"),
        ("css", "text/css; charset=utf-8"),
        ("svg", "image/svg+xml"),
        ("html", "text/html; charset=utf-8"),
    ],
)
def test_types_of_files(client: Client, kind: str, expected: str) -> None:
    """Browsers refuse scripts and styles of another type, since the server tells them not to guess."""
    (name, *_) = sorted(STATIC.glob(f"*.{kind}"))
    assert client.get(f"/static/{name.name}").headers["content-type"] == expected


@pytest.mark.parametrize(
    "path",
    [
        *(b"/static/../app.py", b"/static/../../../setup.cfg", b"/static/%2e%2e/app.py"),
        *(
            b"/static/..%2fapp.py",
            b"/static/%2e%2e%2fapp.py",
            b"/static/..%5capp.py",
            b"/static/....//app.py",
        ),
        *(b"/static//etc/passwd", b"/static/%2fetc/passwd", b"//etc/passwd", b"/static/main.js%00.css"),
        *(b"/static/%00", b"/static/%ff%fe", b"/static/" + b"a" * 5000, b"/static/" + b"a/" * 5000),
        *(b"/static/", b"/static/."),
    ],
)
def test_files_outside_of_the_pages(served, path: bytes) -> None:
    answer = served.raw(b"GET " + path + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.split()[1] in (b"404", b"405"), answer[:300]
    assert set(json.loads(body)) == {"error"}
    assert b"content-security-policy" in head
    assert b"Traceback" not in body


def ids_that_lead_elsewhere(solved: Path) -> Iterator[str]:
    yield from ("", ".", "..", "/", "R1/..", "R1/.", "./R1", "../R1", f"../{solved.name}/R1", "flop/../R1")
    yield from (str(solved / "R1"), f"{solved.name}/../{solved.name}/R1", "R1/", "/R1", "R1//", "R1\0", "\0")
    yield from ("R1/lockers.mdb", "flop.toml", ".hidden", "~", "R1\\..", "r1" * 3000, "\ud800", "a/b/c/d")


def test_ids_that_lead_elsewhere(solved: Path) -> None:
    folders = Folders([solved])
    outside = solved / ".hidden"
    if not outside.exists():
        outside.symlink_to(solved / "R1")
    for name in ids_that_lead_elsewhere(solved):
        with pytest.raises(InputError, match="there is no such solve"):
            folders.entry(name)


def test_links_to_solves_elsewhere_are_shown(solved: Path, tmp_path: Path) -> None:
    """Whoever may write into a folder decides what the server shows: results may lie on another disk."""
    (tmp_path / "link").symlink_to(solved / "R1")
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "nowhere").symlink_to(tmp_path / "deleted")
    (tmp_path / "passwords").symlink_to("/etc")
    folders = Folders([tmp_path])
    assert [entry.id for entry in folders.entries()] == ["link"]
    with folders.solution("link") as solution:
        assert solution.job.name == "R1"


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"folder": "nothing"},
        {"folder": "R1\0"},
        {"folder": "<script>alert(1)</script>"},
        {"folder": "flop", "line": "", "board": "Qs 7h 2d 3c"},
        {"folder": "flop", "line": "cc/"},
        *({"folder": "R1", "line": line} for line in ("nonsense", "c" * 20_001, "c" * 5000, "\0")),
        {"folder": "R1", "line": "b" + "9" * 5000},
        *({"folder": "R1", "board": board} for board in ("Xx", "Td Td 6h Qc As", "AsKs" * 4000)),
        *({"folder": "R1", "filter": name} for name in ("pair+&" * 3000, "(" * 10_000, "nonsense")),
    ],
)
def test_odd_parameters(client: Client, query: dict) -> None:
    answer = client.get("/api/position", params=query)
    assert answer.status_code == 400, answer.text[:500]
    assert answer.headers["content-type"] == "application/json"
    assert set(answer.json()) == {"error"}
    assert len(answer.text) < 3000
    assert "Traceback" not in answer.text


def test_parameters_that_no_question_has_change_nothing(client: Client) -> None:
    assert client.get("/api/position", params={"folder": "R1", "unknown": "x" * 10_000}).status_code == 200


@pytest.mark.parametrize(
    "query", ["folder=%ff%fe", "folder=R1&line=%c3%28", "folder=%ed%a0%80", "%", "=&=&;", "a" * 9]
)
def test_parameters_that_are_no_text(client: Client, query: str) -> None:
    assert client.get(f"/api/position?{query}").status_code == 400


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b'"a"', b"null", b"\xff\xfe", b"[" * 100_000, b"9" * 5000, b'{"a":' * 90_000, b"NaN"],
)
def test_bodies_that_are_no_json_object(changing: Client, changed: list[dict], body: bytes) -> None:
    answer = changing.post("/api/change", content=body, headers={"content-type": "application/json"})
    assert (answer.status_code, changed) == (400, [])
    assert "JSON" in answer.json()["error"]


NESTED = {
    "nested objects": '{"a":' * 900 + "1" + "}" * 900,
    "nested lists": "[" * 900 + "]" * 900,
    "some nested objects": '{"a":' * 15 + "1" + "}" * 15,
}
ODD_VALUES = NESTED | {
    name: json.dumps(value)
    for name, value in {
        "NaN": float("nan"),
        "infinite": float("inf"),
        "half a character": "\ud800",
        "half a character in a key": {"\ud800": 1},
        "half a character in a value": {"spot": {"oop": "\udc00"}},
        "null": None,
        "negative": -1,
        "long number": 10**4000,
        "long weight": {"AsKs": 10**4000},
        "small": 1e-320,
        "true": True,
        "list": [[], {}, 1],
        "long list": [1] * 100_000,
        "null character": "\0",
        "nothing": "",
        "long text": "a" * 300_000,
        "lines": "\n" * 100_000,
        "long key": {"a" * 300_000: 1},
        "many keys": {f"k{n}": 1 for n in range(5000)},
        "dotted key": "a." * 190_000 + "a = 1",
        "unknown keys": "".join(f"{'k' * 12}{n:05} = 1\n" for n in range(3000)),
        "tables": "".join(f"[a{n}]\n" for n in range(8000)),
        "locks": {"name": "a", "game": {}, "lock": [1] * 20_000},
        "sizes": {"bets": {f"a{n}": {"bet": "x"} for n in range(3000)}},
    }.items()
}
"""Values in JSON that no parameter has."""
PARAMETERS = ("text", "data", "hands", "folder", "session", "words", "seat", "seed", "about", "continue")
"""Parameters that get odd values; only the first three get long ones, since the others must be short."""
QUESTION_PARAMETERS = ("folder", "line", "board", "filter", "ev", "seat", "format", "map", "with", "subset")
SECONDS_OF_PROCESSOR = 5.0
"""Time limit for an answer; before there were limits, some took a minute."""


@pytest.fixture(scope="module")
def whole(solved: Path) -> Client:
    return Client(make_app(Folders([solved]), LOCAL), HERE)


def routes_of(client: Client, method: str) -> list[str]:
    routes = client._transport.app._app.routes
    return [route.path for route in routes if method in (getattr(route, "methods", None) or ())]


def require_good(answer: httpx.Response, began: float) -> None:
    assert answer.status_code < 500, (str(answer.request.url)[:200], answer.text[:300])
    assert time.process_time() - began < SECONDS_OF_PROCESSOR, str(answer.request.url)[:200]
    if answer.status_code >= 400:
        assert set(answer.json()) == {"error"}
        assert len(answer.text) < 3000


ONE_OF = pytest.mark.parametrize("one_of", [7, pytest.param(1, marks=pytest.mark.slow)])
"""Each value is sent in one of so many parameters, other values in others; the slow tests send all values in all."""


def chosen(
    paths: list[str], parameters: tuple[str, ...], shift: int, one_of: int
) -> Iterator[tuple[str, str]]:
    pairs = [(path, parameter) for path in paths for parameter in parameters]
    return (pair for n, pair in enumerate(pairs) if (n + n // len(parameters) + shift) % one_of == 0)


@ONE_OF
@pytest.mark.parametrize("name", ODD_VALUES)
def test_odd_values_in_every_request(whole: Client, name: str, one_of: int) -> None:
    """No request fails unexpectedly, and none keeps the server busy."""
    headers, value = {"content-type": "application/json"}, ODD_VALUES[name]
    paths = routes_of(whole, "POST")
    assert len(paths) >= 10
    parameters = PARAMETERS if len(value) < 10_000 else PARAMETERS[:3]
    for path, parameter in chosen(paths, parameters, list(ODD_VALUES).index(name), one_of):
        body = f'{{"folder": "R1", "{parameter}": {value}}}'
        began = time.process_time()
        require_good(whole.post(path, content=body.encode(), headers=headers), began)
    assert whole.get("/api/jobs").json() == {"job": None, "running": []}


@ONE_OF
@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("nothing", ""), ("null character", "\0"), ("negative", "-1"), ("number", "9" * 19_000)),
        *(("bet", "b" + "9" * 4000), ("calls", "c" * 19_000), ("cards", "As" * 9000)),
        *(("brackets", "(" * 9000), ("filters", ";" * 9000), ("signs", "é\u2028\U0001f600" * 100)),
    ],
)
def test_odd_values_in_every_question(whole: Client, name: str, value: str, one_of: int) -> None:
    for path, parameter in chosen(
        routes_of(whole, "GET"), QUESTION_PARAMETERS, len(name) + len(value), one_of
    ):
        known = {"folder": "R1", "with": "R1", "name": "hu-3bet"}
        began = time.process_time()
        require_good(whole.get(path, params=known | {parameter: value}), began)


def test_large_bodies(changing: Client, changed: list[dict]) -> None:
    headers = {"content-type": "application/json"}
    fits = b'{"a": "' + b"x" * (MOST_BYTES - 9) + b'"}'
    assert changing.post("/api/change", content=fits, headers=headers).status_code == 200
    assert changing.post("/api/change", content=fits + b" ", headers=headers).status_code == 413
    assert len(changed) == 1


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        (b"", b"411"),
        (b"Content-Length: 99999999999999999999\r\n", b"413"),
        (b"Content-Length: 9999999999\r\n", b"413"),
        (b"Content-Length: -1\r\n", b"400"),
        (b"Content-Length: 2x\r\n", b"400"),
        (b"Transfer-Encoding: chunked\r\n", b"411"),
        (b"Transfer-Encoding: chunked\r\nContent-Length: 2\r\n", b"411"),
        (b"Transfer-Encoding: gzip\r\n", b"400"),
        (b"Content-Length: " + b"9" * 5000 + b"\r\n", b"400"),
    ],
)
def test_bodies_of_unknown_length(served, headers: bytes, status: bytes) -> None:
    start = b"POST /api/folders HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n"
    answer = served.raw(start + headers + b"\r\n")
    assert answer.split()[1] == status, answer


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_other_pages_may_link_but_not_load(client: Client, site: str) -> None:
    """A foreign page could measure how long an answer takes, or make the server work, without reading anything."""
    headers = {"sec-fetch-site": site}
    assert client.get("/", headers=headers).status_code == 200
    assert client.get("/api/folders", headers=headers).status_code == 403
    assert client.get("/static/main.js", headers=headers).status_code == 403
    for own in ("same-origin", "none"):
        assert client.get("/api/folders", headers={"sec-fetch-site": own}).status_code == 200


@pytest.fixture
def tokened(solved: Path) -> Client:
    """A client of a server that listens beyond this machine."""
    return Client(make_app(Folders([solved]), None, TOKEN), "http://192.0.2.7:8417")


@pytest.mark.parametrize("path", ["/", "/api/folders", "/static/main.js", "/nothing"])
@pytest.mark.parametrize(
    "query", ["", "?token=", "?token=wrong", f"?token={TOKEN}x", "?token=%ff", "?token=é", "?t=x"]
)
def test_without_the_token(tokened: Client, path: str, query: str) -> None:
    answer = tokened.get(path + query)
    assert (answer.status_code, "set-cookie" in answer.headers) == (401, False)
    assert TOKEN not in answer.text + str(answer.headers)


@pytest.mark.parametrize(
    "cookie",
    [
        f"spewy-token={TOKEN}",  # a server on another port
        f"spewy-token-8418={TOKEN}",
        "spewy-token-8417=wrong",
        "spewy-token-8417=",
        "spewy-token-8417=é",
        "=;;\0",
        "a" * 10_000,
    ],
)
def test_wrong_cookies(tokened: Client, cookie: str) -> None:
    assert tokened.get("/api/folders", headers={"cookie": cookie.encode()}).status_code == 401


def test_the_token_becomes_a_cookie_and_leaves_the_address(tokened: Client) -> None:
    answer = tokened.get(f"/?token={TOKEN}", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    cookie = answer.headers["set-cookie"]
    assert cookie == f"spewy-token-8417={TOKEN}; HttpOnly; SameSite=Lax; Path=/"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["cache-control"] == "no-cache"
    for path in ("/", "/api/folders", "/static/main.js"):
        later = tokened.get(path)
        assert (later.status_code, "set-cookie" in later.headers) == (200, False)
        assert TOKEN not in later.text


def test_a_program_may_give_the_token_each_time(tokened: Client) -> None:
    assert tokened.get(f"/api/folders?token={TOKEN}").status_code == 200


def test_a_cookie_does_not_make_foreign_changes_possible(tokened: Client) -> None:
    tokened.get(f"/?token={TOKEN}")
    answer = tokened.post("/api/folders", json={}, headers={"origin": "http://evil.example"})
    assert answer.status_code == 403


def test_tokens_are_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch, tokened: Client) -> None:
    compared = []

    def compare(given: bytes, token: bytes) -> bool:
        compared.append(given)
        return False

    monkeypatch.setattr(security.hmac, "compare_digest", compare)
    tokened.get("/?token=one", headers={"cookie": "spewy-token-8417=two"})
    assert compared == [b"one", b"two"]


def test_no_web_sockets() -> None:
    """Web sockets know no same-origin policy."""
    sent = []

    async def receive() -> dict:
        return {"type": "websocket.connect"}

    async def send(message: dict) -> None:
        sent.append(message)

    async def app(scope: dict, receive: object, send: object) -> None:
        pytest.fail("a socket was opened")

    asked = Guard(app, LOCAL)({"type": "websocket", "headers": []}, receive, send)
    with ThreadPoolExecutor(1) as thread:  # a browser of other tests may have an event loop in this one
        thread.submit(asyncio.run, asked).result()
    assert sent == [{"type": "websocket.close", "code": 1008}]
