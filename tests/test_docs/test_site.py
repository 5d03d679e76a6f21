"""The site is built without a warning, and its pages load nothing from other servers."""

import re
import subprocess
import sys
from html.parser import HTMLParser

import pytest
from pages import DOCS, ROOT

LOADS = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src", "video": "src"}
"""Elements that load a file when a page is opened, and the attributes that name the file."""


class Loaded(HTMLParser):
    def __init__(self):
        super().__init__()
        self.addresses = []

    def handle_starttag(self, tag, attrs):
        address = dict(attrs).get(LOADS.get(tag))
        if address is not None:
            self.addresses.append(address)


def loaded(text):
    """Addresses that a page loads when it is opened, and whether each is on another server."""
    parser = Loaded()
    parser.feed(text)
    return {address: bool(re.match(r"([a-z]+:)?//", address)) for address in parser.addresses}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "--quiet", "--fail-on-warning", "--keep-going"]
    done = subprocess.run(
        [*command, "--doctree-dir", folder / "doctrees", DOCS, folder / "html"],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    return folder / "html"


@pytest.mark.slow
def test_every_page_is_built(site):
    assert {path.relative_to(DOCS).with_suffix(".html") for path in DOCS.rglob("*.md")} <= {
        path.relative_to(site) for path in site.rglob("*.html")
    }


@pytest.mark.slow
def test_pages_load_nothing_from_elsewhere(site):
    for page in site.rglob("*.html"):
        addresses = loaded(page.read_text())
        assert addresses
        assert not any(addresses.values()), page
    for sheet in site.rglob("*.css"):
        assert not re.findall(r"url\([\"']?(?:https?:)?//|@import", sheet.read_text()), sheet


@pytest.mark.slow
def test_the_search_finds_words_without_a_server(site):
    index = (site / "searchindex.js").read_text()
    assert index.startswith("Search.setIndex(")
    assert "exploit" in index


def test_remote_addresses_are_found():
    text = "<script src='https://a.org/b.js'></script><link rel='stylesheet' href='a.css'><img src='//c.d/e.png'>"
    assert list(loaded(text).values()) == [True, False, True]
