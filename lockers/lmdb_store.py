"""Lockers on disk: a folder with a manifest and one LMDB file.

::

    manifest.json       the game and job of the lockers, the format version
    lockers.mdb         arrays under keys; readers see the last commit, one process at a time writes
    lockers.mdb-lock    LMDB's locks and table of readers; may be deleted while nobody has the store open

**Many writers.** One process commits at a time, and the others wait; a commit takes 0.1 ms, or 0.5 ms for a megabyte.
Eight processes that compute 2.5 ms between two commits of up to 64 KiB, or 60 ms between two of 1 MiB, lose less than
a hundredth of their time to waiting on an idle machine, and 6 % if they commit 1 MiB every 2.5 ms (``python -m
benchmarks.speed.lockers``). Spreading keys over eight files, which keeps a transaction from touching all keys, saved
the larger part of that last figure only.

**Commits survive a kill.** A commit is in the operating system's hands when `transact` returns, and in full: killing
processes (SIGKILL too) loses no commit and leaves nothing half-done. A commit is not forced onto the disk, which would
take milliseconds instead of microseconds. `flush` forces everything; a power failure or a crash of the kernel loses
nothing of a store that was not written to since its last flush. In other stores the operating system may have written
pages in any order: later commits can be lost, and the store can be damaged, which `check` finds.

Keep the folder on a local disk: LMDB's locks and shared maps do not work over network file systems.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import lmdb

from lockers.audit import data_file_findings, structure_findings
from lockers.codec import Array, decode, encode
from lockers.environment import Environment, LmdbTransaction, Need
from lockers.errors import DamagedLockerError, LockerError, ReadOnlyLockerError
from lockers.folder import DATA, create_folder, folder_lock, holds_store, no_manifest
from lockers.keys import VISITS, describe, full_key, internal_key, locker_start, split_key
from lockers.lmdb_errors import translate, unreadable
from lockers.manifest import FILE, normalise, read_manifest, require_same
from lockers.store import T, Transaction
from lockers.table import attach, detach
from lockers.transaction import NOT_NESTED, BaseTransaction, read_visits

_BATCH = 1024


def open_store(
    folder: Path | str, manifest: Mapping[str, Any] | None = None, *, read_only: bool = False
) -> LmdbStore:
    """Open the store in a folder, or create a store there.

    Args:
        folder: With a manifest, a folder that is missing or empty becomes a new store.
        manifest: JSON values that name the game and job of the lockers; an existing store must have the same. None
            opens any store.
        read_only: Whether to refuse `LmdbStore.transact`; nothing is created.

    Raises:
        ManifestMismatchError: The folder holds the lockers of another job.
        LockerError: The folder holds no store, a damaged store, or files of another kind.
    """
    folder = Path(folder)
    if manifest is not None:
        manifest = normalise(manifest, str(folder))
        if not read_only and not holds_store(folder):
            create_folder(folder, manifest)
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

    The store opens its files when they are needed. Pickling carries the folder and the options, so a store may be sent
    to other processes, and a store that a forked process inherits works there. A child that is forked in the middle of
    a transaction cannot use the store (`LockerError`).
    """

    def __init__(self, folder: Path, *, read_only: bool = False) -> None:
        self.folder = Path(folder).absolute()
        self.read_only = read_only
        self._manifest: Mapping[str, Any] = {}
        self._environment: Environment | None = None
        self._closed = False
        self._release: Callable[[], object] = _nothing

    @property
    def manifest(self) -> Mapping[str, Any]:
        """JSON values that name the game and job of the lockers."""
        self._attached()
        return self._manifest

    def get(self, locker: str, key: bytes) -> Array | None:
        """Return a fresh copy of an array as last committed, checksum verified, or None."""
        return self._read(full_key(locker, key))

    def get_many(self, locker: str, keys: Sequence[bytes]) -> list[Array | None]:
        """Return the answer of `get` for each key, all from one commit."""
        fulls = [full_key(locker, key) for key in keys]
        environment = self._attached()
        values = environment.read(lambda inner: [_value(inner, full, environment.path) for full in fulls])
        return [
            None if value is None else decode(value, full) for value, full in zip(values, fulls, strict=True)
        ]

    def keys(self, locker: str, prefix: bytes = b"") -> Iterator[bytes]:
        """Yield the keys of a locker that begin with a prefix, sorted.

        Keys are read in batches, each from the last commit. A transaction that stayed open while a caller iterates
        would keep the map from growing and old pages from being reused.
        """
        return self._keys(self._attached(), locker_start(locker) + prefix)

    def visits(self, key: bytes) -> tuple[int, int]:
        """Return the number of visits counted for a key and the last visit's id, as last committed."""
        full = internal_key(VISITS, key)
        return read_visits(self._read(full), full)

    def transact(self, body: Callable[[Transaction], T]) -> T:
        """Run ``body`` in one write transaction; return its answer.

        An exception of ``body`` undoes all its writes. ``body`` may run more than once, when the map must grow: it must
        have no effects but through the transaction.
        """
        self._require_writable()
        environment = self._attached()

        def run(inner: LmdbTransaction, need: Need) -> T:
            transaction = _LmdbTransaction(inner, need, environment.path)
            try:
                answer = body(transaction)
            finally:
                transaction.end()
            if transaction.failure is not None:
                raise transaction.failure  # which the body has swallowed, but LMDB will not commit after it
            return answer

        with NOT_NESTED.enter(str(self.folder)):
            return environment.write(run)

    def flush(self) -> None:
        """Wait until all commits, of any process, are on the disk itself."""
        environment = self._attached()
        if not self.read_only:
            environment.sync()

    def compact(self) -> None:
        """Shrink the file to its content; LMDB itself never returns space.

        A copy takes the place of the file, at once or, when the process is killed, not at all.

        Raises:
            LockerError: Another process has the store open.
        """
        self._require_writable()
        environment = self._attached()
        with NOT_NESTED.enter(str(self.folder)), folder_lock(self.folder):
            environment.compact()

    def copy_to(self, folder: Path | str) -> None:
        """Make a store in a missing or empty folder that holds this store's last commit; others may write meanwhile.

        Raises:
            LockerError: Something else is in the folder, or this store is damaged.
        """
        environment = self._attached()
        folder = Path(folder).absolute()
        if holds_store(folder):
            raise LockerError(f"{folder}: expected a missing or empty folder, found a store")
        self.require_sound()
        create_folder(folder, self._manifest, environment.copy)

    def require_alone(self) -> None:
        """Refuse with a `LockerError` when another process has the store open right now."""
        environment = self._attached()
        with NOT_NESTED.enter(str(self.folder)), environment.alone():
            pass

    def require_sound(self) -> None:
        """Refuse with a `DamagedLockerError` when something is wrong with the structure of the file.

        Callers check before they write much, since a write into damaged pages can end the process. The check takes
        about a second for 100,000 entries.
        """
        environment = self._attached()
        findings = structure_findings(environment.path, environment.commit)
        if findings:
            raise DamagedLockerError(findings[0])

    def check(self, limit: float | None = None) -> list[str]:
        """Audit the store; each string names a locker, a key in hex and a broken invariant. Empty: healthy.

        A child process reads the file, as damaged pages can crash LMDB; see `lockers.audit`. The store may be in use
        meanwhile.

        Args:
            limit: Seconds after which the child counts as stuck; None for a minute, and more for a large store.
        """
        self._require_open()
        try:
            read_manifest(self.folder)
        except (LockerError, OSError) as error:
            return [str(error)]
        return data_file_findings(self.folder / DATA, limit=limit)

    def size(self) -> int:
        """Return the bytes of the data file."""
        return self._attached().path.stat().st_size

    def probe(self) -> None:
        """Open the file now, so that an error about it is raised now."""
        self._attached().probe()

    def close(self) -> None:
        """Close the files once no other thread runs a transaction; a second call does nothing."""
        with _OPENING:  # another thread may be about to open the files
            self._closed = True
            release, self._release = self._release, _nothing
            self._environment = None
        release()

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

    def _read(self, full: bytes) -> Array | None:
        environment = self._attached()
        # Checksums are verified on copies: the transaction ends sooner, and a map that moves has no views into it.
        value = environment.read(lambda inner: _value(inner, full, environment.path))
        return None if value is None else decode(value, full)

    def _keys(self, environment: Environment, start: bytes) -> Iterator[bytes]:
        position = start

        def batch(transaction: LmdbTransaction) -> list[bytes]:
            fulls: list[bytes] = []
            with transaction.cursor() as cursor:
                more = cursor.set_range(position)
                while more and len(fulls) < _BATCH and (full := bytes(cursor.key())).startswith(start):
                    fulls.append(full)
                    more = cursor.next()
            return fulls

        while True:
            self._require_open()  # a closed environment would be opened again, beside that of another store
            fulls = environment.read(batch)
            for full in fulls:
                yield split_key(full)[1]
            if len(fulls) < _BATCH:
                return
            position = fulls[-1] + b"\0"  # the least key above the last one

    def _attached(self) -> Environment:
        environment = self._environment
        if environment is None:
            with _OPENING:
                self._require_open()
                environment = self._environment or self._attach()
        return environment

    def _attach(self) -> Environment:
        try:
            self._manifest = read_manifest(self.folder)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise no_manifest(self.folder) from error
        except OSError as error:
            raise unreadable(error, self.folder / FILE) from error
        writer = not self.read_only
        self._environment = attach(self.folder / DATA, writer=writer)
        self._release = weakref.finalize(self, detach, self._environment, writer=writer)
        return self._environment

    def _require_open(self) -> None:
        if self._closed:
            raise LockerError(f"{self.folder}: expected an open store, found a closed one")

    def _require_writable(self) -> None:
        if self.read_only:
            raise ReadOnlyLockerError(f"{self.folder}: expected a writable store, found a read-only one")


class _LmdbTransaction(BaseTransaction):
    def __init__(self, inner: LmdbTransaction, need: Need, path: Path) -> None:
        super().__init__()
        self._inner = inner
        self._need = need
        self._path = path
        self._saved: set[bytes] = set()
        self.failure: Exception | None = None

    def _load(self, full: bytes) -> Array | None:
        with self._noting_failure():
            value = self._inner.get(full)
            copy = None if value is None else bytearray(value)
        return None if copy is None else decode(copy, full)

    def _save(self, full: bytes, array: Array) -> None:
        value = encode(array, full)
        self._need.size += len(full) + len(value)
        with self._noting_failure():
            # LMDB would overwrite a large value of this transaction in its place, and keep the pages that a smaller one
            # leaves over; harmless, but the verifier takes them for damage.
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


def _value(transaction: LmdbTransaction, full: bytes, path: Path) -> bytearray | None:
    """Return a copy of a value, or None for an absent key."""
    value = transaction.get(full)
    if value is None:
        _require_absent(transaction, full, path)
        return None
    return bytearray(value)


def _require_absent(transaction: LmdbTransaction, full: bytes, path: Path) -> None:
    """Refuse a file in which a page lies in the place of another one, where LMDB finds no key.

    The keys before and after an absent key must be found where they belong.
    """
    neighbours = []
    with transaction.cursor() as cursor:
        if cursor.set_range(full):
            neighbours.append(bytes(cursor.key()))
            if cursor.prev():
                neighbours.append(bytes(cursor.key()))
        elif cursor.last():
            neighbours.append(bytes(cursor.key()))
    for neighbour in neighbours:
        if transaction.get(neighbour) is None:
            raise DamagedLockerError(f"{path}: {describe(neighbour)}: expected on its page, found on another")


def _unpickle(folder: str, read_only: bool) -> LmdbStore:
    return LmdbStore(Path(folder), read_only=read_only)


def _nothing() -> None:
    """Release nothing: the store was never opened, or is closed."""


_OPENING = threading.RLock()


def _after_fork_in_child() -> None:
    global _OPENING
    _OPENING = threading.RLock()


os.register_at_fork(after_in_child=_after_fork_in_child)
