"""Fixtures of the tests of pages: solved folders, a server, a browser, and pages that record what went wrong."""

import os
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from cli_runs import TURN, good
from jobs import EXAMPLES, parsed_job
from jobs import solved as solved_job
from naive_spots import BOARDS, SMALL_TURN, solve, unraked
from web_client import Pages
from web_server import FLOP, serving

CHROMIUM = Path("/usr/bin/chromium")
ARGUMENTS = (
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
"""Arguments of the browser, which is not to ask any other server for anything."""
PATIENCE = 120_000
"""Milliseconds that a test waits for the browser, which may be slow on a busy machine."""


@pytest.fixture(scope="session")
def solved(tmp_path_factory):
    """A folder with two solves: the river ``R1`` and a spot of three rounds, ``flop``."""
    folder = tmp_path_factory.mktemp("solved")
    job = folder / "flop.toml"
    job.write_text(FLOP)
    good("solve", EXAMPLES / "R1.toml", "--out", folder / "R1", "--set", "solve.target=3%")
    good("solve", job, "--out", folder / "flop")
    return folder


@pytest.fixture(scope="session")
def playable(tmp_path_factory):
    """A folder with a turn and a batch of two rivers, ``turn`` and ``boards``, which are played in."""
    folder = tmp_path_factory.mktemp("playable")
    solve(folder, SMALL_TURN, "turn")
    (folder / "boards").mkdir()
    for board in BOARDS[::2]:
        solve(folder / "boards", unraked(board), board)
    return folder


@pytest.fixture(scope="session")
def turn():
    return solved_job(parsed_job(TURN))[1]


@pytest.fixture(scope="module")
def pages(folder):
    return Pages(folder)


@pytest.fixture(scope="session")
def served(solved):
    with serving(solved) as running:
        yield running


@pytest.fixture(scope="session")
def chromium():
    if not CHROMIUM.exists():
        if os.environ.get("CI"):
            pytest.fail(f"{CHROMIUM} is missing; .ci/run installs it")
        pytest.skip(f"{CHROMIUM} is missing; install Chromium (apt-get install chromium)")
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as library:
        browser = library.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def page(chromium):
    """An empty page; at the end of the test it must have had no error, and asked no other machine for anything."""
    with chromium.new_context(viewport={"width": 1280, "height": 900}) as context:
        opened = context.new_page()
        opened.set_default_timeout(PATIENCE)
        errors, hosts = [], set()
        opened.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        opened.on("pageerror", lambda error: errors.append(str(error)))
        opened.on("request", lambda request: hosts.add(urlsplit(request.url).hostname))
        yield opened
        assert errors == []
        assert hosts <= {None, "127.0.0.1", "localhost", "notebook.test"}
