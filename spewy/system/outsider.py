"""A program of somebody else's, such as a bot: no terminal's Ctrl-C reaches it, and all that it started ends with it.

A process group is not enough: whoever starts a session of its own leaves the group, and whoever's parent has ended
belongs to nobody. So each program gets a mark in its environment, which its children inherit, and the end looks for
the mark, for children, and for the group. Only a process that gets rid of all three goes on: this is tidiness, and
no sandbox. Where there is no ``/proc``, only the group ends.

A process that starts such programs and is killed cannot end them. So it gets a mark too, by which its parent does.
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
"""The variable of a program's mark, behind those of the programs that it runs in."""
MOST_ROUNDS = 20
"""Looks for what a program has started: it may start more while others of its processes end."""
END_SECONDS = 5.0
"""For a killed process to be gone; another user's, or one that waits for a disk, may stay."""
_PROC = Path("/proc")


def new_mark() -> str:
    """A mark that no process has."""
    return uuid.uuid4().hex


def marked(mark: str) -> dict[str, str]:
    """The environment variable of a process that is to bear a mark, beside those that this one bears."""
    return {MARKS: f"{os.environ.get(MARKS, '')}:{mark}"}


def end_marked(mark: str) -> None:
    """End all processes that bear a mark, but this one."""
    for _ in range(MOST_ROUNDS):
        found = [number for number, _ in _running() if number != os.getpid() and _bears(number, mark)]
        _kill(found)
        if not found:
            break


def own_mark() -> str:
    """The mark that this process was given."""
    return os.environ[MARKS].rpartition(":")[2]


class Outsider(subprocess.Popen[bytes]):
    """Such a program, running.

    Args:
        command: its words.
        options: of `subprocess.Popen`.

    Raises:
        OSError: it cannot be run.
        ValueError: a word has a null character.
    """

    def __init__(self, command: Sequence[str], **options: Any) -> None:
        self._mark = new_mark()
        with hearing_children():
            super().__init__(
                list(command), env=os.environ | marked(self._mark), start_new_session=True, **options
            )

    def end(self) -> None:
        """End it, and all that it started."""
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
        """Processes that bear its mark or descend from it, and are no zombies; itself only while it lives."""
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
    """All processes and their parents, without zombies."""
    for folder in _PROC.glob("[0-9]*"):
        with suppress(OSError, ValueError):  # it has ended
            state, parent = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()[:2]
            if state not in "ZX":
                yield int(folder.name), int(parent)
