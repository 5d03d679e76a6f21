"""Visits: a visit reads a chunk's data, improves the chunk, and stores the result in one transaction.

- ``regret``: a few CFR iterations from the stored regrets, with ranges of the *current* strategies above and payoffs of
  the current strategies below. Strategy sums weigh by own reach, root range included. If each sweep visits every chunk,
  this is CFR, cut into chunks.
- ``average``: a local optimum for ranges and payoffs of the *average* strategies is added to the sum of all earlier
  optima, weighted by the number of the chunk's visit and by own reach.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from lockers import Reads, Store
from solvers.discount import variant
from solvers.matrix.chunk import Chunk, ChunkStrategy, iterate, normalise, reach_of
from spewy.chunks.layout import Layout
from spewy.chunks.subgame import Subgames
from spewy.learn.chunk_matrices import Payoffs, build_chunk, one_view, root_payoffs, row_reach
from spewy.learn.estimates import Estimate, estimator
from spewy.learn.leaf import LeafEvaluator, LiveLeaves, MatrixLeaves, kinds
from spewy.learn.payoffs import StoredPayoffs
from spewy.learn.playdown import PlayDown
from spewy.records.chunks import Chunks, Kind, Visit, commit_visit, visits


@dataclass(frozen=True)
class VisitSettings:
    """How chunks are solved.

    Attributes:
        integrate: "regret" or "average", as in the module's docstring.
        method: solver of a chunk's local optimum in "average": CFR or linear programming.
        variant: variant of CFR.
        iterations: CFR iterations of one visit. In "average" each visit of a chunk does one more than the visit before,
            so that the error of the local optima leaves no floor.
        tremble: in "average", share of the initial range that keeps every row alive.
        first_live: first round of the game whose chunks are not visited on their own, but entered live from the round
            above; None: all chunks are visited.
        estimate: estimate of the payoff matrices of chunks that were never visited.
    """

    integrate: Literal["regret", "average"] = "regret"
    method: Literal["cfr", "lp"] = "cfr"
    variant: str = "dcfr"
    iterations: int = 1
    tremble: float = 1e-3
    first_live: int | None = None
    estimate: Estimate = "no-betting"

    @property
    def played(self) -> Kind:
        """Kind of arrays from which other chunks read this chunk's strategies."""
        if self.integrate == "average":
            return Kind.SUMS
        return Kind.GUESSES if variant(self.variant).predictive else Kind.REGRETS

    @property
    def kept(self) -> tuple[Kind, ...]:
        """Kinds of arrays that a visit reads and writes for its own chunk."""
        return (Kind.SUMS,) if self.integrate == "average" else kinds(variant(self.variant))

    def enters_live(self, layout: Layout, t: int) -> bool:
        """Whether the chunks below round t of a layout are live, and improve together with round t."""
        return layout.boards[t].round + 1 == self.first_live

    def views(self, layout: Layout, t: int) -> int:
        """The number of payoff matrices at the root of a chunk of round t.

        One matrix is enough if rows are single hands, since the weight of a hand cancels.
        """
        one = self.integrate == "average" or layout.problem.rows[layout.boards[t].round] is None
        return 1 if one else 2


class Improver:
    """Computes the results of visits, for one level of one sweep; strategies above the level are read once.

    Args:
        layout: layout of the problem.
        store: the store that visits read.
        settings: how chunks are solved.
        subgames: subgames of the layout, if several improvers share them.
        threads: number of threads for a visit to a chunk above live chunks.
        estimate: the estimate of the settings, if several share it; None: an own one.
    """

    def __init__(
        self,
        layout: Layout,
        store: Reads,
        settings: VisitSettings,
        subgames: Subgames | None = None,
        threads: int = 1,
        estimate: Payoffs | None = None,
    ) -> None:
        self.layout = layout
        self.settings = settings
        schedule = variant(settings.variant)
        estimate = estimate or estimator(settings.estimate, layout, store)
        self._payoffs = StoredPayoffs(layout, store, estimate)
        self._matrices = MatrixLeaves(layout, store, schedule, self._payoffs)
        self._live = LiveLeaves(subgames or Subgames(layout), store, schedule, threads)
        self._sums = Chunks(layout, store)
        self._play_down = PlayDown(layout, Chunks(layout, store, settings.played).get)

    def visit(self, t: int, b: int, r: int, number: int) -> Visit:
        """Compute the result of visit ``number`` (from 1) of chunk (t, b, r)."""
        improve = self._regret if self.settings.integrate == "regret" else self._average
        return improve(t, b, r, number)

    def _regret(self, t: int, b: int, r: int, number: int) -> Visit:
        """Improve a chunk by CFR; discounts depend on its number of visits, not of sweeps."""
        layout, iterations = self.layout, self.settings.iterations
        live = self.settings.enters_live(layout, t)
        leaves: LeafEvaluator = self._live if live else self._matrices
        entered = leaves.enter(t, b, r, [side[r] for side in self._play_down.ranges(t, b)])
        entered.iterate((number - 1) * iterations, iterations)
        return Visit(
            entered.arrays(), entered.root_payoffs(self.settings.views(layout, t)) if t > 0 else None
        )

    def _average(self, t: int, b: int, r: int, number: int) -> Visit:
        settings, layout = self.settings, self.layout
        ranges = [side[r] for side in self._play_down.ranges(t, b)]
        weighing = one_view(layout, t, b, ranges, settings.tremble)
        chunk = build_chunk(layout, t, b, r, weighing, self._payoffs)
        local = local_optimum(chunk, settings, number)
        sums = self._sums.get(t, b, r) or chunk.zeros()
        own_reach = row_reach(layout, t, b, weighing.own)
        for p in (0, 1):
            sums[p][:] += number * reach_of(chunk, local, p, own_reach[p])[1:]
        arrays = {layout.key(t, b, r): {Kind.SUMS: sums}}
        views = settings.views(layout, t)
        return Visit(arrays, root_payoffs(chunk, normalise(chunk, sums), views) if t > 0 else None)


class Visitor:
    """Makes visits against one store, for one level of one sweep.

    Args:
        layout: layout of the problem.
        store: the store to read from and to write to.
        settings: how chunks are solved.
        subgames: subgames of the layout, if several visitors share them.
        threads: number of threads for a visit to a chunk above live chunks.
        estimate: the estimate of the settings, if several share it; None: an own one.
    """

    def __init__(
        self,
        layout: Layout,
        store: Store,
        settings: VisitSettings,
        subgames: Subgames | None = None,
        threads: int = 1,
        estimate: Payoffs | None = None,
    ) -> None:
        self.layout = layout
        self.store = store
        self._improver = Improver(layout, store, settings, subgames, threads, estimate)

    def visit(self, t: int, b: int, r: int, sweep: int) -> bool:
        """Visit chunk (t, b, r) in a sweep; return False if the sweep has already visited the chunk."""
        while True:
            seen = visits(self.layout, self.store, t, b, r)
            if seen[1] >= sweep:
                return False
            visit = self._improver.visit(t, b, r, seen[0] + 1)
            if commit_visit(self.layout, self.store, (t, b, r), seen, sweep, visit):
                return True


def local_optimum(chunk: Chunk, settings: VisitSettings, number: int) -> ChunkStrategy:
    """Compute the strategies ``[slot, row]`` that visit ``number`` of a chunk adds to the average."""
    if sum(chunk.forest.n_slots) == 0:
        return chunk.zeros()
    if settings.method == "lp":
        from solvers.matrix.lp import chunk_form, chunk_strategy, solve_lp  # scipy only where it is needed

        return normalise(chunk, chunk_strategy(chunk, solve_lp(chunk_form(chunk))))
    schedule = variant(settings.variant)
    regrets, sums = chunk.zeros(), chunk.zeros()
    guesses = chunk.zeros() if schedule.predictive else None
    iterate(chunk, schedule, 0, settings.iterations + number, regrets, sums, guesses)
    return normalise(chunk, sums)
