"""Starts and ends resource trackers: processes of Python and loky that delete the semaphores of killed processes.

A tracker reads from a pipe and ends by itself once every process that can write to the pipe has ended: its parent and
the parent's workers. So a tracker outlives its parent for a moment, on a busy machine for a tenth of a second. A
command ends its trackers and waits for them, so that none of its processes is left. A program that uses this library
keeps its trackers to its end, since it may have registered resources of its own.
"""

from __future__ import annotations

import os
import sys
import threading
import time

from spewy.system.interrupts import deaf_children

END_SECONDS = 1.0
"""Longest time in seconds that `end_trackers` waits."""
POLL_SECONDS = 0.005
"""Seconds between two checks whether a tracker has ended."""
_MODULES = ("joblib.externals.loky.backend.resource_tracker", "multiprocessing.resource_tracker")
_STARTING = threading.Lock()


def start_trackers() -> None:
    """Start the trackers of loky and Python, unless they run.

    If loky started the trackers itself, together with the first worker, they would react to Ctrl-C and to the end of
    the terminal, and print a warning for each resource that they delete.
    """
    from multiprocessing import resource_tracker

    from joblib.externals.loky.backend import resource_tracker as loky_tracker

    with _STARTING:  # all threads share the environment variables
        before = os.environ.get("PYTHONWARNINGS")
        os.environ["PYTHONWARNINGS"] = "ignore"
        try:
            with deaf_children():
                resource_tracker.ensure_running()
                loky_tracker.ensure_running()
        finally:
            del os.environ["PYTHONWARNINGS"]
            if before is not None:
                os.environ["PYTHONWARNINGS"] = before


def end_trackers() -> None:
    """End the trackers that this process has started, and wait `END_SECONDS` at most until they have ended.

    Nothing may use a tracker afterwards, so the start of a command registers this function with `atexit`, before all
    other functions: `atexit` calls it after them.
    """
    trackers = (getattr(sys.modules.get(name), "_resource_tracker", None) for name in _MODULES)
    processes = []
    for tracker in trackers:
        if tracker is None or tracker._fd is None or tracker._pid is None:
            continue
        os.close(tracker._fd)  # the tracker reads the end of its pipe, and ends
        processes.append(tracker._pid)
        tracker._fd = tracker._pid = None
    deadline = time.monotonic() + END_SECONDS
    for process in processes:
        while not _ended(process) and time.monotonic() < deadline:
            time.sleep(POLL_SECONDS)


def _ended(process: int) -> bool:
    """Whether the process with a number has ended, or is no child of this process."""
    try:
        return os.waitpid(process, os.WNOHANG)[0] == process
    except ChildProcessError:
        return True
