"""Dealer and client at one table: transcripts, random play, bad replies, time, and whoever leaves."""

import socket
import time
from contextlib import suppress

import pytest
from acpc_tables import (
    DOYLE,
    LIMIT,
    LIMIT_HAND,
    LIMIT_LINES,
    LIMIT_LOG,
    NO_LIMIT,
    NO_LIMIT_HAND,
    NO_LIMIT_LINES,
    NO_LIMIT_LOG,
    SOON,
    Seat,
    Task,
    dealing,
    matched,
    pair,
    table,
)

from spewy.competitions.acpc.client import MOST_STRAY, play
from spewy.competitions.acpc.dealer import MOST_WARNINGS, Limits, parse_actions
from spewy.errors import InputError, PeerError
from spewy.game.gamefile import load_game
from spewy.match.acpc_text import parse_logged
from spewy.match.connection import Connection

FROM, TO = "FROM ", "TO "


def warnings(heard):
    return [note for note in heard.notes if note.startswith("WARNING")]


def joined(ends, bots):
    """Clients of both seats, one for each bot."""
    return [Task(play, end, bot) for end, bot in zip(ends, bots, strict=True)]


@pytest.mark.parametrize(
    ("game", "lines", "transcript", "log", "first"),
    [
        (LIMIT, LIMIT_LINES, LIMIT_HAND, LIMIT_LOG, 0),
        (NO_LIMIT, NO_LIMIT_LINES, NO_LIMIT_HAND, NO_LIMIT_LOG, 5),
    ],
    ids=["limit", "no-limit"],
)
def test_transcripts_are_dealt_and_answered_exactly(game, lines, transcript, log, first):
    score, heard, _, told = matched(table(game, len(lines)), [Seat(game, lines), Seat(game, lines)])
    assert heard.hands[first] == log
    seen = [
        ("S " if text.startswith(FROM) else "C ") + text.removeprefix(FROM).removeprefix(TO)
        for text in told[1]
    ]
    expected = transcript.strip().splitlines()
    start = seen.index(expected[0])
    assert seen[0] == "C VERSION:2.0.0"
    assert seen[start : start + len(expected)] == expected
    totals = [0, 0]
    for number, text in enumerate(heard.hands):
        for position, chips in enumerate(parse_logged(game, text).hand.net()):
            totals[(position + number) % 2] += chips
    assert score.text == f"SCORE:{totals[0]}|{totals[1]}:Alice|Bob"


def test_messages_end_as_the_protocol_has_it():
    with dealing(table(LIMIT, 1)) as ((alice, bob), _, _heard):
        for end in (alice, bob):
            end._source.sendall(b"VERSION:2.0.0\n")  # a lone LF is enough
        bob._source.settimeout(SOON)
        assert bob._source.recv(100) == b"MATCHSTATE:1:0::|9hQd\r\n"
        bob._source.sendall(b"# a comment\r\nMATCHSTATE:1:0::|9hQd:f\n")
        assert alice.receive(time.monotonic() + SOON) == b"MATCHSTATE:0:0::5d5c|"
        assert alice.receive(time.monotonic() + SOON) == b"MATCHSTATE:0:0:f:5d5c|"
        assert alice.receive(time.monotonic() + SOON) is None


@pytest.mark.parametrize(
    ("name", "rules"),
    [
        ("leduc", "2.0.0"),
        ("rhode-island", "2.0.0"),
        (LIMIT.name, "2007"),
        (NO_LIMIT.name, "2.0.0"),
        (NO_LIMIT.name, "2007"),
        ("doyle", "2007"),
        ("kuhn", "2007"),
    ],
)
def test_random_play_keeps_both_sides_at_one_state(name, rules):
    game, seed, hands = load_game(name), 7, 15
    bots = [Seat(game, seed=seed), Seat(game, seed=seed + 1)]
    score, heard, clients, told = matched(table(game, hands, seed, rules=rules), bots)
    logged = [parse_logged(game, text) for text in heard.hands]
    for s, (bot, client) in enumerate(zip(bots, clients, strict=True)):
        assert (client.hands, client.faults) == (hands, 0)
        assert [seat for _, seat, _ in bot.begun] == [(s + number) % 2 for number in range(hands)]
        assert len({seed for *_, seed in bot.begun}) == hands
        for found, over in zip(logged, bot.over, strict=True):
            assert (found.hand.betting, found.hand.board) == (over.betting, over.board)
        nets = [found.hand.net()[seat] for found, (_, seat, _) in zip(logged, bot.begun, strict=True)]
        assert sum(nets) == score.totals[s]
    states = [sum(text.startswith("FROM MATCHSTATE") for text in notes) for notes in told]
    actions = sum(len(actions) for found in logged for actions in found.hand.betting.rounds)
    assert states == [actions + hands] * 2


# What the dealer does with replies that are not as they should be.


def answered(reply, game=NO_LIMIT):
    """The line of betting after one odd reply of the button, and what the dealer told of it."""
    with dealing(table(game, 1)) as ((alice, bob), _, heard):
        soon = time.monotonic() + SOON
        for end in (alice, bob):
            end.send("VERSION:2.0.0")
        state = bob.receive(soon).decode()
        bob.send(reply.format(state=state))
        alice.receive(soon)
        return alice.receive(soon).decode().split(":")[3], warnings(heard)


CLEARED = chr(27) + "[2J"
"""Control characters that clear a terminal."""


@pytest.mark.parametrize("reply", [f"{{state}}:c{CLEARED}", f"{{state}}:{CLEARED}"])
def test_a_client_s_control_characters_are_told_as_text(reply):
    with dealing(table(NO_LIMIT, 1)) as ((alice, bob), _, heard):
        for end in (alice, bob):
            end.send("VERSION:2.0.0")
        state = bob.receive(time.monotonic() + SOON).decode()
        bob.send(CLEARED)
        bob.send(reply.format(state=state))
        for _ in range(2):
            alice.receive(time.monotonic() + SOON)
        told = "\n".join(heard.notes)
    assert chr(27) not in told
    assert told.count(r"\x1b[2J") >= 2


@pytest.mark.parametrize(
    ("reply", "game", "line", "warned"),
    [
        ("{state}:r120", NO_LIMIT, "r200", True),
        ("{state}:r99999", NO_LIMIT, "r20000", True),
        ("{state}:x", NO_LIMIT, "c", True),
        ("{state}:r", NO_LIMIT, "c", True),
        ("{state}", NO_LIMIT, "c", True),
        ("{state}:B500", NO_LIMIT, "r500", False),
        ("{state}:k", NO_LIMIT, "c", False),
        ("{state}:c or so", NO_LIMIT, "c", False),
        ("{state}:r20", LIMIT, "r", False),
    ],
)
def test_odd_replies(reply, game, line, warned):
    found, told = answered(reply, game)
    assert (found, bool(told)) == (line, warned)


def test_lines_of_other_states_are_passed_over():
    with dealing(table(LIMIT, 1)) as ((alice, bob), dealer, heard):
        for end in (alice, bob):
            end.send("VERSION:1.0.0")
        states = ("1:7::|9hQd:r", "0:0::5d5c|:r", "1:0::|9hQh:r")
        for stray in ("", "hello", *(f"MATCHSTATE:{state}" for state in states)):
            bob.send(stray)
        bob.send("MATCHSTATE:1:0::5d5c|9hQd:f")
        assert dealer.result().text == "SCORE:5|-5:Alice|Bob"
        assert len(warnings(heard)) == 5
        assert sum("expected VERSION:2.0.0, found VERSION:1.0.0" in note for note in heard.notes) == 2


def test_a_flood_is_no_answer():
    limits = Limits(response=1.0, start=SOON)
    with dealing(table(LIMIT, 1, limits=limits)) as ((alice, bob), dealer, heard):
        for end in (alice, bob):
            end.send("VERSION:2.0.0")

        def flood():
            while True:
                bob._source.sendall(b"x" * 5000 + b"\n" * 500)

        flooding = Task(flood)
        with pytest.raises(PeerError, match=r"seat 2 \(Bob\): expected a line in time, found none"):
            dealer.result()
        flooding.join(SOON)
        assert isinstance(flooding.error, OSError)
        assert len(heard.notes) < MOST_WARNINGS + 20


@pytest.mark.parametrize("greeting", ["hello", "VERSION:2", ""])
def test_a_client_without_a_version_ends_the_match(greeting):
    with dealing(table(LIMIT, 1)) as ((alice, _), dealer, heard):
        alice.send(greeting)
        with pytest.raises(
            PeerError, match=r"seat 1 \(Alice\): first line of a client: expected VERSION:2.0.0"
        ):
            dealer.result()
        assert heard.hands == []


# Time, and whoever leaves.


class Stalls(Seat):
    """Thinks for long from some hand on."""

    def __init__(self, game, after, seconds):
        super().__init__(game)
        self.after, self.seconds = after, seconds

    def act(self, hand):
        if len(self.begun) > self.after:
            time.sleep(self.seconds)
        return super().act(hand)


@pytest.mark.parametrize("limits", [Limits(response=0.5), Limits(hand=0.5), Limits(match=1.0)])
def test_time_that_runs_out_ends_the_match(limits):
    with dealing(table(LIMIT, 5, limits=limits)) as (ends, dealer, heard):
        joined(ends, (Stalls(LIMIT, 2, SOON), Seat(LIMIT)))
        with pytest.raises(PeerError, match=r"seat 1 \(Alice\): expected a line in time"):
            dealer.result()
        assert len(heard.hands) == 2


def test_time_of_a_match_adds_up():
    with dealing(table(LIMIT, 1000, limits=Limits(1.0, 1.0, 1.0))) as (ends, dealer, heard):
        joined(ends, (Stalls(LIMIT, 0, 0.1), Seat(LIMIT)))
        with pytest.raises(PeerError, match=r"seat 1 \(Alice\)"):
            dealer.result()
        assert 0 < len(heard.hands) < 20


def test_who_is_out_of_time_folds_to_the_end_under_the_rules_of_2007():
    limits = Limits(response=None, hand=None, match=1.0, start=SOON)
    with dealing(table(DOYLE, 12, rules="2007", limits=limits)) as (ends, dealer, heard):
        joined(ends, (Stalls(DOYLE, 2, SOON), Seat(DOYLE)))
        score = dealer.result()
        hands = [parse_logged(DOYLE, text) for text in heard.hands]
        assert len(hands) == 12
        assert sum(score.totals) == 0
        for hand in hands[3:]:
            assert hand.hand.betting.folded is not None
        assert sum("seat 1 (Alice): expected a line in time" in note for note in heard.notes) == 1


class Crashes(Seat):
    """Leaves without a word."""

    def act(self, hand):
        raise SystemExit


@pytest.mark.parametrize("rules", ["2.0.0", "2007"])
def test_two_bots_that_both_crash(rules):
    with dealing(table(DOYLE, 50, rules=rules)) as (ends, dealer, heard):

        def crashing(end):
            try:
                play(end, Crashes(DOYLE))
            finally:
                end.close()

        for end in ends:
            Task(crashing, end)
        if rules == "2007":
            assert dealer.result().text == "SCORE:0|0:Alice|Bob"
            assert len(heard.hands) == 50
        else:
            with pytest.raises(PeerError, match=r"seat . \(\w+\): expected"):
                dealer.result()
            assert not any(text.startswith("SCORE") for text in heard.hands)


class Fails(Seat):
    """Is wrong in every way that the client has to bear."""

    def act(self, hand):
        self.heard.append(hand)
        kind = len(self.heard) % 4
        if kind == 0:
            raise ZeroDivisionError("by chance")
        return ("r1", None, "c")[kind - 1]

    def new_hand(self, hand, seat, seed):
        super().new_hand(hand, seat, seed)
        raise KeyError("new")

    def hand_over(self, hand):
        raise ValueError("over")


def test_a_bot_that_fails_goes_on_with_checks_and_folds():
    _, heard, clients, told = matched(table(NO_LIMIT, 8), [Fails(NO_LIMIT), Seat(NO_LIMIT)])
    assert len(heard.hands) == 8
    assert clients[0].faults >= 16
    assert clients[1].faults == 0
    for text in ("ZeroDivisionError: by chance", "KeyError: 'new'", "ValueError: over", "action 'r1'"):
        assert any(text in note for note in told[0]), text
    assert not warnings(heard)


# What a dealer should not do, as a client bears it.


def served(lines, bot=None, after=None, **settings):
    """A client that hears these lines and then the end: its task, and what it said."""
    notes, (here, there) = [], socket.socketpair()
    client, dealer = Connection(here, "somewhere:1"), Connection(there, "client")
    there.setblocking(True)
    settings = {"patience": SOON, "note": notes.append, **settings}

    def playing():
        with client:
            return play(client, bot or Seat(LIMIT, ("r", "r")), **settings)

    task = Task(playing)
    with dealer:
        assert dealer.receive(time.monotonic() + SOON) == b"VERSION:2.0.0"
        with suppress(OSError):  # a client that has had enough is gone
            for line in lines:
                there.sendall(line if isinstance(line, bytes) else f"{line}\r\n".encode())
            if after is not None:
                after(dealer)
            there.shutdown(socket.SHUT_WR)
        task.join(SOON)
    return task, notes


OVER = "MATCHSTATE:1:0:f:|9hQd"


def test_a_client_passes_over_what_is_no_state():
    texts = "hello", "", "#GUI x", "MATCHSTATE:1:0:", "MATCHSTATE:0:0::|AsKs"
    task, notes = served([b"\xff\x00\xfe\n", b"x" * 9000 + b"\n", *texts, OVER])
    assert task.result().hands == 1
    assert sum("ignored a line" in note for note in notes) == 7
    assert [note for note in notes if note.startswith("TO")] == ["TO VERSION:2.0.0"]


def test_a_dealer_s_control_characters_are_told_as_text():
    _, notes = served([f"{CLEARED}hello", f"{OVER}{CLEARED}", OVER])
    assert chr(27) not in "\n".join(notes)
    assert sum(r"\x1b[2J" in note for note in notes if note.startswith("FROM")) == 2


def test_a_hand_without_an_end_is_told():
    task, notes = served(["MATCHSTATE:1:9:rc/r:|9hQd/8dAs8s", "MATCHSTATE:1:11:f:|9hQd"])
    assert task.result().hands == 1
    assert [note for note in notes if note.startswith("WARNING")] == [
        "WARNING: hand 9: the dealer began another hand before the end of this hand"
    ]


def test_a_client_may_come_late_and_miss_states():
    states = ("1:9:rc/r:|9hQd/8dAs8s", "1:9:rc/rf:|9hQd/8dAs8s", "0:31:c:6sKs|")
    task, notes = served(
        [*(f"MATCHSTATE:{state}" for state in states), OVER], Seat(LIMIT, ("rc/rf", "cc/", "f"))
    )
    assert task.result().hands == 2
    assert [note.rsplit(":", 1)[1] for note in notes if note.startswith("TO M")] == ["f", "c"]


def test_states_out_of_order_begin_the_hand_anew():
    bot = Seat(LIMIT, ("cr", "cr", "rf", "f"))
    task, _ = served([*(f"MATCHSTATE:0:3:{line}:6sKs|" for line in ("c", "", "r", "c")), OVER, OVER], bot)
    assert task.result().hands == 1
    assert [hand.betting.line for hand, *_ in bot.begun] == ["c", "", "c", "f"]


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ([], "somewhere:1: the dealer closed the connection before the first hand"),
        ([OVER, "MATCHSTATE:0:1::6sKs|"], "the dealer closed the connection in hand 1"),
        (["noise"] * (MOST_STRAY + 5), "expected match states, found 1,000 other lines in a row"),
        ([b"x" * 4096 * (MOST_STRAY + 5)], "expected match states, found 1,000 other lines in a row"),
    ],
    ids=["at once", "in a hand", "noise", "no line"],
)
def test_a_server_that_vanishes_or_floods(lines, told):
    task, _ = served(lines)
    with pytest.raises(PeerError, match=told):
        task.result()


def test_a_server_that_stalls():
    begun = time.monotonic()
    task, _ = served(["MATCHSTATE:0:1::6sKs|"], after=lambda dealer: time.sleep(1.0), patience=0.3)
    with pytest.raises(PeerError, match="somewhere:1: expected a line in time, found none"):
        task.result()
    assert time.monotonic() - begun < SOON


def test_drops_of_noise_do_not_buy_time():
    def drip(dealer):
        for _ in range(100):
            dealer._source.sendall(b"noise\n")
            time.sleep(0.02)

    task, _ = served([], after=lambda dealer: Task(drip, dealer).join(SOON), patience=0.4)
    with pytest.raises(PeerError, match=r"expected a line in time, found none|found it gone"):
        task.result()


# Lines.


def test_lines_end_by_themselves_and_long_ones_come_in_pieces():
    with pair() as (here, there):
        there._source.sendall(b"a\r\nb\n\r\n" + b"x" * 10_000 + b"\nlast")
        there._source.shutdown(socket.SHUT_WR)
        found = [here.receive(time.monotonic() + SOON) for _ in range(9)]
    assert found[:3] == [b"a", b"b", b""]
    assert [len(line) for line in found[3:6]] == [4095, 4095, 1810]
    assert found[6:] == [b"last", None, None]
    with pair() as (here, there):  # a line of just the longest is whole
        there._source.sendall(b"x" * 4095 + b"\n" + b"y" * 4096 + b"\n")
        found = [here.receive(time.monotonic() + SOON) for _ in range(3)]
    assert found == [b"x" * 4095, b"y" * 4095, b"y"]


def test_who_reads_nothing_does_not_stop_the_other_end():
    def send():
        with pair() as (here, _):
            deadline = time.monotonic() + 0.3
            while True:
                here.send("x" * 4000, deadline)

    with pytest.raises(PeerError, match="peer: has not read a line in time"):
        Task(send).result()


# Going on.


def test_a_match_goes_on_from_its_transactions():
    game, hands = NO_LIMIT, 6
    _, whole, _, _ = matched(table(game, hands), [Seat(game, seed=1), Seat(game, seed=2)])
    every = parse_actions("".join(f"{text}\n" for text in whole.actions))
    for kept in (0, 1, len(every) // 2, len(every)):
        with dealing(table(game, hands), every[:kept]) as (ends, dealer, heard):
            joined(ends, (Seat(game, seed=3), Seat(game, seed=4)))
            score = dealer.result()
        done = every[kept].number if kept < len(every) else hands
        assert heard.hands[:done] == whole.hands[:done]
        assert len(heard.hands) == hands
        totals = [0, 0]
        for text in heard.hands:
            logged = parse_logged(game, text)
            for position, chips in enumerate(logged.hand.net()):
                totals[("Alice", "Bob").index(logged.names[position])] += chips
        assert score.totals == tuple(totals)


def test_transactions_of_another_match_are_refused():
    for text, told in (
        ("c 1 0 0", "expected an action of hand 0 after ''"),
        ("r 0 0 0", "expected an action of hand 0"),
    ):
        with dealing(table(NO_LIMIT, 2), parse_actions(text)) as (ends, dealer, _):
            for end in ends:
                end.send("VERSION:2.0.0")
            with pytest.raises(InputError, match=told):
                dealer.result()
    for text in ("c 0 0", "c x 0 0", "c 0 0 y", "c 0 0 nan", "c 0 inf 0", "\x00"):
        with pytest.raises(InputError, match="transaction log, line 1: expected action, hand and two times"):
            parse_actions(text)
