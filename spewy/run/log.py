"""The log in a solve's folder, with a line for each start, check, save and stop of every run."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from spewy.errors import InputError, error_line, path_text
from spewy.records.status import LOG, STOP
from spewy.system.textfile import require_regular
from spewy.system.tools import Closing


class LogFile(Closing):
    """The log of a solve.

    Args:
        folder: the folder of the solve, whose lock this process holds.

    Raises:
        InputError: the log cannot be written.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / LOG
        self._descriptor = -1
        with suppress(FileNotFoundError):
            require_regular(self._path, f"file {path_text(self._path)}")
        try:
            self._descriptor = os.open(
                self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644
            )
        except OSError as error:
            raise InputError(f"log {path_text(self._path)} cannot be written: {error.strerror}") from error

    def write(self, event: str, text: str = "") -> None:
        """Add a line: the time, the event ("start", "check", "save" or "stop"), and a text."""
        words = " ".join(f"{event:<6}{text}".split("\n")).rstrip()
        line = f"{time.strftime('%Y-%m-%d %H:%M:%S')} {words}\n".encode(errors="backslashreplace")
        try:
            written = os.write(self._descriptor, line)
            if written < len(line):  # the disk is full: writing the rest raises the error
                os.write(self._descriptor, line[written:])
        except OSError as error:
            error.filename = os.fspath(self._path)
            raise

    def close(self) -> None:
        """Close the file."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


@contextmanager
def logged(folder: Path) -> Iterator[LogFile]:
    """Yield the log of a solve; if the block raises an error, the log ends with a line that names the error.

    Raises:
        InputError: the log cannot be written.
    """
    with LogFile(folder) as log:
        try:
            yield log
        except BaseException as error:
            with suppress(OSError):  # such as a full disk, which may be the failure itself
                log.write(STOP, _failure(error))
            raise


def _failure(error: BaseException) -> str:
    """Describe the error that ended a solve."""
    if isinstance(error, KeyboardInterrupt):
        return "stopped at once by an interruption"
    return f"failed, {error_line(error)}"
