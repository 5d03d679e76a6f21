"""Whole games in classes of boards, integrated by averages through stored payoff matrices."""

import shutil

import numpy as np
import pytest
from cli_runs import good, good_json, refused, spewy, write
from dealt_jobs import exploitability_of, numbers_in

from spewy import Solution
from spewy.look.folder import open_policy
from spewy.records.bucket_payoffs import FOLDER, BucketPayoffs

JOB = """
name = "leduc"
[game]
file = "leduc"
[boards]
[solve]
integrate = "average"
target = "0 mbb"
max_sweeps = {visits}
"""
SWEEP = 1 + 3
"""Visits: preflop, and three flops up to suits."""


@pytest.fixture
def solved(tmp_path):
    """Solves for so many visits in all, into the same folder."""

    def solve(visits, name="out", *settings):
        good("solve", write(tmp_path, JOB.format(visits=visits)), "--out", tmp_path / name, *settings)
        return tmp_path / name

    return solve


def decisions(problem):
    """(line, board) of each decision in each class of boards, by its first board."""
    for node in problem.tree.nodes():
        if node.kind == "decision":
            yield from ((node.line, board) for board in ([None] if node.round == 0 else ["Kh", "Qh", "Ah"]))


def test_a_sweep_does_what_one_over_chunks_of_single_boards_does(solved, tmp_path):
    """Ranges are even in the first sweep, so that either way of trembling weighs hands alike."""
    folder, plain = solved(SWEEP, "classes"), JOB.format(visits=1).replace("[boards]", "")
    good("solve", write(tmp_path, plain, "plain.toml"), "--out", tmp_path / "plain")
    with open_policy(folder) as policy, Solution.open(tmp_path / "plain") as solution:
        for line, board in decisions(policy.problem):
            found, other = policy.decision(line, board), solution.node(line, board, ev=False)
            order = [found.names.index(hand) for hand in other.hands]
            np.testing.assert_allclose(found.frequencies[:, order], other.strategy, atol=0.005, err_msg=line)


@pytest.mark.parametrize("method", ["cfr", "lp"])
def test_leduc_is_learnt(solved, method):
    setting = "--set", f'solve.method="{method}"'
    few, many = (exploitability_of(solved(n * SWEEP, str(n), *setting), "leduc") for n in (4, 40))
    assert many < 0.25 < few


def test_two_runs_do_what_one_does(solved):
    whole = solved(2 * SWEEP + 1, "whole")
    parts = solved(SWEEP - 1, "parts")
    assert numbers_in(solved(2 * SWEEP + 1, "parts")) == numbers_in(whole)
    with BucketPayoffs.open(parts) as mine, BucketPayoffs.open(whole) as theirs:
        for class_ in range(3):
            assert np.array_equal(mine.get(1, class_, (5, 5, 5)), theirs.get(1, class_, (5, 5, 5)))


def test_matrices_that_are_lost_are_made_again(solved):
    folder = solved(SWEEP - 1)
    shutil.rmtree(folder / FOLDER)
    told = good_json("status", solved(SWEEP))
    assert told["saved_deals"] == SWEEP
    with BucketPayoffs.open(folder) as kept:
        assert kept.done(1) == {0, 1, 2}


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ("solve.answers=0.25", 'solve.answers: expected 0.0 beside [boards] with integrate = "average"'),
        ("solve.workers=2", "solve.workers: expected 1 beside [boards]"),
        ("solve.precision=16-bit", "solve.precision: expected 'auto' or 'single' beside"),
        ("solve.leaves=live", "solve.leaves: expected 'auto' or 'stored' beside"),
        ("solve.order=top-down", "solve.order: expected none beside [boards]"),
    ],
)
def test_what_averages_do_not_know_is_refused(tmp_path, setting, told):
    job = write(tmp_path, JOB.format(visits=1))
    assert told in refused("solve", job, "--out", tmp_path / "out", "--set", setting)
    assert not (tmp_path / "out").exists()


def test_nothing_else_makes_its_matrices_or_begins_in_it(solved, tmp_path):
    folder = solved(1)
    assert "found one that keeps its own matrices" in refused("payoffs", folder)
    job = write(tmp_path, JOB.format(visits=1))
    told = refused("solve", job, "--out", tmp_path / "other", "--start-from", folder)
    assert 'expected a job whose boards are dealt, found integrate = "average"' in told


def test_the_estimate_tells_visits(tmp_path):
    told = spewy("estimate", write(tmp_path, JOB.format(visits=1))).stdout
    assert "visits" in told
    assert "for all classes once" in told
