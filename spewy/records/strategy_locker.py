"""The strategy locker: average strategies of each board bucket as bytes, with an index of betting lines.

The locker has a folder of its own, so that it can be copied alone; one job writes it while other processes read. A
board bucket's bytes are in the order of `solvers.sampled.quantise`, cut into *portions* of some tens of KiB, so that
one decision needs one short read. One transaction replaces all bytes of a board bucket; during a save, other board
buckets may still have the strategies of an earlier save.

The store has four lockers. ``play`` holds the bytes, under ``ROUND.BUCKET|PLAYER.PORTION``. ``lines`` holds an index of
the lines that enter each round (`spewy.records.line_index`). ``classes`` holds the arrays that map boards to board
buckets and hands to rows. ``meta`` holds the number of deals and the time of the last save.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lockers import DamagedLockerError, Reads, Store, Transaction, holds_store, open_store
from solvers.tree import Floats
from spewy.errors import InputError
from spewy.records.keys import CLASSES, LINES, PLAY
from spewy.records.line_index import LineIndex
from spewy.records.strategy_progress import Saved, found_saved, put_saved, read_saved
from spewy.system.tools import Closing

if TYPE_CHECKING:
    from solvers.sampled.quantise import Bytes

FOLDER = "play"
"""Name of the strategy locker's folder within a solve's folder."""
MOST = 255
"""Byte that stands for the frequency 1; repeats `solvers.sampled.quantise`, whose import would load kernels."""


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
        """Manifest of the locker, which names the job and its board buckets."""
        return self.store.manifest

    @property
    def saved(self) -> Saved:
        """Numbers of board buckets, rows and deals of the last save.

        Raises:
            InputError: nothing was saved yet.
        """
        return read_saved(self.store)

    def arrays(self) -> dict[str, np.ndarray]:
        """Read the arrays that map boards to board buckets and hands to rows, by name."""
        names = list(self.store.keys(CLASSES))
        arrays = self.store.get_many(CLASSES, names)
        return {name.decode(): array for name, array in zip(names, arrays, strict=True) if array is not None}

    def lines(self, t: int) -> LineIndex:
        """Read the index of the lines that enter round t.

        Raises:
            InputError: nothing was saved yet.
        """
        if t not in self._lines:
            self._lines[t] = _read_lines(self.store, t, self.saved.rows[t])
        return self._lines[t]

    def chunk(
        self, t: int, bucket: int, line: str, p: int, decisions: Sequence[tuple[int, int]]
    ) -> list[Floats]:
        """Read strategies of player p at decisions of one chunk.

        Args:
            t: round of the game.
            bucket: board bucket of the round.
            line: line that enters the chunk.
            p: player who acts.
            decisions: first free slot and number of actions of each decision. Free slots number the player's actions in
                the chunk, breadth first, without the last action of each decision, which is not stored.

        Returns:
            Frequencies ``[action, row]`` at each decision.

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
        """Read the frequencies ``[action, row]`` at one decision.

        Args:
            t: round of the game.
            bucket: board bucket of the round.
            line: line that enters the decision's chunk.
            p: player who acts.
            first_free: number of the decision's first action among the player's stored actions in the chunk, breadth
                first; the last action of each decision is not stored.
            n_actions: number of actions.

        Raises:
            InputError: nothing is stored for the board bucket, or the line enters no chunk of the round.
            lockers.DamagedLockerError: the stored bytes are not those that were written.
        """
        return self.chunk(t, bucket, line, p, [(first_free, n_actions)])[0]

    def free_slots(
        self, t: int, board_bucket: int, p: int, decisions: Sequence[tuple[str, int, int]]
    ) -> list[Bytes]:
        """Read the bytes of player p's strategies at several decisions of a board bucket.

        Args:
            t: round of the game.
            board_bucket: board bucket of the round.
            p: player who acts.
            decisions: for each decision, the line that enters its chunk, its first free slot in the chunk, and its
                number of actions. Free slots number the player's actions in the chunk, breadth first, without the last
                action of each decision, which is not stored.

        Returns:
            Bytes ``[row, action]`` of each decision, without its last action.

        Raises:
            InputError: nothing is stored for the board bucket, or a line enters no chunk of the round.
            lockers.DamagedLockerError: the stored bytes are not those that were written.
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
        """Read player p's strategies at several decisions of a board bucket.

        Args:
            t: round of the game.
            board_bucket: board bucket of the round.
            p: player who acts.
            decisions: for each decision, the line that enters its chunk, its first free slot in the chunk, and its
                number of actions. Free slots number the player's actions in the chunk, breadth first, without the last
                action of each decision, which is not stored.

        Returns:
            Frequencies ``[action, row]``, with the actions of the first decision, then of the second, and so on.
        """
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
        """Read all bytes of player p in a board bucket of round t, in the order of `solvers.sampled.quantise`.

        Raises:
            InputError: nothing is stored for the board bucket.
            lockers.DamagedLockerError: the stored bytes are not those that were written.
        """
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
        """Close the store."""
        self.store.close()


def create(
    folder: Path,
    manifest: Mapping[str, Any],
    rounds: Sequence[LineIndex],
    board_buckets: Sequence[int],
    arrays: Mapping[str, np.ndarray],
) -> Store:
    """Open a strategy locker for writing; create it if it is missing.

    Args:
        folder: folder that holds nothing but the locker.
        manifest: manifest, which names the job and its board buckets.
        rounds: for each round, the index of its lines.
        board_buckets: for each round, the number of board buckets.
        arrays: arrays that map boards to board buckets and hands to rows, by name.

    Raises:
        lockers.ManifestMismatchError: the folder belongs to another job.
        lockers.DamagedLockerError: the structure of the folder's store is damaged.
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
    """Write the arrays of board buckets and rows and the index of lines into a strategy locker, if it is new.

    Args:
        store: store of the locker.
        rounds: for each round, the index of its lines.
        board_buckets: for each round, the number of board buckets.
        arrays: arrays that map boards to board buckets and hands to rows, by name.

    Raises:
        lockers.DamagedLockerError: the structure of the store is damaged, so that writing to it is unsafe.
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
    """Read the arrays that map boards to board buckets and hands to rows from the strategy locker in a folder.

    Returns:
        The arrays by name; None if the folder has no strategy locker, or an empty one.

    Raises:
        lockers.ManifestMismatchError: the folder belongs to another job.
        lockers.DamagedLockerError: the locker is damaged.
    """
    if not holds_store(folder):
        return None
    with StrategyLocker(open_store(folder, manifest, read_only=True)) as locker:
        return None if found_saved(locker.store) is None else locker.arrays()


def write_bucket(
    store: Store, t: int, board_bucket: int, lines: LineIndex, both: tuple[Bytes, Bytes]
) -> None:
    """Store the strategies of a board bucket of round t.

    Args:
        store: store of the strategy locker.
        t: round of the game.
        board_bucket: board bucket of the round.
        lines: index of the lines that enter the round.
        both: bytes of each player's strategies in the whole board bucket.
    """

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
    """Return the number of the batch of 16 lines with a line that enters round t, and the line's number in it.

    Raises:
        InputError: the line does not enter the round.
    """
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
