"""Regrets, averages and visit counts of all board buckets of a game: the state of the sampled engine.

A new abstraction may begin with the numbers of an old one (`inherit`). Regrets and averages of a new row are then means
over the old rows that held its hands, weighted by the share of the hands that each old row held. A new board bucket
begins with the mean number of visits of the old ones: with a smaller number, new visits would soon outweigh the old
averages. If there are more new rows than old rows, old visits weigh more than new visits in the averages, since a row
with fewer hands adds less to its average with each visit. Averages in proportion to the hands of a row were slightly
worse (157, not 155 mbb, in `benchmarks.studies.features` with 4 ranks).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from compiled.vector import aligned
from solvers.sampled.batches import LineBatches
from solvers.tree import Ints

if TYPE_CHECKING:
    import scipy.sparse as sp  # not at run time: a look at bytes needs this module, but no sparse matrices

Pair = tuple[np.ndarray, np.ndarray]
Arrays = tuple[np.ndarray, ...]


@dataclass(frozen=True)
class Numbers:
    """State of the sampled engine.

    Regrets and averages are flat arrays ``[board bucket][batch][row][slot][lane]``; see `LineBatches.first`.

    Attributes:
        regrets: arrays per round: of player 0 and of player 1. If players learn against rivals (CFR-BR), in rounds
            before the last also those of the rival in player 0's seat and of the rival in player 1's seat.
        sums: arrays per round and player: averages of reach times strategy over the visits, scaled. Normalised, these
            averages are the average strategy.
        visits: per round ``[player, board bucket]``, number of updates of the regrets.
        ahead: per round ``[player, board bucket]``, number of coming visits that the regrets and averages already
            include. A kill during a save can cause this: some board buckets on disk then include deals that the saved
            number of deals does not. The continued solve deals these boards again, and such a visit of a board bucket
            changes nothing but this number. The number is exact with one thread; several threads may miscount
            simultaneous visits of a board bucket.
    """

    regrets: tuple[Arrays, ...]
    sums: tuple[Pair, ...]
    visits: tuple[Ints, ...]
    ahead: tuple[Ints, ...]

    @classmethod
    def zeros(
        cls,
        batches: Sequence[LineBatches],
        n_board_buckets: Sequence[int],
        n_rows: Sequence[int],
        *,
        short: bool,
        rivals: bool = False,
    ) -> Numbers:
        """Make the state before the first deal; batches, board buckets and their rows are given per round."""
        dtype = np.float16 if short else np.float32

        def pair(t: int) -> Pair:
            sizes = [bucket_size(batches[t], p, n_rows[t]) for p in (0, 1)]
            return aligned(n_board_buckets[t] * sizes[0], dtype), aligned(
                n_board_buckets[t] * sizes[1], dtype
            )

        rounds, last = range(len(batches)), len(batches) - 1
        return cls(
            tuple((*pair(t), *(pair(t) if rivals and t < last else ())) for t in rounds),
            tuple(pair(t) for t in rounds),
            tuple(np.zeros((2, n_board_buckets[t]), dtype=np.int64) for t in rounds),
            tuple(np.zeros((2, n_board_buckets[t]), dtype=np.int64) for t in rounds),
        )

    @property
    def has_rivals(self) -> bool:
        """Whether there are regrets of rivals; in games of one round there are none."""
        return len(self.regrets[0]) > 2

    @property
    def short(self) -> bool:
        """Whether regrets and averages have 16 bits instead of 32."""
        return bool(self.regrets[0][0].dtype == np.float16)


def bucket_size(batches: LineBatches, p: int, n_rows: int) -> int:
    """Number of player p's regrets in a board bucket with ``n_rows`` rows."""
    return int(batches.first(p, n_rows)[-1])


def inherit(
    batches: Sequence[LineBatches],
    old: Numbers,
    new: Numbers,
    shares: Sequence[sp.csr_array],
) -> None:
    """Fill the regrets, averages and visit counts of a new abstraction from those of an old abstraction.

    Args:
        new: a blank state of the same betting with the new board buckets and rows; it has rivals if ``old`` has.
        shares: weights per round, a matrix ``[new board bucket and row, old board bucket and row]``. The weights of a
            new row add up to 1, or to 0 if no old row held its hands.
    """
    for t, round_batches in enumerate(batches):
        n_old, n_new = (numbers.visits[t].shape[1] for numbers in (old, new))
        for p in (0, 1):
            new.visits[t][p], new.ahead[t][p] = int(old.visits[t][p].mean()), 0
        for new_arrays, old_arrays in ((new.regrets[t], old.regrets[t]), (new.sums[t], old.sums[t])):
            for i, (into, of) in enumerate(zip(new_arrays, old_arrays, strict=True)):
                _spread(round_batches, i % 2, of, into, shares[t], (n_old, n_new))


def _spread(
    batches: LineBatches,
    p: int,
    old: np.ndarray,
    new: np.ndarray,
    shares: sp.csr_array,
    n_board_buckets: tuple[int, int],
) -> None:
    n_old, n_new = n_board_buckets
    old_numbers, new_numbers = old.reshape(n_old, -1), new.reshape(n_new, -1)
    starts = [
        batches.first(p, size // n) for size, n in zip(shares.shape[::-1], n_board_buckets, strict=True)
    ]
    for s in range(len(batches)):
        (old_first, old_end), (new_first, new_end) = starts[0][s : s + 2], starts[1][s : s + 2]
        if old_first == old_end:
            continue
        rows = old_numbers[:, old_first:old_end].astype(np.float32).reshape(shares.shape[1], -1)
        largest = np.finfo(new.dtype).max
        new_numbers[:, new_first:new_end] = np.clip(shares @ rows, -largest, largest).reshape(n_new, -1)
