"""Lists the processes in the process group of a command, on Linux."""

import os
import time
from contextlib import suppress
from pathlib import Path

GONE_SECONDS = 20.0
"""A tracker ends a moment after its parent; a busy machine may take this long."""
TRACKER = "resource_tracker"
"""Part of the command line of the processes that delete semaphores; see `spewy.system.processes`."""
WORKER = "popen_loky"
"""Part of the command line of a worker of a local pool."""


def running_in(group):
    """Command lines of the processes of a group, by number, but for those that have ended."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended
            state, _, of_group = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()[:3]
            if int(of_group) == group and state not in "ZX":
                found[int(folder.name)] = (folder / "cmdline").read_text(errors="replace").replace("\0", " ")
    return found


def seconds_of_workers(group):
    """Seconds of a core that each worker of a group has used."""
    found = []
    for number, command in running_in(group).items():
        if WORKER in command:
            with suppress(OSError):
                times = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[11:13]
                found.append(sum(map(int, times)) / os.sysconf("SC_CLK_TCK"))
    return found


def slowness():
    """How many times as long as on an idle machine a computation takes, at least 1."""
    begun, used = time.monotonic(), time.process_time()
    while time.process_time() - used < 0.2:
        pass
    return max(1.0, (time.monotonic() - begun) / 0.2)


def assert_ended(group):
    """Assert that nothing of a group outlives its leader, but for trackers, which end a moment later."""
    left = running_in(group)
    # a process without a command line is about to end
    assert all(TRACKER in command for command in left.values() if command), left
    deadline = time.monotonic() + GONE_SECONDS
    while left and time.monotonic() < deadline:
        time.sleep(0.05)
        left = running_in(group)
    assert not left
