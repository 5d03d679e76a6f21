"""The one list of solves, which the pages share, and the reasons why some of them cannot be opened."""

import json
import os
import re
import shutil
import tomllib
from pathlib import Path

import pytest
from cli_runs import TURN
from jobs import EXAMPLES, parsed_job
from playwright.sync_api import Dialog, Page, expect
from web_client import Pages
from web_pages import open_place
from web_server import serving
from without_rights import without_rights

from buckets.cards import parse_cards
from lockers import DATA, Store, open_store
from lockers.files import FILE
from spewy.job.shipped import preset, preset_of
from spewy.job.write import Answers, job_text
from spewy.look.status import progress_of
from spewy.records.status import STATUS
from spewy.system.folders import FolderLock
from spewy.web import listing
from spewy.web.folders import NO_MANIFEST, Entry, Folders
from spewy.web.job_process import JobProcess, JobState
from spewy.web.listing import DAMAGED, FOREIGN, UNSAVED, SolveList

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
    solves, solve = SolveList(), Entry("solve", tmp_path / "solve", "solve")
    shutil.copytree(folder / "cut", solve.path)
    assert solves.of(solve).problem == solves.of(solve).problem == DAMAGED
    shutil.copy(folder / "turn" / DATA, solve.path)
    assert solves.of(solve).problem is None


def test_a_folder_that_cannot_be_read(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder / "turn", tmp_path / "results" / "turn")

    def listed() -> None:
        (tmp_path / "results" / "turn").chmod(0o300)
        # The process is forked, so it has no threads that could answer requests.
        problems = Folders([tmp_path / "results"]).listing().problems
        assert problems == (("turn", "the folder cannot be read; change its permissions"),)

    without_rights(tmp_path, listed)


def test_a_row_says_what_was_solved_and_how_well(folder: Path) -> None:
    rows = {each["id"]: each for each in Pages(folder).ask("/api/folders")["folders"]}
    progress = progress_of(folder / "turn")
    row = rows["turn"]
    assert {key: row[key] for key in ("board", "pot", "stack", "unit", "done")} == {
        **{"board": "Qs7h2d3c", "pot": 100, "stack": 100, "unit": "chips"},
        "done": progress.status.saved_deals,
    }
    assert row["exploitability"] == pytest.approx(progress.curve[-1][2])
    assert row["about"] == "0.23 % of hands against 0.15 %"
    assert row["disk"] == sum(512 * each.stat().st_blocks for each in (folder / "turn").iterdir())
    assert row["saved_at"] == pytest.approx((folder / "turn" / DATA).stat().st_mtime, abs=1)
    batch = rows["batch"]
    assert (batch["pot"], batch["exploitability"], batch["disk"]) == (100, None, row["disk"])
    assert (rows["kuhn"]["about"], rows["kuhn"]["board"], rows["kuhn"]["pot"]) == ("kuhn", "", None)


def test_ranges_of_a_preset_have_its_name(tmp_path: Path) -> None:
    given = preset("hu-3bet")
    text = job_text(Answers.of(given, parse_cards("Ks7h2d5c9s"), None), "a test")
    oop, ip = (tomllib.loads(text)["spot"][seat] for seat in ("oop", "ip"))
    assert preset_of(oop, ip) == given
    assert preset_of(ip, oop) is None


def test_a_listed_solve_is_read_again_only_after_a_save(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("first", "second"):
        shutil.copytree(folder / "turn", tmp_path / name)
    pages, opened = Pages(tmp_path), []

    def open_noted(path: Path, **options: bool) -> Store:
        opened.append(path.name)
        return open_store(path, **options)

    monkeypatch.setattr(listing, "open_store", open_noted)
    pages.ask("/api/folders")
    pages.ask("/api/folders")
    assert opened == ["first", "second"]
    os.utime(tmp_path / "second" / DATA)
    pages.ask("/api/folders")
    assert opened == ["first", "second", "second"]


def test_the_pages_show_one_list(page: Page, folder: Path) -> None:
    with serving(folder) as server:
        for name, solves, links in (("look", 3, 4), ("play", 3, 3), ("train", 2, 2)):
            open_place(page, server.address, name)
            expect(page.locator(".solves tbody tr")).to_have_count(solves)
            expect(page.locator(".solves a")).to_have_count(links)
            others = [f"bare cannot be opened: {NO_MANIFEST}", f"cut cannot be opened: {DAMAGED}"]
            others += [f"foreign cannot be opened: {FOREIGN}", f"fresh cannot be opened: {UNSAVED}"]
            if name == "train":
                others.append("kuhn is a whole game; the trainer asks decisions of spots")
            expect(page.locator(".broken-solves > li")).to_have_text(
                [*others, re.compile(f"^version .*{VERSION}")]
            )
        open_place(page, server.address)
        page.get_by_role("link", name="turn", exact=True).click()
        expect(page.locator(".stage.here .stage-title")).to_contain_text("oop to act")


def test_the_list_is_sorted_and_searched(page: Page, folder: Path, tmp_path: Path) -> None:
    results = tmp_path / "results"
    for days, name in enumerate(("kuhn", "turn", "batch")):
        shutil.copytree(folder / name, results / name)
        for file in results.rglob(f"{name}/**/*.*"):
            os.utime(file, (1.7e9 + 86400 * days,) * 2)
    with serving(results) as server:
        open_place(page, server.address)
        names = page.locator(".solves tbody th")
        expect(names).to_have_text(["batch", "turn", "kuhn"])  # the newest first
        turn = page.locator(".solves tbody tr", has=page.get_by_role("link", name="turn", exact=True))
        expect(turn).to_contain_text("2023-11-1")
        page.get_by_role("button", name="solve").click()
        expect(names).to_have_text(["batch", "kuhn", "turn"])
        page.get_by_role("button", name="pot").click()
        expect(names).to_have_text(["batch", "turn", "kuhn"])  # without a pot last
        for search, found in (
            ("qs 7h", ["turn"]),
            ("KUHN", ["kuhn"]),
            ("nothing", []),
            ("", ["batch", "turn", "kuhn"]),
        ):
            page.fill("#search-solves", search)
            expect(names).to_have_text(found)


def copied(folder: Path, tmp_path: Path, *names: str) -> Path:
    for name in names:
        shutil.copytree(folder / name, tmp_path / "results" / name)
    return tmp_path / "results"


def removal(pages: Pages, name: str, **changes: object) -> tuple[int, dict]:
    """Ask for the removal of a solve with the last save that the list shows; ``changes`` replace parameters."""
    rows = {each["id"]: each for each in pages.ask("/api/folders")["folders"]}
    return pages.send(
        "/api/folders/remove", **({"folder": name, "saved_at": rows[name]["saved_at"]} | changes)
    )


def test_a_solve_and_a_batch_are_removed(folder: Path, tmp_path: Path) -> None:
    results = copied(folder, tmp_path, "turn", "kuhn", "batch")
    (results / "turn.toml").touch()
    pages = Pages(results)
    pages.ask("/api/position", folder="turn")  # the server has the solve open
    for name in ("turn", "batch"):
        assert removal(pages, name) == (200, {"removed": name})
    assert sorted(path.name for path in results.iterdir()) == ["kuhn", "turn.toml"]
    assert pages.refused("/api/position", folder="turn").startswith("folder 'turn': there is no such solve")
    shutil.copytree(folder / "turn", results / "turn")
    assert pages.ask("/api/position", folder="turn")["kind"] == "decision"


@pytest.mark.parametrize(
    "file", ["notes.txt", "play/notes.txt", ".git/config", "turn/manifest.json", "a.lock"]
)
def test_a_folder_with_files_of_others_is_kept(folder: Path, tmp_path: Path, file: str) -> None:
    results = copied(folder, tmp_path, "turn")
    path = results / "turn" / file
    path.parent.mkdir(exist_ok=True)
    path.touch()
    status, found = removal(Pages(results), "turn")
    assert status == 400
    assert "which Spewy did not make" in found["error"]
    assert path.exists()
    assert (results / "turn" / DATA).exists()


def test_no_removal_leads_out_of_the_folders(folder: Path, tmp_path: Path) -> None:
    results = copied(folder, tmp_path, "turn", "kuhn")
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(folder / "turn", elsewhere)
    (results / "link").symlink_to(elsewhere)
    (results / "kuhn" / STATUS).unlink(missing_ok=True)
    (results / "kuhn" / STATUS).symlink_to(elsewhere / DATA)
    pages = Pages(results)
    assert "not below the folders" in removal(pages, "link")[1]["error"]
    assert "which Spewy did not make" in removal(pages, "kuhn")[1]["error"]
    for name in ("../elsewhere", "results/../../elsewhere", "", ".", "results"):
        assert removal(pages, "turn", folder=name)[0] == 400
    assert "not below the folders" in removal(Pages(results / "turn"), "turn")[1]["error"]
    assert "not below the folders" in removal(Pages(results, results / "turn"), "results/turn")[1]["error"]
    assert [(path / DATA).exists() for path in (elsewhere, results / "turn", results / "kuhn")] == [True] * 3


def test_a_folder_in_use_and_a_solve_that_has_changed_are_kept(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = copied(folder, tmp_path, "turn", "batch", "foreign")
    pages = Pages(results)
    for name, used in (("turn", "turn"), ("batch", "batch/Qs7h2d3c")):
        with FolderLock(results / used, "solve"):
            assert "is in use by `spewy solve`" in removal(pages, name)[1]["error"]
    for saved_at in (None, 0, True, "all"):
        assert "has saved since" in removal(pages, "turn", saved_at=saved_at)[1]["error"]
    state = JobState("turn", "running", 0.1, None, "")
    with monkeypatch.context() as patch:
        patch.setattr(JobProcess, "state", lambda self: state)
        assert "turn is being solved" in removal(pages, "turn")[1]["error"]
    assert "lockers of no solve" in removal(pages, "foreign")[1]["error"]
    assert pages.get("/api/folders/remove", folder="turn").status_code == 405
    assert len(list(results.rglob(DATA))) == 3


def test_a_solve_is_deleted_in_the_list_once_its_name_and_size_are_confirmed(
    page: Page, folder: Path, tmp_path: Path
) -> None:
    results = copied(folder, tmp_path, "turn", "kuhn")
    asked: list[str] = []

    def refuse(dialog: Dialog) -> None:
        asked.append(dialog.message)
        dialog.dismiss()

    def confirm(dialog: Dialog) -> None:
        dialog.accept()

    with serving(results) as server:
        open_place(page, server.address)
        rows, button = page.locator(".solves tbody tr"), page.get_by_role("button", name="delete turn")
        page.once("dialog", refuse)
        button.click()
        expect(rows).to_have_count(2)
        assert re.match(r"Delete the solve turn \([\d.]+ [KM]iB\)\?", asked[0])
        page.once("dialog", confirm)
        button.click()
        expect(rows).to_have_count(1)
        assert [path.name for path in results.iterdir()] == ["kuhn"]


def test_a_list_without_any_solve_that_can_be_opened(page: Page, folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder / "cut", tmp_path / "cut")
    with serving(tmp_path) as server:
        open_place(page, server.address)
        expect(page.get_by_text("There is no solve yet.")).to_be_visible()
        expect(page.locator(".broken-solves > li")).to_have_text(f"cut cannot be opened: {DAMAGED}")


def test_the_first_start_has_three_doors_and_an_example(page: Page, tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        open_place(page, server.address)
        doors = page.locator(".doors section")
        expect(doors.locator("h2")).to_have_text(["You play poker", "You do research", "You write bots"])
        for path in doors.locator("code").all_inner_texts():
            assert (EXAMPLES.parent / path).is_file()
        page.get_by_role("button", name="Solve an example and look at it").click()
        expect(page.locator(".stage.here .stage-title")).to_contain_text("oop to act")
        assert page.url.endswith("#look?folder=R1")
        assert (tmp_path / "R1.toml").read_text() == (EXAMPLES / "R1.toml").read_text()
        page.get_by_role("link", name="all solves").click()
        expect(page.locator(".solves tbody th")).to_have_text("R1")
