"""Cache of best responses on the first boards of a whole game, so that an interrupted measurement can continue."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lockers import DamagedLockerError
from solvers.tree import Floats
from spewy.records.keys import JUDGED
from spewy.records.marked_store import MarkedStore

FOLDER = "judged"
"""Folder of the cache, in the folder of the judged solve."""


@dataclass(frozen=True)
class FlopFinding:
    """Best responses on one first board.

    Attributes:
        best: ``[player, line, kind]``, counterfactual values of best responses where lines enter the board, in chips
            times the opponent's hands: the mean over the hands of a kind, with 0 for hands that the board blocks.
        own: value of player 0 if both follow their averages, summed over lines and hands, without folds before the
            board.
        seconds: seconds of one core.
    """

    best: Floats
    own: float
    seconds: float


class ResponseCache(MarkedStore):
    """Findings by the number of the first board, under the mark of the judged strategies."""

    @classmethod
    def of(cls, folder: Path, manifest: Mapping[str, Any]) -> ResponseCache:
        """Open the cache of a solve; in memory if the folder is read-only.

        Args:
            folder: folder of the solve.
            manifest: manifest of its strategy locker.

        Raises:
            lockers.LockerError: the cache is another job's, or damaged.
        """
        return cls.within(folder / FOLDER, JUDGED, manifest)

    def findings(self, mark: str, shape: tuple[int, ...]) -> dict[int, FlopFinding]:
        """Return the cached findings on the strategies by first board; delete findings on other strategies.

        Args:
            mark: mark of the strategies.
            shape: shape of a finding's ``best``.

        Raises:
            lockers.DamagedLockerError: a finding has another size.
        """
        self.begin(mark)
        names = self.names()
        size, out = int(np.prod(shape)), {}
        for name, array in zip(names, self.get_many(names), strict=True):
            if array is None:
                continue
            if array.shape != (size + 2,) or array.dtype != np.float64:
                raise DamagedLockerError(
                    f"{self.text(name)}: expected {size + 2:,} numbers, found {array.size:,} of {array.dtype}"
                )
            own, seconds = array[size:].tolist()
            out[int(name)] = FlopFinding(array[:size].reshape(shape), own, seconds)
        return out

    def keep(self, first: int, finding: FlopFinding) -> None:
        """Cache the finding on a first board."""
        self.put(str(first), np.concatenate([finding.best.ravel(), [finding.own, finding.seconds]]))
