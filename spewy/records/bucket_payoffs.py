"""Payoff matrices of a whole game with board buckets, row against row, under the average strategies."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from lockers import DamagedLockerError
from solvers.tree import Floats
from spewy.errors import InputError
from spewy.records.finite import require_finite
from spewy.records.keys import PAYOFF
from spewy.records.marked_store import MarkedStore

FOLDER = "payoffs"
"""Folder of the matrices, in the folder of the solve."""


class BucketPayoffs(MarkedStore):
    """Matrices ``[line, row of player 0, row of player 1]`` by round and board bucket, in net chips of player 0.

    Lines are in the order in which they enter the round. The mark is that of the strategies.
    """

    @classmethod
    def of(cls, folder: Path, manifest: Mapping[str, Any], command: str) -> BucketPayoffs:
        """Open a solve's matrices for writing; create the store if it is missing.

        Args:
            folder: folder of the solve.
            manifest: manifest of its strategy locker.
            command: name of the command that writes; other commands name it in their errors.

        Raises:
            InputError: another process writes to the folder, or the folder cannot be written.
            lockers.LockerError: the folder holds another job's lockers, or damaged ones.
        """
        return cls.within(folder / FOLDER, PAYOFF, manifest, command)

    @classmethod
    def of_solve(cls, folder: Path) -> BucketPayoffs:
        """Open a solve's matrices for reading.

        Raises:
            lockers.LockerError: the solve has no matrices, or damaged ones.
        """
        return cls.open(folder / FOLDER, PAYOFF)

    def done(self, t: int) -> set[int]:
        """Board buckets of a round that have matrices."""
        return {int(name.partition(".")[2]) for name in self.names(f"{t}.")}

    def keep(self, t: int, bucket: int, matrices: Floats) -> None:
        """Store the matrices of a board bucket.

        Raises:
            SolveError: a number is not finite.
        """
        require_finite(f"payoff matrices of board bucket {bucket} of round {t}", matrices)
        self.put(f"{t}.{bucket}", matrices.astype(np.float32))

    def matrices(self, t: int, bucket: int, shape: tuple[int, int, int]) -> Floats:
        """Return the matrices of a board bucket, whose shape must be as given.

        Raises:
            InputError: the board bucket has none.
            lockers.DamagedLockerError: the matrices have another shape or type.
        """
        (array,) = self.get_many([f"{t}.{bucket}"])
        if array is None:
            raise InputError(f"round {t}, board bucket {bucket}: expected stored payoff matrices, found none")
        if array.shape != shape or array.dtype != np.float32:
            raise DamagedLockerError(
                f"{self.text(f'{t}.{bucket}')}: expected float32 of shape {shape}, "
                f"found {array.dtype} of shape {array.shape}"
            )
        return array
