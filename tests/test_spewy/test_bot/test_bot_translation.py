"""What is played in one tree, played in another with other bets: against the translation of bets at a table."""

import re
from dataclasses import replace

import numpy as np
import pytest
from bot_games import limped

from buckets.cards import blocked, parse_cards
from spewy import open_bot, open_policy
from spewy.bot.resolving.builder import Root, SubgameBuilder, add_chips
from spewy.bot.resolving.translation import Blueprint, counterparts_of, translate_subgame
from spewy.records.policy import Stacked

BOARD = "QdQhQsKd"


@pytest.fixture(scope="module")
def bot(folders):
    with open_bot(folders["no-limit"], resolve="never", translation="likelier", ready=False) as bot:
        yield bot


@pytest.fixture(scope="module")
def book(folders):
    with open_policy(folders["no-limit"]) as policy:
        yield Blueprint(policy)


def at_turn(game):
    return limped(game, parse_cards(BOARD))


def subgame(book, hand, bet, base=None):
    """The turn with a bet more, what the locker has of it, and how a player goes on there."""
    games, begun = SubgameBuilder(book.config), hand.betting.line
    mine = max(hand.betting.spent)
    root = Root(2, base or mine, 400 - (base or mine), extra_bets=() if bet is None else (f"r{bet}",))
    known = Root(2, mine, 400 - mine)

    def plays(lines, board):
        return book.strategies([begun + add_chips(line, mine) for line in lines], board)

    return games, root, known, plays


def counterparts(games, root, known):
    """The counterpart of each decision."""
    trees = games.tree(root).root, games.tree(known).root
    return dict(counterparts_of(*trees, root.put_in_before, known.put_in_before))


def line_by_line(games, root, plays, player):
    """(line, actions, frequencies) of a player's decisions on the turn."""
    lines, _ = games.decisions(root, 0, player)
    first, played = 0, plays(lines, parse_cards(BOARD)).of(np.arange(games.n_hands))
    for line in lines:
        actions = [action.acpc for action in games.decision(root, line)[2].actions]
        yield line, actions, played[first : first + len(actions)]
        first += len(actions)
    assert first == len(played)


def assert_same(found, expected):
    np.testing.assert_array_equal(found.frequencies, expected.frequencies)
    np.testing.assert_array_equal(found.rows, expected.rows)


def test_a_tree_with_the_same_bets_is_played_as_it_is(bot, book):
    games, root, known, plays = subgame(book, at_turn(bot.game), None)
    same = translate_subgame(games, root, known, plays)
    for player in (0, 1):
        for t, board in enumerate((parse_cards(BOARD), parse_cards(BOARD + "Ad"))):
            lines, _ = games.decisions(root, t, player)
            assert_same(same(lines, board), plays(lines, board))


@pytest.mark.parametrize("bet", [10, 15, 25, 60, 390])
def test_a_bet_that_the_tree_lacks_is_answered_as_at_a_table(bot, book, bet):
    """Fold and call as the bot has it, which goes on in the locker's line; what has no line there checks or calls."""
    hand = at_turn(bot.game)
    live = ~blocked(book.hands, hand.board)
    games, root, known, plays = subgame(book, hand, bet)
    answered = 0
    for player in (0, 1):
        mine = translate_subgame(games, root, known, plays)
        for line, actions, played in line_by_line(games, root, mine, player):
            np.testing.assert_allclose(played[:, live].sum(axis=0), 1, atol=1e-12)
            later = hand
            for action in re.findall(r"[fc]|r\d+", add_chips(line, root.put_in_before)):
                later = later.apply(action)
            bot.new_hand(later, 0, 1)
            answer = bot.answer(later)
            stored = answer.source in ("stored", "translated")
            if stored and "f" in actions:
                answered += 1
                theirs = answer.frequencies[answer.actions.index("f")]
                np.testing.assert_allclose(played[actions.index("f")][live], theirs[live], atol=1e-12)
            elif not stored:
                assert (played[actions.index("c")][live] == 1).all()
    assert answered > 3


def test_another_pot_is_played_by_shares_of_it(bot, book):
    """With three times the chips behind each bet of the tree: each is taken for the one of the same share."""
    games, root, known, plays = subgame(book, at_turn(bot.game), None, base=30)
    found = counterparts(games, root, known)
    assert {line: found[line].line for line in ("", "c", "r36")} == {"": "", "c": "c", "r36": "r12"}
    assert found[""].places == (0, 1, 2)
    mine = translate_subgame(games, root, known, plays)
    lines, _ = games.decisions(root, 0, 0)
    other = [found[line].line for line in lines]
    assert_same(mine(lines[:1], parse_cards(BOARD)), plays(other[:1], parse_cards(BOARD)))


def test_what_goes_on_after_all_in_there_is_called(bot, book):
    """A stack that is smaller there: its players are all in where these can still bet."""
    games, root, known, _ = subgame(book, at_turn(bot.game), None)
    short = replace(known, stack=20)
    found = counterparts(games, root, short)
    assert found["r12"].line == "r12"
    assert found["r390"].line is not None
    ended = [line for line, taken in found.items() if line.startswith("r12c/") and taken.line is None]
    assert ended
    assert all(found[line].places == () for line in ended)

    def plays(lines, board):
        n = sum(len(games.decision(short, line)[2].actions) for line in lines)
        return Stacked.by_hand(np.full((n, games.n_hands), 0.25))

    played = translate_subgame(games, root, short, plays)(ended[:1], parse_cards(BOARD + "Ad")).frequencies
    assert (played[found[ended[0]].call] == 1).all()
    assert played.sum() == games.n_hands
