"""Every page passes axe's checks of accessibility: in light and in dark colours, on a screen and on a phone."""

from importlib import resources

import pytest
from playwright.sync_api import Browser, Page
from web_pages import open_place, shown
from web_server import Server

AXE = resources.files("axe_core_python") / "axe.min.js"
PLACES = {
    "solves": ("look", {}),
    "river": ("look", {"folder": "R1", "hand": "77", "panel": "hands", "heat": "equity"}),
    "card": ("look", {"folder": "flop", "line": "cc"}),
    "walk": ("look", {"folder": "flop", "line": "cc/cc/", "board": "Qs7h2d3c4d"}),
    "hands": ("hands", {}),
    "error": ("look", {"folder": "nothing"}),
}
"""Names of places on the look page and on that of hands, with their parameters."""
SCREENS = [
    (1280, 900, "light"),
    pytest.param((390, 844, "dark"), marks=pytest.mark.slow),
    pytest.param((390, 844, "light"), marks=pytest.mark.slow),
    pytest.param((1280, 900, "dark"), marks=pytest.mark.slow),
]


@pytest.fixture(params=SCREENS, ids=str)
def screen(request: pytest.FixtureRequest, chromium: Browser) -> Page:
    """An empty page of a size and with colours; it may run axe, which the pages' security policy forbids.

    Colours change at once, since axe would judge those that pass by on the way from one to the next.
    """
    width, height, scheme = request.param
    viewport = {"width": width, "height": height}
    with chromium.new_context(
        viewport=viewport, color_scheme=scheme, reduced_motion="reduce", bypass_csp=True
    ) as context:
        yield context.new_page()


def findings(page: Page, part: str = "html") -> list[str]:
    """The serious and critical findings of axe on a part of what is shown, with the elements that they are about."""
    page.evaluate(AXE.read_text())
    found = page.evaluate("part => axe.run(part, {resultTypes: ['violations']})", part)
    return [
        f"{one['id']} ({one['impact']}): {node['html'][:200]} {node['failureSummary']}"
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"][:3]
    ]


def test_the_look_page(screen: Page, served: Server) -> None:
    found = {}
    for title, (name, parameters) in PLACES.items():
        open_place(screen, served.address, name, **parameters)
        found[title] = findings(screen)
    assert found == {name: [] for name in PLACES}


def test_all_panels_of_the_look_page(screen: Page, served: Server) -> None:
    open_place(screen, served.address, folder="flop")
    found = {}
    for title in screen.get_by_role("tab").all_inner_texts():
        screen.get_by_role("tab", name=title, exact=True).click()
        shown(screen)
        if title == "Lock":
            screen.click("#lock-begin")
        found[title] = findings(screen, ".panels")  # the rest of the page stays as it was
    assert found == {name: [] for name in found}


def test_the_other_pages(screen: Page, served: Server) -> None:
    """As they are when they open; their own tests look at what they become."""
    open_place(screen, served.address)
    names = [str(link.get_attribute("href"))[1:] for link in screen.locator("header nav a").all()]
    found = {}
    for name in names:
        if name != "look":
            open_place(screen, served.address, name)
            found[name] = findings(screen)
    assert found == {name: [] for name in found}


def test_no_page_is_wider_than_a_phone(chromium: Browser, served: Server) -> None:
    """Only the ribbon, tabs and tables scroll sideways, each by itself."""
    with chromium.new_context(viewport={"width": 390, "height": 844}) as context:
        page = context.new_page()
        for name, parameters in PLACES.values():
            open_place(page, served.address, name, **parameters)
            assert page.evaluate("document.documentElement.scrollWidth") <= 390, (name, parameters)


def test_the_findings_are_real(screen: Page, served: Server) -> None:
    """Axe finds what is wrong on purpose."""
    open_place(screen, served.address, folder="R1")
    screen.evaluate("document.querySelector('#heat').parentElement.querySelector('label').remove()")
    assert any(finding.startswith("select-name") for finding in findings(screen))
