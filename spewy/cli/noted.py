"""Where bots at a table tell what happens: a log, and stderr for what went wrong."""

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
    """What hears the client and the bot's warnings: all of it goes to the log, what went wrong to stderr too."""
    with line_writer(log, add=True) as write:

        def note(text: str) -> None:
            write(f"{time.time():.6f} {one_line(text)}")
            if text.startswith(("WARNING", "ERROR")):
                say(text)

        handler, logger = _Heard(note), logging.getLogger("spewy")
        logger.addHandler(handler)
        try:
            yield note
        finally:
            logger.removeHandler(handler)


class _Heard(logging.Handler):
    """Writes the bot's warnings, with the traces of errors, to the log that has the client's lines."""

    def __init__(self, note: Callable[[str], None]) -> None:
        super().__init__(logging.WARNING)
        self._note = note

    def emit(self, record: logging.LogRecord) -> None:
        self._note(f"{record.levelname} {record.getMessage()}")
        if record.exc_info:
            for line in "".join(traceback.format_exception(*record.exc_info)).splitlines():
                self._note(f"TRACE {line}")
