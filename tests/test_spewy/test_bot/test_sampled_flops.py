"""Flops that the bot re-solves by sampling or with few bets later: how good, with which ranges, in which time."""

import gc
import time
import weakref
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from bot_games import limped, play

from benchmarks.studies.sampled_flops import Judge
from solvers.errors import SolverError
from spewy.bot.agent import bot_of
from spewy.bot.beliefs import Beliefs
from spewy.bot.options import Options
from spewy.bot.resolving.budget import OutOfTimeError
from spewy.bot.resolving.builder import Root, SubgameBuilder
from spewy.bot.resolving.resolve import Limits, ResolvedRound, resolve_round
from spewy.bot.resolving.sampled import SampledRound, sample
from spewy.errors import InputError, SolveError

HOW = {
    "resolve": "always",
    "flops": "sampled",
    "deals": 40,
    "iterations": 10,
    "seconds": None,
    "strict": True,
}
ROOT = Root(1, 10, 390, menu="lean")


@pytest.fixture(scope="module")
def stored(folders):
    with bot_of(folders["no-limit"], Options("never")) as bot:
        yield bot


def flop_of(game):
    return limped(game, game.deck.cards[:6:2])


def solved(bot, deals=60, seed=1, root=ROOT, **others):
    board, abstraction = flop_of(bot.game).board, bot._blueprint.abstraction
    one = np.ones(len(bot.hands))
    limits = Limits(deals, **others)
    return sample(SubgameBuilder(bot._blueprint.config), abstraction, root, board, (one, one), seed, limits)


def test_a_sampled_or_quick_flop_is_nearly_as_good_as_an_exact_one(stored):
    """The second route solves turns and rivers exactly behind the flop's strategy, and best responds to the whole."""
    args = SimpleNamespace(menu="lean", iterations=50, threads=1)
    judge = Judge(stored, SubgameBuilder(stored._blueprint.config), flop_of(stored.game).board, args)
    alone, few, many, quick, exact = judge.losses("cc/", [10, 600], [40])
    assert exact < many < exact + 2 < 8 < 16 < min(alone, few)
    assert quick < many


def test_equal_deals_give_the_same_strategy_and_other_deals_another(stored):
    board = flop_of(stored.game).board
    first, again, other = (solved(stored, seed=seed).frequencies("", board) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()
    live = first.sum(axis=0) > 0
    np.testing.assert_allclose(first.sum(axis=0)[live], 1.0)
    assert live.sum() == 66  # hands of two of the twelve cards that are left


def test_kept_decisions_stay_and_hands_without_frequencies_are_free(stored):
    board, one = flop_of(stored.game).board, np.ones(len(stored.hands))
    builder, abstraction = SubgameBuilder(stored._blueprint.config), stored._blueprint.abstraction
    free = solved(stored).frequencies("", board)
    kept = np.tile(np.array([[0.25], [0.75], [0.0]]), len(one))
    kept[:, ::2] = np.nan
    locked = sample(builder, abstraction, ROOT, board, (one, one), 1, Limits(60), {"": kept})
    found, live = locked.frequencies("", board), free.sum(axis=0) > 0
    odd = live & (np.arange(len(one)) % 2 == 1)
    np.testing.assert_allclose(found[:, odd], kept[:, odd], atol=1e-6)
    assert np.abs(found[:, live & ~odd] - kept[:, odd][:, :1]).max() > 0.1


@pytest.mark.parametrize(
    ("resolve", "flops"), [("always", "sampled"), ("off-tree", "sampled"), ("off-tree", "quick")]
)
def test_no_bet_is_translated_on_the_flop_and_turns_are_solved_with_the_ranges_as_played(
    folders, resolve, flops
):
    with bot_of(folders["no-limit"], Options(**{**HOW, "resolve": resolve, "flops": flops})) as bot:
        before = flop_of(bot.game)
        assert bot.answer(before).source == ("re-solved" if resolve == "always" else "stored")
        entering, played = bot.ranges(before), bot.answer(before)
        after = before.apply("r37")
        answer = bot.answer(after)
        assert answer.source == "re-solved"
        flop = bot._beliefs.at(after).subgame
        assert (flop.root.extra_bets, flop.root.round, flop.ends_with_round) == (("r27",), 1, True)
        assert "r37" not in played.actions
        call = after.apply("c")
        turn = call.deal((bot.game.deck.cards[7],))
        assert bot.answer(turn).source == "re-solved"
        whole = bot._beliefs.at(turn).subgame
        assert (whole.root.round, whole.outer, whole.ends_with_round) == (2, None, False)
        assert bot.begins_subgame(turn)
        assert not bot.begins_subgame(before)
        taken = answer.frequencies[answer.actions.index("c")]
        live = bot.ranges(turn)[1] > 0
        np.testing.assert_allclose(bot.ranges(turn)[1][live], (entering[1] * taken)[live])
        bet = flop._resolved(0).frequencies("", before.board)
        number = [action.acpc for action in bot._builder.decision(flop.root, "")[2].actions].index("r27")
        np.testing.assert_allclose(bot.ranges(turn)[0][live], (entering[0] * bet[number])[live])
        assert not bot.tally.failures


def test_hands_are_played_in_the_same_way_again(folders):
    with bot_of(folders["no-limit"], Options(**HOW)) as bot:
        first, again = (play(bot, 0, 5)[1] for _ in range(2))
        assert first == again


def test_a_solve_ends_before_its_deadline_or_says_that_it_has_no_time(stored):
    began = time.monotonic()
    try:
        found = solved(stored, deals=10**7, deadline=began + 1.0)
        assert found.iterations >= 400
    except OutOfTimeError:  # a busy machine
        pass
    assert time.monotonic() - began < 3
    with pytest.raises(OutOfTimeError):
        solved(stored, deadline=began)


@pytest.mark.parametrize("reason", ["OutOfTimeError", "InputError"])
def test_without_time_or_memory_the_stored_flop_is_played(folders, reason):
    with bot_of(folders["no-limit"], Options(**HOW | {"seconds": 60.0})) as bot:
        if reason == "OutOfTimeError":
            bot._builder.pace.took("deal", 1, 100_000.0)
        else:
            bot._builder.most_bytes = 1000
        assert bot.answer(flop_of(bot.game)).source == "stored"
        assert bot.tally.reasons == {reason: 1}


@pytest.mark.parametrize(
    ("lacks", "solution"), [("nothing", ResolvedRound), ("time", SampledRound), ("memory", SampledRound)]
)
def test_a_quick_flop_is_sampled_without_time_or_memory(folders, lacks, solution):
    with bot_of(folders["no-limit"], Options(**HOW | {"flops": "quick", "seconds": 60.0})) as bot:
        if lacks == "time":
            bot._builder.pace.took("iterate", 1, 60.0)
        elif lacks == "memory":
            few = replace(ROOT, few_bets=True)
            bot._builder.most_bytes = 4 * bot._builder.size(few)
        hand = flop_of(bot.game)
        answer = bot.answer(hand)
        assert answer.source == "re-solved"
        assert answer.frequencies.sum(axis=0).round(6).tolist().count(1.0) == 66
        solved = bot._beliefs.at(hand).subgame._resolved(0)
        assert isinstance(solved, solution)
        assert solved.iterations == (10 if lacks == "nothing" else 40)


def test_hands_that_a_quick_flop_leaves_out_play_the_mean(stored):
    board, builder = flop_of(stored.game).board, SubgameBuilder(stored._blueprint.config)
    weights = np.where(np.arange(len(stored.hands)) % 3 == 0, 0.001, 1.0)
    few = replace(ROOT, few_bets=True)
    found = resolve_round(builder, few, board, (weights, weights), Limits(30)).frequencies("", board)
    live = found.sum(axis=0) > 0
    assert live.sum() == 66
    out = live & (weights < 1)
    np.testing.assert_allclose(
        found[:, out].T, np.broadcast_to(found[:, live & ~out].mean(axis=1), (out.sum(), 3))
    )
    with pytest.raises(KeyError):
        resolve_round(builder, few, board, (weights, weights), Limits(1)).frequencies("cc/", board)


def test_numbers_that_are_not_finite_are_no_strategy(stored):
    found = solved(stored)
    found._numbers("sums", 0)[3, 0] = np.inf
    with pytest.raises(SolveError, match="not finite"):
        found.frequencies("", flop_of(stored.game).board)


def test_what_a_sampled_flop_does_not_have_is_refused(stored):
    found, board = solved(stored), flop_of(stored.game).board
    for line, other in (("cc/", board), ("c", board[:2]), ("r999", board)):
        with pytest.raises(KeyError):
            found.frequencies(line, other)
    with pytest.raises(KeyError):
        found.best_values(0)
    none, builder = np.zeros(len(stored.hands)), SubgameBuilder(stored._blueprint.config)
    with pytest.raises(SolverError, match="shares a card"):
        SampledRound(builder, stored._blueprint.abstraction, ROOT, board, (none, none), 0)


def test_rounds_are_solved_as_the_options_say():
    def methods(**how):
        return [Options("always", **how).method(t, 4) for t in range(4)]

    assert methods() == [None, None, "exact", "exact"]
    assert methods(flops="sampled") == [None, "sampled", "exact", "exact"]
    assert methods(flops="exact", rounds=1) == [None, "exact", "exact", "exact"]
    assert Options("always", flops="sampled").first_round(4) == 1
    assert Options("always").first_round(4) == 2
    assert [Options("always", flops=how).first_exact_round(4) for how in ("sampled", "quick", "exact")] == [
        2,
        2,
        1,
    ]
    with pytest.raises(InputError, match="flops: expected one of stored, sampled, quick, exact"):
        Options(flops="all")
    with pytest.raises(InputError, match="deals: expected a whole number"):
        Options(deals=0)


def test_opening_a_bot_times_deals_and_iterations(folders):
    with bot_of(folders["no-limit"], Options(**HOW)) as bot:
        bot.warm_up()
        assert all(bot._builder.pace.seconds(stage, 1) > 0 for stage in ("deal", "iterate", "judge"))
        assert not bot.tally.sources


def test_limit_games_have_their_own_sizes(folders):
    with bot_of(folders["limit"], Options(**HOW)) as bot:
        answer = bot.answer(flop_of(bot.game))
        assert (answer.source, answer.actions) == ("re-solved", ("c", "r"))
        assert isinstance(bot._beliefs, Beliefs)


@pytest.mark.parametrize("flops", ["sampled", "quick", "exact", "stored"])
def test_the_solves_of_a_hand_need_no_garbage_collector(folders, flops):
    """A match of some hundred hands would otherwise fill the memory, since arrays do not hasten the collector."""
    with bot_of(folders["no-limit"], Options(**HOW | {"flops": flops})) as bot:
        hand = flop_of(bot.game)
        if flops == "stored":  # the turn is the first round that is re-solved
            hand = hand.apply("c").apply("c").deal(bot.game.deck.cards[-1:])
        bot.new_hand(hand, 0, 1)
        gc.collect()
        gc.disable()
        try:
            bot.answer(hand)
            solves = [weakref.ref(solve) for solve in bot._beliefs._context.solved.values()]
            assert solves
            bot.new_hand(hand, 0, 2)
            assert [solve() for solve in solves] == [None] * len(solves)
        finally:
            gc.enable()
