"""Regrets and sums by board bucket, from which a solve by dealt boards goes on.

Key ``ROUND.BUCKET|PLAYER`` holds a board bucket's numbers of a player, flat as in `solvers.sampled.numbers.Numbers`, in
the lockers of regrets and of sums; key ``ROUND.BUCKET|`` holds the numbers of visits of both players. All numbers of a
board bucket change in one transaction. A save writes the mark last: the number of deals, and their visits of each board
bucket.

A solve goes on while it is saved, so a board bucket can be some visits ahead of the mark, and further ahead after a
killed save. Deals after the mark are dealt again. `read_buckets` reads the number of visits ahead into `Numbers.ahead`;
that many visits then change nothing in the board bucket. So each visit of each board bucket counts once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lockers import DamagedLockerError, Reads, Store, Transaction
from lockers.codec import Array
from solvers.tree import Ints
from spewy.errors import InputError
from spewy.records.finite import require_finite
from spewy.records.keys import META, NUMBERS_KEY, REGRET, SAVED_KEY, SECONDS_KEY, STRATEGY, SWEEP_KEY, VISITS
from spewy.records.progress import require_sweeps, saved_sweeps

if TYPE_CHECKING:
    from solvers.sampled.numbers import Numbers

READ_AT_ONCE = 128 << 20
"""Approximate number of bytes read from a store before it is reopened."""
BYTES_AT_ONCE = 8 << 20
"""Bytes of board buckets per transaction; LMDB keeps a transaction in memory until it ends."""
AT_ONCE = 1000
"""Number of keys that one transaction deletes."""
PORTIONS = 100
"""Number of parts in which a large state is copied for saving; deals wait while a part is copied."""

Pair = tuple[np.ndarray, np.ndarray]


class BucketNumbers(NamedTuple):
    """Regrets, sums and visits of one board bucket, for each player."""

    t: int
    class_: int
    regrets: Pair
    sums: Pair
    visits: Ints

    def require_finite(self) -> None:
        """Check the numbers before they are stored.

        Raises:
            SolveError: a number is infinite or NaN.
        """
        require_finite(f"round {self.t}, class {self.class_}", *self.regrets, *self.sums)

    @property
    def nbytes(self) -> int:
        """Bytes of regrets and sums."""
        return sum(array.nbytes for array in (*self.regrets, *self.sums))


@dataclass(frozen=True)
class Mark:
    """Progress of a finished save: number of deals, and seconds of work."""

    deals: int = 0
    seconds: float = 0.0


def read_mark(store: Reads) -> Mark:
    """The progress of the last finished save."""
    seconds = store.get(META, SECONDS_KEY)
    return Mark(saved_sweeps(store), 0.0 if seconds is None else float(seconds))


def write_buckets(store: Store, classes: Sequence[BucketNumbers]) -> None:
    """Write the numbers of some board buckets, in one transaction.

    Raises:
        SolveError: a number is not finite.
    """
    for one in classes:
        one.require_finite()

    def write(txn: Transaction) -> None:
        for one in classes:
            for locker, both in ((REGRET, one.regrets), (STRATEGY, one.sums)):
                for p, array in enumerate(both):
                    if array.size:
                        txn.put(locker, _key(one.t, one.class_, p), array)
            txn.put(VISITS, _visits_key(one.t, one.class_), one.visits)

    store.transact(write)


def finish_save(store: Store, before: int, mark: Mark, visits: Sequence[Ints]) -> None:
    """Write the mark of a finished save, and wait until everything is on the disk.

    Args:
        store: the store to write to.
        before: number of deals in the mark so far.
        mark: the new mark.
        visits: per round ``[player, class]``, how often the deals of the new mark have visited each class.

    Raises:
        SpewyError: the mark has another number of deals than ``before``, since another process has saved meanwhile.
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
    """Read the stored numbers into arrays of zeros; without a finished save they stay zero.

    Args:
        opened: function that opens the store for reading; it is called often, since pages stay mapped until a close.
        numbers: of the game.

    Raises:
        lockers.DamagedLockerError: the numbers are not those that were written, or are missing.
    """
    with opened() as store:
        deals = saved_sweeps(store)
    if not deals:  # classes without a mark: nobody knows which deals they hold
        return
    for t, visits in enumerate(numbers.visits):
        pairs = (numbers.regrets[t], numbers.sums[t])
        n_classes, n_bytes = visits.shape[1], sum(whole.nbytes for pair in pairs for whole in pair)
        at_once = max(1, READ_AT_ONCE * n_classes // max(n_bytes, 1))
        for first in range(0, n_classes, at_once):
            some = range(first, min(first + at_once, n_classes))
            with opened() as store:
                _read_visits(store, t, some, visits)
                seen = [c for c in some if visits[:, c].any()]
                for locker, pair in zip((REGRET, STRATEGY), pairs, strict=True):
                    for p, whole in enumerate(pair):
                        _read_player(store, locker, (t, p), seen, whole.reshape(n_classes, -1))
    with opened() as store:
        _read_ahead(store, deals, numbers)
    found = [bool(visits.any()) for visits in numbers.visits]
    if not all(found):
        raise DamagedLockerError(
            f"locker {VISITS!r}, round {found.index(False)}: expected classes that {deals:,} deals have visited, "
            "found none"
        )


def drop_numbers(store: Store) -> None:
    """Delete regrets, sums and visits; if the process is killed, the next call finishes the work.

    A mark is written first, so that nobody takes the remaining numbers for all of them.
    """
    store.transact(lambda txn: txn.put(META, NUMBERS_KEY, np.array(1)))
    store.flush()
    for locker in (REGRET, STRATEGY, VISITS):
        keys = list(store.keys(locker))
        for first in range(0, len(keys), AT_ONCE):
            store.transact(partial(_delete, locker, keys[first : first + AT_ONCE]))
    store.flush()


def _delete(locker: str, keys: Sequence[bytes], txn: Transaction) -> None:
    for key in keys:
        txn.delete(locker, key)


def require_numbers(store: Reads, subject: str) -> None:
    """Refuse a store without regrets and sums.

    Raises:
        InputError: regrets and sums were dropped, or the store is a strategy locker.
    """
    if store.get(META, SAVED_KEY) is not None:
        raise InputError(f"{subject}: expected regrets and sums to go on from, found a strategy locker alone")
    if store.get(META, NUMBERS_KEY) is not None:
        raise InputError(
            f"{subject}: expected regrets and sums to go on from, found them dropped; "
            '"spewy solve JOB.toml --again" begins from nothing'
        )


def _read_visits(store: Reads, t: int, classes: Sequence[int], visits: Ints) -> None:
    keys = [_visits_key(t, c) for c in classes]
    for c, key, found in zip(classes, keys, store.get_many(VISITS, keys), strict=True):
        if found is None:
            continue
        if found.shape != (2,) or found.dtype != np.int64 or (found < 0).any():
            raise _damaged(VISITS, key, "two counts of visits", found)
        visits[:, c] = found


def _read_ahead(store: Reads, deals: int, numbers: Numbers) -> None:
    """Fill ``numbers.ahead`` from ``numbers.visits`` and the visits in the mark."""
    for t, (visits, ahead) in enumerate(zip(numbers.visits, numbers.ahead, strict=True)):
        key = _marked_key(t)
        counted = store.get(VISITS, key)
        if counted is None:
            raise DamagedLockerError(
                f"locker {VISITS!r}, key {key.decode()}: the visits of each class by {deals:,} deals are missing; the "
                "folder is damaged, or an earlier version of Spewy wrote it; spewy solve --again begins from nothing"
            )
        if counted.shape != visits.shape or counted.dtype != np.int64 or (counted > visits).any():
            raise _damaged(VISITS, key, "at most as many visits of each class as the class counts", counted)
        ahead[:] = visits - counted


def _read_player(
    store: Reads, locker: str, place: tuple[int, int], classes: Sequence[int], whole: Array
) -> None:
    """Fill the rows of some classes in ``[class, number]``."""
    if not whole.shape[1]:
        return
    for c in classes:
        key = _key(place[0], c, place[1])
        found = store.get(locker, key)
        if found is None or found.shape != whole[c].shape or found.dtype != whole.dtype:
            raise _damaged(locker, key, f"{whole.shape[1]:,} numbers of {whole.dtype}", found)
        whole[c] = found


def _damaged(locker: str, key: bytes, expected: str, found: Array | None) -> DamagedLockerError:
    told = "none" if found is None else f"{found.size:,} of {found.dtype}"
    return DamagedLockerError(
        f"locker {locker!r}, key {key.decode()}: expected {expected}, found {told}; "
        "spewy solve --again begins from nothing"
    )


def _key(t: int, class_: int, p: int) -> bytes:
    return f"{t}.{class_}|{p}".encode()


def _marked_key(t: int) -> bytes:
    """Key of the visit counts at the last finished save, for round t."""
    return f"{t}|".encode()


def _visits_key(t: int, class_: int) -> bytes:
    return f"{t}.{class_}|".encode()
