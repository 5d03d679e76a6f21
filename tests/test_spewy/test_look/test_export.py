"""Exports of some decisions, a row per hand, and what spreadsheets do not hold."""

import shutil

import pandas as pd
import pytest
from cli_runs import good, good_json, refused, spewy
from openpyxl import load_workbook

from buckets.cards import parse_hand
from spewy.game.ranges.hand_kinds import kinds_of
from spewy.look import table_files
from spewy.look.solution import Solution

RIVER = "Qs 7h 2d 3c 5h"


@pytest.fixture(scope="module")
def folder(small):
    return small / "turn"


def exported(folder, tmp_path, *args, name="out.csv"):
    good("export", folder, tmp_path / name, *args)
    return pd.read_csv(tmp_path / name, keep_default_na=False)


def whole(folder):
    with Solution.open(folder) as solution:
        return pd.concat(list(solution.frames()), ignore_index=True)


@pytest.mark.parametrize(
    ("args", "column", "values"),
    [
        (("--line", ""), "line", {""}),
        (("--line", "cc/"), "line", {"cc/"}),
        (("--player", "ip"), "player", {1}),
        (("--round", "turn"), "line", {"", "c", "r50", "cr50"}),
    ],
)
def test_some_decisions_are_rows_of_the_whole(folder, tmp_path, args, column, values):
    found, everything = exported(folder, tmp_path, *args), whole(folder)
    kept = everything[everything[column].isin(values)].reset_index(drop=True)
    assert 0 < len(found) == len(kept) < len(everything)
    for name in ("line", "hand", "action", "board"):
        assert found[name].tolist() == kept[name].tolist()
    assert found.frequency.tolist() == pytest.approx(kept.frequency.tolist(), abs=1e-15)


def test_a_board_is_named_as_it_was_asked_for(folder, tmp_path):
    """A river that is solved as another up to suits has its own names of cards and hands."""
    found = exported(folder, tmp_path, "--board", RIVER, "--line", "cc/")
    assert set(found.board) == {RIVER.replace(" ", "")}
    shown = good_json("show", folder, "--line", "cc/", "--board", RIVER)
    checks = found[found.action == "check"]
    for hand, frequency in zip(checks.hand, checks.frequency, strict=True):
        assert shown["hands"][hand]["strategy"][0] == pytest.approx(float(frequency))


def test_a_board_alone_is_all_its_decisions(folder, tmp_path):
    found = exported(folder, tmp_path, "--board", RIVER)
    with Solution.open(folder) as solution:
        rivers = [node for node in solution.layout.betting[1].nodes if node.kind == "decision"]
    assert set(found.line) == {node.line for node in rivers}


def test_a_wide_table_has_a_row_for_each_hand(folder, tmp_path):
    tall, wide = exported(folder, tmp_path), exported(folder, tmp_path, "--wide", name="wide.csv")
    first = ["board", "line", "player", "hand", "reach", "ev", "equity", "made", "draws", "blockers"]
    assert list(wide.columns[:10]) == first
    actions = [name.removeprefix("frequency_") for name in wide.columns if name.startswith("frequency_")]
    assert set(actions) == set(tall.action)
    assert not wide.duplicated(["board", "line", "hand"]).any()
    keys = ["board", "line", "hand", "action"]
    rows = tall[[*keys, "frequency", "action_ev"]].itertuples(index=False, name=None)
    cells = {row[:4]: row[4:] for row in rows}
    assert len(cells) == len(tall)
    for row in wide.to_dict("records"):
        for action in actions:
            cell = cells.get((row["board"], row["line"], row["hand"], action), ("", ""))
            found = row[f"frequency_{action}"], row[f"action_ev_{action}"]
            assert tuple(map(str, found)) == tuple(map(str, cell))


@pytest.mark.parametrize("wide", [(), ("--wide",)])
def test_hands_are_named_beside_their_cards(folder, tmp_path, wide):
    """The names are those by which `show` groups and filters the hands of this board."""
    good("export", folder, tmp_path / "out.parquet", "--line", "", *wide)
    found = exported(folder, tmp_path, "--line", "", *wide)
    parquet = pd.read_parquet(tmp_path / "out.parquet")
    for column in ("made", "draws", "blockers"):
        assert found[column].tolist() == parquet[column].tolist()
    with Solution.open(folder) as solution:
        root = solution.node()
    kinds = kinds_of(root.board, [parse_hand(hand) for hand in root.hands])
    named = zip(kinds.made_names, kinds.draw_names, kinds.blocker_names, strict=True)
    expected = dict(zip(root.hands, named, strict=True))
    rows = found[["hand", "made", "draws", "blockers"]].itertuples(index=False, name=None)
    assert {row[0]: row[1:] for row in rows} == expected
    assert any(made for made, _, _ in expected.values())


def test_hands_of_other_games_have_no_names(small, tmp_path):
    found = exported(small / "leduc", tmp_path)
    assert list(found.columns)[-1] == "equity"


def test_a_spreadsheet_is_made_for_people(folder, tmp_path):
    """It has the numbers of the CSV file; the header stays in view, and the columns are as wide as they must be."""
    for name in ("wide.xlsx", "wide.csv", "wide.parquet"):
        good("export", folder, tmp_path / name, "--wide")
    found, expected = pd.read_excel(tmp_path / "wide.xlsx"), pd.read_csv(tmp_path / "wide.csv")
    pd.testing.assert_frame_equal(found, expected, check_dtype=False)
    parquet = pd.read_parquet(tmp_path / "wide.parquet")
    assert (list(parquet.columns), len(parquet)) == (list(expected.columns), len(expected))
    sheet = load_workbook(tmp_path / "wide.xlsx").active
    last = f"{sheet.cell(1, len(found.columns)).column_letter}{len(found) + 1}"
    assert (sheet.freeze_panes, sheet.auto_filter.ref) == ("A2", f"A1:{last}")
    formats = {head.value: cell.number_format for head, cell in zip(sheet[1], sheet[2], strict=True)}
    assert (formats["frequency_check"], formats["equity"], formats["ev"]) == ("0.0%", "0.0%", "0.000")
    for column in ("A", "H"):
        longest = max(len(str(cell.value or "")) for cell in sheet[column])
        assert longest < sheet.column_dimensions[column].width < longest + 5


def test_a_text_is_no_formula(tmp_path):
    frame = pd.DataFrame(
        {"name": ["=1+1", "a\x1bb", None], "n": [1, 2, 3], "ev": [0.12345, float("nan"), 2.0]}
    )
    assert table_files.write_table(tmp_path / "out.xlsx", ".xlsx", [frame[:1], frame[1:]], digits=2) == 3
    sheet = load_workbook(tmp_path / "out.xlsx").active
    assert [[cell.value for cell in row] for row in sheet.iter_rows(min_row=2)] == [
        ["=1+1", 1, 0.12],
        ["a\\x1bb", 2, None],
        [None, 3, 2],
    ]
    assert (sheet["A2"].data_type, sheet["C2"].number_format) == ("s", "0.00")
    assert sheet["B2"].number_format == "General"


@pytest.mark.parametrize("name", ["out.csv", "out.json", "out.xlsx"])
def test_numbers_are_rounded_when_asked(folder, tmp_path, name):
    read = {"csv": pd.read_csv, "json": pd.read_json, "xlsx": pd.read_excel}[name[4:]]
    good("show", folder, "--csv", tmp_path / name, "--digits", 2)
    rounded = read(tmp_path / name)
    good("show", folder, "--csv", tmp_path / name)
    exact = read(tmp_path / name)
    assert rounded.ev.tolist() == exact.ev.round(2).tolist() != exact.ev.tolist()
    assert rounded.hand.tolist() == exact.hand.tolist()


@pytest.mark.parametrize("wide", [(), ("--wide",)])
def test_rows_are_counted_before(folder, tmp_path, wide):
    with Solution.open(folder) as solution:
        assert solution.select().n_rows(wide=bool(wide)) == len(exported(folder, tmp_path, *wide))


@pytest.mark.slow
def test_more_rows_than_a_spreadsheet_holds_are_warned_of(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(table_files, "SPREADSHEET_ROWS", 20)
    warned = spewy("export", folder, tmp_path / "all.csv")
    assert warned.exit_code == 0
    assert "warning: " in warned.stderr
    assert "a spreadsheet holds 20" in warned.stderr
    assert (tmp_path / "all.csv").exists()
    said = refused("export", folder, tmp_path / "all.xlsx")
    assert "a spreadsheet holds 20 rows, and the table has" in said
    assert not (tmp_path / "all.xlsx").exists()
    assert "warning" not in spewy("export", folder, tmp_path / "all.parquet").stderr
    assert "warning" not in spewy("export", folder, tmp_path / "root.csv", "--line", "").stderr


@pytest.mark.parametrize(
    ("args", "named"),
    [
        (("--line", "zz"), "expected one of check (c)"),
        (("--line", "cc"), "expected a decision"),
        (("--line", "c", "--round", "river"), "line 'c', river: expected at least one, found none"),
        (("--line", "c", "--player", "oop"), "line 'c', oop: expected at least one, found none"),
        (("--round", "flop"), "expected one of this solve, turn, river"),
        (("--board", "Qs"), "expected 4 cards"),
        (("--board", "Qs 7h 2d 3c Zz"), "Zz"),
        (("--board", "Qs 7h 2d 3c", "--round", "river"), "expected 5 cards"),
        (("--board", RIVER, "--line", ""), "expected 4 cards"),
    ],
)
def test_what_nothing_is_left_of_is_refused(folder, tmp_path, args, named):
    assert named in refused("export", folder, tmp_path / "out.csv", *args)
    assert list(tmp_path.iterdir()) == []


def test_what_was_dropped_is_exported_board_by_board(folder, tmp_path):
    copy = shutil.copytree(folder, tmp_path / "copy")
    good("drop", copy, "--round", "river")
    assert len(exported(copy, tmp_path, "--round", "turn"))
    assert len(exported(copy, tmp_path, "--board", RIVER, "--line", "cc/"))
    assert "dropped" in refused("export", copy, tmp_path / "out.csv", "--round", "river")
