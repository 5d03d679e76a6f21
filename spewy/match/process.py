"""Start other people's programs, exchange lines with them, and kill them with all of their child processes.

A program's stderr goes to a log, never to the terminal.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from spewy.errors import InputError, path_text, shown
from spewy.match.connection import MOST_OF_LINE, Connection
from spewy.system.children import Outsider

END_SECONDS = 1.0
"""Seconds to wait for the exit code of a program that closed its stdout."""
TAIL = 400
"""Largest number of characters from the end of a log that an error quotes."""


@dataclass(frozen=True)
class Usage:
    """Resources that a process has used; 0 if the system provides no figure.

    Attributes:
        cpu: seconds of processor time.
        mib: largest memory in MiB.
    """

    cpu: float
    mib: float


class Program(Connection):
    """A running program that reads lines from its stdin and writes lines to its stdout.

    Args:
        command: the program and its arguments.
        peer: name of the program in messages.
        folder: working folder of the program; None: that of this process.
        log: file to which the program's stderr is appended; None: its stderr is discarded.
        merged: whether the program's stderr is sent to this process together with its stdout.
        most: largest number of bytes in a line.

    Raises:
        InputError: the command cannot be run, or the log cannot be written.
    """

    def __init__(
        self,
        command: Sequence[str],
        peer: str,
        *,
        folder: Path | None = None,
        log: Path | None = None,
        merged: bool = False,
        most: int = MOST_OF_LINE,
    ) -> None:
        self._process = start(command, folder=folder, log=log, pipes=True, merged=merged)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._pipes = self._process.stdin, self._process.stdout
        sink, source = (pipe.fileno() for pipe in self._pipes)
        os.set_blocking(sink, False)
        super().__init__(source, peer, sink, most)

    @property
    def exit_code(self) -> int | None:
        """The program's exit code; None while it runs."""
        return self._process.poll()

    @property
    def end_text(self) -> str:
        """How the program ended, as the end of an error message: its exit code, or that its stdout closed."""
        with suppress(subprocess.TimeoutExpired):
            return f"that it ended with exit code {self._process.wait(END_SECONDS)}"
        return "its stdout closed"

    def usage(self) -> Usage:
        """Processor time and memory of the program, without its child processes."""
        return Usage(_cpu_seconds(self._process.pid), _peak_mib(self._process.pid))

    def wait(self, deadline: float) -> None:
        """Wait for the program's end, at most until a deadline of `time.monotonic`."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(max(deadline - time.monotonic(), 0.0))

    def leave(self, seconds: float) -> bool:
        """Give the program some seconds to end, then kill it; return whether it ended by itself in time."""
        self.wait(time.monotonic() + seconds)
        ended = self._process.poll() is not None
        self.close()
        return ended

    def end(self) -> None:
        """Kill the program and its child processes; lines that the program has written can still be read."""
        self._process.end()

    def close(self) -> None:
        """Kill the program and its child processes, and close its pipes."""
        self.end()
        for pipe in self._pipes:
            with suppress(OSError):
                pipe.close()
        self.ended = True
        self._source = self._sink = -1  # the system may give these descriptors to other files


def start(
    command: Sequence[str],
    *,
    folder: Path | None = None,
    log: Path | None = None,
    pipes: bool = False,
    merged: bool = False,
) -> Outsider:
    """Start a program in a process group of its own.

    Args:
        command: the program and its arguments.
        folder: working folder of the program; None: that of this process.
        log: file to which the program's stderr is appended; None: its stderr is discarded.
        pipes: whether the program's stdin and stdout are pipes; if not, stdin is empty and stdout is discarded.
        merged: whether the program's stderr goes to its stdout.

    Raises:
        InputError: the command cannot be run, or the log cannot be written.
    """
    ends = subprocess.PIPE if pipes else subprocess.DEVNULL
    try:
        with open(os.devnull if log is None else log, "ab") as errors:
            return Outsider(
                command,
                cwd=folder,
                stdin=ends,
                stdout=ends,
                stderr=subprocess.STDOUT if merged else errors,
                bufsize=0,
            )
    except (OSError, ValueError) as error:
        subject = f"command {shown(shlex.join(command))} cannot be run"
        if isinstance(error, OSError) and log is not None and error.filename == str(log):
            subject = f"file {path_text(log)} cannot be written"
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise InputError(f"{subject}: {reason}") from None


def command_words(command: str) -> list[str]:
    """Split a command into words, as a shell does.

    Raises:
        InputError: the command has no words, or a quote that is not closed.
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise InputError(f"command {shown(command)} cannot be run: {error}") from None
    if not words:
        raise InputError(f"command {shown(command)} cannot be run: it has no words")
    return words


def _peak_mib(process: int) -> float:
    try:
        status = Path(f"/proc/{process}/status").read_text(encoding="ascii", errors="replace")
        return int(status.split("VmHWM:")[1].split()[0]) / 1024
    except (OSError, IndexError, ValueError):
        return 0.0


def _cpu_seconds(process: int) -> float:
    try:
        fields = (
            Path(f"/proc/{process}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2]
        )
        user, system = fields.split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError):
        return 0.0
