"""Processes that help take no notice of Ctrl-C: it reaches the whole group, and the parent decides when to stop."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


def deafen() -> None:
    """Take no notice of Ctrl-C from now on."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def deaf() -> Iterator[None]:
    """Ignore Ctrl-C for a moment: processes that are started meanwhile inherit that they ignore it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)
    deafen()
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
