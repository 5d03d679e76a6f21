"""Regrets, averages and visit counts of all classes of a game: the state of the sampled engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from compiled.vector import aligned
from solvers.sampled.batches import LineBatches
from solvers.tree import Ints

Pair = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Numbers:
    """The state, with numbers flat ``[class][batch][row][slot][16]``; see `LineBatches.first`.

    Attributes:
        regrets: per round, per player.
        sums: per round, per player: averages of own reach times strategy over the visits, scaled. Normalised, these
            averages are the average strategy.
        visits: per round ``[player, class]``: how often regrets were updated.
        ahead: per round ``[player, class]``: how many of these visits belong to deals that will be dealt again, and
            will then learn nothing for the class. A save that is killed can leave classes ahead of the counted deals.
            The count is exact with one thread; several threads may miscount simultaneous visits of a class.
    """

    regrets: tuple[Pair, ...]
    sums: tuple[Pair, ...]
    visits: tuple[Ints, ...]
    ahead: tuple[Ints, ...]

    @classmethod
    def zeros(
        cls, batches: Sequence[LineBatches], n_classes: Sequence[int], n_rows: Sequence[int], *, short: bool
    ) -> Numbers:
        """Make the state before the first deal.

        Args:
            batches: per round.
            n_classes: per round.
            n_rows: per round.
            short: whether numbers have 16 bits.
        """
        dtype = np.float16 if short else np.float32

        def pair(t: int) -> Pair:
            sizes = [class_size(batches[t], p, n_rows[t]) for p in (0, 1)]
            return aligned(n_classes[t] * sizes[0], dtype), aligned(n_classes[t] * sizes[1], dtype)

        rounds = range(len(batches))
        return cls(
            tuple(pair(t) for t in rounds),
            tuple(pair(t) for t in rounds),
            tuple(np.zeros((2, n_classes[t]), dtype=np.int64) for t in rounds),
            tuple(np.zeros((2, n_classes[t]), dtype=np.int64) for t in rounds),
        )

    @property
    def short(self) -> bool:
        """Whether numbers have 16 bits."""
        return bool(self.regrets[0][0].dtype == np.float16)


def class_size(batches: LineBatches, p: int, n_rows: int) -> int:
    """Number of regrets of player p in a class."""
    return int(batches.first(p, n_rows)[-1])
