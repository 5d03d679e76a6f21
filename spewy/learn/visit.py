"""Visit chunks: a visit reads a chunk's arrays, improves the chunk, and stores the result in one transaction.

There are two methods:

- ``regret``: a few CFR iterations that start from the stored regrets. Ranges follow from the *current* strategies of
  earlier rounds, and payoffs from those of later rounds. Strategy sums are weighted by the player's own reach, which
  includes the range at the chunk's root. If each sweep visits every chunk, this is CFR, divided into chunks.
- ``average``, the paper's method: ranges and payoffs follow from the *average* strategies. The visit computes optimal
  strategies of the chunk for these ranges and payoffs, and adds them to the strategy sums. Their weight is the number
  of the chunk's visits so far, times the player's own reach.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from lockers import Reads, Store
from solvers.discount import variant
from solvers.matrix.chunk import Chunk, iterate, normalise, reach_of
from solvers.state import ChunkStrategy
from spewy.chunks.layout import Layout, Subgames
from spewy.learn.leaf import LeafEvaluator, LiveLeaves, MatrixLeaves, kinds
from spewy.learn.payoffs import StoredPayoffs, build_chunk, one_view, root_payoffs, row_reach
from spewy.learn.playdown import PlayDown
from spewy.records.chunks import Chunks, Kind, Visit, commit_visit, visits


@dataclass(frozen=True)
class VisitSettings:
    """Settings of a visit, which improves the strategies of one chunk: the betting of one round after a line.

    Attributes:
        integrate: "regret" updates regrets by CFR; "average" adds the optimal strategy of the chunk to the average.
        method: how "average" computes the optimal strategy of a chunk: "cfr" or "lp" (linear programming).
        iterations: number of CFR iterations in a visit. With "average" each visit of a chunk makes one iteration more
            than the previous visit, so that the error of the strategies goes to 0.
        tremble: with "average", fraction of the initial range that is added to each range, so that no row has weight 0.
        first_live: first round of the game whose chunks are live. A visit to a chunk of the previous round improves all
            live chunks that follow. None: every chunk is visited by itself.
    """

    integrate: Literal["regret", "average"] = "regret"
    method: Literal["cfr", "lp"] = "cfr"
    variant: str = "dcfr"
    iterations: int = 1
    tremble: float = 1e-3
    first_live: int | None = None

    @property
    def played(self) -> Kind:
        """Kind of the arrays from which a visit computes the strategies of earlier chunks."""
        if self.integrate == "average":
            return Kind.SUMS
        return Kind.GUESSES if variant(self.variant).predictive else Kind.REGRETS

    @property
    def kept(self) -> tuple[Kind, ...]:
        """Kinds of arrays that a visit reads and writes in the chunk that it improves."""
        return (Kind.SUMS,) if self.integrate == "average" else kinds(variant(self.variant))

    def enters_live(self, layout: Layout, t: int) -> bool:
        """Whether a visit to a chunk of round t of a layout also improves all chunks that follow it."""
        return layout.boards[t].round + 1 == self.first_live

    def views(self, layout: Layout, t: int) -> int:
        """Number of payoff matrices that a chunk of round t stores: 2, one for each player's regrets, or 1 for both.

        The payoff of a row is a weighted mean over the hands of the row. If rows are single hands, the weights cancel
        out, so one matrix is enough. With "average" one matrix is enough too, since the weights of hands are the
        same for both players.
        """
        one_matrix = self.integrate == "average" or layout.problem.rows[layout.boards[t].round] is None
        return 1 if one_matrix else 2


class Improver:
    """Computes the results of visits to chunks of one round in one sweep, without writing them.

    The strategies of earlier rounds are read once and cached, so later sweeps need a new object.

    Args:
        threads: number of threads for a visit that also improves later rounds.
    """

    def __init__(
        self,
        layout: Layout,
        store: Reads,
        settings: VisitSettings,
        subgames: Subgames | None = None,
        threads: int = 1,
    ) -> None:
        self.layout = layout
        self.settings = settings
        schedule = variant(settings.variant)
        self._payoffs = StoredPayoffs(layout, store)
        self._matrices = MatrixLeaves(layout, store, schedule, self._payoffs)
        self._live = LiveLeaves(subgames or Subgames(layout), store, schedule, threads)
        self._sums = Chunks(layout, store)
        self._play_down = PlayDown(layout, Chunks(layout, store, settings.played).get)

    def visit(self, t: int, b: int, r: int, number: int) -> Visit:
        """Compute the results of the ``number``-th visit to the chunk that line r enters on board b of round t.

        These are the new arrays and, if t is above 0, the chunk's payoff matrices.
        """
        improve = self._regret if self.settings.integrate == "regret" else self._average
        return improve(t, b, r, number)

    def _regret(self, t: int, b: int, r: int, number: int) -> Visit:
        """Improve the chunk by CFR iterations; their discounts depend on the number of visits, not on the sweep."""
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
    """Visits chunks of one round in one sweep, and writes the results to the store.

    Args:
        threads: number of threads for a visit that also improves later rounds.
    """

    def __init__(
        self,
        layout: Layout,
        store: Store,
        settings: VisitSettings,
        subgames: Subgames | None = None,
        threads: int = 1,
    ) -> None:
        self.layout = layout
        self.store = store
        self._improver = Improver(layout, store, settings, subgames, threads)

    def visit(self, t: int, b: int, r: int, sweep: int) -> bool:
        """Visit the chunk that line r enters on board b of round t, unless the sweep has already visited it.

        Returns whether this call has visited the chunk.
        """
        while True:
            seen = visits(self.layout, self.store, t, b, r)
            if seen[1] >= sweep:
                return False
            visit = self._improver.visit(t, b, r, seen[0] + 1)
            if commit_visit(self.layout, self.store, (t, b, r), seen, sweep, visit):
                return True


def local_optimum(chunk: Chunk, settings: VisitSettings, number: int) -> ChunkStrategy:
    """Compute both players' optimal strategies in a chunk, exactly by linear programming or approximately by CFR.

    CFR makes ``settings.iterations + number`` iterations, where ``number`` counts the visits to the chunk from 1.
    """
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
