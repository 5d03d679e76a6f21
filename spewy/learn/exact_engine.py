"""The exact engine bound to lockers: a row per hand, explicit vectors, all boards in memory.

Chunks are saved as the other engines save them, in single precision. A state of at most `AT_ONCE` bytes is saved in one
transaction; a larger one board by board, each board's chunks together, and the number of sweeps last: whoever kills a
save leaves chunks of two different sweeps, from which a solve goes on as well.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from lockers import Store
from solvers.chunk import ChunkStrategy
from solvers.exact import ExactCfr, useful_threads
from solvers.exact.engine import Whole
from solvers.exploit import Exploitability
from solvers.live import Lock
from solvers.variants import variant
from spewy.chunks.layout import Layout
from spewy.learn.engine import Check, Progress
from spewy.records.chunks import Chunks, Kind, save_boards
from spewy.records.progress import saved_sweeps

AT_ONCE = 64 << 20
BOARDS_AT_ONCE = 16
SECONDS_AT_ONCE = 0.5  # between two looks at what the user wants
SPRINT_SECONDS = 0.25  # sweeps with several checks in so much time are done in one go
FIRST_SPRINT = 32  # checks at most; then twice as many each time: plans are as long as they may have to be
STATE_SPEED = 1e9  # bytes of regrets and sums per second, until the first sweeps tell better


class ExactEngine:
    """Sweeps are iterations of `ExactCfr`.

    ``short`` keeps regrets and sums in 16 bits; only the share ``kept`` of the last round's stays in memory, the rest
    is mapped from a file in ``folder``.
    """

    def __init__(
        self,
        layout: Layout,
        store: Store,
        variant_name: str,
        threads: int,
        *,
        short: bool,
        folder: Path | None = None,
        kept: float = 1.0,
    ) -> None:
        self.layout = layout
        self.store = store
        self._locks: tuple[Lock, ...] = layout.live.locks
        self._raked = layout.live.raked
        streamed = folder if kept < 1 else None
        schedule = variant(variant_name)
        threads = useful_threads(layout.live, threads)
        self.cfr = ExactCfr(layout.live, schedule, threads=threads, short=short, folder=streamed, kept=kept)
        layout.forget_live()
        self._pace, self._checks = self.cfr.state_bytes / STATE_SPEED, FIRST_SPRINT
        self._saved = saved_sweeps(store)
        if self._saved:
            self.cfr.iteration = self._saved
            for kind, whole in self._arrays().items():
                self._load(Chunks(layout, store, kind), whole)

    @property
    def sweeps(self) -> int:
        """One iteration visits every chunk once."""
        return self.cfr.iteration

    at_once = 1_000_000

    def advance(self, sweeps: int, progress: Progress | None = None) -> None:
        """Do so many iterations, a few at a time."""
        done = 0
        while done < sweeps:
            few = max(1, min(sweeps - done, int(SECONDS_AT_ONCE / self._pace)))
            started = time.perf_counter()
            self.cfr.run(few)
            self._pace = (time.perf_counter() - started) / few
            done += few
            if progress is not None:
                progress(done, sweeps)

    def sprint(self, target: float, sweeps: int, every: int) -> list[Check]:
        """Several checks' worth of sweeps in one go, where they are short; none where they are not.

        Stops at a check that finds the target (in chips).
        """
        checks = min(int(SPRINT_SECONDS / (self._pace * every)), self._checks) if not self._raked else 0
        if checks < 1 or sweeps < every:
            return []
        started, first = time.perf_counter(), self.sweeps
        found = self.cfr.run_to(target, min(checks, sweeps // every) * every, every)
        seconds = time.perf_counter() - started
        self._pace = seconds / (self.sweeps - first)
        self._checks *= 2
        return [Check(m.iteration, m.seconds, m.took, m.exploitability) for m in found]

    def exploitability(self) -> Exploitability:
        """Best responses to the averages, in the same kernels."""
        return self.cfr.exploitability()

    def expected_values(self) -> tuple[float, float]:
        """Both players' chips per deal under the averages."""
        return self.cfr.expected_values()

    def save(self) -> None:
        """Write what is new.

        Raises:
            SpewyError: another process has saved to this folder meanwhile.
        """
        if self._saved == self.sweeps:
            return
        save_boards(self.layout, self.store, self._portions(), self._read, self._saved, self.sweeps)
        self._let_go()
        self._saved = self.sweeps

    def close(self) -> None:
        """Stop the threads."""
        self.cfr.close()

    def _portions(self) -> Iterator[list[tuple[int, int]]]:
        """Boards (t, b) that are saved together; memory that a portion has touched is let go after it."""
        boards = [
            (t, b) for t in range(self.layout.n_rounds) for b in range(len(self.layout.boards[t].boards))
        ]
        at_once = len(boards) if self.cfr.state_bytes <= AT_ONCE else BOARDS_AT_ONCE
        for start in range(0, len(boards), at_once):
            self._let_go()
            yield boards[start : start + at_once]

    def _arrays(self) -> dict[Kind, Whole]:
        return {Kind.REGRETS: self.cfr.regrets, Kind.SUMS: self.cfr.sums}

    def _read(self, kind: Kind, t: int, b: int) -> ChunkStrategy:
        """Per player ``[slot of the round, row]``, as it is saved."""
        first, second = (self._arrays()[kind][t][p].read(b) for p in (0, 1))
        if kind is Kind.SUMS:
            self._pin(t, b, (first, second))
        return first, second

    def _pin(self, t: int, b: int, numbers: ChunkStrategy) -> None:
        """Show what locks say, even where nobody comes."""
        for lock in self._locks:
            if lock.round == t:
                a = self.layout.betting[t].forest.arrays
                first, n_actions = int(a.slot[lock.node]), int(a.n_actions[lock.node])
                there = numbers[lock.player][first : first + n_actions]
                given = lock.frequencies[b][:, : there.shape[1]]
                np.copyto(there, given, where=~np.isnan(given), casting="same_kind")

    def _load(self, stored: Chunks, whole: Whole) -> None:
        for t in range(self.layout.n_rounds):
            chunks = self.layout.betting[t].chunks
            for b in range(len(self.layout.boards[t].boards)):
                numbers = [whole[t][p].read(b) for p in (0, 1)]
                found = stored.get_many(t, [(b, r) for r in range(len(chunks))])
                for chunk, parts in zip(chunks, found, strict=True):
                    if parts is not None:
                        for p, part in enumerate(parts):
                            numbers[p][chunk.slots[p]] = part
                for p in (0, 1):
                    whole[t][p].write(b, numbers[p])
                if b % BOARDS_AT_ONCE == 0:
                    self._let_go()

    def _let_go(self) -> None:
        for whole in self._arrays().values():
            for pair in whole:
                for part in pair:
                    part.let_go()
