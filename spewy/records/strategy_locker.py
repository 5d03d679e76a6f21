"""The play locker: average strategies by class of boards, as bytes, and what it takes to find one decision's.

It is a folder of its own, so that it can be copied alone, and one job writes it while others read. A class's bytes of
each player (`sampled.quantise`) lie in *portions*, each of a few batches and some tens of KiB, so that one decision is
one read of little. What a class had at one save appears together; other classes may be of an earlier save.

Lockers: ``play`` under ``ROUND.CLASS|PLAYER.PORTION``; ``lines``, once for each round: the lines that enter it, one
below another, where they lie ``[batch, lane]``, and the free slots ``[player, batch]``; ``classes``: the arrays that
tell a board's class and a hand's row; ``meta``: when it was saved last.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lockers import DamagedLockerError, Reads, Store, Transaction, holds_store, open_store
from solvers.tree import Floats, Ints
from spewy.errors import InputError
from spewy.records.keys import CLASSES, LINES, META, PLAY, SAVED_KEY
from spewy.system.closing import Closing

if TYPE_CHECKING:
    from solvers.sampled.batches import LineBatches
    from solvers.sampled.quantise import Bytes

FOLDER = "play"
"""Within a solve's folder."""
PORTION = 1 << 16
"""Bytes of a portion, at least where a batch has so many: what is read and checked for one decision."""
LANES, MOST = 16, 255
"""As `solvers.sampled.quantise` has them; that would load its kernels."""


@dataclass(frozen=True)
class Saved:
    """What a play locker tells of itself.

    Attributes:
        classes, rows: per round.
        deals: that its strategies are averages of.
        saved_at: seconds since 1970.
    """

    classes: tuple[int, ...]
    rows: tuple[int, ...]
    deals: int
    saved_at: float


class LineIndex:
    """Where a round's lines lie in the bytes of a class.

    Args:
        names: the line of each root of the round's forest.
        lanes: ``[batch, lane]``: roots, or -1.
        free: ``[player, batch]``: free slots.
        n_rows: of every class of the round.
    """

    def __init__(self, names: Sequence[str], lanes: Ints, free: Ints, n_rows: int) -> None:
        self.names, self.lanes, self.free, self.n_rows = tuple(names), lanes, free, n_rows

    @classmethod
    def of(cls, names: Sequence[str], batches: LineBatches, n_rows: int) -> LineIndex:
        """Those of a round whose forest has these batches."""
        from solvers.sampled.quantise import byte_tables

        free = np.stack([byte_tables(batches, p, n_rows).n_free for p in (0, 1)])
        return cls(names, batches.lines, free, n_rows)

    @cached_property
    def place(self) -> Mapping[str, tuple[int, int]]:
        """Strip and lane of each line."""
        found = np.argwhere(self.lanes >= 0).tolist()
        return {self.names[int(self.lanes[batch, lane])]: (batch, lane) for batch, lane in found}

    @cached_property
    def portions(self) -> tuple[Ints, Ints]:
        """Per player ``[portion + 1]``: batches at which portions begin."""
        return self._cut(0), self._cut(1)

    def sizes(self, p: int) -> Ints:
        """``[batch]``: bytes."""
        out: Ints = LANES * self.n_rows * self.free[p]
        return out

    def free_bytes(
        self, found: Bytes, p: int, batch: int, lane: int, first_free: int, n_actions: int
    ) -> Bytes:
        """``[row, action but the last]`` of a decision, from bytes that begin with its batch."""
        size = self.sizes(p)[batch]
        mine = found[:size].reshape(self.n_rows, self.free[p, batch], LANES)
        return mine[:, first_free : first_free + n_actions - 1, lane]

    def _cut(self, p: int) -> Ints:
        begins, held = [0], 0
        for batch, size in enumerate(self.sizes(p).tolist()):
            if held and held + size > PORTION:
                begins.append(batch)
                held = 0
            held += size
        return np.array([*begins, len(self.lanes)], dtype=np.int64)


class StrategyLocker(Closing):
    """The strategies in a play locker, while another process may write them.

    Args:
        store: the locker; `close` closes it.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self._lines: dict[int, LineIndex] = {}

    @classmethod
    def open(cls, folder: Path) -> StrategyLocker:
        """Open the play locker in a folder.

        Raises:
            lockers.LockerError: nothing is there, or it is damaged.
        """
        return cls(open_store(folder, read_only=True))

    @property
    def manifest(self) -> Mapping[str, Any]:
        """What it was made for."""
        return self.store.manifest

    @property
    def saved(self) -> Saved:
        """What was saved last.

        Raises:
            InputError: nothing was yet.
        """
        return read_saved(self.store)

    def arrays(self) -> dict[str, np.ndarray]:
        """By name, what tells the class of a board and the rows of hands there."""
        names = list(self.store.keys(CLASSES))
        found = self.store.get_many(CLASSES, names)
        return {name.decode(): array for name, array in zip(names, found, strict=True) if array is not None}

    def lines(self, t: int) -> LineIndex:
        """Where the lines of round t lie.

        Raises:
            InputError: nothing was saved yet.
        """
        if t not in self._lines:
            self._lines[t] = _read_lines(self.store, t, self.saved.rows[t])
        return self._lines[t]

    def chunk(
        self, t: int, bucket: int, line: str, p: int, decisions: Sequence[tuple[int, int]]
    ) -> list[Floats]:
        """``[decision][action, row]``: strategies of player p at decisions of one chunk, from one read.

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
        """``[decision][row, action but the last]``: what player p does at many decisions of a class, as bytes.

        Args:
            t: the round.
            class_: of boards.
            p: who acts.
            decisions: line, first free slot and number of actions of each, as `frequencies` takes them.

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
        """``[action, row]``: as `frequencies`, the actions of some decisions of a class one after another.

        Arguments as of `free_slots`.
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
        """All bytes of a player in a class of boards of round t, flat as `solvers.sampled.quantise.quantise` made them.

        Raises:
            InputError: nothing was saved of the class.
            lockers.DamagedLockerError: what is there is not what was written.
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
    """Open a play locker to write to, and make it where there is none.

    Args:
        folder: of its own.
        manifest: what it is for: the job, and what names the classes of boards.
        rounds: where each round's lines lie.
        classes: how many there are in each round.
        arrays: by name, what tells the class of a board and the rows of hands there.

    Raises:
        lockers.ManifestMismatchError: the folder is another job's.
        lockers.DamagedLockerError: the structure of what is there is damaged, and would not bear to be written to.
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
    """Write what a strategy locker has before its first save, if the store is new; arguments as of `create`.

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
    """What `create` put into a folder's play locker of classes and rows; None where there is none yet.

    Raises:
        lockers.ManifestMismatchError: the folder is another job's.
        lockers.DamagedLockerError: what it holds is damaged.
    """
    if not holds_store(folder):
        return None
    with StrategyLocker(open_store(folder, manifest, read_only=True)) as found:
        return None if found_saved(found.store) is None else found.arrays()


def write_class(store: Store, t: int, class_: int, lines: LineIndex, both: tuple[Bytes, Bytes]) -> None:
    """Keep a class's bytes, per player flat as `solvers.sampled.quantise.quantise` makes them."""

    def write(txn: Transaction) -> None:
        for p, mine in enumerate(both):
            cuts = np.concatenate([[0], np.cumsum(lines.sizes(p))])[lines.portions[p]]
            for portion, (first, end) in enumerate(pairwise(cuts)):
                txn.put(PLAY, _key(t, class_, p, portion), mine[first:end])

    store.transact(write)


def finish_save(store: Store, deals: int) -> None:
    """Tell that all classes are as they were after so many deals, and wait until that is on the disk."""
    found = asdict(read_saved(store)) | {"deals": deals, "saved_at": time.time()}
    store.transact(lambda txn: txn.put(META, SAVED_KEY, _json(found)))
    store.flush()


def read_saved(store: Reads) -> Saved:
    """What a play locker tells of itself.

    Raises:
        InputError: nothing was saved yet.
    """
    found = found_saved(store)
    if found is None:
        raise InputError("play locker: expected strategies that are stored, found none yet")
    return found


def found_saved(store: Reads) -> Saved | None:
    """What a play locker tells of itself; None: it was not made yet."""
    array = store.get(META, SAVED_KEY)
    if array is None:
        return None
    found = json.loads(array.tobytes())
    return Saved(tuple(found["classes"]), tuple(found["rows"]), found["deals"], found["saved_at"])


def saved_deals(store: Reads) -> int:
    """The number of deals behind the strategies of a play locker; 0 if nothing was saved yet."""
    saved = found_saved(store)
    return 0 if saved is None else saved.deals


def _read_lines(store: Reads, t: int, n_rows: int) -> LineIndex:
    names, lanes, free = store.get_many(LINES, [_part(t, name) for name in ("names", "lanes", "free")])
    if names is None or lanes is None or free is None:
        raise DamagedLockerError(f"locker {LINES!r}, round {t}: expected its lines, found none")
    return LineIndex(names.tobytes().decode().split("\n"), lanes, free.astype(np.int64), n_rows)


def _batch_and_lane(lines: LineIndex, t: int, line: str) -> tuple[int, int]:
    """Where the chunk is that a line enters."""
    if line not in lines.place:
        raise InputError(f"line {line!r}: expected one that enters round {t} of this game, found another")
    return lines.place[line]


def _whole(free: Bytes) -> Floats:
    """``[action, row]`` from the bytes ``[row, action but the last]``."""
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
