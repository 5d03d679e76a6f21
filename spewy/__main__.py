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
    """Run the command line, even if the terminal goes away."""
    with interrupted_by_signals():
        _leave_first_folder()
        _secure_streams()
        _start_fast()
        from spewy.cli import main as command

        command(prog_name="spewy")


def _start_fast() -> None:
    """Run the garbage collector rarely, since imported objects stay, and load no pydantic plugins."""
    gc.set_threshold(50_000, 20, 100)
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "1")


def _leave_first_folder() -> None:
    """Remove the first import folder (the current one or that of scripts), unless it contains spewy."""
    if sys.flags.safe_path:
        return
    with suppress(OSError):
        if os.path.samefile(sys.path[0] or ".", os.path.dirname(os.path.dirname(__file__))):
            return
    del sys.path[0]


def _secure_streams() -> None:
    """Reopen closed standard streams, and make stderr ignore writing errors."""
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
    """A file that ignores writing errors after its reader has gone."""

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError:
            return memoryview(data).nbytes


if __name__ == "__main__":
    main()
