"""Poker of the HIGC from tensors alone, and what is played there."""

from random import Random

import pyspiel
import pytest
from higc_tables import HOLDEM, lines_of
from open_spiel.python.algorithms.exploitability import exploitability as spiel_exploitability
from open_spiel.python.policy import TabularPolicy

from spewy.bot.agent import open_bot
from spewy.competitions.higc.agents import Agents, folder_name, is_small
from spewy.competitions.higc.poker import Follower, poker_table
from spewy.competitions.higc.session import Session
from spewy.competitions.higc.spiel import SpielGame
from spewy.errors import InputError

GAMES = {
    "kuhn": "kuhn_poker",
    "leduc": "leduc_poker",
    "small": "universal_poker",
    "limit": HOLDEM.format("limit", "fcpa"),
    "full": HOLDEM.format("nolimit", "fullgame"),
    "pots": HOLDEM.format("nolimit", "fchpa"),
}


@pytest.mark.parametrize("name", GAMES)
def test_hands_are_followed_from_tensors(name):
    """By each player's own states; the betting is OpenSpiel's own string where it tells one."""
    game, table, rng = SpielGame(GAMES[name]), poker_table(GAMES[name], "rules"), Random(name)
    for _ in range(20):
        state, followers = game.start(), [Follower(table, 0), Follower(table, 1)]
        while not state.is_terminal():
            for seat, follower in enumerate(followers):
                follower.see(table.read(game.seen(state, seat)))
                if not state.is_chance_node():
                    assert follower.hand.to_act == state.current_player()
                    if "STATE" in str(state):
                        line = str(state).split("STATE:0:")[1].split(":")[0]
                        assert follower.hand.betting.line == line
            menu = state.legal_actions()
            state.apply_action(rng.choice([*menu[:3], menu[-1], rng.choice(menu)]))


def test_a_following_bot_needs_the_whole_stream():
    table = poker_table("leduc_poker", "rules")
    game, follower = SpielGame("leduc_poker"), Follower(table, 0)
    state = game.start()
    for action in (0, 2):
        follower.see(table.read(game.seen(state, 0)))
        state.apply_action(action)
    for action in (2, 2):
        state.apply_action(action)
    with pytest.raises(InputError, match="expected blinds"):
        follower.see(table.read(game.seen(state, 0)))


@pytest.mark.parametrize(
    "name",
    [
        "gin_rummy",
        "universal_poker(numPlayers=3)",
        "universal_poker(potSize=10)",
        "universal_poker(x=1)",
        "(",
        "",
    ],
)
def test_games_that_are_not_followed(name):
    assert poker_table(name, "rules") is None


def test_parameters_that_make_no_game():
    with pytest.raises(InputError, match="numRanks"):
        poker_table("universal_poker(numRanks=99)", "rules")


def test_what_is_small():
    assert [is_small(poker_table(name, "rules").game) for name in GAMES.values()] == [True] * 3 + [False] * 3
    tables = [poker_table(f"universal_poker(bettingAbstraction={name})", "rules") for name in ("fc", "fcpa")]
    assert folder_name(tables[0]) != folder_name(tables[1])


@pytest.fixture(scope="module")
def solved(tmp_path_factory):
    return tmp_path_factory.mktemp("solved")


def agents(solved, note):
    return Agents((), solved, "never", 1.0, 30.0, note)


def test_a_folder_with_an_apostrophe(tmp_path):
    table = poker_table("kuhn_poker", "rules")
    with open_bot(agents(tmp_path / 'it\'s "a" folder', lambda told: None).solve_poker(table)):
        pass


def test_leduc_is_played_within_a_hundredth_of_its_value(solved):
    """OpenSpiel judges what the bot does at every information set, told by tensors alone."""
    told = []
    table = poker_table("leduc_poker", "rules")
    with open_bot(agents(solved, told.append).solve_poker(table)) as bot:
        policy = played_policy(bot, SpielGame("leduc_poker"), table)
    assert "solved to" in told[0]
    assert spiel_exploitability(pyspiel.load_game("leduc_poker"), policy) < 0.005
    assert agents(solved, pytest.fail).solve_poker(table).is_dir()


def played_policy(bot, game, table):
    """The bot's strategy as an OpenSpiel policy."""
    policy = TabularPolicy(game.game)

    def walk(state, streams):
        if state.is_terminal():
            return
        streams = [[*stream, game.seen(state, seat)] for seat, stream in enumerate(streams)]
        if not state.is_chance_node():
            fill(state, streams[state.current_player()])
        for action in state.legal_actions():
            walk(state.child(action), streams)

    def fill(state, stream):
        row = policy.action_probability_array[policy.state_lookup[state.information_state_string()]]
        if state.information_state_string() in done:
            return
        done.add(state.information_state_string())
        seat = state.current_player()
        follower = Follower(table, seat)
        for each in stream:
            follower.see(table.read(each))
        hand = follower.hand
        mix = bot.strategy(hand)
        shares = mix.of(table.game.hand_number(hand.hole[seat]))
        row[:] = 0
        for action, share in zip(mix.actions, shares, strict=True):
            row[table.number(action, hand.betting, tuple(state.legal_actions()))] += share

    done = set()
    walk(game.start(), [[], []])
    return policy


@pytest.mark.parametrize("dialect", ["rules", "older"])
@pytest.mark.parametrize("name", ["kuhn_poker", "leduc_poker"])
def test_a_match_without_a_fault(solved, name, dialect):
    told = []
    agents = Agents((), solved, "off-tree", 0.1, 30.0, told.append)
    game = SpielGame(name, dialect)
    for seed in range(6):
        seat = seed % 2
        lines = lines_of(game, seat, lambda menu: menu[-1], Random(seed))
        session = Session(lambda game, seat: agents.agent(game, seat, dialect, 7), dialect, pytest.fail)
        said = [session.hear(line) for line in lines]
        session.close()
        asked = [line.split()[1 if dialect == "rules" else 2 :] for line in lines[2:-1]]
        assert all(answer[0] in legal for answer, legal in zip(said[2:-1], asked, strict=True) if legal)
        game_name = poker_table(name, dialect).game.name
        assert told[-1] == f"decisions of {game_name}: {sum(map(bool, asked))} stored"


def test_large_poker_without_lockers_is_played_by_pot_odds(solved):
    told = []
    agents = Agents((), solved, "off-tree", 0.1, 1.0, told.append)
    game = SpielGame(GAMES["limit"])
    session = Session(lambda game, seat: agents.agent(game, seat, "rules", 7), "rules", pytest.fail)
    for line in lines_of(game, 0, lambda menu: menu[0], Random(1)):
        session.hear(line)
    session.close()
    assert told == ["universal_poker: no folder holds a solve of this game; the bot plays by pot odds"]
