"""How large the records of chunks are on disk."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lockers import DiskSize
from spewy.records.chunks import Kind
from spewy.records.keys import PAYOFF

VIEWS_HEADER = 16  # bytes by which the header of a payoff matrix is longer, which has two axes more


def with_chunks(
    size: DiskSize,
    key: bytes,
    kinds: Sequence[Kind],
    arrays: np.ndarray,
    payoffs: np.ndarray | None,
    *,
    counted: bool,
) -> DiskSize:
    """The size with a round's chunks of one line, on all boards.

    Args:
        size: what is there already.
        key: of one of these chunks: the others' are as long.
        kinds: what is kept of each.
        arrays: ``[board]``, bytes of each kind's array.
        payoffs: ``[board]``, bytes of the payoff matrices; None where there are none.
        counted: whether visits are, one by one.
    """
    if counted:
        size = size.plus_tickets(key, len(arrays))
    for kind in kinds:
        size = size.plus(kind, key, arrays)
    return size if payoffs is None else size.plus(PAYOFF, key, VIEWS_HEADER + payoffs)
