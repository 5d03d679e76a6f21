"""Who sits at a HIGC referee's table: programs over their stdin and stdout, and players of this process.

Whatever a program does, it is a `PeerError` at most: it reads nothing, floods, ends, or starts others.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import time
from abc import abstractmethod
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random

from spewy.competitions.higc.session import Brain, Talk
from spewy.competitions.higc.text import Dialect, State
from spewy.errors import InputError, PeerError, path_text, shown
from spewy.match.pipes import PipeReader, write_line
from spewy.system.closing import Closing
from spewy.system.outsider import Outsider

WRITE_SECONDS = 5.0
"""For a program to read what it is sent."""


class Peer(Closing):
    """One player at a table.

    Attributes:
        name: what logs call it.
    """

    name: str

    @abstractmethod
    def tell(self, line: str) -> None:
        """Say a line.

        Raises:
            PeerError: nobody hears it.
        """

    @abstractmethod
    def line(self) -> str | None:
        """The next line that it said; None: it said no more. Nothing is waited for.

        Raises:
            PeerError: it is gone, and all that it said was heard.
        """

    @property
    def file(self) -> int | None:
        """A descriptor that can be read when it says something; None: it answers at once."""
        return None

    @abstractmethod
    def leave(self, seconds: float) -> bool:
        """Wait for its end; whether it ended in time. It is ended if not."""


class Local(Peer):
    """A player of this process.

    Args:
        name: what logs call it.
        prepare: makes its brain for a game's name and a seat.
        dialect: which is spoken.
        seed: of what it draws where its brain fails.
        errors: a file that what went wrong is added to; None: nobody reads it.
    """

    def __init__(
        self,
        name: str,
        prepare: Callable[[str, int], Brain],
        dialect: Dialect,
        seed: int,
        errors: Path | None = None,
    ) -> None:
        self.name = name
        self._errors = errors
        self.faults: list[str] = []
        self._talk = Talk(prepare, dialect, self.faults.append, seed)
        self._said: list[str] = []

    def tell(self, line: str) -> None:
        """Say a line, which is answered at once."""
        self._said += self._talk.hear(line)

    def line(self) -> str | None:
        """The next line that it answered."""
        return self._said.pop(0) if self._said else None

    def leave(self, seconds: float) -> bool:
        """It ends when it is told to."""
        self.close()
        return True

    def close(self) -> None:
        """Close the brain."""
        self._talk.close()
        if self._errors is not None and self.faults:
            with self._errors.open("a", encoding="utf-8") as file:
                file.write("".join(f"{fault}\n" for fault in self.faults))
            self.faults.clear()


class RandomBrain:
    """Does anything that is legal, each as often.

    Args:
        seed: of what is drawn.
    """

    def __init__(self, seed: int) -> None:
        self._rng = Random(seed)

    def new_match(self) -> None:
        """A match begins."""

    def see(self, state: State) -> None:
        """The next state."""

    def act(self, legal: tuple[int, ...]) -> int:
        """A legal action."""
        return self._rng.choice(legal)

    def close(self) -> None:
        """Give back nothing."""


class Program(Peer):
    """A program over pipes.

    Args:
        name: name in logs.
        command: the program and its arguments.
        errors: file to which the program's stderr is added; None if nobody reads its stderr.

    Raises:
        InputError: the command cannot be run.
    """

    def __init__(self, name: str, command: str, errors: Path | None = None) -> None:
        self.name = name
        self._process = _started(command, errors)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._stdin = self._process.stdin.fileno()
        os.set_blocking(self._stdin, False)
        self._reader = PipeReader(self._process.stdout.fileno(), name)

    def tell(self, line: str) -> None:
        """Write a line.

        Raises:
            PeerError: it does not read it.
        """
        write_line(self._stdin, line, self.name, time.monotonic() + WRITE_SECONDS)

    def line(self) -> str | None:
        """The next line that it wrote.

        Raises:
            PeerError: it closed its stdout.
        """
        line = self._reader.next()
        if line is None and not self._reader.ended and self._reader.wait(time.monotonic()):
            line = self._reader.next()
        if line is None and self._reader.ended:
            raise PeerError(f"{self.name}: expected to be there, found that it ended with {self._code()}")
        return None if line is None else line.decode("ascii", errors="backslashreplace")

    @property
    def file(self) -> int | None:
        """Of its stdout."""
        return self._reader.file

    def leave(self, seconds: float) -> bool:
        """Wait for its end."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)
        left = self._process.poll() is not None
        self.close()
        return left

    def close(self) -> None:
        """End it with all that it started."""
        self._process.end()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()

    def _code(self) -> str:
        with suppress(subprocess.TimeoutExpired):
            return f"exit code {self._process.wait(1.0)}"
        return "its stdout closed"


def _started(command: str, errors: Path | None) -> Outsider:
    try:
        words = shlex.split(command)
        if not words:
            raise ValueError("no words")
        with open(os.devnull if errors is None else errors, "ab") as told:
            return Outsider(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=told, bufsize=0)
    except (OSError, ValueError) as error:
        subject = f"command {shown(command)}"
        if isinstance(error, OSError) and errors is not None and error.filename == str(errors):
            subject = f"file {path_text(errors)}"
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise InputError(f"{subject}: expected one that can be used, found: {reason}") from error
