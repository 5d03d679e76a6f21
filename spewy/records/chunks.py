"""Arrays of chunks in the lockers: regrets, strategy sums, predictions, payoff matrices, values at chance leaves.

A chunk is the betting of one round after a line that enters the round; it ends at folds, showdowns and *chance leaves*,
where the next cards are dealt. A player's array in a chunk is ``[slot, row]``, with a *slot* for each action of each of
the player's decisions, and a *row* for each hand or bucket of hands. A locker stores one array for each chunk: player
0's numbers, then player 1's. Every sweep visits every chunk, so after a finished sweep a missing array means that the
lockers are damaged. A chunk is given by numbers of its `Layout`: round t (0 is the first solved round), board b, and
root r of the round's betting.

With the values at chance leaves the EVs at a decision can be computed from its own chunk, and later rounds can be
dropped. For each chunk with chance leaves, the locker ``leaves`` holds counterfactual values ``[chance leaf, hand]``
under the average strategies, player 0's and then player 1's, in single precision. The opponent's hands weigh as in the
initial ranges. A solve with live leaves writes the values together with its strategies, and records the number of
sweeps so far. The values count as unknown once the store has more sweeps. ``spewy drop`` writes the values of the last
round that stays.

`PatchedReads` reads a store together with re-solved chunks in memory; a `Snapshot` is a copy of entries for another
process.
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
from spewy.errors import InputError, SpewyError
from spewy.records.keys import (
    DROPPED_KEY,
    GUESS,
    LEAVES,
    LEAVES_KEY,
    META,
    PAYOFF,
    QUICK_KEY,
    REGRET,
    STRATEGY,
    SWEEP_KEY,
)
from spewy.records.progress import first_dropped, require_finite, require_sweeps, saved_sweeps

if TYPE_CHECKING:
    from solvers.reference.walk import Known
    from solvers.state import ChunkStrategy


DELETED_AT_ONCE = 1000
"""Number of keys that one transaction deletes."""

Pair = tuple[Floats, Floats]
"""Values ``[chance leaf, hand]`` of both players."""


class Kind(StrEnum):
    """The kinds of arrays that are stored for a chunk; the value of each kind is the name of its locker."""

    REGRETS = REGRET
    SUMS = STRATEGY
    """Weighted sums of strategies, from which the average strategy is computed."""
    GUESSES = GUESS
    """Predicted regrets, for variants of CFR that predict."""


@dataclass(frozen=True)
class Visit:
    """Result of a visit (one improvement of a chunk): new arrays of the chunk, and of later chunks that it improved.

    Attributes:
        arrays: arrays by the key of a chunk and by kind, per player ``[slot, row]``.
        payoffs: payoff matrices of the visited chunk, ``[matrix, row of player 0, row of player 1]``; None for the root
            chunk.
    """

    arrays: Mapping[bytes, Mapping[Kind, ChunkStrategy]]
    payoffs: Floats | None = None


class Chunks:
    """Reads the arrays of one kind from a store, chunk by chunk.

    The arrays are None before the first sweep, for a dropped chunk, and for a chunk without decisions.
    """

    def __init__(self, layout: Layout, store: Reads, kind: Kind = Kind.SUMS) -> None:
        self._layout, self._store, self._kind = layout, store, kind
        first = first_dropped(store)
        present = layout.problem.game.num_rounds if first is None else first
        self._present = present if saved_sweeps(store) else 0  # rounds of the game

    def get(self, t: int, b: int, r: int) -> ChunkStrategy | None:
        return self.get_many(t, [(b, r)])[0]

    def get_many(self, t: int, places: Sequence[tuple[int, int]]) -> list[ChunkStrategy | None]:
        keys = [self._layout.key(t, b, r) for b, r in places]
        arrays = self._store.get_many(self._kind, keys)
        return [self._split(t, b, r, array) for (b, r), array in zip(places, arrays, strict=True)]

    def whole(self, into: Strategies | None = None) -> Strategies:
        """Return the arrays of all chunks: for each round one array per player, ``[board, slot, row]``.

        Chunks without stored arrays have zeros, or keep what ``into`` has. Strategy sums get the locked frequencies of
        locked decisions.
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
    if array is None or array.size != size:
        found = "none" if array is None else f"{array.size:,}"
        raise InputError(
            f"locker {kind.value!r}, key {key.decode()}: expected the {size:,} numbers that every finished sweep "
            f"leaves, found {found}: the lockers are damaged; spewy solve --again begins from nothing"
        )
    return array


def split(array: Array, slots: tuple[int, int], rows: tuple[int, int]) -> ChunkStrategy:
    """Split a stored array into an array ``[slot, row]`` for each player p, who has ``slots[p]`` and ``rows[p]``."""
    cut = slots[0] * rows[0]
    return array[:cut].reshape(slots[0], rows[0]), array[cut:].reshape(slots[1], rows[1])


def join(arrays: ChunkStrategy) -> Array:
    return np.concatenate([arrays[0].ravel(), arrays[1].ravel()])


def read_payoffs(layout: Layout, store: Reads, t: int, b: int, r: int) -> Floats | None:
    """Read the payoffs ``[matrix, row of player 0, row of player 1]``, in net chips of player 0; None before a visit.

    A chunk has either one matrix for both players, or two: in the matrix for a player, the player's own hands weigh as
    in the initial range.
    """
    return store.get(PAYOFF, layout.key(t, b, r))


def visits(layout: Layout, store: Store, t: int, b: int, r: int) -> tuple[int, int]:
    """Return the number of visits of a chunk, and the number of the sweep of its last visit."""
    return store.visits(layout.key(t, b, r))


def commit_visit(
    layout: Layout, store: Store, place: tuple[int, int, int], seen: tuple[int, int], sweep: int, visit: Visit
) -> bool:
    """Write the result of a chunk's visit, and count the visit, in one transaction.

    Returns False if another process has visited the chunk since `visits` returned ``seen``: then nothing was written,
    and the visit must be repeated.
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
    quick: float | None = None,
) -> None:
    """Write the arrays of all boards in several transactions, and the number of sweeps in the last one.

    Args:
        portions: (round, board) of the boards of each transaction. If the process is killed between two transactions,
            the store holds chunks of two different sweeps.
        read: function of a kind, a round and a board that returns the board's arrays, per player ``[slot, row]`` with
            the slots of the whole round. A store in memory calls it whenever it reads an array, so it must return equal
            arrays until the next save. If they have more rows than the layout, the additional rows are not written.
        sweeps: number of sweeps that the store records now, and the number to record.
        counted: whether to count a visit of each chunk, also of chunks without decisions.
        leaves: values of chance leaves under the average strategies; None if they are unknown.
        dropping: first round of the game that is marked as dropped in the last transaction; None for no round.
        quick: seconds of a quick solve (job key ``quick``); None: the solve is not quick.
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
            # the last transaction sets it again, when all boards are of one sweep
            txn.delete(META, LEAVES_KEY)
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
                for mark, value in ((DROPPED_KEY, dropping), (QUICK_KEY, quick)):
                    txn.delete(META, mark)  # a quick solve may have been before
                    if value is not None:
                        txn.put(META, mark, np.array(value))

        store.transact(write)
        store.let_go()
        portion = following
    store.flush()


def delete_rounds(store: Store, first: int, n_rounds: int) -> None:
    for locker in (REGRET, STRATEGY, GUESS, PAYOFF, LEAVES):
        for number in range(first, n_rounds):
            delete_keys(store, locker, f"{number}.".encode())


def delete_keys(store: Store, locker: str, start: bytes = b"") -> None:
    """Delete all keys of a locker that begin with ``start``, in several transactions."""
    keys = list(store.keys(locker, start))
    for first in range(0, len(keys), DELETED_AT_ONCE):
        portion = keys[first : first + DELETED_AT_ONCE]
        store.transact(lambda txn, portion=portion: [txn.delete(locker, key) for key in portion])  # type: ignore[misc]


def are_kept(store: Reads, t: int) -> bool:
    """Whether a store has values at the chance leaves of all chunks in round t of the game."""
    if first_dropped(store) == t + 1:
        return True
    mark = store.get(META, LEAVES_KEY)
    return mark is not None and int(mark) == saved_sweeps(store)


def read_leaves(store: Reads, key: bytes, n_exits: int, n_hands: tuple[int, int]) -> Pair:
    """Read the values at a chunk's ``n_exits`` chance leaves, which are stored if `are_kept` is true for its round."""
    array = store.get(LEAVES, key)
    size = n_exits * sum(n_hands)
    if array is None or array.size != size:
        found = "none" if array is None else f"{array.size:,}"
        raise SpewyError(
            f"chunk {key.decode()}: expected the {size:,} values of its chance leaves, found {found}"
        )
    return split_leaves(array, n_exits, n_hands)


def split_leaves(array: Array, n_exits: int, n_hands: tuple[int, int]) -> Pair:
    cut = n_exits * n_hands[0]
    return array[:cut].reshape(n_exits, n_hands[0]), array[cut:].reshape(n_exits, n_hands[1])


def join_leaves(values: Pair) -> Array:
    return np.concatenate([player_values.ravel() for player_values in values]).astype(np.float32)


def known_leaves(layout: Layout, store: Reads, p: int) -> Known | None:
    """Read player p's values at the chance leaves that lead to dropped rounds.

    Returns:
        A function of a round and a board of the layout: in the last kept round it returns values ``[line, hand]`` for
        all lines that enter the next round, and in earlier rounds None. If no line leads from a kept round to a dropped
        round, the result is None and not a function.
    """
    first = first_dropped(store)
    if first is None or layout.boards[0].round >= first:
        return None
    t = first - 1 - layout.boards[0].round
    if t >= layout.n_rounds - 1:  # no line of this layout reaches the dropped rounds
        return None
    width = max(len(board.hands[p].numbers) for board in layout.boards[t].boards)
    values = np.zeros((len(layout.boards[t].boards), layout.betting[t + 1].forest.n_roots, width))
    for b, r in layout.chunks(t):
        exits = layout.tree(t, r).exits
        if len(exits):
            chunk_values = read_leaves(store, layout.key(t, b, r), len(exits), hands_on(layout, t, b))[p]
            values[b, exits, : chunk_values.shape[1]] = chunk_values

    def known(i: int, b: int) -> Floats | None:
        return values[b] if i == t else None

    return known


def hands_on(layout: Layout, t: int, b: int) -> tuple[int, int]:
    rows = layout.board(t, b).hands
    return len(rows[0].numbers), len(rows[1].numbers)


def put_leaves(txn: Transaction, layout: Layout, t: int, b: int, values: Pair) -> None:
    """Store ``values``, per player ``[line that enters the next round, hand]``, of board b of round t."""
    hands = hands_on(layout, t, b)
    for r, chunk in enumerate(layout.betting[t].chunks):
        if len(chunk.exits):
            joined = join_leaves((values[0][chunk.exits, : hands[0]], values[1][chunk.exits, : hands[1]]))
            require_finite(f"values of the chance leaves of board {b} of round {t}", joined)
            txn.put(LEAVES, layout.key(t, b, r), joined)


def write_leaves(layout: Layout, store: Store, t: int, b: int, values: Pair) -> None:
    store.transact(lambda txn: put_leaves(txn, layout, t, b, values))


class PatchedReads:
    """Reads chunks from a store, to which it never writes, and re-solved chunks of dropped rounds from memory."""

    def __init__(self, store: Reads) -> None:
        self._store = store
        self.first = first_dropped(store)
        """First dropped round of the game; None if no round was dropped."""
        self._values: dict[bytes, Array] = {}
        self._leaves: dict[bytes, Pair] = {}
        self._kept: dict[int, bool] = {}

    def put_leaves(self, layout: Layout, t: int, b: int, values: Pair) -> None:
        """Keep ``values``, per player ``[line that enters the next round, hand]``, of board b of round t."""
        hands = hands_on(layout, t, b)
        for r, chunk in enumerate(layout.betting[t].chunks):
            chunk_values = values[0][chunk.exits, : hands[0]], values[1][chunk.exits, : hands[1]]
            self._leaves[layout.key(t, b, r)] = chunk_values

    def leaves(self, t: int, key: bytes, n_exits: int, n_hands: tuple[int, int]) -> Pair | None:
        """Return both players' values ``[chance leaf, hand]`` in a chunk of round t of the game; None: unknown."""
        if key in self._leaves:
            return self._leaves[key]
        if self._kept.get(t) is None:
            self._kept[t] = (self.first is None or t < self.first) and are_kept(self._store, t)
        return read_leaves(self._store, key, n_exits, n_hands) if self._kept[t] else None

    def put_board(self, layout: Layout, t: int, b: int, sums: ChunkStrategy) -> None:
        """Keep the strategy sums of board b of round t, per player ``[slot of the round, row]``."""
        for r in range(len(layout.betting[t].chunks)):
            self._values[layout.key(t, b, r)] = join(layout.take(sums, t, b, r))

    def chunk(self, key: bytes) -> tuple[Array | None, Pair | None]:
        return self._values.get(key), self._leaves.get(key)

    def put_chunk(self, key: bytes, sums: Array, leaves: Pair) -> None:
        self._values[key], self._leaves[key] = sums, leaves

    def keep_root(self, layout: Layout) -> bool:
        """Forget all chunks of a re-solved subgame but its root; return whether the root's arrays are complete."""
        root = layout.key(0, 0, 0)
        for t, b in layout.every_board():
            for r in range(len(layout.betting[t].chunks)):
                key = layout.key(t, b, r)
                if key != root:
                    self._values.pop(key, None)
                    self._leaves.pop(key, None)
        sums, leaves = self.chunk(root)
        return sums is not None and (leaves is not None or not len(layout.tree(0, 0).exits))

    @property
    def nbytes(self) -> int:
        leaves = (values.nbytes for pair in self._leaves.values() for values in pair)
        return sum(leaves) + sum(sums.nbytes for sums in self._values.values())

    def get(self, locker: str, key: bytes) -> Array | None:
        return self.get_many(locker, [key])[0]

    def get_many(self, locker: str, keys: Sequence[bytes]) -> list[Array | None]:
        if self.first is None or locker != Kind.SUMS:
            return self._store.get_many(locker, keys)
        kept = [key for key in keys if _round_of(key) < self.first]
        stored = dict(zip(kept, self._store.get_many(locker, kept), strict=True)) if kept else {}
        return [stored[key] if key in stored else self._values.get(key) for key in keys]


def _round_of(key: bytes) -> int:
    return int(key.partition(b".")[0])


class Snapshot:
    """A copy of some entries of a store, which can be pickled and sent to another process.

    Args:
        arrays: keys of the chunks to copy, by kind of array.
        payoffs: keys of the chunks whose payoff matrices are copied.
    """

    def __init__(
        self, store: Reads, arrays: Mapping[Kind, Iterable[bytes]], payoffs: Iterable[bytes]
    ) -> None:
        self._values: dict[tuple[str, bytes], Array | None] = {}
        for locker, keys in (*arrays.items(), (PAYOFF, payoffs), (META, (SWEEP_KEY, DROPPED_KEY))):
            unique_keys = list(dict.fromkeys(keys))
            values = store.get_many(locker, unique_keys)
            self._values.update(
                ((str(locker), key), array) for key, array in zip(unique_keys, values, strict=True)
            )

    def get(self, locker: str, key: bytes) -> Array | None:
        array = self._values[str(locker), key]
        return None if array is None else array.copy()

    def get_many(self, locker: str, keys: Sequence[bytes]) -> list[Array | None]:
        return [self.get(locker, key) for key in keys]
