"""Counts of betting trees: those of the built tree, and lower bounds where there is too much to build."""

import gc
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_game_tree import check

from spewy.chunks.rounds import betting_rounds
from spewy.errors import InputError
from spewy.game import count, tree, treeconfig
from spewy.game.count import RoundCount, count_tree
from spewy.game.gamefile import load_game
from spewy.game.sizes import Size
from spewy.game.tree import build_tree
from spewy.game.treeconfig import PlayerSizes, game_config, player_sizes, spot_config

DOYLE = load_game("doyle")
NO_LIMIT = load_game("holdem.nolimit.2p.reverse_blinds")
LIMIT = load_game("holdem.limit.2p.reverse_blinds")


def counted(tree):
    config = tree.config
    rounds = [RoundCount() for _ in range(config.start_round, config.game.num_rounds)]
    rounds[0].lines = 1
    for node in tree.nodes():
        one = rounds[node.round - config.start_round]
        if node.kind == "decision":
            one.decisions[node.player] += 1
            one.slots[node.player] += len(node.actions)
        elif node.kind == "chance":
            one.deals += 1
            rounds[node.round + 1 - config.start_round].lines += 1
        else:
            one.folds += node.kind == "fold"
            one.showdowns += node.kind == "showdown"
    return rounds


def agree(config):
    found = count_tree(config)
    rows = [row for pair in config.sizes for one in pair for row in (one.bet, one.raises, one.donk)]
    if not found.bets and any(rows):
        with pytest.raises(InputError, match="legal bet"):
            build_tree(config)
        return None
    tree = build_tree(config)
    if not config.check_down:  # the betting rules would go on with the checks
        check(tree)
    assert (found.complete, list(found.rounds)) == (True, counted(tree))
    assert found.nodes == tree.count()
    assert found.bets == any(action.amount for node in tree.nodes() for action in node.actions)
    return tree


bets = st.one_of(
    st.builds(Size, st.just("pot"), st.sampled_from([10.0, 33.0, 100.0, 250.0])),
    st.builds(Size, st.just("chips"), st.sampled_from([1.0, 5.0])),
    st.sampled_from([Size("allin"), Size("allin", 150.0), Size("geometric"), Size("geometric", 60.0, 2)]),
)
players = st.builds(
    PlayerSizes,
    st.lists(bets, max_size=2).map(tuple),
    st.lists(
        bets | st.builds(Size, st.sampled_from(["times", "steps"]), st.sampled_from([1.1, 2.5])), max_size=2
    ).map(tuple),
    st.none() | st.lists(bets, max_size=1).map(tuple),
)
thresholds = st.fixed_dictionaries(
    {
        "add_allin": st.sampled_from([0.0, 1.0, 1e308]),
        "force_allin": st.sampled_from([0.0, 0.2, 1e308]),
        "merge": st.sampled_from([0.0, 0.5]),
        "max_raises": st.sampled_from([None, 1, 2]),
        "allin_from": st.sampled_from([1.0, 0.6, 0.0]),
        "short_allins": st.booleans(),
        "check_down": st.booleans(),
    }
)


@settings(max_examples=40)
@given(
    rounds=st.integers(1, 3),
    stacks=st.tuples(st.integers(2, 20), st.integers(2, 20)),
    blinds=st.sampled_from([(2, 1), (1, 2), (1, 1), (2, 0), (2, 2)]),
    rows=st.tuples(players, players),
    options=thresholds,
    min_bet=st.none() | st.integers(2, 5),
)
def test_whole_games_count_as_they_are_built(rounds, stacks, blinds, rows, options, min_bet):
    game = replace(
        DOYLE,
        num_rounds=rounds,
        stacks=stacks,
        blinds=blinds,
        first_player=(1, 0, 1)[:rounds],
        max_raises=(3, 4, 2)[:rounds],
        num_board_cards=(0, 3, 1)[:rounds],
    )
    agree(game_config(game, {0: rows}, min_bet=min_bet, **options))


@settings(max_examples=40)
@given(
    start=st.integers(1, 3),
    pot=st.integers(1, 30),
    stack=st.integers(1, 25),
    rows=st.tuples(players, players),
    options=thresholds,
    min_bet=st.none() | st.integers(1, 5),
)
def test_spots_count_as_they_are_built(start, pot, stack, rows, options, min_bet):
    tree = agree(spot_config(DOYLE, start, pot, stack, {start: rows}, min_bet=min_bet, **options))
    assert tree is None or all(max(node.put_in) <= stack for node in tree.nodes())


@pytest.mark.parametrize("name", ["kuhn", "leduc", "rhode-island", "holdem.limit.2p.reverse_blinds"])
def test_limit_games_count_as_they_are_built(name):
    agree(game_config(load_game(name)))


@pytest.mark.parametrize("start", [1, 2, 3])
def test_limit_spots_count_as_they_are_built(start):
    agree(spot_config(LIMIT, start, 120, None))
    agree(spot_config(LIMIT, start, 120, 130))


def test_blinds_that_are_all_in_leave_one_line():
    for stacks in ((2, 1), (2, 5), (5, 1)):
        agree(game_config(replace(DOYLE, stacks=stacks), {0: (PlayerSizes(), PlayerSizes())}))


def test_counting_stops_soon_after_its_limit():
    config = spot_config(NO_LIMIT, 1, 200, 20000, {1: (player_sizes("33%, 75%, a", "50%, a"),) * 2})
    whole, part = count_tree(config), count_tree(config, 5000)
    assert whole.complete
    assert not part.complete
    assert 5000 < part.nodes < whole.nodes
    for found, all_ in zip(part.rounds, whole.rounds, strict=True):
        assert found.lines <= all_.lines
        assert found.nodes <= all_.nodes


def followed(config, monkeypatch):
    follow, calls = count._Counter.follow, []
    monkeypatch.setattr(
        count._Counter, "follow", lambda self, *args: calls.append(args) or follow(self, *args)
    )
    return count_tree(config), len(calls)


def test_lines_that_meet_are_followed_once(monkeypatch):
    found, decisions = followed(spot_config(LIMIT, 1, 120, None), monkeypatch)
    assert found.rounds[-1].lines == 81  # nine ways through each of two rounds
    assert sum(map(sum, (each.decisions for each in found.rounds))) > 900
    assert decisions < 300


@pytest.mark.parametrize("bets", ["1c,2c,3c,4c,5c,6c,7c,8c", "1%,2%,3%,4%,5%,6%,7%,8%,9%,10%,20%"])
def test_many_close_sizes_are_counted_in_few_steps(bets, monkeypatch):
    sizes = player_sizes(bets, "1.01x,1.02x,1.03x,50%", None, "bets")
    for config in (
        spot_config(NO_LIMIT, 1, 1, 10**9, {1: (sizes, sizes)}),
        game_config(NO_LIMIT, {0: (sizes, sizes)}),
    ):
        found, decisions = followed(config, monkeypatch)
        assert not found.complete
        assert decisions < 50_000


def test_a_tree_is_built_with_one_look_where_lines_meet(monkeypatch):
    looks = []
    monkeypatch.setattr(
        tree, "raise_totals", lambda *args: looks.append(gc.isenabled()) or treeconfig.raise_totals(*args)
    )
    sizes = player_sizes("33%, 75%, a", "50%, a")
    built = build_tree(spot_config(NO_LIMIT, 2, 200, 4000, {2: (sizes, sizes)}))
    assert len(looks) < sum(node.kind == "decision" for node in built.nodes()) * 0.7
    assert not any(looks)  # nor is garbage looked for among what stays
    assert gc.isenabled()
    first, *later = betting_rounds(built)
    assert first.chunks[0].forest is first.forest  # not built twice
    assert later[0].chunks[0].forest is not later[0].forest


def test_a_round_has_at_most_sixty_four_actions():
    """Players who only make the smallest raise reach the limit of actions before they are all-in."""
    game = replace(NO_LIMIT, num_rounds=1, first_player=(1,), max_raises=(255,), num_board_cards=(0,))
    sizes = player_sizes("", "100c")
    agree(game_config(game, {0: (sizes, sizes)}))


def test_a_game_whose_stacks_are_blinds_needs_no_sizes():
    config = game_config(replace(DOYLE, stacks=(2, 2)))
    assert not count_tree(config).bets
    agree(config)
