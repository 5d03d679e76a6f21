"""The strategy locker: average strategies by board bucket, as bytes, with an index to find one decision.

The locker is a folder of its own, so that it can be copied alone; one job writes it while others read. A board bucket's
bytes of each player (`sampled.quantise`) lie in *portions*, each of a few batches and some tens of KiB, so that one
decision is one short read. A board bucket's bytes of one save appear together; other buckets may be of an earlier save.

Lockers: ``play`` under ``ROUND.CLASS|PLAYER.PORTION``; ``lines``, once for each round: the lines that enter it, one
below another, where they lie ``[batch, lane]``, and the free slots ``[player, batch]``; ``classes``: the arrays that
tell a board's class and a hand's row; ``meta``: when it was saved last.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lockers import DamagedLockerError, Reads, Store, Transaction, holds_store, open_store
from solvers.tree import Floats
from spewy.errors import InputError
from spewy.records.keys import CLASSES, LINES, META, PLAY, SAVED_KEY
from spewy.records.line_index import LineIndex
from spewy.system.closing import Closing

if TYPE_CHECKING:
    from solvers.sampled.quantise import Bytes

FOLDER = "play"
"""Name of the strategy locker's folder within a solve's folder."""
MOST = 255
"""Largest byte; repeats `solvers.sampled.quantise`, whose import would load kernels."""


@dataclass(frozen=True)
class Saved:
    """Size and progress of a strategy locker.

    Attributes:
        classes: number of board buckets per round.
        rows: number of hand rows per round.
        deals: deals that the strategies average.
        saved_at: time of the last save, in seconds since 1970.
    """

    classes: tuple[int, ...]
    rows: tuple[int, ...]
    deals: int
    saved_at: float


class StrategyLocker(Closing):
    """Average strategies by board bucket; a running solve may be writing to them meanwhile.

    Args:
        store: store of the locker; `close` closes it.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self._lines: dict[int, LineIndex] = {}

    @classmethod
    def open(cls, folder: Path) -> StrategyLocker:
        """Open the strategy locker in a folder.

        Raises:
            lockers.LockerError: the folder holds no lockers, or damaged ones.
        """
        return cls(open_store(folder, read_only=True))

    @property
    def manifest(self) -> Mapping[str, Any]:
        """Manifest of the locker: the job, and the board buckets."""
        return self.store.manifest

    @property
    def saved(self) -> Saved:
        """Size and progress of the last save.

        Raises:
            InputError: nothing was saved yet.
        """
        return read_saved(self.store)

    def arrays(self) -> dict[str, np.ndarray]:
        """Arrays by name that map boards to board buckets and hands to rows."""
        names = list(self.store.keys(CLASSES))
        found = self.store.get_many(CLASSES, names)
        return {name.decode(): array for name, array in zip(names, found, strict=True) if array is not None}

    def lines(self, t: int) -> LineIndex:
        """Index of the lines of round t.

        Raises:
            InputError: nothing was saved yet.
        """
        if t not in self._lines:
            self._lines[t] = _read_lines(self.store, t, self.saved.rows[t])
        return self._lines[t]

    def chunk(
        self, t: int, bucket: int, line: str, p: int, decisions: Sequence[tuple[int, int]]
    ) -> list[Floats]:
        """``[decision][action, row]``: strategies of player p at decisions of one chunk, with one read.

        Args:
            t: round of the game.
            bucket: board bucket of the round.
            line: line that enters the chunk.
            p: player who acts.
            decisions: per decision, its first free slot in the chunk and its number of actions. Free slots are those of
                all actions but the last of each decision of the player, breadth first.

        Raises:
            InputError: nothing is stored for the board bucket, or the line enters no chunk of the round.
            lockers.DamagedLockerError: the stored bytes are not those that were written.
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
        """``[action, row]``: the strategy of player p at one decision; arguments and errors as `chunk`."""
        return self.chunk(t, bucket, line, p, [(first_free, n_actions)])[0]

    def free_slots(
        self, t: int, class_: int, p: int, decisions: Sequence[tuple[str, int, int]]
    ) -> list[Bytes]:
        """``[decision][row, action but the last]``: strategies at many decisions of a board bucket, as bytes.

        Args:
            t: the round.
            class_: board bucket.
            p: player who acts.
            decisions: per decision the line that enters its chunk, its first free slot, and its number of actions.

        Raises:
            InputError, lockers.DamagedLockerError: as `frequencies`.
        """
        lines, found = self.lines(t), self.class_bytes(t, class_, p)
        begins = np.concatenate([[0], np.cumsum(lines.sizes(p))])
        out = []
        for line, first_free, n_actions in decisions:
            batch, lane = _batch_and_lane(lines, t, line)
            out.append(lines.free_bytes(found[begins[batch] :], p, batch, lane, first_free, n_actions))
        return out

    def many_frequencies(
        self, t: int, class_: int, p: int, decisions: Sequence[tuple[str, int, int]]
    ) -> Floats:
        """``[action, row]``: strategies at many decisions of a board bucket, one decision below another.

        Arguments are those of `free_slots`.
        """
        free = self.free_slots(t, class_, p, decisions)
        ends = np.cumsum([mine.shape[1] + 1 for mine in free])
        is_last = np.zeros(ends[-1], dtype=bool)
        is_last[ends - 1] = True
        out = np.zeros((ends[-1], len(free[0])))
        out[~is_last] = np.concatenate(free, axis=1).T
        out[is_last] = MOST - np.add.reduceat(out, np.concatenate([[0], ends[:-1]]), axis=0)
        out /= MOST
        return out

    def class_bytes(self, t: int, class_: int, p: int) -> Bytes:
        """All bytes of a player in a board bucket of round t, as `solvers.sampled.quantise.quantise` orders them.

        Raises:
            InputError: nothing is stored for the board bucket.
            lockers.DamagedLockerError: the stored bytes are not those that were written.
        """
        lines = self.lines(t)
        cuts = np.concatenate([[0], np.cumsum(lines.sizes(p))])[lines.portions[p]]
        parts = [
            self._portion(t, class_, p, portion, int(size)) for portion, size in enumerate(np.diff(cuts))
        ]
        return np.concatenate(parts)

    def _portion(self, t: int, class_: int, p: int, portion: int, size: int) -> Bytes:
        key = _key(t, class_, p, portion)
        found = self.store.get(PLAY, key)
        if found is None:
            raise InputError(
                f"round {t}, class {class_}: expected strategies that are stored, found none yet"
            )
        if found.shape != (size,) or found.dtype != np.uint8:
            raise DamagedLockerError(
                f"locker {PLAY!r}, key {key.decode()}: expected {size:,} bytes, found {found.size:,} of {found.dtype}"
            )
        return found

    def close(self) -> None:
        """Close the store."""
        self.store.close()


def create(
    folder: Path,
    manifest: Mapping[str, Any],
    rounds: Sequence[LineIndex],
    classes: Sequence[int],
    arrays: Mapping[str, np.ndarray],
) -> Store:
    """Open a strategy locker for writing; create it if it is missing.

    Args:
        folder: folder of the locker alone.
        manifest: manifest of the job and its board buckets.
        rounds: index of the lines, per round.
        classes: number of board buckets, per round.
        arrays: arrays by name that map boards to board buckets and hands to rows.

    Raises:
        lockers.ManifestMismatchError: the folder is another job's.
        lockers.DamagedLockerError: the structure of the folder's store is damaged.
    """
    store = open_store(folder, manifest)
    try:
        begin(store, rounds, classes, arrays)
    except BaseException:
        store.close()
        raise
    return store


def begin(
    store: Store, rounds: Sequence[LineIndex], classes: Sequence[int], arrays: Mapping[str, np.ndarray]
) -> None:
    """Write the board buckets, rows and lines into a new strategy locker; arguments as of `create`.

    Raises:
        lockers.DamagedLockerError: the structure of the store is damaged, and would not bear to be written to.
    """
    store.require_sound()
    if found_saved(store) is not None:
        return
    first = Saved(tuple(classes), tuple(lines.n_rows for lines in rounds), 0, time.time())

    def write(txn: Transaction) -> None:
        for t, lines in enumerate(rounds):
            text = "\n".join(lines.names).encode()
            txn.put(LINES, _part(t, "names"), np.frombuffer(text, dtype=np.uint8))
            txn.put(LINES, _part(t, "lanes"), lines.lanes.astype(np.int32))
            txn.put(LINES, _part(t, "free"), lines.free.astype(np.int16))
        for name, array in arrays.items():
            txn.put(CLASSES, name.encode(), array)
        txn.put(META, SAVED_KEY, _json(asdict(first)))

    store.transact(write)
    store.flush()


def kept_arrays(folder: Path, manifest: Mapping[str, Any]) -> dict[str, np.ndarray] | None:
    """Read the arrays of board buckets and rows from a folder's strategy locker; None if there is no locker.

    Raises:
        lockers.ManifestMismatchError: the folder is another job's.
        lockers.DamagedLockerError: what it holds is damaged.
    """
    if not holds_store(folder):
        return None
    with StrategyLocker(open_store(folder, manifest, read_only=True)) as found:
        return None if found_saved(found.store) is None else found.arrays()


def write_class(store: Store, t: int, class_: int, lines: LineIndex, both: tuple[Bytes, Bytes]) -> None:
    """Store a board bucket's bytes, per player flat as `solvers.sampled.quantise.quantise` returns them."""

    def write(txn: Transaction) -> None:
        for p, mine in enumerate(both):
            cuts = np.concatenate([[0], np.cumsum(lines.sizes(p))])[lines.portions[p]]
            for portion, (first, end) in enumerate(pairwise(cuts)):
                txn.put(PLAY, _key(t, class_, p, portion), mine[first:end])

    store.transact(write)


def finish_save(store: Store, deals: int) -> None:
    """Record the number of deals behind all board buckets, and wait until everything is on the disk."""
    found = asdict(read_saved(store)) | {"deals": deals, "saved_at": time.time()}
    store.transact(lambda txn: txn.put(META, SAVED_KEY, _json(found)))
    store.flush()


def read_saved(store: Reads) -> Saved:
    """Read the size and the progress of a strategy locker.

    Raises:
        InputError: nothing was saved yet.
    """
    found = found_saved(store)
    if found is None:
        raise InputError("strategy locker: nothing was saved yet")
    return found


def found_saved(store: Reads) -> Saved | None:
    """Size and progress of a strategy locker; None for a new store."""
    array = store.get(META, SAVED_KEY)
    if array is None:
        return None
    found = json.loads(array.tobytes())
    return Saved(tuple(found["classes"]), tuple(found["rows"]), found["deals"], found["saved_at"])


def saved_deals(store: Reads) -> int:
    """Number of deals that the strategies average; 0 if nothing was saved yet."""
    saved = found_saved(store)
    return 0 if saved is None else saved.deals


def _read_lines(store: Reads, t: int, n_rows: int) -> LineIndex:
    names, lanes, free = store.get_many(LINES, [_part(t, name) for name in ("names", "lanes", "free")])
    if names is None or lanes is None or free is None:
        raise DamagedLockerError(f"locker {LINES!r}, round {t}: expected its lines, found none")
    return LineIndex(names.tobytes().decode().split("\n"), lanes, free.astype(np.int64), n_rows)


def _batch_and_lane(lines: LineIndex, t: int, line: str) -> tuple[int, int]:
    """Batch and lane of the chunk that a line enters."""
    if line not in lines.place:
        raise InputError(f"line {line!r}: expected one that enters round {t} of this game, found another")
    return lines.place[line]


def _whole(free: Bytes) -> Floats:
    """Complete the bytes ``[row, action but the last]`` to frequencies ``[action, row]``."""
    out = np.empty((free.shape[1] + 1, len(free)))
    out[:-1] = free.T
    out[-1] = MOST - out[:-1].sum(axis=0)
    out /= MOST
    return out


def _key(t: int, class_: int, p: int, portion: int) -> bytes:
    return f"{t}.{class_}|{p}.{portion}".encode()


def _part(t: int, name: str) -> bytes:
    return f"{t}|{name}".encode()


def _json(value: Mapping[str, Any]) -> np.ndarray:
    return np.frombuffer(json.dumps(value).encode(), dtype=np.uint8)
