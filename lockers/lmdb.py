"""Lockers on disk: after `LmdbStore.transact` returns, another process sees all of a transaction or none of it.

A store is a folder (`lockers.files`)::

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

LMDB calls an open data file an *environment*, and asks five things of a process:

- *A process must not open a file twice.* All stores share a table of environments (`attach`).
- *The whole file must fit into a memory map, whose size is chosen when the file is opened.* A map is far larger than
  its file, which costs address space only (`map_size`). A file that outgrows its map all the same is opened again with
  a larger one, once no transaction runs in this process: transactions share an `RWLock`.
- *A child process must not use an environment that was opened before the fork*, nor close it, because that would remove
  the parent's readers from LMDB's table of readers. So a process closes its environments before it forks; parent and
  child open them again when they need them. If a transaction does not end in time, the child refuses to use the store.
- *A mapped file must not be shorter than LMDB says*: reading a missing page ends the process with SIGBUS. The size is
  checked when the file is opened, and a new lock file gets its disk space at once.
- *A reader must be able to write the lock file*, unless nobody may write the data file (`readers_lock`).
"""

from __future__ import annotations

import os
import resource
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn, Self, TypeAlias

import lmdb

from lockers.audit import data_file_findings, require_whole, restore_meta_page, structure_findings
from lockers.codec import (
    VISITS,
    Array,
    decode_from,
    describe,
    encode,
    full_key,
    internal_key,
    locker_start,
    split_key,
)
from lockers.errors import DamagedLockerError, LockerError, ReadOnlyLockerError, translate, unreadable
from lockers.files import (
    DATA,
    ENGINE,
    FILE,
    MAX_READERS,
    TEMPORARY,
    copy_used_pages,
    create_folder,
    data_size,
    folder_lock,
    holds_store,
    lock_alone,
    lock_file,
    make_lock_file,
    manifest_of,
    missing_bytes,
    no_manifest,
    normalise,
    read_manifest,
    readers_lock,
    remove_files,
    require_same,
    require_writable,
    sync_folder,
)
from lockers.store import NOT_NESTED, BaseTransaction, Store, T, Transaction, read_visits

LmdbTransaction: TypeAlias = "lmdb.Transaction[memoryview]"

LARGE = 64 * 2**20
"""Size in bytes of a data file whose memory `LmdbStore.let_go` releases; a smaller file stays open."""
MAP_SIZE = 2**34
"""Least size of a memory map in bytes. Maps of 1 TiB would leave room for 127 open stores in 47-bit address space."""
MAP_SIZE_IN_LIMITS = 8 * 2**20
"""Least size of a memory map in bytes if the address space is limited (``ulimit -v``)."""

_LARGEST_PAGE = 2**16  # of any platform
_KEYS_AT_ONCE = 1024
_ATTEMPTS = 100  # each attempt follows a doubling of the file, so more attempts mean a damaged file
_FORK_PATIENCE = 10.0  # seconds to wait for the end of a transaction before a fork


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


def remove_store(folder: Path | str) -> None:
    """Remove the store in a folder; other files stay, and a new store may be made beside them.

    The first step removes the manifest, so an interrupted removal leaves a folder without a store. `open_store` deletes
    the remaining files when it makes a new store there.

    Raises:
        LockerError: The folder holds no store, or this process or another one has the store open.
    """
    folder = Path(folder).absolute()
    if not holds_store(folder):
        raise no_manifest(folder)
    path = folder / DATA
    try:
        with folder_lock(folder):
            read_manifest(folder)
            if not path.exists() or not path.stat().st_size:  # the store is damaged, and may be removed too
                remove_files(folder)
                return
            environment = attach(path, writer=False)
            try:
                if environment.users > 1:
                    raise LockerError(
                        f"{folder}: this process has the store open; close it before its removal"
                    )
                with environment.alone():
                    remove_files(folder)
            finally:
                detach(environment, writer=False)
    except OSError as error:
        raise translate(error, folder / FILE) from error


class LmdbStore(Store):
    """A `Store` on disk, which many threads and processes may read and write at once; `open_store` makes it.

    The store opens its files at first use. It can be pickled, so it may be sent to other processes, and it can be used
    after a fork. A child process that was forked during a transaction gets a `LockerError`.
    """

    read_only: bool = False

    def __init__(self, folder: Path, *, read_only: bool = False) -> None:
        self.folder = Path(folder).absolute()
        self.read_only = read_only
        self._manifest: Mapping[str, Any] = {}
        self._environment: Environment | None = None
        self._closed = False
        self._release: Callable[[], object] = _nothing

    @property
    def manifest(self) -> Mapping[str, Any]:
        self._attached()
        return self._manifest

    def get(self, locker: str, key: bytes) -> Array | None:
        return self._read(full_key(locker, key))

    def get_many(self, locker: str, keys: Sequence[bytes]) -> list[Array | None]:
        fulls = [full_key(locker, key) for key in keys]
        environment = self._attached()
        values = environment.read(lambda inner: [_look_up(inner, full, environment.path) for full in fulls])
        return [
            None if value is None else decode_from(environment.path, value, full)
            for value, full in zip(values, fulls, strict=True)
        ]

    def keys(self, locker: str, prefix: bytes = b"") -> Iterator[bytes]:
        return self._keys(self._attached(), locker_start(locker) + prefix)

    def visits(self, key: bytes) -> tuple[int, int]:
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
        self._require_writable()
        environment = self._attached()
        with NOT_NESTED.enter(str(self.folder)):
            return environment.write(body)

    def flush(self) -> None:
        environment = self._attached()
        if not self.read_only:
            environment.sync()

    def compact(self) -> None:
        """Replace the file by a copy without unused pages, because LMDB never makes a file smaller.

        An interruption leaves the old file.
        """
        self._require_writable()
        environment = self._attached()
        with NOT_NESTED.enter(str(self.folder)), folder_lock(self.folder):
            environment.compact()

    def copy_to(self, folder: Path | str) -> None:
        """Copy the last commit into a new store in a missing or empty folder.

        Threads and processes may write to this store meanwhile.
        """
        environment = self._attached()
        folder = Path(folder).absolute()
        if holds_store(folder):
            raise LockerError(f"{folder}: expected a missing or empty folder, found a store")
        self.require_sound()
        create_folder(folder, self._manifest, environment.copy)

    def require_alone(self) -> None:
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
        with _TABLE_LOCK:  # another thread may be about to open the files
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
        return partial(LmdbStore, read_only=self.read_only), (self.folder,)

    def __repr__(self) -> str:
        return f"LmdbStore({os.fspath(self.folder)!r}, read_only={self.read_only})"

    def _read(self, full: bytes) -> Array | None:
        environment = self._attached()
        # The checksum is verified on a copy: the transaction ends sooner, and no array points into the memory map.
        value = environment.read(lambda inner: _look_up(inner, full, environment.path))
        return None if value is None else decode_from(environment.path, value, full)

    def _keys(self, environment: Environment, start: bytes) -> Iterator[bytes]:
        position = start

        # Each batch is read in a transaction of its own. A single transaction would stay open as long as the caller
        # iterates; meanwhile the file could not be closed, and old pages could not be reused.
        def batch(transaction: LmdbTransaction) -> list[bytes]:
            fulls: list[bytes] = []
            with transaction.cursor() as cursor:
                more = cursor.set_range(position)
                while more and len(fulls) < _KEYS_AT_ONCE and (full := bytes(cursor.key())).startswith(start):
                    fulls.append(full)
                    more = cursor.next()
            return fulls

        while True:
            self._require_open()
            fulls = environment.read(batch)
            for full in fulls:
                yield split_key(full)[1]
            if len(fulls) < _KEYS_AT_ONCE:
                return
            position = fulls[-1] + b"\0"  # the least key above the last one

    def _attached(self) -> Environment:
        environment = self._environment
        if environment is None:
            with _TABLE_LOCK:
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


class _Transaction(BaseTransaction):
    _inner: LmdbTransaction

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self._saved: set[bytes] = set()
        self._failure: Exception | None = None
        self.n_bytes = 0  # keys and values written so far

    def run(self, inner: LmdbTransaction, body: Callable[[Transaction], T]) -> T:
        self._inner = inner
        try:
            answer = body(self)
        finally:
            self.end()
        if self._failure is not None:
            raise self._failure  # LMDB cannot commit after an error, even if `body` has caught it
        return answer

    def _load(self, full: bytes) -> Array | None:
        with self._noting_failure():
            value = self._inner.get(full)
            copy = None if value is None else bytearray(value)
        return None if copy is None else decode_from(self._path, copy, full)

    def _save(self, full: bytes, array: Array) -> None:
        value = encode(array, full)
        self.n_bytes += len(full) + len(value)
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
        except lmdb.MapFullError:
            self._failure = lmdb.MapFullError("mdb_put")  # without the frames that hold the value
            raise
        except lmdb.Error as error:
            self._failure = translate(error, self._path, self.n_bytes)
            raise self._failure from error


def _nothing() -> None: ...


def _look_up(transaction: LmdbTransaction, full: bytes, path: Path) -> bytearray | None:
    value = transaction.get(full)
    if value is not None:
        return bytearray(value)
    # If two pages were swapped, LMDB finds other keys on a page and calls the key absent. So the search must find the
    # neighbours of an absent key in the sorted order of keys: if it misses a neighbour, it may have missed the key.
    # In the test that swaps pages 890 of 2,157 lookups of lost keys are errors, and 89 without this check.
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
    return None


class Environment:
    """A data file in LMDB that is opened at first use, and again after a fork or when it outgrows its memory map.

    Args:
        path: The data file. Its lock file has the same name with ``-lock`` added.
        short: Whether to open a file that lacks pages. Reading a missing page ends the process.

    Attributes:
        users: Number of open stores that use the environment.
        writers: Number of these stores that may write.
        closed: Whether the last store was closed. Later reads and writes are refused, because they would open the file
            again, and LMDB opens a file only once in a process.
    """

    def __init__(self, path: Path, *, short: bool = False) -> None:
        self.path = path
        self.users = 0
        self.writers = 0
        self.closed = False
        self._inode = 0
        self._last_page = 0
        self._short = short
        self._wanted = 0  # least size of the next map
        self._env: lmdb.Environment | None = None
        self._env_writable = False
        self._lock = RWLock()
        self._opening = threading.Lock()
        self._orphan = False
        self._held = threading.local()

    def read(self, body: Callable[[LmdbTransaction], T]) -> T:
        """Run ``body`` in a read transaction on the last commit, and return its result.

        In a `snapshot` of this thread, ``body`` reads the commit of the snapshot.
        """
        held: LmdbTransaction | None = getattr(self._held, "transaction", None)
        try:
            if held is not None:
                return body(held)
            begun = self._begin()
            try:
                with begun as transaction:
                    return body(transaction)
            finally:
                self._lock.unshare()
        except (lmdb.Error, OSError) as error:
            raise translate(error, self.path) from error

    @contextmanager
    def snapshot(self) -> Iterator[int]:
        held: LmdbTransaction | None = getattr(self._held, "transaction", None)
        if held is not None:
            yield int(held.id())
            return
        try:
            begun = self._begin(whole=True)
        except (lmdb.Error, OSError) as error:
            raise translate(error, self.path) from error
        try:
            with begun as transaction:
                self._held.transaction = transaction
                yield int(transaction.id())
        finally:
            self._held.transaction = None
            self._lock.unshare()

    def write(self, body: Callable[[Transaction], T]) -> T:
        """Run ``body`` in a write transaction, commit, and return the result of ``body``.

        ``body`` runs again if the memory map is full, and once more if the last step of a commit failed.
        """
        panicked = False
        while True:
            env = self._enter(write=True)
            wanted, transaction = 0, _Transaction(self.path)
            try:
                with env.begin(write=True, buffers=True) as inner:
                    answer = transaction.run(inner, body)
                self._lengthen(env)
                return answer
            except lmdb.MapFullError:
                wanted = 2 * int(env.info()["map_size"])
            except lmdb.MapResizedError:
                pass  # the next map is chosen by the size that the file has now
            except lmdb.PanicError as error:
                # The last step of a commit failed in this process; the file can be used after it is opened again.
                if panicked:
                    raise translate(error, self.path) from error
                panicked = True
            except (lmdb.Error, OSError) as error:
                raise translate(error, self.path, transaction.n_bytes) from error
            finally:
                self._lock.unshare()
            self.close(wanted)

    def commit(self) -> int:
        """Number of the last commit, which any process may have made."""
        with self._using() as env:
            return int(env.info()["last_txnid"])

    def replaced(self) -> bool:
        """Whether another file has taken the path of the open file."""
        return self._env is not None and self.path.stat().st_ino != self._inode

    def sync(self) -> None:
        with self._using(write=True) as env:
            try:
                env.sync(True)
            except lmdb.Error as error:
                raise translate(error, self.path) from error

    def probe(self) -> None:
        """Open the file now, so that errors in opening it are raised now and not at first use."""
        opened_before = self._env is not None
        with self._using(write=self.writers > 0) as env:
            try:
                if opened_before and not self._short:
                    require_whole(env, self.path)
            except (lmdb.Error, OSError) as error:
                raise unreadable(error, self.path) from error

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Close the file and keep all other threads and processes away from it while the ``with`` block runs.

        Each process that has the file open in LMDB holds a read lock on the first byte of the lock file. This method
        takes the write lock on that byte. Processes that open the file meanwhile wait until the block has ended. This
        process must not have the lock file open anywhere else, because closing a file releases all its locks.
        """
        if self._orphan or self.closed:
            self._refuse()
        with self._lock.alone():
            self._drop_env()
            try:
                require_writable(self.path)
                make_lock_file(self.path)
                descriptor = os.open(lock_file(self.path), os.O_RDWR | os.O_CLOEXEC)
            except OSError as error:
                raise translate(error, self.path) from error
            try:
                lock_alone(descriptor, self.path)
                yield
            finally:
                os.close(descriptor)

    def compact(self) -> None:
        with self.alone():
            size = self.path.stat().st_size
            for orphaned in self.path.parent.glob(f".{self.path.name}.*{TEMPORARY}"):
                orphaned.unlink()  # a killed process has left it
            temporary = self.path.with_name(f".{self.path.name}.{os.getpid()}{TEMPORARY}")
            try:
                copy_used_pages(self.path, temporary)
                temporary.replace(self.path)
                sync_folder(self.path.parent)
            except (lmdb.Error, OSError) as error:
                raise translate(error, self.path, size) from error
            finally:
                temporary.unlink(missing_ok=True)

    def copy(self, target: Path) -> None:
        """Write the last commit, without unused pages, to a new file; threads and processes may write meanwhile."""
        for attempt in range(_ATTEMPTS):
            # Once the snapshot has begun, the map has the whole file; LMDB copies a later commit if there is one.
            with self.snapshot(), self._using() as env:
                try:
                    with target.open("wb") as file:
                        env.copyfd(file.fileno(), compact=True)
                        os.fsync(file.fileno())
                    return
                except (lmdb.Error, OSError) as error:
                    outgrown = isinstance(error, lmdb.MapResizedError)
                    if not outgrown or attempt == _ATTEMPTS - 1:
                        raise translate(error, target) from error

    def close(self, wanted: int = 0) -> None:
        """Close the file once no transaction runs; the next use opens it in a map of at least ``wanted`` bytes."""
        if self._orphan:
            return  # closing the parent's environment would hide the parent's readers from writers
        with self._lock.alone():
            self._wanted = max(self._wanted, wanted)
            self._drop_env()

    def before_fork(self) -> None:
        """Close the file and keep all threads away from it; give up if a transaction does not end in time."""
        self._orphan = not self._lock.acquire(_FORK_PATIENCE)
        if not self._orphan:
            self._drop_env()

    def after_fork_in_parent(self) -> None:
        if not self._orphan:
            self._lock.release()
        self._orphan = False

    def after_fork_in_child(self) -> None:
        self._lock = RWLock()  # threads that exist only in the parent may hold the old locks
        self._opening = threading.Lock()

    def _begin(self, *, whole: bool = False) -> LmdbTransaction:
        """Begin a read transaction on the last commit; the caller must end it, and then unshare the `RWLock`.

        With ``whole`` the method refuses a file that lacks pages with content.
        """
        for attempt in range(_ATTEMPTS):
            env = self._enter(write=False)
            try:
                if whole and not self._short:
                    require_whole(env, self.path)
                return env.begin(buffers=True)
            except BaseException as error:
                self._lock.unshare()
                if not isinstance(error, lmdb.MapResizedError) or attempt == _ATTEMPTS - 1:
                    raise
            self.close()  # another process has written, and the file has outgrown the map of this process
        raise AssertionError("unreachable")

    @contextmanager
    def _using(self, *, write: bool = False) -> Iterator[lmdb.Environment]:
        env = self._enter(write=write)
        try:
            yield env
        finally:
            self._lock.unshare()

    def _enter(self, *, write: bool) -> lmdb.Environment:
        """Share the `RWLock` and return LMDB's open environment; the caller must unshare the lock."""
        while True:
            self._lock.share()
            try:
                if self._orphan or self.closed:
                    self._refuse()
                with self._opening:
                    if self._env is None:
                        self._env = self._open()
                    if self._env_writable or not write:
                        return self._env
            except BaseException:
                self._lock.unshare()
                raise
            self._lock.unshare()
            self.close()  # it was opened for reading only, before the first writer came

    def _refuse(self) -> NoReturn:
        if self._orphan:
            raise LockerError(
                f"{self.path}: this process was forked during an open transaction and cannot use the store"
            )
        raise LockerError(f"{self.path}: the store was closed, so it can no longer be used; open it again")

    def _open(self) -> lmdb.Environment:
        writable = self.writers > 0
        for attempt in range(_ATTEMPTS):
            size = map_size(self.path)  # first, because it names a file that is missing or empty
            try:
                if writable:
                    require_writable(self.path)
                    make_lock_file(self.path)
                env = lmdb.open(
                    os.fsencode(self.path),
                    map_size=max(self._wanted, size),
                    subdir=False,
                    create=False,
                    readonly=not writable,
                    lock=writable or readers_lock(self.path),
                    sync=False,
                    metasync=False,
                    max_readers=MAX_READERS,
                    **ENGINE,
                )
            except (lmdb.Error, OSError) as error:
                self._wanted = 0  # the next use tries a small map again
                # another process may have more than doubled the file while this one opened it
                grown = isinstance(error, lmdb.MapResizedError) and attempt < _ATTEMPTS - 1
                if grown or (isinstance(error, lmdb.InvalidError) and restore_meta_page(self.path)):
                    continue
                raise (translate if writable else unreadable)(error, self.path) from error
            try:
                if not self._short:
                    require_whole(env, self.path)
                env.reader_check()
            except BaseException:
                env.close()
                raise
            self._env_writable = writable
            self._wanted = self._last_page = 0
            self._inode = self.path.stat().st_ino
            return env
        raise AssertionError("unreachable")

    def _lengthen(self, env: lmdb.Environment) -> None:
        """Lengthen the file to the length that LMDB states, in a transaction that excludes other writers."""
        last_page = env.info()["last_pgno"]
        if last_page <= self._last_page:
            return  # the file was long enough before
        self._last_page = last_page
        if missing_bytes(env, self.path):
            with suppress(lmdb.Error, OSError), env.begin(write=True):
                size = self.path.stat().st_size
                os.truncate(self.path, size + missing_bytes(env, self.path))

    def _drop_env(self) -> None:
        if self._env is not None:
            self._env.close()
            self._env = None


def map_size(path: Path) -> int:
    """Return the size in bytes of a new memory map of a data file: at least twice the size of the file."""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    size = max(MAP_SIZE if limit == resource.RLIM_INFINITY else MAP_SIZE_IN_LIMITS, 2 * data_size(path))
    return -(-size // _LARGEST_PAGE) * _LARGEST_PAGE


# Reentrant, because the garbage collector may detach a store that was not closed while this thread holds the lock.
_TABLE_LOCK = threading.RLock()
_TABLE: dict[Path, Environment] = {}
_ALL: weakref.WeakSet[Environment] = weakref.WeakSet()
"""All environments of the process, also those of files that were replaced by another file."""


def attach(path: Path, *, writer: bool) -> Environment:
    """Return the environment of a data file for one more store; `detach` undoes the call."""
    path = Path(os.path.realpath(path))
    data_size(path)
    with _TABLE_LOCK:
        environment = _TABLE.get(path)
        if environment is None or environment.replaced():
            environment = _TABLE[path] = Environment(path)
            _ALL.add(environment)
        environment.closed = False
        environment.users += 1
        environment.writers += writer
    return environment


def detach(environment: Environment, *, writer: bool) -> None:
    """Undo `attach` for one store; after the last store, close the file once no transaction runs."""
    with _TABLE_LOCK:
        environment.users -= 1
        environment.writers -= writer
        last = environment.closed = not environment.users
    if last:
        environment.close()  # not under the table's lock, because a running transaction may open another store
        with _TABLE_LOCK:
            if not environment.users and _TABLE.get(environment.path) is environment:
                del _TABLE[environment.path]


def _before_fork() -> None:
    _TABLE_LOCK.acquire()
    for environment in list(_ALL):
        environment.before_fork()


def _after_fork_in_parent() -> None:
    for environment in list(_ALL):
        environment.after_fork_in_parent()
    _TABLE_LOCK.release()


def _after_fork_in_child() -> None:
    global _TABLE_LOCK
    _TABLE_LOCK = threading.RLock()
    for environment in list(_ALL):
        environment.after_fork_in_child()


os.register_at_fork(
    before=_before_fork, after_in_parent=_after_fork_in_parent, after_in_child=_after_fork_in_child
)


class RWLock:
    """A lock that many threads share or one thread holds alone.

    While a thread waits to hold the lock alone, no new thread can share it. A thread that shares the lock already may
    share it again.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition(threading.Lock())
        self._sharing: dict[int, int] = {}  # number of times that each thread shares the lock
        self._alone = False
        self._waiting = 0

    def share(self) -> None:
        """Wait until no thread holds the lock alone or waits to do so, then share it; `unshare` undoes one call."""
        me = threading.get_ident()
        with self._changed:
            if me not in self._sharing:
                while self._alone or self._waiting:
                    self._changed.wait()
                self._sharing[me] = 0
            self._sharing[me] += 1

    def unshare(self) -> None:
        me = threading.get_ident()
        with self._changed:
            self._sharing[me] -= 1
            if not self._sharing[me]:
                del self._sharing[me]
                if self._waiting:
                    self._changed.notify_all()

    def acquire(self, timeout: float | None = None) -> bool:
        """Wait until no thread shares the lock, then hold it alone; return whether this thread now holds it.

        The result is False after ``timeout`` seconds, and at once if this thread shares the lock, because it would wait
        for itself.
        """
        with self._changed:
            if threading.get_ident() in self._sharing:
                return False
            self._waiting += 1
            try:
                if self._changed.wait_for(lambda: not (self._sharing or self._alone), timeout):
                    self._alone = True
                    return True
                return False
            finally:
                self._waiting -= 1
                self._changed.notify_all()

    def release(self) -> None:
        with self._changed:
            self._alone = False
            self._changed.notify_all()

    @contextmanager
    def alone(self) -> Iterator[None]:
        if not self.acquire():
            raise RuntimeError("a thread that shares a lock cannot wait to hold it alone")
        try:
            yield
        finally:
            self.release()
