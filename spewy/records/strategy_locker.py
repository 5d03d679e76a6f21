"""The strategy locker: average strategies of each board bucket as bytes, with an index of betting lines.

The locker has a folder of its own, so that it can be copied alone; one job writes it while other processes read. A
board bucket's bytes are in the order of `solvers.sampled.quantise`, cut into *portions* of some tens of KiB, so that
one decision needs one short read. One transaction replaces all bytes of a board bucket; during a save, other board
buckets may still have the strategies of an earlier save.

The last action of a decision is not stored. The *free slots* of a player in a chunk number the other actions of all the
player's decisions, breadth first.

The store has four lockers. ``play`` holds the bytes, under ``ROUND.BUCKET|PLAYER.PORTION``. ``lines`` holds an index of
the lines that enter each round (`LineIndex`). ``classes`` holds the arrays that map boards to board buckets and hands
to rows. ``meta`` holds the number of deals and the time of the last save.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lockers import DamagedLockerError, Reads, Store, Transaction, holds_store, open_store
from solvers.tree import Floats, Ints
from spewy.errors import InputError
from spewy.records.keys import CLASSES, LINES, META, PLAY, SAVED_KEY
from spewy.system.tools import Closing

if TYPE_CHECKING:
    from solvers.sampled.batches import LineBatches
    from solvers.sampled.quantise import Bytes


FOLDER = "play"
"""Name of the strategy locker's folder within a solve's folder."""
MOST = 255
"""Byte that stands for the frequency 1; repeats `solvers.sampled.quantise`, whose import would load kernels."""
PORTION = 1 << 16
"""Largest size of a stored array in bytes; an array with a single batch of lines may be larger."""
LANES = 16
"""Number of lines in a batch; repeats `solvers.sampled.quantise`, whose import would load kernels."""


@dataclass(frozen=True)
class Saved:
    """Size and progress of a strategy locker.

    Attributes:
        board_buckets: number of board buckets per round.
        rows: number of hand rows per round.
        deals: deals that the strategies average.
        saved_at: time of the last save, in seconds since 1970.
    """

    board_buckets: tuple[int, ...]
    rows: tuple[int, ...]
    deals: int
    saved_at: float

    def to_json(self) -> dict[str, Any]:
        return {
            "classes": self.board_buckets,
            "rows": self.rows,
            "deals": self.deals,
            "saved_at": self.saved_at,
        }


def read_saved(store: Reads) -> Saved:
    saved = found_saved(store)
    if saved is None:
        raise InputError("strategy locker: nothing was saved yet")
    return saved


def found_saved(store: Reads) -> Saved | None:
    """Read the size and the progress of a strategy locker; None for a new store."""
    array = store.get(META, SAVED_KEY)
    if array is None:
        return None
    content = json.loads(array.tobytes())
    return Saved(tuple(content["classes"]), tuple(content["rows"]), content["deals"], content["saved_at"])


def saved_deals(store: Reads) -> int:
    saved = found_saved(store)
    return 0 if saved is None else saved.deals


def put_saved(txn: Transaction, saved: Saved) -> None:
    content = json.dumps(saved.to_json()).encode()
    txn.put(META, SAVED_KEY, np.frombuffer(content, dtype=np.uint8))


class LineIndex:
    """Finds the strategy after a betting line in the bytes of a board bucket.

    The bytes of a player are ``[batch][row][free slot][16 lanes]``. A batch is 16 lines that enter the round, each in a
    lane of its own. A free slot is an action of the player after the line; the last action of each decision has no
    free slot, since frequencies add up to 1. The bytes are stored in *portions* of a few batches.

    Args:
        names: the lines that enter the round.
        lanes: ``[batch, lane]``, number of the line in ``names``, or -1 for an empty lane.
        free: ``[player, batch]``, number of free slots.
        n_rows: number of hand rows of a board bucket.
    """

    def __init__(self, names: Sequence[str], lanes: Ints, free: Ints, n_rows: int) -> None:
        self.names, self.lanes, self.free, self.n_rows = tuple(names), lanes, free, n_rows

    @classmethod
    def of(cls, names: Sequence[str], batches: LineBatches, n_rows: int) -> LineIndex:
        from solvers.sampled.quantise import byte_tables

        free = np.stack([byte_tables(batches, p, n_rows).n_free for p in (0, 1)])
        return cls(names, batches.lines, free, n_rows)

    @cached_property
    def place(self) -> Mapping[str, tuple[int, int]]:
        """Number of the batch (of 16 lines) that has each line, and number of the line's lane in the batch, by line."""
        used = np.argwhere(self.lanes >= 0).tolist()
        return {self.names[int(self.lanes[batch, lane])]: (batch, lane) for batch, lane in used}

    @cached_property
    def portions(self) -> tuple[Ints, Ints]:
        """The first batch of each stored portion of bytes, and then the number of batches, for each player."""
        return self._cut(0), self._cut(1)

    def sizes(self, p: int) -> Ints:
        """Return the size ``[batch]`` in bytes of player p's strategies."""
        out: Ints = LANES * self.n_rows * self.free[p]
        return out

    def free_bytes(
        self, found: Bytes, p: int, batch: int, lane: int, first_free: int, n_actions: int
    ) -> Bytes:
        """Return the bytes ``[row, action]`` of a decision, without its last action.

        ``found`` are bytes of a board bucket, from the first byte of the decision's batch on.
        """
        size = self.sizes(p)[batch]
        batch_bytes = found[:size].reshape(self.n_rows, self.free[p, batch], LANES)
        return batch_bytes[:, first_free : first_free + n_actions - 1, lane]

    def _cut(self, p: int) -> Ints:
        begins, n_bytes = [0], 0
        for batch, size in enumerate(self.sizes(p).tolist()):
            if n_bytes and n_bytes + size > PORTION:
                begins.append(batch)
                n_bytes = 0
            n_bytes += size
        return np.array([*begins, len(self.lanes)], dtype=np.int64)


class StrategyLocker(Closing):
    """Average strategies by board bucket; a running solve may be writing to them meanwhile."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._lines: dict[int, LineIndex] = {}

    @classmethod
    def open(cls, folder: Path) -> StrategyLocker:
        return cls(open_store(folder, read_only=True))

    @property
    def manifest(self) -> Mapping[str, Any]:
        return self.store.manifest

    @property
    def saved(self) -> Saved:
        return read_saved(self.store)

    def arrays(self) -> dict[str, np.ndarray]:
        """Read the arrays, by name, that map boards to board buckets, and hands to rows."""
        names = list(self.store.keys(CLASSES))
        arrays = self.store.get_many(CLASSES, names)
        return {name.decode(): array for name, array in zip(names, arrays, strict=True) if array is not None}

    def lines(self, t: int) -> LineIndex:
        if t not in self._lines:
            self._lines[t] = _read_lines(self.store, t, self.saved.rows[t])
        return self._lines[t]

    def chunk(
        self, t: int, bucket: int, line: str, p: int, decisions: Sequence[tuple[int, int]]
    ) -> list[Floats]:
        """Read player p's frequencies ``[action, row]`` at ``decisions`` of the chunk that ``line`` enters.

        A decision is its first free slot (`LineIndex`) and its number of actions.
        """
        lines = self.lines(t)
        batch, lane = _batch_and_lane(lines, t, line)
        sizes, begins = lines.sizes(p), lines.portions[p]
        portion = int(np.searchsorted(begins, batch, side="right")) - 1
        first, end = begins[portion : portion + 2]
        stored = self._portion(t, bucket, p, portion, int(sizes[first:end].sum()))
        stored = stored[int(sizes[first:batch].sum()) :]
        return [_whole(lines.free_bytes(stored, p, batch, lane, *decision)) for decision in decisions]

    def frequencies(self, t: int, bucket: int, line: str, p: int, first_free: int, n_actions: int) -> Floats:
        """Read player p's frequencies ``[action, row]`` at one decision of the chunk that ``line`` enters."""
        return self.chunk(t, bucket, line, p, [(first_free, n_actions)])[0]

    def free_slots(
        self, t: int, board_bucket: int, p: int, decisions: Sequence[tuple[str, int, int]]
    ) -> list[Bytes]:
        """Read bytes ``[row, action]`` without the last action at decisions of a board bucket.

        A decision is the line that enters its chunk, its first free slot in the chunk, and its number of actions.
        """
        lines, stored = self.lines(t), self.bucket_bytes(t, board_bucket, p)
        begins = np.concatenate([[0], np.cumsum(lines.sizes(p))])
        out = []
        for line, first_free, n_actions in decisions:
            batch, lane = _batch_and_lane(lines, t, line)
            out.append(lines.free_bytes(stored[begins[batch] :], p, batch, lane, first_free, n_actions))
        return out

    def many_frequencies(
        self, t: int, board_bucket: int, p: int, decisions: Sequence[tuple[str, int, int]]
    ) -> Floats:
        """Read frequencies at several decisions (see `free_slots`), stacked as ``[action, row]``."""
        free = self.free_slots(t, board_bucket, p, decisions)
        ends = np.cumsum([decision_bytes.shape[1] + 1 for decision_bytes in free])
        is_last = np.zeros(ends[-1], dtype=bool)
        is_last[ends - 1] = True
        out = np.zeros((ends[-1], len(free[0])))
        out[~is_last] = np.concatenate(free, axis=1).T
        out[is_last] = MOST - np.add.reduceat(out, np.concatenate([[0], ends[:-1]]), axis=0)
        out /= MOST
        return out

    def bucket_bytes(self, t: int, board_bucket: int, p: int) -> Bytes:
        """Read all bytes of player p in a board bucket, in the order of `solvers.sampled.quantise`."""
        lines = self.lines(t)
        cuts = np.concatenate([[0], np.cumsum(lines.sizes(p))])[lines.portions[p]]
        parts = [
            self._portion(t, board_bucket, p, portion, int(size))
            for portion, size in enumerate(np.diff(cuts))
        ]
        return np.concatenate(parts)

    def _portion(self, t: int, board_bucket: int, p: int, portion: int, size: int) -> Bytes:
        key = _key(t, board_bucket, p, portion)
        stored = self.store.get(PLAY, key)
        if stored is None:
            raise InputError(
                f"round {t}, board bucket {board_bucket}: expected stored strategies, found none yet"
            )
        if stored.shape != (size,) or stored.dtype != np.uint8:
            raise DamagedLockerError(
                f"locker {PLAY!r}, key {key.decode()}: expected {size:,} bytes, "
                f"found {stored.size:,} of {stored.dtype}"
            )
        return stored

    def close(self) -> None:
        self.store.close()


def create(
    folder: Path,
    manifest: Mapping[str, Any],
    rounds: Sequence[LineIndex],
    board_buckets: Sequence[int],
    arrays: Mapping[str, np.ndarray],
) -> Store:
    """Open a strategy locker for writing; create it if it is missing.

    A new locker gets the index of lines of each round, the number of board buckets of each round, and the arrays of
    board buckets and rows.
    """
    store = open_store(folder, manifest)
    try:
        begin(store, rounds, board_buckets, arrays)
    except BaseException:
        store.close()
        raise
    return store


def begin(
    store: Store, rounds: Sequence[LineIndex], board_buckets: Sequence[int], arrays: Mapping[str, np.ndarray]
) -> None:
    """Write the index of lines and the arrays of board buckets and rows into a strategy locker, if it is new.

    ``board_buckets`` has the number of board buckets of each round.
    """
    store.require_sound()
    if found_saved(store) is not None:
        return
    first = Saved(tuple(board_buckets), tuple(lines.n_rows for lines in rounds), 0, time.time())

    def write(txn: Transaction) -> None:
        for t, lines in enumerate(rounds):
            text = "\n".join(lines.names).encode()
            txn.put(LINES, _part(t, "names"), np.frombuffer(text, dtype=np.uint8))
            txn.put(LINES, _part(t, "lanes"), lines.lanes.astype(np.int32))
            txn.put(LINES, _part(t, "free"), lines.free.astype(np.int16))
        for name, array in arrays.items():
            txn.put(CLASSES, name.encode(), array)
        put_saved(txn, first)

    store.transact(write)
    store.flush()


def kept_arrays(folder: Path, manifest: Mapping[str, Any]) -> dict[str, np.ndarray] | None:
    """Read the arrays of board buckets and rows from a folder; None without a strategy locker, or with an empty one."""
    if not holds_store(folder):
        return None
    with StrategyLocker(open_store(folder, manifest, read_only=True)) as locker:
        return None if found_saved(locker.store) is None else locker.arrays()


def write_bucket(
    store: Store, t: int, board_bucket: int, lines: LineIndex, both: tuple[Bytes, Bytes]
) -> None:
    """Store both players' strategies, as bytes (`LineIndex`), in a board bucket of round t."""

    def write(txn: Transaction) -> None:
        for p, player_bytes in enumerate(both):
            cuts = np.concatenate([[0], np.cumsum(lines.sizes(p))])[lines.portions[p]]
            for portion, (first, end) in enumerate(pairwise(cuts)):
                txn.put(PLAY, _key(t, board_bucket, p, portion), player_bytes[first:end])

    store.transact(write)


def finish_save(store: Store, deals: int) -> None:
    """Record the number of deals that the saved strategies average, and wait until everything is on the disk.

    The time of the save changes only if deals were added, because logs of matches identify the strategies by it.
    """
    saved = read_saved(store)
    if saved.deals != deals:
        saved = replace(saved, deals=deals, saved_at=time.time())
        store.transact(lambda txn: put_saved(txn, saved))
    store.flush()


def _read_lines(store: Reads, t: int, n_rows: int) -> LineIndex:
    names, lanes, free = store.get_many(LINES, [_part(t, name) for name in ("names", "lanes", "free")])
    if names is None or lanes is None or free is None:
        raise DamagedLockerError(f"locker {LINES!r}, round {t}: expected its lines, found none")
    return LineIndex(names.tobytes().decode().split("\n"), lanes, free.astype(np.int64), n_rows)


def _batch_and_lane(lines: LineIndex, t: int, line: str) -> tuple[int, int]:
    if line not in lines.place:
        raise InputError(f"line {line!r}: it does not enter round {t} of this game")
    return lines.place[line]


def _whole(free: Bytes) -> Floats:
    """Convert bytes ``[row, action]``, which lack the last action, to frequencies ``[action, row]`` of all actions."""
    out = np.empty((free.shape[1] + 1, len(free)))
    out[:-1] = free.T
    out[-1] = MOST - out[:-1].sum(axis=0)
    out /= MOST
    return out


def _key(t: int, board_bucket: int, p: int, portion: int) -> bytes:
    return f"{t}.{board_bucket}|{p}.{portion}".encode()


def _part(t: int, name: str) -> bytes:
    return f"{t}|{name}".encode()
