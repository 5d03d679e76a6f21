"""Starts processes that are not workers of a pool, and ends them with all processes that they have started.

`start_python` runs a module of this program. `Outsider` runs another program, such as a bot. Killing the process group
of such a program is not enough: a process can leave the group (by a new session), and a process whose parent has ended
cannot be found as a child. So each program gets a *mark*, a random text in an environment variable that its children
inherit. `Outsider.end` kills the process group and all processes with the mark. A process that has left the group and
removed the mark survives: this keeps the machine tidy, but is no sandbox. On systems without ``/proc`` only the process
group is killed.

A worker that starts such programs may itself be killed, and then cannot end the programs. So it has a mark too, by
which its parent finds the programs and kills them.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import sysconfig
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

from spewy.system.interrupts import deaf_children, when_parent_ends

Child: TypeAlias = subprocess.Popen[bytes]
"""A process that `start_python` has started."""
ORPHANED = 1
"""Exit code of a child whose parent has ended."""
HOME = os.fspath(Path(__file__).resolve().parents[2])
"""Folder that contains the packages, which a child needs on its import path."""


def start_python(
    arguments: Sequence[str], settings: Mapping[str, str] | None = None, **options: Any
) -> Child:
    """Start ``python ARGUMENTS`` as a process that ignores Ctrl-C and has no stdin and stdout.

    ``settings`` are added to the environment; ``options`` are those of `subprocess.Popen`.
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

    ``parent`` is the parent's process ID, and ``last`` is called before this process ends.
    """

    def end() -> None:
        last()
        os._exit(ORPHANED)

    when_parent_ends(parent, end)


MARKS = "SPEWY_OUTSIDER"
"""Environment variable with the mark of a program, after the marks of the processes that started it."""
MOST_ROUNDS = 20
"""How often to look for processes to kill, at most; new processes may start meanwhile."""
END_SECONDS = 5.0
"""Seconds to wait for the end of a killed process, which a slow disk may delay."""


def new_mark() -> str:
    return uuid.uuid4().hex


def marked(mark: str) -> dict[str, str]:
    """Return the environment variable `MARKS` of a new process: this process's marks and ``mark``, for `end_marked`."""
    return {MARKS: f"{os.environ.get(MARKS, '')}:{mark}"}


def end_marked(mark: str) -> None:
    """Kill all processes, except this one, in whose environment `MARKS` contains the random text ``mark``."""
    for _ in range(MOST_ROUNDS):
        found = False
        for path in Path("/proc").glob("[0-9]*/environ"):
            number = int(path.parent.name)
            with suppress(OSError):  # the process has ended, or belongs to another user
                if number != os.getpid() and mark.encode() in path.read_bytes():
                    found = True
                    os.kill(number, signal.SIGKILL)
        if not found:
            return


def own_mark() -> str:
    """Return the random text that marks this process: the programs that it starts inherit the mark."""
    return os.environ[MARKS].rpartition(":")[2]


class Outsider(subprocess.Popen[bytes]):
    """A running program that is not part of this project, such as a bot.

    Args:
        command: the program and its arguments.
        settings: environment variables to add to those of this process.
        options: options of `subprocess.Popen`.

    Raises:
        OSError: the program cannot be started.
        ValueError: an argument contains a null character.
    """

    def __init__(
        self, command: Sequence[str], settings: Mapping[str, str] | None = None, **options: Any
    ) -> None:
        self._mark = new_mark()
        variables = {**os.environ, **(settings or {}), **marked(self._mark)}
        super().__init__(list(command), env=variables, start_new_session=True, **options)

    def end(self) -> None:
        """Kill the program and all processes that it started."""
        # if the program has ended, a new process may have its number
        if self.poll() is None or not Path("/proc", str(self.pid)).exists():
            with suppress(OSError):  # the group has ended
                os.killpg(self.pid, signal.SIGKILL)
        end_marked(self._mark)
        with suppress(subprocess.TimeoutExpired):
            self.wait(END_SECONDS)
