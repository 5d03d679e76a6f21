"""Signals that ask a process to end: what each part of it makes of them.

Ctrl-C, a `kill` and a terminal that closes mean the same: save, then end. Imported before anything that takes time.
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
    """Run a command: every such signal raises KeyboardInterrupt; while it imports, and afterwards, it ends the process.

    Whatever an interruption is turned into on its way, the exit code tells of it.
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
    """Turn the first signal into an event to be looked at between visits; the next one interrupts for good."""
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
    """Start processes that never hear of these signals, which a terminal sends to all: they inherit the mask."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def hearing_children() -> Iterator[None]:
    """Start processes that a `kill` ends, also from a process that is deaf itself, which it stays.

    In another thread than the main one they are as deaf as that.
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
    """All but a hang-up that `nohup` has the process ignore."""
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
