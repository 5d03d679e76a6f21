"""Payoff matrices of chunks by class of boards, row against row: ``U[x, y] = Σ_boards A[x, y] / Σ_boards W[x, y]``.

On a board both ranges are played down by the averages, line by line, and weigh the hands within rows, as in
`spewy.learn.chunk_matrices`: ``W`` is the joint weight of two rows, ``A`` what player 0 wins, and cards are removed
exactly for both hands, at chance leaves too. What follows a chance leaf comes from the matrices of the next round's
classes. A tremble keeps hands alive that their player never brings here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from solvers.matrix.chunk import Chunk, ChunkStrategy, normalise, root_matrices
from solvers.tree import Floats
from spewy.chunks.layout import Layout
from spewy.learn.chunk_matrices import FOLD_OPERATOR, Weighing, build_chunk, per_pair, row_reach
from spewy.learn.class_boards import ClassBoard, ClassGame, Drawn
from spewy.learn.playdown import PlayDown

TREMBLE = 1e-3
"""Of a range's largest weight on a board, what every hand has beside its own."""
LEAST = 1e-12
"""The largest weight of a range that nobody has."""

Strategy = Callable[[int, int, int], ChunkStrategy]
"""(t, class, line) → per player ``[slot, row]``, to be normalised."""
Below = Callable[[int, int, int], Floats]
"""(t, class, line) → the payoff matrix ``[row of player 0, row of player 1]``."""


@dataclass(frozen=True)
class ClassChunk:
    """A chunk of a class: its leaf matrices are sums over the class's boards.

    Attributes:
        chunk: with one view.
        reach: of both ranges, per player ``[row]``, summed over the boards.
    """

    chunk: Chunk
    reach: ChunkStrategy

    def times(self, n: int) -> ClassChunk:
        """That of so many boards like this one."""
        matrices, (first, second) = n * self.chunk.matrices[0], self.reach
        return ClassChunk(replace(self.chunk, matrices=(matrices, matrices)), (n * first, n * second))

    def add(self, other: ClassChunk) -> None:
        """Take another board in."""
        parts = (self.chunk.matrices[0], *self.reach), (other.chunk.matrices[0], *other.reach)
        for mine, theirs in zip(*parts, strict=True):
            mine += theirs

    def payoffs(self, strategy: ChunkStrategy) -> Floats:
        """The payoff matrix ``[row of player 0, row of player 1]`` under a strategy, to be normalised.

        Two rows that meet on none of the boards get what their rows get in the mean.
        """
        return _filled(*self.totals(strategy))

    def totals(self, strategy: ChunkStrategy) -> tuple[Floats, Floats]:
        """``A`` and ``W``, ``[row of player 0, row of player 1]``."""
        gains = root_matrices(self.chunk, normalise(self.chunk, strategy))[0]
        return gains, self.chunk.matrices[0][FOLD_OPERATOR]


def class_payoffs(
    game: ClassGame, t: int, class_: int, boards: Drawn, strategies: Strategy, below: Below
) -> Floats:
    """The payoff matrices ``[line, row of player 0, row of player 1]`` of a class.

    Args:
        game: whose.
        t: the round.
        class_: the class.
        boards: of it.
        strategies: that are followed.
        below: matrices of the next round.
    """
    chunks = class_chunks(game, t, boards, strategies, below)
    return np.array([one.payoffs(strategies(t, class_, r)) for r, one in enumerate(chunks)])


def class_chunks(
    game: ClassGame, t: int, boards: Drawn, strategies: Strategy, below: Below, tremble: float = TREMBLE
) -> list[ClassChunk]:
    """The chunks of a class, one for each line that enters its round, arguments as in `class_payoffs`."""
    out: list[ClassChunk] = []
    for cards, times in boards:
        for r, one in enumerate(board_chunks(game.board(t, cards), t, strategies, below, tremble)):
            if r == len(out):
                out.append(one.times(times))
            else:
                out[r].add(one.times(times))
    return out


def board_chunks(
    board: ClassBoard, t: int, strategies: Strategy, below: Below, tremble: float = TREMBLE
) -> Iterator[ClassChunk]:
    """The chunks of a board of round t, one for each line that enters the round."""
    layout, classes = board.layout, board.classes
    play_down = PlayDown(layout, lambda i, b, r: strategies(i, int(classes[i][b]), r))
    ranges = play_down.ranges(t, 0)

    def following(i: int, b: int, r: int) -> Floats:
        return below(i, int(classes[i][b]), r)[None]

    for r in range(len(layout.betting[t].chunks)):
        weighing = trembling(layout, t, (ranges[0][r], ranges[1][r]), tremble)
        chunk = build_chunk(layout, t, 0, r, weighing, following)
        yield ClassChunk(chunk, row_reach(layout, t, 0, weighing.own))


def trembling(layout: Layout, t: int, ranges: tuple[Floats, Floats], tremble: float = TREMBLE) -> Weighing:
    """Weights by reach for one view of both players, in which every hand is alive."""
    first, second = (mine + tremble * max(float(mine.max(initial=0.0)), LEAST) for mine in ranges)
    rows = layout.board(t, 0).hands
    weights = first, second
    return Weighing(weights, weights, (np.ones(rows[0].n_rows), np.ones(rows[1].n_rows)), 1)


def _filled(total: Floats, joint: Floats) -> Floats:
    """Payoffs from weighted ones, with means where no pair of hands is possible."""
    out = per_pair(total, joint)
    there = joint > 0
    for axis in (1, 0):
        gains, weight = (total * there).sum(axis, keepdims=True), (joint * there).sum(axis, keepdims=True)
        mean = np.divide(gains, weight, out=np.zeros_like(gains), where=weight > 0)
        missing = ~there & (weight > 0)
        out = np.where(missing, mean, out)
        there = there | missing
    return out
