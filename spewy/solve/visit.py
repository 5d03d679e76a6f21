"""A visit: read what a chunk needs, improve it, and integrate the result into the lockers in one transaction.

``regret``: a few CFR iterations from the stored regrets, ranges from the *current* strategies above, payoffs of the
current strategies below; sums weigh by own reach, root range included. With every chunk visited in each sweep this is
CFR, cut into chunks.
``average``: a local optimum for the given ranges and payoffs, ranges and payoffs those of the *average* strategies;
it is added to the sum of all earlier ones, weighted by the sweep and by own reach.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from lockers import Store, Transaction
from solvers.chunk import Chunk, ChunkStrategy, iterate, normalise, reach_of
from solvers.forest import Floats
from solvers.variants import variant
from spewy.solve.keys import GUESS, PAYOFF, REGRET, STRATEGY
from spewy.solve.layout import Layout
from spewy.solve.leaves import Payoffs, build_chunk, no_more_betting, one_view, root_payoffs, two_views
from spewy.solve.playdown import PlayDown


@dataclass(frozen=True)
class VisitSettings:
    """How chunks are solved.

    ``iterations`` are the CFR iterations of one visit. A visit that averages does one more per sweep, so that the
    error of the local optima leaves no floor. ``tremble`` applies to ``average`` too.
    """

    integrate: Literal["regret", "average"] = "regret"
    method: Literal["cfr", "lp"] = "cfr"
    variant: str = "dcfr"
    iterations: int = 1
    tremble: float = 1e-3

    @property
    def played(self) -> str:
        """The locker whose strategies are played down: what chunks below and above see of a chunk."""
        if self.integrate == "average":
            return STRATEGY
        return GUESS if variant(self.variant).predictive else REGRET


class Visitor:
    """Makes visits against one store, for one level of one sweep: strategies above it are read once and kept."""

    def __init__(self, layout: Layout, store: Store, settings: VisitSettings) -> None:
        self.layout = layout
        self.store = store
        self.settings = settings
        self._estimate = no_more_betting(layout)
        self._play_down = PlayDown(layout, self._played)

    def visit(self, t: int, b: int, r: int, sweep: int) -> bool:
        """Visit chunk (t, b, r) for a sweep. False if this sweep's visit was counted before: nothing changes then."""
        key = self.layout.key(t, b, r)
        improve = self._regret if self.settings.integrate == "regret" else self._average
        while True:
            seen = self.store.tickets(key)
            if seen[1] >= sweep:
                return False
            results = improve(t, b, r, key, sweep)

            def commit(txn: Transaction, seen: tuple[int, int] = seen, results: Results = results) -> bool:
                if txn.tickets(key) != seen:
                    return False  # another process was faster: read again
                txn.punch(key, sweep)
                for locker, array in results.items():
                    txn.put(locker, key, array)
                return True

            if self.store.transact(key, commit):
                return True

    def _regret(self, t: int, b: int, r: int, key: bytes, sweep: int) -> Results:
        settings, layout = self.settings, self.layout
        schedule = variant(settings.variant)
        ranges = [side[r] for side in self._play_down.ranges(t, b)]
        weighing = two_views(layout, t, b, ranges)
        chunk = build_chunk(layout, t, b, r, weighing, self._below(t))
        own_reach = self._row_reach(t, b, ranges)
        regrets, sums = self._load(REGRET, key, chunk), self._load(STRATEGY, key, chunk)
        guesses = self._load(GUESS, key, chunk) if schedule.predictive else None
        start = (sweep - 1) * settings.iterations
        iterate(chunk, schedule, start, settings.iterations, regrets, sums, guesses, own_reach=own_reach)
        current = regrets if guesses is None else guesses
        # one payoff matrix will do where rows are hands: what weighs a hand against itself cancels
        views = 1 if layout.problem.rows[layout.boards[t].round] is None else 2
        out = {REGRET: join(regrets), STRATEGY: join(sums)}
        if guesses is not None:
            out[GUESS] = join(guesses)
        if t > 0:
            out[PAYOFF] = root_payoffs(chunk, normalise(chunk, current), views)
        return out

    def _average(self, t: int, b: int, r: int, key: bytes, sweep: int) -> Results:
        settings, layout = self.settings, self.layout
        ranges = [side[r] for side in self._play_down.ranges(t, b)]
        weighing = one_view(layout, t, b, ranges, settings.tremble)
        chunk = build_chunk(layout, t, b, r, weighing, self._below(t))
        local = self._local_optimum(chunk, sweep)
        sums = self._load(STRATEGY, key, chunk)
        own_reach = self._row_reach(t, b, weighing.own)
        for p in (0, 1):
            sums[p][:] += sweep * reach_of(chunk, local, p, own_reach[p])[1:]
        out = {STRATEGY: join(sums)}
        if t > 0:
            out[PAYOFF] = root_payoffs(chunk, normalise(chunk, sums), 1)
        return out

    def _local_optimum(self, chunk: Chunk, sweep: int) -> ChunkStrategy:
        if sum(chunk.forest.n_slots) == 0:
            return chunk.zeros()
        if self.settings.method == "lp":
            from solvers.lp import chunk_form, chunk_strategy, solve_lp  # scipy only where it is needed

            return normalise(chunk, chunk_strategy(chunk, solve_lp(chunk_form(chunk))))
        schedule = variant(self.settings.variant)
        regrets, sums = chunk.zeros(), chunk.zeros()
        guesses = chunk.zeros() if schedule.predictive else None
        iterate(chunk, schedule, 0, self.settings.iterations + sweep, regrets, sums, guesses)
        return normalise(chunk, sums)

    def _row_reach(self, t: int, b: int, weights: tuple[Floats, Floats] | list[Floats]) -> ChunkStrategy:
        """The root range of each row: how much a row's strategy counts in the average."""
        rows = self.layout.board(t, b).rows
        first, second = (
            np.bincount(rows[p].group, weights=weights[p], minlength=rows[p].n_groups).astype(np.float64)
            for p in (0, 1)
        )
        return first, second

    def _below(self, t: int) -> Payoffs:
        """Stored payoffs of the chunks below, estimates where nothing is stored."""

        def payoffs(t: int, b: int, r: int) -> Floats:
            stored = self.store.get(PAYOFF, self.layout.key(t, b, r))
            return self._estimate(t, b, r) if stored is None else stored

        return payoffs

    def _played(self, t: int, b: int, r: int) -> ChunkStrategy | None:
        array = self.store.get(self.settings.played, self.layout.key(t, b, r))
        return None if array is None else split(self.layout, t, b, r, array)

    def _load(self, locker: str, key: bytes, chunk: Chunk) -> ChunkStrategy:
        array = self.store.get(locker, key)
        return chunk.zeros() if array is None else _split(array, chunk.forest.n_slots, chunk.n_rows)


Results = dict[str, np.ndarray]
"""What a visit writes: locker → array, all under the chunk's key."""


def split(layout: Layout, t: int, b: int, r: int, array: np.ndarray) -> ChunkStrategy:
    """Both players' ``[slot, row]`` from a value of the strategy, regret or guess locker."""
    return _split(array, layout.tree(t, r).forest.n_slots, layout.n_rows(t, b))


def _split(array: np.ndarray, slots: tuple[int, int], rows: tuple[int, int]) -> ChunkStrategy:
    cut = slots[0] * rows[0]
    return array[:cut].reshape(slots[0], rows[0]), array[cut:].reshape(slots[1], rows[1])


def join(arrays: ChunkStrategy) -> np.ndarray:
    """Both players' arrays in one value: player 0's ``[slot, row]``, then player 1's, flat."""
    return np.concatenate([arrays[0].ravel(), arrays[1].ravel()])
