"""Saves of a solve that deals boards: in the background while it goes on, and a last one when it has stopped.

Between two portions of deals nobody changes the numbers. At such a moment a save notes how often each class was
visited. A thread of its own then writes the classes that were visited since the save before; it copies them between
later portions. A class that is visited in the meantime has other visits than noted, so the next save writes it again.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np

from lockers import Store
from solvers.tree import Ints
from spewy.learn.sampled_engine import SampledEngine
from spewy.records import strategy_locker
from spewy.records.bucket_numbers import (
    BYTES_AT_ONCE,
    PORTIONS,
    BucketNumbers,
    Mark,
    finish_save,
    write_buckets,
)
from spewy.system.closing import Closing

SAVE_SECONDS, FIRST_SECONDS = 300.0, 30.0
"""Seconds between two saves, and before the first save: a kill soon after the start loses little."""
SAVE_SHARE = 20.0
"""Where a save takes long: so many times as much time from one to the next."""
Opener = Callable[[], Store]
"""Opens a store to write to it; what was touched counts as memory until it is closed, which is soon."""


class DealtSaving(Closing):
    """Saves what an engine has learnt.

    Args:
        engine: at rest.
        store: opens the lockers that it goes on from.
        play: opens the play locker.
        every: seconds between two saves; None: as often as costs little.

    Attributes:
        saved: what the last finished save tells.
    """

    def __init__(self, engine: SampledEngine, store: Opener, play: Opener, every: float | None) -> None:
        self._engine, self._store, self._play, self._every = engine, store, play, every
        self.saved = engine.earlier
        self._took, self._begun = 0.0, time.perf_counter()
        with play() as locker:
            there = strategy_locker.read_saved(locker).deals
        # A play locker that tells of other deals was not finished, or is new: each class is written.
        whole = there != self.saved.deals or not there
        self._seen = [np.where(whole, -1, visits) for visits in engine.visits()]
        self._thread = ThreadPoolExecutor(1)
        self._running: Future[None] | None = None
        self._broken_off = threading.Event()

    def save_if_due(self, mark: Mark) -> bool:
        """Begin a save in the background where it is time to; the engine is at rest. Tell whether one has ended.

        Raises:
            lockers.LockerError: the one that was running has failed.
        """
        if self._running is not None:
            return self._running.done() and self._ended(self._running)
        now = time.perf_counter()
        pause = max(SAVE_SECONDS, SAVE_SHARE * self._took) if self._every is None else self._every
        if not self.saved.deals:
            pause = min(pause, FIRST_SECONDS)
        if now - self._begun >= pause:
            self.begin(mark)
        return False

    def begin(self, mark: Mark) -> None:
        """Begin a save in the background, unless one is running or there is nothing new; the engine is at rest."""
        if self._running is None and mark.deals > self.saved.deals:
            self._begun = time.perf_counter()
            self._running = self._thread.submit(self._save, mark, *self._visits())

    def finish(self, mark: Mark) -> None:
        """Save what is left, in this thread; the engine is at rest and stays so.

        Raises:
            lockers.LockerError: it cannot be written.
        """
        if self._running is not None:
            self._ended(self._running)
        if mark != self.saved:
            self._save(mark, *self._visits())

    def close(self) -> None:
        """Break off what is running, between two transactions."""
        self._broken_off.set()
        self._thread.shutdown()

    def _ended(self, running: Future[None]) -> bool:
        self._running = None
        running.result()
        return True

    def _visits(self) -> tuple[list[Ints], list[Ints]]:
        """Visits of each class, in all and by the counted deals; the engine has to be at rest."""
        return self._engine.visits(), self._engine.visits_of_deals()

    def _save(self, mark: Mark, visits: list[Ints], of_deals: list[Ints]) -> None:
        begun = time.perf_counter()
        for some in self._portions(visits):
            for few in _cut(some, BYTES_AT_ONCE):
                if self._broken_off.is_set():
                    return
                for one in few:
                    one.require_finite()
                with self._play() as play:  # first: the play locker may be ahead of the numbers, never behind
                    for one in few:
                        lines, found = self._engine.lines[one.t], self._engine.bytes_of(one)
                        strategy_locker.write_class(play, one.t, one.class_, lines, found)
                with self._store() as store:
                    write_buckets(store, few)
        if self._broken_off.is_set():  # while it waited to copy
            return
        with self._play() as play, self._store() as store:
            strategy_locker.finish_save(play, mark.deals)
            finish_save(store, self.saved.deals, mark, of_deals)
        self._seen, self.saved = visits, mark
        self._took = time.perf_counter() - begun

    def _portions(self, visits: list[Ints]) -> Iterator[list[BucketNumbers]]:
        """Copies of the classes that were visited since the last save, each made between two portions of deals."""
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
    """Cut a list into runs of at most ``n_bytes`` each; a single larger class is a run of its own."""
    some, held = list[BucketNumbers](), 0
    for one in classes:
        if some and held + one.nbytes > n_bytes:
            yield some
            some, held = [], 0
        some.append(one)
        held += one.nbytes
    if some:
        yield some
