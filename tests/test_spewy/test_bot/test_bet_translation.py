"""Bets that a tree lacks: the pseudo-harmonic mapping, and the tree's actions at a table of other amounts."""

from random import Random

import pytest
from bot_games import any_action
from hypothesis import given, settings
from hypothesis import strategies as st

from spewy.bot.bet_translation import (
    legal_actions,
    nearest_size,
    probability_of_smaller,
    translate_action,
    translations,
    uniform_draw,
)
from spewy.game.betting import Betting, parse_line
from spewy.game.gamefile import load_game
from spewy.game.hand import Hand
from spewy.game.tree import BettingTree
from spewy.game.treeconfig import game_config, player_sizes

NO_LIMIT = load_game("holdem.nolimit.2p.reverse_blinds")
SIZES = player_sizes("50%, 100%, a", "100%, a")
TREE = BettingTree(game_config(NO_LIMIT, {0: (SIZES, SIZES)}))


@pytest.mark.parametrize(
    ("x", "a", "b", "expected"),
    [(0.5, 0.5, 1, 1), (1, 0.5, 1, 0), (0.25, 0, 1, 0.6), (1 / 3, 0, 1, 0.5), (0.75, 0.5, 1, 3 / 7)],
)
def test_the_mapping_of_the_paper(x, a, b, expected):
    assert probability_of_smaller(x, a, b) == pytest.approx(expected)


@settings(deadline=None)
@given(
    st.lists(st.floats(0.01, 50), min_size=1, max_size=6, unique=True), st.floats(0, 60), st.floats(0, 0.999)
)
def test_a_bet_is_taken_for_a_neighbour(sizes, x, draw):
    sizes = sorted(sizes)
    taken = sizes[nearest_size(x, sizes, draw)]
    assert all(not min(x, taken) < size < max(x, taken) for size in sizes)


def test_a_bet_is_both_neighbours_as_often_as_the_mapping_says():
    betting = Betting.start(NO_LIMIT)
    menu = ["f", "c", "r300", "r500"]  # a raise by the pot after a call, and by two pots
    expected = probability_of_smaller(1.5, 1.0, 2.0)
    found = translations("r400", menu, betting, "random")
    assert found == [(2, pytest.approx(expected)), (3, pytest.approx(1 - expected))]
    assert translations("r400", menu, betting, "likelier") == [(2 if expected > 0.5 else 3, 1.0)]
    assert translate_action("r400", menu, betting) == (2 if expected > 0.5 else 3)
    assert translations("r900", menu, betting, "random") == [(3, 1.0)]


def test_a_bet_below_all_others_is_partly_no_bet():
    menu = ["f", "c", "r400"]  # a raise by one and a half pots
    found = translations("r250", menu, Betting.start(NO_LIMIT), "random")
    assert found == [(1, pytest.approx(2 / 7)), (2, pytest.approx(5 / 7))]


def test_what_is_drawn_is_drawn_by_seed_and_line():
    assert uniform_draw(7, "cr300") == uniform_draw(7, "cr300")
    assert len({uniform_draw(seed, text) for seed in range(50) for text in ("c", "cr300")}) == 100


def test_actions_of_the_tree_are_taken_for_themselves():
    betting = Betting.start(NO_LIMIT)
    for i, action in enumerate(menu := ["f", "c", "r300"]):
        assert translations(action, menu, betting, "random") == [(i, 1.0)]
    assert translations("r300", ["f", "c"], betting, "random") == []
    assert translate_action("r300", ["f", "c"], betting) is None


def test_a_tree_of_the_same_amounts_says_what_it_says():
    for line in ("", "c", "r300", "r300c/", "r300c/cr600"):
        node = TREE.alone(line)
        assert legal_actions(node, parse_line(NO_LIMIT, line)) == [action.acpc for action in node.actions]


def test_bets_of_the_tree_are_the_same_share_of_another_pot():
    assert [action.acpc for action in TREE.alone("r300c/").actions] == ["c", "r600", "r900", "r20000"]
    found = legal_actions(TREE.alone("r300c/"), parse_line(NO_LIMIT, "r340c/"))
    assert found == ["c", "r680", "r1020", "r20000"]


def test_what_cannot_be_done_becomes_the_next_best():
    rng = Random(5)
    lines = ("", "c", "r300", "r20000", "r300c/", "r300c/r900", "r300c/r20000", "cc/cc/cc/")
    for _ in range(300):
        hand, steps = Hand.start(NO_LIMIT), rng.randint(0, 3)
        while steps and hand.to_act is not None:
            hand, steps = hand.apply(any_action(hand, rng)), steps - 1
        if hand.to_act is not None:
            for action in legal_actions(TREE.alone(rng.choice(lines)), hand.betting):
                hand.betting.apply(action)
