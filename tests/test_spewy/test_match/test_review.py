"""What decisions cost, held against a strategy that is told."""

from dataclasses import replace

import numpy as np
import pytest
from cli_runs import good, good_json, refused, spewy, write
from naive_matches import ends, public, shares_of
from stand_ins import Told, all_deals

from buckets.cards import parse_cards, strength
from spewy.errors import InputError
from spewy.game.gamefile import format_game, load_game
from spewy.game.hand import Hand
from spewy.look.folder import open_policy
from spewy.match.acpc_text import LoggedHand
from spewy.match.hand_review import review_hand
from spewy.match.phh import phh_text
from spewy.match.review import Review, open_strategy, review_hands, summary

KUHN, LEDUC = load_game("kuhn"), load_game("leduc")


def kuhn_hand(line, first=0, second=1):
    hand = Hand.start(KUHN, (KUHN.deck.cards[first : first + 1], KUHN.deck.cards[second : second + 1]))
    for action in line:
        hand = hand.apply(action)
    return hand


def worth(bot, hand, player):
    """What a player wins from a state on with its hand, against all hands that the other may have there."""
    total = weight_of_all = 0.0
    for first, second, board in all_deals(KUHN):
        start = Hand.start(KUHN, (first, second))
        if start.hole[player] != hand.hole[player]:
            continue
        now, weight = start, 1.0
        for action in hand.betting.line:
            if now.to_act != player:
                weight *= dict(shares_of(bot, now))[action]
            now = now.apply(action)
        for share, end, _ in ends(now, board, lambda at: shares_of(bot, at)):
            total += weight * share * end.net()[player]
        weight_of_all += weight
    return total / weight_of_all


@pytest.mark.parametrize("line", ["cc", "crc", "crf", "rf", "rc"])
def test_where_a_round_is_the_game_values_are_exact(line):
    bot, hand = Told(KUHN, 11), kuhn_hand(line, 1, 2)
    found = list(review_hand(bot, hand))
    assert [decided.action for decided in found] == list(line)
    now = kuhn_hand("", 1, 2)
    for decided in found:
        values = [worth(bot, now.apply(action), decided.player) for action in decided.actions]
        assert decided.values == pytest.approx(values)
        shares = dict(shares_of(bot, now))
        mean = sum(shares[action] * value for action, value in zip(decided.actions, values, strict=True))
        assert decided.cost == pytest.approx(mean - values[decided.actions.index(decided.action)])
        assert decided.frequency == pytest.approx(shares[decided.action])
        now = now.apply(decided.action)


def test_decisions_drawn_from_the_strategy_cost_nothing_on_average():
    bot = Told(LEDUC, 12)
    hand = Hand.start(LEDUC, (LEDUC.deck.cards[:1], LEDUC.deck.cards[2:3])).apply("c").apply("c")
    hand = hand.deal(LEDUC.deck.cards[5:6])
    mix = bot.strategy(public(hand))
    costs = []
    for action in mix.actions:
        over = hand.apply(action)
        while not over.is_over:
            over = over.apply("c")
        costs.append(list(review_hand(bot, over, players=(0,)))[-1].cost)
    assert mix.of(LEDUC.hand_number(hand.hole[0])) @ np.array(costs) == pytest.approx(0, abs=1e-12)
    assert max(costs) > 0.01


def test_a_hand_that_is_not_known_costs_nothing_that_is_told():
    hand = kuhn_hand("rf")
    found = list(review_hand(Told(KUHN, 1), replace(hand, hole=(hand.hole[0], None))))
    assert found[0].cost is not None
    assert (found[1].cost, found[1].values, found[1].frequency) == (None, None, None)
    assert found[1].actions == ("f", "c")


def test_a_player_who_never_decided_is_told_of_too():
    hand = Hand.start(LEDUC, (LEDUC.deck.cards[:1], LEDUC.deck.cards[1:2]))
    played = [LoggedHand(0, hand.apply("c").apply("r").apply("f"), ("a", "b"))]
    bot = Told(LEDUC, 1)
    nothing = Review(tuple(played), ())
    assert summary(nothing)["a"].cost is None  # nothing is known, which is not nothing
    assert set(summary(review_hands(bot, played))) == {"a", "b"}
    assert set(summary(nothing, "b")) == {"b"}


def test_players_of_one_name_are_refused():
    with pytest.raises(InputError, match="hand 3: expected two players whose names differ, found 'a' twice"):
        review_hands(Told(KUHN, 1), [LoggedHand(3, kuhn_hand("rf"), ("a", "a"))])


SPOT = """
name = "river"
[game]
file = "holdem.nolimit.2p.reverse_blinds"
[spot]
board = "Qs Jh 2h 8c 3d"
pot = 200
stack = 900
oop = "AA,QJ,T9s:0.5,76s"
ip = "KK,AQ,JTs,98s"
[bets.river]
bet = "50%, a"
raise = "a"
[solve]
target = "1%"
"""
SHORT = replace(load_game("holdem.nolimit.2p.reverse_blinds"), blinds=(2, 1), stacks=(100, 100))
"""A game in which a pot of 20 chips leaves 90 behind, a tenth of the spot's chips."""


def river_hand(line, board="Qs Jh 2h 8c 3d", hole=("As Ac", "Ks Kc"), game=None):
    """A hand in which both put in 10 chips before the flop and check until the river."""
    game = game or SHORT
    cards = parse_cards(board)
    hand = Hand.start(game, tuple(parse_cards(each) for each in hole)).apply("r10").apply("c")
    for size in (3, 1):
        hand = hand.deal(cards[len(hand.board) : len(hand.board) + size]).apply("c").apply("c")
    hand = hand.deal(cards[4:])
    for action in line:
        hand = hand.apply(action)
    return hand


@pytest.fixture(scope="module")
def spot(tmp_path_factory):
    folder = tmp_path_factory.mktemp("spot")
    good("solve", write(folder, SPOT), "--out", folder / "river")
    with open_strategy(folder / "river") as strategy:
        yield folder, strategy


def test_a_hand_that_comes_to_a_spot_is_compared_with_it(spot):
    folder, strategy = spot
    hand = river_hand(("r20", "c"))
    first, second = review_hand(strategy, hand)
    with open_policy(folder / "river") as policy:
        bets = policy.frequencies("", None, "AsAc")
        calls = policy.frequencies("r100", None, "KsKc")
        decision = policy.decision("")
    assert first.actions == ("c", "r20", "r100")
    assert first.frequencies == pytest.approx(bets.tolist())
    assert (second.line, second.actions) == ("r10c/cc/cc/r20", ("f", "c", "r100"))
    assert second.frequencies == pytest.approx(calls.tolist())
    # What a call of 10 more chips wins against the bets: all of the river's values are exact.
    won = total = 0.0
    bet = [action.acpc for action in decision.actions].index("r100")
    own, board = parse_cards("Ks Kc"), parse_cards("Qs Jh 2h 8c 3d")
    for number, often in zip(decision.hands, decision.frequencies[bet], strict=True):
        cards = decision.deck[number].tolist()
        if set(cards) & set(own):
            continue
        weight = often * strategy.enter(hand)[1][0][number]
        mine, theirs = strength(board, [own, cards]).tolist()
        won += weight * 20 * ((mine > theirs) - (mine < theirs))
        total += weight
    assert second.values[1] == pytest.approx(won / total)
    assert second.values[0] == pytest.approx(-10)
    assert second.cost == pytest.approx(np.dot(second.frequencies, second.values) - second.values[1])


@pytest.mark.parametrize(
    ("hand", "reason"),
    [
        ({"line": ("c", "c"), "board": "Qs Jh 2h 8c 4d"}, "the board is QsJh2h8c4d"),
        (
            {"line": ("c", "c"), "game": replace(SHORT, stacks=(60, 60))},
            "pot 20 and stack 50 on the river are not in the ratio of 200 and 900",
        ),
        ({"line": ("r30", "c")}, "r30 after the root is not in the spot's tree (c, r20, r100)"),
        ({"line": ("c", "c"), "hole": ("4s 4c", "Ks Kc")}, "4s4c is not in the range of oop"),
    ],
)
def test_hands_outside_of_a_spot_say_why(spot, hand, reason):
    hand = river_hand(**hand)
    review = review_hands(spot[1], [LoggedHand(7, hand, ("a", "b"))])
    assert [(each.number, each.whole) for each in review.skipped] == [(7, True)]
    assert review.skipped[0].reason == reason
    assert (review.hands, review.decisions) == ((), ())


def test_a_hand_that_ends_before_a_spot_lies_outside(spot):
    hand = Hand.start(SHORT, (parse_cards("As Ac"), parse_cards("Ks Kc"))).apply("f")
    review = review_hands(spot[1], [LoggedHand(1, hand, ("a", "b"))])
    assert review.skipped[0].reason == "the hand has no decision on the river"


def test_the_command_reviews_hands_with_a_spot(spot, tmp_path):
    folder, _ = spot
    lines = ("r20", "c"), ("r30", "f")
    hands = [LoggedHand(n, river_hand(line), ("a", "b")) for n, line in enumerate(lines)]
    (tmp_path / "hands.phhs").write_text(phh_text(hands))
    for lockers in (folder / "river", folder):  # the spot, and the folder of a batch
        found = good_json("review", tmp_path / "hands.phhs", "--lockers", lockers)
        assert [each["line"] for each in found["decisions"]] == ["r10c/cc/cc/", "r10c/cc/cc/r20"]
        assert found["skipped"] == [
            {
                "number": 1,
                "reason": "r30 after the root is not in the spot's tree (c, r20, r100)",
                "whole": True,
            }
        ]
        assert found["players"]["a"]["hands"] == 1
    (tmp_path / "short.game").write_text(format_game(SHORT))
    (tmp_path / "hands.log").write_text("".join(f"{hand.text}\n" for hand in hands))
    log = "review", tmp_path / "hands.log", "--lockers", folder / "river"
    assert good_json(*log, "--game", tmp_path / "short.game") == found
    assert "expected f, c, r200 to r20000" in refused(*log)  # the spot's own game has larger blinds
    told = spewy("review", tmp_path / "hands.phhs", "--lockers", folder / "river").stderr
    assert "1 hand outside of the spot: r30 after the root is not in the spot's tree" in told
