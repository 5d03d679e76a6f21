"""Decisions of a whole game with board buckets: one by one, by hand, and as the command line shows them."""

from dataclasses import replace

import numpy as np
import pytest
from class_numbers import ClassSums
from cli_runs import good, good_json, refused
from fake_classes import CountedClasses

from buckets.cards import parse_cards, parse_hand, preflop_classes
from spewy import open_policy
from spewy.errors import InputError
from spewy.game.gamefile import load_game
from spewy.job.job import Job
from spewy.look.solution import Solution
from spewy.records import policy as policies
from spewy.records.policy import BucketPolicy
from spewy.records.strategy_locker import StrategyLocker

CLASSES, ROWS = (1, 3), (7, 5)
BOARD = "Qs Jh 3h"


@pytest.fixture(scope="module")
def job():
    return Job.of(
        {
            "name": "flop",
            "game": {"file": "flop-holdem"},
            "boards": {"flop": CLASSES[1]},
            "rows": {"preflop": ROWS[0], "flop": ROWS[1]},
        }
    )


@pytest.fixture(scope="module")
def sums(job):
    return ClassSums(job.betting_tree, CLASSES, ROWS)


@pytest.fixture(scope="module")
def folder(job, sums, tmp_path_factory):
    folder = tmp_path_factory.mktemp("flop")
    with sums.create(folder / "play", job.manifest()) as store:
        sums.write(store, deals=1234)
    return folder


@pytest.fixture
def counted(job, monkeypatch):
    monkeypatch.setattr(
        policies, "board_abstraction", lambda game, arrays: CountedClasses(game, CLASSES, ROWS)
    )


@pytest.fixture
def policy(job, folder):
    with BucketPolicy(
        job.problem, StrategyLocker.open(folder / "play"), CountedClasses(job.rules, CLASSES, ROWS)
    ) as found:
        yield found


@pytest.fixture
def solution(job, folder, counted):
    with Solution.open(folder) as found:
        yield found


def expected(sums, line, board_bucket, row):
    for _, _, node, _, _, mine in sums.decisions():
        if node.line == line:
            return mine[board_bucket, row] / mine[board_bucket, row].sum()
    raise KeyError(line)


def test_every_decision_gives_a_hand_the_frequencies_of_its_row(policy, sums):
    for _, _, node, _, _, mine in sums.decisions():
        board = BOARD if node.round else None
        board_bucket = min(parse_cards(BOARD)) // 4 % 3 if node.round else 0
        found = policy.decision(node.line, board)
        rows = found.hands % ROWS[node.round]
        shares = mine[board_bucket] / mine[board_bucket].sum(axis=1, keepdims=True)
        assert found.player == node.player
        np.testing.assert_allclose(found.frequencies, shares[rows].T, atol=1 / 255)
        np.testing.assert_allclose(found.frequencies.sum(axis=0), 1)


def test_hands_that_the_board_blocks_are_left_out(policy):
    assert len(policy.decision().hands) == 1326
    found = policy.decision("cc/", BOARD)
    assert len(found.hands) == 49 * 48 // 2
    with pytest.raises(InputError, match="hand AdQs: oop cannot have it, since the board QsJh3h blocks it"):
        policy.frequencies("cc/", BOARD, "QsAd")


@pytest.mark.parametrize(
    ("line", "board", "message"),
    [
        ("cc/", None, "board: expected 3 cards in this round, found 0"),
        ("cc/", "Qs Qs 3h", "board"),
        ("", BOARD, "board: expected 0 cards in this round, found 3"),
        ("cc", None, "line 'cc': expected a decision, found a deal of cards"),
        ("x", None, "line 'x', position 0"),
    ],
)
def test_what_is_no_decision(policy, line, board, message):
    with pytest.raises(InputError) as error:
        policy.decision(line, board)
    assert str(error.value).startswith(message)


def test_a_range_is_played_down_from_the_deal(policy, solution):
    """By each hand's own frequencies on the way, whatever the other player does."""
    view = solution.node("rc/r", BOARD)
    assert view.player == 1
    for hand, reach in zip(view.hands[::50], view.reach[::50], strict=True):
        first = policy.frequencies("", None, hand)[2]
        assert reach == pytest.approx(first)
    deeper = solution.node("rrc/rr", BOARD)
    assert deeper.player == 0
    for hand, reach in zip(deeper.hands[::50], deeper.reach[::50], strict=True):
        way = policy.frequencies("r", None, hand)[2] * policy.frequencies("rrc/", BOARD, hand)[1]
        assert reach == pytest.approx(way)
    assert list(view.reach) == sorted(view.reach, reverse=True)
    assert np.isnan(solution.node().ev).all()
    assert np.isnan(solution.node().equity).all()


def test_evs_and_equities_are_known_in_the_last_round(solution):
    """Both are shares of the pot that add up to it, over all pairs of hands that can be there."""
    for line in ("cc/", "rc/r", "rrc/crr"):
        totals = solution.totals(line, BOARD)
        node = solution.at(line, BOARD).node
        assert sum(totals.ev) == pytest.approx(solution.problem.pot + sum(node.put_in))
        assert sum(totals.equity) == pytest.approx(1)
    view = solution.node("rc/r", BOARD)
    known = view.reach > 0
    np.testing.assert_allclose((view.strategy * view.action_ev).sum(axis=0)[known], view.ev[known], atol=1e-9)


def test_a_grid_is_the_mean_over_the_hands_of_each_class(policy, solution):
    view = solution.node("rc/cr", BOARD)
    grid = view.grid()
    names = np.array(preflop_classes()[1]).reshape(13, 13)
    for row, column in ((0, 0), (0, 5), (9, 2), (2, 2), (12, 12)):
        mine = [
            h
            for h, hand in enumerate(view.hands)
            if preflop_classes()[1][preflop_classes()[0][policy.problem.game.hand_number(parse_hand(hand))]]
            == names[row, column]
        ]
        weight = view.reach[mine]
        assert grid.reach[row, column] == pytest.approx(weight.mean())
        np.testing.assert_allclose(
            grid.frequencies[:, row, column], view.strategy[:, mine] @ weight / weight.sum()
        )


def test_a_grid_needs_hands_of_holdem(solution):
    with pytest.raises(InputError, match="grid: expected a hold'em game"):
        replace(solution.node(), game=load_game("leduc")).grid()


def test_one_walks_through_a_game_by_its_children(solution):
    steps = solution.node().children
    assert [step.name for step in steps] == ["fold", "call", "raise to 20"]
    assert sum(step.frequency for step in steps) == pytest.approx(1)
    assert [step.kind for step in steps] == ["fold", "decision", "decision"]
    assert steps[0].children == ()
    np.testing.assert_array_equal(steps[2].node().strategy, solution.node("r").strategy)
    flops = next(step for step in steps[2].children if step.name == "call").children
    assert (len(flops), sum(step.count for step in flops)) == (1755, 22100)
    assert sum(step.frequency for step in flops) == pytest.approx(1)
    flop = flops[1000]
    assert (flop.kind, flop.line) == ("decision", "rc/")
    assert flop.node().board == flop.board
    assert flop.to_json()["board"] == flop.name
    with pytest.raises(InputError, match="step fold: it leads to a fold, where nobody acts"):
        steps[0].node()


def test_bots_open_the_folder_as_any_other(folder, counted, policy):
    with open_policy(folder) as found, open_policy(folder / "play") as alone:
        mine = policy.frequencies("rc/", BOARD, "AsAd")
        np.testing.assert_array_equal(found.frequencies("rc/", BOARD, "AsAd"), mine)
        np.testing.assert_array_equal(alone.frequencies("rc/", BOARD, "AsAd"), mine)


def test_show_draws_the_deal(folder, counted):
    text = good("show", folder)
    assert text.splitlines()[0].split(maxsplit=1) == ["job", "flop, 1,234 deals"]
    assert "f fold, c call, r raise to 20" in text
    chart = text.splitlines()[-13:]
    assert chart[0].startswith("A ")
    assert all(len(line.split()) == 14 for line in chart)
    assert "reach in %" not in text  # everybody is there


def test_show_names_the_class_of_a_board(folder, counted):
    text = good("show", folder / "play", "--line", "rc/c", "--board", BOARD)
    assert "  Qs Jh 3h, board bucket 1\n" in text
    assert "reach in %" in text
    assert len(text.splitlines()[-1].split()) == 14


def test_show_tells_hands_too(folder, counted):
    told = good_json("show", folder, "--line", "rc/", "--board", BOARD)
    assert (told["player"], told["board_bucket"], len(told["hands"])) == (0, 1, 1176)
    hand = told["hands"]["AsKs"]
    assert 0 < hand["equity"] < 1
    assert hand["ev"] is not None
    assert sum(hand["strategy"]) == pytest.approx(1)
    text = good("show", folder, "--all")
    assert len([line for line in text.splitlines() if line.startswith("  As")]) > 40


def test_show_of_a_game_that_nothing_was_saved_of(job, tmp_path, sums, counted):
    with sums.create(tmp_path / "play", job.manifest()):
        pass
    assert "not solved yet, it holds no saved strategy" in refused("show", tmp_path)


@pytest.mark.parametrize(("line", "board"), [("", None), ("rc/", BOARD)])
def test_a_chunk_has_all_its_decisions_one_by_one(policy, line, board):
    play = policy.chunk(line, board)
    assert play.solved is None
    decisions = [node.line for node in play.nodes if node.kind == "decision"]
    assert sorted(decisions) == sorted(play.frequencies)
    for at in decisions:
        found = policy.decision(at, board)
        np.testing.assert_array_equal(play.hands[found.player], found.hands)
        np.testing.assert_array_equal(play.frequencies[at], found.frequencies)
