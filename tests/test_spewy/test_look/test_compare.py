"""Two solves at one decision: differences of what show says, and games that cannot be compared."""

import numpy as np
import pandas as pd
import pytest
from cli_runs import TURN, good, good_json, refused, spewy, write

LOCK = '[[lock]]\nline = ""\nstrategy = { Check = 1 }\n'


@pytest.fixture(scope="module")
def folders(small, tmp_path_factory):
    base = tmp_path_factory.mktemp("compared")
    for name in ("turn", "polarised", "kuhn"):
        (base / name).symlink_to(small / name)
    for name, text in (
        ("locked", TURN + LOCK),
        ("larger", TURN.replace('bet = "50%"', 'bet = "75%"')),
        ("board", TURN.replace("Qs 7h 2d 3c", "Qs 7h 2d 4c")),
    ):
        good("solve", write(base, text, f"{name}.toml"), "--out", base / name)
    return base


def test_a_lock_against_none(folders):
    found = good_json("compare", folders / "turn", folders / "locked")
    shown = [good_json("show", folders / name) for name in ("turn", "locked")]
    assert found["actions"] == shown[0]["actions"]
    for hand, row in found["hands"].items():
        both = [one["hands"][hand] for one in shown]
        assert row["strategy"] == [one["strategy"] for one in both]
        assert row["ev_difference"] == pytest.approx(both[1]["ev"] - both[0]["ev"])
        assert row["moved"] == pytest.approx(both[0]["strategy"][1])  # all bets become checks
    solved = good_json("solve", folders / "locked.toml", "--out", folders / "locked")
    np.testing.assert_allclose(found["ev"][1], solved["ev"], rtol=1e-6)
    assert found["lines"][""]["likely"] == [1, 1]
    assert found["lines"]["r50"]["likely"] == pytest.approx([found["frequencies"][0][1], 0])


def test_a_solve_does_not_differ_from_itself(folders):
    found = good_json("compare", folders / "turn", folders / "turn", "--line", "c")
    assert {(row["moved"], row["ev_difference"]) for row in found["hands"].values()} == {(0, 0)}
    assert {change["moved"] for change in found["lines"].values()} == {0}
    assert "0.00% of the range plays differently" in good("compare", folders / "turn", folders / "turn")


def test_two_sizes_are_two_actions(folders):
    found = good_json("compare", folders / "turn", folders / "larger")
    assert found["actions"] == ["check", "bet 50", "bet 75"]
    assert found["frequencies"][0][2] == found["frequencies"][1][1] == 0
    assert found["only"][0][0] == "cr50"
    assert found["only"][1][0] == "cr75"
    assert set(found["lines"]) == {"", "c"}
    assert "only in B" in good("compare", folders / "turn", folders / "larger")


def test_two_boards_share_hands(folders):
    found = good_json("compare", folders / "turn", folders / "board")
    assert found["boards"] == ["Qs7h2d3c", "Qs7h2d4c"]
    assert set(found["hands"]) == {"AhAd", "KdQd", "JcTc"}
    apart = "compare", folders / "turn", folders / "board", "--board", "Qs 7h 2d 3c"
    assert "expected to begin with Qs7h2d4c" in refused(*apart)


def test_a_later_line_on_a_board(folders):
    args = ("--line", "cc/", "--board", "Qs 7h 2d 3c 5h")
    found = good_json("compare", folders / "turn", folders / "locked", *args)
    shown = good_json("show", folders / "turn", *args)
    assert {hand: row["ev"][0] for hand, row in found["hands"].items()} == pytest.approx(
        {hand: row["ev"] for hand, row in shown["hands"].items()}
    )


def test_small_games_are_compared_too(folders, tmp_path):
    found = good_json("compare", folders / "kuhn", folders / "kuhn", "--plot", tmp_path / "kuhn.png")
    assert len(found["hands"]) == 3
    assert (tmp_path / "kuhn.png").exists()


@pytest.mark.parametrize("sort", ["EV", "moved", "reach", "hand"])
def test_tables_are_in_the_order_asked_for(folders, tmp_path, sort):
    file = tmp_path / "hands.csv"
    text = good("compare", folders / "turn", folders / "locked", "--sort", sort, "--csv", file)
    table = pd.read_csv(file)
    columns = {"ev": -table.ev_difference.abs(), "moved": -table.moved, "hand": table.hand}
    column = (columns | {"reach": -table.reach_a - table.reach_b})[sort.lower()]
    assert column.tolist() == sorted(column)
    assert list(table.columns[:7]) == ["hand", "reach_a", "reach_b", "ev_a", "ev_b", "ev_difference", "moved"]
    lines = text.splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("hand "))
    assert lines[first + 1].split()[0] == table.hand[0]


def test_files_are_there_before_the_table_is_printed(folders, tmp_path, monkeypatch):
    def breaks(*args):
        raise BrokenPipeError

    monkeypatch.setattr("spewy.cli.compare._head", breaks)
    files = tmp_path / "x.csv", tmp_path / "x.png"
    spewy("compare", folders / "turn", folders / "locked", "--csv", files[0], "--plot", files[1])
    assert all(file.exists() for file in files)


@pytest.mark.parametrize(
    ("other", "args", "named"),
    [
        ("kuhn", (), "expected games with the same deck"),
        ("polarised", (), "expected the same kind of root, found turn spot and river spot"),
        ("larger", ("--line", "r50"), "solve B: line 'r50'"),
        ("larger", ("--line", "cc"), "solve A: line 'cc': expected a decision"),
        ("none", (), "none"),
    ],
)
def test_what_cannot_be_compared_is_refused(folders, other, args, named):
    assert named in refused("compare", folders / "turn", folders / other, *args)


def test_what_show_tells_goes_into_a_file(folders, tmp_path):
    tall, wide = tmp_path / "tall.csv", tmp_path / "wide.csv"
    good("show", folders / "turn", "--csv", tall)
    good("show", folders / "turn", "--csv", wide, "--wide")
    good("export", folders / "turn", tmp_path / "root.csv", "--line", "", "--board", "Qs 7h 2d 3c")
    assert tall.read_text() == (tmp_path / "root.csv").read_text()
    table, shown = pd.read_csv(wide), good_json("show", folders / "turn")["hands"]
    assert table.hand.tolist() == list(shown)
    assert table["frequency_bet 50"].tolist() == [row["strategy"][1] for row in shown.values()]


def test_who_waits_goes_into_a_file_hand_by_hand(folders, tmp_path):
    good("show", folders / "turn", "--player", "ip", "--csv", tmp_path / "ip.csv")
    table = pd.read_csv(tmp_path / "ip.csv", keep_default_na=False)
    assert list(table.columns) == (
        ["board", "line", "player", "hand", "reach", "ev", "equity", "made", "draws", "blockers"]
    )
    assert set(table.player) == {1}


def test_a_line_nobody_takes_is_compared_without_a_word(folders):
    """Where A never bets, its range after a bet has no weight."""
    found = good_json("compare", folders / "locked", folders / "locked", "--line", "r50")
    assert found["ev"] == [[None, None], [None, None]]
    assert found["lines"]["r50"]["moved"] == 0
    assert "0.00% of the range" in good("compare", folders / "locked", folders / "locked", "--line", "r50")
