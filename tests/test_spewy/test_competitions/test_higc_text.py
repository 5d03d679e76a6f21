"""The HIGC's protocol as text: transcripts of both sides, and messages that are none."""

from random import Random

import numpy as np
import pytest
from higc_tables import QUICK, Scripted, lines_of, local
from hypothesis import given, settings
from hypothesis import strategies as st

from spewy.competitions.higc.referee import greet, play
from spewy.competitions.higc.session import Session
from spewy.competitions.higc.spiel import SpielGame
from spewy.competitions.higc.text import (
    compressed,
    over_text,
    parse_answer,
    parse_line,
    plain,
    state_text,
    tensor_values,
)
from spewy.errors import InputError

# Kuhn's game as player 0 with the queen: nothing is dealt, the card, the other's card, a pass, the other's bet, a call.
NOTHING = "AACAPwAAAAAAAAAAAAAAAAAAAAAAAIA/AACAPw=="
QUEEN = "AACAPwAAAAAAAAAAAACAPwAAAAAAAIA/AACAPw=="
QUEEN_FACING = "AACAPwAAAAAAAAAAAACAPwAAAAAAAIA/AAAAQA=="
TRANSCRIPT = [
    ("kuhn_poker", []),
    ("0", []),
    (NOTHING, []),
    (QUEEN, []),
    (f"{QUEEN} 0 1", ["0"]),
    (QUEEN, []),
    (f"{QUEEN_FACING} 0 1", ["1"]),
    ("end of game -2.0", []),
]
OLDER_TRANSCRIPT = [
    ("kuhn_poker", []),
    ("0", ["ready", "start"]),
    ("AQM= AQE=", ["ponder"]),
    ("AQM= AQk=", ["ponder"]),
    ("AQM= AQk= 0 1", ["0"]),
    ("AQM= AQk=", ["ponder"]),
    ("match over 1", ["match over", "start"]),
    ("AQM= AQE= 0 1", ["1"]),
    ("match over -2", ["match over", "start"]),
    ("tournament over", ["tournament over"]),
]


@pytest.mark.parametrize(
    ("dialect", "transcript", "scores"),
    [("rules", TRANSCRIPT, [-2.0]), ("older", OLDER_TRANSCRIPT, [1.0, -2.0])],
)
def test_a_bot_replays_a_transcript(dialect, transcript, scores):
    session = Session(lambda game, seat: Scripted([0, 1]), dialect, pytest.fail)
    for heard, said in transcript:
        assert session.hear(heard) == said
    assert (session.is_over, session.scores) == (True, scores)


@pytest.mark.parametrize("dialect", ["rules", "older"])
def test_a_referee_replays_a_transcript(dialect):
    """Both hear states of the same match, one line for each, and the actions are what they said."""
    game, agents = SpielGame("kuhn_poker", dialect), [Scripted([0, 1]), Scripted([1])]
    channels = [local(agent, dialect) for agent in agents]
    limits = QUICK if dialect == "rules" else type(QUICK)(**{**vars(QUICK), "dialect": "older"})
    played = play(game, channels, limits, 3, greet(channels, game, limits))
    assert played.history[2:] == (0, 1, 1)
    assert sorted(played.returns) == [-2.0, 2.0]
    assert not played.faults
    assert [len(agent.states) for agent in agents] == [5, 5]
    assert [bool(state.legal) for state in agents[0].states] == [False, False, True, False, True]
    assert [bool(state.legal) for state in agents[1].states] == [False, False, False, True, False]


def test_the_referee_says_what_the_transcript_has():
    """The queen to player 0, the king to player 1; a pass, a bet, a call."""
    game, state, told = SpielGame("kuhn_poker"), SpielGame("kuhn_poker").start(), []
    for action in (1, 2, 0, 1, 1):
        seen = game.seen(state, 0)
        told.append(state_text(game.tensors(state, 0), seen.legal, "rules"))
        state.apply_action(action)
    told.append(over_text(state.returns()[0], "rules"))
    assert told == [heard for heard, _ in TRANSCRIPT[2:]]


@pytest.mark.parametrize("values", [[1, 0, 0, 1, 0], [0.0, 2.5, -1.0], [1] * 8])
def test_tensors_come_back(values):
    tensor = np.array(values, dtype=np.float64)
    assert tensor_values(plain(tensor), len(values), "rules").tolist() == values
    assert tensor_values(compressed(tensor), len(values), "older").tolist() == values


def test_compression_is_open_spiels():
    observer = SpielGame("leduc_poker")._observers[0]
    assert compressed(observer.tensor) == observer.compress()


@pytest.mark.parametrize("dialect", ["rules", "older"])
@pytest.mark.parametrize("data", [b"", b"\x07abcd", b"\x00" * 5, plain(np.array([np.nan]))])
def test_tensors_of_another_kind_are_bad_input(data, dialect):
    with pytest.raises(InputError, match="tensor"):
        tensor_values(data, 3, dialect)


@pytest.mark.parametrize(
    "line", ["", "*", "end of game", "end of game nan", "AAAA x", "AAAA -1", "AAAA 99999999999999999999"]
)
def test_lines_that_are_none(line):
    with pytest.raises(InputError):
        parse_line(line, "rules")


def test_answers_that_name_no_action():
    assert [parse_answer(text) for text in ("3", " 3\r", "3.0", "", "+3", "³")] == [3, 3] + [None] * 4


TEXTS = st.text(max_size=40) | st.binary(max_size=40).map(lambda data: data.decode("latin-1"))


@settings(max_examples=40, deadline=None)
@given(st.lists(TEXTS, max_size=8))
def test_fuzzed_messages_never_raise(lines):
    for dialect in ("rules", "older"):
        session = Session(lambda game, seat: Scripted(), dialect, lambda text: None)
        session.hear("kuhn_poker")
        session.hear("1")
        for line in lines:
            for answer in session.hear(line):
                assert "\n" not in answer


@pytest.mark.parametrize("seed", range(3))
def test_a_bad_line_is_answered_where_it_asks(seed):
    """Half of the words of each line are changed; wherever actions can be read, one of them is the answer."""
    rng = Random(seed)
    lines = lines_of(SpielGame("leduc_poker"), 0, lambda menu: menu[-1], rng)
    faults = []
    session = Session(lambda game, seat: Scripted(), "rules", faults.append)
    for line in lines:
        spoilt = line if line.startswith(("leduc", "0", "end")) else line.replace("AA", "*", 1)
        answer, legal = session.hear(spoilt), spoilt.split()[1:]
        if spoilt != line and legal:
            assert answer[0] in legal
    assert faults
    assert session.is_over


def test_an_end_without_a_score_is_an_end():
    faults = []
    session = Session(lambda game, seat: Scripted(), "rules", faults.append)
    for line in ("kuhn_poker", "1", "end of game soon"):
        assert session.hear(line) == []
    assert session.is_over
    assert len(faults) == 1


def test_a_agent_that_fails_is_replaced_by_chance():
    class Failing(Scripted):
        def act(self, legal):
            raise KeyError(legal)

    told = []
    session = Session(lambda game, seat: Failing(), "rules", told.append)
    assert [session.hear(line) for line, _ in TRANSCRIPT[:5]][-1] in (["0"], ["1"])
    assert told == ["WARNING: KeyError: (0, 1)"]


@pytest.mark.parametrize("seat", ["2", "", "one"])
def test_a_seat_that_is_none(seat):
    session = Session(lambda game, seat: Scripted(), "rules", lambda text: None)
    session.hear("kuhn_poker")
    with pytest.raises(InputError, match="player's number"):
        session.hear(seat)
