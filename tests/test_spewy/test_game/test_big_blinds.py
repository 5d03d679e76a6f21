"""Amounts in big blinds: the same game as in chips, told otherwise."""

import csv
import shutil
from dataclasses import replace

import numpy as np
import pytest
from cli_runs import TURN, good, good_json, refused, spewy, write

from spewy import Job, Solution, open_policy
from spewy.errors import InputError
from spewy.game.amounts import Unit, game_unit
from spewy.game.gamefile import load_game
from spewy.game.nodes import Line

RIVER = "Qs 7h 2d 3c Kh"
BLINDS = 'unit = "bb"\n' + TURN.replace("pot = 100", "pot = 1").replace("stack = 100", "stack = 1.00")
SOLVE = ["--set", "solve.max_sweeps=20", "--set", "solve.target=0%"]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """One turn, solved in chips and in big blinds of 100."""
    folder = tmp_path_factory.mktemp("units")
    for name, text in (("chips", TURN), ("bb", BLINDS)):
        good("solve", write(folder, text, f"{name}.toml"), "--out", folder / name, *SOLVE)
    return folder


def both(folders, *args):
    command, *rest = args
    return [good_json(command, folders / name, *rest) for name in ("chips", "bb")]


def test_a_solve_tells_the_same_in_either_unit(folders):
    chips, blinds = (
        good_json("solve", folders / f"{name}.toml", "--out", folders / name, *SOLVE)
        for name in ("chips", "bb")
    )
    assert "unit" not in chips
    assert blinds["unit"] == "bb"
    for key in ("exploitability", "ev"):
        np.testing.assert_allclose(np.array(blinds[key]) * 100, chips[key], rtol=1e-12)
    assert [row[2] * 100 for row in blinds["trace"]] == pytest.approx([row[2] for row in chips["trace"]])
    assert blinds["exploitability_pct"] == chips["exploitability_pct"]
    text = good("solve", folders / "bb.toml", "--out", folders / "bb", *SOLVE)
    assert "bb of the pot" in text
    assert "chips" not in text


@pytest.mark.parametrize(
    ("chips_line", "line"), [("cr50", "cr0.5"), ("cr50", "x b0.5"), ("cr50c/", "Check, bet 0.5, Call /")]
)
def test_show_tells_the_same_in_either_unit(folders, chips_line, line):
    board = ["--board", RIVER] if "/" in chips_line else []
    chips = good_json("show", folders / "chips", "--line", chips_line, *board)
    blinds = good_json("show", folders / "bb", "--line", line, *board)
    assert blinds["unit"] == "bb"
    assert [label.replace("0.5", "50") for label in blinds["actions"]] == chips["actions"]
    for hand, told in chips["hands"].items():
        other = blinds["hands"][hand]
        for figure in ("strategy", "reach", "equity"):
            assert other[figure] == told[figure]
        if told["ev"] is not None:
            assert other["ev"] * 100 == pytest.approx(told["ev"], abs=1e-9)


def test_show_says_the_unit_and_its_line(folders):
    told = good("show", folders / "bb", "--line", "x b0.5")
    facts = dict(line.split(maxsplit=1) for line in told.splitlines()[:5])
    assert (facts["line"], facts["amounts"]) == ("cr0.5 (check, bet 0.5)", "in bb")
    assert "amounts" not in good("show", folders / "chips", "--line", "cr50")


def test_a_report_tells_the_same_in_either_unit(folders):
    chips, blinds = (
        good_json("report", folders / name, "--line", line)
        for name, line in (("chips", "cr50c/"), ("bb", "x b50% c"))
    )
    assert (chips["pot"], blinds["pot"], blinds["unit"], blinds["line"]) == (200, 2, "bb", "cr0.5c/")
    for card, told in chips["cards"].items():
        np.testing.assert_allclose(np.array(blinds["cards"][card]["ev"]) * 100, told["ev"], rtol=1e-9)
        assert blinds["cards"][card]["realisation"] == pytest.approx(told["realisation"])
    assert "pot     1 bb\n" in good("report", folders / "bb", "--line", "x x")


def test_exploit_tells_the_same_in_either_unit(folders):
    chips, blinds = both(folders, "exploit")
    assert "unit" not in chips
    assert blinds["unit"] == "bb"
    assert np.array(blinds["best_response"]) * 100 == pytest.approx(chips["best_response"])
    assert "bb" in good("exploit", folders / "bb")


def test_an_export_tells_the_same_in_either_unit(folders, tmp_path):
    rows = []
    for name in ("chips", "bb"):
        good("export", folders / name, tmp_path / f"{name}.csv")
        with (tmp_path / f"{name}.csv").open() as file:
            rows.append(list(csv.DictReader(file)))
    assert len(rows[0]) == len(rows[1])
    for chips, blinds in zip(*rows, strict=True):
        assert Unit("bb", 100).line_text(chips["line"]) == blinds["line"]
        assert chips["ev"] == "" or float(blinds["ev"]) * 100 == pytest.approx(float(chips["ev"]), abs=1e-9)


def test_a_comparison_tells_the_same_in_either_unit(folders):
    chips, blinds = (
        good_json("compare", folders / name, folders / name, "--line", line)
        for name, line in (("chips", "cr50"), ("bb", "x b50%"))
    )
    assert (chips["line"], blinds["line"], blinds["unit"]) == ("cr50", "cr0.5", "bb")
    for key in ("pot", "ev"):
        np.testing.assert_allclose(np.array(blinds[key]) * 100, chips[key], rtol=1e-9)
    assert list(blinds["lines"]) == [Unit("bb", 100).line_text(line) for line in chips["lines"]]
    assert "pot     1 bb\n" in good("compare", folders / "bb", folders / "bb")
    said = refused("compare", folders / "chips", folders / "bb")
    assert "expected amounts in the same unit, found chips and bb" in said


def test_lines_as_people_write_them_choose_what_is_exported(folders, tmp_path):
    good("export", folders / "bb", tmp_path / "some.csv", "--line", "x b0.5", "--wide")
    with (tmp_path / "some.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {row["line"] for row in rows} == {"cr0.5"}
    refusal = refused("export", folders / "bb", tmp_path / "none.csv", "--line", "x b0.5", "--player", "ip")
    assert "decisions of line 'x b0.5', ip: expected at least one" in refusal


def test_a_report_over_boards_tells_the_same_in_either_unit(folders, tmp_path):
    board = BLINDS.replace("Qs 7h 2d 3c", "Ks 7h 2d 4c")
    good("solve", write(tmp_path, board, "other.toml"), "--out", tmp_path / "other", *SOLVE)
    found = good_json("report", folders / "bb", tmp_path / "other", "--line", "x")
    assert (found["unit"], found["pot"], found["line"]) == ("bb", 1, "c")
    for row in found["boards"].values():
        assert sum(row["ev"]) == pytest.approx(1)
    assert "expected the same unit as in" in refused("report", folders / "chips", tmp_path / "other")


def test_tree_and_estimate_say_the_unit(folders):
    chips, blinds = (good_json("tree", folders / f"{name}.toml") for name in ("chips", "bb"))
    assert "unit" not in chips
    assert blinds["unit"] == "bb"
    assert blinds["root"]["actions"]["bet 0.5"]["put_in"] == [0.5, 0]
    text = good("tree", folders / "bb.toml")
    assert text.startswith("amounts in bb\n")
    assert "put in 0.5 and 0.5" in text
    assert good_json("estimate", folders / "bb.toml")["unit"] == "bb"
    assert "in bb of 100 chips" in good("estimate", folders / "bb.toml")


def test_the_python_functions_take_lines_of_the_unit(folders):
    with Solution.open(folders / "bb") as solution:
        node = solution.node("x b0.5 c /", RIVER)
        assert (node.line, node.unit) == ("cr0.5c/", "bb")
    with open_policy(folders / "bb") as policy:
        decision = policy.decision("x b0.5 c /", RIVER)
        assert decision.line == "cr50c/"
        assert policy.decision(Line("cr50c/"), RIVER).line == "cr50c/"
        with pytest.raises(InputError, match=r"expected one of check \(c\), bet 0\.5 \(r0\.5\)"):
            policy.decision("cr50c/", RIVER)


def test_a_folder_in_big_blinds_goes_on_and_a_job_in_chips_is_another(folders):
    again = good_json("solve", folders / "bb.toml", "--out", folders / "bb", *SOLVE)
    assert again["sweeps"] == 20
    said = refused("solve", folders / "chips.toml", "--out", folders / "bb")
    assert "holds the lockers of another job" in said


def test_a_batch_tells_the_unit_and_merges_boards(tmp_path):
    boards = 'boards = ["Qs 7h 2d 3c", "Qh 7s 2d 3c"]'
    text = BLINDS.replace('board = "Qs 7h 2d 3c"', boards).replace("AhAd,KdQd,JcTc", "AA")
    file = write(tmp_path, text.replace("KhKc,8s7s", "KK"))
    first, second = good_json("solve", file, "--out", tmp_path / "out", "--set", "solve.target=5%")
    assert (first["unit"], second["unit"], second["same_as"]) == ("bb", "bb", "Qs7h2d3c")
    assert sum(first["ev"]) == pytest.approx(1)
    again = good_json("solve", file, "--out", tmp_path / "out", "--set", "solve.target=5%")
    assert [one["ev"] for one in again] == [first["ev"]] * 2


def job(unit="bb", game="holdem.nolimit.2p.reverse_blinds", bet="50%", pot=5.5, stack=97.5, **more):
    spot = {"board": "Qs 7h 2d 3c", "pot": pot, "stack": stack, "oop": "AA", "ip": "KK"}
    data = {"name": "x", "unit": unit, "game": {"file": game}, "spot": spot | more.pop("spot", {})}
    return Job.of(data | {"bets": {"turn": {"bet": bet}}} | more)


def test_amounts_of_a_job_become_whole_chips():
    rake = {"rake": {"rate": 0.05, "cap": 0.6}}
    found = job(bet="2.5bb, a", tree={"min_bet": 1}, spot=rake, solve={"target": "0.01 bb"})
    config = found.tree_config
    assert (config.pot, config.stack, config.min_bet, config.rake.cap) == (550, 9750, 100, 60)
    labels = [action.label for action in found.betting_tree.root.actions]
    assert labels == ["check", "bet 2.5", "all-in 97.5"]
    assert Job.stored(found.manifest()["job"], "x").manifest() == found.manifest()


def test_the_smallest_unit_is_the_game_s_chip():
    assert job(game="doyle").tree_config.pot == 11
    with pytest.raises(InputError, match=r"spot\.pot: expected a multiple of 0\.5 bb \(a chip of this game"):
        job(game="doyle", pot=5.25)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"pot": 5.555}, "pot: expected a multiple of 0.01 bb (a chip of this game, whose big blind is 100)"),
        ({"stack": 0.001}, "spot.stack: expected a multiple of 0.01 bb"),
        ({"unit": "chips"}, 'spot.stack: expected a whole number of chips, or unit = "bb" in the job'),
        ({"unit": "euro"}, "unit: expected 'chips' or 'bb', found 'euro'"),
        ({"pot": "5.5"}, "spot.pot: expected a number, found '5.5'"),
        ({"pot": True}, "spot.pot: expected a number, found True"),
        ({"pot": 0}, "spot.pot: expected a number greater than 0, found 0"),
        ({"pot": float("nan")}, "spot.pot: expected a number greater than 0, found nan"),
        ({"pot": 10**9}, "spot.pot: expected at most 10000000 bb, found 1000000000"),
        ({"bet": "100c"}, "bets.turn.bet, position 0: expected an amount in bb, such as 2.5bb"),
        ({"bet": "50%, 2.555bb"}, "bets.turn.bet, position 5: expected a multiple of 0.01 bb"),
        ({"unit": "chips", "pot": 5, "stack": 90, "bet": "2.5bb"}, "expected an amount in chips, such as"),
        ({"tree": {"min_bet": 0.005}}, "tree.min_bet: expected a multiple of 0.01 bb"),
    ],
)
def test_amounts_that_are_none(given, message):
    with pytest.raises(InputError) as error:
        job(**given)
    assert message in str(error.value)


def test_every_amount_round_trips():
    for blind in (1, 2, 4, 5, 10, 20, 50, 100, 125, 1000):
        unit = Unit("bb", blind)
        assert all(unit.read(unit.text(chips), "x") == chips for chips in range(3 * blind))
        assert all(unit.read(unit.number(chips), "x") == chips for chips in range(3 * blind))


def test_a_big_blind_without_decimals_is_refused():
    game = replace(load_game("doyle"), blinds=(3, 1))
    with pytest.raises(InputError, match='unit: expected "chips", or "bb" in a game whose big blind is 1, 2'):
        game_unit("bb", game)


def test_what_was_dropped_is_told_in_big_blinds(folders, tmp_path):
    shutil.copytree(folders / "bb", tmp_path / "bb")
    good("drop", tmp_path / "bb", "--round", "river")
    told = spewy("show", tmp_path / "bb", "--line", "cr0.5c/", "--board", RIVER).stderr
    assert "after cr0.5c/ was dropped" in told
    assert "after cr0.5c/: exploitability" in told
