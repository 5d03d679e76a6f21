"""Payoff matrices by board bucket: right on single boards, kept, resumed, refused."""

import numpy as np
import pytest
from bucket_games import random_strategies, some_cards, two_suits
from stored_leduc import JOBS, KUHN, stored

from benchmarks.bucket_games import board_chunks, bucket_payoffs, trembling
from benchmarks.studies.bucket_payoffs import FOLDER, make_payoffs, stored_matrices
from solvers.game import LiveGame
from solvers.reference.walk import Walker
from spewy.chunks.live_game import with_ranges
from spewy.errors import InputError
from spewy.learn.playdown import PlayDown


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


@pytest.fixture
def folder(tmp_path):
    return stored(tmp_path, *JOBS["classes"])


def test_matrices_stay_until_other_strategies_are_saved(folder, capsys):
    make_payoffs(folder, None, 4, 0, 1)
    assert "leduc: 2 board buckets of flop to do" in capsys.readouterr().out
    first = [stored_matrices(folder, 1, bucket) for bucket in (0, 1)]
    assert all(found.shape == (5, 3, 3) and 0 < np.abs(found).max() <= 13 for found in first)
    (folder / FOLDER / "1.1.npy").unlink()  # as after an interruption
    make_payoffs(folder, None, 4, 0, 1)
    assert "1 board buckets of flop to do" in capsys.readouterr().out
    np.testing.assert_array_equal(first, [stored_matrices(folder, 1, bucket) for bucket in (0, 1)])
    stored(folder, *JOBS["classes"], deals=4, seed=1)
    make_payoffs(folder, None, 4, 0, 2)  # in two processes
    assert "2 board buckets of flop to do" in capsys.readouterr().out


def test_rounds_without_matrices(folder, tmp_path):
    with pytest.raises(InputError, match="round: expected one of flop, found 'turn'"):
        make_payoffs(folder, "turn", 4, 0, 1)
    stored(tmp_path / "kuhn", *KUHN, game="kuhn")
    with pytest.raises(InputError, match="it has no public cards"):
        make_payoffs(tmp_path / "kuhn", None, 4, 0, 1)
