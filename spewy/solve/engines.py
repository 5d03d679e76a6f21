"""The two ways to sweep over all chunks: through the lockers, or live in memory with the lockers as its safe.

*Stored* (Spewy Louie's, `stored_engine`): every chunk is visited on its own; a parent sees the payoff matrices that the
visits below stored. Chunks of one round do not see each other, so visits of a level run in parallel, in any order, with
the same result. *Live*: a parent's chance leaves recurse into the chunks below, which improve on the way; with a row
per hand that is an exact solver. Both leave averaged strategies in the strategy locker, chunk by chunk.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np

from lockers import Reads, Store, Transaction
from solvers.cfr import Cfr
from solvers.exploit import Exploitability, expected_value, exploitability
from solvers.live import Strategies
from solvers.variants import variant
from solvers.walk import Walker
from spewy.errors import SpewyError
from spewy.solve.keys import GUESS, META, REGRET, STRATEGY, SWEEP_KEY
from spewy.solve.layout import Layout
from spewy.solve.stored_chunks import StoredChunks, saved_sweeps
from spewy.solve.visit import join

Progress = Callable[[int, int], None]
"""(done, in all): visits of a sweep, or sweeps where several are done at once."""


class Check(NamedTuple):
    """A measurement after so many sweeps, ``seconds`` after the start of what was asked for; it ``took`` so long."""

    sweeps: int
    seconds: float
    took: float
    found: Exploitability


class Engine(Protocol):
    """What sweeps."""

    @property
    def sweeps(self) -> int:
        """Sweeps that are finished, saved or not."""
        ...

    @property
    def at_once(self) -> int:
        """Sweeps that are best done without a look at anything else."""
        ...

    def advance(self, sweeps: int, progress: Progress | None = None) -> None:
        """Visit every chunk so many times more; ``progress`` may raise to stop between visits."""
        ...

    def sprint(self, target: float, sweeps: int, every: int) -> list[Check]:
        """Sweeps with checks in between, up to a target in chips; nothing where sweeps are not short."""
        ...

    def exploitability(self) -> Exploitability:
        """Exact best responses to the average strategies, in the real game."""
        ...

    def expected_values(self) -> tuple[float, float]:
        """Both players' chips per deal when both follow the average strategies."""
        ...

    def save(self) -> None:
        """Make all finished sweeps last: what was saved survives any interruption."""
        ...

    def close(self) -> None:
        """Stop helpers."""
        ...


class Judge:
    """Exact values of strategies in the real game, by the generic walk."""

    def __init__(self, layout: Layout, threads: int) -> None:
        self._layout, self._threads = layout, threads

    @cached_property
    def _walker(self) -> Walker:
        return Walker(self._layout.live, self._threads)

    def exploitability(self, averages: Strategies) -> Exploitability:
        """Best responses to the matched averages."""
        return exploitability(self._walker, averages)

    def expected_values(self, averages: Strategies) -> tuple[float, float]:
        """Both players' chips per deal, each from a walk of its own."""
        return expected_value(self._walker, averages), expected_value(self._walker, averages, 1)


class LiveEngine:
    """CFR over the live game in memory. ``save`` writes everything in one transaction, so a store is never half new."""

    def __init__(
        self,
        layout: Layout,
        store: Store,
        variant_name: str,
        threads: int = 1,
        dtype: type = np.float64,
    ) -> None:
        self.layout = layout
        self.store = store
        self.cfr = Cfr(layout.live, variant(variant_name), threads=threads, dtype=dtype)
        self._judge = Judge(layout, threads)
        self._saved = saved_sweeps(store)
        if self._saved:
            self.cfr.iteration = self._saved
            for locker, arrays in self._lockers().items():
                load(layout, store, locker, arrays)

    @property
    def sweeps(self) -> int:
        """One iteration visits every chunk once."""
        return self.cfr.iteration

    at_once = 1

    def advance(self, sweeps: int, progress: Progress | None = None) -> None:
        """So many CFR iterations."""
        for _ in range(sweeps):
            self.cfr.run(1)
            if progress is not None:
                progress(1, 1)

    def sprint(self, target: float, sweeps: int, every: int) -> list[Check]:
        """Sweeps here are not short."""
        return []

    def exploitability(self) -> Exploitability:
        """Judged by the walk that solves."""
        return self._judge.exploitability(self.cfr.sums)

    def expected_values(self) -> tuple[float, float]:
        """The same way."""
        return self._judge.expected_values(self.cfr.sums)

    def save(self) -> None:
        """Write all chunks' arrays and the number of sweeps together.

        Raises:
            SpewyError: another process has saved to this folder meanwhile.
        """
        if self._saved != self.sweeps:
            save_whole(self.layout, self.store, self._lockers(), self._saved, self.sweeps)
            self._saved = self.sweeps

    def close(self) -> None:
        """Stop the threads."""
        self.cfr.walker.close()

    def _lockers(self) -> dict[str, Strategies]:
        out = {REGRET: self.cfr.regrets, STRATEGY: self.cfr.sums}
        if self.cfr.guesses is not None:
            out[GUESS] = self.cfr.guesses
        return out


def save_whole(
    layout: Layout, store: Store, lockers: dict[str, Strategies], before: int, sweeps: int
) -> None:
    """Write all chunks' arrays of each locker, and the number of sweeps, in one transaction.

    Strategies show what locks say, whatever was solved.

    Raises:
        SpewyError: the store does not hold as many sweeps as ``before``: another process has saved meanwhile.
    """
    layout.live.pin(lockers[STRATEGY])

    def write(txn: Transaction) -> None:
        require_sweeps(txn, before, sweeps)
        for t in range(layout.n_rounds):
            for b, r in layout.chunks(t):
                key = layout.key(t, b, r)
                txn.punch(key, sweeps)
                for locker, arrays in lockers.items():
                    txn.put(locker, key, join(layout.take(arrays, t, b, r)))
        txn.put(META, SWEEP_KEY, np.array(sweeps))

    store.transact(SWEEP_KEY, write)
    store.flush()


def require_sweeps(txn: Transaction, expected: int, sweeps: int) -> None:
    """Refuse to write ``sweeps`` over anything but what was read.

    Raises:
        SpewyError: another process has saved to this folder meanwhile.
    """
    there = txn.get(META, SWEEP_KEY)
    found = 0 if there is None else int(there)
    if found != expected:
        raise SpewyError(
            f"saving sweep {sweeps}: expected the lockers at sweep {expected}, found {found}: "
            "another process solves in this folder"
        )


def load(layout: Layout, store: Reads, locker: str, into: Strategies | None = None) -> Strategies:
    """A locker's arrays of all chunks as the live game lays them out; zeros where nothing is stored yet.

    Strategies show what locks say, whatever is stored.

    Raises:
        InputError: a chunk that sweeps have visited has nothing.
    """
    out, stored = layout.live.zeros() if into is None else into, StoredChunks(layout, store, locker)
    for t in range(layout.n_rounds):
        places = list(layout.chunks(t))
        for (b, r), found in zip(places, stored.get_many(t, places), strict=True):
            if found is not None:
                layout.place(out, t, b, r, found)
    if locker == STRATEGY:
        layout.live.pin(out)
    return out
