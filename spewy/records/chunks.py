"""Records of chunks: ``[slot, row]`` arrays of both players, and payoff matrices.

Both players' arrays of a chunk are one value: player 0's, then player 1's, flat. Every sweep visits every chunk, so
that once a sweep is finished a chunk that has decisions is there, or the lockers are damaged: a key that a broken page
hides looks like one that was never written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from lockers import Reads, Store, Transaction
from lockers.codec import Array
from solvers.game import LeafValues, Strategies
from solvers.tree import Floats
from spewy.chunks.layout import Layout
from spewy.errors import InputError
from spewy.records.finite import require_finite
from spewy.records.keys import (
    DROPPED_KEY,
    GUESS,
    LEAVES,
    LEAVES_KEY,
    META,
    PAYOFF,
    REGRET,
    STRATEGY,
    SWEEP_KEY,
)
from spewy.records.leaves import put_leaves
from spewy.records.progress import first_dropped, require_sweeps, saved_sweeps

if TYPE_CHECKING:
    from solvers.matrix.chunk import ChunkStrategy


DELETED_AT_ONCE = 1000
"""Number of keys that one transaction deletes."""


class Kind(StrEnum):
    """Kinds of a chunk's arrays; each value is the name of a locker."""

    REGRETS = REGRET
    SUMS = STRATEGY
    """Weighted sums of strategies: the average strategy before it is normalised."""
    GUESSES = GUESS
    """Predicted regrets of a predictive variant."""


@dataclass(frozen=True)
class Visit:
    """Result of a visit: arrays of a chunk, and of the later chunks that improved with it.

    Attributes:
        arrays: by chunk's key and kind, per player ``[slot, row]``.
        payoffs: ``[view, row of player 0, row of player 1]`` at the chunk's root; None for the first chunk.
    """

    arrays: Mapping[bytes, Mapping[Kind, ChunkStrategy]]
    payoffs: Floats | None = None


class Chunks:
    """The arrays of one kind by chunk, per player ``[slot, row]``.

    A chunk has None before the first sweep, after it was dropped, and if it has no decisions.
    """

    def __init__(self, layout: Layout, store: Reads, kind: Kind = Kind.SUMS) -> None:
        self._layout, self._store, self._kind = layout, store, kind
        first = first_dropped(store)
        present = layout.problem.game.num_rounds if first is None else first
        self._present = present if saved_sweeps(store) else 0  # rounds of the game

    def get(self, t: int, b: int, r: int) -> ChunkStrategy | None:
        """The arrays of a chunk.

        Raises:
            InputError: the arrays are missing although a sweep was finished.
        """
        return self.get_many(t, [(b, r)])[0]

    def get_many(self, t: int, places: Sequence[tuple[int, int]]) -> list[ChunkStrategy | None]:
        """Return the arrays of several chunks (t, b, r) of one round."""
        keys = [self._layout.key(t, b, r) for b, r in places]
        found = self._store.get_many(self._kind, keys)
        return [self._split(t, b, r, array) for (b, r), array in zip(places, found, strict=True)]

    def whole(self, into: Strategies | None = None) -> Strategies:
        """Return the arrays of all chunks in the layout of the live game; zeros where nothing is stored.

        Locked decisions have their locked frequencies, whatever is stored.

        Raises:
            InputError: a chunk that sweeps have visited has nothing.
        """
        out = self._layout.live.zeros() if into is None else into
        for t in range(self._layout.n_rounds):
            places = list(self._layout.chunks(t))
            for (b, r), found in zip(places, self.get_many(t, places), strict=True):
                if found is not None:
                    self._layout.place(out, t, b, r, found)
        if self._kind is Kind.SUMS:
            self._layout.live.pin(out)
        return out

    def _split(self, t: int, b: int, r: int, array: Array | None) -> ChunkStrategy | None:
        slots, rows = self._layout.tree(t, r).forest.n_slots, self._layout.n_rows(t, b)
        size = slots[0] * rows[0] + slots[1] * rows[1]
        if array is None and (not size or self._layout.boards[t].round >= self._present):
            return None
        return split(require_size(array, size, self._kind, self._layout.key(t, b, r)), slots, rows)


def require_size(array: Array | None, size: int, kind: Kind, key: bytes) -> Array:
    """Check the size of the array under a chunk's key after a finished sweep.

    Raises:
        InputError: the array is missing, or has more or fewer numbers than ``size``.
    """
    if array is None or array.size != size:
        found = "none" if array is None else f"{array.size:,}"
        raise InputError(
            f"locker {kind.value!r}, key {key.decode()}: expected the {size:,} numbers that every finished sweep "
            f"leaves, found {found}: the lockers are damaged; spewy solve --again begins from nothing"
        )
    return array


def split(array: Array, slots: tuple[int, int], rows: tuple[int, int]) -> ChunkStrategy:
    """Split one stored array into both players' ``[slot, row]``."""
    cut = slots[0] * rows[0]
    return array[:cut].reshape(slots[0], rows[0]), array[cut:].reshape(slots[1], rows[1])


def join(arrays: ChunkStrategy) -> Array:
    """Join both players' arrays into one array: the inverse of `split`."""
    return np.concatenate([arrays[0].ravel(), arrays[1].ravel()])


def read_payoffs(layout: Layout, store: Reads, t: int, b: int, r: int) -> Floats | None:
    """The payoff matrices ``[view, row, row]`` at a chunk's root; None before its first visit."""
    return store.get(PAYOFF, layout.key(t, b, r))


def visits(layout: Layout, store: Store, t: int, b: int, r: int) -> tuple[int, int]:
    """Number of visits of a chunk, and the sweep of the last visit."""
    return store.visits(layout.key(t, b, r))


def commit_visit(
    layout: Layout, store: Store, place: tuple[int, int, int], seen: tuple[int, int], sweep: int, visit: Visit
) -> bool:
    """Write the result of a visit of chunk (t, b, r), and count the visit, in one transaction.

    Args:
        layout: the problem's layout.
        store: the store to write to.
        place: the chunk.
        seen: the result of `visits` when the visit began.
        sweep: number of the sweep that the visit belongs to.
        visit: the visit's result, which may have other boards than ``place``.

    Returns:
        False if another process was faster: nothing was written, and the visit has to begin anew.

    Raises:
        SolveError: a number is not finite.
    """
    key = layout.key(*place)
    values: list[tuple[str, bytes, Array]] = [
        (kind, mine, join(arrays)) for mine, kinds in visit.arrays.items() for kind, arrays in kinds.items()
    ]
    if visit.payoffs is not None:
        values.append((PAYOFF, key, visit.payoffs))
    for locker, mine, value in values:
        require_finite(f"sweep {sweep}, {locker} of chunk {mine.decode()}", value)

    def commit(txn: Transaction) -> bool:
        if txn.visits(key) != seen:
            return False
        txn.count_visit(key, sweep)
        for locker, mine, value in values:
            txn.put(locker, mine, value)
        return True

    return store.transact(commit)


def save_boards(
    layout: Layout,
    store: Store,
    portions: Iterable[Sequence[tuple[int, int]]],
    kinds: Sequence[Kind],
    read: Callable[[Kind, int, int], ChunkStrategy],
    sweeps: tuple[int, int],
    *,
    counted: bool,
    leaves: LeafValues | None = None,
    dropping: int | None = None,
) -> None:
    """Write the arrays of boards (t, b) in several transactions, then the number of sweeps.

    Args:
        layout: the problem's layout.
        store: the store to write to.
        portions: all boards, in portions; a kill between two portions leaves chunks of two different sweeps.
        kinds: the kinds of arrays to write.
        read: returns the arrays of a board, per player ``[slot of the round, row]``; rows beyond the layout's are left
            out.
        sweeps: how many sweeps the store holds, and how many it will hold.
        counted: whether each chunk's last visit is noted, also where nobody has anything to decide.
        leaves: values of chance leaves under the sums; None if they are not known.
        dropping: the first round of the game that counts as dropped from now on; None for no round.

    Raises:
        SolveError: a number is not finite.
        SpewyError: the store holds another number of sweeps, since another process has saved meanwhile.
    """
    coming = iter(portions)
    portion = next(coming, None)
    while portion is not None:
        following = next(coming, None)

        def write(
            txn: Transaction,
            boards: Sequence[tuple[int, int]] = portion,
            last: bool = following is None,
        ) -> None:
            require_sweeps(txn, *sweeps)
            txn.delete(META, LEAVES_KEY)  # until all boards are those of the same sweep
            for t, b in boards:
                whole = {kind: read(kind, t, b) for kind in kinds}
                for arrays in whole.values():
                    require_finite(f"sweep {sweeps[1]}, board {b} of round {t}", *arrays)
                for r, chunk in enumerate(layout.betting[t].chunks):
                    key = layout.key(t, b, r)
                    if counted:
                        txn.count_visit(key, sweeps[1])
                    elif chunk.forest.n_slots == (0, 0):
                        continue
                    for kind, arrays in whole.items():
                        txn.put(kind, key, join(layout.take(arrays, t, b, r)))
                if leaves is not None and (t, b) in leaves:
                    put_leaves(txn, layout, t, b, leaves[t, b])
            if last:
                txn.put(META, SWEEP_KEY, np.array(sweeps[1]))
                if leaves is not None:
                    txn.put(META, LEAVES_KEY, np.array(sweeps[1]))
                if dropping is not None:
                    txn.put(META, DROPPED_KEY, np.array(dropping))

        store.transact(write)
        portion = following
    store.flush()


def delete_rounds(store: Store, first: int, n_rounds: int) -> None:
    """Delete all records of the chunks of round ``first`` of the game and of all later rounds."""
    for locker in (REGRET, STRATEGY, GUESS, PAYOFF, LEAVES):
        for number in range(first, n_rounds):
            _delete(store, locker, list(store.keys(locker, f"{number}.".encode())))


def _delete(store: Store, locker: str, keys: Sequence[bytes]) -> None:
    """Delete keys, some of them in each transaction."""
    for first in range(0, len(keys), DELETED_AT_ONCE):
        some = keys[first : first + DELETED_AT_ONCE]
        store.transact(lambda txn, some=some: [txn.delete(locker, key) for key in some])  # type: ignore[misc]
