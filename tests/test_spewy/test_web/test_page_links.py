"""Links between the pages about one solve, and the heading of the look page while the solve goes on."""

import shutil
from pathlib import Path

import pytest
from cli_runs import TURN, good, write
from playwright.sync_api import Page, expect
from web_pages import open_place, shown, stage, take
from web_server import serving


@pytest.fixture(scope="module")
def address(small, playable, tmp_path_factory):
    """The address of a server with a spot, a batch of two boards, and a whole game."""
    results = shutil.copytree(playable, tmp_path_factory.mktemp("links") / "results")
    shutil.copytree(small / "kuhn", results / "kuhn")
    with serving(results) as server:
        yield server.address


def links(page: Page) -> list[str]:
    found: list[str] = page.locator(".page > .solve a").all_inner_texts()
    return found


def follow(page: Page, text: str) -> None:
    page.get_by_role("link", name=text, exact=True).click()


def test_links_to_play_and_train_and_back(page: Page, address: str) -> None:
    for name in ("turn", "boards"):
        open_place(page, address, folder=name)
        expect(page.locator(".page-look > .solve")).to_contain_text(name)
        follow(page, "play against it")
        expect(page.get_by_role("heading", name="Hand 1 ")).to_be_visible()
        follow(page, "train single decisions")
        expect(page.locator(".trainer [data-action]").first).to_be_visible()
        follow(page, "look at the solve")
        shown(page)
        follow(page, "train its decisions")
        expect(page.locator(".trainer [data-action]").first).to_be_visible()
        follow(page, "play whole hands")
        expect(page.get_by_role("heading", name="Hand 1 ")).to_be_visible()
        follow(page, "look at the solve")
        shown(page)
        assert page.url == f"{address}#look?folder={name}"


def test_a_link_back_opens_the_root(page: Page, address: str) -> None:
    open_place(page, address, folder="turn")
    take(page, "check")
    follow(page, "play against it")
    follow(page, "look at the solve")
    shown(page)
    expect(stage(page).locator(".stage-title")).to_contain_text("oop to act")


def test_a_whole_game_has_no_training(page: Page, address: str) -> None:
    open_place(page, address, folder="kuhn")
    assert links(page) == ["all solves", "play against it"]
    follow(page, "play against it")
    expect(page.get_by_role("heading", name="Hand 1 ")).to_be_visible()
    assert links(page) == ["all solves", "look at the solve"]


def test_the_heading_follows_the_solve(page: Page, tmp_path: Path) -> None:
    """A click after a save shows the new strategy, and its progress in the heading."""
    job = write(tmp_path, TURN)
    good("solve", job, "--out", tmp_path / "results" / "turn", "--set", "solve.max_sweeps=10")
    with serving(tmp_path / "results") as server:
        open_place(page, server.address, folder="turn")
        heading = page.locator(".page-look > .solve")
        expect(heading).to_contain_text("10 sweeps")
        good("solve", job, "--out", tmp_path / "results" / "turn", "--set", "solve.max_sweeps=20")
        take(page, "check")
        expect(heading).to_contain_text("20 sweeps")
        shutil.rmtree(tmp_path / "results" / "turn")
        job.write_text(TURN.replace("pot = 100", "pot = 60"))
        good("solve", job, "--out", tmp_path / "results" / "turn", "--set", "solve.max_sweeps=30")
        take(page, "check")
        expect(heading).to_contain_text("30 sweeps")
        expect(page.locator(".look .bar > .facts")).to_contain_text("pot60")
