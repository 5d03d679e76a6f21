"""Curves of range against range, and the names of filters."""

import numpy as np
import pytest
from cli_runs import good_json, refused


@pytest.fixture(scope="module")
def folder(small):
    return small


def test_curves_hold_the_values_of_show_in_order(folder, pages):
    found = pages.ask("/api/curves", folder="turn", line="c")
    assert found["unit"] == "chips"
    for player, seat in enumerate(("oop", "ip")):
        shown = good_json("show", folder / "turn", "--line", "c", "--player", seat)["hands"]
        pot, total = 100, sum(row["reach"] for row in shown.values())
        of_hand = {
            "equity": {hand: row["equity"] for hand, row in shown.items()},
            "EV": {hand: row["ev"] for hand, row in shown.items()},
            "realisation": {
                hand: row["ev"] / (row["equity"] * pot) for hand, row in shown.items() if row["equity"]
            },
        }
        for name, curves in found["curves"].items():
            curve = curves[player]
            assert curve["player"] == player
            assert dict(zip(curve["hands"], curve["value"], strict=True)) == pytest.approx(of_hand[name])
            assert curve["value"] == sorted(curve["value"])
            width = np.diff([0, *curve["share"]])
            weights = [shown[hand]["reach"] for hand in curve["hands"]]
            assert width == pytest.approx(np.array(weights) / sum(weights))
            assert sum(weights) == pytest.approx(total) or name == "realisation"


def test_curves_have_only_the_hands_that_pass_the_filter(pages):
    found = pages.ask("/api/curves", folder="turn", filter="overpair")["curves"]["equity"]
    assert [set(curve["hands"]) for curve in found] == [{"AhAd"}, {"KhKc"}]


def test_each_suggested_name_is_a_filter(pages):
    names = pages.ask("/api/filters")["names"]
    assert {"flush draw", "straight draw", "nothing", "nut flush blocker"} <= set(names)
    for name in names:
        assert "views" in pages.ask("/api/position", folder="turn", filter=name)


def test_errors_name_what_is_wrong(folder, pages):
    wrong = pages.refused("/api/curves", folder="turn", filter="bogus")
    assert wrong == refused("show", folder / "turn", "--filter", "bogus").removeprefix("Error: ")
    assert "there is no such solve" in pages.refused("/api/curves", folder="../turn")
    assert "line 'q', position 0: expected one of" in pages.refused("/api/curves", folder="turn", line="q")
