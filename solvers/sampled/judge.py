"""Exact best responses of single hands on single boards to average strategies by board bucket and row.

The boards form a tree below one board (`boards.tree`). A value is counterfactual: chips times the opponent's reach
under its average strategy, summed over the opponent's hands and, weighted by probability, over the boards that follow.
Divided by the number of pairs of hands it is chips per deal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from compiled.records import Packed
from compiled.vector import WIDTH
from solvers.sampled.batches import LineBatches
from solvers.sampled.context import Context
from solvers.sampled.numbers import Numbers, Pair
from solvers.sampled.views import Boards, Workspace
from solvers.stopping import Stopped, never
from solvers.tree import Floats, Forest


@dataclass(frozen=True)
class Buffers:
    """Buffers of a thread for `BoardJudge`.

    Attributes:
        parts: the arrays of each round.
        packed: the addresses of the arrays, for kernels.
        out: flat ``[batch, hand, lane]``, values of the hands on the first board, for batches of 16 lines.
    """

    parts: tuple[Workspace, ...]
    packed: Packed
    out: np.ndarray

    @property
    def n_bytes(self) -> int:
        """Size of the buffers in bytes."""
        arrays = (array for part in self.parts for array in part if isinstance(array, np.ndarray))
        return self.out.nbytes + sum(array.nbytes for array in arrays)


@dataclass(frozen=True)
class Judged:
    """Values on a tree of boards, for each hand of the tree's first board.

    Attributes:
        best: ``[player, line, hand]``, values of best responses.
        own: ``[hand]``, player 0's values when both players follow their average strategies, summed over all lines with
            the weight of player 0's reach.
    """

    best: Floats
    own: Floats


class BoardJudge:
    """Computes values on trees of boards; each thread that calls a method needs its own `Buffers`.

    Args:
        forests: the betting of each round.
        batches: the batches of lines of each round.
        n_board_buckets: number of board buckets, per round.
        n_rows: number of rows of a board bucket, per round.
        sums: average strategies per round and player, as in `Numbers`.
        most_hands: largest number of hands that are possible on a board, per round.
        n_cards: number of cards that are not on the first board.
        probabilities: probability of a board given both hands and the previous board, per round.
    """

    def __init__(
        self,
        forests: Sequence[Forest],
        batches: Sequence[LineBatches],
        n_board_buckets: Sequence[int],
        n_rows: Sequence[int],
        sums: tuple[Pair, ...],
        most_hands: Sequence[int],
        n_cards: int,
        probabilities: Sequence[float],
    ) -> None:
        visits = tuple(np.zeros((2, n), dtype=np.int64) for n in n_board_buckets)
        numbers = Numbers(sums, sums, visits, visits)
        gains = [1.0] * len(forests)
        self._context = Context(forests, batches, n_rows, numbers, most_hands, n_cards, probabilities, gains)
        self._most_hands = most_hands[0]
        first = batches[0]
        self._targets = forests[0].arrays.target[first.nodes[0][first.shape_of(0).exits, 0]]

    def buffers(self) -> Buffers:
        """Allocate buffers for one thread."""
        parts = self._context.workspaces()
        return Buffers(parts, Packed(parts), self._context.out())

    def below(self, boards: Boards, buffers: Buffers, stopped: Stopped = never) -> Judged:
        """Compute the values on the betting lines that enter the second round.

        Args:
            boards: a tree of boards that begins with a board of the first round (`solvers.sampled.boards.tree`).
            buffers: the thread's buffers.
            stopped: called every few boards; True stops the computation.

        Raises:
            StoppedError: ``stopped()``, which is called every few boards, returned True.
        """
        n = len(boards.nodes)
        top, packed = buffers.parts[0], Packed(boards)
        best = []
        for p in (1, 0):  # player 0 comes last and leaves its own values in the buffers
            self._context.values(p, buffers.packed, packed, n, buffers.out, own=p == 0, stopped=stopped)
            by_exit = top.continuation.reshape(-1, self._most_hands, WIDTH)[:, :, 0]
            by_line = np.empty(by_exit.shape)
            by_line[self._targets] = by_exit
            best.append(by_line)
        return Judged(np.stack(best[::-1]), self._first_lane(top.hand_exits))

    def later(self, boards: Boards, buffers: Buffers) -> Floats:
        """Each player's total value when its best response begins in round 1, 2, ...: ``[round - 1, player]``.

        Before that round the player follows its average strategy. The total is the sum of the values on all lines that
        enter the second round, over all hands, weighted by the player's reach.
        """
        n, packed, out = len(boards.nodes), Packed(boards), np.zeros((self._context.n_rounds - 1, 2))
        for t, p in np.ndindex(out.shape):
            self._context.values(p, buffers.packed, packed, n, buffers.out, best_from=t + 1)
            out[t, p] = self._first_lane(buffers.parts[0].hand_exits).sum()
        return out

    def whole(self, boards: Boards, buffers: Buffers, stopped: Stopped = never) -> Judged:
        """Compute the values at the start of the first round, so the axis of betting lines in the result has length 1.

        Args:
            boards: a tree of boards that begins with a board of the first round (`solvers.sampled.boards.tree`).
            buffers: the thread's buffers.
            stopped: called every few boards; True stops the computation.

        Raises:
            StoppedError: ``stopped()``, which is called every few boards, returned True.
        """
        n, packed, best = len(boards.nodes), Packed(boards), []
        for p in (1, 0):  # player 0 comes last and leaves its own values in the buffers
            by_batch = self._context.values(
                p, buffers.packed, packed, n, buffers.out, own=p == 0, stopped=stopped
            )
            best.append(by_batch[:1, :, 0])
        return Judged(np.stack(best[::-1]), self._first_lane(buffers.parts[0].own_values))

    def _first_lane(self, values: np.ndarray) -> Floats:
        """Return the values ``[hand]`` of the first line, from values ``[hand][lane]`` of the first batch of lines."""
        first: Floats = values[: WIDTH * self._most_hands].reshape(-1, WIDTH)[:, 0].astype(np.float64)
        return first
