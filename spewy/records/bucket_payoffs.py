"""Stored payoff matrices of a whole game with board buckets: what hand rows win from each other on average."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from solvers.tree import Floats
from spewy.errors import InputError
from spewy.records.finite import require_finite
from spewy.records.keys import PAYOFF
from spewy.records.marked_store import MarkedStore

FOLDER = "payoffs"
"""Name of the folder with payoff matrices within the folder of a solve."""


class BucketPayoffs(MarkedStore):
    """Payoff matrices of each round and board bucket, under the average strategies of the solve.

    The array of a board bucket is ``[line, row of player 0, row of player 1]``, in net chips of player 0. Its lines are
    all betting lines that enter the round, in the order of the betting tree. A hash (the mark of the store) identifies
    the strategies.
    """

    @classmethod
    def of(cls, folder: Path, manifest: Mapping[str, Any], command: str) -> BucketPayoffs:
        """Open the payoff matrices of a solve for writing; create the store if it is missing.

        Args:
            folder: folder of the solve.
            manifest: manifest of the solve's strategy locker.
            command: name of the command that writes, for the errors of other commands.

        Raises:
            InputError: another process writes to the folder, or the folder cannot be written.
            lockers.LockerError: the folder holds other files, or cannot be written.
        """
        return cls.within(folder / FOLDER, PAYOFF, manifest, command)

    @classmethod
    def of_solve(cls, folder: Path) -> BucketPayoffs:
        """Open the payoff matrices of a solve for reading.

        Raises:
            lockers.LockerError: the solve has no matrices, or damaged ones.
        """
        return cls.open(folder / FOLDER, PAYOFF)

    def done(self, t: int) -> set[int]:
        """Return the numbers of the board buckets of round t whose matrices are stored."""
        return {int(name.partition(".")[2]) for name in self.names(f"{t}.")}

    def keep(self, t: int, bucket: int, matrices: Floats) -> None:
        """Store the matrices ``[line, row of player 0, row of player 1]`` of a board bucket of round t.

        Raises:
            SolveError: a number is not finite.
        """
        require_finite(f"payoff matrices of board bucket {bucket} of round {t}", matrices)
        self.put(f"{t}.{bucket}", matrices.astype(np.float32))

    def matrices(self, t: int, bucket: int, shape: tuple[int, int, int]) -> Floats:
        """Read the matrices of a board bucket of round t, and check their shape.

        Raises:
            InputError: no sound matrices are stored for the board bucket.
        """
        array = self.sound_array(f"{t}.{bucket}")
        if array is None or array.shape != shape or array.dtype != np.float32:
            raise InputError(
                f"round {t}, board bucket {bucket}: expected stored payoff matrices, found none or damaged ones; "
                f"delete the folder {FOLDER} in the folder of the solve, and run `spewy payoffs` again"
            )
        return array
