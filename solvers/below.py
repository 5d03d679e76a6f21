"""What chance leaves are worth by payoff matrices of the boards that a deal leads to, row against row.

For one's hand ``i`` at a leaf, with the dealt boards ``d`` and the rows that they make of hands,

    values[leaf, i] = probability · Σ_d Σ_j compat(i, j) · q[leaf, j] · payoffs[d, leaf, row_d(i), row_d(j)]

over the hands that the deal leaves. Cards are removed exactly: a hand meets all others, less those that hold one of its
cards, which are summed up by row and card, so that everything goes through the matrices at once.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from solvers.forest import Floats, Ints


class DealtPayoffs:
    """Values of chance leaves: a `solvers.live.Below`.

    Args:
        payoffs: ``[deal, leaf, row of player 0, row of player 1]``, what player 0 wins.
        blockers: per player ``[hand, card]``.
        rows: per player ``[deal, hand]``: the row of a hand, -1 where the deal takes it.
        twins: per player ``[hand]``: the other's hand of the same cards, or -1.
        n_ids: how many cards there are.
        probability: of one deal, given both hands.
    """

    def __init__(
        self,
        payoffs: Floats,
        blockers: tuple[Ints, Ints],
        rows: tuple[Ints, Ints],
        twins: tuple[Ints, Ints],
        n_ids: int,
        probability: float,
    ) -> None:
        self._payoffs = np.ascontiguousarray(payoffs.transpose(1, 0, 2, 3) * probability)
        self._blockers, self._rows, self._twins, self._n_ids = blockers, rows, twins, n_ids

    def __call__(self, player: int, reach: Floats) -> Floats:
        """``[leaf, own hand]`` for the other's reach ``[leaf, hand]``; hands beyond those that are known get 0."""
        other = 1 - player
        n, m = (self._rows[p].shape[1] for p in (player, other))
        spread, gather = self._sums[other], self._sums[player]
        n_deals, n_rows = self._payoffs.shape[1], self._payoffs.shape[2 + other]
        out = np.zeros_like(reach, shape=(len(reach), max(n, reach.shape[1])))
        for leaf, mine in enumerate(reach[:, :m].astype(np.float32)):
            met = (spread @ mine).reshape(n_deals, n_rows, 1 + self._n_ids)
            met[:, :, 1:] *= -1
            through = self._views[player][leaf] @ met
            out[leaf, :n] = gather.T @ through.ravel()
            twin = self._twins[player]
            there = np.flatnonzero(twin >= 0)
            more = self._blockers[player].shape[1] - 1
            out[leaf, there] += more * self._own[player][leaf, there] * mine[twin[there]]
        return out

    @cached_property
    def _views(self) -> tuple[Floats, Floats]:
        """Per player ``[leaf, deal, own row, opposing row]``, own gains positive."""
        return self._payoffs, np.ascontiguousarray(-self._payoffs.transpose(0, 1, 3, 2))

    @cached_property
    def _sums(self) -> tuple[csr_array, csr_array]:
        """Per player ``[deal and row and (all hands, or those with a card), hand]``: ones."""
        first, second = (self._summing(p) for p in (0, 1))
        return first, second

    def _summing(self, p: int) -> csr_array:
        rows, width = self._rows[p], 1 + self._n_ids
        n_rows = self._payoffs.shape[2 + p]
        deal, hand = np.nonzero(rows >= 0)
        start = (deal * n_rows + rows[deal, hand].astype(np.int64)) * width
        slots = [start, *(start + 1 + card for card in self._blockers[p][hand].T.astype(np.int64))]
        ones = np.ones(len(slots) * len(hand), dtype=np.float32)
        places = np.concatenate(slots), np.tile(hand, len(slots))
        return csr_array((ones, places), shape=(rows.shape[0] * n_rows * width, rows.shape[1]))

    @cached_property
    def _own(self) -> tuple[Floats, Floats]:
        """Per player ``[leaf, hand]``: what a hand wins of its own twin, over all deals."""
        found = []
        for p in (0, 1):
            twin = self._twins[p]
            out = np.zeros((len(self._payoffs), len(twin)))
            for d, rows in enumerate(self._rows[p]):
                hand = np.flatnonzero((rows >= 0) & (twin >= 0))
                there = self._rows[1 - p][d][twin[hand]]
                out[:, hand] += self._views[p][:, d, rows[hand], there]
            found.append(out)
        return found[0], found[1]
