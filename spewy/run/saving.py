"""The schedule of saves: a killed solve loses little work, and saving takes a small share of the time."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from spewy.errors import size_text
from spewy.learn.engine import Engine

SAVE_SECONDS, BACKGROUND_SECONDS = 30.0, 300.0
"""Default seconds between two saves, for engines that wait for a save and for engines that save in the background."""
FIRST_SECONDS = 30.0
"""Seconds before the first background save, so that a kill soon after the start loses little."""
LARGE = 256 * 2**20
"""Size in bytes from which a save, or the memory of a solve, takes seconds, so that the user is told of the work."""
SAVE_SPEED = 150e6  # assumed bytes per second of the first save
SAVE_SHARE = 20.0  # the work between two saves takes at least this many times as long as a save
FIRST_SHARE = (
    4.0  # the work before the first save takes this many times as long as the save is expected to take
)


class Saving:
    """Decides when an engine saves, and begins the saves; the first save of a solve comes early.

    Args:
        engine: the engine whose work is saved.
        every: seconds between two saves; None: the default, which is longer if saves take long; infinity: the engine
            saves at the end only.
        expected_bytes: expected size of a save in bytes.
        note: called with a text before a large save for which the solve waits; None: large saves are not announced.

    Attributes:
        saved: number of sweeps or deals in the last save.
    """

    def __init__(
        self,
        engine: Engine,
        every: float | None,
        expected_bytes: int,
        note: Callable[[str], None] | None = None,
    ) -> None:
        self._engine, self._every, self._bytes, self._note = engine, every, expected_bytes, note
        self._expected = expected_bytes / SAVE_SPEED
        self._background = engine.saves == "in background"
        self._since = time.perf_counter()
        self.saved = engine.saved()

    def save_if_due(self, seconds: float) -> bool:
        """Save, or begin a background save, if the last save is old enough.

        Args:
            seconds: seconds of work so far, in all runs.

        Returns:
            Whether a save has finished since the last call.
        """
        before, self.saved = self.saved, self._engine.saved()
        if time.perf_counter() - self._since >= self._pause():
            self.begin(seconds)
            self.saved = self._engine.saved()
        return self.saved != before

    def begin(self, seconds: float) -> None:
        """Save now, in the background if the engine can; ``seconds`` is the working time of all runs so far."""
        if not self._background:
            self._announce()
        self._engine.save(seconds, wait=False)
        self._since = time.perf_counter()

    def finish(self, seconds: float, dropping: int | None = None) -> None:
        """Save all work, and wait for the end of the save.

        Args:
            seconds: seconds of work, in all runs.
            dropping: first of the rounds that are dropped afterwards, and so are not saved; None: save all rounds.
        """
        self._announce()
        self._engine.save(seconds, dropping)
        self.saved = self._engine.saved()

    def _announce(self) -> None:
        if self._note is not None and self._bytes >= LARGE and self._engine.saved() != self._engine.done:
            self._note(
                f"saving {size_text(self._bytes)} after {self._engine.counted.removesuffix('s')} {self._engine.done:,}"
            )

    def _pause(self) -> float:
        """Return the seconds from the last save to the next; the first save of a solve comes after less time."""
        took = self._expected if self._engine.save_took is None else self._engine.save_took
        pause = self._every
        if pause is None:
            pause = max(BACKGROUND_SECONDS if self._background else SAVE_SECONDS, SAVE_SHARE * took)
        if self.saved or pause == math.inf:
            return pause
        return min(pause, FIRST_SECONDS if self._background else FIRST_SHARE * took)
