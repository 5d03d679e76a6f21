"""Fixtures of the pages' tests: solved folders, a server, and a browser."""

import os
from pathlib import Path

import pytest
from cli_runs import good
from jobs import EXAMPLES
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
def server(solved):
    """A server that shows the solved folder."""
    with serving(solved) as running:
        yield running


@pytest.fixture(scope="session")
def browser():
    """A headless Chromium."""
    if not CHROMIUM.exists():
        if os.environ.get("CI"):
            pytest.fail(f"{CHROMIUM} is missing; .ci/run installs it")
        pytest.skip(f"{CHROMIUM} is missing; install Chromium (apt-get install chromium)")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=[*ARGUMENTS])
        yield chromium
        chromium.close()
