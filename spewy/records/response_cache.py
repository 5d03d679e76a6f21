"""Cache of best responses on the first boards (hold'em's flops) of a whole game with board buckets.

With the cache, a measurement of exploitability can continue after an interruption.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from solvers.tree import Floats
from spewy.records.keys import JUDGED
from spewy.records.marked_store import MarkedStore

FOLDER = "judged"
"""Name of the cache's folder within the folder of the solve."""


@dataclass(frozen=True)
class FlopFinding:
    """Values of both players' best responses on one first board: in hold'em a flop.

    Attributes:
        best: ``[player, line, hand class]``, counterfactual values of a player's best response after each line that
            enters the round of the board: chips, summed over the opponent's hands with their reach as weight. Hands
            that are equal up to suits form a class. Its value is the mean over its hands, with 0 for hands that the
            board blocks.
        own: value of player 0 if both players follow their average strategies, summed over lines and hands; folds
            before the board are left out.
        seconds: computing time on one core.
    """

    best: Floats
    own: float
    seconds: float


class ResponseCache(MarkedStore):
    """Cached best responses, by the number of the first board; a hash (the mark) identifies the strategies."""

    @classmethod
    def of(cls, folder: Path, manifest: Mapping[str, Any]) -> ResponseCache:
        """Open the cache of a solve; if the folder is read-only, make a cache in memory.

        Args:
            folder: folder of the solve.
            manifest: manifest of the solve's strategy locker.

        Raises:
            lockers.LockerError: the folder of the cache holds other files, or cannot be written.
        """
        return cls.within(folder / FOLDER, JUDGED, manifest)

    def findings(self, mark: str, shape: tuple[int, ...]) -> dict[int, FlopFinding]:
        """Return the sound cached best responses to some strategies; delete those to other strategies.

        Args:
            mark: hash that identifies the strategies.
            shape: numbers of players, of lines that lead to the board's round, and of hand classes.

        Returns:
            Best responses, by the number of the first board.
        """
        self.begin(mark)
        size, out = int(np.prod(shape)), {}
        for name in self.names():
            array = self.sound_array(name)
            if array is None or array.shape != (size + 2,) or array.dtype != np.float64:
                continue
            own, seconds = array[size:].tolist()
            out[int(name)] = FlopFinding(array[:size].reshape(shape), own, seconds)
        return out

    def keep(self, first: int, finding: FlopFinding) -> None:
        """Cache the best responses on the first board with number ``first``."""
        self.put(str(first), np.concatenate([finding.best.ravel(), [finding.own, finding.seconds]]))
