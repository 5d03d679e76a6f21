"""Rivers that UPAC's bot solves: values by walking all pairs of hands, exploitability, and what is played."""

import io
from contextlib import closing

import numpy as np
import pytest
from upac_tables import packed_tables

from spewy.competitions.upac.runtime.player import Player, River
from spewy.competitions.upac.runtime.protocol import Spot
from spewy.competitions.upac.runtime.tables import (
    FOLD,
    HANDS,
    PLAYER,
    ROUND,
    SPENT_0,
    SPENT_1,
    TOTAL,
    Tables,
    start_class,
    strengths,
)

BOARD = (3, 14, 25, 36, 51)


@pytest.fixture(scope="module")
def tables():
    with closing(Tables(io.BytesIO(packed_tables()), "test")) as found:
        yield found


@pytest.fixture(scope="module")
def tree(tables):
    return tables.tree(0)


@pytest.fixture(scope="module")
def root(tree):
    """The first river that both have reached with few chips in."""
    nodes = tree.nodes
    begins = {
        c for n in range(len(nodes)) if nodes[n, ROUND] < 3 for c in tree.children(n) if nodes[c, ROUND] == 3
    }
    return min(node for node in begins if nodes[node, PLAYER] >= 0)


def some_hands(n, seed, ties=False):
    """Weights of n hands that the board leaves."""
    rng = np.random.default_rng(seed)
    there = np.flatnonzero(~np.isin(HANDS, BOARD).any(axis=1))
    if ties:  # a few cards only, so that hands share them and tie
        there = there[np.isin(HANDS[there] >> 2, (4, 5, 6)).all(axis=1)]
    weights = np.zeros(len(HANDS))
    weights[rng.choice(there, min(n, len(there)), replace=False)] = rng.random(min(n, len(there)))
    return weights


def river(tree, root, n=40, seed=1, ties=False):
    weights = some_hands(n, seed, ties), some_hands(n, seed + 1, ties)
    return River(tree, root, weights, strengths(BOARD))


def walked(game, node, reach, play, p, best):
    """``[hand]``: what a node is worth to a player, pair by pair; ``best``: of actions, in place of what is played."""
    tree, mine, theirs = game.tree, game.held[p], game.held[1 - p]
    player = int(tree.nodes[node, PLAYER])
    found = []
    for number, child in enumerate(tree.children(node)):
        below = reach * play[node][number] if player != p else reach
        if tree.nodes[child, PLAYER] >= 0:
            found.append(walked(game, child, below, play, p, best))
            continue
        chips = int(tree.nodes[child, [SPENT_0, SPENT_1]].min())
        value = np.zeros(len(mine))
        for i, hand in enumerate(HANDS[mine]):
            own = strengths(BOARD)[mine[i]]
            for j, other in enumerate(HANDS[theirs]):
                if not {*hand.tolist()} & {*other.tolist()}:
                    if tree.nodes[child, TOTAL] == FOLD:
                        won = -1 if player == p else 1
                    else:
                        won = np.sign(own - strengths(BOARD)[theirs[j]])
                    value[i] += below[j] * chips * won
        found.append(value)
    if player != p:
        return np.sum(found, axis=0)
    return np.max(found, axis=0) if best else (np.array(found) * play[node]).sum(axis=0)


@pytest.mark.parametrize("ties", [False, True])
def test_ends_are_worth_what_pairs_of_hands_say(tree, root, ties):
    game = river(tree, root, 12, ties=ties)
    play = game.solve(10.0, 3)
    for p in (0, 1):
        reach = game.reach(play, 1 - p)
        values = game._values(play, reach, p)
        expected = walked(game, root, game.weights[1 - p], play, p, best=False)
        if tree.nodes[root, PLAYER] == p:
            node, _, found = values[-1]
            assert node == root
        else:
            ends = game.ends(reach, p)
            of_decisions = {node: value for node, _, value in values}
            found = sum(
                ends[child] if child in ends else of_decisions[child] for child in tree.children(root)
            )
        assert found == pytest.approx(expected, abs=1e-9)


@pytest.mark.slow
def test_a_river_that_is_solved_leaves_little_to_win(tree, root):
    game = river(tree, root, 25)
    met = game.weights[0] @ game._met[0].all(game.weights[1][:, None])[:, 0]
    pot = 2 * int(tree.nodes[root, [SPENT_0, SPENT_1]].min())
    left = []
    for iterations in (1, 300):
        play = game.solve(60.0, iterations)
        best = []
        for p in (0, 1):
            found = walked(game, root, game.weights[1 - p], play, p, best=True)
            assert game.best(play, p) == pytest.approx(found, abs=1e-9)
            best.append(game.weights[p] @ found)
        left.append(sum(best) / 2 / met / pot)
    assert 0 <= left[1] < 0.003 < 0.03 < left[0]


def test_seconds_are_kept(tree, root):
    game = river(tree, root)
    assert game.solve(0.0).keys() == set(game.decisions)
    once, more = game.solve(0.0), game.solve(0.0, 1)
    assert all(np.array_equal(once[node], more[node]) for node in once)


@pytest.mark.parametrize("n_cards", [0, 3, 4, 5])
def test_rows_of_all_hands_are_those_of_each(tables, n_cards):
    board = BOARD[:n_cards]
    board_bucket, rows = tables.rows(board)
    for hand in range(0, len(HANDS), 53):
        hole = tuple(HANDS[hand].tolist())
        if not {*hole} & {*board}:
            assert tables.row(hole, board) == (board_bucket, rows[hand])
    if not board:
        assert [start_class(hole) for hole in HANDS.tolist()] == rows.tolist()


def checked(number=1, hole=(50, 46), *, river=()):
    """A limped hand of 30 chips in which nobody has bet."""
    quiet = ("c", "c")
    return Spot(number, hole, BOARD, False, (2, 2), (30, 70), (quiet, quiet, quiet, river))


@pytest.fixture
def solved(monkeypatch):
    """Rivers that were solved."""
    found, solve = [], River.solve
    monkeypatch.setattr(River, "solve", lambda self, *what: found.append(self) or solve(self, *what))
    return found


def test_a_river_is_solved_once_a_hand(tables, solved):
    player = Player(tables, 1)
    first = player.answer(checked())
    after = Spot(1, (50, 46), BOARD, False, (2, 8), (30, 70), (*checked().rounds[:3], ("c", "r8")))
    if first == "C":
        assert player.answer(after)[0] in "FCR"
    assert len(solved) == 1
    player.answer(checked(2))
    assert len(solved) == 2
    assert Player(tables, 1, seconds=0).answer(checked())
    assert len(solved) == 2


def test_ranges_are_played_to_the_river_and_the_own_hand_is_always_in(tables, solved):
    player = Player(tables, 1)
    for number, hole in enumerate([(50, 46), (0, 5), (12, 13)], 1):
        player.answer(checked(number, hole))
        assert HANDS[solved[-1].held[0]].tolist().count([*sorted(hole)]) == 1
        assert not np.isin(HANDS[solved[-1].held[1]], BOARD).any()
        assert (solved[-1].weights[1] <= 1).all()
    assert np.ptp(solved[-1].weights[1]) > 0


def test_a_river_that_is_solved_worse_than_the_tables_is_played_by_them(tables, tree, monkeypatch):
    def bets_everything(river, seconds):
        out = {
            node: np.zeros((len(tree.children(node)), len(river.held[river._player(node)])))
            for node in river.decisions
        }
        for play in out.values():
            play[-1] = 1
        return out

    player = Player(tables, 1)
    player.answer(checked())
    node = min(player._river)
    by_table = tables.frequencies(0, node, (50, 46), BOARD)
    assert not np.allclose(player._river[node], by_table)
    monkeypatch.setattr(River, "solve", bets_everything)
    player.answer(checked(2))
    assert np.array_equal(player._river[node], by_table)


def test_the_same_hand_is_played_the_same_way(tables):
    found = [Player(tables, 7, seconds=60.0).answer(checked(number)) for number in (1, 2, 3, 1, 2, 3)]
    assert found[:3] == found[3:]


def test_a_hand_that_cannot_lose_never_folds(tables):
    """The board is BOARD; the best hand bets or raises, or waits, whatever the other does."""
    best = tuple(HANDS[np.argmax(np.where(some_hands(2000, 1) > 0, strengths(BOARD), 0))].tolist())
    for number in range(1, 9):
        facing = Spot(number, best, BOARD, False, (2, 30), (30, 70), (*checked().rounds[:3], ("c", "r30")))
        assert Player(tables, number).answer(facing) in ("C", "R28")
