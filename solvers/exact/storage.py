"""Regrets or sums of one player on all boards of a round, in single precision or in 16 bits.

Values lie ``[block, slot, 16 hands]``, flat. In 16 bits a decision on a block, that is its actions times 16 hands, has
one scale: ``number = value * scale``, with the largest number at 32766. What is stored is rounded down after adding a
fraction that changes from iteration to iteration (`dither`), so that rounding is right on average and what should
shrink a little in every iteration does shrink.
"""

from __future__ import annotations

import mmap
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from solvers.exact.kernels import LARGEST
from solvers.exact.paging import mapped
from solvers.exact.program import slots_of
from solvers.exact.tables import HandTable
from solvers.exact.vector import HANDS, aligned
from solvers.forest import Forest, Ints

_GOLDEN = (5**0.5 - 1) / 2


@dataclass(frozen=True)
class Storage:
    """See the module. ``decision[slot]`` is the number of the player's decision that a slot belongs to."""

    values: np.ndarray
    scales: np.ndarray
    decision: Ints
    hands: HandTable
    mapping: mmap.mmap | None = None

    @classmethod
    def blank(
        cls, forest: Forest, p: int, hands: HandTable, *, short: bool, folder: Path | None = None
    ) -> Self:
        """All zero. ``folder``: values are mapped from a file there.

        Raises:
            OSError: as `paging.mapped`.
        """
        decision = slots_of(forest, p)
        blocks = int(hands.first_block[-1])
        size, dtype = HANDS * blocks * len(decision), np.int16 if short else np.float32
        values, mapping = (aligned(size, dtype), None) if folder is None else mapped(folder, size, dtype)
        scales = aligned(blocks * (int(decision.max(initial=-1)) + 1) if short else 0)
        return cls(values, scales, decision, hands, mapping)

    @property
    def nbytes(self) -> int:
        """Bytes of all values and scales."""
        return self.values.nbytes + self.scales.nbytes

    def let_go(self) -> None:
        """Give the memory of mapped values back; they stay where they are mapped from."""
        if self.mapping is not None:
            self.mapping.madvise(mmap.MADV_DONTNEED)

    def read(self, b: int) -> np.ndarray:
        """Numbers of board b, ``[slot, row]`` in single precision, without the dummies."""
        first, last = self._blocks(b)
        n_slots = len(self.decision)
        numbers = self._by_block()[first:last].astype(np.float32)
        if len(self.scales):
            numbers *= self._scales_by_block()[first:last, self.decision, None]
        rows = numbers.transpose(1, 0, 2).reshape(n_slots, HANDS * (last - first))
        return np.ascontiguousarray(rows[:, : int(self.hands.count[b])])

    def write(self, b: int, numbers: np.ndarray) -> None:
        """Put what `read` gave for board b back."""
        first, last = self._blocks(b)
        n_slots, n_rows = numbers.shape
        wide = np.zeros((n_slots, HANDS * (last - first)), dtype=np.float32)
        wide[:, :n_rows] = numbers
        blocks = wide.reshape(n_slots, last - first, HANDS).transpose(1, 0, 2)
        if len(self.scales):
            largest = np.zeros((last - first, self._n_decisions), dtype=np.float32)
            for slot, top in enumerate(np.abs(blocks).max(axis=2).T):
                np.maximum(largest[:, self.decision[slot]], top, out=largest[:, self.decision[slot]])
            scales = largest / np.float32(LARGEST)
            self._scales_by_block()[first:last] = scales
            by_slot = scales[:, self.decision, None]
            blocks = np.rint(np.divide(blocks, by_slot, out=np.zeros_like(blocks), where=by_slot > 0))
        self._by_block()[first:last] = blocks

    def _by_block(self) -> np.ndarray:
        return self.values.reshape(int(self.hands.first_block[-1]), len(self.decision), HANDS)

    def _scales_by_block(self) -> np.ndarray:
        return self.scales.reshape(int(self.hands.first_block[-1]), self._n_decisions)

    @property
    def _n_decisions(self) -> int:
        return int(self.decision.max(initial=-1)) + 1

    def _blocks(self, b: int) -> tuple[int, int]:
        return int(self.hands.first_block[b]), int(self.hands.first_block[b + 1])


def dither(iterations: Ints) -> NDArray[np.float64]:
    """The fractions that are added before rounding down: evenly spread over [0, 1), however many there are."""
    return np.asarray((iterations * _GOLDEN) % 1.0, dtype=np.float64)
