"""The look page in a browser: walks by clicks and by keys, deep links, and numbers that equal those of the commands."""

import re
import shutil
from pathlib import Path

import pytest
from cli_runs import good, good_json
from playwright.sync_api import Page, expect
from web_pages import board, deal, hand_row, numbers, open_place, shown, stage, take
from web_server import Server, serving

RIVER = "Qs 7h 2d 3c 4d"


@pytest.fixture
def flop(page: Page, served: Server) -> Page:
    open_place(page, served.address, folder="flop", panel="hands")
    return page


def close(text: float, value: float, decimals: int) -> bool:
    return abs(text - value) <= 0.5001 * 10.0**-decimals


def require_row(row: list[list[float]], figures: dict, decimals: int = 1) -> None:
    """Check the numbers of a hand's row in the page's table against the object that ``spewy show --json`` prints.

    EVs have ``decimals``, which are one for pots of 100 to 999.
    """
    reach, *actions, ev, equity, _, _ = row
    assert close(reach[0], figures["reach"], 3)
    for cell, share, action_ev in zip(actions, figures["strategy"], figures["action_ev"], strict=True):
        assert close(cell[0], 100 * share, 1)
        assert close(cell[1], action_ev, decimals)
    assert close(ev[0], figures["ev"], decimals)
    assert close(equity[0], 100 * figures["equity"], 1)


def test_three_rounds_by_clicks(flop: Page, solved: Path) -> None:
    expect(stage(flop).locator(".stage-title")).to_contain_text("oop to act")
    take(flop, "check")
    take(flop, "bet 50")
    take(flop, "call")
    deal(flop, "3c")
    assert board(flop) == ["Q of spades", "7 of hearts", "2 of diamonds", "3 of clubs"]
    take(flop, "check")
    take(flop, "check")
    deal(flop, "4d")
    assert board(flop)[-1] == "4 of diamonds"
    titles = ", ".join(flop.locator(".ribbon .stage-title").all_inner_texts())
    assert titles == "oop, ip, oop, turn, oop, ip, river"
    found = good_json("show", solved / "flop", "--line", "cr50c/cc/", "--board", RIVER)
    rows = {hand: figures for hand, figures in found["hands"].items() if figures["reach"] > 0}
    for hand, figures in list(rows.items())[:3]:
        require_row(hand_row(flop, hand), figures)
    take(flop, "bet 100")
    take(flop, "call")
    expect(stage(flop)).to_contain_text("showdown, pot 400")


@pytest.mark.parametrize(
    ("folder", "line", "cards"),
    [("R1", "", None), ("R1", "r20", None), ("flop", "", None), ("flop", "cc/r50c/c", RIVER)],
)
def test_numbers_are_those_of_show(
    page: Page, served: Server, solved: Path, folder: str, line: str, cards: str | None
) -> None:
    open_place(page, served.address, folder=folder, line=line, board=cards or "", panel="hands")
    options = ["--board", cards] if cards else []
    found = good_json("show", solved / folder, "--line", line, *options)
    names = found["actions"]
    steps = stage(page).locator("[data-step]")
    assert [step.get_attribute("data-step") for step in steps.all()] == names
    hands = [pair for pair in found["hands"].items() if pair[1]["reach"] > 0]
    decimals = 1 if numbers(page.locator(".facts").inner_text().partition("pot")[2])[0] >= 100 else 2
    for hand, figures in hands[:: max(1, len(hands) // 5)]:
        if page.locator(f"tr[data-row='{hand}']").count():
            require_row(hand_row(page, hand), figures, decimals)
    whole = sum(figures["reach"] for _, figures in hands)
    shares = [
        sum(figures["reach"] * figures["strategy"][action] for _, figures in hands) / whole
        for action in range(len(names))
    ]
    for text, share in zip(steps.locator(".step-share").all_inner_texts(), shares, strict=True):
        assert close(numbers(text)[0], 100 * share, 1)


@pytest.mark.parametrize(("heat", "name", "factor"), [("equity", "equity", 100), ("EV", "ev", 1)])
def test_heat_maps(page: Page, served: Server, solved: Path, heat: str, name: str, factor: int) -> None:
    """A cell has the mean over its class, weighted by reach."""
    open_place(page, served.address, folder="R1")
    found = good_json("show", solved / "R1")
    sevens = [figures for hand, figures in found["hands"].items() if hand[0] == hand[2] == "7"]
    mean = factor * sum(one["reach"] * one[name] for one in sevens) / sum(one["reach"] for one in sevens)
    page.select_option("#heat", heat)
    cell = page.locator(".seat").first.locator("[data-hand='77']")
    expect(cell).to_have_attribute("aria-label", re.compile(f"^77: {heat} "))
    assert close(numbers(cell.get_attribute("aria-label")[4:])[0], mean, 0 if factor == 100 else 2)
    assert close(numbers(cell.locator(".cell-number").inner_text())[0], mean, 0 if factor == 100 else 1)


def test_other_heat_maps(page: Page, served: Server) -> None:
    open_place(page, served.address, folder="R1")
    cell = page.locator(".seat").first.locator("[data-hand='77']")
    for heat in ("reach", "realisation", "regret"):
        page.select_option("#heat", heat)
        expect(cell).to_have_attribute("aria-label", re.compile(rf"^77: {heat} [\d.]+"))
    page.select_option("#heat", "strategy")
    expect(cell).to_have_attribute("aria-label", re.compile(r"^77: reach 1\.000, check [\d.]+ %, "))


def test_the_river_card_is_changed(flop: Page, served: Server) -> None:
    open_place(flop, served.address, folder="flop", line="cc/cc/", board=RIVER)
    flop.locator(".ribbon .stage-title", has_text="river").click()
    expect(stage(flop).locator(".stage-title")).to_have_text("next cards")
    for card in ("Qs", "7h", "2d", "3c"):
        expect(stage(flop).locator(f"[data-card='{card}']")).to_be_disabled()
    deal(flop, "As")
    assert board(flop)[-1] == "A of spades"
    expect(stage(flop).locator(".stage-title")).to_contain_text("oop to act")


def test_back_and_forth(flop: Page) -> None:
    take(flop, "check")
    take(flop, "check")
    deal(flop, "3c")
    flop.go_back()
    expect(stage(flop).locator(".stage-title")).to_have_text("next cards")
    flop.go_back()
    expect(stage(flop).locator(".stage-title")).to_contain_text("ip to act")
    flop.go_forward()
    expect(stage(flop).locator(".stage-title")).to_have_text("next cards")
    flop.locator(".ribbon .stage-title").first.click()
    expect(stage(flop).locator(".stage-title")).to_contain_text("oop to act")


def test_a_deep_link(flop: Page, chromium, served: Server) -> None:
    """A place that somebody else opens looks the same."""
    take(flop, "bet 50")
    flop.select_option("#heat", "equity")
    flop.locator("[data-seat='ip'] [data-hand='KK']").click()
    expect(flop.locator(".panel h3")).to_contain_text("KK of ip")
    with chromium.new_context() as context:
        other = context.new_page()
        other.goto(flop.url)
        shown(other)
        for part in (".solve", ".ribbon", ".facts", ".panels"):
            assert other.locator(part).inner_text() == flop.locator(part).inner_text()
        assert colours(other) == colours(flop)
        assert other.title() == flop.title() == "flop – Spewy"


def colours(page: Page) -> list[str]:
    script = "cells => cells.map(cell => cell.getAttribute('aria-label') + cell.getAttribute('style'))"
    found: list[str] = page.locator("[data-hand]").evaluate_all(script)
    assert len(found) == 2 * 169
    return found


def test_a_page_that_is_shown_again_asks_again(flop: Page) -> None:
    """The solve may have saved meanwhile."""
    address, asked = flop.url, []
    flop.on("request", lambda request: asked.append(request.url.split("?")[0].rpartition("/")[2]))
    flop.evaluate("location.hash = '#play'")
    expect(flop.locator(".page-play")).to_be_visible()
    assert "position" not in asked
    flop.goto(address)
    shown(flop)
    assert asked.count("position") == asked.count("summary") == 1


def test_a_filter(page: Page, served: Server, solved: Path) -> None:
    open_place(page, served.address, folder="R1", panel="hands")
    page.fill("#filter", "set")
    page.keyboard.press("Enter")
    page.wait_for_url("**filter=set**")
    shown(page)
    found = good_json("show", solved / "R1", "--filter", "set")
    rows = page.locator("table.hands tbody tr")
    expect(rows).to_have_count(sum(figures["reach"] > 0 for figures in found["hands"].values()))
    assert set(page.locator("table.hands td.kind").all_inner_texts()) == {"set"}


def test_a_phone_shows_the_top_of_the_page(page: Page, served: Server) -> None:
    """All tabs are in sight, and the last stage of the ribbon is scrolled sideways only."""
    page.set_viewport_size({"width": 390, "height": 844})
    open_place(page, served.address, folder="flop", panel="save")
    assert page.evaluate("scrollY") == 0
    assert page.locator(".tabs").evaluate("box => box.scrollWidth - box.clientWidth") == 0
    for step in ("check", "bet 50", "call"):
        take(page, step)
        assert page.evaluate("scrollY") == 0
    assert page.locator(".ribbon").evaluate("box => box.scrollLeft") > 0
    assert page.evaluate("document.documentElement.scrollWidth") == 390


def test_by_keys_alone(flop: Page) -> None:
    flop.keyboard.press("1")
    expect(stage(flop).locator(".stage-title")).to_contain_text("ip to act")
    flop.keyboard.press("2")
    expect(flop.locator(".stage.here .stage-title")).to_contain_text("oop to act")
    flop.keyboard.press("ArrowLeft")
    expect(stage(flop).locator(".stage-title")).to_contain_text("ip to act")
    flop.keyboard.press("g")
    expect(flop.locator(":focus")).to_have_attribute("data-hand", "AA")
    flop.keyboard.press("ArrowRight")
    flop.keyboard.press("ArrowDown")
    expect(flop.locator(":focus")).to_have_attribute("data-hand", "KK")
    flop.keyboard.press("Enter")
    expect(flop.locator(".panel h3")).to_contain_text("KK of ip")
    expect(flop.locator(":focus")).to_have_attribute("data-hand", "KK")
    flop.keyboard.press("/")
    expect(flop.locator(":focus")).to_have_id("filter")
    flop.keyboard.type("1")  # no action: the key goes into the field
    expect(flop.locator("#filter")).to_have_value("1")
    expect(stage(flop).locator(".stage-title")).to_contain_text("ip to act")


def test_the_first_page_lists_the_solves(page: Page, served: Server) -> None:
    open_place(page, served.address)
    expect(page.locator(".solves a")).to_have_text(["flop", "R1"])
    page.get_by_role("link", name="flop").click()
    expect(stage(page).locator(".stage-title")).to_contain_text("oop to act")
    page.get_by_role("link", name="all solves").click()
    expect(page.locator(".solves")).to_be_visible()


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"folder": "nothing"}, "there is no such solve"),
        ({"folder": "R1", "line": "x b7"}, "line"),
        ({"folder": "R1", "board": "AsAsAsAsAs"}, "board"),
        ({"folder": "<img src=x onerror=alert(1)>"}, "there is no such solve"),
    ],
)
def test_places_that_do_not_exist(chromium, served: Server, parameters: dict, text: str) -> None:
    """Status 400 is an error on the browser's console, but the page says what is wrong."""
    with chromium.new_context() as context:
        page = context.new_page()
        page.on("dialog", lambda dialog: pytest.fail("a folder's name has become a script"))
        open_place(page, served.address, **parameters)
        expect(page.get_by_role("alert")).to_contain_text(text)


def test_a_folder_and_a_server_that_vanish(chromium, solved: Path, tmp_path: Path) -> None:
    shutil.copytree(solved / "flop", tmp_path / "flop")
    with chromium.new_context() as context, serving(tmp_path) as server:
        page = context.new_page()
        open_place(page, server.address, folder="flop")
        shutil.rmtree(tmp_path / "flop")
        stage(page).locator("[data-step='check']").click()
        expect(page.get_by_role("alert")).to_contain_text("there is no such solve; it may have been renamed")
        shutil.copytree(solved / "flop", tmp_path / "flop")
        page.go_back()
        expect(stage(page).locator(".stage-title")).to_contain_text("oop to act")
        server.end()
        stage(page).locator("[data-step='check']").click()
        expect(page.get_by_role("alert")).to_contain_text("is spewy serve still running?")


def test_colours_are_remembered(page: Page, served: Server) -> None:
    open_place(page, served.address)
    page.click("#theme")
    theme = page.locator("html").get_attribute("data-theme")
    assert theme in ("dark", "light")
    page.reload()
    assert page.locator("html").get_attribute("data-theme") == theme


@pytest.mark.parametrize("size", [(1280, 800), (1920, 1080)], ids=str)
def test_a_screen_shows_everything_without_scrolling(
    page: Page, served: Server, size: tuple[int, int]
) -> None:
    page.set_viewport_size({"width": size[0], "height": size[1]})
    open_place(page, served.address, folder="R1", hand="77")
    root = "document.documentElement"
    assert page.evaluate(f"[{root}.scrollWidth, {root}.scrollHeight]") == list(size)
    cells, tabs = ".acts .cell", ".tabs button"
    for part in (cells, ".waits .cell", ".class-hands", ".panels", ".panel", tabs, ".ribbon", "#filter"):
        for box in page.locator(part).evaluate_all(
            "parts => parts.map(part => part.getBoundingClientRect())"
        ):
            assert 0 <= box["left"] < box["right"] <= size[0], part
            assert 0 <= box["top"] < box["bottom"] <= size[1], part
    assert page.locator(cells).count() == 169
    for tab in page.locator(tabs).all():
        tab.click()
        shown(page)
        wider = page.locator(".panel").evaluate("panel => panel.scrollWidth - panel.clientWidth")
        assert wider <= 0, tab.inner_text()
        assert page.evaluate(f"{root}.scrollHeight") == size[1], tab.inner_text()


def test_strategy_and_ev_in_one_cell(page: Page, served: Server, solved: Path) -> None:
    """The view "both" has the stripes of the view "strategy" and the numbers of the view "EV"."""
    open_place(page, served.address, folder="R1", line="r20")
    cell = page.locator(".acts [data-hand='77']")
    stripes = cell.locator(".cell-bar").evaluate("bar => bar.style.backgroundImage")
    assert "gradient" in stripes
    page.select_option("#heat", "both")
    expect(cell).to_have_attribute("aria-label", re.compile(r"^77: reach .*fold .*, EV -?[\d.]+$"))
    assert cell.locator(".cell-bar").evaluate("bar => bar.style.backgroundImage") == stripes
    found = good_json("show", solved / "R1", "--line", "r20")
    sevens = [figures for hand, figures in found["hands"].items() if hand[0] == hand[2] == "7"]
    mean = sum(one["reach"] * one["ev"] for one in sevens) / sum(one["reach"] for one in sevens)
    assert close(numbers(cell.locator(".cell-number").inner_text())[0], mean, 1)


def heights(page: Page) -> list[float]:
    """Height of the stripes in each cell of the player who acts, in % of the cell."""
    sizes = page.locator(".acts .cell:not(.empty) > .cell-bar").evaluate_all(
        "bars => bars.map(bar => bar.style.backgroundSize)"
    )
    return [numbers(size)[1] for size in sizes]


def test_bars_are_as_high_as_the_reach_or_as_the_cell(page: Page, served: Server) -> None:
    open_place(page, served.address, folder="flop", line="cr50")
    assert min(heights(page)) < 99
    assert max(heights(page)) == 100
    button = page.locator("#full-bars")
    button.click()
    assert set(heights(page)) == {100}
    page.reload()
    shown(page)
    expect(button).to_have_attribute("aria-pressed", "true")
    assert set(heights(page)) == {100}
    button.click()
    assert min(heights(page)) < 99


def test_a_bet_size_has_one_colour_on_all_rounds(page: Page, served: Server) -> None:
    colours = []
    for line, cards in (("", ""), ("cc/", "Qs7h2d3c"), ("cc/cc/", RIVER)):
        open_place(page, served.address, folder="flop", line=line, board=cards)
        bet = stage(page).locator("[data-step='bet 50']")
        colours.append(bet.evaluate("step => step.style.getPropertyValue('--colour')"))
        shares = page.locator(".acts .cell:not(.empty) > .cell-bar").evaluate_all(
            "bars => bars.map(bar => bar.style.backgroundImage)"
        )
        red, green, blue = (int(colours[0][i : i + 2], 16) for i in (1, 3, 5))
        assert any(f"rgb({red}, {green}, {blue})" in stripes for stripes in shares)
    assert len(set(colours)) == 1


def test_the_ribbon_keeps_all_actions_and_their_frequencies(flop: Page) -> None:
    shares = stage(flop).locator(".step-share").all_inner_texts()
    take(flop, "check")
    steps = flop.locator(".ribbon .step")
    expect(steps).to_have_text(["check", "50 %"])
    for step, share in zip(steps.all(), shares, strict=True):
        assert str(step.get_attribute("title")).endswith(share)
    expect(flop.get_by_text("to act")).to_have_count(1)


def test_a_picture_is_saved_by_one_click(flop: Page) -> None:
    flop.get_by_role("tab", name="Copy and save").click()
    shown(flop)
    with flop.expect_download() as download:
        flop.click("#picture-png")
    assert download.value.suggested_filename == "flop-Qs7h2d-strategy.png"
    assert Path(download.value.path()).read_bytes().startswith(b"\x89PNG")


def test_a_wrong_filter_moves_nothing(chromium, served: Server) -> None:
    with chromium.new_context(viewport={"width": 1280, "height": 800}) as context:
        page = context.new_page()
        open_place(page, served.address, folder="R1")
        before = page.locator(".acts .grid").bounding_box()
        page.fill("#filter", "foo")
        page.keyboard.press("Enter")
        error = page.locator("#filter-error")
        expect(error).to_contain_text("found 'foo'")
        assert len(error.inner_text()) < 200
        assert page.locator(".acts .grid").bounding_box() == before


def test_a_batch_fits_a_window(page: Page, playable: Path) -> None:
    page.set_viewport_size({"width": 1280, "height": 800})
    with serving(playable) as server:
        open_place(page, server.address, folder="boards", line="c")
        expect(page.locator(".ribbon .step")).to_have_count(3)
        expect(page.locator(".ribbon .step.taken")).to_have_text("check")
        table = page.locator("table.sorted")
        expect(table).to_be_visible()
        assert table.bounding_box()["width"] < 1280
        expect(table.locator("thead th").last).to_contain_text("exploitability")
        box = table.locator("thead th").last.bounding_box()
        assert box["x"] + box["width"] <= 1280
        average = table.locator("tfoot td").all_inner_texts()
        shares = page.locator(".stage.here .step-share").all_inner_texts()
        assert shares == average[1 : 1 + len(shares)]


def test_the_breakdown_is_that_of_show(page: Page, served: Server, solved: Path) -> None:
    open_place(page, served.address, folder="R1", panel="breakdown")
    command = good("show", solved / "R1", "--hands", "--all").splitlines()
    heads = [line for line in command if re.match(r"^[a-z]+( [a-z]+)* +\d+\.\d\d ", line)]
    rows = page.locator("[data-group]")
    names = [str(row.get_attribute("data-group")) for row in rows.all()]
    assert [re.split(r" +\d", line)[0] for line in heads] == names
    for line, name in zip(heads, names, strict=True):
        reach, *_, ev, equity = numbers(line)
        cells = page.locator(f"[data-group='{name}'] td").all_inner_texts()
        assert close(numbers(cells[0] or "0")[0], reach, 1) or not cells[0]
        assert close(numbers(cells[-2])[0], ev, 2)
        assert close(numbers(cells[-1])[0], 100 * equity, 1)
    page.click(f"[data-group='{names[0]}']")
    page.wait_for_url("**group=**")
    shown(page)
    filled = page.locator(".acts .cell:not(.empty)").count()
    assert 0 < filled < 169
