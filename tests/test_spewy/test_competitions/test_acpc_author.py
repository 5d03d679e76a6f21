"""A bot as a function, at the table of the dealer that `spewy match` uses."""

import socket
import sys
import threading
from contextlib import contextmanager

import pytest

import spewy
from spewy.game.gamefile import load_game
from spewy.game.hand import Hand

GAME = "holdem.nolimit.2p.reverse_blinds"


def hand(*steps, hole=((50, 44), None), game=GAME):
    state = Hand.start(load_game(game), hole)
    for step in steps:
        state = state.deal(step) if isinstance(step, tuple) else state.apply(step)
    return state


def test_a_turn_reads_the_hand():
    """The second route: amounts by hand, from blinds of 50 and 100 and stacks of 20,000."""
    first = spewy.Turn(0, 0, hand("r300"))
    assert first.cards == ("Ah", "Kc")
    assert (first.round, first.line, first.board) == (0, "r300", ())
    assert (first.pot, first.put_in, first.to_call, first.stack) == (400, 100, 200, 19900)
    assert (first.actions, first.raise_to) == (("f", "c", "r500", "r20000"), (500, 20000))
    assert (first.raised(), first.raised(0.5), first.raised(0.01), first.raised(1000)) == (
        "r900",
        "r600",
        "r500",
        "r20000",
    )
    flop = spewy.Turn(7, 0, hand("r300", "c", (0, 5, 10)))
    assert (flop.number, flop.round, flop.board, flop.to_call) == (7, 1, ("2c", "3d", "4h"), 0)
    assert flop.actions == ("c", "r400", "r20000")
    all_in = spewy.Turn(0, 0, hand("r20000"))
    assert (all_in.to_call, all_in.actions, all_in.raised()) == (19900, ("f", "c"), "c")
    limit = spewy.Turn(0, 1, hand(hole=(None, (50, 44)), game="flop-holdem"))
    assert (limit.actions, limit.raised(0.1)) == (("f", "c", "r"), "r")


CLIENT = """
import sys
import spewy

def decide(turn):
    first, second = turn.cards
    good = first[0] == second[0] or first[0] in "AK" or second[0] in "AK"
    return turn.raised() if good and turn.line.count("r") < 2 else "c"

match = spewy.play_acpc(decide, *sys.argv[1:3], game={game!r})
open({out!r}, "w").write(f"{{match.hands}} {{match.faults}}")
"""


def test_a_function_plays_a_match(tmp_path):
    """The second route: the same rule as a client that knows only text."""
    out, logs = tmp_path / "out", []
    for name, text in (("mine", CLIENT.format(game="flop-holdem", out=str(out))), ("plain", PLAIN)):
        (tmp_path / f"{name}.py").write_text(text)
        command = f"mine=cmd:{sys.executable} {tmp_path / name}.py"
        spewy.play_match(command, "call", game="flop-holdem", hands=30, folder=tmp_path / name)
        log = (tmp_path / name / "seed-1.log").read_text()
        logs.append([line for line in log.splitlines() if line.startswith(("STATE", "SCORE"))])
    assert logs[0] == logs[1]
    assert len(logs[0]) == 31
    assert out.read_text() == "30 0"


@contextmanager
def dealer(*lines):
    """Yield the port of a dealer that sends some lines, and leaves."""

    def deal():
        with listener.accept()[0] as client:
            client.recv(100)
            client.sendall("".join(f"{line}\r\n" for line in lines).encode())
            client.recv(1000)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=deal)
        thread.start()
        yield listener.getsockname()[1]
        thread.join()


STATE = "MATCHSTATE:1:0::|AsKd"


def mistaken(turn):
    raise ZeroDivisionError(turn.line)


@pytest.mark.parametrize(
    ("decide", "error", "told"),
    [
        (mistaken, ZeroDivisionError, "^$"),
        (lambda turn: "r150", spewy.InputError, "action 'r150' after '': expected f, c, r200 to r20000"),
        (lambda turn: None, spewy.InputError, "decide after '': expected f, c, r200 to r20000, found None"),
    ],
)
def test_a_mistake_of_the_author_ends_the_match(decide, error, told):
    with dealer(STATE) as port, pytest.raises(error, match=told):
        spewy.play_acpc(decide, "127.0.0.1", port)


@pytest.mark.parametrize("port", ["x", 0, 70_000, -1, "1" * 400])
def test_ports_that_are_none(port):
    with pytest.raises(spewy.InputError, match="port: expected a number from 1 to 65535"):
        spewy.play_acpc(lambda turn: "c", "127.0.0.1", port)


def test_a_dealer_that_vanishes():
    with dealer(STATE) as port, pytest.raises(spewy.SpewyError, match="closed the connection in hand 0"):
        spewy.play_acpc(lambda turn: "c", "127.0.0.1", str(port))


PLAIN = """
import socket, sys
with socket.create_connection((sys.argv[1], int(sys.argv[2]))) as dealer:
    dealer.sendall(b"VERSION:2.0.0\\r\\n")
    for line in dealer.makefile():
        state = line.strip()
        _, seat, _, betting, cards = state.split(":")
        hands = cards.split("/")[0].split("|")
        rounds = betting.split("/")
        to_act = ((1 if len(rounds) == 1 else 0) + len(rounds[-1])) % 2
        if to_act == int(seat) and not all(hands) and not betting.endswith("f"):
            hole = hands[int(seat)]
            good = hole[0] == hole[2] or hole[0] in "AK" or hole[2] in "AK"
            answer = "r" if good and betting.count("r") < 2 else "c"
            dealer.sendall(f"{state}:{answer}\\r\\n".encode())
"""
