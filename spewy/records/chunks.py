"""Arrays of chunks in the lockers: regrets, strategy sums, predictions, and payoff matrices.

A player's array in a chunk is ``[slot, row]``, with a *slot* for each action of each of the player's decisions. A
locker stores one array for each chunk: player 0's numbers, then player 1's. Every sweep visits every chunk, so after a
finished sweep a missing array means that the lockers are damaged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache, partial
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
    from solvers.state import ChunkStrategy


DELETED_AT_ONCE = 1000
"""Number of keys that one transaction deletes."""


class Kind(StrEnum):
    """The kinds of arrays that are stored for a chunk; the value of each kind is the name of its locker."""

    REGRETS = REGRET
    SUMS = STRATEGY
    """Weighted sums of strategies, from which the average strategy is computed."""
    GUESSES = GUESS
    """Predicted regrets, for variants of CFR that predict."""


@dataclass(frozen=True)
class Visit:
    """Result of a visit: new arrays of a chunk, and of the later chunks that improved in the same visit.

    Attributes:
        arrays: arrays by the key of a chunk and by kind, per player ``[slot, row]`` (a slot is an action).
        payoffs: payoff matrices of the visited chunk, ``[matrix, row of player 0, row of player 1]``; None for the root
            chunk.
    """

    arrays: Mapping[bytes, Mapping[Kind, ChunkStrategy]]
    payoffs: Floats | None = None


class Chunks:
    """Reads the arrays of one kind from a store, chunk by chunk.

    The arrays of a chunk are ``[slot, row]`` for each player, with a slot for each action. They are None before the
    first sweep, for a dropped chunk, and for a chunk without decisions. Three numbers of a `Layout` identify a
    chunk: round t (0 is the first solved round), board b, and root r of the round's betting.
    """

    def __init__(self, layout: Layout, store: Reads, kind: Kind = Kind.SUMS) -> None:
        self._layout, self._store, self._kind = layout, store, kind
        first = first_dropped(store)
        present = layout.problem.game.num_rounds if first is None else first
        self._present = present if saved_sweeps(store) else 0  # rounds of the game

    def get(self, t: int, b: int, r: int) -> ChunkStrategy | None:
        """Return both players' arrays of the chunk with round t, board b and root r; None if there are none.

        Raises:
            InputError: the arrays are missing although a sweep was finished.
        """
        return self.get_many(t, [(b, r)])[0]

    def get_many(self, t: int, places: Sequence[tuple[int, int]]) -> list[ChunkStrategy | None]:
        """Return the arrays of several chunks of round t; ``places`` has the board and the root of each chunk."""
        keys = [self._layout.key(t, b, r) for b, r in places]
        arrays = self._store.get_many(self._kind, keys)
        return [self._split(t, b, r, array) for (b, r), array in zip(places, arrays, strict=True)]

    def whole(self, into: Strategies | None = None) -> Strategies:
        """Return the arrays of all chunks: for each round one array per player, ``[board, slot, row]``.

        Chunks without stored arrays have zeros. Locked decisions get their locked frequencies in strategy sums.

        Args:
            into: arrays to fill; None for new ones.

        Raises:
            InputError: the arrays of a chunk are missing although a sweep was finished.
        """
        out = self._layout.live.zeros() if into is None else into
        for t in range(self._layout.n_rounds):
            places = list(self._layout.chunks(t))
            for (b, r), chunk_arrays in zip(places, self.get_many(t, places), strict=True):
                if chunk_arrays is not None:
                    self._layout.place(out, t, b, r, chunk_arrays)
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
    """Check that a chunk's array is stored and has the right size, after a finished sweep.

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
    """Split a chunk's stored array into one array for each player.

    Args:
        array: numbers of player 0, then those of player 1.
        slots: for each player, number of the actions at all decisions of the player.
        rows: number of rows of each player.

    Returns:
        An array ``[slot, row]`` for each player, with a slot for each action.
    """
    cut = slots[0] * rows[0]
    return array[:cut].reshape(slots[0], rows[0]), array[cut:].reshape(slots[1], rows[1])


def join(arrays: ChunkStrategy) -> Array:
    """Join both players' arrays into one flat array, which `split` splits again."""
    return np.concatenate([arrays[0].ravel(), arrays[1].ravel()])


def read_payoffs(layout: Layout, store: Reads, t: int, b: int, r: int) -> Floats | None:
    """Read the payoff matrices of a chunk, in net chips of player 0; None before its first visit.

    The chunk is given by its round t, its board b and its root r in the layout.

    The array is ``[matrix, row of player 0, row of player 1]``. A chunk has either one matrix for both players, or two:
    in the matrix for a player, the player's own hands weigh as in the initial range.
    """
    return store.get(PAYOFF, layout.key(t, b, r))


def visits(layout: Layout, store: Store, t: int, b: int, r: int) -> tuple[int, int]:
    """Return the number of visits of a chunk, and the number of the sweep of its last visit.

    The chunk is given by its round t, its board b and its root r in the layout.
    """
    return store.visits(layout.key(t, b, r))


def commit_visit(
    layout: Layout, store: Store, place: tuple[int, int, int], seen: tuple[int, int], sweep: int, visit: Visit
) -> bool:
    """Write the result of a chunk's visit, and count the visit, in one transaction.

    Args:
        layout: boards and betting of the problem.
        store: the store to write to.
        place: the visited chunk, as its round t, board b and root r.
        seen: result of `visits` for the chunk when the visit began.
        sweep: number of the sweep that the visit belongs to.
        visit: arrays to write.

    Returns:
        False if another process has visited the chunk meanwhile: nothing was written, and the visit must be repeated.

    Raises:
        SolveError: a number is not finite.
    """
    key = layout.key(*place)
    values: list[tuple[str, bytes, Array]] = [
        (kind, chunk_key, join(arrays))
        for chunk_key, kinds in visit.arrays.items()
        for kind, arrays in kinds.items()
    ]
    if visit.payoffs is not None:
        values.append((PAYOFF, key, visit.payoffs))
    for locker, chunk_key, value in values:
        require_finite(f"sweep {sweep}, {locker} of chunk {chunk_key.decode()}", value)

    def commit(txn: Transaction) -> bool:
        if txn.visits(key) != seen:
            return False
        txn.count_visit(key, sweep)
        for locker, chunk_key, value in values:
            txn.put(locker, chunk_key, value)
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
    """Write the arrays of all boards in several transactions, and the number of sweeps in the last one.

    Args:
        layout: boards and betting of the problem.
        store: the store to write to.
        portions: boards of each transaction, as pairs of round t and board b. If the process is killed between two
            transactions, the store holds chunks of two different sweeps.
        kinds: kinds of arrays to write.
        read: function of a kind, a round and a board that returns the board's arrays, per player
            ``[slot, row]`` with a slot for each action in the round. A store in memory calls it whenever it reads an
            array, so it must return equal arrays until the next save. If they have more rows than the layout, the
            additional rows are not written.
        sweeps: number of sweeps that the store records now, and the number to record.
        counted: whether to count a visit of each chunk, also of chunks without decisions.
        leaves: values of chance leaves under the average strategies; None if they are unknown.
        dropping: first round of the game that is marked as dropped in the last transaction; None for no round.

    Raises:
        SolveError: a number is not finite.
        SpewyError: the store holds another number of sweeps, since another process has saved meanwhile.
    """

    @lru_cache(len(kinds))
    def board_arrays(kind: Kind, t: int, b: int) -> ChunkStrategy:
        arrays = read(kind, t, b)
        require_finite(f"sweep {sweeps[1]}, board {b} of round {t}", *arrays)
        return arrays

    def chunk_array(kind: Kind, t: int, b: int, r: int) -> Array:
        return join(layout.take(board_arrays(kind, t, b), t, b, r))

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
            txn.delete(
                META, LEAVES_KEY
            )  # the last transaction sets it again, when all boards are of one sweep
            for t, b in boards:
                for r, chunk in enumerate(layout.betting[t].chunks):
                    key = layout.key(t, b, r)
                    if counted:
                        txn.count_visit(key, sweeps[1])
                    elif chunk.forest.n_slots == (0, 0):
                        continue
                    for kind in kinds:
                        txn.put_later(kind, key, partial(chunk_array, kind, t, b, r))
                if leaves is not None and (t, b) in leaves:
                    put_leaves(txn, layout, t, b, leaves[t, b])
            if last:
                txn.put(META, SWEEP_KEY, np.array(sweeps[1]))
                if leaves is not None:
                    txn.put(META, LEAVES_KEY, np.array(sweeps[1]))
                if dropping is not None:
                    txn.put(META, DROPPED_KEY, np.array(dropping))

        store.transact(write)
        store.let_go()
        portion = following
    store.flush()


def delete_rounds(store: Store, first: int, n_rounds: int) -> None:
    """Delete all arrays of chunks in round ``first`` of the game and in all later rounds."""
    for locker in (REGRET, STRATEGY, GUESS, PAYOFF, LEAVES):
        for number in range(first, n_rounds):
            _delete(store, locker, list(store.keys(locker, f"{number}.".encode())))


def _delete(store: Store, locker: str, keys: Sequence[bytes]) -> None:
    """Delete keys from a locker, in several transactions."""
    for first in range(0, len(keys), DELETED_AT_ONCE):
        portion = keys[first : first + DELETED_AT_ONCE]
        store.transact(lambda txn, portion=portion: [txn.delete(locker, key) for key in portion])  # type: ignore[misc]
