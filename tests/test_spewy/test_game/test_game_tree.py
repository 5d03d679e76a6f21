"""Betting trees: equal to an independent solver's on four spots, legal by the ACPC's rules in whole games."""

import gc
import json
import pickle
import weakref
from dataclasses import replace
from pathlib import Path

import pytest

from spewy.errors import InputError
from spewy.game.betting import parse_line
from spewy.game.gamefile import load_game
from spewy.game.sizes import Size
from spewy.game.tree import build_tree, terminal_rake, terminal_stakes, tree_after, tree_json, tree_text
from spewy.game.treeconfig import PlayerSizes, Rake, game_config, player_sizes, spot_config

SPOTS = Path(__file__).parents[2] / "data" / "spots"
NO_LIMIT = load_game("holdem.nolimit.2p.reverse_blinds")
DOYLE = load_game("doyle")


def both(bet="", raises="", donk=None):
    return (player_sizes(bet, raises, donk), player_sizes(bet, raises))


def spot_tree(name):
    spot = json.loads((SPOTS / f"{name}.json").read_text())
    sizes = {}
    for r, street in enumerate(("flop", "turn", "river"), start=1):
        oop, ip = spot["bet_sizes"][street]["oop"], spot["bet_sizes"][street]["ip"]
        donk = spot.get(f"{street}_donk")
        sizes[r] = (player_sizes(oop["bet"], oop["raise"], donk), player_sizes(ip["bet"], ip["raise"]))
    return build_tree(
        spot_config(
            NO_LIMIT,
            len(spot["board"]) - 2,
            spot["starting_pot"],
            spot["effective_stack"],
            sizes,
            add_allin=spot["add_allin_threshold"],
            force_allin=spot["force_allin_threshold"],
            merge=spot["merging_threshold"],
        )
    )


@pytest.mark.parametrize("name", ["R1", "T1", "F1", "P1"])
def test_spots_equal_the_solver_they_come_from(name):
    assert tree_json(spot_tree(name)) == json.loads((SPOTS / f"{name}.tree.json").read_text())


def check(tree):
    """Walk a whole game's tree beside the rules."""
    pending = [(tree.root, tree.config.start())]
    while pending:
        node, state = pending.pop()
        assert tree.find(node.line) is node
        if node.kind == "chance":
            assert node.put_in == state.spent
            assert len(node.children) == 1
            pending.append((node.children[0], state))
            continue
        assert (node.line, node.put_in, node.player) == (
            state.line,
            state.spent,
            state.to_act if node.kind == "decision" else state.folded,
        )
        assert state.is_over == (node.kind != "decision")
        assert node.round == state.round + tree.config.start_round
        for action, child in zip(node.actions, node.children, strict=True):
            pending.append((child, state.apply(action.acpc)))
        amounts = [action.amount for action in node.actions if action.amount]
        assert amounts == sorted(set(amounts))


@pytest.mark.parametrize(
    ("name", "count", "rounds"),
    [
        ("kuhn", 9, {0: 1}),
        ("leduc", 85, {0: 1, 1: 5}),
        ("rhode-island", 1141, {0: 1, 1: 7, 2: 49}),
    ],
)
def test_limit_games(name, count, rounds):
    tree = build_tree(game_config(load_game(name)))
    check(tree)
    assert tree.count() == count
    assert {r: len(roots) for r, roots in tree.rounds.items()} == rounds


def test_limit_holdem_counts():
    tree = build_tree(game_config(load_game("holdem.limit.2p.reverse_blinds")))
    # Seven ways to end the first round with a call, nine each later one.
    assert {r: len(roots) for r, roots in tree.rounds.items()} == {0: 1, 1: 7, 2: 63, 3: 567}


def test_kuhn_in_full():
    tree = build_tree(game_config(load_game("kuhn")))
    assert [action.label for action in tree.root.actions] == ["check", "bet 1"]
    lines = [(node.line, node.kind, node.player, node.put_in) for node in tree.nodes()]
    assert lines == [
        ("", "decision", 0, (1, 1)),
        ("c", "decision", 1, (1, 1)),
        ("cc", "showdown", None, (1, 1)),
        ("cr", "decision", 0, (1, 2)),
        ("crf", "fold", 0, (1, 2)),
        ("crc", "showdown", None, (2, 2)),
        ("r", "decision", 1, (2, 1)),
        ("rf", "fold", 1, (2, 1)),
        ("rc", "showdown", None, (2, 2)),
    ]


def test_preflop_sizes_of_a_whole_game():
    tree = build_tree(game_config(DOYLE, {0: both("60%", "2.5x, a"), 1: both("50%", "50%")}))
    assert [action.label for action in tree.root.actions] == ["fold", "call", "raise to 5", "all-in 1000"]
    assert [action.acpc for action in tree.root.actions] == ["f", "c", "r5", "r1000"]
    # The big blind's option raises the blind; a check ends the round.
    assert [action.label for action in tree.find("c").actions] == ["check", "raise to 5", "all-in 1000"]
    flop = tree.find("r5c/")
    assert (flop.round, flop.player, flop.put_in) == (1, 0, (5, 5))
    assert [(action.label, action.acpc) for action in flop.actions] == [("check", "c"), ("bet 5", "r10")]


def test_all_in_calls_run_the_board_out():
    tree = spot_tree("F1")
    node = tree.find("r900c")
    kinds = []
    while True:
        kinds.append((node.kind, node.round, node.line))
        if not node.children:
            break
        (node,) = node.children
    assert kinds == [("chance", 1, "r900c"), ("chance", 2, "r900c/"), ("showdown", 3, "r900c//")]


def test_donk_sizes_need_a_call_of_the_last_bet():
    tree = spot_tree("T1")
    # oop calls a bet of 120 and starts the river: the donk size, 50 % of 440.
    assert [action.label for action in tree.find("cr120c/").actions] == ["check", "bet 220"]
    # oop's own bet is called: the usual sizes.
    assert [action.label for action in tree.find("r120c/").actions] == ["check", "bet 264", "all-in 780"]


def test_find_says_what_is_possible():
    tree = spot_tree("T1")
    with pytest.raises(InputError) as error:
        tree.find("cr121")
    message = "line 'cr121', position 1: expected one of check (c), bet 120 (r120), bet 216 (r216), all-in 900 (r900)"
    assert message in str(error.value)
    with pytest.raises(InputError, match=r"position 6: expected '/' \(the round is over\); found 'c'"):
        tree.find("cr120cc")
    with pytest.raises(InputError, match=r"expected the end of the line \(a fold\); found 'c'"):
        tree.find("r120fc")
    with pytest.raises(InputError, match="found 'x'"):
        tree.find("x")


def test_stakes():
    tree = spot_tree("T1")
    assert terminal_stakes(tree.find("r120f"), tree.config) == 100
    assert terminal_stakes(tree.find("r120r300f"), tree.config) == 220
    assert terminal_stakes(tree.find("r900c/"), tree.config) == 1000
    with pytest.raises(InputError, match="expected a fold or a showdown, found a chance"):
        terminal_stakes(tree.find("r120c"), tree.config)
    kuhn = build_tree(game_config(load_game("kuhn")))
    assert terminal_stakes(kuhn.find("crf"), kuhn.config) == 1
    assert terminal_stakes(kuhn.find("rc"), kuhn.config) == 2


def test_uneven_stacks_stake_the_smaller():
    game = replace(DOYLE, stacks=(40, 1000))
    tree = build_tree(game_config(game, {0: both("a", "a")}))
    check(tree)
    assert [action.label for action in tree.root.actions] == ["fold", "call", "all-in 40"]
    assert terminal_stakes(tree.find("r40c///"), tree.config) == 40


def test_a_showdown_pays_what_both_have_put_in():
    """The stack of player 0 is smaller than the big blind, so calls cost at most 7 chips."""
    game = replace(DOYLE, stacks=(7, 20), blinds=(5, 10), num_rounds=1, first_player=(1,))
    game = replace(game, max_raises=(3,), num_board_cards=(0,))
    rake = Rake(rate=0.1)
    tree = build_tree(replace(game_config(game, {0: both("a", "a")}), rake=rake))
    check(tree)
    showdowns = [node for node in tree.nodes() if node.kind == "showdown"]
    assert [(node.line, node.put_in) for node in showdowns] == [("cc", (7, 10)), ("r20c", (7, 20))]
    assert [terminal_stakes(node, tree.config) for node in showdowns] == [7, 7]
    assert [terminal_rake(node, tree.config) for node in showdowns] == [pytest.approx(1.4)] * 2
    assert [terminal_rake(tree.find(line), tree.config) for line in ("cf", "r20f")] == [pytest.approx(1)] * 2


def test_an_additional_amount_is_a_bet_or_a_raise_as_it_is_made():
    tree = tree_after(
        spot_config(NO_LIMIT, 3, 100, 500, {3: both("50%", "100%")}), (), ["r80", "r50r120", "cr500"]
    )
    assert [action.label for action in tree.root.actions] == ["check", "bet 50", "bet 80"]
    labels = ["fold", "call", "raise to 120", "raise to 250"]
    assert [action.label for action in tree.find("r50").actions] == labels
    assert [action.label for action in tree.find("c").actions] == ["check", "bet 50", "all-in 500"]


def test_text():
    lines = tree_text(build_tree(game_config(load_game("kuhn")))).splitlines()
    assert lines[0] == "preflop, player 0 to act, put in 1 and 1"
    assert lines[-2:] == [
        "    fold: player 1 folded, put in 2 and 1",
        "    call: showdown, put in 2 and 2",
    ]
    spot = tree_text(spot_tree("T1"))
    assert "  all-in 900: player 1 to act, put in 900 and 0\n" in spot
    assert "    call: all-in, the board is run out, put in 900 and 900\n" in spot
    assert "    call: river, player 0 to act, put in 120 and 120\n" in spot


def test_sizes_of_spots():
    nobody_bets = build_tree(spot_config(NO_LIMIT, 3, 100, 500, {3: both()}))
    assert [node.line for node in nobody_bets.nodes()] == ["", "c", "cc"]
    tree = build_tree(spot_config(NO_LIMIT, 3, 100, 500, {3: both("10%")}, min_bet=50))
    assert tree.root.actions[1].label == "bet 50"
    rounds_before = spot_config(NO_LIMIT, 2, 100, 500, {1: both("50%")})
    assert rounds_before.sizes == (both("50%"), both("50%"))


def test_limit_spots():
    tree = build_tree(spot_config(load_game("holdem.limit.2p.reverse_blinds"), 3, 100, None))
    check(tree)
    assert tree.find("rrrr").put_in == (60, 80)
    assert tree.find("rrrr").actions[-1].kind == "call"


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: spot_config(NO_LIMIT, 2, 100, 500), "bets.turn: expected bet sizes, found none"),
        (lambda: spot_config(NO_LIMIT, 4, 100, 500), "start round: expected 0 to 3, found 4"),
        (lambda: spot_config(NO_LIMIT, 2, 0, 500), "spot.pot: expected at least 1 chip, found 0"),
        (lambda: spot_config(NO_LIMIT, 2, 9, 0), "spot.stack: expected at least 1 chip, found 0"),
        (lambda: spot_config(NO_LIMIT, 2, 9, None), "spot.stack: expected chips behind"),
        (lambda: game_config(DOYLE, {1: both("a")}), "bets.preflop: expected bet sizes, found none"),
        (lambda: game_config(DOYLE, {4: both("a")}), "bets: expected rounds 0 to 3, found 4"),
        (lambda: game_config(load_game("kuhn"), {0: both("a")}), "bets.preflop: expected no sizes"),
        (lambda: game_config(replace(DOYLE, stacks=None), {0: both("a")}), "expected stacks"),
        (lambda: game_config(replace(DOYLE, blinds=(0, 0)), {0: both("a")}), "expected blinds or antes"),
        (lambda: game_config(DOYLE, {0: both("a")}, min_bet=1), "expected at least the big blind 2"),
        (lambda: spot_config(NO_LIMIT, 3, 9, 9, {3: both("a")}, merge=-1), "tree.merge: expected a share"),
        (
            lambda: spot_config(NO_LIMIT, 3, 9, 9, {3: both("a")}, allin_from=2),
            "tree.allin_from: expected a share",
        ),
        (
            lambda: spot_config(NO_LIMIT, 3, 9, 9, {3: both("a")}, rake=Rake(1.01)),
            "spot.rake.rate: expected 0 to 1",
        ),
        (
            lambda: spot_config(NO_LIMIT, 3, 9, 9, {3: both("a")}, rake=Rake(0.1, -1)),
            "spot.rake.cap: expected chips",
        ),
        (lambda: player_sizes("60%", "2y", key="bets.flop.oop"), "bets.flop.oop.raise, position 0"),
        (
            lambda: spot_config(NO_LIMIT, 3, 9, 9, {3: (PlayerSizes((Size("times", 2),)), PlayerSizes())}),
            "bets.river.oop.bet: expected sizes without x",
        ),
        (
            lambda: build_tree(spot_config(NO_LIMIT, 3, 9, 9, {3: both("", "2x")})),
            "bets.river.oop.raise: expected bet sizes that lead to a legal bet",
        ),
    ],
)
def test_bad_configurations(build, message):
    with pytest.raises(InputError) as error:
        build()
    assert message in str(error.value)


def test_lines_are_those_of_the_rules():
    tree = build_tree(game_config(replace(DOYLE, stacks=(30, 30)), {0: both("100%, a", "100%")}))
    for node in tree.nodes():
        if node.kind != "chance":
            assert parse_line(tree.config.game, node.line).line == node.line


def test_a_tree_and_its_cached_parts_die_together():
    tree = spot_tree("R1")
    line = next(node.line for node in tree.nodes() if node.kind == "decision" and node.line)
    assert tree.alone(line) is tree.alone(line)
    assert pickle.loads(pickle.dumps(tree)).alone(line).actions == tree.alone(line).actions
    gc.collect()
    gc.disable()
    try:
        alive = weakref.ref(tree)
        del tree
        assert alive() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("name", ["T1", "R1"])
def test_listed_lines_make_the_tree_of_the_sizes(name):
    sized = spot_tree(name)
    config = sized.config
    ends = [node.line for node in sized.nodes() if node.kind in ("fold", "showdown")]
    listed = spot_config(
        config.game, config.start_round, config.pot, config.stack, lines=ends, min_bet=config.min_bet
    )
    tree = build_tree(listed)
    assert tree_json(tree) == tree_json(sized)
    assert tree.size == sized.size


def test_listed_lines_are_all_bets():
    tree = build_tree(spot_config(NO_LIMIT, 2, 200, 900, lines=("cr120r384c/r684", "r100r900")))
    labels = {node.line: [action.label for action in node.actions] for node in tree.nodes() if node.actions}
    assert labels[""] == ["check", "bet 100"]
    assert labels["r100"] == ["fold", "call", "all-in 900"]
    assert labels["cr120r384c/"] == ["check", "bet 300"]
    assert labels["cr120c/"] == labels["cc/"] == ["check"]
    assert tree.count() == tree.size.nodes
