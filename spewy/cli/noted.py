"""Log of a bot at a table, with a copy of warnings and errors on stderr."""

from __future__ import annotations

import logging
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from spewy.cli.files import line_writer
from spewy.cli.progress import say
from spewy.errors import one_line


@contextmanager
def noted(log: Path | None) -> Iterator[Callable[[str], None]]:
    """Yield a function that writes a line to the log, with the time; warnings and errors are also printed on stderr.

    The bot's own messages, which come through `logging`, are treated in this way too.
    """
    with line_writer(log, add=True) as write:

        def note(text: str) -> None:
            write(f"{time.time():.6f} {one_line(text)}")
            if text.startswith(("WARNING", "ERROR")):
                say(text)

        handler, logger = _LogHandler(note), logging.getLogger("spewy")
        level = logger.level
        if log is not None and not logger.isEnabledFor(logging.INFO):
            logger.setLevel(logging.INFO)
        logger.addHandler(handler)
        try:
            yield note
        finally:
            logger.removeHandler(handler)
            logger.setLevel(level)


class _LogHandler(logging.Handler):
    """Writes the messages of the package ``spewy``, with tracebacks, into a log."""

    def __init__(self, note: Callable[[str], None]) -> None:
        super().__init__(logging.INFO)
        self._note = note

    def emit(self, record: logging.LogRecord) -> None:
        self._note(f"{record.levelname} {record.getMessage()}")
        if record.exc_info:
            for line in "".join(traceback.format_exception(*record.exc_info)).splitlines():
                self._note(f"TRACE {line}")
