"""One LMDB file of a store, as one process uses it.

What LMDB asks of a process, and how it is kept here:

- *A file must not be opened twice in a process.* All stores share a table of shards, by device and inode.
- *The map may change its size only while the process has no transaction.* Transactions pass a `Gate`;
  whoever finds the map full, or enlarged by another process, closes the gate, resizes and runs the
  transaction again.
- *An environment must not be used after a fork*, and closing an inherited one in the child would take the
  parent's readers out of the reader table. So the parent closes its environments before it forks, and both
  sides open them again when they need them. Where that is impossible (a transaction is running and does not
  end) the child refuses to use the shard.
- *Memory-mapped files must not be shorter than they claim*: a missing page, once touched, ends the process
  with SIGBUS. `lockers.metapages` judges the file before LMDB maps it, and a lock file gets its blocks when
  it is made.
- *A reader must be able to write the lock file.* One that may not, or finds none, reads without LMDB
  (`lockers.unlocked`): it makes no file that would then be its own and not the owner's.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import lmdb

from lockers.errors import BusyLockerError, DamagedLockerError, LockerError
from lockers.gate import Gate
from lockers.lmdb_errors import translate, unreadable
from lockers.lock_file import MAX_READERS, lock_alone, lock_file, make_lock_file, may_write
from lockers.manifest import require_no_pipe, sync_folder
from lockers.metapages import read_meta_pages
from lockers.snapshot import LmdbSnapshot, LmdbTransaction, Snapshot
from lockers.structure import structure_findings
from lockers.unlocked import UnlockedFile

T = TypeVar("T")

MAP_SIZE = 64 * 2**20
"""Bytes of address space that a shard begins with; it grows by itself."""

TEMPORARY = ".tmp"

_ROUND = 2**16  # the largest page size of any platform
_FORK_PATIENCE = 10.0  # seconds
# Data version 1, which `lockers.metapages` knows; lmdb before 3.0 has no other and no such argument.
_ENGINE: dict[str, Any] = {"lib_version": 0} if int(lmdb.__version__.split(".")[0]) >= 3 else {}


@dataclass
class Need:
    """How many bytes a transaction has put so far: what a full map must make room for."""

    size: int = 0


class Shard:
    """An LMDB environment that is opened when needed, grows by itself and survives a fork.

    Where the lock file cannot be written, readers have an `UnlockedFile` in the environment's place.

    Parameters
    ----------
    path : Path
        The data file; the lock file stands beside it under the same name and ``-lock``.

    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.users = 0
        self.writers = 0
        self._map_size = _rounded(MAP_SIZE)
        self._env: lmdb.Environment | UnlockedFile | None = None
        self._env_writable = False
        self._gate = Gate()
        self._opening = threading.Lock()
        self._orphan = False

    def read(self, body: Callable[[Snapshot], T]) -> T:
        """Run ``body`` on a snapshot, again if that cannot be held. It must have no effects but its answer.

        Raises:
        ------
        BusyLockerError
            The lock file cannot be written, and none of several snapshots lasted until ``body`` was done.

        """
        while True:
            env = self._enter(write=False)
            try:
                if isinstance(env, UnlockedFile):
                    return env.read(body)
                with env.begin(buffers=True) as transaction:
                    # Who writes misses many keys in the first sweep, and would pay for each.
                    asked = None if self.writers else self._require_absent
                    return body(LmdbSnapshot(transaction, asked))
            except lmdb.MapResizedError:
                pass
            except (lmdb.Error, OSError) as error:
                raise translate(error, self.path) from error
            finally:
                self._gate.leave()
            self._resize(0)

    def write(self, body: Callable[[LmdbTransaction, Need], T]) -> T:
        """Run ``body`` in a write transaction and commit it, again with a larger map when the map is full."""
        panicked = False
        while True:
            env = self._enter_to_write()
            map_size = self._map_size
            need = Need()
            try:
                with env.begin(write=True, buffers=True) as transaction:
                    return body(transaction, need)
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
                self._gate.leave()
            self._close() if map_size < 0 else self._resize(map_size)

    def sync(self) -> None:
        """Wait until what was committed, by any process, is on the disk."""
        env = self._enter_to_write()
        try:
            env.sync(True)
        except lmdb.Error as error:
            raise translate(error, self.path) from error
        finally:
            self._gate.leave()

    def probe(self) -> None:
        """Open the environment now, so that whatever is wrong with it is told now."""
        self._enter(write=self.writers > 0)
        self._gate.leave()

    def attach(self, *, writer: bool) -> None:
        """Count one more store that uses this shard."""
        self.users += 1
        self.writers += writer

    def detach(self, *, writer: bool) -> None:
        """Count one store less, and close the environment after the last."""
        self.users -= 1
        self.writers -= writer
        if not self.users:
            self._close()

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Keep everybody out, other processes too, while the block runs; the environment is closed meanwhile.

        A process that has the file open in LMDB holds a read lock on the first byte of the lock file. Whoever
        holds the write lock is alone, and others who open the file wait until it is released. This process
        must not have the lock file open elsewhere: closing a file gives up all of a process's locks on it.
        """
        if self._orphan:
            raise LockerError(f"{self.path}: expected a process that was not forked in a transaction")
        with self._gate.closed():
            self._drop_env()
            try:
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
        """Put a copy without unused pages in the file's place: all of it is there, or the file as it was."""
        with self.alone():
            used = _sound_size(self.path)
            for left in self.path.parent.glob(f".{self.path.name}.*{TEMPORARY}"):
                left.unlink()  # of a process that was killed
            temporary = self.path.with_name(f".{self.path.name}.{os.getpid()}{TEMPORARY}")
            try:
                _copy_used_pages(self.path, temporary, _rounded(2 * used))
                temporary.replace(self.path)
                sync_folder(self.path.parent)
            except (lmdb.Error, OSError) as error:
                raise translate(error, self.path, used) from error
            finally:
                temporary.unlink(missing_ok=True)

    def copy(self, target: Path) -> None:
        """Write a snapshot of the file, without unused pages, to a new one; others may write meanwhile."""
        findings = structure_findings(self.path)
        if findings:
            raise DamagedLockerError(f"{self.path}: expected sound LMDB pages, found: {findings[0]}")
        while True:
            env = self._enter(write=False)
            try:
                if isinstance(env, UnlockedFile):
                    raise BusyLockerError(f"{lock_file(self.path)}: expected a lock file that can be written")
                with target.open("wb") as file:
                    env.copyfd(file.fileno(), compact=True)
                    os.fsync(file.fileno())
                return
            except lmdb.MapResizedError:
                pass
            except (lmdb.Error, OSError) as error:
                raise translate(error, target) from error
            finally:
                self._gate.leave()
            self._resize(0)

    def before_fork(self) -> None:
        """Close the environment and keep everybody out; give up on a transaction that does not end."""
        self._orphan = not self._gate.close(_FORK_PATIENCE)
        if not self._orphan:
            self._drop_env()

    def after_fork_in_parent(self) -> None:
        """Let everybody in again."""
        if not self._orphan:
            self._gate.open()
        self._orphan = False

    def after_fork_in_child(self) -> None:
        """Start with new locks: the old ones may belong to threads that this process does not have."""
        self._gate = Gate()
        self._opening = threading.Lock()

    def _require_absent(self, full: bytes) -> None:
        """Refuse damaged pages on the way to where a key would be; nothing is said of pages that never rest."""
        file = UnlockedFile(self.path)
        try:
            with contextlib.suppress(BusyLockerError):
                file.read(lambda snapshot: snapshot.get(full))
        finally:
            file.close()

    def _enter_to_write(self) -> lmdb.Environment:
        env = self._enter(write=True)
        assert not isinstance(env, UnlockedFile)
        return env

    def _enter(self, *, write: bool) -> lmdb.Environment | UnlockedFile:
        """Pass the gate and return the environment; the caller leaves the gate."""
        while True:
            self._gate.enter()
            try:
                if self._orphan:
                    raise LockerError(
                        f"{self.path}: expected a process that was forked while no transaction ran, "
                        f"found one that was forked in the middle of one"
                    )
                with self._opening:
                    if self._env is None:
                        self._env = self._open()
                    if self._env_writable or not write:
                        return self._env
            except BaseException:
                self._gate.leave()
                raise
            self._gate.leave()
            self._close()  # it was opened for readers only, before the first writer came

    def _open(self) -> lmdb.Environment | UnlockedFile:
        writable = self.writers > 0
        while True:
            used = _sound_size(self.path)
            try:
                if writable:
                    make_lock_file(self.path)
                elif not may_write(lock_file(self.path)):
                    self._env_writable = False
                    return UnlockedFile(self.path)
                env = lmdb.open(
                    os.fsencode(self.path),
                    map_size=max(self._map_size, _rounded(2 * used)),
                    subdir=False,
                    create=False,
                    readonly=not writable,
                    sync=False,
                    metasync=False,
                    max_readers=MAX_READERS,
                    **_ENGINE,
                )
            except lmdb.MapResizedError:
                continue  # another process has more than doubled the file while this one opened it
            except (lmdb.Error, OSError) as error:
                raise translate(error, self.path) from error
            env.reader_check()
            self._env_writable = writable
            self._map_size = env.info()["map_size"]
            return env

    def _resize(self, map_size: int) -> None:
        """Enlarge the map to at least ``map_size``; 0 adopts what another process has made of it."""
        with self._gate.closed():
            if self._env is None or isinstance(self._env, UnlockedFile):
                return  # another thread has closed it
            if map_size and map_size <= self._map_size:
                return  # another thread was here first
            try:
                self._env.set_mapsize(_rounded(map_size))
            except lmdb.Error as error:
                # LMDB has let go of the old map by now: without the new one the environment is of no use.
                self._drop_env()
                raise translate(error, self.path, map_size) from error
            self._map_size = self._env.info()["map_size"]

    def _close(self) -> None:
        if self._orphan:
            return  # closing what belongs to the parent would hide the parent's readers from its writers
        with self._gate.closed():
            self._drop_env()

    def _drop_env(self) -> None:
        if self._env is not None:
            self._env.close()
            self._env = None


def create_shard_file(path: Path) -> None:
    """Create an empty data file and its lock file."""
    try:
        make_lock_file(path)
        lmdb.open(os.fsencode(path), subdir=False, create=False, max_readers=MAX_READERS, **_ENGINE).close()
    except (lmdb.Error, OSError) as error:
        raise translate(error, path) from error


def _copy_used_pages(path: Path, temporary: Path, map_size: int) -> None:
    """Copy a data file that nobody has open; the copy is on the disk itself when this returns."""
    env = lmdb.open(
        os.fsencode(path), map_size=map_size, subdir=False, create=False, readonly=True, lock=False, **_ENGINE
    )
    try:
        owner = path.stat()
        descriptor = os.open(
            temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, owner.st_mode & 0o777
        )
        try:
            if not os.geteuid():
                os.fchown(descriptor, owner.st_uid, owner.st_gid)
            env.copyfd(descriptor, compact=True)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    finally:
        env.close()


def attach_shard(path: Path, *, writer: bool) -> Shard:
    """Return this process's shard for a data file, the same for all stores."""
    with _TABLE_LOCK:
        try:
            require_no_pipe(path)
            status = path.stat()
        except OSError as error:
            raise _no_data_file(path, error) from error
        shard = _TABLE.setdefault((status.st_dev, status.st_ino), Shard(path))
        shard.attach(writer=writer)
    return shard


def detach_shard(shard: Shard, *, writer: bool) -> None:
    """Undo `attach_shard`."""
    with _TABLE_LOCK:
        shard.detach(writer=writer)
        if not shard.users:
            for key in [key for key, value in _TABLE.items() if value is shard]:
                del _TABLE[key]


def compact_shard(shard: Shard) -> None:
    """Compact a shard. The table is held: nobody may open or inherit a file that is being replaced."""
    with _TABLE_LOCK:
        shard.compact()
        status = shard.path.stat()
        for key in [key for key, value in _TABLE.items() if value is shard]:
            del _TABLE[key]
        _TABLE[status.st_dev, status.st_ino] = shard


def _sound_size(path: Path) -> int:
    """Return the bytes that a data file has in use, or raise `DamagedLockerError`."""
    try:
        pages = read_meta_pages(path)
        size = path.stat().st_size
    except OSError as error:
        raise _no_data_file(path, error) from error
    if size < pages.size:
        # Pages that were taken and given back within one transaction at the end of the file were never
        # written, so a file may be shorter than it says. Only a walk can tell that from one that was cut
        # off.
        findings = structure_findings(path)
        if findings:
            raise DamagedLockerError(
                f"{path}: expected {pages.size} bytes, found {size}, "
                f"and the missing ones are in use: {findings[0]}"
            )
    return pages.size


def _no_data_file(path: Path, error: OSError) -> LockerError:
    if isinstance(error, FileNotFoundError):
        return DamagedLockerError(f"{path}: expected a shard's data file, found none")
    return unreadable(error, path)


def _rounded(size: int) -> int:
    return -(-size // _ROUND) * _ROUND


# Reentrant: a store that is forgotten without being closed lets go of its shards whenever the collector
# finds it.
_TABLE_LOCK = threading.RLock()
_TABLE: dict[tuple[int, int], Shard] = {}


def _before_fork() -> None:
    _TABLE_LOCK.acquire()
    for shard in _TABLE.values():
        shard.before_fork()


def _after_fork_in_parent() -> None:
    for shard in _TABLE.values():
        shard.after_fork_in_parent()
    _TABLE_LOCK.release()


def _after_fork_in_child() -> None:
    global _TABLE_LOCK
    _TABLE_LOCK = threading.RLock()
    for shard in _TABLE.values():
        shard.after_fork_in_child()


os.register_at_fork(
    before=_before_fork, after_in_parent=_after_fork_in_parent, after_in_child=_after_fork_in_child
)
