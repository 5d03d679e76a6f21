"""Payoff matrices of chunks by board bucket, row against row: ``U[x, y] = Σ_boards A[x, y] / Σ_boards W[x, y]``.

On each board both ranges are played down by the average strategies, and weigh the hands within rows as in
`spewy.learn.chunk_matrices`: ``W`` is the joint weight of two rows, ``A`` the chips that player 0 wins. Card removal is
exact for both hands, also at chance leaves. The values of chance leaves are the matrices of the next round's buckets. A
tremble keeps hands alive that their player never brings here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from solvers.matrix.chunk import Chunk, ChunkStrategy, normalise, root_matrices
from solvers.tree import Floats
from spewy.chunks.layout import Layout
from spewy.learn.bucket_boards import BucketBoard, BucketGame, Drawn
from spewy.learn.chunk_matrices import FOLD_OPERATOR, Weighing, build_chunk, per_pair, row_reach
from spewy.learn.playdown import PlayDown

TREMBLE = 1e-3
"""Weight added to every hand, as a share of the range's largest weight on the board."""
LEAST = 1e-12
"""Largest weight that is assumed for an empty range."""

Strategy = Callable[[int, int, int], ChunkStrategy]
"""Maps (t, bucket, line) to both players' unnormalised strategies ``[slot, row]``."""
Continuation = Callable[[int, int, int], Floats]
"""Maps (t, bucket, line) to the payoff matrix ``[row of player 0, row of player 1]``."""


@dataclass(frozen=True)
class BucketChunk:
    """A chunk of a board bucket, whose leaf matrices are sums over boards of the bucket.

    Attributes:
        chunk: the chunk, with one view.
        reach: both ranges summed over the boards, per player ``[row]``.
    """

    chunk: Chunk
    reach: ChunkStrategy

    def times(self, n: int) -> BucketChunk:
        """Return the chunk of ``n`` boards like this one."""
        matrices, (first, second) = n * self.chunk.matrices[0], self.reach
        return BucketChunk(replace(self.chunk, matrices=(matrices, matrices)), (n * first, n * second))

    def add(self, other: BucketChunk) -> None:
        """Add another board."""
        parts = (self.chunk.matrices[0], *self.reach), (other.chunk.matrices[0], *other.reach)
        for array, added in zip(*parts, strict=True):
            array += added

    def payoffs(self, strategy: ChunkStrategy) -> Floats:
        """Return the payoff matrix ``[row of player 0, row of player 1]`` under a strategy, which is normalised here.

        Two rows that meet on none of the boards get the mean of their rows.
        """
        return _filled(*self.totals(strategy))

    def totals(self, strategy: ChunkStrategy) -> tuple[Floats, Floats]:
        """Return ``A`` and ``W``, ``[row of player 0, row of player 1]``."""
        gains = root_matrices(self.chunk, normalise(self.chunk, strategy))[0]
        return gains, self.chunk.matrices[0][FOLD_OPERATOR]


def bucket_payoffs(
    game: BucketGame, t: int, bucket: int, boards: Drawn, strategies: Strategy, continuation: Continuation
) -> Floats:
    """Compute the payoff matrices ``[line, row of player 0, row of player 1]`` of a board bucket.

    Args:
        game: the whole game.
        t: the round.
        bucket: number of the bucket.
        boards: boards of the bucket.
        strategies: both players' strategies.
        continuation: payoff matrices of the next round.
    """
    chunks = bucket_chunks(game, t, boards, strategies, continuation)
    return np.array([chunk.payoffs(strategies(t, bucket, r)) for r, chunk in enumerate(chunks)])


def bucket_chunks(
    game: BucketGame,
    t: int,
    boards: Drawn,
    strategies: Strategy,
    continuation: Continuation,
    tremble: float = TREMBLE,
) -> list[BucketChunk]:
    """Build the chunks of a board bucket, one for each line that enters its round; arguments as in `bucket_payoffs`."""
    out: list[BucketChunk] = []
    for cards, times in boards:
        for r, one in enumerate(board_chunks(game.board(t, cards), t, strategies, continuation, tremble)):
            if r == len(out):
                out.append(one.times(times))
            else:
                out[r].add(one.times(times))
    return out


def board_chunks(
    board: BucketBoard, t: int, strategies: Strategy, continuation: Continuation, tremble: float = TREMBLE
) -> Iterator[BucketChunk]:
    """Build the chunks of a board of round t, one for each line that enters the round."""
    layout, buckets = board.layout, board.buckets
    play_down = PlayDown(layout, lambda i, b, r: strategies(i, int(buckets[i][b]), r))
    ranges = play_down.ranges(t, 0)

    def following(i: int, b: int, r: int) -> Floats:
        return continuation(i, int(buckets[i][b]), r)[None]

    for r in range(len(layout.betting[t].chunks)):
        weighing = trembling(layout, t, (ranges[0][r], ranges[1][r]), tremble)
        chunk = build_chunk(layout, t, 0, r, weighing, following)
        yield BucketChunk(chunk, row_reach(layout, t, 0, weighing.own))


def trembling(layout: Layout, t: int, ranges: tuple[Floats, Floats], tremble: float = TREMBLE) -> Weighing:
    """Return weights by reach for one view of both players, with a tremble that keeps every hand alive."""
    first, second = (reach + tremble * max(float(reach.max(initial=0.0)), LEAST) for reach in ranges)
    rows = layout.board(t, 0).hands
    weights = first, second
    return Weighing(weights, weights, (np.ones(rows[0].n_rows), np.ones(rows[1].n_rows)), 1)


def _filled(total: Floats, joint: Floats) -> Floats:
    """Divide weighted payoffs by their weights; impossible pairs of rows get a mean over rows."""
    out = per_pair(total, joint)
    there = joint > 0
    for axis in (1, 0):
        gains, weight = (total * there).sum(axis, keepdims=True), (joint * there).sum(axis, keepdims=True)
        mean = np.divide(gains, weight, out=np.zeros_like(gains), where=weight > 0)
        missing = ~there & (weight > 0)
        out = np.where(missing, mean, out)
        there = there | missing
    return out
