"""A bot that is a client of the ACPC's protocol; this process is its dealer.

A `Client` is the client at the other end of a connection; other dealers of Spewy use it, too.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from spewy.errors import InputError, PeerError, short, shown
from spewy.game.gamefile import Game
from spewy.game.hand import Hand
from spewy.match.acpc_text import COMMENTS, VERSION, is_spoken, parse_version, read_reply, state_text
from spewy.match.connection import TAIL, Connection, Listener, TimedOutError, command_words, start
from spewy.match.table import BotGoneError, decisions
from spewy.system.children import Outsider
from spewy.system.tools import Closing

HOST = "127.0.0.1"
"""Address at which the dealer listens."""
START_SECONDS = 60.0
"""Seconds that a client has to connect, unless its time limit for an answer is shorter."""
LEAVE_SECONDS = 10.0
"""Seconds that a process has to exit after the match, as in the competition."""
POLL_SECONDS = 0.1
"""Seconds between two looks at whether a client's process has ended before it connected."""
MOST_STRAY = 10
"""Largest number of stray lines (lines that answer no question) that are listed; more lines are only counted."""

Note = Callable[[str], None]


def _ignore(text: str) -> None:
    del text


class Client:
    """A client of the ACPC's protocol, at the other end of a connection.

    Args:
        connection: a new connection, on which nothing was read yet; the caller closes it.
        stray: called with a text about each line that the client has sent unasked.
    """

    def __init__(
        self, connection: Connection, stray: Note, sent: Note = _ignore, heard: Note = _ignore
    ) -> None:
        self.connection = connection
        self._stray, self._sent, self._heard = stray, sent, heard
        self._last = ""

    def version(self, deadline: float | None) -> str:
        """Receive the client's first line, which names the version of its protocol."""
        line = self.connection.receive(deadline)
        if line is None:
            raise self.connection.gone(f"{VERSION} as its first line")
        try:
            return parse_version(line)
        except InputError as error:
            raise PeerError(f"{self.connection.peer}: {error}") from None

    def send(self, hand: Hand, position: int, number: int, deadline: float | None) -> None:
        """Send the state of hand ``number``, in which the client is player ``position``."""
        self._last = state_text(hand, position, number)
        self._sent(self._last)
        self.connection.send(self._last, deadline)

    def reply(self, deadline: float | None) -> str:
        """Receive the client's answer to the last state."""
        while True:
            line = self.connection.receive(deadline)
            if line is None:
                raise self.connection.gone("an answer")
            text = line.decode("ascii", errors="backslashreplace")
            answer = read_reply(self._last, line)
            if answer is not None:
                self._heard(text)
                return answer
            if not text.startswith(COMMENTS):
                self._stray(text)


class RemoteBot(Closing):
    """A client of the ACPC's protocol as a bot.

    Args:
        command: command that starts the client; host and port are appended. Empty: the user starts the client.
        port: port to listen at; 0 means any free port.
        seconds: seconds that the client may take for each answer; None: no limit.
        begun: number of hands that were played before, which is the number of the client's first hand.
        log: file to which the client's stderr is appended; None: its stderr is discarded.

    Raises:
        PeerError: no client connects, or the client uses another version of the protocol.
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
        self._client: Client | None = None
        self._number, self._seat, self._sent = begun - 1, 0, 0
        self._gone = False
        self._strays: list[str] = []
        self._n_strays = 0
        self._listener = Listener(HOST, (port,))
        try:
            if command:
                words = [*command_words(command), HOST, str(self._listener.ports[0])]
                self._process = start(words, log=log)
            self._client = Client(self._accept(), self._strayed)
            version = self._client.version(self._deadline(START_SECONDS))
            if not is_spoken(version):
                raise PeerError(f"{name} uses {version} of the protocol, and only {VERSION} is supported")
        except BaseException:
            self.close()
            raise

    def new_hand(self, hand: Hand, seat: int, seed: int) -> None:
        # The client draws its own random numbers, so the seed is unused.
        self._number, self._seat, self._sent = self._number + 1, seat, 0

    def act(self, hand: Hand) -> str:
        deadline = self._deadline()
        try:
            return self._send(hand, deadline).reply(deadline)
        except PeerError as error:
            self._gone = True
            raise BotGoneError(str(error)) from None
        except BaseException:  # such as an interruption when the seat's time limit is over
            self._gone = True
            raise

    def hand_over(self, hand: Hand) -> None:
        try:
            self._send(hand, self._deadline())
        except PeerError as error:
            raise BotGoneError(str(error)) from None

    def take_faults(self) -> list[str]:
        """Return texts about the lines that the client has sent unasked since the last call."""
        more = self._n_strays - len(self._strays)
        faults = [*self._strays, *([f"ignored {more:,} more lines"] if more else [])]
        self._strays, self._n_strays = [], 0
        return faults

    def close(self) -> None:
        """Close the connection, and kill the client's process if it does not exit."""
        if self._client is not None:
            self._client.connection.close()
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
                    f"{self.name} ended with exit code {self._process.returncode} before it connected"
                    f"{_last_words(self._log)}"
                )

    def _send(self, hand: Hand, deadline: float | None) -> Client:
        assert self._client is not None
        states = [*(replace(public, hole=hand.hole) for public, _ in decisions(hand)), hand]
        for state in states[self._sent :]:
            self._client.send(state, self._seat, self._number, deadline)
        self._sent = len(states)
        return self._client

    def _strayed(self, text: str) -> None:
        self._n_strays += 1
        if len(self._strays) < MOST_STRAY:
            self._strays.append(f"ignored a line that does not answer the last state: {shown(text)}")


def _last_words(log: Path | None) -> str:
    """Return the last line of a log, as the end of an error message; empty if there is no log or no line."""
    if log is None:
        return ""
    with log.open("rb") as file:
        file.seek(max(log.stat().st_size - TAIL, 0))
        lines = file.read().decode(errors="replace").strip().splitlines()
    return f"; the last line on its stderr: {short(lines[-1], TAIL)}" if lines else ""


def _end(process: Outsider, patience: float) -> None:
    """Give a process some seconds to end, then kill it and its child processes, even if the wait is interrupted."""
    try:
        with suppress(subprocess.TimeoutExpired):
            process.wait(patience)
    finally:
        process.end()
