"""A bot behind a connection: a client of the ACPC's protocol, for which this process acts as the dealer."""

from __future__ import annotations

import subprocess
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from spewy.errors import InputError, PeerError, short, shown
from spewy.game.gamefile import Game
from spewy.game.hand import Hand
from spewy.match.acpc_text import COMMENTS, VERSION, is_spoken, parse_version, read_reply, state_text
from spewy.match.connection import Connection, Listener, TimedOutError
from spewy.match.process import TAIL, command_words, start
from spewy.match.seat import BotGoneError
from spewy.match.table import decisions
from spewy.system.closing import Closing
from spewy.system.outsider import Outsider

HOST = "127.0.0.1"
START_SECONDS = 60.0
"""Seconds that a client has to connect, unless its limit for an answer is shorter."""
LEAVE_SECONDS = 10.0
"""Seconds that a process has to exit after the match, as in the competition."""
POLL_SECONDS = 0.1
MOST_STRAY = 10
"""Largest number of lines out of turn that are listed per hand; further lines are only counted."""


class RemoteBot(Closing):
    """A client of the ACPC's protocol as a bot.

    Args:
        game: the game to play.
        name: name of the client in messages.
        command: command to run with host and port behind it; empty if somebody else starts the client.
        port: port to listen at; 0 takes any free port.
        seconds: time limit of an answer; None: no limit.
        begun: number of hands that were played earlier; the client's hands are numbered from there.
        log: file that the client's stderr is added to; None: stderr is dropped.

    Raises:
        InputError: the command cannot be run.
        PeerError: no client connects, or the client speaks another protocol.
    """

    def __init__(
        self,
        game: Game,
        name: str,
        command: str,
        port: int,
        seconds: float | None,
        begun: int = 0,
        log: Path | None = None,
    ) -> None:
        self.game, self.name, self.seconds = game, name, seconds
        self._log = log
        self._process: Outsider | None = None
        self._connection: Connection | None = None
        self._number, self._seat, self._sent = begun - 1, 0, 0
        self._gone = False
        self._strays: list[str] = []
        self._n_strays = 0
        self._listener = Listener(HOST, (port,))
        try:
            if command:
                words = [*command_words(command), HOST, str(self._listener.ports[0])]
                self._process = start(words, log=log)
            self._connection = self._accept()
            self._greet(self._connection)
        except BaseException:
            self.close()
            raise

    def new_hand(self, hand: Hand, seat: int, seed: int) -> None:
        """Begin a hand; the client draws its own random numbers."""
        self._number, self._seat, self._sent = self._number + 1, seat, 0

    def act(self, hand: Hand) -> str:
        """Return the client's answer.

        Raises:
            BotGoneError: the client does not answer in time, or never will.
        """
        deadline = self._deadline()
        try:
            sent = self._send(hand, deadline)
            return self._reply(sent, deadline)
        except PeerError as error:
            self._gone = True
            raise BotGoneError(str(error)) from None
        except BaseException:  # the table's own clock is ahead of the deadline
            self._gone = True
            raise

    def hand_over(self, hand: Hand) -> None:
        """Send the client the end of a hand.

        Raises:
            BotGoneError: the client reads nothing.
        """
        try:
            self._send(hand, self._deadline())
        except PeerError as error:
            raise BotGoneError(str(error)) from None

    def take_faults(self) -> list[str]:
        """Return the client's lines out of turn since the last call."""
        more = self._n_strays - len(self._strays)
        faults = [*self._strays, *([f"passed over {more:,} more lines"] if more else [])]
        self._strays, self._n_strays = [], 0
        return faults

    def close(self) -> None:
        """Close the connection, and kill the process if it does not exit."""
        if self._connection is not None:
            self._connection.close()
        self._listener.close()
        if self._process is not None:
            _end(self._process, 0.0 if self._gone else LEAVE_SECONDS)
            self._process = None

    def _deadline(self, most: float | None = None) -> float | None:
        limits = [limit for limit in (self.seconds, most) if limit is not None]
        return time.monotonic() + min(limits) if limits else None

    def _accept(self) -> Connection:
        deadline = time.monotonic() + min(self.seconds or START_SECONDS, START_SECONDS)
        while True:
            try:
                return self._listener.accept(0, self.name, min(time.monotonic() + POLL_SECONDS, deadline))
            except TimedOutError:
                if time.monotonic() >= deadline:
                    raise
            if self._process is not None and self._process.poll() is not None:
                raise PeerError(
                    f"{self.name}: expected to connect, found that it ended with {self._process.returncode}"
                    f"{_last_words(self._log)}"
                )

    def _greet(self, connection: Connection) -> None:
        version = receive_version(connection, self._deadline(START_SECONDS))
        if not is_spoken(version):
            raise PeerError(
                f"{self.name}: expected a client that speaks {VERSION}, found one that speaks {version}"
            )

    def _send(self, hand: Hand, deadline: float | None) -> str:
        """Send the states that the client has not received; return the last one."""
        assert self._connection is not None
        states = [*(replace(public, hole=hand.hole) for public, _ in decisions(hand)), hand]
        text = ""
        for state in states[self._sent :]:
            text = state_text(state, self._seat, self._number)
            self._connection.send(text, deadline)
        self._sent = len(states)
        return text

    def _reply(self, sent: str, deadline: float | None) -> str:
        assert self._connection is not None
        while True:
            line = self._connection.receive(deadline)
            if line is None:
                raise self._connection.gone("an answer")
            answer = read_reply(sent, line)
            if answer is not None:
                return answer
            text = line.decode("ascii", errors="backslashreplace")
            if not text.startswith(COMMENTS):
                self._n_strays += 1
                if len(self._strays) < MOST_STRAY:
                    self._strays.append(
                        f"passed over a line that answers another state or none: {shown(text)}"
                    )


def receive_version(connection: Connection, deadline: float | None) -> str:
    """Receive a client's first line, which names the version of its protocol.

    Raises:
        PeerError: the line is no version, or does not arrive in time.
    """
    line = connection.receive(deadline)
    if line is None:
        raise connection.gone(f"{VERSION} as its first line")
    try:
        return parse_version(line)
    except InputError as error:
        raise PeerError(f"{connection.peer}: {error}") from None


def _last_words(log: Path | None) -> str:
    """Describe the end of a log for an error; empty if nothing was logged."""
    if log is None:
        return ""
    with log.open("rb") as file:
        file.seek(max(log.stat().st_size - TAIL, 0))
        lines = file.read().decode(errors="replace").strip().splitlines()
    return f"; its last words: {short(lines[-1], TAIL)}" if lines else ""


def _end(process: Outsider, patience: float) -> None:
    """Wait for a process, then kill it with its child processes, even if the wait is interrupted."""
    try:
        with suppress(subprocess.TimeoutExpired):
            process.wait(patience)
    finally:
        process.end()
