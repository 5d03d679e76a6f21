"""Lockers on disk: a folder with a manifest and one LMDB file per shard.

::

    manifest.json       what the lockers are for, the format version, the number of shards
    shard-000.mdb       arrays under keys; readers see the last commit, one process at a time writes
    shard-000.mdb-lock  LMDB's locks and reader table; may be deleted while nobody has the store open

**Who may only read.** A reader enters itself into the lock file. One that may not write it, or finds none, makes
none and reads the data file past LMDB. It sees whole commits as well, each checked while it is read, and again
from a newer one where a writer has used pages again meanwhile. A writer does not wait for it, so beside one that
never pauses what takes long, as `get_many` of many keys may, can end in a `BusyLockerError`: try again later.

**What survives.** A commit is in the operating system's hands when `transact` returns, and in full: killing
processes (SIGKILL too) loses nothing that was committed and leaves nothing half-done. It is not forced onto
the disk, which would take milliseconds instead of microseconds. `flush` forces everything; a power failure
or a crash of the kernel loses nothing of a shard that was not written to since its last flush. In a shard
that was, the operating system may have written pages in any order: later commits can be lost, and the shard
can be damaged, which `check` finds.

Keep the folder on a local disk: LMDB's locks and shared maps do not work over network file systems.
"""

from __future__ import annotations

import heapq
import os
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import islice, takewhile
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import lmdb

from lockers.audit import audit
from lockers.codec import Array, decode, encode
from lockers.errors import DamagedLockerError, LockerError, ReadOnlyLockerError
from lockers.folder import create_folder, folder_lock, holds_store, no_manifest, shard_path
from lockers.lmdb_errors import translate, unreadable
from lockers.manifest import FILE, MAX_SHARDS, Header, normalise, read_header, require_same
from lockers.names import TICKETS, full_key, internal_key, locker_start, owns_prefix, shard_of, split_key
from lockers.shard import (
    Need,
    Shard,
    attach_shard,
    compact_shard,
    detach_shard,
)
from lockers.snapshot import LmdbSnapshot, LmdbTransaction, Snapshot
from lockers.store import T, Transaction
from lockers.structure import structure_findings
from lockers.transaction import TURNSTILE, BaseTransaction, read_tickets

_BATCH = 1024


def open_store(
    folder: Path | str,
    manifest: Mapping[str, Any] | None = None,
    *,
    shards: int = 8,
    read_only: bool = False,
) -> LmdbStore:
    """Open the store in a folder, or create it there.

    Parameters
    ----------
    folder : Path or str
        With a manifest, a folder that is missing or empty becomes a new store.
    manifest : mapping, optional
        What the lockers are for, as JSON values. An existing store must have the same, else
        `ManifestMismatchError`. Without one, whatever store is there is opened.
    shards : int
        How many files a *new* store is spread over, 1 to 256: as many processes can write at once. With one,
        a transaction may touch every key. An existing store keeps the number it was made with.
    read_only : bool
        Refuse `transact`; nothing is created. Where the lock files cannot be written (see the module), reads
        may raise `BusyLockerError`.

    """
    folder = Path(folder)
    if not 1 <= shards <= MAX_SHARDS:
        raise LockerError(f"shards of {folder}: expected 1 to {MAX_SHARDS}, found {shards}")
    if manifest is not None:
        manifest = normalise(manifest, str(folder))
        if not read_only and not holds_store(folder):
            create_folder(folder, Header(manifest, shards))
    store = LmdbStore(folder, read_only=read_only)
    try:
        if manifest is not None:
            require_same(manifest, store.manifest, folder)
        store.probe()
    except BaseException:
        store.close()
        raise
    return store


class LmdbStore:
    """A `Store` on disk that many threads and processes read and write at once; `open_store` makes one.

    Nothing is opened before it is needed. Pickling carries the folder and the options, so a store may be
    sent to other processes, and one that a forked process inherits works there. Whoever forks in the middle
    of a transaction gets a child that cannot use the shard (`LockerError`).
    """

    def __init__(self, folder: Path, *, read_only: bool = False) -> None:
        self.folder = Path(folder).absolute()
        self.read_only = read_only
        self._header: Header | None = None
        self._shards: list[Shard] = []
        self._closed = False
        self._release: Callable[[], object] = _nothing

    @property
    def manifest(self) -> Mapping[str, Any]:
        """What the lockers were made for, as JSON values."""
        self._open_shards()
        assert self._header is not None
        return self._header.manifest

    def get(self, locker: str, key: bytes) -> Array | None:
        """Return a fresh copy of an array as last committed, checksum verified, or None."""
        return self._read(full_key(locker, key), key)

    def get_many(self, locker: str, keys: Sequence[bytes]) -> list[Array | None]:
        """Return what `get` returns for each key; the keys of one shard are read from one snapshot."""
        shards = self._open_shards()
        fulls = [full_key(locker, key) for key in keys]
        places: dict[int, list[int]] = {}
        for place, key in enumerate(keys):
            places.setdefault(shard_of(key, len(shards)), []).append(place)
        values: list[bytearray | None] = [None] * len(fulls)
        for number, mine in places.items():
            wanted = [fulls[place] for place in mine]
            for place, value in zip(mine, shards[number].read(partial(_get_all, fulls=wanted)), strict=True):
                values[place] = value
        return [
            None if value is None else decode(value, full) for value, full in zip(values, fulls, strict=True)
        ]

    def keys(self, locker: str, prefix: bytes = b"") -> Iterator[bytes]:
        """Yield the keys of a locker that begin with a prefix, sorted over all shards.

        They are read in batches, each from a snapshot of its own: a transaction that stays open for as long
        as a caller takes to iterate would keep the map from growing and old pages from being used again.
        """
        shards = self._open_shards()
        start = locker_start(locker) + prefix
        if owns_prefix(prefix):
            shards = [shards[shard_of(prefix, len(shards))]]
        return heapq.merge(*(_shard_keys(shard, start) for shard in shards))

    def tickets(self, key: bytes) -> tuple[int, int]:
        """Return the number of visits counted for a key and the last ticket, as last committed."""
        full = internal_key(TICKETS, key)
        return read_tickets(self._read(full, key), full)

    def transact(self, shard_key: bytes, body: Callable[[Transaction], T]) -> T:
        """Run ``body`` in one write transaction on the shard part of ``shard_key``; return its answer.

        Whatever it raises undoes all it wrote. It may be run more than once, when the map must grow: it
        must have no effects but through the transaction.
        """
        if self.read_only:
            raise ReadOnlyLockerError(f"{self.folder}: expected a writable store, found a read-only one")
        if not isinstance(shard_key, bytes):
            raise LockerError(f"shard key of {self.folder}: expected bytes, found {shard_key!r}")
        shards = self._open_shards()
        shard = shards[shard_of(shard_key, len(shards))]

        def run(inner: LmdbTransaction, need: Need) -> T:
            transaction = _LmdbTransaction(shard_key, inner, need, shard.path, one_shard=len(shards) == 1)
            try:
                answer = body(transaction)
            finally:
                transaction.end()
            if transaction.failure is not None:
                raise transaction.failure  # which the body has swallowed, but LMDB will not commit after it
            return answer

        with TURNSTILE.pass_through(str(self.folder)):
            return shard.write(run)

    def flush(self) -> None:
        """Wait until all that was committed, by any process, is on the disk itself."""
        shards = self._open_shards()
        if not self.read_only:
            for shard in shards:
                shard.sync()

    def compact(self) -> None:
        """Make the files as small as what they hold; LMDB itself never gives room back.

        Shard by shard a copy takes the place of the file, at once or, when the process is killed, not at all.

        Raises:
        ------
        LockerError
            Another process has the store open. Shards before the one that it has are compact by then.

        """
        if self.read_only:
            raise ReadOnlyLockerError(f"{self.folder}: expected a writable store, found a read-only one")
        shards = self._open_shards()
        with TURNSTILE.pass_through(str(self.folder)), folder_lock(self.folder):
            for shard in shards:
                compact_shard(shard)

    def copy_to(self, folder: Path | str) -> None:
        """Make a store of a missing or empty folder that holds what this one does; others may write meanwhile.

        Shard by shard it is what was committed last.

        Raises:
        ------
        LockerError
            Something else is in the folder, or this store is damaged.

        """
        shards = self._open_shards()
        assert self._header is not None
        folder = Path(folder).absolute()
        if holds_store(folder):
            raise LockerError(f"{folder}: expected a missing or empty folder, found a store")
        create_folder(folder, self._header, lambda number, path: shards[number].copy(path))

    def require_alone(self) -> None:
        """Refuse with a `LockerError` when another process has the store open right now."""
        shards = self._open_shards()
        with TURNSTILE.pass_through(str(self.folder)):
            for shard in shards:
                with shard.alone():
                    pass

    def require_sound(self) -> None:
        """Refuse with a `DamagedLockerError` when something is wrong with the structure of the files.

        To be asked before much is written: a write into damaged pages can end the process. It takes about a second
        per 100,000 entries.
        """
        for shard in self._open_shards():
            findings = structure_findings(shard.path)
            if findings:
                raise DamagedLockerError(f"{shard.path}: expected sound LMDB pages, found: {findings[0]}")

    def check(self, limit: float | None = None) -> list[str]:
        """Audit the store; each string names a locker, a key in hex and a broken invariant. Empty: healthy.

        A child process walks through the files, as damaged pages can crash LMDB; see `lockers.audit`. The
        store may be in use meanwhile.

        Parameters
        ----------
        limit : float, optional
            Seconds after which the walk through a shard counts as stuck; a minute, and more for a large
            store.

        """
        self._require_open()
        return audit(self.folder, limit)

    def size(self) -> int:
        """Return the bytes of the data files."""
        return sum(shard.path.stat().st_size for shard in self._open_shards())

    def probe(self) -> None:
        """Open every shard now, so that whatever is wrong with one is told now."""
        for shard in self._open_shards():
            shard.probe()

    def close(self) -> None:
        """Let go of the files; a second call does nothing. Transactions of other threads are waited for."""
        self._closed = True
        self._release()
        self._release = _nothing
        self._shards = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __reduce__(self) -> tuple[Callable[..., LmdbStore], tuple[object, ...]]:
        return _unpickle, (os.fspath(self.folder), self.read_only)

    def __repr__(self) -> str:
        return f"LmdbStore({os.fspath(self.folder)!r}, read_only={self.read_only})"

    def _read(self, full: bytes, key: bytes) -> Array | None:
        shards = self._open_shards()
        value = shards[shard_of(key, len(shards))].read(lambda snapshot: snapshot.get(full))
        return None if value is None else decode(value, full)

    def _open_shards(self) -> list[Shard]:
        if not self._shards:
            with _OPENING:
                self._require_open()
                if not self._shards:
                    self._attach()
        return self._shards

    def _attach(self) -> None:
        try:
            self._header = read_header(self.folder)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise no_manifest(self.folder) from error
        except OSError as error:
            raise unreadable(error, self.folder / FILE) from error
        shards: list[Shard] = []
        writer = not self.read_only
        # Registered before the first shard, so that what was attached is let go of when a later one is
        # missing.
        release = weakref.finalize(self, _detach_all, shards, writer)
        try:
            for number in range(self._header.shards):
                path = shard_path(self.folder, number)
                shards.append(attach_shard(path, writer=writer))
        except BaseException:
            release()
            raise
        self._release, self._shards = release, shards

    def _require_open(self) -> None:
        if self._closed:
            raise LockerError(f"{self.folder}: expected an open store, found a closed one")


class _LmdbTransaction(BaseTransaction):
    def __init__(
        self,
        shard_key: bytes,
        inner: LmdbTransaction,
        need: Need,
        path: Path,
        *,
        one_shard: bool,
    ) -> None:
        super().__init__(shard_key, one_shard=one_shard)
        self._inner = inner
        self._need = need
        self._path = path
        self._saved: set[bytes] = set()
        self.failure: Exception | None = None

    def _load(self, full: bytes) -> Array | None:
        with self._noting_failure():
            value = LmdbSnapshot(self._inner).get(full)
        return None if value is None else decode(value, full)

    def _save(self, full: bytes, array: Array) -> None:
        value = encode(array, full)
        self._need.size += len(full) + len(value)
        with self._noting_failure():
            # LMDB would overwrite a large value of this transaction in its place, and keep the pages that a
            # smaller one leaves over; harmless, but the verifier takes them for damage.
            if full in self._saved:
                self._inner.delete(full)
            self._inner.put(full, value)
        self._saved.add(full)

    def _drop(self, full: bytes) -> bool:
        with self._noting_failure():
            return self._inner.delete(full)

    @contextmanager
    def _noting_failure(self) -> Iterator[None]:
        try:
            yield
        except (lmdb.MapFullError, lmdb.MapResizedError) as error:
            self.failure = error
            raise
        except lmdb.Error as error:
            self.failure = translate(error, self._path, self._need.size)
            raise self.failure from error


def _shard_keys(shard: Shard, start: bytes) -> Iterator[bytes]:
    position = start

    def batch(snapshot: Snapshot) -> list[bytes]:
        return list(takewhile(lambda full: full.startswith(start), islice(snapshot.keys(position), _BATCH)))

    while True:
        found = shard.read(batch)
        for full in found:
            yield split_key(full)[1]
        if len(found) < _BATCH:
            return
        position = found[-1] + b"\0"  # the least key above the last one


def _get_all(snapshot: Snapshot, fulls: list[bytes]) -> list[bytearray | None]:
    return [snapshot.get(full) for full in fulls]


def _unpickle(folder: str, read_only: bool) -> LmdbStore:
    return LmdbStore(Path(folder), read_only=read_only)


def _detach_all(shards: list[Shard], writer: bool) -> None:
    while shards:
        detach_shard(shards.pop(), writer=writer)


def _nothing() -> None:
    """Release nothing: a store that was never opened, or is closed."""


_OPENING = threading.Lock()


def _after_fork_in_child() -> None:
    global _OPENING
    _OPENING = threading.Lock()


os.register_at_fork(after_in_child=_after_fork_in_child)
