"""Dealers, clients and bots at one table, without a network: socket pairs and threads."""

import socket
import threading
from contextlib import contextmanager
from random import Random

from spewy.competitions.acpc.client import play
from spewy.competitions.acpc.dealer import Dealer, Limits, Logs, Terms
from spewy.game.gamefile import load_game
from spewy.match.connection import Connection, connect

LIMIT = load_game("holdem.limit.2p.reverse_blinds")
NO_LIMIT = load_game("holdem.nolimit.2p.reverse_blinds")
DOYLE = load_game("doyle")
SOON = 20.0
"""Seconds after which a test gives up waiting."""

LIMIT_HAND = """
S MATCHSTATE:1:0::|9hQd
C MATCHSTATE:1:0::|9hQd:r
S MATCHSTATE:1:0:r:|9hQd
S MATCHSTATE:1:0:rc/:|9hQd/8dAs8s
S MATCHSTATE:1:0:rc/r:|9hQd/8dAs8s
C MATCHSTATE:1:0:rc/r:|9hQd/8dAs8s:c
S MATCHSTATE:1:0:rc/rc/:|9hQd/8dAs8s/4h
S MATCHSTATE:1:0:rc/rc/r:|9hQd/8dAs8s/4h
C MATCHSTATE:1:0:rc/rc/r:|9hQd/8dAs8s/4h:r
S MATCHSTATE:1:0:rc/rc/rr:|9hQd/8dAs8s/4h
S MATCHSTATE:1:0:rc/rc/rrc/:|9hQd/8dAs8s/4h/6d
S MATCHSTATE:1:0:rc/rc/rrc/r:|9hQd/8dAs8s/4h/6d
C MATCHSTATE:1:0:rc/rc/rrc/r:|9hQd/8dAs8s/4h/6d:c
S MATCHSTATE:1:0:rc/rc/rrc/rc:5d5c|9hQd/8dAs8s/4h/6d
S MATCHSTATE:0:1::6sKs|
S MATCHSTATE:0:1:c:6sKs|
C MATCHSTATE:0:1:c:6sKs|:r
"""
"""Hand 0 of seed 0 and the start of hand 1, as the bot of seat 2 sees it."""
LIMIT_LINES = ("rc/rc/rrc/rc", "crf")
LIMIT_LOG = "STATE:0:rc/rc/rrc/rc:5d5c|9hQd/8dAs8s/4h/6d:90|-90:Alice|Bob"

NO_LIMIT_HAND = """
S MATCHSTATE:0:5::KhTh|
S MATCHSTATE:0:5:c:KhTh|
C MATCHSTATE:0:5:c:KhTh|:c
S MATCHSTATE:0:5:cc/:KhTh|/9c8d5c
C MATCHSTATE:0:5:cc/:KhTh|/9c8d5c:r4351
S MATCHSTATE:0:5:cc/r4351:KhTh|/9c8d5c
S MATCHSTATE:0:5:cc/r4351r9434:KhTh|/9c8d5c
C MATCHSTATE:0:5:cc/r4351r9434:KhTh|/9c8d5c:r19492
S MATCHSTATE:0:5:cc/r4351r9434r19492:KhTh|/9c8d5c
S MATCHSTATE:0:5:cc/r4351r9434r19492c/:KhTh|/9c8d5c/Qd
C MATCHSTATE:0:5:cc/r4351r9434r19492c/:KhTh|/9c8d5c/Qd:r19948
S MATCHSTATE:0:5:cc/r4351r9434r19492c/r19948:KhTh|/9c8d5c/Qd
S MATCHSTATE:0:5:cc/r4351r9434r19492c/r19948f:KhTh|/9c8d5c/Qd
"""
NO_LIMIT_LINES = ("f", "f", "f", "f", "f", "cc/r4351r9434r19492c/r19948f")
NO_LIMIT_LOG = "STATE:5:cc/r4351r9434r19492c/r19948f:KhTh|8s7d/9c8d5c/Qd:19492|-19492:Bob|Alice"


def script(transcript):
    """A transcript as (who, line)."""
    return [tuple(line.split(" ", 1)) for line in transcript.strip().splitlines()]


class Seat:
    """A stand-in bot: plays given lines of betting, or at random, and keeps what it heard."""

    def __init__(self, game, lines=None, seed=0):
        self.game, self.lines, self.seed = game, lines, seed
        self.begun, self.heard, self.over = [], [], []
        self.rng = Random(seed)

    def new_hand(self, hand, seat, seed):
        self.begun.append((hand, seat, seed))

    def act(self, hand):
        self.heard.append(hand)
        if self.lines is None:
            return random_action(hand, self.rng)
        line, done = self.lines[len(self.begun) - 1], hand.betting.line
        assert line.startswith(done), (line, done)
        rest = line[len(done) :]
        end = 1
        while end < len(rest) and rest[end].isdigit():
            end += 1
        return rest[:end]

    def hand_over(self, hand):
        self.over.append(hand)

    def close(self):
        pass


def random_action(hand, rng):
    """Some legal action."""
    choices = ["c", "c", "f"] if hand.betting.can_fold else ["c", "c"]
    bounds = hand.betting.raise_bounds()
    if bounds is not None:
        total = rng.choice((bounds[0], bounds[1], rng.randint(*bounds)))
        choices += ["r" if hand.game.limit else f"r{total}"]
    return rng.choice(choices)


class Heard:
    """Logs of a dealer as lists."""

    def __init__(self):
        self.notes, self.hands, self.actions = [], [], []
        self.logs = Logs(self.notes.append, self.hands.append, self.actions.append)


def table(game, hands, seed=0, **settings):
    """A table with Alice and Bob, who are waited for a few seconds."""
    settings.setdefault("limits", Limits(SOON, SOON, SOON, SOON))
    return Terms("test", game, hands, seed, ("Alice", "Bob"), **settings)


@contextmanager
def pair(name="peer"):
    """The two ends of a connection."""
    here, there = socket.socketpair()
    with Connection(here, name) as a, Connection(there, "dealer") as b:
        yield a, b


class Task(threading.Thread):
    """A function in a thread, and what came of it."""

    def __init__(self, function, *args, **options):
        super().__init__(daemon=True)
        self.call = lambda: function(*args, **options)
        self.value = self.error = None
        self.start()

    def run(self):
        try:
            self.value = self.call()
        except BaseException as error:
            self.error = error

    def result(self):
        self.join(SOON)
        assert not self.is_alive(), "expected an end in time, found it still running"
        if self.error is not None:
            raise self.error
        return self.value


def client(port, bot):
    """A client in a thread."""

    def playing():
        with connect("127.0.0.1", port, SOON) as lines:
            return play(lines, bot, patience=SOON)

    return Task(playing)


@contextmanager
def dealing(table, before=()):
    """A dealer in a thread: the two clients' ends of its connections, its task, and what it told."""
    heard = Heard()
    with pair("seat 1 (Alice)") as (first, alice), pair("seat 2 (Bob)") as (second, bob):

        def run():
            try:
                return Dealer(table, (first, second), heard.logs, before).play()
            finally:
                first.close()
                second.close()

        yield (alice, bob), Task(run), heard


def matched(table, bots):
    """A match between two bots over the protocol: score, what the dealer told, and what the clients said and heard."""
    with dealing(table) as (ends, dealer, heard):
        told = ([], [])
        clients = [
            Task(play, end, bot, patience=SOON, note=notes.append)
            for end, bot, notes in zip(ends, bots, told, strict=True)
        ]
        score = dealer.result()
        return score, heard, [client.result() for client in clients], told
