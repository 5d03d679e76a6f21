"""The Lock tab: locks hand by hand, their marks, undo, and the solve that plays them."""

import tomllib

import numpy as np
import pytest
from cli_runs import good, good_json, write
from playwright.sync_api import expect
from web_pages import open_place, shown
from web_server import serving

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
BET = "b50"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    base = tmp_path_factory.mktemp("locks")
    good("solve", write(base, RIVER, "river.toml"), "--out", base / "solves" / "river")
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


def lock_here(page, address, **place):
    open_place(page, address, folder="river", panel="lock", **place)
    page.click("#lock-begin")
    expect(page.locator("#lock-scope")).to_be_visible()


def job_of(page, path):
    with page.expect_download() as download:
        page.click("#lock-file")
    download.value.save_as(path)
    return tomllib.loads(path.read_text())


def by_hand(lock):
    return {
        hand: np.array(shares)
        for names, shares in lock["hands"].items()
        for hand in names.split(",")
    }


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
        np.testing.assert_allclose(shares, strategy[hand], atol=2e-6)
    assert len({tuple(shares) for shares in found.values()}) > 1
    assert page.locator(".cell.marked").count() == 0


def test_a_group_moves_by_points_and_stops_at_the_ends(page, address, solved, tmp_path):
    strategy, actions = solved("b50")
    fold = actions.index("Fold")
    lock_here(page, address, line="b50", group="top pair")
    expect(page.locator("#lock-scope option:checked")).to_contain_text("the filtered hands (top pair)")
    page.click(f"#lock-step-{fold}-10")
    names = page.evaluate("0") or []  # the group's hands come from the command line below
    kinds = good_json  # noqa: F841
    del names
    found = by_hand(job_of(page, tmp_path / "job.toml")["lock"][0])
    pair = {hand for hand in strategy if hand[0] == "Q" or hand[2] == "Q"}
    pair = {hand for hand in pair if hand[0] != hand[2]}
    assert pair
    assert pair < found.keys()
    for hand, shares in found.items():
        if hand in pair:
            assert shares[fold] == pytest.approx(min(1, strategy[hand][fold] + 0.1), abs=1e-5)
            if strategy[hand][fold] < 0.999:
                np.testing.assert_allclose(shares, moved(strategy[hand], fold, 0.1), atol=1e-5)
        else:
            np.testing.assert_allclose(shares, strategy[hand], atol=2e-6)
