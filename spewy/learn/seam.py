"""The seam between a chunk and what follows it: a visit enters a chunk through a leaf, and does not know which kind.

`MatrixLeaf`: payoff matrices stand for the chunks below, *stored* ones or *estimates*, so that their play is
fixed while this chunk learns. `LiveLeaf`: the chunks below are entered on the way and improve too.

Either way player p's hands weigh as in the initial range in p's regrets, the opponent's by reach, and sums grow by own
reach, root range included. The chunk above sees the root's payoff matrices ``U[view, x, y]``, view p with p's weights.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from lockers import Reads
from solvers.discount import Variant
from solvers.game import Strategies
from solvers.matrix.chunk import Chunk, ChunkStrategy, iterate, normalise
from solvers.matrix.leaves import row_matrices
from solvers.reference.cfr import Cfr
from solvers.tree import Floats
from spewy.chunks.layout import Layout
from spewy.chunks.live_game import with_ranges
from spewy.chunks.subgame import Subgames
from spewy.learn.leaves import Payoffs, build_chunk, per_pair, root_payoffs, row_reach, two_views
from spewy.records.chunks import Chunks, Kind

Arrays = Mapping[bytes, Mapping[Kind, ChunkStrategy]]
"""By chunk's key: per player ``[slot, row]`` of each kind that the solve keeps."""


class Entered(Protocol):
    """A chunk that both players' ranges enter, with the regrets and sums that its lockers hold."""

    def iterate(self, start: int, iterations: int) -> None:
        """Do the CFR iterations ``start + 1 .. start + iterations``."""
        ...

    def arrays(self) -> Arrays:
        """What the iterations made of this chunk, and of those below that they improved."""
        ...

    def root_payoffs(self, views: int) -> Floats:
        """``U[view, row of player 0, row of player 1]`` at the root, when all follow the current strategies."""
        ...


class Leaf(Protocol):
    """What a chunk's chance leaves are."""

    def enter(self, t: int, b: int, r: int, ranges: Sequence[Floats]) -> Entered:
        """Enter chunk (t, b, r) with the ranges ``[hand]`` of both players."""
        ...


class MatrixLeaf:
    """Matrices stand for the chunks below; a visit improves one chunk."""

    def __init__(self, layout: Layout, store: Reads, schedule: Variant, payoffs: Payoffs) -> None:
        self._layout, self._schedule, self._payoffs = layout, schedule, payoffs
        self._chunks = {kind: Chunks(layout, store, kind) for kind in kinds(schedule)}

    def enter(self, t: int, b: int, r: int, ranges: Sequence[Floats]) -> Entered:
        """Build the chunk's matrix game."""
        layout = self._layout
        chunk = build_chunk(layout, t, b, r, two_views(layout, t, b, ranges), self._payoffs)
        found = {kind: chunks.get(t, b, r) or chunk.zeros() for kind, chunks in self._chunks.items()}
        reach = row_reach(layout, t, b, ranges)
        return _EnteredMatrices(layout.key(t, b, r), chunk, self._schedule, reach, found)


@dataclass(frozen=True)
class _EnteredMatrices:
    key: bytes
    chunk: Chunk
    schedule: Variant
    own_reach: ChunkStrategy
    found: Mapping[Kind, ChunkStrategy]

    def iterate(self, start: int, iterations: int) -> None:
        found, guesses = self.found, self.found.get(Kind.GUESSES)
        regrets, sums = found[Kind.REGRETS], found[Kind.SUMS]
        iterate(
            self.chunk, self.schedule, start, iterations, regrets, sums, guesses, own_reach=self.own_reach
        )

    def arrays(self) -> Arrays:
        return {self.key: self.found}

    def root_payoffs(self, views: int) -> Floats:
        current = self.found.get(Kind.GUESSES, self.found[Kind.REGRETS])
        return root_payoffs(self.chunk, normalise(self.chunk, current), views)


class LiveLeaf:
    """The chunks below are entered; a visit improves the chunk and all that follows it on its board.

    Args:
        parts: makes the chunks' layouts; made once, it saves the work of later visits.
        store: holds the chunks' arrays.
        schedule: of CFR.
        threads: share the boards of a part.
    """

    def __init__(self, parts: Subgames, store: Reads, schedule: Variant, threads: int) -> None:
        self._parts, self._store, self._schedule, self._threads = parts, store, schedule, threads

    def enter(self, t: int, b: int, r: int, ranges: Sequence[Floats]) -> Entered:
        """Read the arrays of all chunks of the part."""
        part = self._parts.of(t, b, r)
        game = with_ranges(part.live, (ranges[0][None], ranges[1][None]))
        cfr = Cfr(game, self._schedule, threads=self._threads)
        entered = _EnteredLive(part, cfr, ranges)
        for kind, whole in entered.whole().items():
            Chunks(part, self._store, kind).whole(whole)
        return entered


@dataclass(frozen=True)
class _EnteredLive:
    part: Layout
    cfr: Cfr
    ranges: Sequence[Floats]

    def iterate(self, start: int, iterations: int) -> None:
        self.cfr.iteration = start
        self.cfr.run(iterations)

    def arrays(self) -> Arrays:
        part, whole = self.part, self.whole()
        return {
            part.key(t, b, r): {
                kind: part.take((arrays[t][0][b], arrays[t][1][b]), t, b, r) for kind, arrays in whole.items()
            }
            for t in range(part.n_rounds)
            for b, r in part.chunks(t)
        }

    def root_payoffs(self, views: int) -> Floats:
        part, cfr, weighing = self.part, self.cfr, two_views(self.part, 0, 0, self.ranges)
        current = cfr.regrets if cfr.guesses is None else cfr.guesses
        out = []
        for p in range(views):
            own, other = part.hands(0, 0, p), part.hands(0, 0, 1 - p)
            mine, theirs = weighing.own[p], weighing.other[1 - p]
            joint = row_matrices(own, other, mine, theirs, cfr.game.n_ids)[0]
            total = np.zeros_like(joint)
            for y in range(other.n_groups):
                reach = np.where(other.group == y, theirs, 0.0)[None]  # one walk for each opposing row
                values = cfr.walker.evaluate(p, current, reach=reach)[0, : len(mine)]
                total[:, y] = np.bincount(own.group, weights=mine * values, minlength=own.n_groups)
            payoffs = per_pair(total, joint)
            out.append(payoffs if p == 0 else -payoffs.T)
        return np.array(out)

    def whole(self) -> Mapping[Kind, Strategies]:
        """The arrays of each kind as the live game lays them out."""
        cfr = self.cfr
        guesses = {} if cfr.guesses is None else {Kind.GUESSES: cfr.guesses}
        return {Kind.REGRETS: cfr.regrets, Kind.SUMS: cfr.sums, **guesses}


def kinds(schedule: Variant) -> tuple[Kind, ...]:
    """The arrays that regrets are kept in, and what comes of them."""
    return (Kind.REGRETS, Kind.SUMS, *((Kind.GUESSES,) if schedule.predictive else ()))
