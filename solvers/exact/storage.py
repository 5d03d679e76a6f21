"""Regrets or sums of one player on all boards of a round, in single precision or in 16 bits.

Values are a flat array ``[block, slot, 16 hands]`` (see `solvers.exact`), and ``number = value * unit``. A float16 has
11 significant bits. A fraction of the last bit, which changes from iteration to iteration (`dither`), is added to a
value before it is rounded toward 0. So rounding is right on average, and a number that should change by less than the
last bit changes in some iterations. Units keep values where a float16 has full precision: 6e-5 to 65,504.
"""

from __future__ import annotations

import mmap
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from compiled.mapped import mapped
from compiled.precision import DITHER_STEPS, HALF, LARGEST, SINGLE
from compiled.vector import WIDTH, aligned
from solvers.exact.tables import HandTable
from solvers.state import GOLDEN, all_finite
from solvers.tree import Ints

CHECKED_AT_ONCE = 1 << 24
"""Number of values that are checked before their mapped memory is released."""


@dataclass
class Storage:
    """Regrets or sums of one player on all boards of a round.

    Attributes:
        values: flat array ``[block, slot, 16 hands]``; `solvers.exact` explains blocks and slots.
        unit: factor of the values: ``number = value * unit``.
        mapping: mapping of the file that holds the values; None: they are in memory.
        untouched: whether nobody has written any value.
    """

    values: np.ndarray
    unit: float
    n_slots: int
    hands: HandTable
    mapping: mmap.mmap | None = None
    untouched: bool = True

    @classmethod
    def blank(
        cls, n_slots: int, hands: HandTable, *, short: bool, unit: float = 1.0, folder: Path | None = None
    ) -> Self:
        """Create storage of zeros (16-bit if ``short``), in memory or mapped from a temporary file in ``folder``."""
        size, dtype = WIDTH * int(hands.first_block[-1]) * n_slots, np.float16 if short else np.float32
        values, mapping = (aligned(size, dtype), None) if folder is None else mapped(folder, size, dtype)
        return cls(values, unit, n_slots, hands, mapping)

    @property
    def short(self) -> bool:
        """Whether values have 16 bits instead of 32."""
        return self.values.dtype == np.float16

    @property
    def kind(self) -> np.signedinteger[Any]:
        """The precision of the values: `SINGLE` or `HALF` of `compiled.precision`."""
        return HALF if self.short else SINGLE

    def take_memory(self, part: int, n_parts: int) -> None:
        """Write zeros to part ``part`` of ``n_parts`` equal parts of the values, so that the first pass need not wait.

        The operating system provides memory only when it is written.
        """
        size = len(self.values)
        if self.mapping is None and self.untouched:
            self.values[part * size // n_parts : (part + 1) * size // n_parts].fill(0)

    def finite(self) -> bool:
        """Whether all values are finite numbers; mapped values are read and released part by part."""
        for first in range(0, len(self.values), CHECKED_AT_ONCE):
            if not all_finite(self.values[first : first + CHECKED_AT_ONCE]):
                return False
            self.let_go()
        return True

    def let_go(self) -> None:
        """Release the memory of mapped values; the values stay in their file."""
        if self.mapping is not None:
            self.mapping.madvise(mmap.MADV_DONTNEED)

    def read(self, b: int) -> np.ndarray:
        """Regrets or sums of board b without padding: ``[slot, row]`` in single precision."""
        blocks = self._blocks(b)
        numbers = blocks.astype(np.float32).transpose(1, 0, 2).reshape(self.n_slots, WIDTH * len(blocks))
        return np.ascontiguousarray(numbers[:, : int(self.hands.count[b])] * np.float32(self.unit))

    def write(self, b: int, numbers: np.ndarray) -> None:
        """Write the regrets or sums of board b: ``[slot, row]``."""
        self.untouched = False
        blocks = self._blocks(b)
        n_slots, n_rows = numbers.shape
        wide = np.zeros((n_slots, WIDTH * len(blocks)), dtype=np.float32)
        wide[:, :n_rows] = numbers / np.float32(self.unit)
        if self.short:
            np.clip(wide, -LARGEST, LARGEST, out=wide)
        blocks[:] = wide.reshape(n_slots, len(blocks), WIDTH).transpose(1, 0, 2)

    def _blocks(self, b: int) -> np.ndarray:
        first, last = int(self.hands.first_block[b]), int(self.hands.first_block[b + 1])
        return self.values.reshape(int(self.hands.first_block[-1]), self.n_slots, WIDTH)[first:last]


def dither(iterations: Ints) -> NDArray[np.int32]:
    """Fractions of the last bit to add before rounding toward 0: ``[iteration]``, in units of 1 / `DITHER_STEPS`.

    Over any range of iterations the fractions spread evenly over [0, 1).
    """
    return np.asarray(iterations * GOLDEN % 1.0 * DITHER_STEPS, dtype=np.int32)
