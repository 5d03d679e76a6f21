"""Signals that ask this process to end.

Ctrl-C, the command `kill` and a closed terminal have the same effect: the process saves its work and ends. Commands
import this module first, so that signals during the other imports are handled too.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

STARTER = "SPEWY_STARTER"
"""Environment variable with the ID of the process that started a command, if the command is to end with it."""
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
    if starter.isdecimal():
        when_parent_ends(int(starter), lambda: os.kill(os.getpid(), signal.SIGINT))


def when_parent_ends(parent: int, then: Callable[[], object]) -> None:
    """Call a function, in a thread, within a second after this process's parent has ended.

    ``parent`` is the parent's process ID as the parent itself knows it: `os.getppid` returns another number if the
    parent has already ended.
    """

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(LOOK_SECONDS)
        then()

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
