"""Leaf evaluators: compute the values of a chunk's chance leaves while a visit improves the chunk.

There are two kinds, with the common protocol `LeafEvaluator`:

- `MatrixLeaves`: the values are payoff matrices of the chunks below, stored or estimated. The strategies of these
  chunks do not change during the visit.
- `LiveLeaves`: the visit enters the chunks below as well, and improves them together with the chunk.

For player p's regrets, p's hands weigh as in the initial range, and the opponent's hands weigh by reach. Strategy sums
grow by the player's own reach, which includes the range at the chunk's root.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from lockers import Reads
from solvers.discount import Variant
from solvers.game import Strategies
from solvers.matrix.chunk import Chunk, iterate, normalise
from solvers.matrix.leaves import row_matrices
from solvers.reference.cfr import Cfr
from solvers.state import ChunkStrategy
from solvers.tree import Floats
from spewy.chunks.layout import Layout, Subgames
from spewy.chunks.live_game import with_ranges
from spewy.learn.payoffs import Payoffs, build_chunk, per_pair, root_payoffs, row_reach, two_views
from spewy.records.chunks import Chunks, Kind

Arrays = Mapping[bytes, Mapping[Kind, ChunkStrategy]]
"""Regrets, strategy sums and maybe predictions of chunks: for each chunk (by its key) and kind, both players' arrays.

An array is ``[slot, row]``, with one slot for each action of each of the player's decisions.
"""


class LeafEvaluator(Protocol):
    """Finds the values of chunks' chance leaves while visits improve the chunks."""

    def enter(self, t: int, b: int, r: int, ranges: Sequence[Floats]) -> EnteredChunk:
        """Begin a visit of the chunk that line r enters on board b of round t.

        ``ranges`` are both players' ranges at the chunk's root, each ``[hand]``.
        """
        ...


class EnteredChunk(Protocol):
    """A chunk during a visit, with both players' ranges at its root, its regrets and its strategy sums."""

    def iterate(self, start: int, iterations: int) -> None:
        """Do the CFR iterations with the numbers ``start + 1`` to ``start + iterations``."""
        ...

    def arrays(self) -> Arrays:
        """Return the arrays of this chunk, and of all chunks below it that the visit improved."""
        ...

    def root_payoffs(self, views: int) -> Floats:
        """Compute the payoffs ``[matrix, row of player 0, row of player 1]`` at the root under the current strategies.

        A payoff matrix has the chips that player 0 wins, averaged over the hands of two rows. In matrix p, player p's
        hands weigh as in the initial range and the opponent's hands by reach: regret updates of player p require this.
        With one view there is player 0's matrix alone.
        """
        ...


class MatrixLeaves:
    """Evaluates chance leaves by payoff matrices of the chunks below; a visit improves only the visited chunk."""

    def __init__(self, layout: Layout, store: Reads, schedule: Variant, payoffs: Payoffs) -> None:
        self._layout, self._schedule, self._payoffs = layout, schedule, payoffs
        self._chunks = {kind: Chunks(layout, store, kind) for kind in kinds(schedule)}

    def enter(self, t: int, b: int, r: int, ranges: Sequence[Floats]) -> EnteredChunk:
        layout = self._layout
        chunk = build_chunk(layout, t, b, r, two_views(layout, t, b, ranges), self._payoffs)
        stored = {kind: chunks.get(t, b, r) or chunk.zeros() for kind, chunks in self._chunks.items()}
        reach = row_reach(layout, t, b, ranges)
        return _MatrixChunk(layout.key(t, b, r), chunk, self._schedule, reach, stored)


@dataclass(frozen=True)
class _MatrixChunk:
    key: bytes
    chunk: Chunk
    schedule: Variant
    own_reach: ChunkStrategy
    kept: Mapping[Kind, ChunkStrategy]

    def iterate(self, start: int, iterations: int) -> None:
        regrets, sums, guesses = self.kept[Kind.REGRETS], self.kept[Kind.SUMS], self.kept.get(Kind.GUESSES)
        iterate(
            self.chunk, self.schedule, start, iterations, regrets, sums, guesses, own_reach=self.own_reach
        )

    def arrays(self) -> Arrays:
        return {self.key: self.kept}

    def root_payoffs(self, views: int) -> Floats:
        current = self.kept.get(Kind.GUESSES, self.kept[Kind.REGRETS])
        return root_payoffs(self.chunk, normalise(self.chunk, current), views)


class LiveLeaves:
    """Evaluates chance leaves by iterating on the chunks below as well; a visit improves the chunk's whole subgame.

    Args:
        threads: number of threads, which divide the boards of a subgame among themselves.
    """

    def __init__(self, subgames: Subgames, store: Reads, schedule: Variant, threads: int) -> None:
        self._subgames, self._store, self._schedule, self._threads = subgames, store, schedule, threads

    def enter(self, t: int, b: int, r: int, ranges: Sequence[Floats]) -> EnteredChunk:
        subgame = self._subgames.of(t, b, r)
        game = with_ranges(subgame.live, (ranges[0][None], ranges[1][None]))
        cfr = Cfr(game, self._schedule, threads=self._threads)
        entered = _LiveChunk(subgame, cfr, ranges)
        for kind, whole in entered.whole().items():
            Chunks(subgame, self._store, kind).whole(whole)
        return entered


@dataclass(frozen=True)
class _LiveChunk:
    subgame: Layout
    cfr: Cfr
    ranges: Sequence[Floats]

    def iterate(self, start: int, iterations: int) -> None:
        self.cfr.iteration = start
        self.cfr.run(iterations)

    def arrays(self) -> Arrays:
        subgame, whole = self.subgame, self.whole()
        return {
            subgame.key(t, b, r): {
                kind: subgame.take((arrays[t][0][b], arrays[t][1][b]), t, b, r)
                for kind, arrays in whole.items()
            }
            for t in range(subgame.n_rounds)
            for b, r in subgame.chunks(t)
        }

    def root_payoffs(self, views: int) -> Floats:
        subgame, cfr, weighing = self.subgame, self.cfr, two_views(self.subgame, 0, 0, self.ranges)
        current = cfr.regrets if cfr.guesses is None else cfr.guesses
        out = []
        for p in range(views):
            own, other = subgame.hands(0, 0, p), subgame.hands(0, 0, 1 - p)
            own_weights, weights = weighing.own[p], weighing.other[1 - p]
            joint = row_matrices(own, other, own_weights, weights, cfr.game.n_ids)[0]
            total = np.zeros_like(joint)
            for y in range(other.n_rows):
                reach = np.where(other.row == y, weights, 0.0)[None]  # one pass for each row of the opponent
                values = cfr.walker.evaluate(p, current, reach=reach)[0, : len(own_weights)]
                total[:, y] = np.bincount(own.row, weights=own_weights * values, minlength=own.n_rows)
            payoffs = per_pair(total, joint)
            out.append(payoffs if p == 0 else -payoffs.T)
        return np.array(out)

    def whole(self) -> Mapping[Kind, Strategies]:
        cfr = self.cfr
        guesses = {} if cfr.guesses is None else {Kind.GUESSES: cfr.guesses}
        return {Kind.REGRETS: cfr.regrets, Kind.SUMS: cfr.sums, **guesses}


def kinds(schedule: Variant) -> tuple[Kind, ...]:
    """Return the kinds of arrays that a variant of CFR stores: regrets, strategy sums and maybe predictions."""
    return (Kind.REGRETS, Kind.SUMS, *((Kind.GUESSES,) if schedule.predictive else ()))
