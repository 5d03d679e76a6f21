"""Commands that look take every kind of folder: whole games with board buckets, and batches."""

import json
import shutil

import pandas as pd
import pytest
from cli_runs import LEDUC, TURN, good, good_json, refused, write
from cli_runs import spewy as run
from dealt_jobs import DEALT_LEDUC

import spewy
from spewy.look.folder import solves_in
from spewy.look.solution import Solution
from spewy.match.spots import Spots
from spewy.run.session import Session

RIVERS = ["Qs Jh 2h 8c 3d", "Ts 7c 6d 5h Jc"]


@pytest.fixture(scope="module")
def leduc(tmp_path_factory):
    folder = tmp_path_factory.mktemp("leduc")
    good("solve", write(folder, DEALT_LEDUC), "--out", folder / "out", "--set", "solve.max_sweeps=100")
    return folder / "out"


@pytest.fixture(scope="module")
def batches(tmp_path_factory):
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


@pytest.mark.parametrize("damage", ["manifest", "data"])
def test_damaged_cached_best_responses_are_computed_again(leduc, damage):
    expected = good_json("exploit", leduc, "--workers", 1)
    if damage == "manifest":
        (leduc / "judged" / "manifest.json").write_text("{")
    else:
        data = leduc / "judged" / "lockers.mdb"
        data.write_bytes(data.read_bytes()[:8192] + bytes(data.stat().st_size - 8192))
    found = good_json("exploit", leduc, "--workers", 1)
    assert found | {"core_seconds": expected["core_seconds"]} == expected
    assert good("check", leduc).endswith(": healthy\n")


def test_board_buckets_are_exported_row_by_row(leduc, tmp_path):
    good("export", leduc, tmp_path / "all.csv")
    table = pd.read_csv(tmp_path / "all.csv", keep_default_na=False)
    assert list(table) == ["round", "board_bucket", "line", "player", "hand_bucket", "action", "frequency"]
    with spewy.open_policy(leduc) as policy:
        saved = policy.strategies.saved
        node = policy.node("cr", None)
    numbers = table.groupby("round", sort=False)["board_bucket"].nunique()
    assert numbers.to_dict() == dict(zip(("preflop", "flop"), saved.board_buckets, strict=True))
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


@pytest.fixture(scope="module")
def rivers(tmp_path_factory):
    base = tmp_path_factory.mktemp("rivers")
    text = TURN.replace("AhAd,KdQd,JcTc", "QQ+,AKs,AKo,76s,JTs").replace("KhKc,8s7s", "88+,AQs+,KQs,A5s")
    job = spewy.Job.load(write(base, text))
    for name, sweeps in (("a", 30), ("b", 3)):
        spewy.solve_batch(job.replace(max_sweeps=sweeps), RIVERS, base / name, jobs=1)
    (base / "b" / "boards.csv").write_text("board,weight\nQsJh8c3d2h,3\nJcTs7c6d5h,24\n")
    return base / "a", base / "b"


def test_a_report_and_a_comparison_have_one_average(rivers):
    compared = good_json("compare", *rivers)
    for i, folder in enumerate(rivers):
        report = good_json("report", folder)
        assert compared["average"]["frequencies"][i] == pytest.approx(report["average"]["frequencies"])
        assert compared["average"]["ev"][i] == pytest.approx(report["average"]["ev"][0])
        for board, row in report["boards"].items():
            assert compared["boards"][board]["weight"][i] == pytest.approx(row["weight"])
    first, second = compared["boards"].values()
    assert abs(first["weight"][0] - second["weight"][0]) > 0.02  # boards alone would have equal weights
    shares = [sum(row["weight"]) / 2 for row in (first, second)]
    assert compared["average"]["moved"] == pytest.approx(
        shares[0] * first["moved"] + shares[1] * second["moved"]
    )


def test_a_board_without_a_strategy_is_named_and_left_out_of_a_comparison(rivers, tmp_path):
    half = tmp_path / "half"
    half.mkdir()
    (half / "Ts7c6d5hJc").symlink_to(rivers[1] / "Ts7c6d5hJc")
    with Solution.open(rivers[1] / "QsJh2h8c3d") as solution:
        job = solution.job
    Session(job, half / "QsJh2h8c3d").close()
    result = run("compare", rivers[0], half, "--json")
    assert "QsJh2h8c3d: not solved yet; the comparison is without it" in result.stderr
    found = json.loads(result.stdout)
    assert list(found["boards"]) == ["Ts7c6d5hJc"]
    assert found["only"] == [["QsJh2h8c3d"], []]


def test_a_batch_whose_weighed_boards_are_all_missing_is_refused(batches, tmp_path):
    shutil.copytree(batches[0], tmp_path / "a")
    (tmp_path / "a/boards.csv").write_text("board,weight\nQs7h2d3c,0\nQs7h2d4c,0\nQs7h2d5c,3\n")
    for command in (("report", tmp_path / "a"), ("compare", tmp_path / "a", tmp_path / "a")):
        assert "only for boards that have no folder yet" in refused(*command)


def test_a_hidden_folder_beside_the_boards_is_no_board(rivers, tmp_path):
    """A kill while a cluster's result replaces a folder leaves the old folder under a hidden name."""
    expected = {command: good(command, rivers[0]) for command in ("report", "status", "check", "exploit")}
    batch = tmp_path / "a"
    shutil.copytree(rivers[0], batch)
    shutil.copytree(batch / "QsJh2h8c3d", batch / ".QsJh2h8c3d-1x2y-before")
    for command, text in expected.items():
        assert len(good(command, batch).splitlines()) == len(text.splitlines()), command
    assert [path.name for path in solves_in(batch)] == ["QsJh2h8c3d", "Ts7c6d5hJc"]
    with Spots(batch) as spots:
        assert len(spots) == 2
    for board in ("QsJh2h8c3d", "Ts7c6d5hJc"):
        shutil.rmtree(batch / board)
    assert "holds no solve" in refused("show", batch)


def test_what_is_neither_is_refused(leduc, batches, tmp_path):
    job = write(tmp_path, LEDUC)
    good("solve", job, "--out", tmp_path / "walked", "--set", "solve.max_sweeps=2")
    assert "is a batch" in refused("compare", batches[0], tmp_path / "walked")
    (tmp_path / "empty").mkdir()
    for command in (["show"], ["exploit"], ["status"]):
        assert "holds no solve" in refused(*command, tmp_path / "empty")
