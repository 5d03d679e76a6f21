"""Links between pages, as viewers of repositories follow them; `make docs` checks them once more for the site."""

import pytest
from pages import DOCS, PAGES, ROOT, anchors, links, slug


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page):
    assert not [target for target in links(page) if dead(page, target)]


def test_a_dead_link_is_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "# A title, and more\n\n[here](#a-title-and-more) [no](#no) `[code](no.md)`\n[none](none.md)\n\n"
        "```\n# no heading\n[none](no.md)\n```\n"
    )
    assert anchors(page) == {"a-title-and-more"}
    assert [target for target in links(page) if dead(page, target)] == ["#no", "none.md"]


@pytest.mark.parametrize(
    ("heading", "anchor"),
    [("`spewy show --json`", "spewy-show---json"), ("The ACPC's protocol: what?", "the-acpcs-protocol-what")],
)
def test_anchors_are_those_of_github(heading, anchor):
    assert slug(heading) == anchor


def test_every_page_stands_on_a_shelf():
    for page in DOCS.rglob("*.md"):
        index = page.with_name("index.md")
        if page == index:
            continue
        assert page.name in [target.split("#")[0] for target in links(index)], page
        assert f"\n{page.stem}\n" in index.read_text(), page


def dead(page, target):
    if target.startswith(("http://", "https://")):
        return False
    path, _, anchor = target.partition("#")
    file = (page.parent / path).resolve() if path else page
    return not file.exists() or bool(anchor and anchor not in anchors(file))
