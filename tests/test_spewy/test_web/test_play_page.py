"""Playing and training in a browser, by mouse and by keyboard, on a screen and on a phone."""

import re

import pytest
from playwright.sync_api import expect
from web_server import serving

VERDICT = re.compile(
    r"^(right|inaccurate|mistake|blunder) (check|call) loses \d+\.\d\d bb, \d+\.\d\d % of the pot$"
)


@pytest.fixture(scope="module")
def address(playable):
    with serving(playable) as server:
        yield server.address


@pytest.mark.parametrize(
    ("place", "request_url", "answered"),
    [("play?folder=turn", "**/api/play/new", "h2"), ("look?folder=turn", "**/api/position*", ".ribbon")],
)
def test_a_note_explains_an_answer_that_takes_long(page, address, place, request_url, answered):
    held, note = [], page.get_by_text("The answer takes a while.")
    page.route(request_url, lambda route: held.append(route))
    page.goto(f"{address}#{place}")
    expect(note).to_be_visible()
    held[0].continue_()
    expect(page.locator(answered).first).to_be_visible()
    expect(note).to_have_count(0)


def test_some_hands_by_keyboard(page, address):
    page.goto(f"{address}#play")
    page.get_by_role("link", name="turn", exact=True).click()
    for number in range(1, 5):
        expect(page.get_by_role("heading", name=f"Hand {number}", exact=True)).to_be_visible()
        while page.locator("[data-action]").count():
            before = page.locator(".history").inner_text()
            bets = number == 2 and page.get_by_text("bet 50 % (0.5)").count()
            page.keyboard.press("1" if bets else "c")
            expect(page.locator(".history")).not_to_have_text(before)
            page.wait_for_selector("[aria-busy]", state="detached")
        expect(page.get_by_role("heading", name=f"Review of hand {number}")).to_be_visible()
        expect(page.locator(".result")).to_have_text(re.compile(r"^You (win|lose) "))
        page.keyboard.press("n")
    expect(page.get_by_role("heading", name="Hand 5", exact=True)).to_be_visible()
    for text in ("hands4", "without luck", "±"):
        expect(page.locator(".score")).to_contain_text(text)
    everything = page.get_by_role("region", name="all hands")
    expect(everything.get_by_role("heading")).to_have_text("All 4 hands")
    expect(everything).to_contain_text(
        re.compile(r"\d+ decisions with a choice lost \d+\.\d\d bb each on average: \d+ ")
    )
    losses = [float(text.split()[0]) for text in everything.locator(".loss").all_inner_texts()]
    assert losses == sorted(losses, reverse=True)
    page.goto(f"{address}#play")
    page.get_by_role("link", name="turn", exact=True).click()
    expect(page.get_by_role("heading", name="Hand 5", exact=True)).to_be_visible()
    page.get_by_role("button", name="begin anew").click()
    expect(page.get_by_role("heading", name="Hand 1", exact=True)).to_be_visible()


def test_the_review_has_losses_and_the_opponents_range(page, address):
    page.goto(f"{address}#play?folder=turn&seat=oop")
    page.get_by_role("button", name="bet 50 % (0.5)").click()
    page.wait_for_selector("[aria-busy]", state="detached")
    while page.locator("[data-action]").count():
        page.locator('[data-action="c"]').click()
        page.wait_for_selector("[aria-busy]", state="detached")
    row = page.locator(".decisions tbody tr").first
    expect(row).to_contain_text("bet 50 % (0.5)")
    expect(row.locator(".loss")).to_have_text(re.compile(r"^\d+\.\d+ \d+(\.\d+)? % of pot$"))
    expect(page.locator(".score")).to_contain_text("cost of your decisions")
    expect(page.locator(".review")).to_contain_text("Cost: the EV of the strategy's mix less the EV of")
    expect(page.locator(".result")).to_have_text(re.compile(r"^You (win|lose) "))
    expect(page.locator(".score")).to_contain_text("hands1")
    grid = page.get_by_role("grid", name="the opponent's range")
    expect(grid.get_by_role("gridcell")).to_have_count(169)
    grid.get_by_role("gridcell", name=re.compile("^KK: ")).click()
    expect(page.locator(".range")).to_contain_text("KK: ")
    page.get_by_label("the opponent's range").first.select_option(index=1)
    expect(grid).to_be_visible()
    row.get_by_role("link").click()
    expect(page).to_have_url(re.compile("#look"))
    expect(page.locator(".ribbon")).to_be_visible()


def test_a_seat_is_chosen_and_remembered(page, address):
    page.goto(f"{address}#play?folder=turn")
    own = page.get_by_role("group", name="your seat")
    expect(own).to_contain_text("in position")
    page.locator("#play-seat").select_option("oop")
    expect(own).to_contain_text("out of position")
    assert page.evaluate("location.hash").endswith("seat=oop")
    page.goto("about:blank")
    page.goto(f"{address}#play?folder=turn")
    expect(own).to_contain_text("out of position")


def test_the_table_has_both_seats_the_pot_and_what_was_bet(page, address):
    page.goto(f"{address}#train?folder=turn")
    page.wait_for_selector("[data-action]")
    for name, cards in (("your seat", 0), ("the opponent's seat", 2)):
        seat = page.get_by_role("group", name=name)
        expect(seat).to_contain_text("left")
        expect(seat.locator(".card-back")).to_have_count(cards)
    expect(page.locator(".felt .pot")).to_have_text(re.compile(r"^pot [\d.,]+ bb$"))
    expect(page.locator(".history li").first).to_contain_text("Turn")


def test_a_question_mark_opens_the_help(page, address):
    page.goto(f"{address}#play?folder=turn")
    page.wait_for_selector("[data-action]")
    hand = page.locator(".history").inner_text()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="help and keys")).to_contain_text("check or call")
    page.keyboard.press("c")
    page.get_by_role("button", name="close").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert page.locator(".history").inner_text() == hand


def test_a_sitting_that_was_forgotten_starts_again(chromium, address):
    page = chromium.new_page()  # the fixture `page` forbids requests that fail
    page.goto(f"{address}#play?folder=turn")
    error = {"error": "session has ended"}
    page.route("**/api/play/act", lambda route: route.fulfill(status=400, json=error))
    page.locator('[data-action="c"]').click()
    expect(page.get_by_role("alert")).to_have_text("session has ended")
    page.unroute("**/api/play/act")
    page.get_by_role("button", name="start again").click()
    expect(page.get_by_role("alert")).to_have_count(0)
    expect(page.get_by_role("heading", name="Hand 1", exact=True)).to_be_visible()
    page.close()


def test_the_trainer(page, address):
    page.goto(f"{address}#train?folder=turn")
    for number in (1, 2):
        expect(page.get_by_role("heading", name=f"Question {number}")).to_be_visible()
        page.keyboard.press("c")
        expect(page.locator(".verdict")).to_have_text(VERDICT)
        expect(page.locator("tr.played")).to_contain_text("your answer")
        expect(page.locator(".score")).to_contain_text(f"decisions{number}")
        page.keyboard.press("n")
    expect(page.get_by_role("heading", name="Question 3")).to_be_visible()
    page.locator("[data-action]").first.click()
    page.get_by_role("link", name="look at this decision").click()
    expect(page.locator(".ribbon")).to_be_visible()


def test_everything_fits_on_a_phone(page, address):
    page.set_viewport_size({"width": 390, "height": 800})
    for place in ("#play", "#play?folder=turn", "#train?folder=turn"):
        page.goto("about:blank")
        page.goto(f"{address}{place}")
        page.wait_for_selector(".solves, [data-action]")
        while page.locator("[data-action]").count():
            page.get_by_role("button", name=re.compile("^(check|call)")).click()
            page.wait_for_selector("[aria-busy]", state="detached")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
