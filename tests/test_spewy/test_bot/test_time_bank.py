"""The time of a match: what a decision may spend, and what it has spent."""

import logging
from random import Random
from types import SimpleNamespace

import pytest
from bot_games import any_action, dealt, limped, played_out, seen_by

from spewy import InputError, open_bot
from spewy.bot import agent
from spewy.bot.agent import bot_of
from spewy.bot.options import MOST_ITERATIONS, Options
from spewy.bot.resolving import budget
from spewy.bot.resolving import resolve as resolving
from spewy.bot.resolving.budget import AROUND, MOST_OF_ANSWER, SHARE, TimeBank, importance
from spewy.bot.resolving.builder import strategy_size
from spewy.bot.tally import Spent, parse_spent, summary

ITERATION = 0.01
"""Seconds of an iteration on the clock of these tests."""


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still except while a solve iterates."""
    now, run = [0.0], resolving._run

    def work(few):
        now[0] += few * ITERATION

    monkeypatch.setattr(resolving, "_run", lambda iterate, *rest: run(lambda n: iterate(n) or work(n), *rest))
    for module in (agent, resolving, budget):
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: now[0]))
    return now


@pytest.mark.parametrize("wrong", [0, -1.0, float("nan"), float("inf")])
def test_a_bank_without_seconds_is_refused(folders, wrong):
    with pytest.raises(InputError, match="seconds per hand: expected more than 0 and at most"):
        TimeBank(wrong)
    with pytest.raises(InputError, match="seconds per hand: expected more than 0"):
        open_bot(folders["limit"], seconds_per_hand=wrong, ready=False)


def test_larger_pots_and_deeper_trees_get_more_and_nothing_is_overdrawn():
    bank = TimeBank(7.0)
    assert bank.allowance(1.0) == 0
    for _ in range(100):
        bank.new_hand()
        bank.charge(7.0 - AROUND, importance(100, 100) / 2)
    assert bank.allowance(importance(100, 100)) == 0
    bank.new_hand()
    assert bank.allowance(1.0, pending=7.0) == 0
    small, large, deep = (bank.allowance(importance(*of)) for of in ((1, 1), (16, 1), (1, 9)))
    assert (large / small, deep / small) == pytest.approx((4, 3), rel=0.05)
    assert bank.allowance(importance(10**6, 10**6)) == SHARE * bank.left
    for _ in range(100):
        bank.new_hand()
    assert bank.allowance(importance(10**6, 10**6)) == MOST_OF_ANSWER


@pytest.mark.parametrize("share", [0.1, 0.4, 1.0])
def test_a_match_spends_most_of_its_time_and_never_more(share):
    """Some of the hands have a solve or two; each lasts up to a tenth longer than it may."""
    bank, rng, most = TimeBank(7.0), Random(1), 0.0
    for _ in range(1000):
        bank.new_hand()
        bank.charge(0.001)
        if rng.random() < share:
            for size in (1000, 20)[: rng.randint(1, 2)]:
                weight = importance(rng.randint(4, 200), size)
                allowed = bank.allowance(weight)
                assert 0 < 1.1 * allowed < bank.left
                bank.charge(allowed * rng.uniform(0.8, 1.1), weight)
                most = max(most, allowed)
        assert bank.spent <= 7.0 * bank.hands
    assert bank.spent > 0.8 * 7.0 * bank.hands
    assert most > 7.0


@pytest.mark.parametrize("game", ["limit", "no-limit"])
@pytest.mark.parametrize("rate", [0.5, 0.02])
def test_a_match_of_forty_hands_stays_within_its_bank(folders, clock, game, rate):
    rng, decided = Random(3), 0
    with bot_of(folders[game], Options("always", iterations=1000, seconds_per_hand=rate)) as bot:
        for number in range(40):
            hand, board = dealt(bot.game, rng)
            bot.new_hand(seen_by(hand, 0), 0, number)

            def choose(hand, limit=rate * (number + 1)):
                nonlocal decided
                if hand.to_act == 1:
                    return rng.choice(("c", any_action(hand, rng)))
                action, decided = bot.act(seen_by(hand, 0)), decided + 1
                assert clock[0] <= limit
                return action

            bot.hand_over(played_out(hand, board, choose)[0])
        assert bot.bank is not None
        assert bot.bank.spent == pytest.approx(clock[0] + AROUND * decided)
        assert clock[0] > (0.3 if rate == 0.5 else 0.01) * 40 * rate
        spent = bot.tally.spent
    assert len(spent) == decided
    assert sum(each.seconds for each in spent) == pytest.approx(clock[0])
    assert sum(each.stages.get("iterate", 0.0) for each in spent) == pytest.approx(clock[0])
    solved = {each.round for each in spent if each.solved}
    assert solved >= {2}
    assert min(solved) == 2


def test_a_question_about_another_betting_costs_nothing(folders, clock):
    """Local Best Response asks what the bot would answer to bets that are not made then."""
    rng = Random(1)
    with bot_of(folders["no-limit"], Options("off-tree", iterations=20, seconds_per_hand=2.0)) as bot:
        hand, board = dealt(bot.game, rng)
        for _ in range(2):
            bot.new_hand(hand, 1, 1)
        at_turn = limped(bot.game, board[:4], hand.hole)
        assert bot.strategy(at_turn.apply("r37")) is not None
        assert (clock[0] > 0, bot.bank.spent, bot.tally.spent) == (True, 0.0, [])
        bot.act(at_turn.apply("c"))
        assert bot.bank.spent == AROUND
        bot.act(at_turn.apply("r37"))
        assert bot.bank.spent == pytest.approx(clock[0] + 2 * AROUND)
        assert [each.solved for each in bot.tally.spent] == [False, True]


def test_an_empty_bank_means_no_solve_and_is_told(folders, clock, caplog):
    caplog.set_level(logging.INFO)
    rng = Random(1)
    with bot_of(folders["limit"], Options("always", iterations=20, seconds_per_hand=1.0)) as bot:
        hand, board = dealt(bot.game, rng)
        bot.new_hand(hand, 0, 1)
        at_turn = limped(bot.game, board[:4], hand.hole)
        bot.bank.charge(5.0)
        assert bot.answer(at_turn).source == "stored"
        assert f"line {at_turn.betting.line!r}: the time bank is empty: no subgame is solved" in caplog.text
        assert (clock[0], set(bot.tally.reasons)) == (0.0, {"OutOfTimeError"})
        for _ in range(6):
            bot.new_hand(hand, 0, 1)
        assert bot.answer(at_turn).source == "re-solved"


def test_what_a_decision_spent_is_in_the_log(folders, clock, caplog):
    caplog.set_level("INFO", "spewy.bot")
    rng = Random(1)
    with bot_of(folders["limit"], Options("always", iterations=20, seconds_per_hand=1.0)) as bot:
        hand, board = dealt(bot.game, rng)
        bot.new_hand(hand, 0, 1)
        bot.act(limped(bot.game, board[:4], hand.hole))
    assert (
        "line 'cc/cc/': 0.2 s: read 0, lay 0, iterate 0.2, judge 0; 0.798 s in the time bank" in caplog.text
    )


def test_a_bank_allows_more_iterations(folders):
    for per_hand, iterations, most in ((None, None, 400), (7.0, None, MOST_ITERATIONS), (7.0, 5, 5)):
        with open_bot(folders["limit"], seconds_per_hand=per_hand, iterations=iterations, ready=False) as bot:
            assert bot.options.iterations == most


@pytest.mark.parametrize(("per_hand", "menu"), [(None, "all-in"), (1.5, "all-in"), (7.0, "lean")])
def test_a_menu_is_chosen_for_the_seconds_of_a_hand(folders, per_hand, menu):
    """The bank's seconds of a hand count in place of a decision's budget."""
    with bot_of(folders["no-limit"], Options("always", seconds=1.0, seconds_per_hand=per_hand)) as bot:
        pace, cards = bot._builder.pace, bot.game.deck.cards
        hand = limped(bot.game, (*cards[-3:], cards[0]), dealt(bot.game, Random(3))[0].hole)
        size = bot._beliefs.at(hand).subgame.size
        pace.took("iterate", 10 * size, 2.0)  # ten iterations of the lean menu last two seconds
        bot._beliefs = bot._new_beliefs()
        assert bot._beliefs.at(hand).subgame.root.menu == menu


@pytest.mark.parametrize("game", ["limit", "no-limit"])
def test_the_size_of_a_subgame_is_known_before_it_is_laid_out(folders, game):
    with bot_of(folders[game], Options()) as bot:
        for n_rounds in (1, 2):
            root = resolving.Root(4 - n_rounds, 20, None if game == "limit" else 380)
            layout = bot._builder.layout(root, tuple(bot.game.deck.cards[: bot.game.board_sizes[root.round]]))
            assert bot._builder.size(root) == strategy_size(layout)


def test_times_are_summed_up_by_round_and_read_from_logs():
    spent = [Spent(2, float(n), {"iterate": n / 2}) for n in range(1, 101)] + [Spent(0, 1e-5)]
    first, turn = summary(spent)
    instant = {"mean": 1e-5, "median": 1e-5, "p99": 1e-5}
    assert first == {"round": "preflop", "n": 1, "solved": 0, "seconds": instant, "stages": {}}
    assert (turn["round"], turn["n"], turn["solved"]) == ("turn", 100, 100)
    assert turn["seconds"] == {"mean": 50.5, "median": 50.0, "p99": 99.0}
    assert turn["stages"]["iterate"] == {"mean": 25.25, "median": 25.0, "p99": 49.5}
    assert [parse_spent(each.text) for each in spent] == spent
    for wrong in ("", "2", "2 x", "2 1.1.1", "2 1 bake 1", "2 1 read", "2 1 read 1 read 1"):
        assert parse_spent(wrong) is None
