"""A data file that one process has open in LMDB. LMDB calls an open data file an *environment*.

LMDB asks five things of a process:

- *A process must not open a file twice.* All stores share a table of environments (`lockers.table`).
- *The memory map may change its size only while the process has no transaction.* Transactions share an `RWLock`. A
  thread that finds the map full, or enlarged by another process, takes the lock alone, resizes the map and runs its
  transaction again.
- *A child process must not use an environment that was opened before the fork*, nor close it, because that would remove
  the parent's readers from LMDB's table of readers. So a process closes its environments before it forks; parent and
  child open them again when they need them. If a transaction does not end in time, the child refuses to use the store.
- *A mapped file must not be shorter than LMDB says*: reading a missing page ends the process with SIGBUS. The size is
  checked when the file is opened, and a new lock file gets its disk space at once.
- *A reader must be able to write the lock file*, unless nobody may write the data file (`lockers.lock_file`).
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn, TypeAlias, TypeVar

import lmdb

from lockers.data_file import ENGINE, copy_used_pages, data_size, missing_bytes, rounded
from lockers.errors import LockerError
from lockers.lmdb_errors import translate, unreadable
from lockers.lock_file import (
    MAX_READERS,
    lock_alone,
    lock_file,
    make_lock_file,
    readers_lock,
    require_writable,
)
from lockers.manifest import sync_folder
from lockers.rwlock import RWLock
from lockers.whole import require_whole, restore_meta_page

T = TypeVar("T")
LmdbTransaction: TypeAlias = "lmdb.Transaction[memoryview]"

MAP_SIZE = 64 * 2**20
"""Initial size of a memory map in bytes; the map grows when it is full."""
TEMPORARY = ".tmp"

_ATTEMPTS = 100  # each attempt follows a doubling of the file, so more attempts mean a damaged file
_FORK_PATIENCE = 10.0  # seconds to wait for the end of a transaction before a fork


@dataclass
class Need:
    """Number of bytes that a transaction has written so far; a full map grows by at least twice as many."""

    size: int = 0


class Environment:
    """A data file in LMDB that is opened at first use, enlarges its memory map when needed and survives a fork.

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
        self._map_size = rounded(MAP_SIZE)
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

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[int]:
        """Let all reads of this thread see one commit while the ``with`` block runs; yield the number of the commit.

        Raises:
            DamagedLockerError: The file lacks pages that are in use.
        """
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

    def write(self, body: Callable[[LmdbTransaction, Need], T]) -> T:
        """Run ``body`` in a write transaction, commit, and return the result of ``body``.

        ``body`` runs again with a larger memory map when the map is full.
        """
        panicked = False
        while True:
            env = self._enter(write=True)
            map_size = self._map_size
            need = Need()
            try:
                with env.begin(write=True, buffers=True) as transaction:
                    answer = body(transaction, need)
                self._lengthen(env)
                return answer
            except lmdb.MapFullError:
                map_size = max(2 * map_size, map_size + 2 * need.size)
            except lmdb.MapResizedError:
                map_size = 0
            except lmdb.PanicError as error:
                # The last step of a commit failed in this process; the file can be used after it is opened again.
                if panicked:
                    raise translate(error, self.path) from error
                panicked, map_size = True, -1
            except (lmdb.Error, OSError) as error:
                raise translate(error, self.path, need.size) from error
            finally:
                self._lock.unshare()
            self.close() if map_size < 0 else self._resize(map_size)

    def commit(self) -> int:
        """Return the number of the last commit, which any process may have made."""
        env = self._enter(write=False)
        try:
            return int(env.info()["last_txnid"])
        finally:
            self._lock.unshare()

    def replaced(self) -> bool:
        """Return whether another file has taken the path of the open file."""
        return self._env is not None and self.path.stat().st_ino != self._inode

    def sync(self) -> None:
        """Wait until the commits of all processes are on the disk."""
        env = self._enter(write=True)
        try:
            env.sync(True)
        except lmdb.Error as error:
            raise translate(error, self.path) from error
        finally:
            self._lock.unshare()

    def probe(self) -> None:
        """Open the file now, so that errors in opening it are raised now and not at first use.

        A file that was cut off after its opening raises a `DamagedLockerError`, too.
        """
        opened_before = self._env is not None
        env = self._enter(write=self.writers > 0)
        try:
            if opened_before and not self._short:
                require_whole(env, self.path)
        except (lmdb.Error, OSError) as error:
            raise unreadable(error, self.path) from error
        finally:
            self._lock.unshare()

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Close the file and keep all other threads and processes away from it while the ``with`` block runs.

        Each process that has the file open in LMDB holds a read lock on the first byte of the lock file. This method
        takes the write lock on that byte. Processes that open the file meanwhile wait until the block has ended. This
        process must not have the lock file open anywhere else, because closing a file releases all its locks.

        Raises:
            LockerError: Another process has the file open.
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
        """Replace the file by a copy without unused pages; an interruption leaves the old file."""
        with self.alone():
            size = self.path.stat().st_size
            for orphaned in self.path.parent.glob(f".{self.path.name}.*{TEMPORARY}"):
                orphaned.unlink()  # a killed process has left it
            temporary = self.path.with_name(f".{self.path.name}.{os.getpid()}{TEMPORARY}")
            try:
                copy_used_pages(self.path, temporary, rounded(2 * size))
                temporary.replace(self.path)
                sync_folder(self.path.parent)
            except (lmdb.Error, OSError) as error:
                raise translate(error, self.path, size) from error
            finally:
                temporary.unlink(missing_ok=True)

    def copy(self, target: Path) -> None:
        """Write the last commit, without unused pages, to a new file; threads and processes may write meanwhile."""
        while True:
            env = self._enter(write=False)
            try:
                with target.open("wb") as file:
                    env.copyfd(file.fileno(), compact=True)
                    os.fsync(file.fileno())
                return
            except lmdb.MapResizedError:
                pass
            except (lmdb.Error, OSError) as error:
                raise translate(error, target) from error
            finally:
                self._lock.unshare()
            self._resize(0)

    def close(self) -> None:
        """Close the file once no transaction runs; the next use opens it again."""
        if self._orphan:
            return  # closing the parent's environment would hide the parent's readers from writers
        with self._lock.alone():
            self._drop_env()

    def before_fork(self) -> None:
        """Close the file and keep all threads away from it; give up if a transaction does not end in time."""
        self._orphan = not self._lock.acquire(_FORK_PATIENCE)
        if not self._orphan:
            self._drop_env()

    def after_fork_in_parent(self) -> None:
        """Let the threads of the parent process use the file again."""
        if not self._orphan:
            self._lock.release()
        self._orphan = False

    def after_fork_in_child(self) -> None:
        """Replace the locks in the child process; threads that exist only in the parent may hold the old locks."""
        self._lock = RWLock()
        self._opening = threading.Lock()

    def _begin(self, *, whole: bool = False) -> LmdbTransaction:
        """Begin a read transaction on the last commit; the caller must end it, and then unshare the lock.

        Args:
            whole: Whether to refuse a file that was cut off after it was opened.
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
            self._resize(0)  # another process has enlarged the map
        raise AssertionError("unreachable")

    def _enter(self, *, write: bool) -> lmdb.Environment:
        """Share the lock and return the environment, opened if needed; the caller must call ``unshare``.

        Args:
            write: Whether the caller will write.
        """
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
            size = data_size(self.path)
            try:
                if writable:
                    require_writable(self.path)
                    make_lock_file(self.path)
                env = lmdb.open(
                    os.fsencode(self.path),
                    map_size=max(self._map_size, rounded(2 * size)),
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
            self._map_size, self._last_page = env.info()["map_size"], 0
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
            with contextlib.suppress(lmdb.Error, OSError), env.begin(write=True):
                size = self.path.stat().st_size
                os.truncate(self.path, size + missing_bytes(env, self.path))

    def _resize(self, map_size: int) -> None:
        """Enlarge the memory map to at least ``map_size`` bytes; 0 adopts the size that another process has set."""
        with self._lock.alone():
            if self._env is None:
                return  # another thread has closed the file
            if map_size and map_size <= self._map_size:
                return  # another thread has resized the map
            try:
                self._env.set_mapsize(rounded(map_size))
            except lmdb.Error as error:
                # LMDB has removed the old map, so the environment cannot be used without the new map.
                self._drop_env()
                raise translate(error, self.path, map_size) from error
            self._map_size = self._env.info()["map_size"]

    def _drop_env(self) -> None:
        if self._env is not None:
            self._env.close()
            self._env = None
