"""Lines as people write them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spewy import Job
from spewy.errors import InputError
from spewy.game.amounts import Unit
from spewy.game.gamefile import load_game
from spewy.game.lines import read_action, read_line
from spewy.game.nodes import Line, find_node
from spewy.game.tree import BettingTree
from spewy.game.treeconfig import game_config, player_sizes, spot_config
from spewy.look.chunk_game import one_chunk

GAME = load_game("holdem.nolimit.2p.reverse_blinds")
BB = Unit("bb", 100)


def spot(bet="33%, 60%, a", raises="2.5x", pot=200, stack=900, unit=None):
    unit = unit or Unit()
    sizes = player_sizes(bet, raises, unit=unit)
    return BettingTree(spot_config(GAME, 2, pot, stack, {2: (sizes, sizes)}, unit=unit))


CHIPS = spot()
BLINDS = spot("33%, 2bb", "2.5x", 550, 9750, BB)
LIMIT = BettingTree(game_config(load_game("leduc")))
TREES = {"chips": CHIPS, "bb": BLINDS, "leduc": LIMIT}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", ""),
        ("cr66c/", "cr66c/"),
        ("Check, Bet(66), Call", "cr66c"),
        ("x b66 c", "cr66c"),
        ("X B66 C", "cr66c"),
        ("xb66c", "cr66c"),
        ("k bet 66 call /", "cr66c/"),
        ("check,bet to 66,fold", "cr66f"),
        ("b33%", "r66"),
        ("Bet( 33 % )", "r66"),
        ("x b60% r300 c", "cr120r300c"),
        ("x b60% raise c", "cr120r300c"),
        ("b66 raise to 165 call / x", "r66r165c/c"),
        ("checks, bets 66, raises to 165, calls", "cr66r165c"),
        ("b66 c x x", "r66c/cc"),
        ("a", "r900"),
        ("all in", "r900"),
        ("All-in f", "r900f"),
        ("AllIn(900) c", "r900c"),
        ("bet 900", "r900"),
        ("x c / c b33%", "cc/cr66"),
        ("x x / r66 r165", "cc/r66r165"),
        ("b60% c b264", "r120c/r384"),
        ("b60% c / r384", "r120c/r384"),
        ("b66 chips", "r66"),
        # Shares of the pot after chips have gone in: 180 more than a call of 120 into 440, and 110 into 332.
        ("x b60% r41% c", "cr120r300c"),
        ("x b60% r40.9% c", "cr120r300c"),
        ("b66 c / x b33% c", "r66c/cr176c"),
        ("b66 c / x b60%", "r66c/cr265"),
    ],
)
def test_a_line_in_many_spellings(text, line):
    found = read_line(CHIPS, text)
    assert found == line
    assert find_node(CHIPS.root, found).line == line


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("cr1.82c/", "cr182c/"),
        ("r2r5", "r200r500"),
        ("x b33% c", "cr182c"),
        ("b2bb", "r200"),
        ("Bet(1.82), Raise(4.55)", "r182r455"),
        ("r2c/r5.14", "r200c/r514"),
    ],
)
def test_amounts_of_a_line_are_in_big_blinds_where_those_of_the_job_are(text, line):
    found = read_line(BLINDS, text)
    assert found == line
    assert read_line(BLINDS, BB.line_text(found)) == line


def test_a_line_of_limit_needs_no_amounts():
    assert read_line(LIMIT, "Check Bet Raise Call / bet") == "crrc/r"
    assert read_line(LIMIT, "x b r c, r") == "crrc/r"


CHOICES = "expected one of check (c), bet 66 (r66), bet 120 (r120), all-in 900 (r900); found"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x b70", f"line 'x b70', position 2: {CHOICES} 'b70', nearest to bet 66 (r66)"),
        ("b50%", f"position 0: {CHOICES} 'b50%', nearest to bet 120 (r120)"),
        ("x call", f"position 2: {CHOICES} 'call', nearest to check (c)"),
        ("shove", f"position 0: {CHOICES} 'shove'"),
        ("x b", f"position 2: {CHOICES} 'b', which could be bet 66 or bet 120"),
        ("b66 call 66", "found 'call 66', but it takes no amount"),
        ("bet all-in", "expected all-in alone, or a comma between two actions, found 'bet all-in'"),
        ("b66 raise all in", "expected all-in alone, or a comma between two actions, found 'raise all in'"),
        ("x / b66", f"position 2: {CHOICES} '/'"),
        ("b66bb", "position 0: expected amounts in chips, found 'b66bb'"),
        ("x x x x x", "position 8: expected the end of the line (a showdown); found 'x'"),
        ("b66 f x", "position 6: expected the end of the line (a fold); found 'x'"),
        ("b60%% c", f"{CHOICES} 'b60%%'"),
        ("b" + "9" * 400, f"{CHOICES} 'b999"),
    ],
)
def test_what_is_no_line_is_told_the_choices_and_the_nearest(text, message):
    with pytest.raises(InputError) as error:
        read_line(CHIPS, text)
    assert message in str(error.value)


def test_an_acpc_string_that_leaves_the_tree_is_told_the_nearest_too():
    with pytest.raises(InputError) as error:
        CHIPS.find(read_line(CHIPS, "cr70"))
    assert str(error.value) == f"line 'cr70', position 1: {CHOICES} 'r70', nearest to bet 66 (r66)"


DEEP = spot("60%", "2.5x, a")
ALL_IN = spot("a", "a", pot=200, stack=900)
"""All-in is the only bet, and the only raise."""
ANSWERS = "expected one of fold (f), call (c), raise to 300 (r300), all-in 900 (r900); found"
PREFLOP = BettingTree(game_config(GAME, {0: (player_sizes("a", "a"), player_sizes("a", "a"))}))


@pytest.mark.parametrize(
    ("tree", "text", "line"),
    [
        (ALL_IN, "x bet", "cr900"),
        (ALL_IN, "b c", "r900c"),
        (ALL_IN, "x r", "cr900"),
        (ALL_IN, "r", "r900"),
        (ALL_IN, "cr", "cr900"),
        (spot("33%", "a"), "b66 raise", "r66r900"),
        (spot("33%", "a"), "b66 r", "r66r900"),
        (DEEP, "b120 raise", "r120r300"),
        (DEEP, "b120 r", "r120r300"),
        (DEEP, "b120 raise to 900", "r120r900"),
        (DEEP, "r120 r900", "r120r900"),
        (CHIPS, "x r900", "cr900"),
        (PREFLOP, "c raise", "cr20000"),  # the big blind is a bet
    ],
)
def test_all_in_stands_for_a_bet_or_raise_that_is_the_only_one_or_has_its_amount(tree, text, line):
    assert read_line(tree, text) == line


@pytest.mark.parametrize(
    ("tree", "text", "message"),
    [
        (DEEP, "x b120 b", f"line 'x b120 b', position 7: {ANSWERS} 'b', but there is a bet to raise"),
        (DEEP, "b120 bet", f"{ANSWERS} 'bet', but there is a bet to raise"),
        (DEEP, "b120 bet 300", f"{ANSWERS} 'bet 300', but there is a bet to raise"),
        (DEEP, "b120 b900", f"{ANSWERS} 'b900', but there is a bet to raise"),
        (DEEP, "b120 Bet(60%)", f"{ANSWERS} 'Bet(60%)', but there is a bet to raise"),
        (CHIPS, "x raise", f"{CHOICES} 'raise', but there is no bet to raise"),
        (CHIPS, "raise to 120", f"{CHOICES} 'raise to 120', but there is no bet to raise"),
        (CHIPS, "Raise(900)", f"{CHOICES} 'Raise(900)', but there is no bet to raise"),
        (ALL_IN, "x b b", "expected one of fold (f), call (c); found 'b', but there is a bet to raise"),
        (ALL_IN, "raise", "check (c), all-in 900 (r900); found 'raise', but there is no bet to raise"),
        (PREFLOP, "bet", "all-in 20000 (r20000); found 'bet', but there is a bet to raise"),
        (PREFLOP, "c bet", "all-in 20000 (r20000); found 'bet', but there is a bet to raise"),
        (LIMIT, "bet bet", "found 'bet', but there is a bet to raise"),
        (LIMIT, "x raise", "found 'raise', but there is no bet to raise"),
    ],
)
def test_a_bet_is_refused_where_a_raise_is_meant_and_a_raise_where_a_bet_is(tree, text, message):
    with pytest.raises(InputError) as error:
        read_line(tree, text)
    assert message in str(error.value)


def test_an_amount_that_no_chip_pays_is_refused():
    with pytest.raises(InputError, match=r"found 'b1\.8234', nearest to bet 1\.82 \(r1\.82\)"):
        read_line(BLINDS, "x b1.8234 c")


def test_an_amount_that_is_one_action_s_total_and_another_s_bet_is_refused():
    # After 120 each the ACPC's r240 is a bet of 120; on its round alone it is the bet of 240.
    tree = spot("120c, 240c")
    assert [a.acpc for a in tree.find("r120c/").actions] == ["c", "r240", "r360"]
    assert read_line(tree, "r120c/r240") == "r120c/r240"
    with pytest.raises(InputError, match=r"found 'r240', which could be bet 120 or bet 240"):
        read_line(tree, "b120 c r240")
    assert read_line(tree, "b120 c b240") == "r120c/r360"


def test_a_share_that_rounds_to_one_bet_is_that_bet():
    tree = spot("33%, 34%", pot=10)
    assert [a.label for a in tree.root.actions] == ["check", "bet 3"]
    assert read_line(tree, "b33%") == "r3"
    assert read_line(tree, "b30%") == "r3"
    with pytest.raises(InputError, match="nearest to "):
        read_line(tree, "b35%")  # 3.5 chips are 4
    assert read_line(spot("35%", pot=10), "b35%") == "r4"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        *(("b16%", True), ("b17%", True), ("b16.5%", True), ("b15%", False), ("b18%", False)),
        *(("b16.4%", False), ("b16.6%", False), ("b16.45%", False)),
    ],
)
def test_a_share_means_a_bet_that_rounds_to_it(text, found):
    tree = spot("3300c", pot=20000, stack=90000)  # 16.5 % of the pot
    if found:
        assert read_line(tree, text) == "r3300"
    else:
        with pytest.raises(InputError, match=r"nearest to bet 3300 \(r3300\)"):
            read_line(tree, text)


def test_an_error_tells_the_line_as_it_was_written():
    line = read_line(CHIPS, "x x")
    assert (line, line.written) == ("cc", "x x")
    with pytest.raises(InputError, match="line: expected a betting string"):
        read_line(CHIPS, 3)


def test_a_canonical_line_is_not_read_again():
    line = Line("r182")
    assert read_line(BLINDS, line) is line
    with pytest.raises(InputError):
        read_line(BLINDS, "r182")


def test_one_action_by_its_name():
    texts = ("x", "b60%", " AllIn ")
    assert [read_action(CHIPS.config, CHIPS.root, text, "x") for text in texts] == [0, 2, 3]
    for wrong in ("", "/", "x x", "b70"):
        with pytest.raises(InputError, match=r"lock 1: expected one of check \(c\)"):
            read_action(CHIPS.config, CHIPS.root, wrong, "lock 1")


@pytest.mark.parametrize("name", TREES)
def test_every_line_of_a_tree_is_read_from_its_labels_and_in_its_unit(name):
    tree = TREES[name]
    pending = [(tree.root, "")]
    while pending:
        node, labels = pending.pop()
        if "/" not in node.line[-1:]:
            assert read_line(tree, labels) == node.line
            assert read_line(tree, tree.config.unit.line_text(node.line)) == node.line
        if node.kind == "chance":
            pending.append((node.children[0], f"{labels} /"))
        pending += [
            (child, f"{labels} {action.label}")
            for action, child in zip(node.actions, node.children, strict=False)
        ]


@given(st.text(alphabet="xkcbfra/ ,.%()0123456789bet", max_size=30))
def test_any_text_is_a_line_of_the_tree_or_refused(text):
    try:
        line = read_line(BLINDS, text)
    except InputError:
        return
    assert find_node(BLINDS.root, line).line == line


def locks(line, strategy):
    spot = {"board": "Qs Jh 2h 8c", "pot": 200, "stack": 900, "oop": "AA", "ip": "KK"}
    data = {"name": "x", "game": {"file": GAME.name}, "spot": spot, "bets": {"turn": {"bet": "33%, 60%"}}}
    return Job.of(data | {"lock": [{"line": line, "strategy": strategy}]}).problem.locks


def test_a_lock_names_its_line_and_actions_as_people_write_them():
    (one,) = locks("cr120", {"Fold": 0.25, "Call": 0.75})
    (other,) = locks("x b60%", {"f": 0.25, "call": 0.75})
    assert one.line == other.line == "cr120"
    np.testing.assert_array_equal(one.frequencies, other.frequencies)


@pytest.mark.parametrize(
    ("line", "strategy", "message"),
    [
        ("x b", {"f": 1}, "lock 1, line 'x b', position 2: expected one of check (c), bet 66 (r66), bet"),
        ("x", {"b50%": 1}, "lock 1, line 'x', strategy: expected one of check (c), bet 66 (r66), bet 120"),
        ("x b60%", {"bet": 0.5, "call": 0.5}, "line 'x b60%', strategy: expected one of fold (f), call (c);"),
        ("x", {"x": 0.5, "Check": 0.5}, "lock 1, line 'x', strategy: expected each action once, found x and"),
    ],
)
def test_a_lock_that_names_no_action(line, strategy, message):
    with pytest.raises(InputError) as error:
        locks(line, strategy)
    assert message in str(error.value)


def test_a_chunk_is_entered_by_labels():
    data = {"name": "L", "game": {"file": "leduc"}}
    assert one_chunk(Job.of(data), "Check, Check /", "Kh").line == "cc/"
