"""Starts Python processes that run the same code as their parent and ignore Ctrl-C."""

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
"""A worker that has been paused by a signal (SIGSTOP) for this number of seconds is killed."""
ORPHANED = 1
"""Exit code of a child whose parent has ended."""
HOME = os.fspath(Path(__file__).resolve().parents[2])
"""Folder that contains the packages, which a child needs on its import path."""


def start_python(
    arguments: Sequence[str], settings: Mapping[str, str] | None = None, **options: Any
) -> subprocess.Popen[bytes]:
    """Start a Python process that ignores Ctrl-C and has no stdin and stdout.

    Args:
        arguments: arguments of the interpreter, such as ``-m`` and the name of a module.
        settings: environment variables to add to those of this process.
        options: options of `subprocess.Popen`.
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
    """Make this process end within a second after its parent ends, whatever this process is doing.

    Args:
        parent: process ID of the parent, as the parent itself knows it: `os.getppid` returns another number if the
            parent has already ended.
        last: function to call before this process ends.
    """

    def watch() -> None:
        """Wait in a thread until the parent ends, then end this process."""
        while os.getppid() == parent:
            time.sleep(0.5)
        last()
        os._exit(ORPHANED)

    threading.Thread(target=watch, daemon=True).start()


def is_stopped(process: int) -> bool:
    """Whether a process is paused by a signal such as SIGSTOP."""
    with suppress(OSError, IndexError):
        return Path(f"/proc/{process}/stat").read_text(errors="replace").rpartition(")")[2].split()[0] == "T"
    return False
