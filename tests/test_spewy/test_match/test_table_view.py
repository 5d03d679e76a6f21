"""Tests of the table that a person sees: its chips in whole games, and its names of actions in solved spots."""

import pytest

from buckets.cards import parse_cards
from spewy.game.amounts import CHIPS
from spewy.game.gamefile import load_game
from spewy.game.hand import Hand
from spewy.game.nodes import sized_words
from spewy.match.contest import SpotContest
from spewy.match.spots import Spots
from spewy.match.table_view import TableView

GAME = load_game("holdem.nolimit.2p.reverse_blinds")


def view(line, boards=(), person=1):
    """The table after ACPC actions; a ``/`` deals the next of ``boards``."""
    hand = Hand.start(GAME, (tuple(parse_cards("5s4s")), tuple(parse_cards("2cAh"))))
    left = iter(boards)
    for action in line.split():
        hand = hand.deal(parse_cards(next(left))) if action == "/" else hand.apply(action)
    return TableView.of(
        hand.seen_by(person),
        person,
        CHIPS,
        middle=0,
        round_names=GAME.round_names,
        in_order=GAME.board_order,
    )


def test_the_blinds_are_bets_of_the_first_round():
    table = view("")
    assert (table.bets, table.pot, table.stacks, table.to_call) == ((100, 50), 150, (19900, 19950), 50)
    assert table.odds == pytest.approx(50 / 200)
    assert (table.hole, table.button) == ((None, "Ah2c"), 1)


def test_amounts_of_a_later_round_begin_at_zero():
    # The button raises to 300 and is called; 600 are in the pot. A total of 498 is a bet of 198, 33 % of the pot.
    table = view("r300 c / c r498 r1094", ["Qs 7h 2d"])
    assert table.bets == (794, 198)
    assert (table.pot, table.stacks, table.to_call) == (1592, (18906, 19502), 596)
    assert table.odds == pytest.approx(596 / (1592 + 596))
    assert [street.actions for street in table.streets] == [
        ("you raise to 300", "opponent calls"),
        ("opponent checks", "you bet 33 % (198)", "opponent raises to 794"),
    ]


def test_a_showdown_shows_both_hands_with_high_cards_first():
    table = view("r20000 c / / /", ["Qs 7h 2d", "3c", "4d"])
    assert table.hole == ("5s4s", "Ah2c")
    assert (table.stacks, table.pot, table.to_call, table.odds) == ((0, 0), 40000, 0, None)
    assert [street.cards for street in table.streets] == ["", "Qs7h2d", "3c", "4d"]
    assert table.streets[0].actions == ("you go all-in 20000", "opponent calls")


def test_a_fold_shows_no_cards_and_no_later_street():
    table = view("r300 f")
    assert table.hole == (None, "Ah2c")
    assert [street.actions for street in table.streets] == [("you raise to 300", "opponent folds")]


@pytest.mark.parametrize("name", ["river", "turn"])
def test_actions_are_named_as_in_the_solved_tree(solved_spots, name):
    with Spots(solved_spots / name) as spots:
        contest = SpotContest(spots, seed=1)
        table, _ = contest.new_hand(0, 0)
        states, found = [table.hand], 0
        while states:
            hand = states.pop()
            if hand.to_act is None:
                continue
            for action in contest.spot.node(hand).actions:
                assert contest.sized(hand, action.acpc) == sized_words(action.label)
                states.append(hand.apply(action.acpc))
                found += 1
    assert found >= 6
