"""A dealer as the competition's reference dealer is: its messages, log, time limits, and what it does with bad replies.

Two sets of rules: ``2.0.0``, the reference dealer's; ``2007``, the first competition's, where a player may fold where a
check is free, and for a player out of time, or gone, the dealer folds to the end. Seats are numbers on the command
line, 0 and 1, positions those of players; the seats change positions after each hand.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from spewy.errors import InputError, PeerError, shown, visible
from spewy.game.gamefile import Game
from spewy.game.hand import Hand
from spewy.match.acpc_text import (
    COMMENTS,
    VERSION,
    LoggedHand,
    Score,
    check_name,
    is_spoken,
    read_action,
    read_reply,
    state_text,
)
from spewy.match.cards import Dealt, deals
from spewy.match.connection import Doors, Lines
from spewy.match.remote import heard_version

RulesName = Literal["2.0.0", "2007"]
MOST_WARNINGS = 1000
"""Told of a match: a client may send nonsense for as long as it has time."""
TOLD_EVERY = 100
"""Hands after which the time that was used is told."""

Note = Callable[[str], None]


@dataclass(frozen=True)
class Limits:
    """Seconds that a seat may take; None: any time.

    Attributes:
        response: for one answer.
        hand: for all its answers in one hand.
        match: for all its answers.
        start: for both seats to connect, and once more for both to tell their version.
    """

    response: float | None = 600.0
    hand: float | None = 600.0
    match: float | None = None
    start: float | None = None


@dataclass(frozen=True)
class Table:
    """A match to be dealt.

    Attributes:
        name: of the match.
        game: what is played.
        hands: how many.
        seed: of the cards.
        names: of the players by seat.
        limits: of time.
        rules: which rules.
        fixed: whether seats keep their positions.
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
        """Check names, hands and seed."""
        if not self.name or not self.name.isprintable():
            raise InputError(f"match: expected a name on one line, found {shown(self.name)}")
        for name in self.names:
            check_name(name)
        if self.hands < 1:
            raise InputError(f"hands: expected at least 1, found {shown(self.hands)}")
        next(deals(self.game, self.seed))

    def position(self, seat: int, number: int) -> int:
        """Where a seat sits in a hand; as well the seat of a position."""
        return seat if self.fixed else (seat + number) % 2


@dataclass(frozen=True)
class Action:
    """A line of the transaction log: what was done in which hand, when it was asked for, and when it came."""

    action: str
    number: int
    sent: float
    received: float

    @property
    def text(self) -> str:
        """The line."""
        return f"{self.action} {self.number} {self.sent:.6f} {self.received:.6f}"


def parse_actions(text: str) -> list[Action]:
    """Read a transaction log.

    Raises:
        InputError: a line is none of it.
    """
    found = []
    for number, line in enumerate(text.splitlines(), start=1):
        try:
            action, hand, sent, received = line.split()
            found.append(Action(action, int(hand), float(sent), float(received)))
            if not math.isfinite(found[-1].sent + found[-1].received):  # no clock could go on from there
                raise ValueError
        except ValueError:
            raise InputError(
                f"transaction log, line {number}: expected action, hand and two times, found {shown(line)}"
            ) from None
    return found


@dataclass(frozen=True)
class Logs:
    """Who hears what: messages, lines of the match's log, and transactions."""

    note: Note
    hand: Note
    action: Note


def meet(doors: Doors, table: Table) -> tuple[Lines, Lines]:
    """Wait for both players.

    Raises:
        PeerError: one does not come in time.
    """
    start = table.limits.start
    deadline = None if start is None else time.monotonic() + start
    first = doors.accept(0, seat_name(table, 0), deadline)
    try:
        return first, doors.accept(1, seat_name(table, 1), deadline)
    except BaseException:
        first.close()
        raise


def seat_name(table: Table, seat: int) -> str:
    """A seat as messages call it."""
    return f"seat {seat + 1} ({table.names[seat]})"


class Dealer:
    """Deals a match to two players who are connected.

    Args:
        table: the match.
        lines: to the players, by seat; nothing was read yet.
        logs: who hears of it.
        before: actions of an earlier run of this match, which are played again without asking anybody.
    """

    def __init__(
        self, table: Table, lines: Sequence[Lines], logs: Logs, before: Sequence[Action] = ()
    ) -> None:
        self.table = table
        self._lines = lines
        self._logs = logs
        self._before = list(reversed(before))
        self._clocks = [_Clock(table.limits) for _ in lines]
        self._gone = [False for _ in lines]
        self._warnings = 0

    def play(self) -> Score:
        """Deal all hands.

        Raises:
            PeerError: a player is gone or out of time, and the rules end the match.
            InputError: the actions of the earlier run are not of this match.
        """
        totals = [0, 0]
        self._logs.note(f"STARTED at {_now()}")
        start = self.table.limits.start
        deadline = None if start is None else time.monotonic() + start
        for seat in (0, 1):
            self._greet(seat, deadline)
        for number, dealt in zip(
            range(self.table.hands), deals(self.table.game, self.table.seed), strict=False
        ):
            over = self._hand(number, dealt)
            for seat in (0, 1):
                totals[seat] += over.net()[self.table.position(seat, number)]
            if (number + 1) % TOLD_EVERY == 0:
                self._tell_time(number + 1)
        if self._before:
            raise InputError(f"transaction log: expected {self.table.hands} hands, found more")
        self._logs.note(f"FINISHED at {_now()}")
        return Score((totals[0], totals[1]), self.table.names)

    def _greet(self, seat: int, deadline: float | None) -> None:
        """Receive a client's version; after an unsupported version the match goes on, as with the reference dealer."""
        version = heard_version(self._lines[seat], deadline)
        if not is_spoken(version):
            self._warn(f"ERROR: {self._lines[seat].peer}: expected {VERSION}, found {version}")

    def _hand(self, number: int, dealt: Dealt) -> Hand:
        for clock in self._clocks:
            clock.hand = 0.0
        hand = _dealt(Hand.start(self.table.game, dealt.hole), dealt)
        while not hand.is_over:
            action = self._replayed(hand, number) if self._before else self._asked(hand, number)
            hand = hand.given_up() if action == "f" else hand.apply(action)
            hand = _dealt(hand, dealt)
        if not self._before:
            self._tell(hand, number)
        first, second = (self.table.names[self.table.position(p, number)] for p in (0, 1))
        self._logs.hand(LoggedHand(number, hand, (first, second)).text)
        return hand

    def _replayed(self, hand: Hand, number: int) -> str:
        action = self._before.pop()
        if action.number != number or read_action(hand, action.action, self._free_folds)[0] != action.action:
            raise InputError(
                f"transaction log: expected an action of hand {number} after {hand.betting.line!r}, "
                f"found {shown(action.text)}"
            )
        assert hand.to_act is not None
        self._clocks[self.table.position(hand.to_act, number)].add(action.received - action.sent)
        return action.action

    def _asked(self, hand: Hand, number: int) -> str:
        """What the player to act does."""
        assert hand.to_act is not None
        seat = self.table.position(hand.to_act, number)
        self._tell(hand, number)
        sent = time.time()
        action = "f" if self._gone[seat] else self._answer(seat, hand, number)
        self._logs.action(Action(action, number, sent, time.time()).text)
        return action

    def _tell(self, hand: Hand, number: int) -> None:
        """Send a state to both seats."""
        for seat in (0, 1):
            if self._gone[seat]:
                continue
            text = state_text(hand, self.table.position(seat, number), number)
            self._logs.note(f"TO {seat + 1} at {_now()} {text}")
            try:
                self._lines[seat].send(text, self._clocks[seat].start())
            except PeerError as error:
                if hand.is_over:  # a client may leave before the last state
                    self._note_gone(seat, error)
                else:
                    self._leave(seat, error)

    def _answer(self, seat: int, hand: Hand, number: int) -> str:
        sent = state_text(hand, self.table.position(seat, number), number)
        clock = self._clocks[seat]
        deadline = clock.start()
        begun = time.monotonic()
        try:
            answer = self._reply(seat, sent, deadline)
            clock.add(time.monotonic() - begun)
        except PeerError as error:
            self._leave(seat, error)
            return "f"
        action, wrong = read_action(hand, answer, self._free_folds)
        if wrong is not None:
            self._warn(f"WARNING: {self._lines[seat].peer}: bad action, {wrong}; taken for {action}")
        return action

    def _reply(self, seat: int, sent: str, deadline: float | None) -> str:
        while True:
            line = self._lines[seat].receive(deadline)
            if line is None:
                raise PeerError(f"{self._lines[seat].peer}: expected an answer, found the connection closed")
            told = line.decode("ascii", errors="backslashreplace")
            answer = read_reply(sent, line)
            if answer is not None:
                self._logs.note(f"FROM {seat + 1} at {_now()} {visible(told)}")
                return answer
            if not told.startswith(COMMENTS):
                self._warn(f"WARNING: {self._lines[seat].peer}: passed over: {shown(told)}")

    def _leave(self, seat: int, error: PeerError) -> None:
        """A player is out of time or gone: the end of the match, or of that player's part in it."""
        if self.table.rules != "2007":
            raise error
        self._note_gone(seat, error)

    def _note_gone(self, seat: int, error: PeerError) -> None:
        self._logs.note(f"ERROR: {error}")
        self._gone[seat] = True

    @property
    def _free_folds(self) -> bool:
        return self.table.rules == "2007"

    def _warn(self, text: str) -> None:
        self._warnings += 1
        if self._warnings <= MOST_WARNINGS:
            self._logs.note(text)
        if self._warnings == MOST_WARNINGS:
            self._logs.note("WARNING: no further warnings are told")

    def _tell_time(self, number: int) -> None:
        used = " ".join(f"{clock.match:.3f}" for clock in self._clocks)
        self._logs.note(f"hand {number}: seconds used by the seats: {used}")


class _Clock:
    """What a seat has used of its time."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.hand = 0.0
        self.match = 0.0

    def start(self) -> float | None:
        """When an answer that is asked for now is too late."""
        limits = self.limits
        left = [
            limit - used
            for limit, used in ((limits.response, 0.0), (limits.hand, self.hand), (limits.match, self.match))
            if limit is not None
        ]
        return time.monotonic() + min(left) if left else None

    def add(self, seconds: float) -> None:
        self.hand += seconds
        self.match += seconds


def _dealt(hand: Hand, dealt: Dealt) -> Hand:
    """The hand with all public cards that come before anybody acts."""
    while hand.to_deal:
        hand = hand.deal(dealt.board[len(hand.board) : len(hand.board) + hand.to_deal])
    return hand


def _now() -> str:
    return f"{time.time():.6f}"
