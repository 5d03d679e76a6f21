"""Early rounds re-solved to their own end, with a folder's payoff matrices at the leaves."""

import itertools
import logging
import shutil

import numpy as np
import pytest
from bot_games import LIMIT_GAME, NO_LIMIT_GAME, folder_of, play
from cli_runs import good, refused, write
from dealt_jobs import DEALT_LEDUC

from lockers import LockerError
from spewy import InputError, open_bot, open_policy
from spewy.bot.judge import open_judge
from spewy.bot.leaves import Leaves
from spewy.bot.options import Options
from spewy.bot.player import bot_of
from spewy.bot.subgames import Root, SubGames
from spewy.game.hand import Hand
from spewy.records.class_payoffs import FOLDER, ClassPayoffs

QUICK = {"iterations": 5, "seconds": None}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    found = {}
    for name, game in {"limit": LIMIT_GAME, "no-limit": NO_LIMIT_GAME}.items():
        found[name] = folder_of(tmp_path_factory.mktemp("game"), game, 100)
        good("payoffs", found[name], "--boards", "1", "--workers", "1")
    return found


def early(folder, policy):
    """Sub-games whose flops end early, and their leaves."""
    leaves = Leaves.within(folder, policy)
    return SubGames(policy.problem.tree.config, leaves=leaves, early=2), leaves


def flop(bot, line="cc", n=0):
    """A hand on a flop, somebody to act."""
    hand = Hand.start(bot.game)
    for action in line:
        hand = hand.apply(action)
    return hand.deal(bot.game.deck.cards[n : n + 9 : 3])


def test_leaves_are_worth_what_the_matrices_of_all_turns_say(folders):
    """Every pair of hands, on every turn, by the locker's own line."""
    folder = folders["limit"]
    with open_policy(folder) as policy, ClassPayoffs.open(folder) as kept:
        games, leaves = early(folder, policy)
        with leaves:
            deck, board = policy.problem.hands, games.game.deck.cards[:12:4]
            layout = games.of(Root(1, 20, None, begun="rc/"), board)
            ends = [layout.betting[0].nodes[n] for n in layout.betting[0].forest.chance_leaves]
            assert [node.line for node in ends] == ["cc", "crc", "rc"]
            lines = [node.line for node in policy.entered(2)]
            here = [lines.index(f"rc/{node.line}/") for node in ends]
            held = layout.board(0, 0).rows[0].hands
            reach = np.random.default_rng(1).random((len(ends), len(held)))
            wanted = np.zeros((2, *reach.shape))
            for card in set(games.game.deck.cards) - {*board}:
                classes, rows = policy.classes.boards(2, np.array([[*board, card]]))
                u = kept.get(2, int(classes[0]), (len(lines), 12, 12))[here]
                for i, j in itertools.product(range(len(held)), repeat=2):
                    mine, theirs = {*deck[held[i]]}, {*deck[held[j]]}
                    if not mine & theirs and card not in mine | theirs:
                        x, y = rows[0][held[i]], rows[0][held[j]]
                        wanted[0, :, i] += u[:, x, y] * reach[:, j] / 8
                        wanted[1, :, i] -= u[:, y, x] * reach[:, j] / 8
            for p in (0, 1):
                np.testing.assert_allclose(layout.live.below(p, reach)[:, : len(held)], wanted[p], atol=1e-2)


def taken(leaves, layout, base, begun):
    """By each leaf's line the locker's line that it is taken for, and what either has put in there."""
    nodes, entered = layout.betting[0].nodes, leaves._entered(2)
    found = {}
    for n in layout.betting[0].forest.chance_leaves:
        r = leaves._closest(2, nodes[n], base, begun)
        found[nodes[n].line] = entered[r].line, min(entered[r].put_in), entered[r].kind
    return found


def test_a_line_that_the_tree_lacks_is_taken_for_the_one_most_like_it(folders):
    folder = folders["no-limit"]
    with open_policy(folder) as policy:
        games, leaves = early(folder, policy)
        with leaves:
            board = games.game.deck.cards[:12:4]
            # the tree bets half of the pot, that is 10, or all-in
            layout = games.of(Root(1, 10, 390, ("r14",), begun="cc/"), board)
            found = taken(leaves, layout, 10, "cc/")
            assert found["r14c"][:2] == ("cc/r20c/", 20)
            assert found["r14r62c"][:2] == ("cc/r20r60c/", 60)
            assert found["r14r62r206r390c"] == ("cc/r20r60r180r400c/", 400, "chance")


@pytest.mark.parametrize("safe", [False, True])
def test_a_flop_is_solved_to_its_end_and_its_turns_to_theirs(folders, safe):
    with open_bot(
        folders["limit"], resolve="always", leaves="always", safe=safe, iterations=100, seconds=None
    ) as bot:
        hand = flop(bot)
        assert bot.answer(hand).source == "re-solved"
        assert not bot.begins(hand)
        bet = hand.apply("c").apply("r")
        assert bot.answer(bet).source == "re-solved"
        turn = bet.apply("c").deal([next(c for c in bot.game.deck.cards if c not in hand.board)])
        assert bot.begins(turn)
        assert bot.answer(turn).source == "re-solved"
        first, second = bot.ranges(turn)
        assert first.any()
        assert second.any()


def test_a_flop_that_is_solved_worse_than_the_locker_is_not_played(folders):
    cold = Options("always", iterations=1, seconds=None, leaves="always", warm=False)
    with bot_of(folders["limit"], cold) as bot:
        found = {bot.answer(flop(bot, n=n)).source for n in range(6)}
    with open_bot(folders["limit"], resolve="always", leaves="always", iterations=200, seconds=None) as bot:
        more = {bot.answer(flop(bot, n=n)).source for n in range(6)}
    assert "stored" in found
    assert more == {"re-solved"}


def test_a_bet_that_the_tree_lacks_is_solved_where_there_are_matrices(folders, tmp_path):
    without = tmp_path / "without"
    shutil.copytree(folders["no-limit"], without, ignore=shutil.ignore_patterns(FOLDER))
    for folder, leaves, source in (
        (folders["no-limit"], "off-tree", "re-solved"),
        (folders["no-limit"], "never", "translated"),
        (without, "never", "translated"),
    ):
        with open_bot(folder, leaves=leaves, **QUICK) as bot:
            hand = flop(bot).apply("r34")
            bot.new_hand(hand, 1, 3)
            assert bot.answer(hand).source == source, (leaves, source)
            assert bot.answer(flop(bot).apply("r20")).source == "stored"


@pytest.mark.parametrize("game", ["limit", "no-limit"])
@pytest.mark.parametrize("leaves", ["off-tree", "always"])
def test_random_opponents_meet_legal_actions_alone(folders, game, leaves, caplog):
    with (
        open_bot(folders[game], resolve="always", leaves=leaves, **QUICK) as bot,
        caplog.at_level(logging.WARNING),
    ):
        for seed in range(20):
            hand, done = play(bot, seed % 2, seed)
            assert hand.is_over
            assert play(bot, seed % 2, seed)[1] == done
    assert not caplog.records


def test_matrices_that_are_missing_or_those_of_some_classes_are_told(folders, tmp_path):
    """None, and those of a run of `spewy payoffs` that was interrupted."""
    copy = tmp_path / "copy"
    shutil.copytree(folders["limit"], copy, ignore=shutil.ignore_patterns(FOLDER))
    with pytest.raises(InputError, match=r"expected payoff matrices \(spewy payoffs\), found none"):
        open_bot(copy, leaves="always")
    with open_policy(copy) as policy:
        manifest = policy.averages.manifest
    with ClassPayoffs.open(folders["limit"]) as whole, ClassPayoffs.within(copy, manifest, "payoffs") as kept:
        kept.put(2, 0, whole.get(2, 0, (15, 12, 12)))
    with pytest.raises(InputError, match="of all classes of a round after the flop, found fewer"):
        open_bot(copy, leaves="always")
    with open_bot(copy, resolve="always", **QUICK) as bot:
        assert bot.answer(flop(bot)).source == "stored"


def test_a_game_that_ends_with_the_flop_has_no_early_rounds(tmp_path):
    job = write(tmp_path, DEALT_LEDUC)
    good("solve", job, "--out", tmp_path / "out", "--set", "solve.max_sweeps=20")
    good("payoffs", tmp_path / "out", "--boards", "1", "--workers", "1")
    with pytest.raises(
        InputError, match="leaves: expected a game with a round after the flop, found 2 rounds"
    ):
        open_bot(tmp_path / "out", leaves="always")


def test_matrices_that_are_damaged_or_another_games_are_told(folders, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(folders["limit"], copy)
    shutil.rmtree(copy / FOLDER)
    shutil.copytree(folders["no-limit"] / FOLDER, copy / FOLDER)
    with pytest.raises(LockerError, match="expected"):
        open_bot(copy, leaves="always")
    for shard in (copy / FOLDER).glob("shard-*.mdb"):
        shard.write_bytes(b"nothing" * 100)
    assert "payoffs" in refused("match", copy, "call", "--hands", "2", "--leaves", "always")
    good("match", copy, "call", "--hands", "2", "--workers", "1")


def test_what_leaves_may_be(folders):
    with pytest.raises(InputError, match="leaves: expected one of never, off-tree, always, found 'often'"):
        open_bot(folders["limit"], leaves="often")


def test_the_judge_walks_a_flop_that_is_solved_and_responds_to_its_turns(folders):
    """Its answers are those of a bot that is asked alone, whichever turns were solved before."""
    options = Options("always", iterations=5, seconds=None, leaves="always")
    board = None
    with open_judge(folders["limit"], options, symmetric=False) as judge:
        board = judge.game.deck.cards[:9:3]
        roots = judge.sub_games(board, ["cc/"])
        assert {len(cards) for _, cards in roots} == {4}
        mine = [judge.below(root) for root in roots[:3]]
    with open_judge(folders["limit"], options, symmetric=False) as judge:
        alone = [judge.below(root) for root in reversed(roots[:3])][::-1]
    for first, second in zip(mine, alone, strict=True):
        np.testing.assert_array_equal(first, second)
