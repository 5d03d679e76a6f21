"""Run other people's programs, such as bots: they ignore Ctrl-C, and end with all of their processes.

Ending its process group is not enough: a process that starts a session of its own leaves the group, and a process whose
parent has ended is nobody's child. So each program gets a mark in its environment, which its children inherit. `end`
looks for the mark, for children and for the group. A process that gets rid of all three goes on: this is tidiness, not
a sandbox. Without ``/proc`` only the group ends.

A process that starts such programs may be killed, and then cannot end them. So it has a mark of its own, by which its
parent ends them.
"""

from __future__ import annotations

import os
import signal
import subprocess
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from spewy.system.interrupts import hearing_children

MARKS = "SPEWY_OUTSIDER"
"""Environment variable with a program's mark, after the marks of its ancestors."""
MOST_ROUNDS = 20
"""Largest number of rounds in which `end` looks for processes, since new ones may start meanwhile."""
END_SECONDS = 5.0
"""Seconds to wait for a killed process; another user's process, or one waiting for a disk, may stay."""
_PROC = Path("/proc")


def new_mark() -> str:
    """Make a unique mark."""
    return uuid.uuid4().hex


def marked(mark: str) -> dict[str, str]:
    """Make the environment variable that marks a new process, in addition to this process's marks."""
    return {MARKS: f"{os.environ.get(MARKS, '')}:{mark}"}


def end_marked(mark: str) -> None:
    """Kill all processes that have a mark, except this one."""
    for _ in range(MOST_ROUNDS):
        found = [number for number, _ in _running() if number != os.getpid() and _bears(number, mark)]
        _kill(found)
        if not found:
            break


def own_mark() -> str:
    """Return the mark of this process."""
    return os.environ[MARKS].rpartition(":")[2]


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
        self._mark = new_mark()
        with hearing_children():
            super().__init__(
                list(command), env=os.environ | marked(self._mark), start_new_session=True, **options
            )

    def end(self) -> None:
        """Kill the program and all processes that it started."""
        for _ in range(MOST_ROUNDS):
            started = list(self._started())
            with suppress(OSError):  # it has ended, or is another user's by now
                os.killpg(self.pid, signal.SIGKILL)
            _kill(started)
            if not started:
                break
        with suppress(subprocess.TimeoutExpired):
            self.wait(END_SECONDS)

    def _started(self) -> Iterator[int]:
        """Yield the running program and all processes with its mark or descent, without zombies."""
        parents = dict(_running())
        ours = {self.pid} if self.poll() is None else set()
        size = -1
        while size < len(ours):
            size = len(ours)
            ours |= {process for process, parent in parents.items() if parent in ours}
        for process in parents:
            if process in ours or _bears(process, self._mark):
                yield process


def _bears(process: int, mark: str) -> bool:
    with suppress(OSError):  # another user's, or it has ended
        return mark.encode() in (_PROC / str(process) / "environ").read_bytes()
    return False


def _kill(processes: Iterable[int]) -> None:
    for process in processes:
        with suppress(OSError):  # it has ended, or is another user's by now
            os.kill(process, signal.SIGKILL)


def _running() -> Iterator[tuple[int, int]]:
    """Yield the numbers of all processes and of their parents, without zombies."""
    for folder in _PROC.glob("[0-9]*"):
        with suppress(OSError, ValueError):  # the process has ended
            state, parent = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()[:2]
            if state not in "ZX":
                yield int(folder.name), int(parent)
