"""The concept pages quote the numbers that their figures' scripts compute, and show the figures."""

import sys

import pytest
from pages import DOCS, links

sys.path.insert(0, str(DOCS / "figures"))

import draw_browser
import make

CONCEPTS = DOCS / "concepts"
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


@pytest.mark.parametrize(
    ("page", "stem", "names", "most"),
    [
        ("browser", "browser", draw_browser.SINGLES, 150_000),
        ("screens", "screens", draw_browser.VIEWS, 350_000),
    ],
)
def test_pages_about_the_browser_show_the_pictures_that_their_script_takes(page, stem, names, most):
    page = DOCS / f"how-to/{page}.md"
    pictures = {f"{stem}-{name}.webp" for name in names}
    assert {target for target in links(page) if target.endswith(".webp")} == pictures
    assert {path.name for path in page.parent.glob(f"{stem}-*")} == pictures
    assert all((page.parent / name).stat().st_size < most for name in pictures)
    assert "`python docs/figures/draw_browser.py`" in page.read_text()
