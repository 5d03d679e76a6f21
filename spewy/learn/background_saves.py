"""Save a solve that deals boards: in the background while it runs, and finally when it has stopped.

Between two portions of deals nobody changes the numbers. At such a moment a save notes how often each class was
visited. A thread of its own then writes the classes that were visited since the save before; it copies them between
later portions. A class that is visited in the meantime has other visits than noted, so the next save writes it again.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import Protocol

import numpy as np

from lockers import Store
from solvers.sampled.quantise import Bytes
from solvers.tree import Ints
from spewy.records import strategy_locker
from spewy.records.bucket_numbers import (
    BYTES_AT_ONCE,
    PORTIONS,
    BucketNumbers,
    Mark,
    finish_save,
    write_buckets,
)
from spewy.records.line_index import LineIndex
from spewy.system.closing import Closing
from spewy.system.turns import TakingTurns

Opener = Callable[[], AbstractContextManager[Store]]
"""Opens a store for writing; touched pages count as memory until the store is closed soon after."""


class Learner(Protocol):
    """The engine, from the point of view of its saves.

    Attributes:
        earlier: the mark of the last save of earlier runs.
        lines: positions of lines in the bytes of a board bucket, by round.
        changing: a lock that deals hold while they change numbers; a bucket that is copied under it is whole.
    """

    earlier: Mark
    lines: list[LineIndex]
    changing: TakingTurns

    def visits(self) -> list[Ints]:
        """Per round ``[player, bucket]``: number of visits of each bucket."""
        ...

    def visits_of_deals(self) -> list[Ints]:
        """Per round ``[player, bucket]``: number of visits of each bucket by the counted deals."""
        ...

    def copied(self, t: int, class_: int) -> BucketNumbers:
        """Return a copy of a bucket's numbers; the caller holds `changing`."""
        ...

    def class_bytes(self, t: int) -> int:
        """Size in bytes of the regrets and sums of a bucket of round t."""
        ...

    def bytes_of(self, numbers: BucketNumbers) -> tuple[Bytes, Bytes]:
        """Return the average strategy of a bucket in the bytes of a strategy locker."""
        ...


class BackgroundSaves(Closing):
    """Saves the numbers of an engine, in the background or at once.

    Args:
        engine: the engine, which does not run.
        store: opens the lockers of regrets and sums.
        play: opens the strategy locker.

    Attributes:
        saved: the mark of the last finished save.
        took: duration of the last save in seconds; None: there was none.
    """

    def __init__(self, engine: Learner, store: Opener, play: Opener) -> None:
        self._engine, self._store, self._play = engine, store, play
        self.saved = engine.earlier
        self.took: float | None = None
        with play() as locker:
            there = strategy_locker.read_saved(locker).deals
        # If the strategy locker tells of other deals, its last save was not finished: write each class.
        whole = there != self.saved.deals or not there
        self._seen = [np.where(whole, -1, visits) for visits in engine.visits()]
        self._thread = ThreadPoolExecutor(1)
        self._running: Future[None] | None = None
        self._broken_off = threading.Event()

    @property
    def is_busy(self) -> bool:
        """Whether a save runs in the background."""
        return self._running is not None and not self._running.done()

    def begin(self, mark: Mark) -> None:
        """Begin a background save, unless one is running or nothing is new; the engine must be idle.

        Raises:
            lockers.LockerError: an earlier save has failed.
        """
        self.collect()
        if self._running is None and mark.deals > self.saved.deals:
            self._running = self._thread.submit(self._save, mark, *self._visits())

    def finish(self, mark: Mark) -> None:
        """Save the rest in this thread; the engine must be idle until this returns.

        Raises:
            lockers.LockerError: the lockers cannot be written.
        """
        self.collect(wait=True)
        if mark != self.saved:
            self._save(mark, *self._visits())

    def collect(self, *, wait: bool = False) -> None:
        """Raise the error of a failed background save.

        Args:
            wait: whether to wait for the save that runs.
        """
        if self._running is not None and (wait or self._running.done()):
            ended, self._running = self._running, None
            ended.result()

    def close(self) -> None:
        """Abort a running save between two transactions."""
        self._broken_off.set()
        self._thread.shutdown()

    def _visits(self) -> tuple[list[Ints], list[Ints]]:
        """Visits of each board bucket, in total and by the counted deals; the engine must be idle."""
        return self._engine.visits(), self._engine.visits_of_deals()

    def _save(self, mark: Mark, visits: list[Ints], of_deals: list[Ints]) -> None:
        begun = time.perf_counter()
        for some in self._portions(visits):
            for few in _cut(some, BYTES_AT_ONCE):
                if self._broken_off.is_set():
                    return
                for numbers in few:
                    numbers.require_finite()
                with (
                    self._play() as play
                ):  # first: the strategy locker may be ahead of the numbers, never behind
                    for numbers in few:
                        lines, strategy = self._engine.lines[numbers.t], self._engine.bytes_of(numbers)
                        strategy_locker.write_class(play, numbers.t, numbers.class_, lines, strategy)
                with self._store() as store:
                    write_buckets(store, few)
        if self._broken_off.is_set():  # while it waited to copy
            return
        with self._play() as play, self._store() as store:
            strategy_locker.finish_save(play, mark.deals)
            finish_save(store, self.saved.deals, mark, of_deals)
        self._seen, self.saved = visits, mark
        self.took = time.perf_counter() - begun

    def _portions(self, visits: list[Ints]) -> Iterator[list[BucketNumbers]]:
        """Yield copies of the buckets visited since the last save; each copy is made between portions of deals."""
        places = [
            (t, c)
            for t, (now, before) in enumerate(zip(visits, self._seen, strict=True))
            for c in np.flatnonzero((now != before).any(axis=0)).tolist()
        ]
        sizes = np.cumsum([self._engine.class_bytes(t) for t, _ in places])
        at_once = max(BYTES_AT_ONCE, int(sizes[-1]) // PORTIONS if places else 0)
        first = 0
        while first < len(places):
            behind = sizes[first - 1] if first else 0
            end = max(first + 1, int(np.searchsorted(sizes, behind + at_once, side="right")))
            if not self._engine.changing.acquire(self._broken_off):
                return
            try:
                some = [self._engine.copied(t, c) for t, c in places[first:end]]
            finally:
                self._engine.changing.release()
            yield some
            first = end


def _cut(classes: list[BucketNumbers], n_bytes: int) -> Iterator[list[BucketNumbers]]:
    """Split a list into runs of at most ``n_bytes`` each; a single larger bucket forms its own run."""
    some, n_held = list[BucketNumbers](), 0
    for numbers in classes:
        if some and n_held + numbers.nbytes > n_bytes:
            yield some
            some, n_held = [], 0
        some.append(numbers)
        n_held += numbers.nbytes
    if some:
        yield some
