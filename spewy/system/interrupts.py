"""Ends this process in order: signals that ask it to end, and helper processes that must end with it.

Ctrl-C, the command `kill` and a closed terminal have the same effect: the process saves its work and ends. Commands
import this module first, so that signals during the other imports are handled too.

The helper processes are *resource trackers* of Python and loky, which delete the semaphores of killed processes. A
tracker reads from a pipe and ends by itself once every process that can write to the pipe has ended: its parent and the
parent's workers. So a tracker outlives its parent for a moment, on a busy machine for a tenth of a second. A command
ends its trackers and waits for them, so that none of its processes is left. A program that uses this library keeps its
trackers to its end, since it may have registered resources of its own.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

STARTER = "SPEWY_STARTER"
"""Environment variable of a command that shall end with the process that started it: that process's ID."""
LOOK_SECONDS = 0.5
"""Seconds between two looks at the parent process."""
INTERRUPTED = 130
"""Exit code of an interrupted command."""
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals that ask a process to end."""


@contextmanager
def interrupted_by_signals() -> Iterator[None]:
    """Run a command in a ``with`` block; a signal that asks the process to end raises KeyboardInterrupt in the block.

    During an import, and after the block, such a signal ends the process at once. An interrupted command ends with exit
    code 130, even if other code has caught the exception.
    """
    interrupted = False

    def on_signal(number: int, frame: FrameType | None) -> None:
        nonlocal interrupted
        # During their import, some packages catch the exception or replace it by another exception.
        if _importing(frame):
            _end(number, frame)
        interrupted = True
        raise KeyboardInterrupt

    for number in _heard():
        signal.signal(number, on_signal)
    try:
        yield
    except SystemExit as end:
        raise SystemExit(INTERRUPTED if interrupted and end.code else end.code) from None
    except KeyboardInterrupt:
        raise SystemExit(INTERRUPTED) from None
    finally:
        for number in _heard():
            signal.signal(number, _end)


def interrupt_without_starter() -> None:
    """Interrupt this process, as Ctrl-C would, once its parent has ended, whose process ID `STARTER` holds.

    This function does nothing if the environment variable `STARTER` is not set.
    """
    starter = os.environ.pop(STARTER, "")

    def watch() -> None:
        while os.getppid() == int(starter):
            time.sleep(LOOK_SECONDS)
        os.kill(os.getpid(), signal.SIGINT)

    if starter.isdecimal():
        threading.Thread(target=watch, daemon=True).start()


@contextmanager
def interruptible(told: str = "") -> Iterator[threading.Event]:
    """Yield an event for a ``with`` block: Ctrl-C sets the event, and a second Ctrl-C raises KeyboardInterrupt.

    The other signals that ask a process to end have the same effect. Signals are handled in the main thread only; in
    another thread the event is never set.

    Args:
        told: line that the first Ctrl-C writes to stderr; empty: none.
    """
    event = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield event
        return

    def on_signal(number: int, frame: FrameType | None) -> None:
        if event.is_set():
            raise KeyboardInterrupt
        event.set()
        if told:
            with suppress(
                OSError
            ):  # a handler may interrupt a write to sys.stderr, which it must not use then
                os.write(2, f"\n{told}\n".encode())

    before = {number: signal.signal(number, on_signal) for number in _heard()}
    try:
        yield event
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


@contextmanager
def deaf_children() -> Iterator[None]:
    """Make processes that start within the ``with`` block ignore Ctrl-C and other signals that ask a process to end."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def hearing_children() -> Iterator[None]:
    """Let `kill` and Ctrl-C end processes that start within the ``with`` block, even if this process ignores them.

    This has no effect in threads other than the main thread.
    """
    deaf = signal.pthread_sigmask(signal.SIG_BLOCK, ()) & set(SIGNALS)
    if not deaf or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, _pass_over) for number in deaf}
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, deaf)
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_BLOCK, deaf)
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


def _pass_over(number: int, frame: FrameType | None) -> None:
    """Ignore a signal."""


def _heard() -> list[signal.Signals]:
    """Return the signals to handle: all in `SIGNALS`, but not SIGHUP if `nohup` has started this process."""
    return [
        number
        for number in SIGNALS
        if number != signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN
    ]


def _end(number: int, frame: FrameType | None) -> None:
    os._exit(INTERRUPTED)


def _importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            return True
        frame = frame.f_back
    return False


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
