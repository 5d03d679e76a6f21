"""A visit: read what a chunk needs, improve it, and integrate the result into the lockers in one transaction.

``regret``: a few CFR iterations from the stored regrets, ranges from the *current* strategies above, payoffs of the
current strategies below; sums weigh by own reach, root range included. With every chunk visited in each sweep this is
CFR, cut into chunks.
``average``: a local optimum for the given ranges and payoffs, ranges and payoffs those of the *average* strategies;
it is added to the sum of all earlier ones, weighted by the number of the chunk's visit and by own reach.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from lockers import Reads, Store
from solvers.discount import variant
from solvers.matrix.chunk import Chunk, ChunkStrategy, iterate, normalise, reach_of
from spewy.chunks.layout import Layout
from spewy.chunks.subgame import Subgames
from spewy.learn.leaves import Stored, build_chunk, one_view, root_payoffs, row_reach
from spewy.learn.playdown import PlayDown
from spewy.learn.seam import Leaf, LiveLeaf, MatrixLeaf, kinds
from spewy.records.chunks import Chunks, Kind, Visit, commit_visit, visits


@dataclass(frozen=True)
class VisitSettings:
    """How chunks are solved.

    ``iterations`` are the CFR iterations of one visit. A chunk's visit that averages does one more than the last, so
    that the error of the local optima leaves no floor. ``tremble`` applies to ``average`` too. ``first_live`` is the
    first round of the game whose chunks are not visited on their own: those of the round above enter them live. None:
    all are visited.
    """

    integrate: Literal["regret", "average"] = "regret"
    method: Literal["cfr", "lp"] = "cfr"
    variant: str = "dcfr"
    iterations: int = 1
    tremble: float = 1e-3
    first_live: int | None = None

    @property
    def played(self) -> Kind:
        """The arrays whose strategies are played down: what chunks below and above see of a chunk."""
        if self.integrate == "average":
            return Kind.SUMS
        return Kind.GUESSES if variant(self.variant).predictive else Kind.REGRETS

    @property
    def kept(self) -> tuple[Kind, ...]:
        """The arrays that a visit reads of its own chunk, and leaves of it."""
        return (Kind.SUMS,) if self.integrate == "average" else kinds(variant(self.variant))

    def enters_live(self, layout: Layout, t: int) -> bool:
        """Whether the chunks below round t of a layout improve with those of round t."""
        return layout.boards[t].round + 1 == self.first_live

    def views(self, layout: Layout, t: int) -> int:
        """How many payoff matrices a chunk of round t leaves at its root.

        One will do where rows are hands: what weighs a hand against itself cancels.
        """
        one = self.integrate == "average" or layout.problem.rows[layout.boards[t].round] is None
        return 1 if one else 2


class Improver:
    """Makes what visits leave, for one level of one sweep: strategies above it are read once and kept.

    Args:
        layout: of the problem.
        store: what visits read.
        settings: how chunks are solved.
        parts: of the layout, where several share them.
        threads: of a visit to a chunk over live ones.
    """

    def __init__(
        self,
        layout: Layout,
        store: Reads,
        settings: VisitSettings,
        parts: Subgames | None = None,
        threads: int = 1,
    ) -> None:
        self.layout = layout
        self.settings = settings
        schedule = variant(settings.variant)
        self._payoffs = Stored(layout, store)
        self._stored = MatrixLeaf(layout, store, schedule, self._payoffs)
        self._live = LiveLeaf(parts or Subgames(layout), store, schedule, threads)
        self._sums = Chunks(layout, store)
        self._play_down = PlayDown(layout, Chunks(layout, store, settings.played).get)

    def visit(self, t: int, b: int, r: int, number: int) -> Visit:
        """What visit ``number`` of chunk (t, b, r) leaves, from 1."""
        improve = self._regret if self.settings.integrate == "regret" else self._average
        return improve(t, b, r, number)

    def _regret(self, t: int, b: int, r: int, number: int) -> Visit:
        """Discounts go by visits, whatever sweeps missed the chunk."""
        layout, iterations = self.layout, self.settings.iterations
        leaf: Leaf = self._live if self.settings.enters_live(layout, t) else self._stored
        entered = leaf.enter(t, b, r, [side[r] for side in self._play_down.ranges(t, b)])
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
        layout: of the problem.
        store: the store to read from and to write to.
        settings: how chunks are solved.
        parts: of the layout, where visitors share them.
        threads: of a visit to a chunk over live ones.
    """

    def __init__(
        self,
        layout: Layout,
        store: Store,
        settings: VisitSettings,
        parts: Subgames | None = None,
        threads: int = 1,
    ) -> None:
        self.layout = layout
        self.store = store
        self._improver = Improver(layout, store, settings, parts, threads)

    def visit(self, t: int, b: int, r: int, sweep: int) -> bool:
        """Visit chunk (t, b, r) for a sweep. False if this sweep's visit was counted before: nothing changes then."""
        while True:
            seen = visits(self.layout, self.store, t, b, r)
            if seen[1] >= sweep:
                return False
            left = self._improver.visit(t, b, r, seen[0] + 1)
            if commit_visit(self.layout, self.store, (t, b, r), seen, sweep, left):
                return True


def local_optimum(chunk: Chunk, settings: VisitSettings, number: int) -> ChunkStrategy:
    """The strategies ``[slot, row]`` that a chunk's visit of this number averages in."""
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
