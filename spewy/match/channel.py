"""Channels on which this process and a program that plays, the *peer*, send each other lines of text.

Deadlines are times of `time.monotonic`. Failures are raised as a `PeerError` that names the peer.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Iterable

from spewy.errors import PeerError
from spewy.system.tools import Closing


class TimedOutError(PeerError):
    """The peer did not read or answer in time."""


class Channel(Closing):
    """A channel on which this process and a peer send each other lines.

    Attributes:
        peer: name of the peer in messages.
        ended: whether the peer has closed its side, so that no more bytes arrive.
    """

    peer: str
    ended: bool = False

    @abstractmethod
    def send(self, text: str, deadline: float | None = None) -> None:
        """Send a line.

        Raises:
            PeerError: the peer is gone, or has not read the line by the deadline.
        """

    @abstractmethod
    def receive(self, deadline: float | None = None) -> bytes | None:
        """Wait for the next line, and return it without its line ending; None after the last line.

        Raises:
            PeerError: no line arrived before the deadline, or the connection broke.
        """

    @abstractmethod
    def poll(self) -> bytes | None:
        """Return the next line if it has already arrived, else None."""

    @property
    def file(self) -> int | None:
        """File descriptor that becomes readable when the peer sends something; None for a peer in this process."""
        return None

    @property
    def end_text(self) -> str:
        """Words that end an error message: how the connection to the peer ended."""
        return "the connection closed"

    def leave(self, seconds: float) -> bool:
        """Give the peer some seconds to end, then close the channel; return whether the peer ended in time."""
        self.close()
        return True

    def gone(self, expected: str) -> PeerError:
        """Return the error for a peer that ended before it sent ``expected``, such as "an answer"."""
        return PeerError(f"{self.peer}: expected {expected}, found {self.end_text}")


class LocalChannel(Channel):
    """A channel to a player in this process, which answers each line at once.

    Args:
        peer: name of the player in messages.
        hear: function that returns the player's answers to a line.
        on_close: called by `close`.
    """

    def __init__(
        self, peer: str, hear: Callable[[str], Iterable[str]], on_close: Callable[[], None] = lambda: None
    ) -> None:
        self.peer = peer
        self._hear, self._on_close = hear, on_close
        self._answers = deque[str]()

    def send(self, text: str, deadline: float | None = None) -> None:
        """Give the player a line, and keep its answers for `receive`."""
        self._answers.extend(self._hear(text))

    def receive(self, deadline: float | None = None) -> bytes | None:
        """Return the next answer.

        Raises:
            PeerError: the player has given no answer.
        """
        line = self.poll()
        if line is None:
            raise PeerError(f"{self.peer}: expected an answer, found none")
        return line

    def poll(self) -> bytes | None:
        """Return the next answer, or None if no answer is left."""
        return self._answers.popleft().encode() if self._answers else None

    def close(self) -> None:
        """Call ``on_close``, which closes the player."""
        self._on_close()
