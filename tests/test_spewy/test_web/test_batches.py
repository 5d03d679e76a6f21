"""Batches in the browser's server: their boards, and reports over the boards."""

from shutil import copytree

import pytest
from cli_runs import TURN, good, good_json, refused, write
from web_client import Pages

from spewy.look.solution import Solution
from spewy.run.session import Session

BOARDS = (
    TURN.replace('board = "Qs 7h 2d 3c"', 'boards = ["Qs 7h 2d 3c", "Kh 9d 6s 2c"]')
    .replace("AhAd,KdQd,JcTc", "AA,KQs:0.7,JTs:0.7")
    .replace("KhKc,8s7s", "KK:0.5,87s:0.5")
)
NAMES = ("Kh9d6s2c", "Qs7h2d3c")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    base = tmp_path_factory.mktemp("batches")
    good("solve", write(base, BOARDS), "--out", base / "solves" / "set", "--jobs", 1)
    (base / "solves" / "set" / "boards.csv").write_text("board,weight\nKh9d6s2c,48\nQs7h2d3c,5\n")
    return base / "solves"


def test_a_batch_names_its_boards_with_their_weights(pages):
    found = pages.ask("/api/summary", folder="set")
    assert found["kind"] == "batch"
    weights = {each["id"]: each["weight"] for each in found["boards"]}
    assert weights == {"set/Kh9d6s2c": 48, "set/Qs7h2d3c": 5}
    assert pages.ask("/api/summary", folder="set/Kh9d6s2c")["batch"] == "set"


@pytest.mark.parametrize("line", ["", "c", "cr50", "cc/"])
def test_a_report_over_boards_is_that_of_the_command(folder, pages, line):
    found = pages.ask("/api/boards", folder="set", line=line)
    told = good_json("report", folder / "set", "--line", line)
    assert {key: found[key] for key in told} == told
    assert (found["not_solved"], found["notes"]) == ([], [])


def test_a_line_leads_through_the_tree(pages):
    first = pages.ask("/api/boards/place", folder="set")
    assert [step["words"] for step in first["steps"]] == ["check", "bet 50 % (50)"]
    assert (first["path"], first["deals"]) == ([], False)
    bet = pages.ask("/api/boards/place", folder="set", line=first["steps"][1]["line"])
    (before,) = bet["path"]
    assert (before["kind"], before["line"], before["player"]) == ("decision", "", 0)
    assert [step["words"] for step in before["steps"]] == ["check", "bet 50 % (50)"]
    assert before["taken"] == 1
    assert [(step["name"], step["kind"]) for step in bet["steps"]] == [("fold", "fold"), ("call", "chance")]
    river = pages.ask("/api/boards/place", folder="set", line=bet["steps"][1]["line"])
    assert (river["line"], river["deals"], river["kind"]) == ("r50c/", True, "decision")


def test_a_board_without_a_saved_strategy_is_named(folder, tmp_path):
    home = tmp_path / "set"
    home.mkdir()
    copytree(folder / "set" / NAMES[1], home / NAMES[1])
    (home / "boards.csv").write_text("board,weight\nKh9d6s2c,48\nQs7h2d3c,5\nAs9d6s2c,5\n")
    with Solution.open(folder / "set" / NAMES[0]) as solution:
        Session(solution.job, home / NAMES[0]).close()
    pages = Pages(tmp_path)
    found = pages.ask("/api/boards", folder="set")
    assert found["not_solved"] == [NAMES[0]]
    assert list(found["boards"]) == [NAMES[1]]
    assert found["notes"] == ["1 of 3 boards are missing, such as As9d6s2c; the average is without them"]
    assert pages.ask("/api/summary", folder="set")["missing"] == ["As9d6s2c"]


def test_errors_name_what_is_wrong(folder, pages):
    wrong = pages.refused("/api/boards", folder="set", line="q")
    assert wrong == refused("report", folder / "set", "--line", "q").removeprefix("Error: ")
    assert "expected the folder of a batch" in pages.refused("/api/boards", folder="set/Kh9d6s2c")
    assert "there is no such solve" in pages.refused("/api/boards/place", folder="nothing")
