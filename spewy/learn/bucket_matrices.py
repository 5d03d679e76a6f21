"""Compute the payoff matrix of a chunk in a board bucket, row against row, as a mean over boards of the bucket.

``U[x, y] = Σ_boards A[x, y] / Σ_boards W[x, y]``, where on each board ``W[x, y]`` is the joint weight of player 0's row
x and player 1's row y, and ``A[x, y]`` is this weight times the chips that player 0 wins.

On each board both ranges are played down by the average strategies. The ranges weigh the hands within a row, as in
`spewy.learn.chunk_matrices`. Card removal is exact for both hands. The values of chance leaves are the payoff matrices
of the next round's buckets. A small constant (*tremble*) is added to the weight of each hand, so that no weight is 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from solvers.matrix.chunk import Chunk, normalise, root_matrices
from solvers.state import ChunkStrategy
from solvers.tree import Floats
from spewy.chunks.layout import Layout
from spewy.learn.bucket_boards import BucketBoard, BucketGame, Drawn
from spewy.learn.chunk_matrices import FOLD_OPERATOR, Weighing, build_chunk, per_pair, row_reach
from spewy.learn.playdown import PlayDown

TREMBLE = 1e-3
"""Weight added to every hand, as a fraction of the largest weight that a hand of its range has on the board."""
LEAST = 1e-12
"""Assumed largest weight of a range in which all weights are 0, so that the tremble is not 0."""

Strategy = Callable[[int, int, int], ChunkStrategy]
"""Function of a chunk's (round, board bucket, entering line) that returns both players' unnormalised strategies."""
Continuation = Callable[[int, int, int], Floats]
"""Function of a chunk's (round, board bucket, entering line) that returns its payoff matrix.

The matrix is ``[row of player 0, row of player 1]``, in chips that player 0 wins.
"""


@dataclass(frozen=True)
class BucketChunk:
    """A chunk of a board bucket; the payoff matrices at its leaves are sums over boards of the bucket.

    Attributes:
        chunk: the chunk; both players use the same matrices at the leaves.
        reach: weight of each row, summed over the boards, for each player.
    """

    chunk: Chunk
    reach: ChunkStrategy

    def times(self, n: int) -> BucketChunk:
        """Return a copy of this chunk with all matrices and weights multiplied by ``n``."""
        matrices, (first, second) = n * self.chunk.matrices[0], self.reach
        return BucketChunk(replace(self.chunk, matrices=(matrices, matrices)), (n * first, n * second))

    def add(self, other: BucketChunk) -> None:
        """Add the matrices and weights of another chunk, in place."""
        parts = (self.chunk.matrices[0], *self.reach), (other.chunk.matrices[0], *other.reach)
        for array, added in zip(*parts, strict=True):
            array += added

    def payoffs(self, strategy: ChunkStrategy) -> Floats:
        """Compute the payoff matrix at the chunk's root, ``[row of player 0, row of player 1]`` in chips of player 0.

        Two rows that never occur together get the mean payoff of player 0's row.

        Args:
            strategy: strategies of both players in the chunk, which need not be normalised.
        """
        return _filled(*self.totals(strategy))

    def totals(self, strategy: ChunkStrategy) -> tuple[Floats, Floats]:
        """Compute the payoff matrix times the joint weights, and the joint weights.

        Both are ``[row of player 0, row of player 1]``.

        Args:
            strategy: strategies of both players in the chunk, which need not be normalised.
        """
        gains = root_matrices(self.chunk, normalise(self.chunk, strategy))[0]
        return gains, self.chunk.matrices[0][FOLD_OPERATOR]


def bucket_payoffs(
    game: BucketGame, t: int, bucket: int, boards: Drawn, strategies: Strategy, continuation: Continuation
) -> Floats:
    """Compute the payoff matrices of a board bucket, one for each betting line that enters its round.

    Args:
        game: the whole game.
        t: the round.
        bucket: number of the bucket.
        boards: boards of the bucket.
        strategies: both players' strategies.
        continuation: payoff matrices of the next round.

    Returns:
        Chips that player 0 wins, ``[line, row of player 0, row of player 1]``.
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
    """Build the chunks of a board bucket, one for each betting line that enters its round.

    Args:
        game: the whole game.
        t: the round.
        boards: boards of the bucket.
        strategies: both players' strategies.
        continuation: payoff matrices of the next round.
        tremble: weight added to every hand, as a fraction of the largest weight of its range.
    """
    out: list[BucketChunk] = []
    for cards, times in boards:
        for r, chunk in enumerate(board_chunks(game.board(t, cards), t, strategies, continuation, tremble)):
            if r == len(out):
                out.append(chunk.times(times))
            else:
                out[r].add(chunk.times(times))
    return out


def board_chunks(
    board: BucketBoard, t: int, strategies: Strategy, continuation: Continuation, tremble: float = TREMBLE
) -> Iterator[BucketChunk]:
    """Build the chunks of a single board, one for each betting line that enters its round.

    Args:
        board: the board, with the boards before it and after it.
        t: round of the board.
        strategies: both players' strategies.
        continuation: payoff matrices of the next round.
        tremble: weight added to every hand, as a fraction of the largest weight of its range.
    """
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
    """Weigh both players' hands by reach, plus a small constant so that no weight is 0.

    Args:
        layout: layout of a board of round t.
        t: the round.
        ranges: both players' ranges at the chunk's root, each ``[hand]``.
        tremble: the constant, as a fraction of the largest weight of the range.
    """
    first, second = (reach + tremble * max(float(reach.max(initial=0.0)), LEAST) for reach in ranges)
    rows = layout.board(t, 0).hands
    weights = first, second
    return Weighing(weights, weights, (np.ones(rows[0].n_rows), np.ones(rows[1].n_rows)), 1)


def _filled(total: Floats, joint: Floats) -> Floats:
    """Divide weighted payoffs by joint weights, and fill in the pairs of rows that have no joint weight.

    Such a pair gets the mean payoff of player 0's row, or of player 1's row if player 0's row has no weight at all.
    """
    out = per_pair(total, joint)
    filled = joint > 0
    for axis in (1, 0):
        gains, weight = (total * filled).sum(axis, keepdims=True), (joint * filled).sum(axis, keepdims=True)
        mean = np.divide(gains, weight, out=np.zeros_like(gains), where=weight > 0)
        missing = ~filled & (weight > 0)
        out = np.where(missing, mean, out)
        filled = filled | missing
    return out
