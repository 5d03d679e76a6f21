"""Payoff matrices of chunks by class of boards, row against row: ``U[x, y] = Σ_boards A[x, y] / Σ_boards W[x, y]``.

On a board both ranges are played down by the averages, line by line, and weigh the hands within rows, as in
`spewy.learn.leaves`: ``W`` is the joint weight of two rows, ``A`` what player 0 wins, and cards are removed exactly for
both hands, at chance leaves too. What follows a chance leaf comes from the matrices of the next round's classes. A
tremble keeps hands alive that their player never brings here.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from solvers.chunk import ChunkStrategy, normalise, root_matrices
from solvers.forest import Floats
from spewy.chunks.layout import Layout
from spewy.learn.class_boards import ClassBoard, ClassGame, Drawn
from spewy.learn.leaves import FOLD_OPERATOR, Weighing, build_chunk, per_pair
from spewy.learn.playdown import PlayDown

TREMBLE = 1e-3
"""Of a range's largest weight on a board, what every hand has beside its own."""
LEAST = 1e-12
"""The largest weight of a range that nobody has."""

Strategy = Callable[[int, int, int], ChunkStrategy]
"""(t, class, line) → per player ``[slot, row]``, to be normalised."""
Below = Callable[[int, int, int], Floats]
"""(t, class, line) → the payoff matrix ``[row of player 0, row of player 1]``."""


def class_payoffs(game: ClassGame, t: int, boards: Drawn, strategies: Strategy, below: Below) -> Floats:
    """The payoff matrices ``[line, row of player 0, row of player 1]`` of a class.

    Two rows that meet on none of the boards get what their rows get in the mean.

    Args:
        game: whose.
        t: the round of the class.
        boards: of the class.
        strategies: that are followed.
        below: matrices of the next round.
    """
    total = joint = np.zeros(())
    for cards, times in boards:
        gains, weight = board_totals(game.board(t, cards), t, strategies, below)
        total, joint = total + times * gains, joint + times * weight
    return np.array([_filled(gains, weight) for gains, weight in zip(total, joint, strict=True)])


def board_totals(board: ClassBoard, t: int, strategies: Strategy, below: Below) -> tuple[Floats, Floats]:
    """``A`` and ``W`` of all lines of a board of round t, ``[line, row of player 0, row of player 1]``."""
    layout, classes = board.layout, board.classes
    play_down = PlayDown(layout, lambda i, b, r: strategies(i, int(classes[i][b]), r))
    ranges = play_down.ranges(t, 0)

    def following(i: int, b: int, r: int) -> Floats:
        return below(i, int(classes[i][b]), r)[None]

    gains, weights = [], []
    for r in range(len(layout.betting[t].chunks)):
        weighing = trembling(layout, t, (ranges[0][r], ranges[1][r]))
        chunk = build_chunk(layout, t, 0, r, weighing, following)
        strategy = normalise(chunk, strategies(t, int(classes[t][0]), r))
        gains.append(root_matrices(chunk, strategy)[0])
        weights.append(chunk.matrices[0][FOLD_OPERATOR])
    return np.array(gains), np.array(weights)


def trembling(layout: Layout, t: int, ranges: tuple[Floats, Floats]) -> Weighing:
    """Weights by reach for one view of both players, in which every hand is alive."""
    first, second = (mine + TREMBLE * max(float(mine.max(initial=0.0)), LEAST) for mine in ranges)
    rows = layout.board(t, 0).rows
    weights = first, second
    return Weighing(weights, weights, (np.ones(rows[0].n_groups), np.ones(rows[1].n_groups)), 1)


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
