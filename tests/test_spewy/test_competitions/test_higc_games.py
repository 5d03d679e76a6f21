"""Games of the HIGC: solved when they are met, searched, and poker that is followed from tensors alone."""

from random import Random
from threading import Event

import numpy as np
import pyspiel
import pytest
from higc_tables import HOLDEM, QUICK, lines_of, local
from open_spiel.python.algorithms.exploitability import exploitability as spiel_exploitability
from open_spiel.python.policy import TabularPolicy

from spewy.bot.agent import open_bot
from spewy.competitions.higc.agents import Agents, RandomAgent, folder_name, is_small
from spewy.competitions.higc.gin import GinAgent
from spewy.competitions.higc.poker import Follower, poker_table
from spewy.competitions.higc.referee import greet, play
from spewy.competitions.higc.search import SearchAgent
from spewy.competitions.higc.session import Session
from spewy.competitions.higc.small_games import (
    Tabular,
    TabularAgent,
    exploitability,
    shares,
    solve_tree,
    spiel_tree,
    tabular_path,
    values,
)
from spewy.competitions.higc.spiel import SpielGame
from spewy.errors import InputError, MissingError

GOOFSPIEL = "goofspiel(imp_info=True,num_cards=3,points_order=descending)"


@pytest.mark.parametrize(("name", "gap"), [("kuhn_poker", 0.916667 / 2), ("leduc_poker", 4.747222 / 2)])
def test_exploitability_of_the_uniform_strategy(name, gap):
    tree = spiel_tree(SpielGame(name), 10_000, 60.0)
    uniform = shares(tree, 0.0 * tree.actions)
    assert exploitability(tree, uniform) == pytest.approx(gap, abs=1e-6)


def test_streams_are_leducs_information_states():
    tree = spiel_tree(SpielGame("leduc_poker"), 10_000, 60.0)
    assert len(tree.keys) == len(set(tree.keys.tolist())) == 936


def test_kuhn_is_solved_to_its_value():
    tree = spiel_tree(SpielGame("kuhn_poker"), 1000, 60.0)
    found = solve_tree(tree, 1e-3, 60.0)
    assert found.exploitability <= 1e-3
    assert values(tree, found.average)[0] == pytest.approx(-1 / 18, abs=2e-3)


def test_moves_at_once_are_not_seen():
    """Rock, paper, scissors: whoever moved second would win if it saw the first move."""
    tree = spiel_tree(SpielGame("matrix_rps"), 1000, 60.0)
    found = solve_tree(tree, 1e-6, 60.0, most=2000)
    assert found.exploitability < 0.01
    assert values(tree, found.average)[0] == pytest.approx(0.0, abs=1e-3)


def test_games_that_are_too_large_or_not_of_two_sides():
    assert spiel_tree(SpielGame("leduc_poker"), 100, 60.0) is None
    assert spiel_tree(SpielGame("leduc_poker"), 10_000, 0.0) is None
    assert spiel_tree(SpielGame("matrix_pd"), 1000, 60.0) is None


@pytest.mark.parametrize("name", ["nothing", "kuhn_poker(x=1)", "leduc_poker(players=3)", "backgammon(", ""])
def test_games_that_nobody_can_play(name):
    with pytest.raises(InputError, match="game "):
        SpielGame(name)


def test_without_openspiel_the_extra_is_named(monkeypatch):
    monkeypatch.setattr("spewy.look.openspiel.find_spec", lambda name: None)
    with pytest.raises(MissingError, match=r"pip install 'spewy\[higc\]'"):
        SpielGame("gin_rummy")


@pytest.mark.parametrize("name", [GOOFSPIEL, "liars_dice(numdice=1,dice_sides=2)"])
def test_a_small_game_is_solved_once_and_kept(tmp_path, name):
    told = []
    for _ in range(2):
        agents = Agents((), tmp_path, "never", 0.1, 20.0, told.append)
        game = SpielGame(name)
        for seed in range(4):
            brain = agents.agent(name, seed % 2, "rules", seed)
            assert isinstance(brain, TabularAgent)
            channels = [local(brain), local(RandomAgent(seed))]
            if seed % 2:
                channels.reverse()
            assert not play(game, channels, QUICK, seed, greet(channels, game, QUICK)).faults
    assert len(told) == 1
    assert "nodes solved to" in told[0]


def test_a_large_game_is_remembered_as_such(tmp_path):
    agents = Agents((), tmp_path, "never", 0.1, 0.01, pytest.fail)
    assert isinstance(agents.agent("phantom_ttt", 0, "rules", 1), SearchAgent)
    assert tabular_path(tmp_path, "phantom_ttt", "rules").with_suffix(".large").exists()
    with pytest.raises(InputError, match="is too large to solve within"):
        agents.prepare("phantom_ttt", "rules", Event())


@pytest.mark.parametrize("name", [GOOFSPIEL, "kuhn_poker"])
def test_a_game_is_prepared_anew_and_stopped_with_what_was_found(tmp_path, name):
    told = []
    agents = Agents((), tmp_path, "never", 0.1, 20.0, told.append)
    agents.prepare(name, "rules", Event())
    first = told.pop()
    stop = Event()
    stop.set()
    if name == "kuhn_poker":
        agents.prepare(name, "rules", stop)
        assert told.pop() != first
        assert len(list(tmp_path.iterdir())) == 1
    else:  # a walk that does not end leaves what there was
        before = tabular_path(tmp_path, name, "rules").read_bytes()
        agents.prepare(name, "rules", stop)
        assert tabular_path(tmp_path, name, "rules").read_bytes() == before
    assert not told


def test_a_damaged_strategy_is_bad_input(tmp_path):
    path = tabular_path(tmp_path, GOOFSPIEL, "rules")
    path.write_bytes(b"PK nonsense")
    with pytest.raises(InputError, match="expected a stored strategy"):
        Agents((), tmp_path, "never", 0.1, 1.0, pytest.fail).agent(GOOFSPIEL, 0, "rules", 1)


def test_a_strategy_comes_back_from_its_file(tmp_path):
    tree = spiel_tree(SpielGame(GOOFSPIEL), 10_000, 60.0)
    before = Tabular.of(GOOFSPIEL, tree, solve_tree(tree, 1.0, 60.0))
    before.write(tmp_path / "x.npz")
    with np.load(tmp_path / "x.npz") as file:  # the head of a series has the hash of the file's bytes
        assert file.files == ["keys", "first", "actions", "average", "exploitability", "name"]
    after = Tabular.read(tmp_path / "x.npz")
    assert (after.name, after.exploitability) == (before.name, before.exploitability)
    key = int(before.keys[3]).to_bytes(8, "little")
    assert after.at(key) == before.at(key) != {}
    assert after.at(bytes(8)) == {}


def score_of(game, make, matches, seconds=QUICK):
    """What an agent wins from the random player, from both seats."""
    total, faults = 0.0, []
    for number in range(matches):
        seat = number % 2
        channels = [local(RandomAgent(number)), local(RandomAgent(number))]
        mine = local(make(seat, number), notes=faults)
        channels[seat] = mine
        total += play(game, channels, seconds, number // 2, greet(channels, game, seconds)).returns[seat]
    return total / matches, len(faults)


def test_gin_rummy_qualifies():
    game = SpielGame("gin_rummy")
    mean, faults = score_of(game, lambda seat, seed: GinAgent(game, seat, seed), 20)
    assert mean > 20
    assert faults == 0


@pytest.mark.slow
def test_a_search_beats_chance():
    """The time is a limit from above: on a busy machine it searches less, and a little is enough here."""
    game = SpielGame("goofspiel(imp_info=True,num_cards=6,points_order=descending)")
    mean, faults = score_of(game, lambda seat, seed: SearchAgent(game, seat, 0.05, seed), 20)
    assert mean > 0.2
    assert faults == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["kuhn_poker", "leduc_poker", "universal_poker", "gin_rummy", "rbc"])
def test_qualifies_over_a_hundred_matches(tmp_path, name):
    game = SpielGame(name)
    agents = Agents((), tmp_path, "never", 0.03 if name == "rbc" else 0.3, 20.0, lambda text: None)
    mean, faults = score_of(game, lambda seat, seed: agents.agent(name, seat, "rules", seed), 100)
    assert mean > 0
    assert faults == 0 or name == "rbc"


def test_a_search_goes_on_after_states_that_nothing_explains():
    game, told = SpielGame("rbc"), []
    lines = lines_of(game, 0, lambda menu: menu[len(menu) // 2], Random(1))[:-1][:30]
    session = Session(lambda name, seat: SearchAgent(game, seat, 0.02, 1), "rules", told.append)
    for line in lines:
        answer, menu = session.hear(line), line.split()[1:]
        assert not menu or answer[0] in menu


def test_openspiel_names_what_it_was_tested_with():
    assert {"rbc", "gin_rummy", "universal_poker"} <= set(pyspiel.registered_names())


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
    ["gin_rummy", "(", "", *(f"universal_poker({it})" for it in ("numPlayers=3", "potSize=10", "x=1"))],
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


def poker_agents(solved, note):
    return Agents((), solved, "never", 1.0, 30.0, note)


def test_a_folder_with_an_apostrophe(tmp_path):
    table = poker_table("kuhn_poker", "rules")
    with open_bot(poker_agents(tmp_path / 'it\'s "a" folder', lambda told: None).solve_poker(table)):
        pass


def test_leduc_is_played_within_a_hundredth_of_its_value(solved):
    """OpenSpiel judges what the bot does at every information set, told by tensors alone."""
    told = []
    table = poker_table("leduc_poker", "rules")
    with open_bot(poker_agents(solved, told.append).solve_poker(table)) as bot:
        policy = played_policy(bot, SpielGame("leduc_poker"), table)
    assert "solved to" in told[0]
    assert spiel_exploitability(pyspiel.load_game("leduc_poker"), policy) < 0.005
    assert poker_agents(solved, pytest.fail).solve_poker(table).is_dir()


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
