"""The ``spewy`` command and ``python -m spewy``: signals and streams are made safe before anything else is imported."""

from __future__ import annotations

import gc
import io
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from spewy.system.interrupts import interrupted_by_signals

if TYPE_CHECKING:
    from typing import IO, Any


def main() -> None:
    """Run the command line, whatever becomes of the terminal."""
    with interrupted_by_signals():
        _leave_first_folder()
        _secure_streams()
        _start_fast()
        from spewy.cli import main as command

        command(prog_name="spewy")


def _start_fast() -> None:
    """Look for garbage less often, for imports make hundreds of thousands of objects that stay, and for no plugins."""
    gc.set_threshold(50_000, 20, 100)
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "1")


def _leave_first_folder() -> None:
    """Import nothing from the first folder, unless spewy is there: the current one, or the one of scripts."""
    if sys.flags.safe_path:
        return
    with suppress(OSError):
        if os.path.samefile(sys.path[0] or ".", os.path.dirname(os.path.dirname(__file__))):
            return
    del sys.path[0]


def _secure_streams() -> None:
    """Keep files that are opened later from the numbers of closed streams, and stderr from ending who writes there."""
    closed = [number for number in range(3) if _is_closed(number)]
    for _ in closed:
        os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # takes the lowest number that is free
    # Python's own stderr is such a text stream over a raw file where nothing shall be buffered.
    raw: IO[Any] = _Lasting(2, "w", closefd=False)
    sys.stderr = io.TextIOWrapper(raw, errors="backslashreplace", line_buffering=True, write_through=True)


def _is_closed(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return True
    return False


class _Lasting(io.FileIO):
    """A file that takes no notice when nobody can read any more what is written to it."""

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError:
            return memoryview(data).nbytes


if __name__ == "__main__":
    main()
