"""Handles signals that ask a process to end.

Ctrl-C, a `kill` and a closed terminal mean the same: save, then end. Commands import this module first, since other
imports take time.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

INTERRUPTED = 130
"""The exit code of a command that was interrupted."""
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def interrupted_by_signals() -> Iterator[None]:
    """Run a command; a signal raises KeyboardInterrupt, or ends the process during imports and after the block.

    The exit code tells of an interruption, even if code on the way has caught the exception.
    """
    interrupted = False

    def on_signal(number: int, frame: FrameType | None) -> None:
        nonlocal interrupted
        # Packages make another exception of one in the middle of their import, or go on.
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


@contextmanager
def interruptible() -> Iterator[threading.Event]:
    """Yield an event that the first signal sets; the second signal raises KeyboardInterrupt."""
    event = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield event
        return

    def on_signal(number: int, frame: FrameType | None) -> None:
        if event.is_set():
            raise KeyboardInterrupt
        event.set()

    before = {number: signal.signal(number, on_signal) for number in _heard()}
    try:
        yield event
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


@contextmanager
def deaf_children() -> Iterator[None]:
    """Block these signals within the block, so that new processes inherit the mask and ignore Ctrl-C."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def hearing_children() -> Iterator[None]:
    """Unblock these signals for processes that start within the block, so that `kill` ends them.

    In a thread other than the main thread nothing changes.
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
    pass


def _heard() -> list[signal.Signals]:
    """Return the signals to handle: all, except a hang-up that `nohup` ignores."""
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
