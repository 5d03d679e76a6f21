"""Exact best responses to average strategies by class and row, hand by hand on boards as they are.

Boards come as a `tree` of all that can follow one of them. A value is counterfactual: chips times the opponent's
reach, which is that of its average strategy alone, summed over the opponent's hands, and over the boards below by their
probability. Divided by the number of pairs of hands it is chips per deal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from compiled.records import Packed
from compiled.vector import WIDTH
from solvers.sampled.context import Context, Works
from solvers.sampled.numbers import Numbers, Pair
from solvers.sampled.strips import Strips
from solvers.sampled.views import Boards, Workspace
from solvers.stopping import Stopped, never
from solvers.tree import Floats, Forest


@dataclass(frozen=True)
class Buffers:
    """Buffers of one thread."""

    parts: tuple[Workspace, ...]
    packed: Works
    out: np.ndarray

    @property
    def n_bytes(self) -> int:
        """Memory that they take."""
        arrays = (array for part in self.parts for array in part if isinstance(array, np.ndarray))
        return self.out.nbytes + sum(array.nbytes for array in arrays)


@dataclass(frozen=True)
class Judged:
    """What was found on a tree of boards.

    Attributes:
        best: ``[player, line, hand]``, of best responses; hands are the first board's.
        own: ``[hand]``, of player 0 if both follow their averages, all lines together, by player 0's reach.
    """

    best: Floats
    own: Floats


class BoardJudge:
    """Judges trees of boards, in any number of threads that have a buffers each.

    Args:
        forests: the betting, round by round.
        strips: of the forests.
        n_classes, n_rows: per round.
        sums: average strategies, per round and player as `Numbers` has them.
        most_hands: per round, that a board leaves.
        n_cards: that the first board leaves.
        probabilities: per round, of a board given what both hold and the board above.
    """

    def __init__(
        self,
        forests: Sequence[Forest],
        strips: Sequence[Strips],
        n_classes: Sequence[int],
        n_rows: Sequence[int],
        sums: tuple[Pair, ...],
        most_hands: Sequence[int],
        n_cards: int,
        probabilities: Sequence[float],
    ) -> None:
        visits = tuple(np.zeros((2, n), dtype=np.int64) for n in n_classes)
        numbers = Numbers(sums, sums, visits, visits)
        gains = [1.0] * len(forests)
        self._context = Context(forests, strips, n_rows, numbers, most_hands, n_cards, probabilities, gains)
        self._most_hands = most_hands[0]
        first = strips[0]
        self._targets = forests[0].arrays.target[first.nodes[0][first.shape_of(0).exits, 0]]

    def buffers(self) -> Buffers:
        """Buffers for one thread."""
        parts = self._context.workspaces()
        packed = Packed(parts)
        return Buffers(parts, (packed, packed), self._context.out())

    def below(self, boards: Boards, buffers: Buffers, stopped: Stopped = never) -> Judged:
        """Values at the lines that enter the second round, for the boards that are listed below the first board.

        Raises:
            StoppedError: ``stopped()``, which is called every few boards, returned True.
        """
        n = len(boards.nodes)
        top, packed = buffers.parts[0], Packed(boards)
        best = []
        for p in (0, 1):
            self._context.values(p, buffers.packed, packed, n, buffers.out, best_from=0, stopped=stopped)
            found = top.continuation.reshape(-1, self._most_hands, WIDTH)[:, :, 0]
            by_line = np.empty(found.shape)
            by_line[self._targets] = found
            best.append(by_line)
        return Judged(np.stack(best), self._exits(0, packed, n, buffers, self._context.n_rounds, stopped))

    def later(self, boards: Boards, buffers: Buffers) -> Floats:
        """``[round - 1, player]``: values as `Judged.own`, summed, of best responses that begin in a later round.

        Each player's lines enter the second round by its average strategy, and go on by it up to that round.
        """
        n, packed = len(boards.nodes), Packed(boards)
        return np.array(
            [
                [self._exits(p, packed, n, buffers, t).sum() for p in (0, 1)]
                for t in range(1, self._context.n_rounds)
            ]
        )

    def _exits(
        self,
        p: int,
        packed: Packed,
        n_boards: int,
        buffers: Buffers,
        best_from: int,
        stopped: Stopped = never,
    ) -> Floats:
        """``[hand]``: player p's values at the lines that enter the second round, by the reach of p's average."""
        self._context.values(
            p, buffers.packed, packed, n_boards, buffers.out, best_from=best_from, stopped=stopped
        )
        exits: Floats = buffers.parts[0].hand_exits.reshape(-1, self._most_hands, WIDTH)[0, :, 0]
        return exits.astype(np.float64)

    def whole(self, boards: Boards, buffers: Buffers, stopped: Stopped = never) -> Judged:
        """Values at the first board, in the form of values at a single line.

        Raises:
            StoppedError: ``stopped()``, which is called every few boards, returned True.
        """
        n, packed = len(boards.nodes), Packed(boards)

        def values(p: int, best_from: int) -> Floats:
            found = self._context.values(
                p, buffers.packed, packed, n, buffers.out, best_from=best_from, stopped=stopped
            )
            first: Floats = found[0, :, 0]
            return first

        best = np.stack([values(p, 0)[None] for p in (0, 1)])
        return Judged(best, values(0, self._context.n_rounds))
