"""Child processes of this Python: they run the same code as their parent, from nowhere else, and are deaf to Ctrl-C."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from spewy.system.interrupts import deaf_children

STOPPED_SECONDS = 5.0
"""Time after which a worker that a signal has stopped is killed."""
ORPHANED = 1
"""How a child exits whose parent is gone: nobody reads it."""
HOME = os.fspath(Path(__file__).resolve().parents[2])
"""The folder of our packages. A parent may have found them in its current folder, where a child does not look."""


def start_python(
    arguments: Sequence[str], settings: Mapping[str, str] | None = None, **options: Any
) -> subprocess.Popen[bytes]:
    """Start Python with these arguments; nothing is read from stdin, and nothing is written to stdout.

    Args:
        arguments: what follows the interpreter's name, such as ``-m`` and a module's.
        settings: environment variables beside those of this process.
        options: of `subprocess.Popen`.
    """
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if HOME not in paths and sysconfig.get_path("purelib") != HOME:
        paths.insert(0, HOME)
    path = os.pathsep.join(filter(None, paths))
    environment = {**os.environ, **(settings or {}), "PYTHONPATH": path, "PYTHONSAFEPATH": "1"}
    with deaf_children():
        return subprocess.Popen(
            [sys.executable, *arguments],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            **options,
        )


def end_with_parent(parent: int, last: Callable[[], object] = lambda: None) -> None:
    """Have this process end within a second after its parent, whatever it does.

    Args:
        parent: its process number, which the parent tells: it may be gone before this one has begun.
        last: called before the end.
    """

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        last()
        os._exit(ORPHANED)

    threading.Thread(target=watch, daemon=True).start()


def is_stopped(process: int) -> bool:
    """Return whether a signal has stopped a process."""
    with suppress(OSError, IndexError):
        return Path(f"/proc/{process}/stat").read_text(errors="replace").rpartition(")")[2].split()[0] == "T"
    return False
