"""Comparisons of two solves in the browser's server."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing

import numpy as np
import pytest
from cli_runs import KUHN, TURN, good, good_json, refused, write

from spewy.web.readers import MOST_AT_ONCE, Readers
from spewy.web.reporting import side_by_side


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    base = tmp_path_factory.mktemp("compared")
    river = TURN.replace("Qs 7h 2d 3c", "Qs 7h 2d 3c 5c").replace("[bets.turn]", "[bets.river]")
    for name, job in (("a", TURN), ("b", TURN.replace('"50%"', '"50%, a"')), ("other", river)):
        good("solve", write(base, job), "--out", base / "solves" / name)
    boards = TURN.replace('board = "Qs 7h 2d 3c"', 'boards = ["Kh 9d 6s 2c", "Jh 9d 6s 2c"]')
    good("solve", write(base, boards), "--out", base / "solves" / "set", "--jobs", 1)
    for name in ("kuhn", "kuhn2"):
        good("solve", write(base, KUHN), "--out", base / "solves" / name, "--set", "solve.max_sweeps=5")
    return base / "solves"


@pytest.mark.parametrize(
    ("line", "query", "options"),
    [
        ("", {}, ()),
        ("c", {"board": "Qs7h2d3c"}, ()),
        ("cc/", {"board": "Qs7h2d3c5h"}, ("--board", "Qs7h2d3c5h")),
    ],
)
def test_a_comparison_is_that_of_the_command(folder, pages, line, query, options):
    found = pages.ask("/api/comparison", folder="a", line=line, **{"with": "b"}, **query)
    told = good_json("compare", folder / "a", folder / "b", "--line", line, *options)
    assert {key: found[key] for key in told} == told
    gaps = [abs(told["hands"][hand]["ev_difference"]) for hand in found["order"]]
    assert gaps == sorted(gaps, reverse=True)
    assert found["start_ev"] == good_json("compare", folder / "a", folder / "b")["ev"]


def test_maps_are_means_over_hand_classes(pages):
    found = pages.ask("/api/comparison", folder="a", **{"with": "b"})
    aces = found["hands"]["AhAd"]
    assert found["maps"]["EV"][0][0] == pytest.approx(aces["ev_difference"])
    assert found["maps"]["moved"][0][0] == pytest.approx(aces["moved"])
    check = found["actions"].index("check")
    difference = aces["strategy"][1][check] - aces["strategy"][0][check]
    assert found["maps"]["check"][0][0] == pytest.approx(difference)
    assert np.array(found["maps"]["EV"]).shape == (13, 13)
    grids = [found["sides"][side]["grid"]["classes"]["AA"]["frequencies"] for side in "ab"]
    assert [sum(mix) for mix in grids] == pytest.approx([1, 1])
    assert [len(mix) for mix in grids] == [2, 3]


def test_solves_of_the_same_game_are_offered(pages):
    def offered(name):
        return [(each["id"], each["batch"]) for each in pages.ask("/api/comparable", folder=name)["solves"]]

    assert offered("a") == [("b", ""), ("set/Jh9d6s2c", "set"), ("set/Kh9d6s2c", "set")]
    assert ("set/Kh9d6s2c", "set") not in offered("set/Kh9d6s2c")
    assert offered("other") == []
    assert offered("kuhn") == [("kuhn2", "")]


def test_games_without_grids_are_compared_by_hand(folder, pages):
    found = pages.ask("/api/comparison", folder="kuhn", **{"with": "kuhn2"})
    told = good_json("compare", folder / "kuhn", folder / "kuhn2")
    assert {key: found[key] for key in told} == told
    assert not {"sides", "maps"} & set(found)


def test_two_boards_are_compared_at_their_own_roots(folder, pages):
    names = {"folder": "set/Kh9d6s2c", "with": "set/Jh9d6s2c"}
    found = pages.ask("/api/comparison", board="Kh9d6s2c", line="c", **names)
    assert found["boards"] == ["Kh9d6s2c", "Jh9d6s2c"]


@pytest.mark.parametrize("other", ["a", "solves/a"])
def test_a_comparison_of_a_solve_with_itself_does_not_hold_up_clicks(folder, pages, monkeypatch, other):
    """The comparison opens one reader of the solve, also if two ids name the solve."""
    comparing, go_on = threading.Event(), threading.Event()

    def slow(*arguments):
        comparing.set()
        assert go_on.wait(60)
        return side_by_side(*arguments)

    monkeypatch.setattr("spewy.web.reporting.side_by_side", slow)
    monkeypatch.setattr("spewy.web.readers.LONGEST_WAIT", 120.0)
    query = {"folder": "a", "with": other, "line": "c"}
    try:
        assert pages.get("/api/comparison", **query).status_code == 202
        assert comparing.wait(60)
        with ThreadPoolExecutor(1) as pool:
            click = pool.submit(pages.get, "/api/position", folder="a", line="c")
            assert click.result(60).status_code == 200
    finally:
        go_on.set()
    found = pages.ask("/api/comparison", **query)
    assert np.nansum(np.abs(np.array(found["maps"]["EV"], float))) == 0


def test_nobody_waits_long_for_a_solve_that_others_use(folder, monkeypatch):
    monkeypatch.setattr("spewy.web.readers.LONGEST_WAIT", 0.1)
    with closing(Readers()) as readers, ExitStack() as opened:
        for _ in range(MOST_AT_ONCE + 2):
            assert opened.enter_context(readers.solution(folder / "a")).job.name == "turn"


def test_errors_name_what_is_wrong(folder, pages):
    def refused_with(name, **query):
        return pages.refused("/api/comparison", folder="a", **{"with": name}, **query)

    wrong = refused("compare", folder / "a", folder / "other").removeprefix("Error: ")
    assert refused_with("other") == wrong
    assert refused_with("b", line="r100").startswith("solve A: line 'r100'")
    assert "there is no such solve" in refused_with("nothing")
    assert "expected text, found none" in pages.refused("/api/comparison", folder="a")
