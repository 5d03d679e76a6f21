"""The context in which the sampled engine runs its passes: betting steps, regrets and averages, and buffers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from compiled.precision import HALF, SINGLE
from compiled.records import Packed
from compiled.vector import WIDTH, aligned
from solvers.discount import Discount
from solvers.errors import SolverError
from solvers.sampled.batches import LineBatches
from solvers.sampled.deals import Deals, Packs, learn_paths
from solvers.sampled.numbers import Arrays, Numbers
from solvers.sampled.passes import Walk, walk
from solvers.sampled.program import program, sizes
from solvers.sampled.views import BLOCK, RoundView, Workspace
from solvers.stopping import Stopped, go_on, never
from solvers.tree import Floats, Forest

LARGEST_SUM = 32768.0
"""Stored average of an action that is always taken, for a row that contains all hands."""

BOARDS_AT_ONCE = 8
"""Number of boards between two calls of ``stopped``; a board of hold'em takes up to a few hundredths of a second."""


class Context:
    """Runs passes over boards of one game, with one set of regrets and averages.

    Args:
        forests: the betting of each round.
        batches: the batches of lines of each round.
        n_rows: number of rows of a board bucket, per round.
        numbers: regrets and averages to learn or to measure.
        most_hands: largest number of hands that are possible on a board, per round.
        most_cards: largest number of cards that are not on a board.
        probabilities: probability of a board given both hands and the previous board, per round; 1 if boards are drawn.
        gains: factor of instantaneous regrets, per round.
        ranges: both players' ranges at the start of the first round, each ``[row]``: the weight of each hand of a row;
            None: all weights are 1.
    """

    def __init__(
        self,
        forests: Sequence[Forest],
        batches: Sequence[LineBatches],
        n_rows: Sequence[int],
        numbers: Numbers,
        most_hands: Sequence[int],
        most_cards: int,
        probabilities: Sequence[float],
        gains: Sequence[float],
        ranges: tuple[Floats, Floats] | None = None,
    ) -> None:
        self.n_rounds = len(forests)
        self._sizes = [sizes(s) for s in batches]
        self._n_rows, self._most_hands, self._most_cards = n_rows, most_hands, most_cards
        programs = [
            [program(f, s, n, p) for p in (0, 1)] for f, s, n in zip(forests, batches, n_rows, strict=True)
        ]
        kind = HALF if numbers.short else SINGLE
        even = np.ones(n_rows[0])
        weights = [np.array(weights, dtype=np.float32) for weights in ranges or (even, even)]

        def views(p: int, own: Sequence[Arrays], other: Sequence[Arrays], counted: int) -> Packed:
            q = 1 - p
            return Packed(
                tuple(
                    RoundView(
                        programs[t][p],
                        kind,
                        np.float32(gains[t]),
                        np.float32(LARGEST_SUM / max(most_hands)),
                        own[t][p],
                        other[t][q],
                        numbers.sums[t][q],
                        numbers.visits[t][counted],
                        numbers.ahead[t][counted],
                        np.float32(probabilities[t]),
                        weights[q],
                    )
                    for t in range(self.n_rounds)
                )
            )

        regrets, sums = numbers.regrets, numbers.sums
        rivals = [arrays[2:] or arrays for arrays in regrets]  # on the last round rivals need no regrets
        self._learning = views(0, regrets, regrets, 0), views(1, regrets, regrets, 1)
        self._rivals = views(0, rivals, regrets, 1), views(1, rivals, regrets, 0)
        self._judging = views(0, sums, sums, 0), views(1, sums, sums, 1)
        self._n_batches = [len(s) for s in batches]

    def packed_workspaces(self, *, rivals: bool = False) -> Packs:
        """Allocate one thread's buffers to learn from deals; with ``rivals``, also those of a rival."""
        parts = self.workspaces()
        packed = Packed(parts)
        if not rivals:
            return packed, packed
        return packed, Packed(tuple(self._rivals_workspace(t, part) for t, part in enumerate(parts)))

    def workspaces(self) -> tuple[Workspace, ...]:
        """Allocate one thread's buffers of each round, as arrays."""
        return tuple(self._workspace(t) for t in range(self.n_rounds))

    def out(self) -> np.ndarray:
        """Allocate an array for the values of the hands on a board of the first round."""
        return aligned(WIDTH * self._n_batches[0] * self._most_hands[0])

    def learn(
        self,
        discount: Discount,
        cfr_br: float,
        works: Packs,
        boards: Packed,
        n: int,
        number: int,
    ) -> None:
        """Update regrets and averages from n deals.

        Args:
            discount: discount of earlier visits.
            cfr_br: share of the opponents' play that is a rival's, 0 to 1.
            works: the thread's buffers.
            boards: boards of the deals, as `paths` makes them.
            n: number of deals.
            number: number of the first deal, counted from the start of the solve.
        """
        views = self._learning, self._rivals
        job = Deals(discount, cfr_br, *views, works, boards, self.n_rounds)
        learn_paths(job, 0, n, number)

    def values(
        self,
        p: int,
        works: Packed,
        boards: Packed,
        n_boards: int,
        out: np.ndarray,
        *,
        best_from: int = 0,
        own: bool = False,
        stopped: Stopped = never,
    ) -> Floats:
        """Counterfactual values of player p's hands on the first board against the opponent's average strategy.

        From round ``best_from`` on player p plays a best response, and in earlier rounds p's own average strategy. With
        ``own`` the pass also computes the values when p follows its average strategy throughout. It leaves them in the
        first round's buffers: ``own_values`` has the values at the start of the round (of the last batch of lines
        only), and ``hand_exits`` the values at the chance leaves to the second round, multiplied by p's reach.

        Returns:
            An array ``[batch, hand, lane]``: the value of each hand on each line, for batches of 16 lines.

        Raises:
            SolverError: the last round has no best responses, or there are two strategies for the first rounds.
            StoppedError: ``stopped()``, which is called every few boards, returned True.
        """
        if best_from >= self.n_rounds or (own and best_from > 0):
            raise SolverError(
                f"best_from: expected a round from which best responses begin, found {best_from}"
            )
        job = Walk(best_from, own, self._judging[p], works, boards, self.n_rounds, out.ctypes.data)
        depth = -1
        for first in range(0, n_boards, BOARDS_AT_ONCE):
            go_on(stopped)
            last = min(first + BOARDS_AT_ONCE, n_boards)
            depth = walk(job, first, last, depth, last == n_boards)
        return out.reshape(-1, self._most_hands[0], WIDTH).astype(np.float64)

    def _rivals_workspace(self, t: int, players: Workspace) -> Workspace:
        """Allocate a rival's buffers of round t; some arrays are shared with the player's buffers ``players``."""
        board = (
            *(
                "counts",
                "held",
                "places",
                "n_places",
                "holders",
                "n_holders",
                "group_of",
                "row_hands",
                "edge",
            ),
            *("segment_end", "segment_row", "segment_level", "tie_end", "open"),
        )
        shared = {
            name: getattr(players, name)
            for name in (*board, "nodes", "hand_values", "own_values", "continuation")
        }
        return self._workspace(t)._replace(other=players.own, **shared)

    def _workspace(self, t: int) -> Workspace:
        size, n_hands, n_rows = self._sizes[t], self._most_hands[t], self._n_rows[t]
        last = t == self.n_rounds - 1
        n_groups, n_batches = (max(n_rows, n_hands), 1) if last else (n_rows, self._n_batches[t])
        places = (self._most_cards + 2) | 1
        hands, rows, n_endings = WIDTH * n_hands, WIDTH * n_rows, 2 * size.n_endings
        n_wide, n_ends = rows * size.n_sequences, rows * size.n_batch_exits

        def longs(n: int) -> np.ndarray:
            return np.zeros(n, dtype=np.int64)

        def ints(n: int) -> np.ndarray:
            return np.zeros(n, dtype=np.int32)

        return Workspace(
            n_most=n_hands,
            n_wide=n_wide,
            n_ends=n_ends,
            n_groups=n_groups,
            reach=_padded(n_batches * hands),
            groups=aligned(WIDTH * n_groups * places + WIDTH),
            other=_padded(n_batches * n_wide),
            own=_padded(n_batches * n_wide),
            row_reach=aligned(rows),
            totals=aligned(WIDTH * (4 * size.n_endings + 8) * places),
            counts=aligned(n_groups * places),
            held=ints(n_groups * places),
            group_of=ints(n_hands),
            row_hands=ints(n_rows),
            edge=aligned(n_hands),
            places=ints(n_groups * places),
            n_places=ints(n_groups),
            holders=ints(n_groups * places),
            n_holders=ints(places),
            values=aligned(rows * n_endings),
            node=aligned(WIDTH * size.n_nodes),
            nodes=aligned(WIDTH * BLOCK * size.n_nodes),
            mixed=aligned(WIDTH * n_groups * places),
            same=aligned(WIDTH * n_groups),
            within=aligned(hands),
            within_sums=aligned(WIDTH * n_groups),
            inside=aligned(WIDTH * n_groups),
            weights=aligned(rows * n_endings),
            row_exits=aligned(n_batches * n_ends),
            hand_values=_padded(hands),
            own_values=_padded(hands),
            hand_exits=aligned(n_batches * hands),
            continuation=aligned(hands * size.n_exits),
            segment_end=longs(n_groups),
            segment_row=longs(n_groups),
            segment_level=longs(n_groups),
            tie_end=ints(n_hands),
            open=longs(1),
            offsets=longs(3 * WIDTH),
        )


def _padded(size: int) -> np.ndarray:
    """Allocate zeros with 16 spare numbers on both sides, since kernels read vectors that reach beyond the array."""
    return aligned(size + 2 * WIDTH)[WIDTH : WIDTH + size]
