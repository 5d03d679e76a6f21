"""Payoff matrices by class of boards: right on single boards, kept, resumed, refused."""

import os
import shutil
import signal

import numpy as np
import pytest
from bucket_games import random_strategies, some_cards, two_suits
from cli_runs import good, good_json, refused, spewy, write
from stored_leduc import JOBS, stored
from without_rights import without_rights

from lockers import open_store
from solvers.game import LiveGame
from solvers.reference.walk import Walker
from spewy.chunks.live_game import with_ranges
from spewy.errors import InputError
from spewy.job.job import Job
from spewy.learn.bucket_matrices import board_chunks, bucket_payoffs, trembling
from spewy.learn.playdown import PlayDown
from spewy.look import payoffs
from spewy.records.bucket_payoffs import FOLDER, BucketPayoffs


@pytest.fixture
def game(tmp_path):
    return two_suits(tmp_path)


@pytest.fixture
def strategies(game):
    return random_strategies(game)


def by_walks(board, t, strategies):
    """What `totals` finds, by a walk through all that follows for each row of player 1."""
    layout = board.layout
    play_down = PlayDown(layout, lambda i, b, r: strategies(i, int(board.buckets[i][b]), r))
    ranges = play_down.ranges(t, 0)
    below = layout.below(t, 0)
    numbers = below.live.zeros()
    for i in range(below.n_rounds):
        for b, r in below.chunks(i):
            below.place(numbers, i, b, r, strategies(t + i, int(board.buckets[t + i][b]), r))
    rows = layout.board(t, 0).hands
    out = np.zeros((len(ranges[0]), rows[0].n_rows, rows[1].n_rows))
    weighings = [trembling(layout, t, (ranges[0][r], ranges[1][r])) for r in range(len(out))]
    first, second = (np.array([one.own[p] for one in weighings]) for p in (0, 1))
    game: LiveGame = with_ranges(below.live, (first, second))
    walker = Walker(game)
    for y in range(rows[1].n_rows):
        values = walker.evaluate(0, numbers, reach=np.where(rows[1].row == y, second, 0.0))
        for r in range(len(out)):
            out[r, :, y] = np.bincount(rows[0].row, first[r] * values[r], rows[0].n_rows)
    return out


def totals(board, t, strategies, below):
    """``A`` and ``W`` of all lines."""
    board_bucket, chunks = int(board.buckets[t][0]), board_chunks(board, t, strategies, below)
    found = [one.totals(strategies(t, board_bucket, r)) for r, one in enumerate(chunks)]
    return tuple(np.array(part) for part in zip(*found, strict=True))


def test_a_last_round_is_worth_what_walks_over_its_hands_say(game, strategies):
    board = game.board(2, some_cards(game, 4))
    gains, weights = totals(board, 2, strategies, None)
    np.testing.assert_allclose(gains, by_walks(board, 2, strategies), rtol=1e-9, atol=1e-12)
    assert weights.shape == gains.shape


def test_a_round_above_is_worth_what_walks_through_both_rounds_say(game, strategies):
    cards = some_cards(game, 3)
    board = game.board(1, cards)
    below = {
        int(board_bucket): bucket_payoffs(
            game, 2, int(board_bucket), [((*cards, int(board_bucket)), 1)], strategies, None
        )
        for board_bucket in board.buckets[2]
    }
    gains, _ = totals(board, 1, strategies, lambda t, board_bucket, r: below[board_bucket][r])
    np.testing.assert_allclose(gains, by_walks(board, 1, strategies), rtol=1e-6, atol=1e-9)


def test_boards_of_a_class_count_as_often_as_they_were_drawn(game, strategies):
    some, other = some_cards(game, 4), some_cards(game, 5)[1:]

    def same(t, board_bucket, r):  # as these boards are of different board_buckets
        return strategies(t, board_bucket if t < 2 else 0, r)

    found = bucket_payoffs(game, 2, 0, [(some, 1), (other, 2)], same, None)
    (a, w), (b, v) = (totals(game.board(2, cards), 2, same, None) for cards in (some, other))
    there = w + 2 * v > 1e-9 * (w + 2 * v).max()
    np.testing.assert_allclose(found[there], ((a + 2 * b) / np.where(there, w + 2 * v, 1.0))[there])


def test_rows_that_never_meet_get_what_they_get_in_the_mean(game, strategies):
    found = bucket_payoffs(game, 2, 0, [(some_cards(game, 4), 1)], strategies, None)
    assert np.isfinite(found).all()
    assert np.abs(found[0]).min(axis=1).max() > 0


@pytest.fixture
def folder(tmp_path):
    return stored(tmp_path, *JOBS["classes"])


def test_matrices_are_made_and_told(folder):
    result = spewy("payoffs", folder, "--workers", 1)
    assert result.exit_code == 0
    assert result.stdout.splitlines()[:2] == [
        "job      leduc, 3 deals",
        "flop     2 board buckets of 5 lines each",
    ]
    assert result.stderr.splitlines()[0].startswith(
        "leduc: 2 board buckets of flop to do, 4 boards each, 1 at a time; "
    )
    with BucketPayoffs.of_solve(folder) as kept:
        found = kept.matrices(1, 0, (5, 3, 3))
    assert np.isfinite(found).all()
    assert np.abs(found).max() <= 13


def test_what_was_made_is_kept_until_other_strategies_are_saved(folder, monkeypatch):
    before = good_json("payoffs", folder, "--workers", 1)
    with BucketPayoffs.of_solve(folder) as kept:
        mark = kept.mark
    monkeypatch.setattr(payoffs, "_task", None)  # nothing is left to be made
    assert good_json("payoffs", folder, "--workers", 1) | {"seconds": 0} == before | {"seconds": 0}
    monkeypatch.undo()
    stored(folder, *JOBS["classes"], deals=4, seed=1)
    assert "2 board buckets of flop to do" in spewy("payoffs", folder, "--workers", 1).stderr
    with BucketPayoffs.of_solve(folder) as kept:
        assert kept.mark != mark


def test_ctrl_c_keeps_what_was_made(folder, monkeypatch):
    put = BucketPayoffs.keep

    def put_and_interrupt(*args):
        put(*args)
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(BucketPayoffs, "keep", put_and_interrupt)
    assert spewy("payoffs", folder, "--workers", 1).exit_code == 130
    monkeypatch.undo()
    assert (
        "1 board buckets of flop to do, 1 computed before" in spewy("payoffs", folder, "--workers", 1).stderr
    )


def test_one_process_and_two_make_the_same(folder, tmp_path_factory):
    copy = shutil.copytree(folder, tmp_path_factory.mktemp("copy") / "leduc")
    good("payoffs", folder, "--workers", 1)
    good("payoffs", copy, "--workers", 2)
    with BucketPayoffs.of_solve(folder) as alone, BucketPayoffs.of_solve(copy) as together:
        for board_bucket in (0, 1):
            np.testing.assert_array_equal(
                alone.matrices(1, board_bucket, (5, 3, 3)), together.matrices(1, board_bucket, (5, 3, 3))
            )


def test_damage_is_told(folder):
    good("payoffs", folder, "--workers", 1)
    with open_store(folder / FOLDER) as store:
        key = next(key for key in store.keys("payoff") if key.endswith(b"|1.0"))
        store.transact(lambda txn: txn.put("payoff", key, np.zeros(3)))
    with (
        BucketPayoffs.of_solve(folder) as kept,
        pytest.raises(InputError, match=r"round 1, board bucket 0: .* delete the folder payoffs in"),
    ):
        kept.matrices(1, 0, (5, 3, 3))


def test_another_solve_has_no_classes(tmp_path):
    job = Job.of({"name": "leduc", "game": {"file": "leduc"}})
    with open_store(tmp_path / "leduc", job.manifest()):
        pass
    assert "expected a whole game with [boards], found another solve" in refused(
        "payoffs", tmp_path / "leduc"
    )


@pytest.mark.parametrize("name", ["preflop", "turn", "Flop", ""])
def test_a_round_that_has_no_matrices(folder, name):
    assert f"round: expected one of flop, found {name!r}" in refused("payoffs", folder, "--round", name)


def test_a_game_without_public_cards_has_none(tmp_path):
    text = 'name = "k"\n[game]\nfile = "kuhn"\n[boards]\n[solve]\nmax_sweeps = 3\ntarget = "0 mbb"\n'
    good("solve", write(tmp_path, text), "--out", tmp_path / "out")
    assert "it has no public cards, so it has no payoff matrices of board buckets" in refused(
        "payoffs", tmp_path / "out"
    )
    assert " mbb on 1 flop after 3, " in good("status", tmp_path / "out")


def test_who_may_only_read_a_folder_is_told(folder):
    def told():
        assert "expected a folder and files that can be written" in refused("payoffs", folder)

    without_rights(folder, told)
