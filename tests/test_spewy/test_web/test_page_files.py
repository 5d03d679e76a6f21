"""The page's joined files, compressed answers, and the cache of answers."""

import gzip
import os
import re
import shutil
import time
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.routing import Route
from web_client import Client

from spewy.web.answers import SMALL, CompressedResponse, compressed
from spewy.web.app import FOREVER, PageFiles, make_app
from spewy.web.bundle import STATIC, bundle, styles
from spewy.web.folders import Folders
from spewy.web.readers import KeptAnswers
from spewy.web.security import HEADERS
from spewy.web.server import LOCAL

HERE = "http://localhost"


def names(client: Client) -> list[str]:
    return re.findall(r"/joined/[0-9a-f]{16}\.(?:js|css)", client.get("/").text)


def test_the_page_loads_two_joined_files(tmp_path: Path) -> None:
    client = Client(make_app(Folders([tmp_path]), LOCAL), HERE)
    html = client.get("/").text
    assert "/static/" not in html
    sheet, script = (client.get(name) for name in names(client))
    assert sheet.text == styles()
    assert script.text == bundle("main.js")
    assert sheet.headers["content-type"] == "text/css; charset=utf-8"
    assert script.headers["content-type"] == "text/javascript; charset=utf-8"
    for answer in (sheet, script):
        assert answer.headers.get_list("cache-control") == [FOREVER]
        for name in HEADERS.keys() - {"cache-control"}:
            assert answer.headers.get_list(name) == [HEADERS[name]]


def test_the_names_change_with_the_files(tmp_path: Path) -> None:
    shutil.copytree(STATIC, tmp_path / "static")
    client = Client(Starlette(routes=PageFiles(tmp_path / "static").routes), HERE)
    before = names(client)
    assert names(client) == before
    changed = tmp_path / "static" / "dom.js"
    changed.write_text(changed.read_text() + "const ADDED = 1;\n")
    os.utime(changed, ns=(0, 0))
    after = names(client)
    assert after[0] == before[0]  # the style sheets are the same
    assert after[1] != before[1]
    assert "const ADDED = 1;" in client.get(after[1]).text
    assert client.get("/joined/nothing.js").status_code == 404


@pytest.mark.parametrize(
    ("accepted", "is_packed"),
    [
        ("gzip", True),
        ("br, GZIP;q=0.5", True),
        ("deflate,gzip ; q=0", False),
        ("gzip;q=0.0", False),
        ("br", False),
        ("", False),
    ],
)
def test_a_client_gets_a_body_that_it_accepts(accepted: str, is_packed: bool) -> None:
    def page(request) -> CompressedResponse:
        return CompressedResponse(compressed(b"abc" * 100, SMALL), "text/plain")

    client = Client(Starlette(routes=[Route("/", page)]), HERE)
    answer = client.get("/", headers={"accept-encoding": accepted})
    assert answer.content == b"abc" * 100
    assert answer.headers["vary"] == "accept-encoding"
    assert answer.headers.get("content-encoding") == ("gzip" if is_packed else None)
    assert (int(answer.headers["content-length"]) < 100) == is_packed


@pytest.fixture
def solve(tmp_path: Path) -> Path:
    """A folder with the files by which the cache notices a save, written some time ago."""
    for name in ("manifest.json", "lockers.mdb"):
        (tmp_path / name).write_text("1")
        saved(tmp_path / name, seconds=60)
    return tmp_path


def saved(path: Path, seconds: float) -> None:
    then = time.time() - seconds
    os.utime(path, (then, then))


def test_an_answer_is_computed_once_for_each_save(solve: Path) -> None:
    kept, computed = KeptAnswers(), []

    def ask(question: str) -> bytes:
        def work() -> dict:
            computed.append(question)
            return {"number": len(computed)}

        return gzip.decompress(kept.answer(solve, question, work).body)

    assert ask("a") == ask("a") == b'{"number":1}'
    assert ask("b") == b'{"number":2}'
    saved(solve / "lockers.mdb", seconds=30)
    assert ask("a") == ask("a") == b'{"number":3}'
    saved(solve / "lockers.mdb", seconds=0)  # a save that may not be complete
    assert (ask("a"), ask("a")) == (b'{"number":4}', b'{"number":5}')
    assert computed == ["a", "b", "a", "a", "a"]


def test_a_save_during_an_answer(solve: Path) -> None:
    """The answer may be of either save, so it is not kept."""
    kept = KeptAnswers()

    def work() -> int:
        saved(solve / "lockers.mdb", seconds=10)
        return 1

    assert gzip.decompress(kept.answer(solve, "a", work).body) == b"1"
    assert gzip.decompress(kept.answer(solve, "a", lambda: 2).body) == b"2"
    assert gzip.decompress(kept.answer(solve, "a", lambda: 3).body) == b"2"


def test_old_answers_make_room(solve: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spewy.web.readers.MOST_BYTES", 100)
    kept = KeptAnswers()
    for question in range(10):
        kept.answer(solve, question, lambda: "some text")
    computed = []
    for question in reversed(range(10)):
        kept.answer(solve, question, lambda question=question: computed.append(question))
    assert 3 <= 10 - len(set(computed)) <= 5  # some thirty bytes each
