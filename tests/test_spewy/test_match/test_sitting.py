"""A sitting as a step machine: its steps, verdicts, ranges and scores, and what it refuses."""

import json
from itertools import islice

import numpy as np
import pytest
from stand_ins import Rule, Told, call

from buckets.cards import blocked, hands, parse_cards
from spewy.errors import InputError
from spewy.game.gamefile import load_game
from spewy.game.hand import Hand
from spewy.match.aivat import estimate
from spewy.match.contest import GameContest
from spewy.match.hand_review import review_hand
from spewy.match.sitting import Sitting
from spewy.match.table import Seat, deals, hand_seed, play_hand

KUHN, LEDUC = load_game("kuhn"), load_game("leduc")
LIMIT, NO_LIMIT = load_game("holdem.limit.2p.reverse_blinds"), load_game("holdem.nolimit.2p.reverse_blinds")


def sitting_with(bot, seed=0, **settings):
    return Sitting(GameContest(bot, seed), **settings)


def play(sitting, rule, n):
    """Play hands by a rule for the person; return all events and the reports."""
    events, reports = [], []
    for _ in range(n):
        events.append(sitting.deal())
        events.extend(sitting.play_on())
        while sitting.in_play:
            events.append(sitting.act(rule(sitting.turn)))
            events.extend(sitting.play_on())
        reports.append(sitting.report)
    return events, reports


def checks(turn):
    return "c"


def raises(turn):
    """The last action that is offered: the largest raise, if a raise is legal."""
    return turn.choices.actions[-1]


def test_hands_reviews_and_estimates_are_those_of_a_match_with_the_same_seeds():
    _, reports = play(sitting := sitting_with(Told(LEDUC, 5), seed=3), raises, 20)
    won, without_luck = [], []
    for number, dealt in enumerate(islice(deals(LEDUC, 3), 20)):
        person, bot = (number + 1) % 2, Told(LEDUC, 5)
        other = Seat(Rule(LEDUC, lambda hand: "r" if hand.betting.raise_bounds() else "c"))
        seats = (other, Seat(bot)) if person == 0 else (Seat(bot), other)
        seed = hand_seed(3, number)
        match = play_hand(dealt, seats, LEDUC, (seed, seed), record=True)
        sign = 1 if person == 0 else -1
        won.append(match.hand.net()[person])
        without_luck.append(sign * estimate(match, (person == 1, person == 0)))
        costs = [each.cost for each in review_hand(bot, match.hand, (person,))]
        assert [each.cost for each in reports[number].decisions] == pytest.approx(costs)
        assert reports[number].won == won[-1]
    score = sitting.score
    assert (score.hands, score.total, sitting.total) == (20, sum(won), sum(won))
    assert score.won.mean == pytest.approx(np.mean(won))
    assert score.without_luck.mean == pytest.approx(np.mean(without_luck))
    assert score.without_luck.half == pytest.approx(1.959964 * np.std(without_luck, ddof=1) / np.sqrt(20))
    assert score.without_luck.half < score.won.half
    assert score.expected is None


def test_the_opponents_range_is_what_its_actions_leave():
    bot = Told(KUHN, 8)
    sitting = sitting_with(bot, seed=1, seat=0)
    (report,) = play(sitting, checks, 1)[1]
    answer = sitting.events[2]
    mix = bot.strategy(Hand.start(KUHN).apply("c"))
    row = mix.frequencies[mix.actions.index(answer.action)]
    own = KUHN.hand_number(parse_cards(sitting.to_json()["table"]["hole"][0]))
    assert answer.player == 1
    assert report.opponent_range.weights == pytest.approx(
        [0.0 if number == own else weight for number, weight in enumerate(row)]
    )


def test_ranges_have_neither_the_board_nor_the_persons_cards():
    sitting = sitting_with(Told(LIMIT, 2), seed=5)
    (report,) = play(sitting, checks, 1)[1]
    deck, own = hands(LIMIT.deck, 2), sitting.to_json()["table"]["hole"][1]
    assert len(report.opponent_range.board) == 5
    for each in (report.opponent_range, *(decided.opponent_range for decided in report.decisions)):
        found = each.to_json()
        assert each.player == 0
        assert not any(card in name for name in found["hands"] for card in (own[:2], own[2:]))
        assert not each.weights[blocked(deck, each.board)].any()
        assert len(found["hands"]) == np.count_nonzero(each.weights) > 0
        assert found["grid"]["player"] == 0
        weights = list(found["hands"].values())
        assert weights == sorted(weights, reverse=True)


def test_the_same_seed_repeats_a_sitting():
    first, second, other = (play(sitting_with(Told(LEDUC, 5), seed), raises, 10)[0] for seed in (1, 1, 2))
    assert first == second
    assert first != other


def test_the_state_is_json_and_hides_the_bots_cards():
    sitting = sitting_with(call(LIMIT))
    assert sitting.to_json()["table"] is None
    sitting.deal()
    list(sitting.play_on())
    state = json.loads(json.dumps(sitting.to_json()))
    assert state["turn"] == {
        "pot": 15,
        "to_call": 5,
        "choices": [
            {"action": "f", "text": "fold"},
            {"action": "c", "text": "call"},
            {"action": "r", "text": "raise to 20"},
        ],
        "bounds": None,
        "before": 0,
    }
    assert (state["hand"], state["seat"], state["in_play"], state["report"]) == (1, 1, True, None)
    assert state["table"] == {
        "person": 1,
        "button": 1,
        "hole": [None, "Qd9h"],
        "board": "",
        "pot": 15,
        "bets": [10, 5],
        "stacks": None,
        "to_call": 5,
        "odds": 0.25,
        "streets": [{"name": "preflop", "cards": "", "actions": []}],
        "unit": "chips",
    }
    assert state["events"] == [{"kind": "hand", "text": "Hand 1: on the button, with 9hQd"}]
    assert "5d5c" not in json.dumps(state)


def test_the_report_is_json():
    sitting = sitting_with(Told(LIMIT, 2), seed=5)
    play(sitting, checks, 1)
    state = json.loads(json.dumps(sitting.to_json(), allow_nan=False))
    report = state["report"]
    assert (state["in_play"], state["turn"], len(state["table"]["board"])) == (False, None, 10)
    assert report["opponent_hand"] == state["table"]["hole"][0]
    assert report["opponent_hand"] in state["events"][-2 - len(report["decisions"])]["text"]
    assert report["score"]["hands"] == 1
    assert report["score"]["without_luck"]["half"] is None  # one hand has no interval
    for decided in report["decisions"]:
        shares, values = np.array(decided["frequencies"]), np.array(decided["values"])
        played = values[decided["actions"].index(decided["action"])]
        assert decided["cost"] == pytest.approx(shares @ values - played)
        assert decided["loss"] == pytest.approx(values.max() - played)
    assert report["score"]["cost"]["mean"] == pytest.approx(sum(each["cost"] for each in report["decisions"]))


def test_a_seat_can_be_kept_or_alternates():
    for seat, seats in ((None, [1, 0, 1]), (0, [0, 0, 0]), (1, [1, 1, 1])):
        sitting = sitting_with(Told(KUHN, 1), seat=seat)
        found = []
        for _ in range(3):
            play(sitting, checks, 1)
            found.append(sitting.to_json()["seat"])
        assert found == seats


def test_any_size_can_be_bet_in_a_no_limit_game():
    sitting = sitting_with(Told(NO_LIMIT, 1))
    sitting.deal()
    turn = sitting.turn
    assert turn.choices.bounds == (200, 20000)
    assert turn.choices.actions == ("f", "c", "r200", "r20000")
    assert turn.choices.texts == ("fold", "call", "raise to 200", "all-in 20000")
    assert sitting.say("raise to 1234").action == "r1234"


def test_what_is_refused():
    sitting = sitting_with(Told(NO_LIMIT, 1))
    assert sitting.advance() is None
    with pytest.raises(InputError, match="action 'c': it is not your turn"):
        sitting.act("c")
    sitting.deal()
    with pytest.raises(InputError, match="hand 1 is not over yet; finish it before the next one"):
        sitting.deal()
    with pytest.raises(InputError, match="action 'r99999' after '': expected f, c, r200 to r20000"):
        sitting.act("r99999")
    with pytest.raises(InputError, match="'hello': expected fold, call, raise 200 to 20000"):
        sitting.say("hello")
    sitting.act("f")
    with pytest.raises(InputError, match="it is not your turn"):
        sitting.act("c")
    with pytest.raises(InputError, match=r"seat: expected 0 \(oop\), 1 \(ip\) or none"):
        sitting_with(Told(KUHN, 1), seat=2)


class Fails(Told):
    """Fails at its decisions, or only when it is asked for its strategy."""

    def __init__(self, game, acts):
        super().__init__(game, 1)
        self.acts = acts

    def act(self, hand):
        if not self.acts:
            raise KeyError("lost")
        return "c"

    def strategy(self, hand):
        if self.acts:
            raise KeyError("lost")
        return super().strategy(hand)


def test_a_bot_that_fails_does_not_end_the_hand_and_its_hand_counts_as_it_was():
    sitting = sitting_with(Fails(LEDUC, acts=False), seat=0)
    events, reports = play(sitting, checks, 1)
    assert [event.kind for event in events[:4]] == ["hand", "action", "warning", "action"]
    assert events[2].text == "WARNING: the bot failed: KeyError: 'lost'"
    assert sitting.score.without_luck.mean == reports[0].won
    assert reports[0].decisions


def test_a_review_that_fails_does_not_prevent_the_next_hand():
    sitting = sitting_with(Fails(LEDUC, acts=True))
    events, reports = play(sitting, checks, 2)
    assert [report.decisions for report in reports] == [(), ()]
    assert "WARNING: no review: KeyError: 'lost'" in [event.text for event in events]
    assert (sitting.score.hands, sitting.score.without_luck) == (2, None)
