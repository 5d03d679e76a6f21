"""A bot behind a connection: a client of the ACPC's protocol, to which this is the dealer."""

from __future__ import annotations

import shlex
import subprocess
import time
from contextlib import suppress
from dataclasses import replace

from spewy.errors import InputError, PeerError, shown
from spewy.game.gamefile import Game
from spewy.game.hand import Hand
from spewy.match.acpc_text import COMMENTS, VERSION, is_spoken, parse_version, read_reply, state_text
from spewy.match.connection import Doors, Lines, TimedOutError
from spewy.match.replay import decisions
from spewy.match.table import BotGoneError
from spewy.system.closing import Closing
from spewy.system.outsider import Outsider

HOST = "127.0.0.1"
START_SECONDS = 60.0
"""For a client to connect, unless it may take less for an answer."""
LEAVE_SECONDS = 10.0
"""For a process to end after the match; the competition gives as many."""
POLL_SECONDS = 0.1
MOST_STRAY = 10
"""Most lines out of turn that are listed for a hand; further lines are counted only."""


class RemoteBot(Closing):
    """A client.

    Args:
        game: what is played.
        name: what messages call it.
        command: that is run with a host and a port behind it; empty: somebody else starts the client.
        port: that is listened at; 0: any that is free.
        seconds: that an answer may take.
        begun: hands that were played before; the client's are numbered from there.

    Raises:
        InputError: the command cannot be run.
        PeerError: nobody connects, or it speaks another protocol.
    """

    def __init__(
        self, game: Game, name: str, command: str, port: int, seconds: float, begun: int = 0
    ) -> None:
        self.game, self.name, self.seconds = game, name, seconds
        self._process: Outsider | None = None
        self._lines: Lines | None = None
        self._number, self._seat, self._sent = begun - 1, 0, 0
        self._gone = False
        self._strays: list[str] = []
        self._n_strays = 0
        self._doors = Doors(HOST, (port,))
        try:
            if command:
                self._process = _started(command, self._doors.ports[0])
            self._lines = self._met()
            self._greet(self._lines)
        except BaseException:
            self.close()
            raise

    def new_hand(self, hand: Hand, seat: int, seed: int) -> None:
        """A hand begins; the client draws as it likes."""
        self._number, self._seat, self._sent = self._number + 1, seat, 0

    def act(self, hand: Hand) -> str:
        """The client's answer.

        Raises:
            BotGoneError: there is none in time, or ever.
        """
        deadline = time.monotonic() + self.seconds
        try:
            sent = self._tell(hand, deadline)
            return self._reply(sent, deadline)
        except PeerError as error:
            self._gone = True
            raise BotGoneError(str(error)) from None
        except BaseException:  # the table's own clock is ahead of the deadline
            self._gone = True
            raise

    def hand_over(self, hand: Hand) -> None:
        """Tell how it ended.

        Raises:
            BotGoneError: nobody hears it.
        """
        try:
            self._tell(hand, time.monotonic() + self.seconds)
        except PeerError as error:
            raise BotGoneError(str(error)) from None

    def take_faults(self) -> list[str]:
        """Lines since the last call that did not answer the state that the client was sent."""
        more = self._n_strays - len(self._strays)
        told = [*self._strays, *([f"passed over {more:,} more lines"] if more else [])]
        self._strays, self._n_strays = [], 0
        return told

    def close(self) -> None:
        """Close the connection, which ends the match, and the process if it stays."""
        if self._lines is not None:
            self._lines.close()
        self._doors.close()
        if self._process is not None:
            _ended(self._process, 0.0 if self._gone else LEAVE_SECONDS)
            self._process = None

    def _met(self) -> Lines:
        deadline = time.monotonic() + min(self.seconds, START_SECONDS)
        while True:
            try:
                return self._doors.accept(0, self.name, min(time.monotonic() + POLL_SECONDS, deadline))
            except TimedOutError:
                if time.monotonic() >= deadline:
                    raise
            if self._process is not None and self._process.poll() is not None:
                code = self._process.returncode
                raise PeerError(f"{self.name}: expected to connect, found that it ended with {code}")

    def _greet(self, lines: Lines) -> None:
        version = heard_version(lines, time.monotonic() + min(self.seconds, START_SECONDS))
        if not is_spoken(version):
            raise PeerError(
                f"{self.name}: expected a client that speaks {VERSION}, found one that speaks {version}"
            )

    def _tell(self, hand: Hand, deadline: float) -> str:
        """Send the states that the client has not seen; the last of them."""
        assert self._lines is not None
        states = [*(replace(public, hole=hand.hole) for public, _ in decisions(hand)), hand]
        text = ""
        for state in states[self._sent :]:
            text = state_text(state, self._seat, self._number)
            self._lines.send(text, deadline)
        self._sent = len(states)
        return text

    def _reply(self, sent: str, deadline: float) -> str:
        assert self._lines is not None
        while True:
            line = self._lines.receive(deadline)
            if line is None:
                raise PeerError(f"{self.name}: expected an answer, found the connection closed")
            answer = read_reply(sent, line)
            if answer is not None:
                return answer
            told = line.decode("ascii", errors="backslashreplace")
            if not told.startswith(COMMENTS):
                self._n_strays += 1
                if len(self._strays) < MOST_STRAY:
                    self._strays.append(
                        f"passed over a line that answers another state or none: {shown(told)}"
                    )


def heard_version(lines: Lines, deadline: float | None) -> str:
    """Receive a client's first line, which is the version that it speaks.

    Raises:
        PeerError: the line is no version, or does not come in time.
    """
    line = lines.receive(deadline)
    if line is None:
        raise PeerError(f"{lines.peer}: expected {VERSION} as its first line, found the connection closed")
    try:
        return parse_version(line)
    except InputError as error:
        raise PeerError(f"{lines.peer}: {error}") from None


def _started(command: str, port: int) -> Outsider:
    """Start a client's command, with host and port behind it."""
    try:
        return Outsider(
            [*shlex.split(command), HOST, str(port)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
        )
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise InputError(f"command {shown(command)}: expected one that can be run, found: {reason}") from None


def _ended(process: Outsider, patience: float) -> None:
    """Wait for a process, or end it with all that it started; it also ends where the waiting is cut short."""
    try:
        with suppress(subprocess.TimeoutExpired):
            process.wait(patience)
    finally:
        process.end()
