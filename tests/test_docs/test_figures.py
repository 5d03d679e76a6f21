"""The concept pages quote the numbers that their figures' scripts compute, and show the figures."""

import sys

import pytest
from pages import DOCS, links

sys.path.insert(0, str(DOCS / "figures"))

import draw_browser
import make

CONCEPTS = DOCS / "concepts"
BROWSER = DOCS / "how-to/browser.md"
QUICK = ("ranges", "buckets", "card-removal", "re-solving")
"""Figures that take a few seconds."""


def test_every_concept_has_a_figure():
    pages = [f"{name}.md" for name in make.NAMES]
    assert {*pages, "index.md"} == {path.name for path in CONCEPTS.glob("*.md")}
    assert [target for target in links(CONCEPTS / "index.md") if target in pages] == pages


@pytest.mark.parametrize("name", make.NAMES)
def test_a_page_shows_its_figure_and_says_how_it_is_made(name):
    page = CONCEPTS / f"{name}.md"
    (picture,) = [target for target in links(page) if target.startswith(f"{name}.")]
    assert (CONCEPTS / picture).exists()
    assert f"`python docs/figures/make.py {name}`" in page.read_text()
    assert 300 <= len(page.read_text().split()) <= 700


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in make.NAMES]
)
def test_a_page_quotes_the_numbers_of_its_figure(name, tmp_path):
    text = (CONCEPTS / f"{name}.md").read_text()
    numbers = make.draw(name, tmp_path)
    assert len(numbers) >= 2
    assert not {what: number for what, number in numbers.items() if number not in text}
    (drawn,) = tmp_path.iterdir()
    assert drawn.stat().st_size < 200_000


def test_the_page_about_the_browser_shows_the_pictures_that_its_script_takes():
    pictures = {f"browser-{name}.png" for name in draw_browser.PICTURES}
    assert {target for target in links(BROWSER) if target.endswith(".png")} == pictures
    assert {path.name for path in BROWSER.parent.glob("browser-*")} == pictures
    assert all((BROWSER.parent / name).stat().st_size < 150_000 for name in pictures)
    assert "`python docs/figures/draw_browser.py`" in BROWSER.read_text()
