"""Betting rules, mostly as transcripts of the ACPC dealer."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spewy.errors import InputError
from spewy.game.betting import UNLIMITED, Betting, parse_line
from spewy.game.gamefile import load_game, shipped_games

LIMIT = load_game("holdem.limit.2p.reverse_blinds")
NO_LIMIT = load_game("holdem.nolimit.2p.reverse_blinds")


def play(game, *actions):
    state = Betting.start(game)
    for action in actions:
        state = state.apply(action)
    return state


def test_limit_transcript():
    expected = [
        ("", 1),
        ("r", 0),
        ("rc/", 0),
        ("rc/r", 1),
        ("rc/rc/", 0),
        ("rc/rc/r", 1),
        ("rc/rc/rr", 0),
        ("rc/rc/rrc/", 0),
        ("rc/rc/rrc/r", 1),
        ("rc/rc/rrc/rc", None),
    ]
    state = Betting.start(LIMIT)
    for (line, player), action in zip(expected, [*"rcrcrrcrc", None], strict=True):
        assert (state.line, state.to_act) == (line, player)
        if action:
            state = state.apply(action)
    assert state.spent == (90, 90)
    assert state.is_over
    assert state.folded is None


def test_no_limit_transcript():
    state = play(NO_LIMIT, "c")
    assert (state.line, state.to_act, state.spent, state.can_fold) == ("c", 0, (100, 100), False)
    state = state.apply("c")
    assert (state.line, state.to_act) == ("cc/", 0)
    assert state.raise_bounds() == (200, 20000)
    state = state.apply("r4351").apply("r9434")
    assert state.raise_bounds() == (14517, 20000)
    state = state.apply("r19492").apply("c")
    assert state.line == "cc/r4351r9434r19492c/"
    assert state.raise_bounds() == (19592, 20000)
    state = state.apply("r19948").apply("f")
    assert state.line == "cc/r4351r9434r19492c/r19948f"
    assert (state.folded, state.spent, state.is_over) == (1, (19948, 19492), True)


def test_all_in_leaves_the_other_rounds_empty():
    state = play(NO_LIMIT, "r20000", "c")
    assert (state.line, state.round, state.is_over) == ("r20000c///", 3, True)
    state = play(NO_LIMIT, "c", "c", "r20000", "c")
    assert state.line == "cc/r20000c//"


def test_opening_raise_and_short_all_in():
    state = Betting.start(NO_LIMIT)
    assert state.raise_bounds() == (200, 20000)
    state = play(NO_LIMIT, "c", "c", "c", "r19950")
    assert state.raise_bounds() == (20000, 20000)


def test_no_raise_against_all_in():
    state = play(NO_LIMIT, "r20000")
    assert state.raise_bounds() is None
    assert state.can_fold


def test_limit_caps():
    state = play(LIMIT, "r", "r", "r")
    assert state.raise_bounds() is None
    assert state.spent == (30, 40)
    state = state.apply("c")
    state = state.apply("r").apply("r").apply("r")
    assert state.raise_bounds() == (80, 80)
    assert state.apply("r").raise_bounds() is None


def test_raise_is_illegal_once_63_actions_were_made():
    state = Betting.start(NO_LIMIT)
    for i in range(63):
        assert state.raise_bounds() is not None, i
        state = state.apply(f"r{state.raise_bounds()[0]}")
    assert state.raise_bounds() is None
    assert state.apply("c").line.endswith("c/")


def test_limit_raise_is_clipped_to_the_stack():
    game = replace(LIMIT, stacks=(35, 35))
    state = play(game, "r", "r")
    assert state.raise_bounds() == (35, 35)
    assert state.apply("r").spent == (30, 35)
    assert state.apply("r").apply("c").line == "rrrc///"


def test_unlimited_stacks():
    assert Betting.start(LIMIT).stack(0) == UNLIMITED
    game = replace(NO_LIMIT, stacks=None)
    assert Betting.start(game).raise_bounds() == (200, UNLIMITED)


def test_uneven_stacks():
    game = replace(NO_LIMIT, stacks=(500, 1000))
    state = play(game, "r1000")
    assert state.raise_bounds() is None
    state = state.apply("c")
    assert (state.spent, state.line) == ((500, 1000), "r1000c///")
    state = play(game, "r300", "r500")
    assert (state.to_act, state.raise_bounds()) == (1, None)
    assert state.apply("c").is_over


def test_blinds_that_are_all_in():
    state = Betting.start(replace(NO_LIMIT, stacks=(20000, 50)))
    assert (state.to_act, state.can_fold, state.raise_bounds()) == (0, False, None)
    assert state.apply("c").line == "c///"
    state = Betting.start(replace(NO_LIMIT, stacks=(100, 20000)))
    assert (state.to_act, state.can_fold, state.raise_bounds()) == (1, True, None)
    assert Betting.start(replace(NO_LIMIT, stacks=(100, 50))).is_over


def test_antes():
    state = Betting.start(load_game("kuhn"))
    assert (state.to_act, state.can_fold, state.raise_bounds()) == (0, False, (2, 2))
    assert state.apply("c").apply("r").apply("f").line == "crf"


@pytest.mark.parametrize(
    ("line", "action", "message"),
    [
        ("", "r150", "action 'r150' after '': expected f, c, r200 to r20000"),
        ("", "r", "expected f, c, r200 to r20000"),
        ("", "x", "expected f, c, r200 to r20000"),
        ("", "r20001", "expected f, c, r200 to r20000"),
        ("c", "f", "action 'f' after 'c': expected c, r200 to r20000"),
        ("r20000", "r20000", "expected f, c"),
        ("f", "c", "expected none, the hand is over"),
    ],
)
def test_illegal_actions(line, action, message):
    state = parse_line(NO_LIMIT, line)
    with pytest.raises(InputError) as error:
        state.apply(action)
    assert message in str(error.value)


def test_limit_raise_takes_no_amount():
    with pytest.raises(InputError, match=r"expected f, c, r$"):
        Betting.start(LIMIT).apply("r20")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("rc/x", "line 'rc/x', position 3: expected f, c, r or /, found 'x'"),
        ("rcr", "position 2: expected '/' after a round, found 'r'"),
        ("r/c", "position 1: expected f, c, r, found '/' inside a round"),
        ("rrrr", "position 3: action 'r' after 'rrr': expected f, c"),
        ("rf/", "position 2: expected no action, found '/'"),
    ],
)
def test_bad_lines(line, message):
    with pytest.raises(InputError) as error:
        parse_line(LIMIT, line)
    assert message in str(error.value)


def test_slashes_at_the_end_may_be_missing():
    assert parse_line(LIMIT, "rc") == parse_line(LIMIT, "rc/")
    assert parse_line(NO_LIMIT, "r20000c/").line == "r20000c///"


@given(st.sampled_from(shipped_games()), st.data())
def test_random_hands_round_trip(name, data):
    game = load_game(name)
    state = Betting.start(game)
    steps = 0
    while not state.is_over and steps < 70:
        choices = ["c", "f"] if state.can_fold else ["c"]
        bounds = state.raise_bounds()
        if bounds:
            assert max(state.spent) < bounds[0] <= bounds[1] <= state.stack(state.to_act)
            total = data.draw(st.integers(bounds[0], min(bounds[1], bounds[0] + 40)))
            choices.append("r" if game.limit else f"r{total}")
        state = state.apply(data.draw(st.sampled_from(choices)))
        steps += 1
        assert parse_line(game, state.line) == state
    if state.is_over and state.folded is None:
        assert state.spent[0] == state.spent[1]
        assert state.line.count("/") == game.num_rounds - 1
