"""The JSON of a solve of TexasSolver as the second side of ``spewy compare``.

A solve of ours is written in TexasSolver's form, so every difference must be 0; and a solve by hand has known ones.
"""

import json

import numpy as np
import pytest
from cli_runs import good, good_json, refused
from jobs import TURN

from spewy import Solution, solve
from spewy.job.job import Job

CARDS = ("3d", "Ac")


@pytest.fixture(scope="module")
def turn(tmp_path_factory):
    """The folder of a solved turn."""
    folder = tmp_path_factory.mktemp("texas") / "turn"
    solve(Job.of(TURN), folder).close()
    return folder


def dumped(solution, line="", board="Qs Jh 2h 8c", put_in=(0, 0)):
    """Write a decision and what follows as ``dump_result`` does: RAISE and BET have the chips that are added."""
    view = solution.node(line or "", board)
    player, node = view.player, solution.at(line or "", board).node
    names, childrens = [], {}
    for action, child in zip(node.actions, node.children, strict=True):
        if action.total is None:
            name = action.kind.upper()
        else:
            added = action.total - node.put_in[player]
            faces = max(node.put_in) > min(node.put_in)
            name = f"{'RAISE' if faces else 'BET'} {added:f}"
        names.append(name)
        if child.kind == "decision":
            childrens[name] = dumped(solution, child.line, board)
        elif child.kind == "chance" and child.children[0].kind == "decision":
            deals = {card: dumped(solution, f"{child.line}/", f"{board} {card}") for card in CARDS}
            childrens[name] = {"dealcards": deals, "deal_number": len(deals), "node_type": "chance_node"}
    rows = {hand: view.strategy[:, h].tolist() for h, hand in enumerate(view.hands)}
    return {
        "actions": names,
        "childrens": childrens,
        "node_type": "action_node",
        "player": 1 - player,
        "strategy": {"actions": names, "strategy": rows},
    }


@pytest.fixture(scope="module")
def ours(turn, tmp_path_factory):
    """The solve in TexasSolver's form."""
    path = tmp_path_factory.mktemp("texas") / "output_result.json"
    with Solution.open(turn) as solution:
        path.write_text(json.dumps(dumped(solution)))
    return path


@pytest.mark.parametrize(
    "place",
    [
        (),
        ("--line", "x b50"),
        ("--line", "x b50 a"),
        ("--line", "b50 c", "--board", "Qs Jh 2h 8c 3d"),
        ("--line", "x x x", "--board", "Qs Jh 2h 8c Ac"),
    ],
)
def test_a_solve_in_their_form_is_the_solve(turn, ours, place):
    found = good_json("compare", turn, ours, *place)
    same = good_json("compare", turn, turn, *place)
    assert found["actions"] == same["actions"]
    assert np.array(found["frequencies"]) == pytest.approx(np.array(same["frequencies"]), abs=1e-6)
    assert found["only"] == [[], []]
    assert found["ev"][1] == [None, None]
    assert found["ev"][0] == same["ev"][0]
    assert found["hands"].keys() == {hand for hand, row in same["hands"].items() if row["reach"][0] > 1e-12}
    for hand, row in found["hands"].items():
        assert row["moved"] == pytest.approx(0, abs=1e-6)
        assert row["reach"][1] == pytest.approx(same["hands"][hand]["reach"][0], rel=1e-5, abs=1e-9)
        assert row["ev"][1] is None
    assert found["lines"].keys() == same["lines"].keys()
    assert all(change["moved"] == pytest.approx(0, abs=1e-6) for change in found["lines"].values())


def test_differences_weigh_hands_by_their_reach(turn, ours, tmp_path):
    """In B every hand of oop checks, so a hand moves as often as it bets in A; T9s has half the weight of a hand."""
    found = json.loads(ours.read_text())
    for row in found["strategy"]["strategy"].values():
        row[:] = [1.0, 0.0]
    path = tmp_path / "checks.json"
    path.write_text(json.dumps(found))
    compared = good_json("compare", turn, path)
    bets = compared["frequencies"][0][1]
    assert compared["frequencies"][1] == [1.0, 0.0]
    weight = {hand: row["reach"][0] for hand, row in compared["hands"].items()}
    moved = {hand: row["strategy"][0][1] for hand, row in compared["hands"].items()}
    assert bets == pytest.approx(sum(weight[h] * moved[h] for h in weight) / sum(weight.values()))
    assert weight["Ts9s"] == pytest.approx(weight["AhAd"] / 2)
    text = good("compare", turn, path)
    assert "checks.json, of TexasSolver" in text
    assert "nan" not in text


def test_lines_that_only_one_side_has_are_told(turn, ours, tmp_path):
    found = json.loads(ours.read_text())
    below = found["childrens"].pop("BET 50.000000")
    found["actions"][1] = found["strategy"]["actions"][1] = "BET 80.000000"
    found["childrens"]["BET 80.000000"] = below
    del below["childrens"]["CALL"]  # as with set_dump_rounds 1
    path = tmp_path / "other.json"
    path.write_text(json.dumps(found))
    compared = good_json("compare", turn, path)
    assert compared["actions"] == ["check", "bet 50", "bet 80"]
    assert "r50" in compared["only"][0]
    assert "r80" in compared["only"][1]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda found: found.pop("player"),
            "expected the JSON that TexasSolver's dump_result writes, found other",
        ),
        (
            lambda found: found.update(player=0),
            "expected a decision as TexasSolver writes it, found player 0",
        ),
        (lambda found: found.update(actions=["CHECK", "BET 900.000000"]), "with the stack 200 of job turn"),
        (lambda found: found.update(actions=["CHECK", "SHOVE"]), "found 'SHOVE'"),
        (lambda found: found.pop("strategy"), "found no strategy"),
        (
            lambda found: found["childrens"].pop("CHECK"),
            "after 'c': expected a decision as TexasSolver writes it, found no",
        ),
        (lambda found: found["strategy"]["strategy"].update(AsAh=[1.0]), "found 1 frequencies of AsAh"),
        (lambda found: found["strategy"]["strategy"].update(AsAx=[1.0, 0.0]), "found hand 'AsAx'"),
    ],
)
def test_a_file_that_is_no_solve_of_the_spot(turn, ours, tmp_path, change, words):
    found = json.loads(ours.read_text())
    change(found)
    path = tmp_path / "bad.json"
    path.write_text(json.dumps(found))
    assert words in refused("compare", turn, path)


def test_a_file_that_ends_too_soon(turn, ours, tmp_path):
    path = tmp_path / "cut.json"
    path.write_text(ours.read_text()[:-100])
    assert "cut.json, line 1, column " in refused("compare", turn, path)
    path.write_text(json.dumps({"actions": []}))
    assert "dump_result" in refused("compare", turn, path)
    line = refused("compare", turn, ours, "--line", "x x", "--board", "Qs Jh 2h 8c 4d")
    assert (
        "the file has no strategies after the 4d; TexasSolver writes later rounds after set_dump_rounds"
        in line
    )
