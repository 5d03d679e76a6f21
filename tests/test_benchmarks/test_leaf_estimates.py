"""Estimates of payoff matrices for chunks that no visit has covered."""

import shutil
from itertools import product

import numpy as np
import pytest
from bucket_games import some_cards, two_suits

from benchmarks.payoff_estimates import ClosestLine, Lines, Regression
from benchmarks.studies import leaf_estimates
from buckets.cards.rank_sets import board_strength

FLOP, TURN = 1, 2


@pytest.fixture
def game(tmp_path):
    return two_suits(tmp_path)


@pytest.fixture
def lines(game):
    return Lines(game.betting, 0.0)


@pytest.fixture
def share(game):
    cards = some_cards(game, 4)
    return leaf_estimates.bucket_shares(game, lambda t, board_bucket: [(cards[: t + 2], 1)])


def line(game, t, text):
    return [chunk.line for chunk in game.betting[t].chunks].index(text)


def sign(game, board, i, j):
    """What player 0 wins of a stake of 1 with hand i against hand j; None: they cannot be held together."""
    hands = game.problem.hands
    cards = [*board, *hands[i], *hands[j]]
    if len(set(cards)) < len(cards):
        return None
    strength = board_strength(np.array(board), hands)
    return int(np.sign(int(strength[i]) - int(strength[j])))


def test_without_more_betting_the_better_hand_takes_what_is_in_the_middle(game, share):
    board, found = some_cards(game, 4), share(TURN, 0)
    for i, j in product(range(0, 66, 5), repeat=2):
        won = sign(game, board, i, j)
        assert found[i, j] == pytest.approx(0 if won is None else won)


def test_before_the_last_card_it_is_the_mean_over_what_may_come(game, share):
    board = some_cards(game, 3)
    rows = game.board(FLOP, board).layout.board(FLOP, 0).hands[0]
    hands = dict(zip(rows.numbers.tolist(), rows.row.tolist(), strict=True))
    total, weight = np.zeros((4, 4)), np.zeros((4, 4))
    left = [card for card in game.problem.game.deck.cards if card not in board]
    for i, j in product(hands, repeat=2):
        won = [sign(game, (*board, card), i, j) for card in left]
        dealt = [each for each in won if each is not None]
        if dealt:
            total[hands[i], hands[j]] += np.mean(dealt)
            weight[hands[i], hands[j]] += 1
    np.testing.assert_allclose(share(FLOP, 0), total / weight, atol=1e-12)


def test_the_closest_line_is_rescaled_to_the_pot(game, lines):
    asked, near, far = (line(game, TURN, text) for text in ("rc/rc/", "crc/rc/", "cc/cc/"))
    stored = {near: np.full((2, 2), 3.0), far: np.full((2, 2), 5.0)}
    closest = ClosestLine(lines, lambda t, board_bucket, r: stored.get(r), None)
    assert lines.stake(TURN, asked) == lines.stake(TURN, near)
    np.testing.assert_allclose(closest(TURN, 0, asked), 3.0)
    del stored[near]
    np.testing.assert_allclose(
        closest(TURN, 0, asked), 5.0 * lines.stake(TURN, asked) / lines.stake(TURN, far)
    )


def test_a_regression_learns_what_the_betting_before_is_worth(lines, share):
    numbers = range(lines.number(TURN))

    def worth(t, board_bucket, r):
        return lines.stake(t, r) * (share(t, board_bucket) + 0.3 * lines.bets(t, r).aggressor)

    known = [(0, r) for r in numbers if r % 4 != 1]
    regressed = Regression(lines, TURN, share).fit(known, worth)
    left_out = numbers[1::4]

    def error(estimate):
        return np.mean([np.abs(estimate(TURN, 0, r) - worth(TURN, 0, r)).mean() for r in left_out])

    def plain(t, board_bucket, r):
        return lines.stake(t, r) * share(t, board_bucket)

    assert error(regressed) < error(plain) / 3


def test_the_tables_of_the_page_are_those_of_the_data(tmp_path):
    page = tmp_path / "page.md"
    shutil.copy(leaf_estimates.PAGE, page)
    leaf_estimates.tables(page)
    assert page.read_text() == leaf_estimates.PAGE.read_text()
