"""Regrets and strategy sums of each board bucket in the lockers, with which a solve of a whole game continues.

The lockers ``regret`` and ``strategy`` hold one array for each player and board bucket under the key
``ROUND.BUCKET|PLAYER``, in the order of `solvers.sampled.numbers.Numbers`. The regrets of a rival, who plays best
responses in CFR-BR, have the number of its seat plus 2 in place of PLAYER. The locker ``visits`` holds how often
the deals have visited a board bucket, for each player, under ``ROUND.BUCKET|``. One transaction writes all arrays of a
board bucket. A save ends with its *mark*: the number of deals, and how often they have visited each board bucket.

The solve continues during a save, so a stored board bucket may already include visits of deals after the mark. The
next run repeats these deals. `read_buckets` counts the additional visits in `Numbers.ahead`, and the solve ignores that
many visits of the board bucket. So each visit of each board bucket counts once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lockers import DamagedLockerError, Reads, Store, Transaction
from lockers.codec import Array
from solvers.tree import Ints
from spewy.errors import InputError
from spewy.records.chunks import delete_keys
from spewy.records.keys import META, NUMBERS_KEY, REGRET, SAVED_KEY, SECONDS_KEY, STRATEGY, SWEEP_KEY, VISITS
from spewy.records.progress import require_finite, require_sweeps, saved_sweeps

if TYPE_CHECKING:
    from solvers.sampled.numbers import Numbers

READ_AT_ONCE = 128 << 20
"""Approximate number of bytes that are read before the store is reopened."""
MOST_LEARNERS = 4
"""Largest number of arrays of regrets in a board bucket: of two players and their two rivals."""
BYTES_AT_ONCE = 8 << 20
"""Bytes of board buckets per transaction; LMDB keeps a transaction in memory until it ends."""
PORTIONS = 100
"""Number of parts in which the arrays of a large solve are copied for a save; no board is dealt during a copy."""


class BucketNumbers(NamedTuple):
    """Regrets, strategy sums and numbers of visits of one board bucket.

    Attributes:
        regrets: each player's regrets, as a flat array, and then those of the rivals, if any (`Numbers.regrets`).
        sums: each player's strategy sums, as a flat array.
        visits: ``[player]``, how often the deals have visited the board bucket.
    """

    t: int
    board_bucket: int
    regrets: tuple[np.ndarray, ...]
    sums: tuple[np.ndarray, ...]
    visits: Ints

    def require_finite(self) -> None:
        require_finite(f"round {self.t}, board bucket {self.board_bucket}", *self.regrets, *self.sums)

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in (*self.regrets, *self.sums))


@dataclass(frozen=True)
class Mark:
    """Number of deals and seconds of work that a finished save includes."""

    deals: int = 0
    seconds: float = 0.0


def read_mark(store: Reads) -> Mark:
    seconds = store.get(META, SECONDS_KEY)
    return Mark(saved_sweeps(store), 0.0 if seconds is None else float(seconds))


def write_buckets(store: Store, board_buckets: Sequence[BucketNumbers]) -> None:
    """Write board buckets in one transaction.

    If a solve continues without rivals (the best-responding opponents of CFR-BR), stored regrets of rivals are deleted
    in these board buckets, since they would soon no longer fit the players.
    """
    for bucket in board_buckets:
        bucket.require_finite()

    def write(txn: Transaction) -> None:
        for bucket in board_buckets:
            for locker, arrays in ((REGRET, bucket.regrets), (STRATEGY, bucket.sums)):
                for p, array in enumerate(arrays):
                    if array.size:
                        txn.put(locker, _key(bucket.t, bucket.board_bucket, p), array)
            for rival in range(len(bucket.regrets), MOST_LEARNERS):
                txn.delete(REGRET, _key(bucket.t, bucket.board_bucket, rival))
            txn.put(VISITS, _visits_key(bucket.t, bucket.board_bucket), bucket.visits)

    store.transact(write)


def finish_save(store: Store, before: int, mark: Mark, visits: Sequence[Ints]) -> None:
    """Record a finished save, and wait until everything is on the disk.

    Args:
        before: number of deals that the previous save recorded.
        visits: per round ``[player, board bucket]``, how often all deals so far have visited each board bucket.
    """
    store.flush()

    def write(txn: Transaction) -> None:
        require_sweeps(txn, before, mark.deals)
        txn.put(META, SWEEP_KEY, np.array(mark.deals))
        txn.put(META, SECONDS_KEY, np.array(mark.seconds))
        for t, counts in enumerate(visits):
            txn.put(VISITS, _marked_key(t), counts)

    store.transact(write)
    store.flush()


def read_buckets(opened: Callable[[], AbstractContextManager[Store]], numbers: Numbers) -> None:
    """Read the stored numbers into ``numbers``, whose arrays must be zero; without a finished save nothing is read.

    Rivals (the best-responding opponents of CFR-BR) without stored regrets begin with the players' regrets.
    ``opened`` is called several times, since the memory of pages that were read is freed only when the store closes.
    """
    with opened() as store:
        deals = saved_sweeps(store)
    if not deals:  # without a mark nobody knows which deals the stored board buckets include
        return
    for t, visits in enumerate(numbers.visits):
        both = (numbers.regrets[t], numbers.sums[t])
        n_board_buckets, n_bytes = visits.shape[1], sum(whole.nbytes for wholes in both for whole in wholes)
        at_once = max(1, READ_AT_ONCE * n_board_buckets // max(n_bytes, 1))
        for first in range(0, n_board_buckets, at_once):
            buckets = range(first, min(first + at_once, n_board_buckets))
            with opened() as store:
                _read_visits(store, t, buckets, visits)
                visited = [c for c in buckets if visits[:, c].any()]
                for locker, wholes in zip((REGRET, STRATEGY), both, strict=True):
                    for p, whole in enumerate(wholes):
                        start = wholes[p - 2].reshape(n_board_buckets, -1) if p > 1 else None
                        _read_player(
                            store, locker, (t, p), visited, whole.reshape(n_board_buckets, -1), start
                        )
    with opened() as store:
        _read_ahead(store, deals, numbers)
    was_visited = [bool(visits.any()) for visits in numbers.visits]
    if not all(was_visited):
        raise DamagedLockerError(
            f"locker {VISITS!r}, round {was_visited.index(False)}: expected board buckets that {deals:,} deals have "
            "visited, found none; spewy solve --again begins from nothing"
        )


def drop_numbers(store: Store) -> None:
    """Delete regrets, strategy sums and visits; if the process is killed, the next call finishes the work.

    First the store records that no solve can continue from these arrays, so that no solve continues with half of them.
    """
    store.transact(lambda txn: txn.put(META, NUMBERS_KEY, np.array(1)))
    store.flush()
    for locker in (REGRET, STRATEGY, VISITS):
        delete_keys(store, locker)
    store.flush()


def require_numbers(store: Reads, subject: str) -> None:
    if store.get(META, SAVED_KEY) is not None:
        raise InputError(
            f"{subject}: expected regrets and sums to continue with, found a strategy locker alone"
        )
    if store.get(META, NUMBERS_KEY) is not None:
        raise InputError(
            f"{subject}: expected regrets and sums to continue with, found them dropped; "
            '"spewy solve JOB.toml --again" begins from nothing'
        )


def _read_visits(store: Reads, t: int, board_buckets: Sequence[int], visits: Ints) -> None:
    keys = [_visits_key(t, c) for c in board_buckets]
    for c, key, counts in zip(board_buckets, keys, store.get_many(VISITS, keys), strict=True):
        if counts is None:
            continue
        if counts.shape != (2,) or counts.dtype != np.int64 or (counts < 0).any():
            raise _damaged(VISITS, key, "numbers of visits of two players", counts)
        visits[:, c] = counts


def _read_ahead(store: Reads, deals: int, numbers: Numbers) -> None:
    """Set ``numbers.ahead``: how many stored visits of each board bucket are newer than the last finished save."""
    for t, (visits, ahead) in enumerate(zip(numbers.visits, numbers.ahead, strict=True)):
        key = _marked_key(t)
        counted = store.get(VISITS, key)
        if counted is None:
            raise DamagedLockerError(
                f"locker {VISITS!r}, key {key.decode()}: the visits of board buckets by {deals:,} deals are missing; "
                "the folder is damaged, or an earlier version of Spewy wrote it; "
                "spewy solve --again begins from nothing"
            )
        if counted.shape != visits.shape or counted.dtype != np.int64 or (counted > visits).any():
            raise _damaged(VISITS, key, "at most the visits that each board bucket counts", counted)
        ahead[:] = visits - counted


def _read_player(
    store: Reads,
    locker: str,
    place: tuple[int, int],
    board_buckets: Sequence[int],
    whole: Array,
    start: Array | None,
) -> None:
    """Fill the rows ``board_buckets`` of ``whole``, ``[board bucket, number]``, from a locker.

    ``place`` is the round and the number of the player or rival. ``start`` has the rows of board buckets that the
    locker lacks; None: a missing board bucket is an error.
    """
    if not whole.shape[1]:
        return
    for c in board_buckets:
        key = _key(place[0], c, place[1])
        array = store.get(locker, key)
        if array is None and start is not None:
            array = start[c]
        if array is None or array.shape != whole[c].shape or array.dtype != whole.dtype:
            raise _damaged(locker, key, f"{whole.shape[1]:,} numbers of {whole.dtype}", array)
        whole[c] = array


def _damaged(locker: str, key: bytes, expected: str, array: Array | None) -> DamagedLockerError:
    content = "none" if array is None else f"{array.size:,} of {array.dtype}"
    return DamagedLockerError(
        f"locker {locker!r}, key {key.decode()}: expected {expected}, found {content}; "
        "spewy solve --again begins from nothing"
    )


def _key(t: int, board_bucket: int, p: int) -> bytes:
    return f"{t}.{board_bucket}|{p}".encode()


def _marked_key(t: int) -> bytes:
    """Return the key of the array ``[player, board bucket]`` with round t's visit counts in the last finished save."""
    return f"{t}|".encode()


def _visits_key(t: int, board_bucket: int) -> bytes:
    return f"{t}.{board_bucket}|".encode()
