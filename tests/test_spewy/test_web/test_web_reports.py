"""Reports over next cards in the browser's server."""

import shutil

import pytest
from cli_runs import KUHN, TURN, good, good_json, refused, write
from web_client import Pages

from spewy.look.solution import Solution

TWO_CARDS = """
GAMEDEF
limit
numPlayers = 2
numRounds = 2
blind = 1 1
raiseSize = 2 4
firstPlayer = 1 1
maxRaises = 1 1
numSuits = 2
numRanks = 4
numHoleCards = 1
numBoardCards = 0 2
END GAMEDEF
"""


@pytest.fixture(scope="module")
def folder(small):
    return small


@pytest.mark.parametrize(
    ("name", "line"), [("turn", "cc"), ("turn", "cr50c"), ("turn", "cc/c"), ("leduc", "cc")]
)
def test_a_report_is_that_of_the_command(folder, pages, name, line):
    found = pages.ask("/api/report", folder=name, line=line)
    told = good_json("report", folder / name, "--line", line)
    assert {key: found[key] for key in told} == told
    assert len(found["colours"]) == len(found["action_words"]) == len(told["actions"])
    assert pages.get("/api/report", folder=name, line=line).status_code == 200


@pytest.mark.parametrize(("name", "line"), [("turn", "cr50c"), ("leduc", "cc")])
def test_the_csv_is_the_file_of_the_command(folder, pages, tmp_path, name, line):
    good("report", folder / name, "--line", line, "--csv", tmp_path / "cards.csv")
    assert (
        pages.whole("/api/report.csv", folder=name, line=line).content
        == (tmp_path / "cards.csv").read_bytes()
    )


def test_reports_are_offered_for_checks_to_come_and_for_the_decision_itself(pages):
    def offered(line, **query):
        places = pages.ask("/api/reports", folder="turn", line=line, **query)["places"]
        return [(place["id"], place["line"], place["board"]) for place in places]

    assert offered("") == offered("c") == offered("cc") == [("next", "cc", "Qs7h2d3c")]
    assert offered("cr50") == [("next", "cr50c", "Qs7h2d3c")]
    assert offered("cc/c", board="Qs7h2d3cAs") == [("here", "cc/c", "Qs7h2d3c")]
    assert offered("r50f") == []


def test_games_without_public_cards_have_no_reports(pages):
    assert pages.ask("/api/reports", folder="kuhn")["places"] == []
    (place,) = pages.ask("/api/reports", folder="leduc", line="c")["places"]
    assert place["id"] == "next"


def test_a_report_of_a_dropped_round_is_announced_as_slow(folder, pages, tmp_path):
    shutil.copytree(folder / "turn", tmp_path / "turn")
    good("drop", tmp_path / "turn", "--round", "river")
    (place,) = Pages(tmp_path / "turn").ask("/api/reports", folder="turn", line="cc")["places"]
    assert place["slow"] == "the river is solved again for each card, since its strategies were not kept"
    (kept,) = pages.ask("/api/reports", folder="turn", line="cc")["places"]
    assert kept["slow"] == ""


def test_a_report_follows_a_solve_that_goes_on(tmp_path):
    job = write(tmp_path, TURN.replace('target = "0.5%"', 'target = "20%"'))
    good("solve", job, "--out", tmp_path / "turn")
    pages = Pages(tmp_path / "turn")
    before = pages.ask("/api/report", folder="turn", line="cc")
    good("solve", job, "--out", tmp_path / "turn", "--set", "solve.target=0.1%")
    after = pages.ask("/api/report", folder="turn", line="cc")
    assert after["cards"] != before["cards"]
    with Solution.open(tmp_path / "turn") as solution:
        assert after["average"]["ev"] == pytest.approx(solution.report("cc").average.ev)


def test_one_deal_stands_for_all_that_are_equal_up_to_suits(tmp_path):
    (tmp_path / "two.game").write_text(TWO_CARDS)
    job = write(tmp_path, KUHN.replace('"kuhn"', f'"{tmp_path / "two.game"}"'))
    good("solve", job, "--out", tmp_path / "two", "--set", "solve.max_sweeps=5")
    told = good_json("report", tmp_path / "two", "--line", "cc")
    found = Pages(tmp_path / "two").ask("/api/report", folder="two", line="cc")
    assert found["average"] == told["average"]
    assert sum(row["count"] for row in found["cards"].values()) == len(told["cards"]) == 28
    for name, row in found["cards"].items():
        ranks = sorted([name[0], name[2]])
        suited = name[1] == name[3]
        same = [
            other
            for cards, other in told["cards"].items()
            if sorted([cards[0], cards[2]]) == ranks and (cards[1] == cards[3]) == suited
        ]
        assert row["count"] == len(same)
        assert row["weight"] == pytest.approx(sum(other["weight"] for other in same))
        assert all(other["ev"] == row["ev"] for other in same)


def test_errors_name_what_is_wrong(folder, pages):
    wrong = pages.refused("/api/report", folder="turn", line="c")
    assert wrong == refused("report", folder / "turn", "--line", "c").removeprefix("Error: ")
    assert "there is no such solve" in pages.refused("/api/report", folder="none")
    assert "there is no such solve" in pages.refused("/api/reports", folder="none")
    assert "board: expected 4 cards" in pages.refused("/api/report", folder="turn", line="cc", board="Qs7h2d")
