"""Files and texts that a reader saves from the browser: ranges as text, tables and pictures."""

import io

import numpy as np
import pandas as pd
import pytest
from cli_runs import KUHN, TURN, good, good_json, refused, write

from buckets.cards import Deck, hand_name, hands, parse_cards, parse_hand
from spewy.game.ranges import parse_range

BOARD = "Qs7h2d3c"
WIDE = TURN.replace("AhAd,KdQd,JcTc", "AA,KQs,JTs:0.5,77").replace("KhKc,8s7s", "KK,87s,QJs")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    base = tmp_path_factory.mktemp("saved")
    good("solve", write(base, WIDE), "--out", base / "solves" / "turn")
    good("solve", write(base, KUHN), "--out", base / "solves" / "kuhn", "--set", "solve.max_sweeps=5")
    return base / "solves"


def weights_of(text):
    held = parse_range(text).without(parse_cards(BOARD))
    deck = hands(Deck(), 2)
    return {hand_name(deck[h]): float(held.weights[h]) for h in np.flatnonzero(held.weights)}


def test_a_range_is_read_back_as_what_the_command_shows(folder, pages):
    found = {
        (each["player"], each["action"]): each
        for each in pages.ask("/api/ranges", folder="turn", line="c")["ranges"]
    }
    assert list(found) == [(0, ""), (1, ""), (1, "check"), (1, "bet 50")]
    for player, seat in enumerate(("oop", "ip")):
        shown = good_json("show", folder / "turn", "--line", "c", "--player", seat)
        expected = {"": {hand: row["reach"] for hand, row in shown["hands"].items()}}
        for a, action in enumerate(shown["actions"]):
            expected[action] = {
                hand: row["reach"] * row["strategy"][a] for hand, row in shown["hands"].items()
            }
        for action, weights in expected.items():
            text = weights_of(found[player, action]["text"]) if found[player, action]["text"] else {}
            for hand, weight in weights.items():
                name = hand_name(parse_hand(hand))
                assert text.get(name, 0.0) == pytest.approx(weight, abs=5.1e-4)
            assert found[player, action]["combos"] == pytest.approx(sum(weights.values()))


def test_a_class_with_blocked_hands_is_written_as_a_class(pages):
    whole = [each["text"] for each in pages.ask("/api/ranges", folder="turn")["ranges"] if not each["action"]]
    assert whole == ["AA,77,KQs,JTs:0.5", "KK,QJs,87s"]


def test_a_filter_holds_for_ranges_and_tables(pages):
    found = pages.ask("/api/ranges", folder="turn", filter="overpair")["ranges"]
    assert [(each["player"], each["text"]) for each in found if not each["action"]] == [(0, "AA"), (1, "KK")]
    table = pages.get("/api/table.csv", folder="turn", filter="overpair").text
    assert {row[:1] for row in pd.read_csv(io.StringIO(table)).hand} == {"A"}


@pytest.mark.parametrize("seat", ["oop", "ip"])
def test_a_table_is_that_of_the_command(folder, pages, tmp_path, seat):
    answer = pages.get("/api/table.csv", folder="turn", line="c", seat=seat)
    assert answer.headers["content-type"].startswith("text/csv")
    good("show", folder / "turn", "--line", "c", "--player", seat, "--wide", "--csv", tmp_path / "hands.csv")
    assert answer.text == (tmp_path / "hands.csv").read_text()


@pytest.mark.parametrize(("suffix", "begin"), [("png", b"\x89PNG"), ("svg", b"<?xml")])
@pytest.mark.parametrize("what", ["strategy", "EV"])
def test_a_picture_is_drawn(pages, suffix, begin, what):
    answer = pages.whole("/api/picture", folder="turn", line="c", format=suffix, map=what)
    assert answer.status_code == 200
    assert answer.headers["content-type"].split(";")[0].removesuffix("+xml") == f"image/{suffix}"
    assert answer.content.startswith(begin)
    assert len(answer.content) > 10_000


def test_what_is_not_installed_is_named(pages, monkeypatch):
    monkeypatch.setattr("spewy.web.answers.find_spec", lambda name: None)
    assert "pip install 'spewy[plot]'" in pages.refused("/api/picture", 501, folder="turn")
    assert "pip install 'spewy[export]'" in pages.refused("/api/table.csv", 501, folder="turn")


def test_errors_name_what_is_wrong(folder, pages):
    wrong = pages.refused("/api/picture", folder="turn", format="gif")
    assert "parameter format: expected one of png, svg" in wrong
    assert "parameter map: expected one of" in pages.refused("/api/picture", folder="turn", map="luck")
    assert "parameter seat: expected oop or ip" in pages.refused("/api/table.csv", folder="turn", seat="me")
    assert "expected a hold'em game" in pages.refused("/api/ranges", folder="kuhn")
    assert "expected a hold'em game" in pages.refused("/api/picture", folder="kuhn")
    wrong = pages.refused("/api/ranges", folder="turn", line="q")
    assert wrong == refused("show", folder / "turn", "--line", "q").removeprefix("Error: ")
