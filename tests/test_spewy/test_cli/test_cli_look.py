"""The commands that look at jobs and folders: show, exploit, tree, estimate, export."""

import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cli_runs import (
    POLARISED,
    TURN,
    good,
    good_json,
    on_a_terminal,
    process,
    refused,
    spewy,
    write,
)
from jobs import EXAMPLES

import spewy.look.export as export_module
from spewy.look import table_files
from spewy.look.solution import Solution

SPOTS = Path(__file__).parents[2] / "data" / "spots"
COLUMNS = ["board", "line", "player", "hand", "action", "reach", "frequency", "ev", "action_ev", "equity"]


def test_show_json(small):
    found = good_json("show", small / "turn")
    assert list(found) == ["player", "actions", "hands"]
    assert (found["player"], found["actions"]) == (0, ["check", "bet 50"])
    assert set(found["hands"]) == {"AhAd", "KdQd", "JcTc"}
    for row in found["hands"].values():
        assert list(row) == ["reach", "strategy", "ev", "action_ev", "equity"]
        assert sum(row["strategy"]) == pytest.approx(1)
        assert np.dot(row["strategy"], row["action_ev"]) == pytest.approx(row["ev"])


def test_show_a_line_on_a_board(small):
    found = good_json("show", small / "turn", "--line", "cc/", "--board", "Qs 7h 2d 3c 5h")
    assert found["player"] == 0
    same = good_json("show", small / "turn", "--line", "cc/", "--board", "7hQs3c2d5h")
    assert same == found
    blocked = good_json("show", small / "turn", "--line", "cc/", "--board", "Qs 7h 2d 3c Ah")
    assert set(blocked["hands"]) == {"KdQd", "JcTc"}


@pytest.mark.parametrize("line", ["cc", "Check, Check"])
def test_a_board_shows_that_a_line_ends_a_round(small, line, tmp_path):
    river = ("--board", "Qs 7h 2d 3c 5h")
    asked, whole = ("--line", line, *river), ("--line", "cc/", *river)
    assert good_json("show", small / "turn", *asked) == good_json("show", small / "turn", *whole)
    assert good("show", small / "turn", *asked) == good("show", small / "turn", *whole)
    assert good_json("compare", small / "turn", small / "turn", *asked)["line"] == "cc/"
    good("export", small / "turn", tmp_path / "x.csv", *asked)
    assert set(pd.read_csv(tmp_path / "x.csv")["line"]) == {"cc/"}
    told = refused("show", small / "turn", "--line", line, "--board", "Qs 7h 2d 3c")
    assert told.endswith("expected a decision, found a deal of cards; add the river to the board (--board)")
    without = refused("show", small / "turn", "--line", line)
    assert without.endswith("found a deal of cards; add the river to the board (--board)")


def test_what_is_not_defined_is_null(tmp_path):
    """Two kings leave the opponent no king and ace of hearts: there is nobody to have EV or equity against."""
    job = write(tmp_path, POLARISED.replace('ip = "AhAd"', 'ip = "KhAh"'))
    good("solve", job, "--out", tmp_path / "out", "--set", "solve.max_sweeps=1")
    text = good("show", tmp_path / "out", "--json")
    assert "NaN" not in text
    hands = json.loads(text)["hands"]
    assert hands["KhKd"]["ev"] is hands["KhKd"]["equity"] is None
    assert hands["KhKd"]["action_ev"] == [None, None]
    assert hands["JcTc"]["equity"] == 0
    good("show", tmp_path / "out")
    good("export", tmp_path / "out", tmp_path / "out.csv")
    assert "KhKd,check,1.0,0.5,,,,set,,\n" in (tmp_path / "out.csv").read_text()


def test_show_for_people(small):
    lines = good("show", small / "polarised").splitlines()
    assert lines[1].split() == ["board", "Ks", "9d", "6h", "3c", "2s"]
    assert "all-in 100  37.5" in "\n".join(lines)
    head = next(i for i, line in enumerate(lines) if line.startswith("hand"))
    assert lines[head].split() == ["hand", "reach", "check", "all-in", "100", "EV", "equity"]
    rows = [line.split() for line in lines[head + 1 :]]
    assert [row[0] for row in rows] == ["set", "KhKd", "nothing", "JcTc", "JdTd", "JhTh"]
    for row in rows:  # hand, reach, frequency and EV of both actions, EV, equity
        frequencies, evs = (np.array(row[i : i + 3 : 2], dtype=float) for i in (2, 3))
        assert frequencies @ evs == pytest.approx(float(row[6]), abs=0.3)


def test_a_terminal_shows_what_fits_and_a_bar(tmp_path):
    longer = ("--set", "solve.target=0%", "--set", "solve.max_sweeps=100")
    bar = on_a_terminal("solve", EXAMPLES / "T1.toml", "--out", tmp_path / "T1", *longer)
    assert "T1 100%" in bar
    assert "100/100 sweeps" in bar
    assert "exploitability" in bar
    good("solve", EXAMPLES / "R1.toml", "--out", tmp_path / "R1", "--set", "solve.max_sweeps=10")
    shown = on_a_terminal("show", tmp_path / "R1", "--hands", lines=30)
    assert len(shown.splitlines()) < 30
    assert "more hands; --all shows them" in shown
    everything = on_a_terminal("show", tmp_path / "R1", "--all", lines=30)
    assert "more hands" not in everything
    assert len(everything.splitlines()) > 300
    piped = good("show", tmp_path / "R1")
    assert len(piped.splitlines()) > 300


def test_exploit(small, tmp_path):
    found = good_json("exploit", small / "leduc")
    figures = ["exploitability", "exploitability_pct", "exploitability_mbb", "best_response", "value_bracket"]
    losses = ["decision_loss_pct", "decisions", "unreached"]
    assert list(found) == ["name", "sweeps", *figures, "of_players", *losses]
    assert found["of_players"] is None
    assert found["sweeps"] == 30
    assert found["exploitability_pct"] is None
    assert sum(found["best_response"]) / 2 == pytest.approx(found["exploitability"])
    assert "mbb per hand" in good("exploit", small / "leduc")
    assert "% of the pot" in good("exploit", small / "turn")
    copy = shutil.copytree(small / "leduc", tmp_path / "leduc")
    again = good_json("solve", small / "leduc.toml", "--out", copy)
    assert found["exploitability"] == again["exploitability"]


@pytest.mark.parametrize("name", ["R1", "T1"])
def test_tree_is_the_published_one(name):
    published = json.loads((SPOTS / f"{name}.tree.json").read_text())
    assert good_json("tree", EXAMPLES / f"{name}.toml") == published


def test_tree_takes_set(tmp_path):
    found = good_json("tree", write(tmp_path, TURN), "--set", "bets.turn.bet=25%, a")
    assert list(found["root"]["actions"]) == ["check", "bet 25", "all-in 100"]


def test_estimate(tmp_path):
    command = ("estimate", write(tmp_path, TURN), "--set", "solve.memory=30 KiB")
    found = good_json(*command)
    assert (found["name"], found["rounds"], found["fits"]) == ("turn", ["turn", "river"], False)
    assert found["boards"] == [1, 48]
    assert found["budget_bytes"] == 30 * 1024
    assert found["information_sets"] > 100
    assert "MORE THAN the 30 KiB allowed" in good(*command)


def disk_bytes(folder):
    return sum(path.stat().st_size for path in folder.iterdir())


@pytest.mark.parametrize(
    ("option", "error"), [("precision=auto", 0.2), ("precision=double", 0.2), ("leaves=stored", 0.5)]
)
def test_estimated_disk_is_about_right(option, error, tmp_path):
    """Of a folder so small that a page counts; visit by visit, pages stay half empty besides."""
    job, sets = write(tmp_path, TURN), ["--set", f"solve.{option}"]
    good("solve", job, "--out", tmp_path / "out", "--set", "solve.max_sweeps=2", *sets)
    estimated = good_json("estimate", job, *sets)["disk_bytes"]
    assert estimated == pytest.approx(disk_bytes(tmp_path / "out"), rel=error)


def resident(job, folder, *options):
    """Bytes of memory that a solve of two sweeps takes at most, in a process of its own."""
    sets = [text for option in ("max_sweeps=2", *options) for text in ("--set", f"solve.{option}")]
    result = process("solve", job, "--out", folder, "--json", *sets)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)["peak_rss_mib"] * 2**20


@pytest.mark.parametrize(
    ("name", "precision"),
    [
        ("T1", "single"),
        pytest.param("T1", "16-bit", marks=pytest.mark.slow),
        pytest.param("F1", "single", marks=pytest.mark.slow),
        pytest.param("F1", "16-bit", marks=pytest.mark.slow),
    ],
)
def test_estimates_are_right_within_a_tenth(name, precision, tmp_path):
    """Memory is what a solve takes beyond one of three hands, whose process is interpreter, libraries and kernels."""
    options = f"precision={precision}", "workers=2"
    small, large = write(tmp_path, TURN), EXAMPLES / f"{name}.toml"
    sets = [text for option in options for text in ("--set", f"solve.{option}")]
    little, cost = (good_json("estimate", job, *sets) for job in (small, large))
    taken = resident(large, tmp_path / "large", *options) - resident(small, tmp_path / "small", *options)
    assert cost["memory_bytes"] - little["memory_bytes"] == pytest.approx(taken, rel=0.1)
    assert cost["disk_bytes"] == pytest.approx(disk_bytes(tmp_path / "large"), rel=0.1)


NARROW = ("spot.oop=AA,KK,QQ,AKs,JTs", "spot.ip=QQ,JJ,TT,AQs,KJs")


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("R1", ()),
        *(
            pytest.param(name, settings, marks=pytest.mark.slow)
            for name, settings in (
                ("R1", ("solve.leaves=stored",)),
                ("T1", ()),
                ("T1", NARROW),
                ("T1", ("solve.leaves=stored", "rows.turn=10", "rows.river=10", "solve.max_sweeps=1")),
                ("F1", NARROW),
                ("leduc", ()),
                ("leduc-lp", ()),
                ("flop-holdem", ()),
            )
        ),
    ],
)
def test_no_process_takes_more_than_was_estimated_nor_much_less(name, settings, tmp_path, monkeypatch):
    """Jobs that make board buckets are among them: they load scikit-learn."""
    monkeypatch.setenv("SPEWY_BUCKETS", str(tmp_path / "buckets"))
    job = EXAMPLES / f"{name}.toml"
    sets = [text for one in settings for text in ("--set", one)]
    estimated = good_json("estimate", job, *sets)["process_bytes"]
    few = [] if name == "leduc-lp" or "solve.max_sweeps=1" in settings else ["--set", "solve.max_sweeps=20"]
    solved = process("solve", job, "--out", tmp_path / "out", "--json", *sets, *few)
    assert solved.returncode == 0, solved.stderr
    taken = json.loads(solved.stdout)["peak_rss_mib"] * 2**20
    assert taken <= estimated <= 1.75 * taken


def test_the_disk_of_later_saves_is_estimated(tmp_path):
    """A save needs room beside the save before; the folder stays that large."""
    job, out = write(tmp_path, TURN), tmp_path / "out"
    told = good_json("estimate", job)
    for sweeps in (2, 4, 6):
        good("solve", job, "--out", out, "--set", f"solve.max_sweeps={sweeps}", "--set", "solve.target=0%")
    assert told["disk_bytes"] < disk_bytes(out)
    assert told["most_disk_bytes"] == pytest.approx(disk_bytes(out), rel=0.2)


@pytest.mark.parametrize(("suffix", "at_once"), [(".csv", 1), (".parquet", 50), (".csv", 10**6)])
def test_export(small, suffix, at_once, tmp_path, monkeypatch):
    monkeypatch.setattr(export_module, "ROWS_AT_ONCE", at_once)
    file = tmp_path / f"leduc{suffix}"
    said = good("export", small / "leduc", file)
    found = pd.read_csv(file, keep_default_na=True) if suffix == ".csv" else pd.read_parquet(file)
    assert list(found.columns) == COLUMNS
    assert f"{len(found):,} rows" in said
    assert [path.name for path in tmp_path.iterdir()] == [file.name]
    with Solution.open(small / "leduc") as solution:
        expected = pd.concat(list(solution.frames()), ignore_index=True)
    assert len(found) == len(expected)
    for column in ("reach", "frequency", "ev", "action_ev", "equity"):
        np.testing.assert_allclose(found[column], expected[column], rtol=1e-12)
    for column in ("line", "hand", "action"):
        assert found[column].fillna("").tolist() == expected[column].tolist()


def test_export_leaves_nothing_half_written(small, tmp_path, monkeypatch):
    file = tmp_path / "kuhn.csv"
    file.write_text("before")
    whole = Solution.views

    def breaks(self, selection):
        yield next(whole(self, selection))
        raise KeyboardInterrupt

    monkeypatch.setattr(Solution, "views", breaks)
    assert spewy("export", small / "kuhn", file).exit_code == 130
    assert [path.name for path in tmp_path.iterdir()] == ["kuhn.csv"]
    assert file.read_text() == "before"


def test_export_to_a_full_disk(small, tmp_path, monkeypatch):
    def breaks(path, frames):
        path.write_text("half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(table_files, "_write_csv", breaks)
    result = spewy("export", small / "kuhn", tmp_path / "kuhn.csv")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "No space left on device" in result.stderr
    assert list(tmp_path.iterdir()) == []
