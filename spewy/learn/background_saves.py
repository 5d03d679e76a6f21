"""Save the regrets and strategy sums of a solve that deals boards, in the background or at the end.

The engine deals boards in short intervals. Between two intervals no thread changes regrets and strategy sums, so a
background save begins there: it records how often each board bucket was visited. A second thread then writes the
buckets that were visited since the previous save; it copies them between later intervals. If a bucket is visited after
the save began, its number of visits differs from the recorded number, so the next save writes the bucket again.
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
from spewy.records.strategy_locker import LineIndex, read_saved
from spewy.system.tools import Closing, TakingTurns

Opener = Callable[[], AbstractContextManager[Store]]
"""Function that opens a store; the caller should close it soon, since written pages count as memory until then."""


class Learner(Protocol):
    """The attributes and methods of an engine that `BackgroundSaves` uses.

    Attributes:
        earlier: number of deals and seconds of work in the last save of earlier runs.
        lines: by round, where the strategy of each betting line lies in the bytes of a board bucket.
        changing: a lock that threads hold while they change regrets and sums. Whoever holds the lock can copy a bucket
            in a consistent state.
    """

    earlier: Mark
    lines: list[LineIndex]
    changing: TakingTurns

    def visits(self) -> list[Ints]:
        """Number of visits of each board bucket, ``[player, bucket]`` for each round."""
        ...

    def visits_of_deals(self) -> list[Ints]:
        """Number of visits of each board bucket in finished deals, ``[player, bucket]`` for each round."""
        ...

    def copied(self, t: int, board_bucket: int) -> BucketNumbers:
        """Copy the regrets and sums of a board bucket of round t; the caller must hold the lock `changing`."""
        ...

    def bucket_bytes(self, t: int) -> int: ...

    def bytes_of(self, numbers: BucketNumbers) -> tuple[Bytes, Bytes]:
        """Encode both players' average strategies in a board bucket for the strategy locker."""
        ...


class BackgroundSaves(Closing):
    """Saves the regrets, sums and average strategies of an engine, in the background or at once.

    Args:
        engine: the engine; it must be idle while this object is made.
        store, play: functions that open the store of regrets and sums, and the strategy locker.

    Attributes:
        saved: number of deals and seconds of work in the last finished save.
        took: duration of the last save in seconds; None before the first save.
    """

    def __init__(self, engine: Learner, store: Opener, play: Opener) -> None:
        self._engine, self._store, self._play = engine, store, play
        self.saved = engine.earlier
        self.took: float | None = None
        with play() as locker:
            locker_deals = read_saved(locker).deals
        # If both lockers count different deals, the last save was cut off: the next save writes every bucket.
        whole = locker_deals != self.saved.deals or not locker_deals
        self._seen = [np.where(whole, -1, visits) for visits in engine.visits()]
        self._thread = ThreadPoolExecutor(1)
        self._running: Future[None] | None = None
        self._aborted = threading.Event()

    @property
    def is_busy(self) -> bool:
        return self._running is not None and not self._running.done()

    def begin(self, mark: Mark) -> None:
        """Begin a background save, unless a save is running or no deal is new; the engine must be idle."""
        self.collect()
        if self._running is None and mark.deals > self.saved.deals:
            self._running = self._thread.submit(self._save, mark, *self._visits())

    def finish(self, mark: Mark) -> None:
        """Wait for the running save, then save in this thread what changed since; the engine must be idle."""
        self.collect(wait=True)
        if mark != self.saved:
            self._save(mark, *self._visits())

    def collect(self, *, wait: bool = False) -> None:
        """Raise the error of the background save if it failed; ``wait`` for the running save first."""
        if self._running is not None and (wait or self._running.done()):
            ended_save, self._running = self._running, None
            ended_save.result()

    def close(self) -> None:
        """Abort the running save before its next transaction, and wait for its thread."""
        self._aborted.set()
        self._thread.shutdown()

    def _visits(self) -> tuple[list[Ints], list[Ints]]:
        """Return the visits in total and those of finished deals; the engine must be idle."""
        return self._engine.visits(), self._engine.visits_of_deals()

    def _save(self, mark: Mark, visits: list[Ints], of_deals: list[Ints]) -> None:
        """Write the board buckets that were visited since the last save, then the mark."""
        begun = time.perf_counter()
        for copies in self._copies(visits):
            for buckets in _cut(copies, BYTES_AT_ONCE):
                if self._aborted.is_set():
                    return
                for numbers in buckets:
                    numbers.require_finite()
                # The strategy locker comes first: it may be newer than the regrets and sums, never older.
                with self._play() as play:
                    for numbers in buckets:
                        lines, strategy = self._engine.lines[numbers.t], self._engine.bytes_of(numbers)
                        strategy_locker.write_bucket(play, numbers.t, numbers.board_bucket, lines, strategy)
                with self._store() as store:
                    write_buckets(store, buckets)
        if self._aborted.is_set():  # `_copies` ended early
            return
        with self._play() as play, self._store() as store:
            strategy_locker.finish_save(play, mark.deals)
            finish_save(store, self.saved.deals, mark, of_deals)
        self._seen, self.saved = visits, mark
        self.took = time.perf_counter() - begun

    def _copies(self, visits: list[Ints]) -> Iterator[list[BucketNumbers]]:
        """Yield copies of the changed board buckets in lists of limited size; after `close` the iterator ends early."""
        places = [
            (t, c)
            for t, (now, before) in enumerate(zip(visits, self._seen, strict=True))
            for c in np.flatnonzero((now != before).any(axis=0)).tolist()
        ]
        sizes = np.cumsum([self._engine.bucket_bytes(t) for t, _ in places])
        at_once = max(BYTES_AT_ONCE, int(sizes[-1]) // PORTIONS if places else 0)
        first = 0
        while first < len(places):
            behind = sizes[first - 1] if first else 0
            end = max(first + 1, int(np.searchsorted(sizes, behind + at_once, side="right")))
            if not self._engine.changing.acquire(self._aborted):
                return
            try:
                copies = [self._engine.copied(t, c) for t, c in places[first:end]]
            finally:
                self._engine.changing.release()
            yield copies
            first = end


def _cut(board_buckets: list[BucketNumbers], n_bytes: int) -> Iterator[list[BucketNumbers]]:
    """Split a list of board buckets into sublists of at most ``n_bytes``; a larger bucket forms its own sublist."""
    sublist, size = list[BucketNumbers](), 0
    for numbers in board_buckets:
        if sublist and size + numbers.nbytes > n_bytes:
            yield sublist
            sublist, size = [], 0
        sublist.append(numbers)
        size += numbers.nbytes
    if sublist:
        yield sublist
