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

from lockers import Store
from solvers.chunk import Chunk, ChunkStrategy, iterate, normalise, reach_of
from solvers.forest import Floats
from solvers.variants import variant
from spewy.chunks.layout import Layout
from spewy.learn.leaves import Payoffs, build_chunk, no_more_betting, one_view, root_payoffs, two_views
from spewy.learn.playdown import PlayDown
from spewy.records.chunks import Chunks, Kind, Visit, commit_visit, read_payoffs, visits


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
    def played(self) -> Kind:
        """The arrays whose strategies are played down: what chunks below and above see of a chunk."""
        if self.integrate == "average":
            return Kind.SUMS
        return Kind.GUESSES if variant(self.variant).predictive else Kind.REGRETS


class Visitor:
    """Makes visits against one store, for one level of one sweep: strategies above it are read once and kept."""

    def __init__(self, layout: Layout, store: Store, settings: VisitSettings) -> None:
        self.layout = layout
        self.store = store
        self.settings = settings
        self._estimate = no_more_betting(layout)
        self._chunks = {kind: Chunks(layout, store, kind) for kind in Kind}
        self._play_down = PlayDown(layout, self._chunks[settings.played].get)

    def visit(self, t: int, b: int, r: int, sweep: int) -> bool:
        """Visit chunk (t, b, r) for a sweep. False if this sweep's visit was counted before: nothing changes then."""
        improve = self._regret if self.settings.integrate == "regret" else self._average
        while True:
            seen = visits(self.layout, self.store, t, b, r)
            if seen[1] >= sweep:
                return False
            left = improve(t, b, r, sweep)
            if commit_visit(self.layout, self.store, (t, b, r), seen, sweep, left):
                return True

    def _regret(self, t: int, b: int, r: int, sweep: int) -> Visit:
        settings, layout = self.settings, self.layout
        schedule = variant(settings.variant)
        ranges = [side[r] for side in self._play_down.ranges(t, b)]
        weighing = two_views(layout, t, b, ranges)
        chunk = build_chunk(layout, t, b, r, weighing, self._below(t))
        own_reach = self._row_reach(t, b, ranges)
        kinds = [Kind.REGRETS, Kind.SUMS, *([Kind.GUESSES] if schedule.predictive else [])]
        arrays = {kind: self._load(kind, t, b, r, chunk) for kind in kinds}
        regrets, sums, guesses = arrays[Kind.REGRETS], arrays[Kind.SUMS], arrays.get(Kind.GUESSES)
        start = (sweep - 1) * settings.iterations
        iterate(chunk, schedule, start, settings.iterations, regrets, sums, guesses, own_reach=own_reach)
        current = regrets if guesses is None else guesses
        # one payoff matrix will do where rows are hands: what weighs a hand against itself cancels
        views = 1 if layout.problem.rows[layout.boards[t].round] is None else 2
        return Visit(arrays, root_payoffs(chunk, normalise(chunk, current), views) if t > 0 else None)

    def _average(self, t: int, b: int, r: int, sweep: int) -> Visit:
        settings, layout = self.settings, self.layout
        ranges = [side[r] for side in self._play_down.ranges(t, b)]
        weighing = one_view(layout, t, b, ranges, settings.tremble)
        chunk = build_chunk(layout, t, b, r, weighing, self._below(t))
        local = self._local_optimum(chunk, sweep)
        sums = self._load(Kind.SUMS, t, b, r, chunk)
        own_reach = self._row_reach(t, b, weighing.own)
        for p in (0, 1):
            sums[p][:] += sweep * reach_of(chunk, local, p, own_reach[p])[1:]
        return Visit({Kind.SUMS: sums}, root_payoffs(chunk, normalise(chunk, sums), 1) if t > 0 else None)

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
            stored = read_payoffs(self.layout, self.store, t, b, r)
            return self._estimate(t, b, r) if stored is None else stored

        return payoffs

    def _load(self, kind: Kind, t: int, b: int, r: int, chunk: Chunk) -> ChunkStrategy:
        stored = self._chunks[kind].get(t, b, r)
        return chunk.zeros() if stored is None else stored
