"""What decisions cost, held against a strategy that is told."""

import shutil
from dataclasses import replace

import numpy as np
import pytest
from cli_runs import good, good_json, refused, spewy, write
from naive_matches import ends, public, shares_of
from stand_ins import Told, all_deals

from buckets.cards import cards_name, parse_cards, strength
from spewy.game.gamefile import format_game, load_game
from spewy.game.hand import Hand
from spewy.look.solution import Solution
from spewy.match.acpc_text import LoggedHand
from spewy.match.hand_review import review_hand
from spewy.match.phh import phh_text
from spewy.match.review import Fit, Review, Skipped, open_strategy, review_hands, summary

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


def test_a_hand_of_two_players_of_one_name_is_skipped():
    played = [LoggedHand(n, kuhn_hand("rf"), names) for n, names in ((3, ("a", "a")), (4, ("a", "b")))]
    review = review_hands(Told(KUHN, 1), played)
    assert [each.number for each in review.hands] == [4]
    assert review.skipped == (Skipped(3, "both players have the name 'a'", True),)


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


BOARD = "Qs Jh 2h 8c 3d"


def river_hand(line, board=BOARD, hole=("As Ac", "Ks Kc"), game=SHORT):
    """A hand in which both put in 10 chips before the flop and check until the river."""
    cards = parse_cards(board)
    hand = Hand.start(game, tuple(parse_cards(each) for each in hole)).apply("r10").apply("c")
    for size in (3, 1):
        hand = hand.deal(cards[len(hand.board) :][:size]).apply("c").apply("c")
    hand = hand.deal(cards[4:])
    for action in line:
        hand = hand.apply(action)
    return hand


def solve(folder, text=SPOT):
    """The folder of a solved job."""
    good("solve", write(folder, text), "--out", folder / "solve")
    return folder / "solve"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return solve(tmp_path_factory.mktemp("spot"))


@pytest.fixture(scope="module")
def spot(folder):
    with open_strategy(folder) as strategy:
        yield strategy


def logged(*hands):
    return [LoggedHand(number, hand, ("a", "b")) for number, hand in enumerate(hands)]


def reviewed(strategy, *hands):
    return review_hands(strategy, logged(*hands))


def test_a_hand_that_comes_to_a_spot_is_compared_with_it(folder, spot):
    review = reviewed(spot, river_hand(("r20", "c")))
    first, second = (each.decided for each in review.decisions)
    with Solution.open(folder) as solution:
        bets, calls = solution.node(""), solution.node("r100")
    aces, kings = bets.hands.index("AsAc"), calls.hands.index("KsKc")
    assert (first.line, first.actions, first.action) == ("", ("c", "r100", "r900"), "r100")
    assert first.frequencies == pytest.approx(bets.strategy[:, aces].tolist())
    assert (second.line, second.actions) == ("r100", ("f", "c", "r900"))
    assert second.frequencies == pytest.approx(calls.strategy[:, kings].tolist())
    assert second.values == pytest.approx(calls.action_ev[:, kings].tolist())
    # All of the river's values are exact: what a call of 100 more chips wins against the bets.
    won = total = 0.0
    own, board = parse_cards("Ks Kc"), parse_cards(BOARD)
    for name, reach, often in zip(bets.hands, bets.reach, bets.strategy[1], strict=True):
        cards = parse_cards(name)
        if set(cards) & set(own):
            continue
        mine, theirs = strength(board, [own, cards]).tolist()
        won += reach * often * (400 * ((mine > theirs) + 0.5 * (mine == theirs)) - 100)
        total += reach * often
    assert second.values[1] == pytest.approx(won / total, abs=0.05)
    assert second.values[0] == 0.0
    assert second.cost == pytest.approx(np.dot(second.frequencies, second.values) - second.values[1])
    assert {each.big_blind for each in review.decisions} == {20.0}  # 2 chips of the hand
    assert {each.fit for each in review.decisions} == {Fit(0.0, 0.5, 0.0, 0.0), Fit(0.0, None, 0.0, 0.0)}


CHECKED = ("c", "c")
FOLDED = Hand.start(SHORT, (parse_cards("As Ac"), parse_cards("Ks Kc"))).apply("f")


@pytest.mark.parametrize(
    ("hand", "reason"),
    [
        (river_hand(CHECKED, "Qs Jh 2h 8c 4d"), "the board is QsJh2h8c4d"),
        (river_hand(CHECKED, "Qs Jh 2h 3d 8c"), "the board is QsJh2h3d8c"),
        (FOLDED, "the hand has no decision on the river"),
        (
            river_hand(CHECKED, game=replace(SHORT, stacks=(60, 60))),
            "the ratio of stack to pot on the river is -44.4% off the spot's (tolerance 5%)",
        ),
        (
            river_hand(CHECKED, hole=("4s 4c", "5s 5c")),
            "4s4c is not in the range of oop; 5s5c is not in the range of ip",
        ),
    ],
)
def test_hands_outside_of_a_spot_say_why(spot, hand, reason):
    review = reviewed(spot, hand)
    assert review.skipped == (Skipped(0, reason, True),)
    assert (review.hands, review.decisions) == ((), ())


@pytest.mark.parametrize("game", ["kuhn", "leduc", "holdem.limit.2p.reverse_blinds"])
def test_hands_of_another_game_than_the_spot_s_lie_outside(spot, game):
    hand = Hand.start(load_game(game))
    while not hand.is_over:
        dealt = [card for card in hand.game.deck.cards if card not in hand.board][: hand.to_deal]
        hand = hand.deal(dealt) if hand.to_deal else hand.apply("c")
    assert reviewed(spot, hand).skipped == (Skipped(0, f"no spot is of the game {hand.game.name}", True),)


def test_a_hand_that_fits_the_spot_of_a_later_round_only_is_compared_with_that_one(folder, tmp_path):
    shutil.copytree(folder, tmp_path / "spots" / "river")
    turn = SPOT.replace(" 3d", "").replace("pot = 200", "pot = 400").replace("river", "turn")
    solve(tmp_path, turn.replace('"1%"', '"20%"')).rename(tmp_path / "spots" / "turn")
    with open_strategy(tmp_path / "spots") as spots:
        review = reviewed(spots, *(river_hand(("r20", "c"), board) for board in (BOARD, "Qs Jh 2h 8c 4d")))
    assert [each.decided.line for each in review.decisions] == ["", "r100"]
    told = "the ratio of stack to pot on the turn is +100.0% off the spot's (tolerance 5%)"
    assert [each.reason for each in review.skipped] == [told]


def test_a_player_outside_of_the_range_does_not_hide_the_other(spot):
    review = reviewed(spot, river_hand(("r20", "c"), hole=("4s 4c", "Ks Kc")))
    assert [(each.name, each.decided.line) for each in review.decisions] == [("b", "r100")]
    assert review.skipped == (Skipped(0, "4s4c is not in the range of oop", False),)
    unknown = replace(river_hand(("r20", "c")), hole=(None, None))
    assert [each.decided.cost for each in reviewed(spot, unknown).decisions] == [None, None]


@pytest.mark.parametrize(
    ("line", "played", "size", "distance"),
    [
        (("r12", "c"), "r100", 0.1, -0.4),  # a bet stands for a bet, not for a check
        (("r30", "c"), "r100", 1.0, 0.5),
        (("r59", "c"), "r100", 2.45, 1.95),
        (("r60", "c"), "r100", 2.5, 2.0),  # as near as the all-in
        (("r61", "c"), "r900", 2.55, -1.95),
        (("r100", "c"), "r900", 4.5, 0.0),
    ],
)
def test_a_bet_is_the_nearest_of_the_tree_by_its_share_of_the_pot(spot, line, played, size, distance):
    first, second = reviewed(spot, river_hand(line)).decisions
    assert (first.decided.action, second.decided.line) == (played, played)
    assert first.fit == Fit(0.0, pytest.approx(size), pytest.approx(distance), 0.0)
    assert second.fit == Fit(0.0, None, 0.0, pytest.approx(abs(distance)))


def test_chips_beyond_the_smaller_stack_do_not_count(spot):
    for stacks in ((100, 101), (101, 100), (100, 5000)):
        hand = river_hand(("c", f"r{stacks[1]}", "f"), game=replace(SHORT, stacks=stacks))
        found = [each.decided for each in reviewed(spot, hand).decisions]
        assert [(each.line, each.action) for each in found] == [("", "c"), ("c", "r900"), ("cr900", "f")]


def test_a_hand_that_goes_on_after_the_spot_s_betting_is_reviewed_up_to_there(spot):
    review = reviewed(spot, river_hand(("r61", "r100", "c")))
    assert [each.decided.line for each in review.decisions] == [""]
    assert review.skipped == (Skipped(0, "the spot's tree has no bet or raise after r900", False),)


def test_the_ratio_of_stack_to_pot_may_differ_within_the_tolerance(folder, spot):
    near = river_hand(("r104", "c"), game=replace(SHORT, stacks=(104, 104)))
    found = reviewed(spot, near).decisions
    assert [each.decided.action for each in found] == ["r900", "c"]
    assert found[0].fit == Fit(pytest.approx(94 / 90 - 1), pytest.approx(4.7), pytest.approx(0.2), 0.0)
    with open_strategy(folder, 0.04) as strict:
        assert reviewed(strict, near).skipped[0].reason.endswith("+4.4% off the spot's (tolerance 4%)")


def test_boards_that_are_equal_up_to_suits_are_the_same(spot):
    here = reviewed(spot, river_hand(("r20", "c"))).decisions
    suits = str.maketrans("shdc", "hcsd")
    hole = tuple(cards.translate(suits) for cards in ("As Ac", "Ks Kc"))
    other = river_hand(("r20", "c"), board=BOARD.translate(suits), hole=hole)
    there = reviewed(spot, other).decisions
    for one, two in zip(here, there, strict=True):
        assert one.decided.values == two.decided.values
        assert cards_name(two.decided.board) == "QhJc2c8d3s"
        assert two.hole == other.hole[two.decided.player]


def test_a_spot_in_big_blinds_is_reviewed_in_big_blinds(spot, tmp_path):
    text = SPOT.replace("[game]", 'unit = "bb"\n[game]').replace("200", "2").replace("900", "9")
    with open_strategy(solve(tmp_path, text)) as strategy:
        in_bb = reviewed(strategy, river_hand(("r20", "c")))
    in_chips = reviewed(spot, river_hand(("r20", "c")))
    for one, two in zip(in_bb.decisions, in_chips.decisions, strict=True):
        assert 100 * one.decided.cost == pytest.approx(two.decided.cost, abs=1e-6)
        assert one.decided.line == two.decided.line.replace("100", "1")
        assert (one.big_blind, one.fit.unit) == (0.2, "bb")
    assert in_bb.decisions[0].decided.actions == ("c", "r1", "r9")
    assert ("cost (bb)" in repr(in_bb), "cost (chips)" in repr(in_chips)) == (True, True)
    assert summary(in_bb)["a"].cost == pytest.approx(summary(in_chips)["a"].cost, abs=1e-3)


def test_of_equal_suits_those_are_chosen_that_the_ranges_have(tmp_path):
    text = SPOT.replace('oop = "AA,QJ,T9s:0.5,76s"', 'oop = "AcAd,QdJd"').replace(BOARD, "Qs Js 2s 8s 3s")
    with open_strategy(solve(tmp_path, text)) as strategy:
        hearts = river_hand(CHECKED, "Qh Jh 2h 8h 3h", ("Qc Jc", "Ks Kc"))
        first, second = reviewed(strategy, hearts).decisions
        assert (first.hole, second.hole) == hearts.hole
        own = river_hand(CHECKED, "Qs Js 2s 8s 3s", ("Qc Jc", "Kd Kc"))  # as it is, not in the range
        assert reviewed(strategy, own).skipped == (Skipped(0, "QcJc is not in the range of oop", False),)


def test_a_dropped_river_is_solved_again_and_the_command_says_so(tmp_path):
    text = SPOT.replace(" 3d", "").replace("[bets.river]", '[bets.turn]\nbet = "a"\n[bets.river]')
    turn = solve(tmp_path, text.replace('"1%"', '"5%"'))
    good("drop", turn, "--round", "river")
    (tmp_path / "hands.phhs").write_text(phh_text(logged(river_hand(("r20", "c")))))
    told = spewy("review", tmp_path / "hands.phhs", "--lockers", turn)
    assert "decisions  2 with cards that are known" in told.stdout
    assert "was dropped: solving it" in told.stderr


LIMIT = """
name = "limit"
[game]
file = "holdem.limit.2p.reverse_blinds"
[spot]
board = "Qs Jh 2h 8c 3d"
pot = 80
stack = 500
oop = "AA,QJ,T9s:0.5,76s"
ip = "KK,AQ,JTs,98s"
[solve]
target = "1%"
"""


def test_hands_of_limit_games_in_a_spot(tmp_path):
    head = 'variant = "FT"\nantes = [0, 0]\nblinds_or_straddles = [0.5, 1]\nstarting_stacks = [20, 30]\nsmall_bet = 1\n'
    dealt = '"d dh p1 AsAc", "d dh p2 KsKc", "p2 cbr 2", "p1 cc", "d db QsJh2h", "p1 cbr 1", "p2 cbr 2", "p1 cc", '
    rest = '"d db 8c", "p1 cc", "p2 cc", "d db 3d", "p1 cbr {}", "p2 cbr {}", "p1 cbr {}", "p2 f"'
    hands = [
        f"[{size}]\n{head}big_bet = {size}\nactions = [{dealt}{rest.format(size, 2 * size, 3 * size)}]\n"
        for size in (2, 4)
    ]
    (tmp_path / "hands.phhs").write_text("".join(hands))
    found = good_json("review", tmp_path / "hands.phhs", "--lockers", solve(tmp_path, LIMIT))
    lines = [(each["line"], each["action"]) for each in found["decisions"]]
    assert lines == [("", "r"), ("r", "r"), ("rr", "r"), ("rrr", "f")]
    assert {each["big_blind"] for each in found["decisions"]} == {10.0}
    assert not any("opponent_range" in each for each in found["decisions"])
    assert {each["fit"]["distance"] for each in found["decisions"]} == {0.0}
    assert [each["number"] for each in found["skipped"]] == [2]
    assert "bet to pot" in found["skipped"][0]["reason"]


def test_a_damaged_spot_of_several_is_left_out(folder, tmp_path):
    for name in ("good", "bad"):
        shutil.copytree(folder, tmp_path / "batch" / name)
    (tmp_path / "hand.phh").write_text(phh_text(logged(river_hand(("r20", "c")))))
    review = "review", tmp_path / "hand.phh", "--lockers", tmp_path / "batch"
    (tmp_path / "batch" / "bad" / "manifest.json").write_text("{")
    done = spewy(*review)
    assert done.exit_code == 0
    assert "left out: " in done.stderr
    (tmp_path / "batch" / "good" / "manifest.json").write_text("{")
    assert "manifest.json" in refused(*review)


OUTSIDE = [river_hand(CHECKED, f"Qs Jh 2h 8c {card}") for card in ("4d", "5d", "6d", "7d", "9d", "Td")]


def test_the_command_reviews_hands_with_a_spot(folder, tmp_path):
    hands = logged(river_hand(("r20", "c")), river_hand(("r30", "f")), OUTSIDE[0])
    file = tmp_path / "hands.phhs"
    file.write_text(phh_text(hands) + "[4]\nvariant = 'PO'\n")
    for lockers in (folder, folder.parent):  # the spot, and the folder of a batch
        found = good_json("review", file, "--lockers", lockers)
        assert [each["line"] for each in found["decisions"]] == ["", "r100", "", "r100"]
        assert [each["fit"]["line_distance"] for each in found["decisions"]] == [0.0, 0.0, 0.0, 0.5]
        assert found["skipped"] == [
            {"number": 2, "reason": "the board is QsJh2h8c4d", "whole": True, "read": True},
            {"number": 4, "reason": "variant: expected NT, found 'PO'", "whole": True, "read": False},
        ]
        assert found["players"]["a"]["hands"] == 2
    told = spewy("review", file, "--lockers", folder)
    assert "amounts  chips of the spot" in told.stdout
    assert "1 of 2 bets and raises differ from the tree's sizes, by at most 50.0% of the pot" in told.stdout
    assert "1 hand outside of the spot (2): the board is QsJh2h8c4d\n" in told.stderr
    assert "1 hand not readable (4): variant: expected NT, found 'PO'\n" in told.stderr
    (tmp_path / "short.game").write_text(format_game(SHORT))
    (tmp_path / "hands.log").write_text("".join(f"{hand.text}\n" for hand in hands) + "STATE:7:x\n")
    log = "review", tmp_path / "hands.log", "--lockers", folder
    from_log = good_json(*log, "--game", tmp_path / "short.game")
    assert from_log["decisions"] == found["decisions"]
    assert from_log["skipped"][1]["reason"].startswith("line 4: log line: expected STATE:")
    error = refused(*log)  # the spot's own game has larger blinds, so no hand can be read
    assert "none of 4 hands can be read; hand 0: line 1: log line: action 'r10'" in error
    file.write_text(phh_text(logged(*OUTSIDE, river_hand(CHECKED))))
    told = spewy("review", file, "--lockers", folder).stderr
    assert "6 hands outside of the spot (0, 1, 2, 3, 4, ...): such as the board is QsJh2h8c4d\n" in told
