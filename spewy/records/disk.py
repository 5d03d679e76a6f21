"""Estimates of the disk space that the lockers of a solve will take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from lockers import DiskSize
from spewy.records.chunks import Kind
from spewy.records.keys import JUDGED, LEAVES, PAYOFF, PLAY, REGRET, STRATEGY, VISITS
from spewy.records.strategy_locker import PORTION

if TYPE_CHECKING:
    from solvers.sampled.batches import LineBatches

VIEWS_HEADER = 16
"""Additional bytes in the header of payoff matrices, which have two axes more than other arrays of a chunk."""


def with_chunks(
    size: DiskSize,
    key: bytes,
    kinds: Sequence[Kind],
    arrays: np.ndarray,
    payoffs: np.ndarray | None,
    *,
    counted: bool,
) -> DiskSize:
    """Return ``size`` plus the disk space of the chunks that one line enters on all boards of a round.

    Args:
        key: key of any of these chunks; all their keys are equally long.
        arrays: ``[board]``, bytes of an array of one kind.
        payoffs: ``[board]``, bytes of the payoff matrices; None if no matrices are stored.
        counted: whether the store counts the visits of each chunk.
    """
    if counted:
        size = size.plus_visits(key, len(arrays))
    for kind in kinds:
        size = size.plus(kind, key, arrays)
    return size if payoffs is None else size.plus(PAYOFF, key, VIEWS_HEADER + payoffs)


def with_leaves(size: DiskSize, key: bytes, n_exits: int, n_hands: np.ndarray) -> DiskSize:
    """Return ``size`` plus the disk space of the chance leaves' values, in the chunks of `with_chunks`.

    ``n_hands`` is ``[board]``, the number of hands of both players together.
    """
    return size.plus(LEAVES, key, 4 * n_exits * n_hands) if n_exits else size


def with_bucket_numbers(
    size: DiskSize, t: int, n_board_buckets: int, n_bytes: Sequence[int], *, rivals: bool
) -> DiskSize:
    """Return ``size`` plus the disk space of the regrets, strategy sums and visits of a round's board buckets.

    Args:
        n_bytes: per player, bytes of the regrets of one board bucket; its strategy sums have the same size.
        rivals: whether the round has regrets of rivals, too (CFR-BR).
    """
    key = f"{t}.{n_board_buckets}|0".encode()
    for n_player_bytes in n_bytes:
        for locker in (REGRET, STRATEGY, *((REGRET,) if rivals else ())):
            size = size.plus(locker, key, np.full(n_board_buckets, n_player_bytes))
    return size.plus(VISITS, key, np.full(n_board_buckets, 16))


def judged_size(n_boards: int, lines: int, kinds: int) -> DiskSize:
    """Return the disk space of the cached best responses (`ResponseCache`) on ``n_boards`` first boards.

    ``lines`` enter the round of the first board, and ``kinds`` is the number of hand classes (hands equal up to suits).
    """
    n_bytes = 8 * (2 * lines * kinds + 2)
    return DiskSize().plus(JUDGED, b"0" * 24 + f"|{n_boards}".encode(), np.full(n_boards, n_bytes))


def with_class_bytes(
    size: DiskSize, t: int, n_board_buckets: int, batches: LineBatches, n_rows: int
) -> DiskSize:
    """Return ``size`` plus the disk space of a round's strategies in a strategy locker."""
    from solvers.sampled.quantise import byte_tables

    key = f"{t}.{n_board_buckets}|0.0".encode()
    for p in (0, 1):
        n_bytes = int(byte_tables(batches, p, n_rows).free_first[-1])
        portions = max(1, n_bytes // PORTION)
        size = size.plus(PLAY, key, np.full(n_board_buckets * portions, n_bytes // portions))
    return size
