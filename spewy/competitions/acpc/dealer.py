"""A dealer like the ACPC's reference dealer: the same messages, log, time limits and treatment of bad replies.

There are two sets of rules. ``2.0.0`` are the reference dealer's rules. ``2007`` are the rules of the first
competition: a player may fold where a check is free, and the dealer folds every remaining hand of a player who is out
of time or has disconnected. The seats 0 and 1 are the players in the order of the command line; their positions in a
hand swap after each hand.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from spewy.errors import InputError, PeerError, shown, visible
from spewy.game.gamefile import Game
from spewy.game.hand import Hand
from spewy.match.acpc_text import (
    VERSION,
    FinalScore,
    LoggedHand,
    check_name,
    is_spoken,
    read_action,
)
from spewy.match.connection import Connection, Listener
from spewy.match.remote import Client, Note
from spewy.match.table import Dealt, Table, deals

RulesName = Literal["2.0.0", "2007"]
MOST_WARNINGS = 1000
"""Largest number of warnings in a match, because a client may send nonsense until its time is over."""
TIMES_EVERY = 100
"""Number of hands after which the seats' used time is reported."""


@dataclass(frozen=True)
class Limits:
    """Time limits of each player in seconds; None: no limit.

    Attributes:
        start: time for both players to connect, and again for both players to send their protocol version.
    """

    response: float | None = 600.0
    hand: float | None = 600.0
    match: float | None = None
    start: float | None = None

    def starts(self) -> float | None:
        """Return the deadline ``start`` seconds from now, by `time.monotonic`; None: no limit."""
        return None if self.start is None else time.monotonic() + self.start


@dataclass(frozen=True)
class Terms:
    """Specification of a match that the dealer deals.

    Attributes:
        names: names of the players by seat.
        fixed: whether each seat keeps its position in all hands.
    """

    name: str
    game: Game
    hands: int
    seed: int
    names: tuple[str, str]
    limits: Limits = Limits()
    rules: RulesName = "2.0.0"
    fixed: bool = False

    def __post_init__(self) -> None:
        if not self.name or not self.name.isprintable():
            raise InputError(f"match: expected a name on one line, found {shown(self.name)}")
        for name in self.names:
            check_name(name)
        if self.hands < 1:
            raise InputError(f"hands: expected at least 1, found {shown(self.hands)}")
        next(deals(self.game, self.seed))

    def position(self, seat: int, number: int) -> int:
        """Return the position that a seat has in hand ``number``; the same rule converts a position to its seat."""
        return seat if self.fixed else (seat + number) % 2

    def seat_name(self, seat: int) -> str:
        return f"seat {seat + 1} ({self.names[seat]})"


@dataclass(frozen=True)
class Action:
    """An action in the transaction log of a match, with the times of the question and of the answer.

    Attributes:
        sent: time when the player was asked, in seconds since the epoch.
        received: time when the answer arrived, in seconds since the epoch.
    """

    action: str
    number: int
    sent: float
    received: float

    @property
    def text(self) -> str:
        return f"{self.action} {self.number} {self.sent:.6f} {self.received:.6f}"


def parse_actions(text: str) -> list[Action]:
    """Read the actions of a match from the text of its transaction log; lines that begin with # are skipped."""
    actions = []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith("#"):
            continue
        try:
            action, hand, sent, received = line.split()
            actions.append(Action(action, int(hand), float(sent), float(received)))
            if not math.isfinite(actions[-1].sent + actions[-1].received):  # a clock needs finite times
                raise ValueError
        except ValueError:
            raise InputError(
                f"transaction log, line {number}: expected action, hand and two times, found {shown(line)}"
            ) from None
    return actions


@dataclass(frozen=True)
class Logs:
    """Functions that receive the dealer's output.

    Attributes:
        hand: receives each hand as a line of the match's log.
        action: receives each line of the transaction log.
    """

    note: Note
    hand: Note
    action: Note


def accept_both(listener: Listener, terms: Terms) -> tuple[Connection, Connection]:
    deadline = terms.limits.starts()
    first = listener.accept(0, terms.seat_name(0), deadline)
    try:
        return first, listener.accept(1, terms.seat_name(1), deadline)
    except BaseException:
        first.close()
        raise


class Dealer:
    """Deals a match to two connected players.

    Args:
        connections: new connections to the players, by seat; nothing was read yet.
        before: actions of an interrupted run of this match; the dealer repeats them without asking the players.
    """

    def __init__(
        self, terms: Terms, connections: Sequence[Connection], logs: Logs, before: Sequence[Action] = ()
    ) -> None:
        self.terms = terms
        self._logs = logs
        self._clients = [self._client(seat, connection) for seat, connection in enumerate(connections)]
        self._before = list(reversed(before))
        self._clocks = [_Clock(terms.limits) for _ in connections]
        self._gone = [False, False]
        self._warnings = 0

    def play(self) -> FinalScore:
        totals = [0, 0]
        self._logs.note(f"STARTED at {_now()}")
        deadline = self.terms.limits.starts()
        for client in self._clients:
            # An unsupported version only causes a warning, as in the reference dealer.
            version = client.version(deadline)
            if not is_spoken(version):
                self._warn(f"ERROR: {client.connection.peer}: expected {VERSION}, found {version}")
        cards = deals(self.terms.game, self.terms.seed)
        for number, dealt in zip(range(self.terms.hands), cards, strict=False):
            result = self._hand(number, dealt)
            for seat in (0, 1):
                totals[seat] += result[self.terms.position(seat, number)]
            if (number + 1) % TIMES_EVERY == 0:
                used = " ".join(f"{clock.match:.3f}" for clock in self._clocks)
                self._logs.note(f"hand {number + 1}: seconds used by the seats: {used}")
        if self._before:
            raise InputError(f"transaction log: expected {self.terms.hands} hands, found more")
        self._logs.note(f"FINISHED at {_now()}")
        return FinalScore((totals[0], totals[1]), self.terms.names)

    def _client(self, seat: int, connection: Connection) -> Client:
        return Client(
            connection,
            lambda text: self._warn(f"WARNING: {connection.peer}: ignored a line: {shown(text)}"),
            lambda text: self._logs.note(f"TO {seat + 1} at {_now()} {text}"),
            lambda text: self._logs.note(f"FROM {seat + 1} at {_now()} {visible(text)}"),
        )

    def _hand(self, number: int, dealt: Dealt) -> tuple[int, int]:
        """Deal hand ``number`` and play it to its end; return the chips that each position won."""
        for clock in self._clocks:
            clock.hand = 0.0
        # Under both sets of rules the dealer folds for a player who is gone, even where a check is free.
        table = Table(self.terms.game, dealt, free_folds=True)
        while not table.is_over:
            ask = self._replayed if self._before else self._asked
            table.step(ask(table.hand, number))
        if not self._before:
            self._send_state(table.hand, number)
        first, second = (self.terms.names[self.terms.position(p, number)] for p in (0, 1))
        self._logs.hand(LoggedHand(number, table.hand, (first, second)).text)
        return table.result

    def _replayed(self, hand: Hand, number: int) -> str:
        """Return the next action of the interrupted run instead of an answer; raise an error if it does not fit."""
        action = self._before.pop()
        legal, _ = read_action(hand, action.action, self.terms.rules == "2007")
        if action.number != number or legal != action.action:
            raise InputError(
                f"transaction log: expected an action of hand {number} after {hand.betting.line!r}, "
                f"found {shown(action.text)}"
            )
        assert hand.to_act is not None
        self._clocks[self.terms.position(hand.to_act, number)].add(action.received - action.sent)
        return action.action

    def _asked(self, hand: Hand, number: int) -> str:
        """Ask the player to act in hand ``number`` for an action, and log the action; a player who is gone folds."""
        assert hand.to_act is not None
        seat = self.terms.position(hand.to_act, number)
        self._send_state(hand, number)
        sent = time.time()
        action = "f" if self._gone[seat] else self._answer(seat, hand)
        self._logs.action(Action(action, number, sent, time.time()).text)
        return action

    def _send_state(self, hand: Hand, number: int) -> None:
        for seat in (0, 1):
            if self._gone[seat]:
                continue
            position, deadline = self.terms.position(seat, number), self._clocks[seat].deadline()
            try:
                self._clients[seat].send(hand, position, number, deadline)
            except PeerError as error:
                if hand.is_over:  # a client may leave before the last state
                    self._note_gone(seat, error)
                else:
                    self._leave(seat, error)

    def _answer(self, seat: int, hand: Hand) -> str:
        clock, begun = self._clocks[seat], time.monotonic()
        try:
            answer = self._clients[seat].reply(clock.deadline())
            clock.add(time.monotonic() - begun)
        except PeerError as error:
            self._leave(seat, error)
            return "f"
        action, wrong = read_action(hand, answer, self.terms.rules == "2007")
        if wrong is not None:
            self._warn(
                f"WARNING: {self._clients[seat].connection.peer}: bad action, {wrong}; the dealer plays {action}"
            )
        return action

    def _leave(self, seat: int, error: PeerError) -> None:
        """Handle a player who is out of time or gone: end the match, or fold for this player from now on."""
        if self.terms.rules != "2007":
            raise error
        self._note_gone(seat, error)

    def _note_gone(self, seat: int, error: PeerError) -> None:
        self._logs.note(f"ERROR: {error}")
        self._gone[seat] = True

    def _warn(self, text: str) -> None:
        self._warnings += 1
        if self._warnings <= MOST_WARNINGS:
            self._logs.note(text)
        if self._warnings == MOST_WARNINGS:
            self._logs.note("WARNING: further warnings are not shown")


@dataclass
class _Clock:
    limits: Limits
    hand: float = 0.0
    match: float = 0.0

    def deadline(self) -> float | None:
        """Return the deadline, by `time.monotonic`, of an answer that is requested now; None: no limit."""
        used = (self.limits.response, 0.0), (self.limits.hand, self.hand), (self.limits.match, self.match)
        remaining = [limit - seconds for limit, seconds in used if limit is not None]
        return time.monotonic() + min(remaining) if remaining else None

    def add(self, seconds: float) -> None:
        self.hand += seconds
        self.match += seconds


def _now() -> str:
    return f"{time.time():.6f}"
