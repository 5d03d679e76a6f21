"""Lockers on disk: a folder with a manifest and one LMDB file.

::

    manifest.json       the game and job of the lockers, and the format version
    lockers.mdb         arrays under keys; readers see the last commit, one process at a time writes
    lockers.mdb-lock    LMDB's locks and table of readers; may be deleted while nobody has the store open

**Many writers.** One process commits at a time, and other writers wait. A commit takes 0.1 ms, or 0.5 ms for a
megabyte. Eight processes that each commit 64 KiB every 2.5 ms, or 1 MiB every 60 ms, wait less than 1 % of their time
on an idle machine; with 1 MiB every 2.5 ms they wait 6 % (``python -m benchmarks.speed.lockers``).

**Commits survive a kill.** The operating system has the whole commit when `transact` returns. Killing processes, even
with SIGKILL, loses no commit and leaves no half-done transaction. A commit does not wait for the disk, which would take
milliseconds instead of microseconds; `flush` does. A power failure or a crash of the kernel loses nothing that was
flushed if nothing was written since. Otherwise later commits can be lost and the store can be damaged, because the
operating system writes pages in any order; `check` finds such damage.

Keep the folder on a local disk: LMDB does not work on network file systems.
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
from lockers.codec import Array, decode_from, encode
from lockers.environment import Environment, LmdbTransaction, Need
from lockers.errors import DamagedLockerError, LockerError, ReadOnlyLockerError
from lockers.folder import DATA, create_folder, folder_lock, holds_store, manifest_of
from lockers.keys import VISITS, full_key, internal_key, locker_start, split_key
from lockers.lmdb_errors import translate
from lockers.look_up import look_up
from lockers.manifest import normalise, require_same
from lockers.store import T, Transaction
from lockers.table import attach, detach
from lockers.transaction import NOT_NESTED, BaseTransaction, read_visits

LARGE = 64 * 2**20
"""Size in bytes of a data file whose memory `LmdbStore.let_go` releases; a smaller file stays open."""
_BATCH = 1024


def open_store(
    folder: Path | str, manifest: Mapping[str, Any] | None = None, *, read_only: bool = False
) -> LmdbStore:
    """Open the store in a folder, or create a store there.

    Args:
        folder: The folder. If it is missing or empty and there is a manifest, a new store is made in it.
        manifest: The game and job of the lockers, as JSON values; an existing store must have an equal manifest. None
            opens any store.
        read_only: Whether to open the store for reading only; `LmdbStore.transact` is then refused, and a missing store
            is an error.

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
    """A `Store` on disk, which many threads and processes may read and write at once; `open_store` makes it.

    The store opens its files at first use. It can be pickled, so it may be sent to other processes, and it can be used
    after a fork. A child process that was forked during a transaction gets a `LockerError`.
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
        """The game and job of the lockers, as JSON values."""
        self._attached()
        return self._manifest

    def get(self, locker: str, key: bytes) -> Array | None:
        """Return a new copy of the last committed array under a key, with its checksum verified; None if absent."""
        return self._read(full_key(locker, key))

    def get_many(self, locker: str, keys: Sequence[bytes]) -> list[Array | None]:
        """Return the result of `get` for each key; all arrays are from the same commit."""
        fulls = [full_key(locker, key) for key in keys]
        environment = self._attached()
        values = environment.read(lambda inner: [look_up(inner, full, environment.path) for full in fulls])
        return [
            None if value is None else decode_from(environment.path, value, full)
            for value, full in zip(values, fulls, strict=True)
        ]

    def keys(self, locker: str, prefix: bytes = b"") -> Iterator[bytes]:
        """Yield the keys of a locker that begin with a prefix, sorted.

        Each batch of keys is read in a transaction of its own. A single transaction would stay open as long as the
        caller iterates; meanwhile the memory map could not grow, and old pages could not be reused.
        """
        return self._keys(self._attached(), locker_start(locker) + prefix)

    def visits(self, key: bytes) -> tuple[int, int]:
        """Return the number of visits counted for a key and the id of the last visit, as of the last commit.

        Both numbers are 0 before the first visit.
        """
        full = internal_key(VISITS, key)
        return read_visits(self._read(full), full)

    @contextmanager
    def snapshot(self) -> Iterator[int]:
        """Let all reads of this thread see one commit while the ``with`` block runs; yield the number of the commit.

        The block must not write. LMDB cannot reuse old pages meanwhile, so the block should be short.

        Raises:
            DamagedLockerError: The data file was cut off after it was opened.
        """
        with self._attached().snapshot() as commit:
            yield commit

    def transact(self, body: Callable[[Transaction], T]) -> T:
        """Run ``body`` in one write transaction and return its result; an exception of ``body`` undoes all writes.

        ``body`` runs again if the memory map must grow, so it must change nothing outside of the transaction.
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
                raise transaction.failure  # LMDB cannot commit after an error, even if `body` has caught it
            return answer

        with NOT_NESTED.enter(str(self.folder)):
            return environment.write(run)

    def flush(self) -> None:
        """Wait until the commits of all processes are on the disk."""
        environment = self._attached()
        if not self.read_only:
            environment.sync()

    def compact(self) -> None:
        """Replace the file by a copy without unused pages, because LMDB never makes a file smaller.

        An interruption leaves the old file.

        Raises:
            LockerError: Another process has the store open.
        """
        self._require_writable()
        environment = self._attached()
        with NOT_NESTED.enter(str(self.folder)), folder_lock(self.folder):
            environment.compact()

    def copy_to(self, folder: Path | str) -> None:
        """Copy the last commit into a new store; threads and processes may write to this store meanwhile.

        Args:
            folder: The folder of the new store, which is missing or empty.

        Raises:
            LockerError: The folder is not empty, or this store is damaged.
        """
        environment = self._attached()
        folder = Path(folder).absolute()
        if holds_store(folder):
            raise LockerError(f"{folder}: expected a missing or empty folder, found a store")
        self.require_sound()
        create_folder(folder, self._manifest, environment.copy)

    def require_alone(self) -> None:
        """Check that no other process has the store open.

        Raises:
            LockerError: Another process has the store open.
        """
        environment = self._attached()
        with NOT_NESTED.enter(str(self.folder)), environment.alone():
            pass

    def require_sound(self) -> None:
        """Check the page structure of the data file, but not the arrays.

        Callers check before they write much, because writing to damaged pages can end the process. The check takes
        about a second for 100,000 keys.

        Raises:
            DamagedLockerError: A page is damaged.
        """
        environment = self._attached()
        findings = structure_findings(environment.path, environment.commit)
        if findings:
            raise DamagedLockerError(findings[0])

    def check(self, limit: float | None = None) -> list[str]:
        """Check all pages, keys and values; return a description of each defect, or an empty list if there is none.

        A child process reads the file, because damaged pages can crash LMDB (`lockers.audit`). The store may be in use
        meanwhile.

        Args:
            limit: Time limit of the child process in seconds; None for a minute plus the time to read a large file.
        """
        self._require_open()
        try:
            manifest_of(self.folder)
        except LockerError as error:
            return [str(error)]
        return data_file_findings(self.folder / DATA, limit=limit)

    def let_go(self) -> None:
        """Release the memory of a large file's pages: close the file once no transaction runs; the next use opens it.

        Each page of the file that a process has read counts as memory of the process until the file is closed.
        """
        environment = self._attached()
        if self.size() >= LARGE:
            environment.close()

    def size(self) -> int:
        """Return the size of the data file in bytes."""
        return self._attached().path.stat().st_size

    def probe(self) -> None:
        """Open the file now, so that errors in opening it are raised now and not at first use.

        Raises:
            DamagedLockerError: The data file lacks pages that are in use, also if it was cut off after its opening.
        """
        self._attached().probe()

    def close(self) -> None:
        """Close the files once no transaction runs; a second call does nothing.

        Reads and writes that other threads begin later raise a `LockerError`.
        """
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
        # The checksum is verified on a copy: the transaction ends sooner, and no array points into the memory map.
        value = environment.read(lambda inner: look_up(inner, full, environment.path))
        return None if value is None else decode_from(environment.path, value, full)

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
            self._require_open()
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
        self._manifest = manifest_of(self.folder)
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
        return None if copy is None else decode_from(self._path, copy, full)

    def _save(self, full: bytes, array: Array) -> None:
        value = encode(array, full)
        self._need.size += len(full) + len(value)
        with self._noting_failure():
            # LMDB would overwrite a large value of the same transaction in place and keep pages that a smaller value
            # does not need. This is harmless, but py-lmdb's verifier would report damage.
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


def _unpickle(folder: str, read_only: bool) -> LmdbStore:
    return LmdbStore(Path(folder), read_only=read_only)


def _nothing() -> None:
    """Do nothing: the store has no open files to release."""


_OPENING = threading.RLock()


def _after_fork_in_child() -> None:
    global _OPENING
    _OPENING = threading.RLock()


os.register_at_fork(after_in_child=_after_fork_in_child)
