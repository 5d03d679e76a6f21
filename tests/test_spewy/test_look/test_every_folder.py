"""Commands that look take every kind of folder: whole games with board buckets, and batches."""

import pandas as pd
import pytest
from cli_runs import LEDUC, TURN, good, good_json, refused, write
from dealt_jobs import DEALT_LEDUC

import spewy


@pytest.fixture(scope="module")
def leduc(tmp_path_factory):
    """Leduc with board buckets."""
    folder = tmp_path_factory.mktemp("leduc")
    good("solve", write(folder, DEALT_LEDUC), "--out", folder / "out", "--set", "solve.max_sweeps=100")
    return folder / "out"


@pytest.fixture(scope="module")
def batches(tmp_path_factory):
    """A batch of two turns, and one with another stack of which one turn is the first batch's."""
    folder = tmp_path_factory.mktemp("batches")
    job = spewy.Job.load(write(folder, TURN)).replace(max_sweeps=10)
    boards = ["Qs 7h 2d 3c", "Qs 7h 2d 4c"]
    spewy.solve_batch(job, boards, folder / "a", jobs=1)
    spewy.solve_batch(job.replace(max_sweeps=3), [boards[1], "Qs 7h 2d 5c"], folder / "b", jobs=1)
    return folder / "a", folder / "b"


@pytest.mark.parametrize("part", ["", "play"], ids=["solve", "strategy locker"])
def test_a_whole_game_with_board_buckets_is_looked_at(leduc, part):
    folder = leduc / part
    decision = good_json("show", folder, "--line", "cc/", "--board", "Kh")
    assert decision["board_bucket"] in range(6)
    assert 0 < decision["hands"]["Ks"]["ev"] < 5
    report = good_json("report", folder, "--line", "cc")
    assert sum(card["weight"] for card in report["cards"].values()) == pytest.approx(1)
    comparison = good_json("compare", folder, folder, "--line", "c")
    assert all(hand["moved"] == 0 for hand in comparison["hands"].values())
    assert good_json("exploit", folder, "--workers", 1)["flops"] == 6
    assert good_json("status", folder)["saved_deals"] == 100


def test_board_buckets_are_exported_row_by_row(leduc, tmp_path):
    good("export", leduc, tmp_path / "all.csv")
    table = pd.read_csv(tmp_path / "all.csv", keep_default_na=False)
    assert list(table) == ["round", "board_bucket", "line", "player", "hand_bucket", "action", "frequency"]
    with spewy.open_policy(leduc) as policy:
        saved = policy.strategies.saved
        node = policy.node("cr", None)
    assert table.groupby("round")["board_bucket"].nunique().to_dict() == {
        "preflop": saved.board_buckets[0],
        "flop": saved.board_buckets[1],
    }
    keys = ["round", "board_bucket", "line", "hand_bucket"]
    assert table.groupby(keys)["frequency"].sum().to_numpy() == pytest.approx(1)
    some = table[table.line == "cr"]
    assert len(some) == saved.rows[0] * len(node.actions)
    good("export", leduc, tmp_path / "wide.parquet", "--round", "flop", "--player", "oop", "--wide")
    wide = pd.read_parquet(tmp_path / "wide.parquet")
    assert set(wide["player"]) == {0}
    assert wide["board_bucket"].dtype == "int64"


def test_one_board_of_a_whole_game_is_exported_hand_by_hand(leduc, tmp_path):
    good("export", leduc, tmp_path / "one.csv", "--board", "Kh", "--line", "cc/")
    table = pd.read_csv(tmp_path / "one.csv")
    shown = good_json("show", leduc, "--line", "cc/", "--board", "Kh")
    for hand, row in shown["hands"].items():
        mine = table[table.hand == hand]
        assert mine.frequency.tolist() == pytest.approx(row["strategy"])
        assert mine.ev.iloc[0] == pytest.approx(row["ev"])
    good("export", leduc, tmp_path / "first.csv", "--board", "", "--line", "")
    assert set(pd.read_csv(tmp_path / "first.csv").hand) == {"Ah", "As", "Kh", "Ks", "Qh", "Qs"}


def test_a_batch_is_looked_at(batches, tmp_path):
    a = batches[0]
    shown = good_json("show", a, "--board", "Qs 7h 2d 4c")
    assert shown == good_json("show", a / "Qs7h2d4c")
    river = good_json("show", a, "--line", "cc/", "--board", "Qs 7h 2d 4c Kh")
    assert river["player"] == 0
    assert "is a batch of 2 boards; name one with --board: Qs7h2d3c, Qs7h2d4c" in refused("show", a)
    gaps = good_json("exploit", a)
    assert [gap["folder"] for gap in gaps] == [str(a / "Qs7h2d3c"), str(a / "Qs7h2d4c")]
    assert [each["name"] for each in good_json("status", a)] == ["turn", "turn"]
    good("export", a, tmp_path / "all.csv", "--round", "turn")
    table = pd.read_csv(tmp_path / "all.csv", keep_default_na=False)
    assert set(table.board) == {"Qs7h2d3c", "Qs7h2d4c"}
    good("export", a, tmp_path / "one.csv", "--board", "Qs 7h 2d 4c")
    assert set(pd.read_csv(tmp_path / "one.csv").board) == {"Qs7h2d4c"}


def test_two_batches_are_compared_board_by_board(batches, tmp_path):
    a, b = batches
    told = good_json("compare", a, b, "--csv", tmp_path / "boards.csv")
    assert told["only"] == [["Qs7h2d3c"], ["Qs7h2d5c"]]
    assert list(told["boards"]) == ["Qs7h2d4c"]
    row = told["boards"]["Qs7h2d4c"]
    one = good_json("compare", a / "Qs7h2d4c", b / "Qs7h2d4c")
    assert row["frequencies"] == one["frequencies"]
    assert row["ev"] == [ev[0] for ev in one["ev"]]
    assert told["average"]["moved"] == row["moved"]
    assert pd.read_csv(tmp_path / "boards.csv").board.tolist() == ["Qs7h2d4c"]
    text = good("compare", a, b)
    assert "only in A  Qs7h2d3c" in text
    assert text.splitlines()[-1].startswith("all")
    alone = good("compare", a, b, "--board", "Qs 7h 2d 4c")
    assert "\nmoved" in alone
    for option in (("--sort", "hand"), ("--all",)):
        said = f"{option[0]} has no effect for two batches, whose boards are compared; remove it"
        assert said in refused("compare", a, b, *option)


def test_what_is_neither_is_refused(leduc, batches, tmp_path):
    job = write(tmp_path, LEDUC)
    good("solve", job, "--out", tmp_path / "walked", "--set", "solve.max_sweeps=2")
    assert "is a batch" in refused("compare", batches[0], tmp_path / "walked")
    (tmp_path / "empty").mkdir()
    for command in (["show"], ["exploit"], ["status"]):
        assert "holds no solve" in refused(*command, tmp_path / "empty")
