"""Help tests of the pages in a browser: open a place, wait until the page shows it, and read its numbers."""

import re
from urllib.parse import urlencode

from playwright.sync_api import Locator, Page, expect


def open_place(page: Page, address: str, name: str = "look", **parameters: str) -> None:
    """Open a page of a server and wait until it is shown."""
    query = urlencode(parameters)
    page.goto(f"{address}#{name}{'?' if query else ''}{query}")
    shown(page)


def shown(page: Page) -> None:
    """Wait until nothing on the page is being loaded."""
    # The page hears of a new address in a task of its own.
    page.evaluate("new Promise(done => setTimeout(done))")
    expect(page.locator("main > *").first).to_be_visible()
    expect(page.locator("[aria-busy]")).to_have_count(0)


def stage(page: Page) -> Locator:
    """The part of the ribbon that the reader has reached."""
    return page.locator(".stage.here")


def take(page: Page, step: str) -> None:
    """Click an action at the place that is shown, and wait for the next place."""
    before = page.url
    stage(page).locator(f"[data-step='{step}']").click()
    page.wait_for_url(lambda url: url != before)
    shown(page)


def deal(page: Page, card: str) -> None:
    """Click a card at the place that is shown, and wait for the next place."""
    before = page.url
    stage(page).locator(f"[data-card='{card}']").click()
    page.wait_for_url(lambda url: url != before)
    shown(page)


def board(page: Page) -> list[str]:
    """Public cards among the facts of the place, such as ``Q of spades``."""
    cards = page.locator(".facts .board .card").all()
    return [str(card.get_attribute("aria-label")) for card in cards]


def numbers(text: str) -> list[float]:
    """All numbers in a text."""
    return [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", text)]


def hand_row(page: Page, hand: str) -> list[list[float]]:
    """The numbers in each cell of a hand's row in the table of hands: reach, then a cell for each action, and so on."""
    cells = page.locator(f"table.hands tr[data-row='{hand}'] td:not(.kind)").all_inner_texts()
    return [numbers(cell) for cell in cells]
