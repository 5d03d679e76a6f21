"""When a solve saves: often enough that little is lost, and so seldom that saving costs little."""

from __future__ import annotations

import time

from lockers import Store
from spewy.learn.engine import Engine
from spewy.records.progress import Trace, saved_sweeps, write_trace

SAVE_SECONDS = 30.0
SAVE_SPEED = 150e6  # bytes a second that a save is expected to take, until one has been made
SAVE_SHARE = 20.0  # where a save takes long: so many times as much work between two of them
FIRST_SHARE = 4.0  # the first save waits for so many times its own expected duration, and for a check


class Saving:
    """Saves an engine's sweeps and checks; the first save comes soon, so that a kill loses little.

    Args:
        store: the store to save to.
        engine: the engine whose sweeps are saved.
        target: target of the checks, in the job file's words.
        every: seconds between two saves; None: as often as costs little.
        expected_bytes: expected size of a save.
    """

    def __init__(
        self, store: Store, engine: Engine, target: str, every: float | None, expected_bytes: int
    ) -> None:
        self._store, self._engine, self._target, self._every = store, engine, target, every
        self._took = expected_bytes / SAVE_SPEED
        self._since = time.perf_counter()

    @property
    def saved(self) -> int:
        """Sweeps that the store holds."""
        return saved_sweeps(self._store)

    def save_if_due(self, trace: Trace, now: float) -> bool:
        """Save if the last save is long enough ago, and return whether; ``now`` is a time of `time.perf_counter`."""
        pause = max(SAVE_SECONDS, SAVE_SHARE * self._took) if self._every is None else self._every
        if not self.saved:
            pause = min(pause, FIRST_SHARE * self._took)
        due = now - self._since > pause
        if due:
            self.save(trace)
        return due

    def save(self, trace: Trace, dropping: int | None = None) -> None:
        """Save, but for rounds from ``dropping`` on, and note how long that takes."""
        begun = time.perf_counter()
        self._engine.save(dropping)
        write_trace(self._store, trace, self._target)
        self._since = time.perf_counter()
        self._took = self._since - begun
