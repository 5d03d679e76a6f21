"""The bot that plays from lockers: never an illegal action, never a crash, the same again under the same seed."""

import gc
import logging
import shutil
import weakref
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
from bot_games import GAMES, limped, play, seen_by
from cli_runs import POLARISED, good, write
from jobs import toy
from stand_ins import Told, fail

from benchmarks.speed import bot_budget
from buckets.cards import blocked, parse_cards
from lockers import LockerError
from solvers.exact import ExactCfr
from spewy import InputError, Player, open_bot
from spewy.bot import agent
from spewy.bot.agent import LockerBot, bot_of
from spewy.bot.options import Options
from spewy.bot.resolving import budget, subgame
from spewy.bot.resolving import resolve as resolving
from spewy.bot.resolving.builder import Root, SubgameBuilder
from spewy.bot.resolving.resolve import Resolved, best_responses
from spewy.bot.resolving.subgame import Subgame
from spewy.bot.resolving.translation import Blueprint
from spewy.errors import SolveError
from spewy.game.gamefile import load_game
from spewy.game.hand import Hand
from spewy.look.folder import open_policy
from spewy.match.opponents import opponent
from spewy.records.policy import ChunkPolicy, Stacked
from spewy.records.strategy_locker import StrategyLocker
from spewy.run.session import Session

QUICK = {"iterations": 5, "seconds": None, "ready": False}
HOWS = {
    "never": {"resolve": "never"},
    "off-tree": {"resolve": "off-tree", "translation": "likelier"},
    "always": {"resolve": "always"},
    "rivers": {"resolve": "always", "rounds": 1},
    "flops too": {"resolve": "always", "rounds": 3},
    "safe": {"resolve": "always", "safe": True},
    "safe off-tree": {"resolve": "off-tree", "safe": True},
    "cfr-d": {"resolve": "always", "safe": "cfr-d"},
}


def off_tree(bot):
    """A turn after a check and a bet that the tree lacks."""
    return checked(bot).apply("r37")


def checked(bot):
    return limped(bot.game, parse_cards("QdQhQsKd"), (parse_cards("JdTd"), None)).apply("c")


def turn(bot):
    """The first decision of a turn."""
    return limped(bot.game, bot.game.deck.cards[:4])


def answered(bot, hand):
    """The answer to a state of a new hand."""
    bot.new_hand(hand, 0, 1)
    return bot.answer(hand)


@pytest.mark.parametrize("n_hands", [10, pytest.param(2000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("game", GAMES)
def test_random_opponents_meet_legal_actions_alone(folders, game, how, n_hands, caplog):
    with caplog.at_level(logging.WARNING, "spewy"), open_bot(folders[game], **HOWS[how], **QUICK) as bot:
        for seed in range(n_hands):
            assert play(bot, seed % 2, seed)[0].is_over
    assert not caplog.records


@pytest.mark.parametrize("how", ["never", "always", "safe"])
def test_the_same_seed_plays_the_same_hand(folders, how):
    with open_bot(folders["no-limit"], **HOWS[how], **QUICK) as bot:
        first = [play(bot, 1, seed)[0].betting.line for seed in range(8)]
        again = [play(bot, 1, seed)[0].betting.line for seed in reversed(range(8))]
    assert first == again[::-1]
    assert len(set(first)) > 2


def test_a_bot_that_missed_the_hand_goes_on_from_it(folders):
    with open_bot(folders["no-limit"], resolve="always", **QUICK) as bot:
        for seed in range(4):
            for hand, action in play(bot, 0, seed)[1]:
                if hand.to_act == 0:
                    bot.new_hand(seen_by(hand, 0), 0, seed)
                    assert bot.act(seen_by(hand, 0)) == action


def test_actions_are_drawn_as_often_as_the_strategy_says(folders):
    with open_bot(folders["limit"], resolve="never") as bot:
        hole = bot.game.deck.cards[3], bot.game.deck.cards[9]
        hand, found = Hand.start(bot.game, (None, hole)), Counter()
        expected = bot.strategy(hand).of(bot.game.hand_number(hole))
        for seed in range(2000):
            bot.new_hand(hand, 1, seed)
            found[bot.act(hand)] += 1
        for action, often in zip(bot.strategy(hand).actions, expected, strict=True):
            assert found[action] / 2000 == pytest.approx(often, abs=0.05)


def test_a_strategy_is_of_all_hands_that_the_board_leaves(folders):
    with open_bot(folders["limit"], resolve="always", **QUICK) as bot:
        hand = turn(bot)
        mix = bot.strategy(hand)
        assert bot.answer(hand).source == "re-solved"
        assert len(mix.hands) == 55
        np.testing.assert_allclose(mix.frequencies.sum(axis=0), 1)


# What is worse


@pytest.mark.parametrize("safe", [False, True])
def test_what_is_solved_worse_than_the_locker_is_not_played(folders, safe):
    sources = set()
    for iterations in (1, 3, 10, 100):
        options = Options("always", 2, "mixed" if safe else None, iterations, seconds=None, warm=False)
        with bot_of(folders["limit"], options) as bot:
            hand = turn(bot)
            answer = answered(bot, hand)
            loses = bot.ranges(hand)[1] @ bot.best_values(hand, 1)
            alone = bot.ranges(hand)[1] @ best_against_the_locker(folders["limit"], hand)
        sources.add((iterations, answer.source))
        if answer.source == "stored":
            assert loses == pytest.approx(alone, abs=1e-6)
        else:
            assert loses < alone
    assert {(1, "stored"), (100, "re-solved")} <= sources


@pytest.mark.parametrize(("bet", "safe"), [("", None), ("r37", "mixed"), ("r390", None)])
def test_a_solve_that_begins_with_the_locker_needs_fewer_iterations(folders, safe, bet):
    folder = folders["no-limit" if bet else "limit"]

    def lost(warm, iterations):
        options = Options("always", 2, safe, iterations, seconds=None, warm=warm)
        with bot_of(folder, options) as bot:
            before = turn(bot)
            ranges, part = bot.ranges(before), bot._beliefs.at(before.apply(bet) if bet else before).subgame
            assert bool(part.root.extra_bets) == bool(bet)
            bot._beliefs._enter(part)
            solved = [part._resolved(1 - p) for p in (0, 1)]
            return sum(ranges[p] @ solved[p].best_values(p) / ranges[1 - p].max() for p in (0, 1))

    assert lost(True, 5) < 0.9 * lost(False, 5)
    assert lost(True, 400) == pytest.approx(lost(False, 400), rel=0.02)


@pytest.mark.parametrize("safe", [None, "mixed"])
def test_the_answer_to_a_bet_does_not_depend_on_earlier_questions(folders, monkeypatch, safe):
    solved = []

    def told(games, root, *rest, **more):
        solved.append(root.extra_bets)
        return resolving.resolve(games, root, *rest, **more)

    monkeypatch.setattr(subgame, "resolve", told)
    with bot_of(folders["no-limit"], Options("always", 2, safe, 20, seconds=None)) as bot:
        bet = off_tree(bot)
        alone = answered(bot, bet).frequencies
        if safe is None:  # the turn for the range after the check, and once is enough
            assert solved == [(), ("cr27",)]
        answered(bot, checked(bot))
        assert np.array_equal(bot.answer(bet).frequencies, alone)


@pytest.mark.parametrize("safe", [False, True])
def test_where_there_is_no_time_to_ask_the_locker_it_is_played(folders, caplog, safe):
    caplog.set_level(logging.INFO)
    with open_bot(folders["limit"], resolve="always", safe=safe, seconds=1e-6) as bot:
        assert answered(bot, turn(bot)).source == "stored"
    assert set(bot.tally.reasons) == {"OutOfTimeError"}
    assert "too large to be solved in time" in caplog.text


@pytest.mark.parametrize("safe", [False, True])
@pytest.mark.parametrize("error", [InputError("rivers were dropped"), LockerError("locker x: damaged")])
def test_where_the_locker_cannot_be_asked_the_solve_is_played(folders, monkeypatch, caplog, error, safe):
    """Only a damaged locker keeps what shall be safe from being solved unsafely."""
    caplog.set_level(logging.INFO)
    monkeypatch.setattr(Blueprint, "strategies", lambda *args: fail(error))
    with open_bot(folders["limit"], resolve="always", safe=safe, **QUICK) as bot:
        is_unsafe = safe and isinstance(error, InputError)
        source = "re-solved" if is_unsafe or not safe else "stored"
        assert answered(bot, turn(bot)).source == source
    assert str(error) in caplog.text
    assert ("solved unsafely" in caplog.text) == is_unsafe
    assert set(bot.tally.reasons) == {type(error).__name__}


@pytest.mark.parametrize("safe", [False, True])
def test_an_actual_bet_has_its_share_of_a_decisions_time(folders, monkeypatch, safe):
    """The round's own subgame, in which nobody asked for an answer, took all of it; an iteration lasts a second."""
    spent, run, solve, solved = [0], resolving._run, Subgame._solve, []

    def timed(iterate, *rest):
        run(lambda few: iterate(few) or spent.append(spent[-1] + few), *rest)

    def kept(self, player):
        resolved = solve(self, player)
        solved.append((self.root.extra_bets, resolved.iterations))
        return resolved

    clock = SimpleNamespace(monotonic=lambda: float(spent[-1]))
    for module in (resolving, budget):
        monkeypatch.setattr(module, "time", clock)
    monkeypatch.setattr(resolving, "_run", timed)
    monkeypatch.setattr(Subgame, "_solve", kept)
    options = Options("always", 2, "mixed" if safe else None, 1000, 200.0)
    with bot_of(folders["no-limit"], options) as bot:
        hand = turn(bot).apply("r37")
        bot.new_hand(hand, 1, 1)
        assert bot.answer(hand).source == "re-solved"
    assert [more for more, _ in solved] == ([(), ("r27",)] if safe else [("r27",)])
    assert min(iterations for _, iterations in solved) > 50
    assert 150 < spent[-1] <= 200


def best_against_the_locker(folder, hand):
    """``[hand]``: the second player's best responses on a turn to the locker, which is asked decision by decision."""
    with open_policy(folder) as policy, LockerBot(policy, Options(resolve="never")) as bot:
        bot.new_hand(hand, 0, 1)
        base = max(hand.betting.spent)

        def after(line, board):
            later = hand
            for token in line.replace("/", ""):
                later = later.apply(token)
                later = later.deal(board[len(later.board) :]) if later.to_deal else later
            return bot.answer(later).frequencies

        def plays(lines, board):
            return Stacked.by_hand(np.concatenate([after(line, board) for line in lines]))

        games, root = SubgameBuilder(policy.problem.tree.config), Root(hand.betting.round, base, None)
        return best_responses(games, root, hand.board, 0, bot.ranges(hand)[0], plays)


@pytest.mark.parametrize("how", ["never", "off-tree", "always", "safe"])
@pytest.mark.parametrize("game", GAMES)
def test_what_decisions_need_is_loaded_and_timed_before_the_first(folders, game, how):
    for ready in (True, False):
        with open_bot(folders[game], **HOWS[how], ready=ready) as bot:
            pace = bot._builder.pace
            known = [pace.seconds(stage, 100) > 0 for stage in ("read", "first", "iterate", "judge")]
            assert known == [ready and how != "never"] * 4
            assert (not bot.tally.sources, not bot.tally.failures) == (True, True)


def test_a_warm_up_that_fails_is_logged_and_the_bot_plays(folders, monkeypatch, caplog):
    monkeypatch.setattr(agent, "pot_odds", lambda *args: fail(TypeError("a bug")))
    with open_bot(folders["limit"], strict=True, **{**QUICK, "ready": True}) as bot:
        assert play(bot, 0, 1)[0].is_over
    assert "warm-up: TypeError: a bug" in caplog.text


def test_the_measuring_of_budgets_ends_where_no_subgame_takes_long():
    times, first = bot_budget.decisions(opponent("call", load_game("leduc")), 2, 1000.0, 1)
    assert (times, first < 10) == ([], True)


# What fails


def test_a_bot_that_forgets_its_solves_within_a_hand_solves_them_again(folders):
    with open_bot(folders["no-limit"], resolve="off-tree", iterations=20, seconds=None) as bot:
        hand = off_tree(bot)
        before = answered(bot, hand)
        (kept,) = map(weakref.ref, bot._beliefs._context.solved.values())
        bot.forget()
        gc.collect()
        assert kept() is None
        after = bot.answer(hand)
        assert before.source == after.source == "re-solved"
        np.testing.assert_array_equal(after.frequencies, before.frequencies)
        hand.apply(bot.act(hand))


@pytest.mark.parametrize(
    ("error", "reason"), [(SolveError("no such luck"), "SolveError"), (TypeError("a bug"), "TypeError")]
)
def test_where_re_solving_fails_the_stored_strategy_answers(folders, caplog, monkeypatch, error, reason):
    with open_bot(folders["no-limit"], resolve="always", **QUICK) as bot:
        hand = off_tree(bot)
        bot.new_hand(hand, 0, 1)
        bot.act(hand)
        assert (dict(bot.tally.sources), bot.tally.failures) == ({"re-solved": 1}, [])
        monkeypatch.setattr(subgame, "resolve", lambda *args: fail(error))
        assert answered(bot, hand).source == "translated"
        hand.apply(bot.act(hand))
        told = bot.tally.take()
    assert told.sources == {"re-solved": 1, "translated": 1}
    assert told.reasons == {reason: len(told.failures)}
    assert f"re-solving failed: {error}" in caplog.text
    assert ("Traceback" in caplog.text) == isinstance(error, TypeError)
    assert not bot.tally.sources


def test_a_strict_bot_raises_the_errors_of_its_program_alone(folders, monkeypatch):
    with open_bot(folders["no-limit"], resolve="always", strict=True, **QUICK) as bot:
        hand = off_tree(bot)
        for error in (SolveError("no such luck"), MemoryError()):
            monkeypatch.setattr(subgame, "resolve", lambda *args, error=error: fail(error))
            bot.new_hand(hand, 0, 1)
            bot.act(hand)
        assert bot.tally.take().reasons.keys() == {"SolveError", "MemoryError"}
        monkeypatch.setattr(subgame, "resolve", lambda *args: fail(TypeError("a bug")))
        bot.new_hand(hand, 0, 1)
        for ask in (bot.strategy, bot.act):
            with pytest.raises(TypeError, match="a bug"):
                ask(hand)


@pytest.mark.parametrize("safe", [False, True])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_values_that_are_not_finite_are_those_of_a_failed_re_solve(folders, monkeypatch, safe, value):
    """NaN compares as not worse than any value, so such a strategy would be played."""
    found = ExactCfr.best_values
    with open_bot(folders["limit"], resolve="always", safe=safe, **QUICK) as bot:
        monkeypatch.setattr(ExactCfr, "best_values", lambda self, player: found(self, player) * value)
        assert answered(bot, turn(bot)).source == "stored"
        assert set(bot.tally.reasons) == {"SolveError"}


def test_numbers_that_are_none_are_not_played(folders, caplog, monkeypatch):
    monkeypatch.setattr(Resolved, "_read", lambda *asked: ((np.full((40, 200), np.nan),) * 2,) * 2)
    with open_bot(folders["no-limit"], resolve="always", **QUICK) as bot:
        assert answered(bot, off_tree(bot)).source == "translated"
        assert set(bot.tally.reasons) == {"SolveError"}
    assert "values that are not finite" in caplog.text


def test_where_the_locker_cannot_be_read_the_equity_answers(folders, caplog, monkeypatch):
    with open_bot(folders["no-limit"], resolve="never") as bot:
        monkeypatch.setattr(StrategyLocker, "frequencies", lambda *args: fail(InputError("the disk is gone")))
        hand = off_tree(bot)
        answer = answered(bot, hand)
        assert (answer.source, answer.actions) == ("fallback", ("f", "c"))
        hand.apply(bot.act(hand))
    assert "the disk is gone" in caplog.text


def test_whatever_fails_an_action_comes(folders, caplog, monkeypatch):
    with open_bot(folders["no-limit"], ready=False) as bot:
        monkeypatch.setattr(LockerBot, "answer", lambda bot, hand: 1 / 0)
        assert bot.act(off_tree(bot)) == "f"
        assert bot.act(Hand.start(bot.game, (None, parse_cards("JdTd"))).apply("c")) == "c"
        assert (bot.tally.sources, bot.tally.reasons) == ({"fallback": 2}, {"ZeroDivisionError": 2})
    assert "division by zero" in caplog.text


@pytest.mark.parametrize(("resolve", "source"), [("never", "fallback"), ("off-tree", "re-solved")])
def test_lines_that_leave_the_tree_are_answered(folders, resolve, source):
    """A bet that is taken for all-in, and called, has nothing behind it in the tree."""
    with open_bot(folders["no-limit"], resolve=resolve, **QUICK) as bot:
        hand = limped(bot.game, parse_cards("QdQhQs")).apply("r380").apply("c").deal(parse_cards("Kd"))
        assert bot.answer(hand).source == bot.answer(hand.apply("r400")).source == source


def test_what_a_hand_solved_is_gone_with_it(folders, monkeypatch):
    """At once, and not when the collector next looks: a turn takes a hundred MiB."""
    solved = []

    def remember(self, player, solve=Subgame._solve):
        resolved = solve(self, player)
        solved.append(weakref.ref(resolved))
        return resolved

    monkeypatch.setattr(Subgame, "_solve", remember)
    gc.collect()
    gc.disable()
    try:
        with open_bot(folders["limit"], resolve="always", **QUICK) as bot:
            for seed in range(10):
                play(bot, seed % 2, seed)
                assert not any(each() for each in solved)
    finally:
        gc.enable()
    assert len(solved) > 2


def test_what_is_no_bot_is_refused(folders, tmp_path):
    good("solve", write(tmp_path, POLARISED), "--out", tmp_path / "out", "--set", "solve.max_sweeps=20")
    with pytest.raises(
        InputError, match="out: a bot needs the strategy of a whole game, and found that of a spot"
    ):
        open_bot(tmp_path / "out")
    for wrong, told in (
        ({"resolve": "sometimes"}, "resolve: expected one of never, off-tree, always, found 'sometimes'"),
        ({"safe": "very"}, "safe: expected one of None, cfr-d, mixed, found 'very'"),
        ({"rounds": 0}, "rounds: expected a whole number from 1 on, found 0"),
        ({"iterations": 1.5}, "iterations: expected a whole number from 1 on, found 1.5"),
        ({"seconds": float("nan")}, "seconds: expected more than 0, found nan"),
    ):
        with pytest.raises(InputError, match=told):
            open_bot(folders["limit"], **wrong)
    with open_bot(folders["limit"], ready=False) as bot:
        with pytest.raises(
            InputError, match=r"hand: expected a hand of the game 'game\.text', found a hand of 'kuhn'"
        ):
            bot.strategy(Hand.start(load_game("kuhn")))
        with pytest.raises(InputError, match="expected a player to act, found none"):
            bot.strategy(Hand.start(bot.game).apply("f"))


def test_games_that_were_solved_whole_are_played_too():
    job = toy("kuhn", max_sweeps=300)
    session = Session(job)
    session.solve()
    bot = LockerBot(ChunkPolicy(job.problem, session.store), Options(resolve="always"))
    for seed in range(50):
        play(bot, seed % 2, seed)
    queen_facing_a_bet = bot.strategy(Hand.start(bot.game).apply("r")).of(1)
    assert queen_facing_a_bet[1] == pytest.approx(1 / 3, abs=0.05)


def test_a_player_is_told_one_thing_at_a_time(folders):
    with open_bot(folders["limit"], resolve="always", **QUICK) as bot:
        player = Player(bot)
        with pytest.raises(InputError, match="player: no hand has begun"):
            player.act()
        player.new_hand("JdTd", seat=1, seed=4)
        player.observe("c")
        with pytest.raises(InputError, match="act after 'c': expected this player's turn, found the other"):
            player.act()
        player.observe("c")
        with pytest.raises(InputError, match="expected this player's turn, found nobody's"):
            player.act()
        player.observe("Qd Qh Qs")
        player.observe("r")
        mix = player.strategy()
        assert mix.actions == ("f", "c")
        action = player.act()
        assert action in mix.actions
        player.observe(action)
        with pytest.raises(InputError, match="seat: expected 0 or 1, found 2"):
            player.new_hand("JdTd", seat=2)
        with pytest.raises(InputError, match="hole cards"):
            player.new_hand("2s3s", seat=0)
        with pytest.raises(InputError, match="hole cards: card: expected an int from 0 to 51"):
            player.new_hand((999, 3), seat=0)


def test_a_player_tells_the_strategy_of_any_bot_that_has_one():
    game = load_game("kuhn")
    player = Player(Told(game))
    player.new_hand("As", seat=0)
    assert player.strategy().actions == ("c", "r")
    quiet = Player(opponent("call", game))
    quiet.new_hand("As", seat=0)
    with pytest.raises(InputError, match="strategy: this bot does not reveal its strategy"):
        quiet.strategy()


def test_a_bot_plays_while_its_locker_is_improved(folders, tmp_path):
    folder = shutil.copytree(folders["limit"], tmp_path / "out")
    with open_bot(folder, resolve="never", ready=False) as bot:
        good("solve", folders["limit"].parent / "job.toml", "--out", folder, "--set", "solve.max_sweeps=130")
        for seed in range(5):
            play(bot, seed % 2, seed)
    with open_policy(folder) as policy:
        assert policy.strategies.saved.deals == 130


@pytest.mark.parametrize("game", ["limit", "no-limit"])
def test_several_decisions_are_each_what_is_read_alone(folders, game):
    with open_policy(folders[game]) as policy:
        blueprint = Blueprint(policy)
        board = parse_cards("TdJhQsKdTs")
        nodes = [n for n in policy.problem.tree.nodes() if n.kind == "decision" and n.round == 3]
        for player in (0, 1):
            lines = [node.line for node in nodes if node.player == player]
            assert len(lines) > 1
            held = ~blocked(blueprint.hands, board)
            alone = np.concatenate([blueprint.strategy(policy.node(line), board) for line in lines])
            several = blueprint.strategies(lines, board)
            assert np.array_equal(several.of(np.arange(len(held))), alone * held)
            assert len(several.frequencies[0]) == 12  # rows, of which many hands have the same
