"""Folders that are deleted, replaced or cut off between two requests, and answers that could mix two saves."""

import os
import shutil
import threading
import time
from pathlib import Path

import pytest
from bot_games import NO_LIMIT_GAME, folder_of
from cli_runs import KUHN, TURN, good, process, write
from naive_spots import BOARDS, solve, unraked
from web_client import Pages
from web_server import serving

from lockers import DATA
from spewy.errors import InputError
from spewy.look.solution import Solution
from spewy.look.status import progress_of
from spewy.web import background
from spewy.web.background import Background
from spewy.web.readers import Readers

BATCH = [f"batch/{board}" for board in sorted(BOARDS[::2])]
NAMES = ["spot", "kuhn", "game", "batch", *BATCH]
QUESTIONS = [
    *("summary", "position", "curves", "ranges", "reports", "report", "chunk", "bucket"),
    *("comparable", "comparison", "boards/place", "boards", "jobs/progress", "setup/solve"),
]
"""All questions about a solve or a batch whose answers are JSON."""
GONE = "there is no such solve; it may have been renamed or deleted"
DAMAGED = "the saved solve is damaged; restore its folder from a copy, or solve its job again: "


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Two folders, ``old`` and ``new``, of solves with the same names and other pots or progress."""
    models = tmp_path_factory.mktemp("models")
    for name, pot, sweeps, deals in (("old", 100, 5, 50), ("new", 60, 7, 70)):
        folder = models / name
        folder.mkdir()
        good("solve", write(models, TURN.replace("pot = 100", f"pot = {pot}")), "--out", folder / "spot")
        good("solve", write(models, KUHN), "--out", folder / "kuhn", "--set", f"solve.max_sweeps={sweeps}")
        folder_of(tmp_path_factory.mktemp("game"), NO_LIMIT_GAME, deals=deals).rename(folder / "game")
        (folder / "batch").mkdir()
        for board in BOARDS[::2]:
            solve(folder / "batch", unraked(board).replace("pot = 200", f"pot = {2 * pot}"), board)
    return models


@pytest.fixture
def root(models, tmp_path):
    """A copy of the old solves, and of one of them as ``other``, which no test changes."""
    shutil.copytree(models / "old", tmp_path / "results")
    shutil.copytree(models / "old" / "spot", tmp_path / "results" / "other")
    return tmp_path / "results"


def answer(server, question, name):
    """Status and JSON of the answer to a question, asked until it is there."""
    limit = time.monotonic() + 60
    while (found := server.status(f"api/{question}", folder=name, **{"with": "other"}))[0] == 202:
        assert time.monotonic() < limit
        time.sleep(0.05)
    return found


def answers(server):
    return {(name, question): answer(server, question, name) for name in NAMES for question in QUESTIONS}


def sessions(server):
    """Sessions of people who play and train, by the path of their requests: pairs of a name and a state."""
    found = {"play": [], "train": []}
    for path, names in (("play", ("spot", "kuhn", "game", "batch")), ("train", ("spot", "batch"))):
        for name in names:
            status, state = server.send(f"api/{path}/new", folder=name, seed=1)
            assert status == 200, state
            found[path].append((name, state))
    return found


def session_answers(server, begun):
    """Answers to all requests of sessions that were begun before: pairs of a name and (status, JSON)."""
    for name, state in begun["play"]:
        session = {"session": state["session"]}
        yield name, server.status("api/play/state", **session)
        yield name, server.send("api/play/act", **session, action="c")
        yield name, server.send("api/play/next", **session)
    for name, state in begun["train"]:
        session, action = {"session": state["session"]}, state["question"]["actions"][0]
        yield name, server.send("api/train/answer", **session, action=action)
        yield name, server.send("api/train/next", **session)


def require_running(server):
    """The server goes on serving other solves."""
    assert server.ask("api/position", folder="other")["pot"] == 100
    assert [entry["id"] for entry in server.ask("api/folders")["folders"]]


def require_error(found, text):
    status, content = found
    assert status == 400, content
    assert list(content) == ["error"]
    assert "\n" not in content["error"]
    assert text in content["error"]


def test_deleted_folders(root: Path) -> None:
    server = Pages(root)
    before, begun = answers(server), sessions(server)
    assert {status for status, _ in before.values()} == {200, 400}
    for name in ("spot", "kuhn", "game", "batch"):
        shutil.rmtree(root / name)
    for found in answers(server).values():
        require_error(found, GONE)
    for name, found in session_answers(server, begun):
        require_error(found, f"folder '{name}' was replaced or deleted since you began; start again")
    require_running(server)


def test_replaced_folders(models: Path, root: Path) -> None:
    """All answers are those of a server that has never seen the old solves."""
    server = Pages(root)
    before, begun = answers(server), sessions(server)
    for name in ("spot", "kuhn", "game", "batch"):
        shutil.rmtree(root / name)
        shutil.copytree(models / "new" / name, root / name)
    after = answers(server)
    assert after == answers(Pages(root))
    for name in NAMES:
        assert after[name, "jobs/progress"] != before[name, "jobs/progress"]
        if name != "batch":
            assert after[name, "position"] != before[name, "position"]
    for name, found in session_answers(server, begun):
        require_error(found, f"folder '{name}' was replaced or deleted since you began; start again")
    require_running(server)


def test_data_files_that_were_cut_off(root: Path) -> None:
    """Reading a page that a data file lacks would end the server, which is a process of its own here."""
    with serving(root) as server:
        before, begun = answers(server), sessions(server)
        for name in ("spot", "kuhn", "game", "batch"):
            for path in (root / name).rglob(DATA):
                os.truncate(path, path.stat().st_size // 2)
        for (name, question), found in answers(server).items():
            if name == "batch" and question == "summary":
                assert found == before[name, question]  # the names of the boards
            elif before[name, question][0] == 200:
                require_error(found, DAMAGED)
            else:
                assert found[0] == 400
        for _, found in session_answers(server, begun):
            require_error(found, DAMAGED)
        require_running(server)
        code, text = server.end()
    assert (code, "Traceback" in text) == (130, False)


def test_a_damaged_board_of_a_batch(root: Path) -> None:
    pages = Pages(root)
    path = root / BATCH[1] / DATA
    os.truncate(path, path.stat().st_size // 2)
    first, second = pages.ask("/api/jobs/progress", folder="batch")["boards"]
    assert first["solve"]["saved"] > 0
    assert second["solve"] is None
    assert f"{DATA}: expected " in second["problem"]


def test_an_answer_is_forgotten_if_the_solve_was_replaced_meanwhile(
    models: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page that waits for the answer gets that of the new solve; after a save it would get the old one, once."""
    monkeypatch.setattr(background, "FIRST_WAIT", 0.0)
    pages, question = Pages(root), {"folder": "batch"}
    assert pages.get("/api/boards", **question).status_code == 202
    time.sleep(1.0)
    shutil.rmtree(root / "batch")
    shutil.copytree(models / "new" / "batch", root / "batch")
    assert pages.ask("/api/boards", **question) == Pages(root).ask("/api/boards", **question)


def test_matrices_and_rows_of_a_chunk_are_those_of_one_save(
    root: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(background, "FIRST_WAIT", 0.0)
    pages = Pages(root)
    assert pages.get("/api/chunk", folder="kuhn").status_code == 202
    time.sleep(1.0)
    good("solve", write(tmp_path, KUHN), "--out", root / "kuhn", "--set", "solve.max_sweeps=50")
    assert pages.ask("/api/chunk", folder="kuhn") == Pages(root).ask("/api/chunk", folder="kuhn")


def test_exact_answers_of_another_version_are_computed_anew() -> None:
    found = Background()
    try:
        for version, exact, value in ((1, False, 1), (2, False, 2), (3, True, 3), (3, True, 3)):
            assert found.answer("question", version, lambda _, version=version: version, exact=exact) == value
    finally:
        found.close()


def test_a_computation_pauses_while_a_click_is_answered() -> None:
    found, steps = Background(), [threading.Event() for _ in range(2)]

    def work(progress) -> str:
        for number, step in enumerate(steps):
            progress(number, len(steps))
            step.set()
        return "done"

    try:
        with found.pausing():
            assert found.answer("question", 1, work).status_code == 202
            assert not steps[0].wait(0.2)
        assert steps[1].wait(10.0)
        assert found.answer("question", 1, work) == "done"
    finally:
        found.close()


def test_a_solve_that_is_replaced_while_it_is_opened(
    models: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reader's snapshot and its solution are those of one file."""
    folder, opened = root / "spot", Solution.open.__func__
    replacing = [True]

    def replace_first(cls, path, *arguments):
        if replacing.pop():
            shutil.rmtree(folder)
            shutil.copytree(models / "new" / "spot", folder)
        replacing.append(False)
        return opened(cls, path, *arguments)

    monkeypatch.setattr(Solution, "open", classmethod(replace_first))
    readers = Readers()
    try:
        with readers.solution(folder) as solution:
            assert solution.problem.pot == 60
            # A solve that saves during the answer does not change the answer.
            before = solution.checked_pct
            job = write(root.parent, TURN.replace("pot = 100", "pot = 60"))
            process("solve", job, "--out", folder, "--set", 'solve.target="0.01%"').check_returncode()
            assert solution.checked_pct == before
    finally:
        readers.close()


def test_a_solve_that_is_replaced_all_the_time(
    models: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, opened = root / "spot", Solution.open.__func__

    def replace(cls, path, *arguments):
        shutil.rmtree(folder)
        shutil.copytree(models / "new" / "spot", folder)
        return opened(cls, path, *arguments)

    monkeypatch.setattr(Solution, "open", classmethod(replace))
    readers = Readers()
    try:
        with pytest.raises(InputError, match="is being replaced; try again"), readers.solution(folder):
            pytest.fail("the solution may mix two solves")
    finally:
        readers.close()


def test_the_trace_of_a_whole_game_is_that_of_the_opened_save(models: Path, root: Path) -> None:
    """The trace lies in another file than the strategies, which a later save or another solve may have changed."""
    game = root / "game"
    with Solution.open(game) as solution:
        shutil.rmtree(game)
        shutil.copytree(models / "new" / "game", game)
        assert list(solution.trace()["sweeps"]) == []
    with Solution.open(game) as solution:
        assert list(solution.trace()["sweeps"]) == [70]
    with Solution.open(game) as solution:
        shutil.rmtree(game)
        shutil.copytree(models / "new" / "kuhn", game)
        with pytest.raises(InputError, match="another solve has replaced the one that was opened"):
            solution.trace()


def test_a_curve_ends_where_the_status_ends(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A solve may save between the reads of its status and of its curve."""
    from spewy.look import status

    read, early = status.status_of, progress_of(root / "spot").curve[:2]
    assert len(early) == 2

    def status_before_the_last_checks(folder):
        found = read(folder)
        return status.replace(found, deals=early[-1][0])

    monkeypatch.setattr(status, "status_of", status_before_the_last_checks)
    assert progress_of(root / "spot").curve == early
