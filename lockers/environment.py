"""The LMDB environment of a store's data file, as one process uses it.

LMDB asks five things of a process:

- *A file must not be opened twice in a process.* All stores share a table of environments (`lockers.table`).
- *The map may change its size only while the process has no transaction.* Transactions share an `RWLock`. A thread
  that finds the map full, or enlarged by another process, takes the lock alone, resizes the map and runs the
  transaction again.
- *An environment must not be used after a fork*, and closing an inherited one in the child would take the parent's
  readers out of the table of readers. So the parent closes its environments before it forks, and both sides open
  them again when they need them. Where a transaction runs and does not end, the child refuses to use the store.
- *A mapped file must not be shorter than LMDB says*: a missing page, once touched, ends the process with SIGBUS. The
  size is compared when the file is opened, and a lock file gets its blocks when it is made.
- *A reader must be able to write the lock file*, unless nobody may write the data file (`lockers.lock_file`).
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn, TypeAlias, TypeVar

import lmdb

from lockers.audit import data_file_findings, structure_findings
from lockers.data_file import ENGINE, copy_used_pages, data_size, missing_bytes, rounded
from lockers.errors import DamagedLockerError, LockerError
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

T = TypeVar("T")
LmdbTransaction: TypeAlias = "lmdb.Transaction[memoryview]"

MAP_SIZE = 64 * 2**20
"""Initial address space of a map in bytes; the map grows by itself."""
TEMPORARY = ".tmp"

_ATTEMPTS = 100  # a file that another process makes larger doubles: more attempts mean damage
_FORK_PATIENCE = 10.0  # seconds
_WHOLE_PATIENCE = 0.05  # seconds in which another process makes a file as long as LMDB says after its commit


@dataclass
class Need:
    """Number of bytes that a transaction has written so far; a full map must grow by as many."""

    size: int = 0


class Environment:
    """An LMDB environment that is opened when needed, grows by itself and survives a fork.

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

    def read(self, body: Callable[[LmdbTransaction], T]) -> T:
        """Run ``body`` on the last commit and return its answer, again if the map must be resized first."""
        for attempt in range(_ATTEMPTS):
            env = self._enter(write=False)
            try:
                with env.begin(buffers=True) as transaction:
                    return body(transaction)
            except lmdb.MapResizedError as error:
                if attempt == _ATTEMPTS - 1:
                    raise translate(error, self.path) from error
            except (lmdb.Error, OSError) as error:
                raise translate(error, self.path) from error
            finally:
                self._lock.unshare()
            self._resize(0)
        raise AssertionError("unreachable")

    def write(self, body: Callable[[LmdbTransaction, Need], T]) -> T:
        """Run ``body`` in a write transaction and commit it, again with a larger map when the map is full."""
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
                # A commit of this process failed at the very last step; a new environment is sound again.
                if panicked:
                    raise translate(error, self.path) from error
                panicked, map_size = True, -1
            except (lmdb.Error, OSError) as error:
                raise translate(error, self.path, need.size) from error
            finally:
                self._lock.unshare()
            self.close() if map_size < 0 else self._resize(map_size)

    def commit(self) -> int:
        """Return the number of the last commit, of any process."""
        env = self._enter(write=False)
        try:
            return int(env.info()["last_txnid"])
        finally:
            self._lock.unshare()

    def replaced(self) -> bool:
        """Return whether another file has the path of the file that is open."""
        return self._env is not None and self.path.stat().st_ino != self._inode

    def sync(self) -> None:
        """Wait until all commits, of any process, are on the disk."""
        env = self._enter(write=True)
        try:
            env.sync(True)
        except lmdb.Error as error:
            raise translate(error, self.path) from error
        finally:
            self._lock.unshare()

    def probe(self) -> None:
        """Open the environment now, so that an error about the file is raised now."""
        self._enter(write=self.writers > 0)
        self._lock.unshare()

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Exclude all other threads and processes while the block runs; the environment is closed meanwhile.

        A process that has the file open in LMDB holds a read lock on the first byte of the lock file. Whoever holds
        the write lock is alone, and others who open the file wait until it is released. This process must not have
        the lock file open elsewhere: closing a file gives up all of a process's locks on it.
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
        """Replace the file by a copy without unused pages, in one step that happens wholly or not at all."""
        with self.alone():
            size = self.path.stat().st_size
            for orphaned in self.path.parent.glob(f".{self.path.name}.*{TEMPORARY}"):
                orphaned.unlink()  # of a process that was killed
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
        """Write the last commit, without unused pages, to a new file; others may write meanwhile."""
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
        """Close the environment once no transaction runs; the next use opens it again."""
        if self._orphan:
            return  # closing what belongs to the parent would hide the parent's readers from its writers
        with self._lock.alone():
            self._drop_env()

    def before_fork(self) -> None:
        """Close the environment and keep all threads out; give up on a transaction that does not end."""
        self._orphan = not self._lock.acquire(_FORK_PATIENCE)
        if not self._orphan:
            self._drop_env()

    def after_fork_in_parent(self) -> None:
        """Let all threads in again."""
        if not self._orphan:
            self._lock.release()
        self._orphan = False

    def after_fork_in_child(self) -> None:
        """Start with new locks: the old ones may belong to threads that this process does not have."""
        self._lock = RWLock()
        self._opening = threading.Lock()

    def _enter(self, *, write: bool) -> lmdb.Environment:
        """Share the lock and return the environment; the caller calls ``unshare``."""
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
            self.close()  # it was opened for readers only, before the first writer came

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
            except lmdb.MapResizedError as error:
                if attempt < _ATTEMPTS - 1:
                    continue  # another process has more than doubled the file while this one opened it
                raise translate(error, self.path) from error
            except (lmdb.Error, OSError) as error:
                raise (translate if writable else unreadable)(error, self.path) from error
            try:
                self._require_whole(env)
                env.reader_check()
            except BaseException:
                env.close()
                raise
            self._env_writable = writable
            self._map_size, self._last_page = env.info()["map_size"], 0
            self._inode = self.path.stat().st_ino
            return env
        raise AssertionError("unreachable")

    def _require_whole(self, env: lmdb.Environment) -> None:
        """Refuse a file that lacks pages in use.

        LMDB never writes pages at the end of the file that one transaction takes and gives back. A writer makes the
        file as long as LMDB says after its commit; a writer that is killed before leaves a shorter file, which the
        audit tells from a file that was cut off.
        """
        patience = time.monotonic() + _WHOLE_PATIENCE
        while not self._short and (missing := missing_bytes(env, self.path)):
            if time.monotonic() < patience:
                time.sleep(_WHOLE_PATIENCE / 20)
                continue
            findings = structure_findings(self.path, lambda: int(env.info()["last_txnid"]))
            findings = findings or data_file_findings(self.path, short=True)
            if findings:
                size = self.path.stat().st_size
                raise DamagedLockerError(
                    f"{self.path}: expected {size + missing} bytes, found {size}, "
                    f"and the missing ones are in use: {findings[0]}"
                )
            return

    def _lengthen(self, env: lmdb.Environment) -> None:
        """Extend the file to LMDB's length; the transaction excludes other writers meanwhile."""
        last_page = env.info()["last_pgno"]
        if last_page <= self._last_page:
            return  # the file was long enough before
        self._last_page = last_page
        if missing_bytes(env, self.path):
            with contextlib.suppress(lmdb.Error, OSError), env.begin(write=True):
                size = self.path.stat().st_size
                os.truncate(self.path, size + missing_bytes(env, self.path))

    def _resize(self, map_size: int) -> None:
        """Enlarge the map to at least ``map_size``; 0 adopts the size that another process has given it."""
        with self._lock.alone():
            if self._env is None:
                return  # another thread has closed it
            if map_size and map_size <= self._map_size:
                return  # another thread was here first
            try:
                self._env.set_mapsize(rounded(map_size))
            except lmdb.Error as error:
                # LMDB has let go of the old map by now: without the new one the environment is of no use.
                self._drop_env()
                raise translate(error, self.path, map_size) from error
            self._map_size = self._env.info()["map_size"]

    def _drop_env(self) -> None:
        if self._env is not None:
            self._env.close()
            self._env = None
