"""The one list of solves, which the pages share, and the reasons why some of them cannot be opened."""

import json
import os
import shutil
from pathlib import Path

import pytest
from cli_runs import TURN
from jobs import parsed_job
from playwright.sync_api import Page, expect
from web_client import Pages
from web_pages import open_place
from web_server import serving
from without_rights import without_rights

from lockers import DATA, open_store
from lockers.files import FILE
from spewy.web.folders import DAMAGED, FOREIGN, NO_MANIFEST, UNSAVED, Folders, Healths

VERSION = "another version of the program made the folder"


@pytest.fixture(scope="module")
def folder(small, tmp_path_factory):
    """A folder with a spot, a whole game, a batch, and five folders that cannot be opened."""
    results = tmp_path_factory.mktemp("list") / "results"
    shutil.copytree(small / "kuhn", results / "kuhn")
    for name in ("turn", "cut", "bare", "version", "batch/Qs7h2d3c"):
        shutil.copytree(small / "turn", results / name)
    os.truncate(results / "cut" / DATA, 4096)
    (results / "bare" / FILE).unlink()
    manifest = results / "version" / FILE
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"format": 0}))
    open_store(results / "fresh", parsed_job(TURN).manifest()).close()
    open_store(results / "foreign", {"job": "a poem"}).close()
    (results / "notes").mkdir()
    return results


def test_each_folder_has_its_reason(folder: Path) -> None:
    listed = Pages(folder).ask("/api/folders")
    found = {each["id"]: (each["problem"], each["is_game"]) for each in listed["folders"]}
    problem, _ = found.pop("version")
    assert VERSION in problem
    assert found == {
        "batch": (None, False),
        "batch/Qs7h2d3c": (None, False),
        "cut": (DAMAGED, None),
        "foreign": (FOREIGN, None),
        "fresh": (UNSAVED, False),
        "kuhn": (None, True),
        "turn": (None, False),
    }
    assert listed["problems"] == [{"id": "bare", "problem": NO_MANIFEST}]


def test_a_reason_goes_when_the_folder_is_mended(folder: Path, tmp_path: Path) -> None:
    healths, solve = Healths(), tmp_path / "solve"
    shutil.copytree(folder / "cut", solve)
    assert healths.of(solve).problem == healths.of(solve).problem == DAMAGED
    shutil.copy(folder / "turn" / DATA, solve)
    assert healths.of(solve).problem is None


def test_a_folder_that_cannot_be_read(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder / "turn", tmp_path / "results" / "turn")

    def listed() -> None:
        (tmp_path / "results" / "turn").chmod(0o300)
        # The process is forked, so it has no threads that could answer requests.
        problems = Folders([tmp_path / "results"]).listing().problems
        assert problems == (("turn", "the folder cannot be read; change its permissions"),)

    without_rights(tmp_path, listed)


def test_the_pages_show_one_list(page: Page, folder: Path) -> None:
    with serving(folder) as server:
        for name, links in (("look", 4), ("play", 3), ("train", 2)):
            open_place(page, server.address, name)
            rows = page.locator(".solves > li")
            expect(rows).to_have_count(8)
            names = [text.split()[0].rstrip(",") for text in rows.all_inner_texts()]
            assert names == ["bare", "batch", "cut", "foreign", "fresh", "kuhn", "turn", "version"]
            expect(rows.nth(0)).to_have_text(f"bare cannot be opened: {NO_MANIFEST}")
            expect(rows.nth(2)).to_have_text(f"cut cannot be opened: {DAMAGED}")
            expect(rows.nth(4)).to_have_text(f"fresh cannot be opened: {UNSAVED}")
            expect(rows.nth(7)).to_contain_text(VERSION)
            expect(page.locator(".solves a")).to_have_count(links)
        expect(page.locator(".solves > li").nth(5)).to_have_text(
            "kuhn is a whole game; the trainer asks decisions of spots"
        )
        open_place(page, server.address)
        page.get_by_role("link", name="turn", exact=True).click()
        expect(page.locator(".stage.here .stage-title")).to_contain_text("oop to act")


def test_a_list_without_any_solve_that_can_be_opened(page: Page, folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder / "cut", tmp_path / "cut")
    with serving(tmp_path) as server:
        open_place(page, server.address)
        expect(page.get_by_text("There is no solve yet.")).to_be_visible()
        expect(page.locator(".solves > li")).to_have_text(f"cut cannot be opened: {DAMAGED}")
