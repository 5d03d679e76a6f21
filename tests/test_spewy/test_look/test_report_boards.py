"""Reports over boards: each as its own solve says, weighted by what it stands for and how likely it is."""

import json

import numpy as np
import pandas as pd
import pytest
from cli_runs import TURN, good, good_json, refused, spewy, write
from test_report import meets, played

from buckets.abstraction import flop_subset
from spewy.look.solution import Solution
from spewy.run.session import Session

BOARDS = (
    TURN.replace('board = "Qs 7h 2d 3c"', 'boards = ["Qs 7h 2d 3c", "Qh 7h 2d 3d", "Kh 9d 6s 2c"]')
    .replace("AhAd,KdQd,JcTc", "AA,KQs:0.7,JTs:0.7")
    .replace("KhKc,8s7s", "KK:0.5,87s:0.5")
    .replace('"turn"', '"turns"')
)
NAMES = ("Kh9d6s2c", "Qh7h2d3d", "Qs7h2d3c")
FLOPS = """
name = "flops"
[game]
file = "holdem.nolimit.2p.reverse_blinds"
[spot]
boards = { subset = 2 }
pot = 100
stack = 50
oop = "AKs,QQ"
ip = "JJ,T9s"
[bets.flop]
bet = "a"
[solve]
target = "5%"
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    base = tmp_path_factory.mktemp("boards")
    good("solve", write(base, BOARDS), "--out", base / "turns", "--jobs", 1)
    return base / "turns"


def test_rows_are_what_show_says(folder):
    found = good_json("report", folder)
    assert list(found) == ["line", "player", "actions", "pot", "boards", "average", "not_solved"]
    assert tuple(found["boards"]) == NAMES
    weights = []
    for name, row in found["boards"].items():
        with Solution.open(folder / name) as solution:
            view = solution.node()
            np.testing.assert_allclose(row["frequencies"], view.frequencies, atol=1e-12)
            own, other = played(view), played(solution.node("c"))
            likely = np.array([own[hand] * meets(hand, other) for hand in own])
            assert row["ev"][0] == pytest.approx(likely @ np.nan_to_num(view.ev) / likely.sum())
            weights.append(likely.sum() * row["stands_for"])
    shares = np.array(weights) / sum(weights)
    np.testing.assert_allclose([row["weight"] for row in found["boards"].values()], shares, rtol=1e-9)
    evs = np.array([row["ev"] for row in found["boards"].values()])
    assert found["average"]["ev"] == pytest.approx(shares @ evs)


def test_boards_stand_for_those_like_them(folder):
    found = good_json("report", folder)["boards"]
    assert [row["stands_for"] for row in found.values()] == [24, 12, 24]


def test_weights_beside_the_boards_count(folder, tmp_path):
    for name in NAMES:
        (tmp_path / name).symlink_to(folder / name)
    equal = good_json("report", *(folder / name for name in NAMES))
    (tmp_path / "boards.csv").write_text("board,weight\nKh9d6s2c,48\nQhQs7s3d,5\nQs7h3c2d,24\nQh7h2d3d,12\n")
    result = spewy("report", tmp_path, "--json")
    found = json.loads(result.stdout)
    assert found["boards"]["Kh9d6s2c"]["stands_for"] == 48
    weights = [{name: row["weight"] for name, row in report["boards"].items()} for report in (found, equal)]
    ratios = [weight["Kh9d6s2c"] / weight["Qs7h2d3c"] for weight in weights]
    assert ratios[0] == pytest.approx(2 * ratios[1])
    assert "1 of 4 boards are missing, such as" in result.stderr


@pytest.mark.parametrize(
    "text", ["", "board\n", "board,weight\nQs7h2d3c\n", "board,weight\nQsQs,1\n", "board,weight\nQs7h2d,-1\n"]
)
def test_weights_that_are_none_are_told_by_line(folder, tmp_path, text):
    (tmp_path / NAMES[0]).symlink_to(folder / NAMES[0])
    (tmp_path / "boards.csv").write_text(text)
    line = 2 if text.startswith("board,") else 1
    assert f"boards.csv, line {line}: expected" in refused("report", tmp_path)


def test_a_board_without_a_weight_is_named(folder, tmp_path):
    for name in NAMES:
        (tmp_path / name).symlink_to(folder / name)
    weights = tmp_path / "boards.csv"
    weights.write_text("board,weight\nKh9d6s2c,48\nQs7h2d3c,24\n")
    for command in (("report", tmp_path), ("compare", tmp_path, tmp_path)):
        expected = "boards.csv: expected a weight for each board of the folder, found none for Qh7h2d3d; add"
        assert expected in refused(*command)
    good("show", tmp_path, "--board", "Qh7h2d3d")
    weights.write_text("board,weight\nKh9d6s2c,48\nQs7h2d3c,24\nQh7h2d3d,0\n")
    found = good_json("report", tmp_path)["boards"]
    assert found.keys() == {"Kh9d6s2c", "Qs7h2d3c"}
    weights.write_text("board,weight\nKh9d6s2c,0\nQs7h2d3c,0\nQh7h2d3d,0\n")
    assert "expected a board with a weight above 0" in refused("report", tmp_path)


def test_rows_tell_how_far_each_solve_is(folder, tmp_path):
    lines = good("report", folder, "--csv", tmp_path / "boards.csv").splitlines()
    table = pd.read_csv(tmp_path / "boards.csv", index_col="board")
    for name, row in good_json("report", folder)["boards"].items():
        measured = good_json("exploit", folder / name)
        assert row["sweeps"] == measured["sweeps"] == table.sweeps[name] > 0
        assert row["exploitability_pct"] == pytest.approx(measured["exploitability_pct"], rel=1e-4)
        assert row["exploitability_pct"] == pytest.approx(table.exploitability_pct[name])
        told = next(line for line in lines if line.startswith(name))
        assert told.split()[-2:] == [str(row["sweeps"]), f"{row['exploitability_pct']:.3f}%"]
    good("report", folder, "--sort", "exploitability_pct")


def test_a_folder_that_was_never_saved_is_named_and_left_out(folder, tmp_path):
    """Otherwise uniform play on an unsaved board would count in the average as if it were a result."""
    for name in NAMES[1:]:
        (tmp_path / name).symlink_to(folder / name)
    with Solution.open(folder / NAMES[0]) as solution:
        job = solution.job
    Session(job, tmp_path / NAMES[0]).close()
    result = spewy("report", tmp_path, "--json")
    found = json.loads(result.stdout)
    assert found["not_solved"] == [str(tmp_path / NAMES[0])]
    assert f"{NAMES[0]}: not solved yet" in result.stderr
    assert found["boards"] == good_json("report", *(folder / name for name in NAMES[1:]))["boards"]
    assert f"not solved yet  {tmp_path / NAMES[0]}\n" in good("report", tmp_path)
    alone = refused("report", tmp_path / NAMES[0], tmp_path / NAMES[0])
    assert alone.startswith(f"Error: folder {tmp_path / NAMES[0]}: not solved yet")


def test_boards_have_one_name_everywhere(tmp_path):
    """Folders, weights, exports, reports and JSON can be joined by the name, however the job spells the board."""
    job = FLOPS.replace("{ subset = 2 }", '["2c 8c Jd", "Ks 7h 2d"]').replace('"flops"', '"joined"')
    out = tmp_path / "out"
    told = good_json("solve", write(tmp_path, job), "--out", out, "--jobs", 1)
    names = {"Jd8c2c", "Ks7h2d"}
    assert {path.name for path in out.iterdir()} == {each["board"] for each in told} == names
    for table in ("report.csv", "report.parquet", "report.json"):
        good("report", out, "--csv", tmp_path / table)
    reported = pd.read_csv(tmp_path / "report.csv")
    assert reported.board.tolist() == pd.read_parquet(tmp_path / "report.parquet").board.tolist()
    assert reported.board.tolist() == pd.read_json(tmp_path / "report.json").board.tolist()
    assert set(reported.board[:-1]) == set(good_json("report", out)["boards"]) == names
    for name in names:
        for suffix in (".csv", ".parquet"):
            good("export", out / name, tmp_path / f"flop{suffix}", "--round", "flop", "--wide")
        exported = pd.read_csv(tmp_path / "flop.csv")
        assert pd.read_parquet(tmp_path / "flop.parquet").board.equals(exported.board)
        joined = exported.merge(reported, on=["board", "player"])
        assert set(joined.board) == {name}
        assert good("show", out / name, "--board", name).splitlines()[1].replace(" ", "") == f"board{name}"
        good("export", out / name, tmp_path / "turn.csv", "--round", "turn", "--line", "cc/")
        good("report", out / name, "--line", "cc/", "--csv", tmp_path / "cards.csv")
        cards, turns = pd.read_csv(tmp_path / "cards.csv"), pd.read_csv(tmp_path / "turn.csv").board
        assert set(turns) <= set(cards.board + cards.card)
    swapped = refused("report", out / "Jd8c2c", "--line", "cc/", "--board", "Js 8c 2c")
    assert "expected to begin with Jd8c2c, found Js8c2c" in swapped


def test_a_line_after_a_deal_is_over_its_cards(folder):
    found = good_json("report", folder, "--line", "cc/")["boards"]
    for name, row in found.items():
        expected = good_json("report", folder / name, "--line", "cc/")["average"]
        assert row["ev"] == pytest.approx(expected["ev"])
        assert row["frequencies"] == pytest.approx(expected["frequencies"])


def test_rows_come_in_the_order_asked_for(folder, tmp_path):
    file = tmp_path / "boards.csv"
    lines = good("report", folder, "--sort", "ev_ip", "--csv", file).splitlines()
    table = pd.read_csv(file)
    evs = table.ev_ip[:-1].tolist()
    assert evs == sorted(evs, reverse=True)
    assert [line.split()[0] for line in lines[-4:]] == table.board.tolist()
    assert table.board.tolist()[-1] == "all"
    good("report", folder, "--sort", "ev_ip", "--ascending", "--csv", file)
    assert pd.read_csv(file).ev_ip[:-1].tolist() == evs[::-1]


def test_cards_come_in_the_order_asked_for(folder):
    found = good_json("report", folder / NAMES[0], "--line", "cc/", "--sort", "equity_oop")["cards"]
    shares = [row["equity"][0] for row in found.values()]
    assert shares == sorted(shares, reverse=True)


def test_files_are_there_before_the_table_is_printed(folder, tmp_path, monkeypatch):
    def breaks(found):
        raise BrokenPipeError

    monkeypatch.setattr("spewy.cli.report._table", breaks)
    spewy("report", folder, "--csv", tmp_path / "x.csv", "--plot", tmp_path / "x.png")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.csv", "x.png"]


def test_a_subset_is_solved_and_reported_with_its_weights(tmp_path):
    out = tmp_path / "out"
    good("solve", write(tmp_path, FLOPS), "--out", out, "--jobs", 1)
    named = flop_subset(2).named()
    rows = ["board,weight", *(f"{flop},{n}" for flop, n in named.items())]
    assert (out / "boards.csv").read_text().splitlines() == rows
    found = good_json("report", out)["boards"]
    assert {name: row["stands_for"] for name, row in found.items()} == named
    assert sorted(path.name for path in out.iterdir() if path.is_dir()) == sorted(named)


@pytest.mark.parametrize(
    "subset", ["{ subset = 0 }", "{ subset = 1756 }", "{ subset = 2.5 }", "{ flops = 3 }", "{}"]
)
def test_subsets_that_are_none_are_refused(tmp_path, subset):
    job = write(tmp_path, FLOPS.replace("{ subset = 2 }", subset))
    assert "expected { subset = N } with N from 1 to 1,755" in refused("estimate", job)


def test_a_subset_wants_ranges_without_suits(tmp_path):
    job = write(tmp_path, FLOPS.replace("AKs,QQ", "AhKh,QQ"))
    assert "spot.oop: a range with single suits" in refused("solve", job, "--out", tmp_path / "out")
    job, out = write(tmp_path, FLOPS), tmp_path / "out"
    for lock in ("[AhKh]: check", f"@{next(iter(flop_subset(2).named()))}: check"):
        said = refused("estimate", job, "--lock", lock)
        assert "lock 1, line '': a lock of one board or of single suits cannot be used with a subset" in said
    good("solve", job, "--out", out, "--jobs", 1, "--set", "solve.max_sweeps=1", "--lock", "[AKs]: check")
    for name in flop_subset(2).named():
        hands = good_json("show", out / name)["hands"]
        assert {tuple(row["strategy"]) for hand, row in hands.items() if hand[::2] == "AK"} == {(1.0, 0.0)}


def test_places_where_there_is_no_report(folder, small, tmp_path):
    twice = ("report", folder / NAMES[0], folder / NAMES[0])
    assert "another folder has the board Kh9d6s2c, too" in refused(*twice)
    assert "found none" in refused("report", tmp_path)
    assert "--board has no effect with several solves" in refused("report", folder, "--board", "Qs 7h 2d 3c")
    assert "column 'best': expected one of board, " in refused("report", folder, "--sort", "best")
    assert "expected one of check (c)" in refused("report", folder, "--line", "zz")
    assert "expected the same oop as in" in refused("report", folder / NAMES[0], small / "turn")
    assert "expected a spot" in refused("report", small / "kuhn", small / "kuhn")
