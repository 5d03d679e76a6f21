"""Fixtures of the tests of pages: a browser, and pages that record what went wrong."""

import pytest
from playwright.sync_api import sync_playwright

ARGUMENTS = (
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


@pytest.fixture(scope="session")
def chromium():
    with sync_playwright() as library:
        browser = library.chromium.launch(executable_path="/usr/bin/chromium", args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def page(chromium):
    """An empty page; at the end of the test it must have had no error."""
    with chromium.new_context(viewport={"width": 1280, "height": 900}) as context:
        opened = context.new_page()
        opened.set_default_timeout(10_000)
        errors = []
        opened.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        opened.on("pageerror", lambda error: errors.append(str(error)))
        yield opened
        assert errors == []
