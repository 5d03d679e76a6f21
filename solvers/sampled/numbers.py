"""Regrets, averages and visit counts of all board buckets of a game: the state of the sampled engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from compiled.vector import aligned
from solvers.sampled.batches import LineBatches
from solvers.tree import Ints

Pair = tuple[np.ndarray, np.ndarray]
Arrays = tuple[np.ndarray, ...]


@dataclass(frozen=True)
class Numbers:
    """State of the sampled engine.

    Regrets and averages are flat arrays ``[board bucket][batch][row][slot][lane]``. A slot is one action of one
    decision of a player; a batch has 16 lanes, one for each betting line. See `LineBatches.first`.

    Attributes:
        regrets: arrays per round: of player 0 and of player 1. If players learn against rivals (CFR-BR), in rounds
            before the last also those of the rival in player 0's seat and of the rival in player 1's seat.
        sums: arrays per round and player: averages of reach times strategy over the visits, scaled. Normalised, these
            averages are the average strategy.
        visits: per round ``[player, board bucket]``, number of updates of the regrets.
        ahead: per round ``[player, board bucket]``, number of coming visits that the regrets and averages already
            include. A kill during a save can leave them: some board buckets on disk then include deals that the saved
            number of deals does not. The continued solve deals these boards again, and such a visit of a board bucket
            changes nothing but this number. It is exact with one thread; several threads may miscount simultaneous
            visits of a board bucket.
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
        """Make the state before the first deal.

        Args:
            batches: the batches of lines, per round.
            n_board_buckets: number of board buckets, per round.
            n_rows: number of rows of a board bucket, per round.
            short: whether regrets and averages have 16 bits instead of 32.
            rivals: whether players learn against rivals.
        """
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
