"""A round that is solved again from its beginning: menus, real bets in the tree, and what was played is kept."""

import logging
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest
from bot_games import NO_LIMIT_GAME, limped

from spewy.bot.agent import bot_of, open_bot
from spewy.bot.bot import Answer
from spewy.bot.options import Options
from spewy.bot.resolving.builder import Root, SubgameBuilder, live_game, new_solver, strategy_size
from spewy.bot.resolving.resolve import AFTER_NEW_BET, Limits, resolve, start_from_earlier
from spewy.errors import InputError
from spewy.game.betting import Betting
from spewy.game.gamefile import parse_game
from spewy.game.treeconfig import game_config, player_sizes

GAME = parse_game(NO_LIMIT_GAME, "small")
SIZES = player_sizes("33%, 60%", "50%, 100%")
ROOT = Root(2, 20, 380)
BOARD = GAME.deck.cards[:8:2]
HOW = {"resolve": "always", "iterations": 30, "seconds": None, "translation": "likelier"}


def builder(**options):
    return SubgameBuilder(game_config(GAME, {0: (SIZES, SIZES)}), **options)


def turn():
    return limped(GAME, BOARD)


def names(games, root, line):
    return [action.acpc for action in games.decision(root, line)[2].actions]


def test_real_bets_are_in_the_tree_where_they_happened_and_only_there():
    games = builder()
    root = games.fitting(ROOT, ("c", "r50", "r170"), "lean", None)
    assert (root.menu, root.extra_bets) == ("lean", ("cr50", "cr50r170"))
    assert names(games, root, "c") == ["c", "r40", "r50", "r380"]
    assert names(games, root, "cr50") == ["f", "c", "r170", "r380"]
    assert names(games, root, "") == ["c", "r40", "r380"]
    assert names(games, root, "cr50r170") == ["f", "c", "r380"]
    assert games.fitting(ROOT, ("c", "r40"), "lean", None).extra_bets == ()
    assert names(games, replace(ROOT, menu="job"), "") == ["c", "r13", "r24"]  # a tree without an all-in


@pytest.mark.parametrize("bet", ["r5", "cr900", "fr40"])
def test_bets_that_nobody_could_make_are_refused(bet):
    with pytest.raises(InputError):
        builder().tree(replace(ROOT, extra_bets=(bet,)))


def test_a_menu_that_does_not_fit_gives_way_to_the_next_and_the_log_says_so(caplog):
    games = builder()
    sizes = {menu: games.size(replace(ROOT, menu=menu)) for menu in ("job", "lean", "all-in")}
    assert sizes["job"] > sizes["lean"] > sizes["all-in"]
    assert sizes["lean"] == strategy_size(games.layout(replace(ROOT, menu="lean"), BOARD))
    small = builder(most_bytes=8 * sizes["all-in"])
    with caplog.at_level(logging.WARNING, "spewy"):
        assert small.fitting(ROOT, (), "job", None).menu == "all-in"
    assert [record.args[2] for record in caplog.records] == ["job", "lean"]
    assert "a smaller one takes its place" in caplog.text
    games.pace.took("iterate", 100, 100 / sizes["lean"])  # ten iterations of the lean menu last ten seconds
    assert games.fitting(ROOT, (), "job", 10.0).menu == "lean"
    assert games.fitting(ROOT, (), "job", 8.0).menu == "all-in"
    assert games.fitting(ROOT, (), "job", 0.001).menu == "all-in"


def test_kept_decisions_stay_and_the_others_answer_them():
    games = builder()
    root = replace(ROOT, menu="lean")
    ranges = np.random.default_rng(3).random((2, games.n_hands))
    free = resolve(games, root, BOARD, ranges, Limits(300))
    always = np.zeros((3, games.n_hands))
    always[0] = 1.0  # the first player checks every hand
    kept = resolve(games, root, BOARD, ranges, Limits(300), kept={"": always})
    behind = replace(root, actions=("c",))
    alone = resolve(games, behind, BOARD, ranges, Limits(300))
    live = alone.frequencies("c", BOARD).sum(axis=0) > 0
    assert np.abs(kept.frequencies("c", BOARD) - alone.frequencies("c", BOARD))[:, live].mean() < 0.02
    assert np.abs(free.frequencies("c", BOARD) - alone.frequencies("c", BOARD))[:, live].mean() > 0.05


def test_a_tree_with_one_more_bet_starts_from_the_regrets_of_the_earlier_solve():
    games, few = builder(), Limits(10)
    ranges = np.random.default_rng(3).random((2, games.n_hands))
    root = replace(ROOT, menu="lean")
    wide = games.fitting(root, ("c", "r50"), "lean", None)
    earlier = resolve(games, root, BOARD, ranges, Limits(100))
    layout = games.layout(wide, BOARD)
    with closing(new_solver(live_game(layout, ranges))) as solver:
        started = start_from_earlier(games, wide, layout, solver, earlier)
        assert started == solver.iteration > 0
        regrets, known = solver.read("regrets", 0, 0), earlier.regrets(0, 0)
    lines = ("c", "cr40", "cr380")
    slot = {(line, tree): games.decision(tree, line)[1] for line in lines for tree in (root, wide)}
    assert names(games, wide, "c") == ["c", "r40", "r50", "r380"]
    at, of = slot["c", wide], slot["c", root]
    np.testing.assert_array_equal(regrets[1][[at, at + 1, at + 3]], known[1][[of, of + 1, of + 2]])
    assert not regrets[1][at + 2].any()
    for line in ("cr40", "cr380"):
        at, of = slot[line, wide], slot[line, root]
        np.testing.assert_array_equal(regrets[0][[at, at + 1]], known[0][[of, of + 1]])
    # After r50 the pot is 140 when it is called: between 120 after r40, which can be raised, and 800 after all-in.
    at, smaller, larger = games.decision(wide, "cr50")[1], slot["cr40", root], slot["cr380", root]
    expected = AFTER_NEW_BET * 660 / 680 * known[0][smaller : smaller + 3]
    expected[:2] += AFTER_NEW_BET * 20 / 680 * known[0][larger : larger + 2]
    np.testing.assert_allclose(regrets[0][at : at + 3], expected, rtol=1e-5)

    def lost(solved):
        return sum(float(ranges[p] @ solved.best_values(p)) for p in (0, 1))

    best = lost(resolve(games, wide, BOARD, ranges, Limits(400)))
    from_earlier = lost(resolve(games, wide, BOARD, ranges, few, earlier)) - best
    from_zero = lost(resolve(games, wide, BOARD, ranges, few)) - best
    assert 0 < from_earlier < from_zero / 4


def test_the_bot_starts_from_the_solve_that_it_has_made_in_the_round(folders, monkeypatch):
    started = []

    def start(builder, root, layout, solver, earlier):
        started.append((root.extra_bets, earlier.root.extra_bets))
        return start_from_earlier(builder, root, layout, solver, earlier)

    monkeypatch.setattr("spewy.bot.resolving.resolve.start_from_earlier", start)
    for options in (HOW, HOW | {"safe": "mixed"}, HOW | {"warm": False}):
        started.clear()
        with bot_of(folders["no-limit"], Options(**options)) as bot:
            bot.answer(turn())
            bot.answer(turn().apply("c").apply("r100"))
        assert started == ([] if "warm" in options else [(("cr90",), ())]), options
    started.clear()
    with bot_of(folders["no-limit"], Options(**HOW)) as bot:
        bot.answer(turn())
        earlier = bot._beliefs.at(turn()).subgame
        earlier._worse[1] = True  # one player's strategy is worse than the stored one
        bot.answer(turn().apply("c").apply("r100"))
    assert started == []


@pytest.mark.parametrize("first", ["c", "r30"])
def test_the_bot_keeps_what_it_played_and_the_other_is_free(folders, first):
    """The first player plays a move of the strategy; the second makes a bet that the tree lacks."""
    with bot_of(folders["no-limit"], Options(**HOW)) as bot:
        before = turn()
        after = before.apply(first).apply("r100")
        played = bot.answer(before)
        entering = bot.ranges(before)
        part = bot._beliefs.at(after).subgame
        answer = bot.answer(after)
        assert answer.source == "re-solved"
        assert part.betting.line == before.betting.line
        assert part.root.extra_bets == (f"{first.replace('r30', 'r20')}r90",)
        assert [*part.kept] == [""]
        mine = entering[0] * played.frequencies[played.actions.index(first)]
        np.testing.assert_allclose(bot.ranges(after)[0], mine)
        if first == "c":
            number = names(bot._builder, part.root, "c").index("r90")
            took = part._resolved(1).frequencies("c", BOARD)[number]
            np.testing.assert_allclose(bot.ranges(after)[1], entering[1] * took)


def test_a_second_bet_that_the_tree_lacks_is_in_the_tree_of_the_first(folders):
    with bot_of(folders["no-limit"], Options(**HOW)) as bot:
        hand = turn().apply("r47")
        first = bot.answer(hand)
        raised = next(action for action in first.actions if action[0] == "r")
        bets = [hand, hand.apply("c").deal((GAME.deck.cards[9],)).apply("c").apply("r97")]
        for each in bets:
            assert bot.answer(each).source == "re-solved"
        part = bot._beliefs.at(bets[1]).subgame
        assert (part.root.round, len(part.root.extra_bets)) == (3, 1)
        assert raised == "r400"


def test_bets_of_another_decision_count_as_the_nearest_of_its_bets():
    betting = Betting.start(GAME)
    answer = Answer(("f", "c", "r25", "r35"), np.array([[0.1, 0], [0.2, 0], [0.3, 0], [0.4, 0]]), "stored")
    found = answer.among(("f", "c", "r25", "r30", "r400"), "r25", betting)
    np.testing.assert_allclose(found[:, 0], [0.1, 0.2, 0.3, 0.4, 0.0])
    assert np.isnan(found[:, 1]).all()
    np.testing.assert_allclose(answer.among(("f", "c", "r35"), "r35", betting)[:, 0], [0.1, 0.5, 0.4])


def test_limit_games_have_one_menu_and_threads_are_all_cores_where_everything_is_solved(folders, monkeypatch):
    monkeypatch.setattr("spewy.bot.options.cpu_count", lambda: 3)
    for resolve_when, threads in (("always", 3), ("off-tree", 1)):
        with open_bot(folders["no-limit"], resolve=resolve_when, ready=False) as bot:
            assert (bot.options.n_threads, bot.options.menu) == (threads, "lean")
    with pytest.raises(InputError, match="menu: expected one of lean, job"):
        Options(menu="large")
