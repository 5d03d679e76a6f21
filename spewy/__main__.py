"""Entry point of the ``spewy`` command and of ``python -m spewy``.

It sets up signal handlers and standard streams before it imports the rest of Spewy.
"""

from __future__ import annotations

import atexit
import gc
import io
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from spewy.system.interrupts import interrupt_without_starter, interrupted_by_signals

if TYPE_CHECKING:
    from typing import IO, Any


def main() -> None:
    """Run the command line; a command whose terminal is closed still saves its work."""
    # Exempt all objects from the slow final garbage collections. The first function that is registered is called last.
    atexit.register(gc.freeze)
    with interrupted_by_signals():
        interrupt_without_starter()
        _leave_first_folder()
        _secure_streams()
        _start_fast()
        from spewy.cli import main as command

        command(prog_name="spewy")


def _start_fast() -> None:
    """Make the program start faster: run the garbage collector less often, and load no plugins of pydantic."""
    gc.set_threshold(200_000, 20, 100)  # a start makes 150,000 objects, nearly all of which stay
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "1")


def _leave_first_folder() -> None:
    """Remove the first folder of ``sys.path`` (the current folder, or that of the script) unless spewy lies in it."""
    if sys.flags.safe_path:
        return
    with suppress(OSError):
        if os.path.samefile(sys.path[0] or ".", os.path.dirname(os.path.dirname(__file__))):
            return
    del sys.path[0]


def _secure_streams() -> None:
    """Open closed standard streams on the null device, and make stderr ignore errors of writing."""
    closed = [number for number in range(3) if _is_closed(number)]
    for _ in closed:
        os.set_inheritable(
            os.open(os.devnull, os.O_RDWR), True
        )  # gets the lowest free number, a closed stream's
    # Python builds its own stderr in this way if output is unbuffered.
    raw: IO[Any] = _Lasting(2, "w", closefd=False)
    sys.stderr = io.TextIOWrapper(raw, errors="backslashreplace", line_buffering=True, write_through=True)


def _is_closed(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return True
    return False


class _Lasting(io.FileIO):
    """A file that ignores errors of writing, such as after its reader has ended."""

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError:
            return memoryview(data).nbytes


if __name__ == "__main__":
    main()
