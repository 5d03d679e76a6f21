"""The Lock tab: locks hand by hand, their marks, undo, and the solve that plays them."""

import tomllib

import numpy as np
import pytest
from cli_runs import good, good_json, write
from playwright.sync_api import expect
from web_pages import open_place, shown
from web_server import serving

from spewy.job.job import Job

RIVER = """
name = "river"
[game]
file = "holdem.nolimit.2p.reverse_blinds"
[spot]
board = "Qs 7h 2d 3c 9c"
pot = 100
stack = 200
oop = "AA,QQ,KQs,JTs,87s,65s,A5s"
ip = "KK,AQs,77,T8s,54s,QJs,98s"
[bets.river]
bet = "50%, 100%"
raise = "a"
[solve]
target = "0.05%"
"""

TWO_TONE = """
name = "flop"
[game]
file = "holdem.nolimit.2p.reverse_blinds"
[spot]
board = "Qs 7h 2h"
pot = 100
stack = 100
oop = "AA,KQs,87s"
ip = "KK,QJs,98s"
[bets.flop]
bet = "50%"
[solve]
target = "0.1%"
max_sweeps = 40
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    base = tmp_path_factory.mktemp("locks")
    good("solve", write(base, RIVER, "river.toml"), "--out", base / "solves" / "river")
    good("solve", write(base, TWO_TONE, "flop.toml"), "--out", base / "solves" / "flop")
    return base / "solves"


@pytest.fixture(scope="module")
def address(folder):
    with serving(folder) as server:
        yield server.address


@pytest.fixture(scope="module")
def solved(folder):
    """The strategies of the solve by place and hand, as the command line shows them."""

    def of(line):
        found = good_json("show", folder / "river", "--line", line)
        return {hand: np.array(row["strategy"]) for hand, row in found["hands"].items()}, found["actions"]

    return of


def lock_here(page, address, folder="river", **place):
    open_place(page, address, folder=folder, panel="lock", **place)
    page.click("#lock-begin")
    expect(page.locator("#lock-scope")).to_be_visible()


def job_of(page, path):
    with page.expect_download() as download:
        page.click("#lock-file")
    download.value.save_as(path)
    return tomllib.loads(path.read_text())


def by_hand(lock):
    return {hand: np.array(shares) for names, shares in lock["hands"].items() for hand in names.split(",")}


def moved(shares, action, change):
    """Move an action by ``change``, stop at 0 and 1, and scale the others, one hand at a time."""
    new = min(1.0, max(0.0, shares[action] + change))
    rest = 1 - shares[action]
    return np.array([new if i == action else share * (1 - new) / rest for i, share in enumerate(shares)])


def test_a_lock_begins_with_each_hands_own_strategy(page, address, solved, tmp_path):
    lock_here(page, address)
    strategy, _ = solved("")
    (lock,) = job_of(page, tmp_path / "job.toml")["lock"]
    found = by_hand(lock)
    assert found.keys() == strategy.keys()
    for hand, shares in found.items():
        assert sum(shares) == pytest.approx(1, abs=1e-9)
        np.testing.assert_allclose(shares, strategy[hand], atol=1e-5)
    assert len({tuple(shares) for shares in found.values()}) > 1
    assert page.locator(".cell.marked").count() == 0


def test_a_lock_keeps_boards_that_are_equal_up_to_suits_together(page, address, folder, tmp_path):
    strategy = {h: row["strategy"] for h, row in good_json("show", folder / "flop")["hands"].items()}
    assert strategy["KcQc"] != strategy["KdQd"]  # by the rounding of the solve
    lock_here(page, address, folder="flop")
    page.click("#lock-step-0--10")
    job = job_of(page, tmp_path / "job.toml")
    locked, free = Job.of(job).problem, Job.of({key: job[key] for key in job if key != "lock"}).problem
    assert len(locked.symmetries) == len(free.symmetries) == 2
    page.locator(".acts [data-hand='KQs']").click()
    shown(page)
    page.select_option("#lock-scope", "KcQc")
    page.click("#lock-step-0-10")
    assert len(Job.of(job_of(page, tmp_path / "job.toml")).problem.symmetries) == 1


def test_a_group_moves_by_points_and_stops_at_the_ends(page, address, solved, tmp_path):
    strategy, actions = solved("b50")
    fold = actions.index("fold")
    open_place(page, address, folder="river", panel="breakdown", line="b50")
    page.click("tr[data-group='overpair'] button")
    shown(page)
    page.click("#tab-lock")
    page.click("#lock-begin")
    expect(page.locator("#lock-scope option:checked")).to_contain_text("overpair): 6 hands")
    page.click(f"#lock-step-{fold}-10")
    expect(page.locator("#lock-told")).to_have_text("the filtered hands (overpair): fold +10.0 points.")
    kings = {hand for hand in strategy if hand[0] == hand[2] == "K"}
    found = by_hand(job_of(page, tmp_path / "job.toml")["lock"][0])
    assert len(kings) == 6
    for hand, shares in found.items():
        wanted = moved(strategy[hand], fold, 0.1) if hand in kings else strategy[hand]
        np.testing.assert_allclose(shares, wanted, atol=1.5e-5)

    page.select_option("#lock-scope", "range")
    for _ in range(3):
        page.click(f"#lock-step-{fold}--10")
    expect(page.locator("#lock-told")).to_contain_text("hands stopped at 0 %, so the mean moved by −")
    found = by_hand(job_of(page, tmp_path / "job.toml")["lock"][0])
    for hand, shares in found.items():
        assert shares[fold] == pytest.approx(
            max(0, strategy[hand][fold] + 0.1 * (hand in kings) - 0.3), abs=1.5e-5
        )
        assert sum(shares) == pytest.approx(1, abs=1e-9)


def test_cells_and_hands_are_marked_and_undone(page, address):
    marked = page.locator(".acts .cell.marked")
    lock_here(page, address, line="b50", hand="98s", seat="1")
    expect(page.locator(".ribbon-end .lock-mark")).to_be_visible()
    expect(page.locator("#lock-scope option:checked")).to_have_text("the cell 98s: 3 hands")
    before = page.locator("#lock-mean-0").inner_text()
    page.click("#lock-step-0-10")
    expect(marked).to_have_count(1)
    expect(marked).to_have_attribute("data-hand", "98s")
    page.select_option("#lock-scope", "9d8d")
    page.click("#lock-step-1-5")
    page.select_option("#lock-scope", "range")
    page.locator("#lock-slider-0").fill("20")
    assert marked.count() > 4
    page.click("#lock-undo")
    expect(marked).to_have_count(1)
    page.select_option("#lock-scope", "cell")
    page.click("#lock-undo")
    page.click("#lock-undo")
    expect(marked).to_have_count(0)
    expect(page.locator("#lock-undo")).to_be_disabled()
    expect(page.locator("#lock-mean-0")).to_have_text(before)
    page.click("#lock-step-0-10")
    page.click("#lock-restore")
    expect(marked).to_have_count(0)
    expect(page.locator("#lock-undo")).to_be_enabled()


def test_never_and_always_move_all_hands_to_an_end(page, address, tmp_path):
    lock_here(page, address, line="b50")
    for name, told, share in (("always call", "call 100 %.", 1), ("never call", "call 0 %.", 0)):
        page.get_by_role("button", name=name).focus()
        page.keyboard.press("Enter")
        expect(page.locator("#lock-told")).to_have_text(f"the whole range: {told}")
        expect(page.get_by_role("button", name=name)).to_be_focused()
        found = by_hand(job_of(page, tmp_path / "job.toml")["lock"][0])
        assert {shares[1] for shares in found.values()} == {share}
    page.click("#lock-undo")
    expect(page.locator("#lock-mean-1")).to_have_text("100.0 %")


def test_a_lock_where_play_hardly_comes_says_so(page, address):
    open_place(page, address, folder="river", panel="lock", line="b50")
    expect(page.locator("#lock-rare")).to_have_count(0)
    page.route(
        "**/api/position*",
        lambda route: route.fulfill(json=route.fetch().json() | {"rare": True, "reached": 0.0002}),
    )
    open_place(page, address, folder="river", panel="lock")
    expect(page.locator("#lock-rare")).to_contain_text(
        "Only 0.02 % of play comes here: a lock changes little"
    )


def test_a_draft_holds_several_decisions(page, address, tmp_path):
    lock_here(page, address, line="b50")
    page.locator(".ribbon .stage-title").first.click()
    shown(page)
    page.click("#lock-begin")
    expect(page.locator(".lock-list li")).to_have_count(2)
    page.get_by_role("button", name="ip after bet 50 % (50)").first.click()
    shown(page)
    expect(page.locator(".ribbon .lock-mark")).to_have_count(2)
    locks = job_of(page, tmp_path / "job.toml")["lock"]
    assert [lock["line"] for lock in locks] == ["r50", ""]
    page.get_by_role("button", name="remove the lock of oop at the start").click()
    expect(page.locator(".lock-list li")).to_have_count(1)
    expect(page.locator(".ribbon .lock-mark")).to_have_count(1)


def test_a_lock_by_slider_is_the_lock_of_a_job_file(page, address, folder, solved, tmp_path):
    strategy, actions = solved("b50")
    lock_here(page, address, line="b50")
    page.locator("#lock-slider-0").fill("60")
    expect(page.locator(".acts .step-share").first).to_have_text(
        f"{page.locator('#lock-mean-0').inner_text()} locked"
    )
    page.fill("#lock-name", "by-slider")
    page.click("#lock-solve")
    page.wait_for_url("**panel=compare**")
    shown(page)
    expect(page.locator("#with")).to_have_value("by-slider")
    expect(page.locator("table.totals")).to_be_visible()
    assert "line=" not in page.url.replace("line=&", "")  # the root, at which the opponent adapts
    expect(page.locator("#start-ev")).to_be_visible()

    # The page counts with the five decimals of its position, and every hand of ip still comes to this decision.
    start = {hand: shares.round(5) / shares.round(5).sum() for hand, shares in strategy.items()}
    change = 0.6 - np.mean([shares[0] for shares in start.values()])
    table = ["[[lock]]", 'line = "b50"', "[lock.hands]"]
    for hand, shares in start.items():
        counts = (moved(shares, 0, change) * 1e6).round().astype(int)
        counts[counts.argmax()] += 1_000_000 - counts.sum()
        named = ", ".join(f'"{action}" = {count}e-6' for action, count in zip(actions, counts, strict=True))
        table.append(f"{hand} = {{ {named} }}")
    open_place(page, address, folder="by-slider", line="b50")
    expect(page.locator(".bar .facts")).to_contain_text("lockedthe job fixes this decision")
    by_hand_file = write(tmp_path, RIVER + "\n".join(table), "by-hand.toml")
    good("solve", by_hand_file, "--out", folder / "by-hand")
    for line in ("", "b50", "b50 a", "x"):
        slider, file = (good_json("show", folder / name, "--line", line) for name in ("by-slider", "by-hand"))
        assert slider == file
    evs = good_json("compare", folder / "river", folder / "by-hand")["ev"]
    lost = evs[0][1] - evs[1][1]  # the lock costs ip
    assert lost > 0.01
    open_place(page, address, folder="river", panel="compare", **{"with": "by-slider"})
    expect(page.locator("#start-ev")).to_contain_text(f"ip −{lost:.2f} chips.")
    assert (
        np.mean(
            [
                row["strategy"][0]
                for row in good_json("show", folder / "by-hand", "--line", "b50")["hands"].values()
            ]
        )
        < 0.6
    )


def test_a_lock_takes_the_place_of_the_running_solve(chromium, folder):
    endless = RIVER.replace('"river"', '"endless"').replace('"0.05%"', '"0%"\nmax_sweeps = 9000000')
    with serving(folder) as server, chromium.new_context() as context:
        assert server.send("api/jobs/start", text=endless)[1]["id"] == "endless"
        page = context.new_page()
        lock_here(page, server.address, line="x")
        page.locator("#lock-slider-0").fill("60")
        page.fill("#lock-name", "instead")
        page.click("#lock-solve")
        expect(page.locator("[role=alert]")).to_contain_text("endless")
        expect(page.locator("#lock-instead")).to_have_text("stop endless, which is saved, and solve this")
        page.click("#lock-instead")
        page.wait_for_url("**panel=compare**")
        shown(page)
        expect(page.locator("#with")).to_have_value("instead")
        stopped = server.ask("api/jobs/progress", folder="endless")["solve"]
        assert (stopped["running"], stopped["saved"]) == (False, stopped["done"])
