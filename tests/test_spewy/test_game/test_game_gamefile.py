"""Game files: shipped games, defaults, errors, round trips."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spewy.errors import InputError
from spewy.game.gamefile import Game, format_game, load_game, parse_game, shipped_games

MINIMAL = """GAMEDEF
nolimit
numPlayers = 2
numRounds = 4
blind = 2 1
numSuits = 4
numRanks = 13
numHoleCards = 2
numBoardCards = 0 3 1 1
END GAMEDEF
"""


def test_shipped_names():
    assert shipped_games() == (
        *("doyle", "flop-holdem", "holdem.limit.2p.reverse_blinds", "holdem.nolimit.2p.100bb"),
        *("holdem.nolimit.2p.reverse_blinds", "kuhn", "leduc", "rhode-island", "upac"),
    )


@pytest.mark.parametrize("name", shipped_games())
def test_shipped_games_round_trip(name):
    game = load_game(name)
    assert game.name == name
    assert parse_game(format_game(game), name) == game


def test_no_limit_holdem():
    game = load_game("holdem.nolimit.2p.reverse_blinds")
    assert not game.limit
    assert game.stacks == (20000, 20000)
    assert game.blinds == (100, 50)
    assert game.big_blind == 100
    assert game.first_player == (1, 0, 0, 0)
    assert game.max_raises == (255,) * 4
    assert game.board_sizes == (0, 3, 4, 5)
    assert game.round_names == ("preflop", "flop", "turn", "river")
    assert len(game.deck) == 52
    assert not game.has_antes


def test_limit_holdem():
    game = load_game("holdem.limit.2p.reverse_blinds")
    assert game.limit
    assert game.stacks is None
    assert game.raise_sizes == (10, 10, 20, 20)
    assert game.max_raises == (3, 4, 4, 4)


def test_leduc_deck():
    game = load_game("leduc")
    assert len(game.deck) == 6
    assert game.has_antes
    assert game.raise_sizes == (2, 4)


def test_defaults():
    game = parse_game(MINIMAL, "g")
    assert game.stacks is None
    assert game.first_player == (0, 0, 0, 0)
    assert game.raise_sizes == ()


def test_limit_is_the_default():
    assert parse_game(MINIMAL.replace("nolimit", "raiseSize 1 1 2 2"), "g").limit


def test_keywords_ignore_case_equals_signs_are_optional_comments_are_skipped():
    text = "# a comment\n\ngamedef\nNOLIMIT\nNUMPLAYERS 2\nnumrounds=1\nBlind=  2  1\n# more\n"
    text += "numsuits 4\nNumRanks = 13\nnumHoleCards 2\nnumBoardCards 0\nend gamedef\nanything"
    game = parse_game(text, "g")
    assert (game.blinds, game.num_rounds) == ((2, 1), 1)


def test_load_from_a_path(tmp_path):
    path = tmp_path / "my.game"
    path.write_text(MINIMAL)
    assert load_game(path) == parse_game(MINIMAL, "my")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("blind = 2 1\n", "", "'g': expected a line blind, found none"),
        ("blind = 2 1", "blind = 2", "'g', line 5, blind: expected 2 numbers, one per player; found 1"),
        ("blind = 2 1", "blind = 2 x", "'g', line 5, blind: expected a whole number, found 'x'"),
        ("blind = 2 1", "blind = 2 -1", "expected a whole number, found '-1'"),
        ("0 3 1 1", "0 3 1", "numBoardCards: expected 4 numbers, one per round; found 3"),
        ("numPlayers = 2", "numPlayers = 3", "line 3, numPlayers: expected 2 (heads-up games only), found 3"),
        ("numHoleCards = 2", "numHoleCards = 3", "numHoleCards: expected 1 to 2, found 3"),
        ("numHoleCards = 2", "numHoleCards = 2 2", "numHoleCards: expected one number; found 2"),
        ("numRanks = 13", "numRanks = 2", "expected at least 9 cards (holes and board), found 4 x 2 = 8"),
        ("nolimit", "limit", "expected a line raiseSize, found none"),
        ("nolimit", "nolimit\nfirstPlayer = 1 1 1 0", "firstPlayer: expected 1 to 2, found 0"),
        ("nolimit", "nolimit\nstack = 1 100", "stack of player 0: expected at least the blind 2, found 1"),
        ("nolimit", "potlimit", "line 2: expected a keyword of a .game file, found 'potlimit'"),
        ("nolimit", "nolimit\nblind 1 1", "expected blind once, found it in line 3 too"),
        ("END GAMEDEF\n", "", "expected END GAMEDEF, found the end of the text"),
        ("GAMEDEF\nnolimit", "nolimit", "line 1: expected GAMEDEF, found 'nolimit'"),
    ],
)
def test_errors_name_the_field(old, new, message):
    with pytest.raises(InputError) as error:
        parse_game(MINIMAL.replace(old, new, 1), "g")
    assert message in str(error.value)


def test_unknown_game_lists_the_shipped_ones():
    with pytest.raises(
        InputError, match=r"game 'chess': expected a \.game file or one of doyle, .*; found neither"
    ):
        load_game("chess")


@st.composite
def games(draw):
    rounds = draw(st.integers(1, 4))
    limit = draw(st.booleans())

    def per_round(low, high):
        return tuple(draw(st.lists(st.integers(low, high), min_size=rounds, max_size=rounds)))

    blinds = draw(st.tuples(st.integers(0, 50), st.integers(0, 50)))
    stacks = draw(st.none() | st.tuples(st.integers(50, 999), st.integers(50, 999)))
    return Game(
        name="g",
        limit=limit,
        num_players=2,
        num_rounds=rounds,
        stacks=stacks,
        blinds=blinds,
        raise_sizes=per_round(1, 99) if limit else (),
        first_player=per_round(0, 1),
        max_raises=per_round(0, 255),
        num_suits=4,
        num_ranks=13,
        num_hole_cards=draw(st.integers(1, 2)),
        num_board_cards=per_round(0, 5),
    )


@given(games())
def test_any_game_round_trips(game):
    assert parse_game(format_game(game), "g") == game
