"""Sizes of records on disk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from lockers import DiskSize
from spewy.records.chunks import Kind
from spewy.records.keys import JUDGED, LEAVES, PAYOFF, PLAY, REGRET, STRATEGY, VISITS
from spewy.records.line_index import PORTION

if TYPE_CHECKING:
    from solvers.sampled.batches import LineBatches

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
    """Add the chunks of one line of a round, on all boards.

    Args:
        size: what is there already.
        key: of one of these chunks: the others' are as long.
        kinds: what is kept of each.
        arrays: ``[board]``, bytes of each kind's array.
        payoffs: ``[board]``, bytes of the payoff matrices; None where there are none.
        counted: whether visits are, one by one.
    """
    if counted:
        size = size.plus_visits(key, len(arrays))
    for kind in kinds:
        size = size.plus(kind, key, arrays)
    return size if payoffs is None else size.plus(PAYOFF, key, VIEWS_HEADER + payoffs)


def with_leaves(size: DiskSize, key: bytes, n_exits: int, n_hands: np.ndarray) -> DiskSize:
    """Add the values of the chance leaves of one line's chunks in a round, for ``[board]`` hands of both players."""
    return size.plus(LEAVES, key, 4 * n_exits * n_hands) if n_exits else size


def with_class_numbers(size: DiskSize, t: int, n_classes: int, n_bytes: Sequence[int]) -> DiskSize:
    """Add the regrets, sums and visits of a round's board buckets, of ``n_bytes`` for each player."""
    key = f"{t}.{n_classes}|0".encode()
    for mine in n_bytes:
        for locker in (REGRET, STRATEGY):
            size = size.plus(locker, key, np.full(n_classes, mine))
    return size.plus(VISITS, key, np.full(n_classes, 16))


def judged_size(n_boards: int, lines: int, kinds: int) -> DiskSize:
    """Size of the cache of best responses on first boards."""
    n_bytes = 8 * (2 * lines * kinds + 2)
    return DiskSize().plus(JUDGED, b"0" * 24 + f"|{n_boards}".encode(), np.full(n_boards, n_bytes))


def with_class_bytes(size: DiskSize, t: int, n_classes: int, batches: LineBatches, n_rows: int) -> DiskSize:
    """Add the bytes of a round's board buckets in a strategy locker."""
    from solvers.sampled.quantise import byte_tables

    key = f"{t}.{n_classes}|0.0".encode()
    for p in (0, 1):
        n_bytes = int(byte_tables(batches, p, n_rows).free_first[-1])
        portions = max(1, n_bytes // PORTION)
        size = size.plus(PLAY, key, np.full(n_classes * portions, n_bytes // portions))
    return size
