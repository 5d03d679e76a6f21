"""A program of other people, such as a bot: Ctrl-C does not reach it, and all processes that it started end with it.

Ending its process group is not enough: a process that starts a session of its own leaves the group, and a process whose
parent has ended is nobody's child. So each program gets a mark in its environment, which its children inherit. `end`
looks for the mark, for children and for the group. A process that gets rid of all three goes on: this is tidiness, not
a sandbox. Without ``/proc`` only the group ends.
"""

from __future__ import annotations

import os
import signal
import subprocess
import uuid
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from spewy.system.interrupts import deaf_children

MARKS = "SPEWY_OUTSIDER"
"""Environment variable with a program's mark, after the marks of the programs that started it."""
MOST_ROUNDS = 20
"""Most rounds in which `end` looks for processes: a program may start new ones while others end."""
_PROC = Path("/proc")


class Outsider(subprocess.Popen[bytes]):
    """A running program of other people.

    Args:
        command: the program and its arguments.
        options: options of `subprocess.Popen`.

    Raises:
        OSError: the command cannot be run.
        ValueError: a word of the command has a null character.
    """

    def __init__(self, command: Sequence[str], **options: Any) -> None:
        self._mark = uuid.uuid4().hex
        marks = f"{os.environ.get(MARKS, '')}:{self._mark}"
        with deaf_children():
            super().__init__(
                list(command), env={**os.environ, MARKS: marks}, start_new_session=True, **options
            )

    def end(self) -> None:
        """Kill the program and all processes that it started."""
        for _ in range(MOST_ROUNDS):
            started = list(self._started())
            with suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)
            for process in started:
                with suppress(OSError):  # the process has ended, or its number is another user's process now
                    os.kill(process, signal.SIGKILL)
            if not started:
                break
        self.wait()

    def _started(self) -> Iterator[int]:
        """Processes that bear the program's mark or descend from it, zombies excluded; also itself while it runs."""
        parents = dict(_running())
        ours = {self.pid} if self.poll() is None else set()
        size = -1
        while size < len(ours):
            size = len(ours)
            ours |= {process for process, parent in parents.items() if parent in ours}
        for process in parents:
            if process in ours or self._is_marked(process):
                yield process

    def _is_marked(self, process: int) -> bool:
        with suppress(OSError):  # the process is another user's, or has ended
            return self._mark.encode() in (_PROC / str(process) / "environ").read_bytes()
        return False


def _running() -> Iterator[tuple[int, int]]:
    """The numbers of all processes that are no zombies, each with its parent's."""
    for folder in _PROC.glob("[0-9]*"):
        with suppress(OSError, ValueError):  # the process has ended
            state, parent = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()[:2]
            if state not in "ZX":
                yield int(folder.name), int(parent)
