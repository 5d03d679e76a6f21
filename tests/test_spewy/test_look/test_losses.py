"""Losses at decisions: `spewy exploit` has the mean of what `spewy show` says, over every decision and every card."""

import numpy as np
import pytest
from cli_runs import good, good_json, write
from jobs import parsed_job

from spewy import InputError, Solution, solve

TURN = """
name = "turn"
[game]
file = "holdem.nolimit.2p.reverse_blinds"
[spot]
board = "Qs Jh 2h 8c"
pot = 100
stack = 200
oop = "AA,QJs,T9s:0.5,76s"
ip = "KK,QTs,AhKh,JJ"
[bets.turn]
bet = "50%"
raise = "a"
[bets.river]
bet = "a"
[solve]
target = "0%"
max_sweeps = 400
"""


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """The folders of a solve and of its refined twin."""
    root, job = tmp_path_factory.mktemp("losses"), parsed_job(TURN)
    for name, refine in (("plain", False), ("refined", True)):
        solve(job.replace({"solve.refine": refine}), root / name).close()
    return root


def decisions(steps, count=1):
    """All decisions that follow some steps, each with the number of dealt boards for which it stands."""
    for step in steps:
        dealt = count * step.count
        if step.kind == "decision":
            yield step.node(), dealt
        yield from decisions(step.children, dealt)


def test_the_mean_loss_is_that_of_all_decisions_on_all_cards(folders):
    found = good_json("exploit", folders / "plain")
    with Solution.open(folders / "plain") as solution:
        views = [(solution.node(), 1), *decisions(solution.children())]
        pots = [100 + sum(solution.at(view.line, view.board).node.put_in) for view, _ in views]
        lost = [(100 * view.loss / pot, dealt) for (view, dealt), pot in zip(views, pots, strict=True)]
    assert sum(dealt for _, dealt in lost) == found["decisions"]
    known = [(loss, dealt) for loss, dealt in lost if not np.isnan(loss)]
    assert sum(dealt for _, dealt in known) == found["decisions"] - found["unreached"]
    losses, dealt = zip(*known, strict=True)
    mean = np.average(losses, weights=dealt)
    assert found["decision_loss_pct"] == pytest.approx(mean, rel=1e-6)


def test_a_refined_solve_loses_less_where_play_hardly_goes(folders):
    plain, refined = (good_json("exploit", folders / name) for name in ("plain", "refined"))
    assert refined["decision_loss_pct"] < 0.6 * plain["decision_loss_pct"]
    assert refined["exploitability_pct"] < 0.1


def test_solve_prints_the_mean_loss_of_a_refined_solve(tmp_path):
    text = good("solve", write(tmp_path, TURN + "refine = true"), "--out", tmp_path / "turn")
    found = good_json("exploit", tmp_path / "turn")["decision_loss_pct"]
    assert f"{found:.4f}% of the pot, at all decisions" in text


def test_show_marks_rare_decisions_and_says_what_hands_lose(folders):
    with Solution.open(folders / "refined") as solution:
        common, rare = solution.node(), solution.node("x b50 a")
        assert common.reached == 1
        assert not common.rare
        shares = [
            view.reach.sum() / start.reach.sum()
            for view, start in ((rare, solution.node()), (solution.waiting("x b50 a"), solution.waiting()))
        ]
        assert rare.reached == pytest.approx(np.prod(shares))
        assert rare.regret == pytest.approx(rare.action_ev.max(axis=0) - rare.ev, abs=1e-9, nan_ok=True)
    text = good("show", folders / "refined", "--hands")
    assert "mean loss" in text
    assert "reached by" not in text


@pytest.mark.parametrize("method", [{"leaves": "stored"}, {"method": "lp"}])
def test_refine_needs_live_leaves(method):
    with pytest.raises(InputError, match=r"solve\.refine: expected live leaves"):
        parsed_job(TURN).replace({"solve": {"refine": True} | method})
