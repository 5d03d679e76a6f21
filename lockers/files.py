"""The files of a store on disk: a folder with a manifest, LMDB's data file and LMDB's lock file.

The *manifest* names the game and job of the lockers, and the version of the folder's format. A new store's manifest is
written last, and atomically, so a folder with a manifest has all other files.

The *lock file* beside the data file holds LMDB's locks and its table of readers, which tells writers what pages are
still being read. So readers write to the lock file too. Each process that has the data file open in LMDB holds a read
lock on the first byte of the lock file.

Stores open the data file in `lockers.lmdb`; here only `create_data_file` and `copy_used_pages` open it in LMDB.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import mmap
import os
import stat
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

import lmdb

from lockers.errors import DamagedLockerError, LockerError, ManifestMismatchError, translate, unreadable

DATA = "lockers.mdb"
"""Name of the data file of a store."""
LOCK = ".lock"
"""Name of a file that an application may lock while it uses a folder; `lockers` ignores the file."""
FILE = "manifest.json"
REMOVED = f".{FILE}.removed"
"""Name of the manifest after the removal of a store, until a new store is made in the folder."""
TEMPORARY = ".tmp"
FORMAT = 2
"""Version of the folder's format; folders of other versions are refused."""
MOST_KEYS, MOST_CHARACTERS = 6, 60
"""Largest number of differing keys that a `ManifestMismatchError` names, and of characters of each value."""

ENGINE: dict[str, Any] = {"lib_version": 0}  # LMDB 0.9, data version 1
MAX_READERS = 1024
_EMPTY = 2 * mmap.PAGESIZE  # a data file without any commit: LMDB's two meta pages
_LOCK_SIZE = 64 * MAX_READERS + 4096  # 64 bytes for each reader, and a header
_ANYBODY_WRITES = 0o222


def holds_store(folder: Path | str) -> bool:
    """Tell whether a folder holds a store."""
    path = Path(folder) / FILE
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise unreadable(error, path) from error
    return True


def lacks_manifest(folder: Path) -> bool:
    """Tell whether a folder holds the data file of a store, but no manifest."""
    return (folder / DATA).exists() and not holds_store(folder)


def no_manifest(folder: Path) -> LockerError:
    if folder.is_file():
        return LockerError(f"{folder}: expected a folder with a store, found a file")
    if lacks_manifest(folder):
        return DamagedLockerError(f"{folder}: expected {FILE} beside {DATA}, found none")
    return LockerError(f"{folder}: expected a store, found no {FILE}")


def create_folder(
    folder: Path, manifest: Mapping[str, Any], fill: Callable[[Path], None] | None = None
) -> None:
    """Make a store in a missing or empty folder; do nothing if another process has made a store there meanwhile.

    ``fill`` writes the data file before the manifest exists; without ``fill`` the store is empty.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise translate(error, folder, expected="a folder that is there or can be made") from error
    path = folder / DATA
    try:
        with folder_lock(folder):
            if not (folder / FILE).exists():
                if (folder / REMOVED).exists():
                    _remove_data(folder)  # files that an interrupted removal has left
                else:
                    _require_vacant(folder)
                if not path.exists() or not path.stat().st_size:
                    create_data_file(path)
                if fill is not None:
                    _fill(path, fill)
                write_manifest(folder, manifest)
            (folder / REMOVED).unlink(missing_ok=True)
    except OSError as error:
        raise translate(error, folder / FILE) from error


def manifest_of(folder: Path) -> Mapping[str, Any]:
    """Read the manifest of the store in a folder; its data, which may be damaged, is not read."""
    try:
        return read_manifest(folder)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise no_manifest(folder) from error
    except OSError as error:
        raise unreadable(error, folder / FILE) from error


def require_manifest(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Raise a `ManifestMismatchError` unless the store in a folder has a manifest equal to ``manifest``."""
    require_same(normalise(manifest, str(folder)), manifest_of(folder), folder)


def discard_store(folder: Path | str) -> None:
    """Remove the files of a store, which may be damaged, without reading them; other files stay.

    Processes that have the store open keep the old files.
    """
    folder = Path(folder).absolute()
    try:
        with folder_lock(folder):
            (folder / FILE).unlink(missing_ok=True)
            _remove_data(folder)
    except OSError as error:
        raise translate(error, folder / FILE) from error


@contextmanager
def folder_lock(folder: Path) -> Iterator[None]:
    """Let one process at a time create, compact or remove a store; the lock ends at the latest with its process."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError as error:
        raise unreadable(error, folder) from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _fill(path: Path, fill: Callable[[Path], None]) -> None:
    try:
        fill(path)
    except BaseException:
        path.unlink(missing_ok=True)  # a data file without a manifest would look like a damaged store
        raise


def remove_files(folder: Path) -> None:
    """Remove the manifest of a store and then its data; an interruption leaves a folder without a store."""
    (folder / FILE).replace(folder / REMOVED)
    sync_folder(folder)
    _remove_data(folder)


def _remove_data(folder: Path) -> None:
    for pattern in (DATA, f"{DATA}-lock", f".{DATA}.*{TEMPORARY}"):
        for path in folder.glob(pattern):
            path.unlink()


def _require_vacant(folder: Path) -> None:
    """Refuse a folder with files other than `LOCK` and the remains of an interrupted creation of a store."""
    for path in sorted(folder.iterdir()):
        if path.name == DATA and path.stat().st_size > _EMPTY:
            raise DamagedLockerError(f"{folder}: expected {FILE} beside {DATA}, found none")
        if path.name != LOCK and not path.name.startswith((DATA, f".{DATA}", f".{FILE}")):
            raise LockerError(
                f"{folder}: expected a store or an empty folder, found {path.name} and no {FILE}"
            )


def normalise(manifest: Mapping[str, Any], subject: str) -> Mapping[str, Any]:
    """Return a read-only copy of a manifest after a round trip through JSON, which turns tuples into lists.

    ``subject`` is the store, for messages.
    """
    try:
        text = json.dumps(dict(manifest), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise LockerError(f"manifest of {subject}: expected JSON values, found {error}") from error
    return MappingProxyType(json.loads(text))


def require_same(expected: Mapping[str, Any], found: Mapping[str, Any], folder: Path) -> None:
    ours, theirs = dict(_leaves(expected)), dict(_leaves(found))
    keys = [key for key in sorted(ours.keys() | theirs.keys()) if ours.get(key) != theirs.get(key)]
    differences = [
        f"{key}: expected {_short(ours.get(key, 'nothing'))}, found {_short(theirs.get(key, 'nothing'))}"
        for key in keys[:MOST_KEYS]
    ]
    if len(keys) > MOST_KEYS:
        differences.append(f"{len(keys) - MOST_KEYS} more keys differ")
    if keys:
        raise ManifestMismatchError(f"{folder} holds the lockers of another job: " + "; ".join(differences))


def write_manifest(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Write ``manifest.json`` in one step: an interruption leaves the old file, or none."""
    content = {"format": FORMAT, "manifest": dict(manifest)}
    text = json.dumps({**content, "crc32": _checksum(content)}, indent=2) + "\n"
    temporary = folder / f".{FILE}.{os.getpid()}{TEMPORARY}"
    try:
        with temporary.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(folder / FILE)
    finally:
        temporary.unlink(missing_ok=True)
    sync_folder(folder)


def sync_folder(folder: Path) -> None:
    """Wait until the list of a folder's files is on the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read_manifest(folder: Path) -> Mapping[str, Any]:
    """Read and verify ``manifest.json``."""
    path = folder / FILE
    require_no_pipe(path)
    text = path.read_bytes()
    try:
        content = json.loads(text)
        checksum = content.pop("crc32")
        version = content["format"]
    except (ValueError, TypeError, AttributeError, LookupError, RecursionError) as error:
        raise DamagedLockerError(
            f"{path}: expected a JSON object with format, manifest and crc32, found {_short(str(error))}"
        ) from error
    if version != FORMAT:
        raise LockerError(
            f"{path}: expected format version {FORMAT}, found {_short(repr(version))}: "
            "another version of the program made the folder"
        )
    if checksum != _checksum(content):
        raise DamagedLockerError(
            f"{path}: expected checksum {_short(repr(checksum))}, found {_checksum(content)}"
        )
    manifest = content.get("manifest")
    if not isinstance(manifest, dict):
        raise DamagedLockerError(f"{path}: expected a manifest of the job, found {_short(str(content))}")
    return MappingProxyType(manifest)


def require_no_pipe(path: Path) -> None:
    """Refuse a pipe, a socket or a device, because reading it could wait for ever."""
    mode = path.stat().st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise DamagedLockerError(f"{path}: expected a regular file, found something else")


def _checksum(content: Mapping[str, Any]) -> int:
    return zlib.crc32(json.dumps(content, sort_keys=True).encode())


def _leaves(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Yield the dotted key and the value of each leaf of nested mappings, such as ("rows.flop", "40").

    Values are JSON text, which distinguishes 1, true and "1"; 1.0 is written as 1. The dotted key of ``value`` itself
    is ``name``.
    """
    if isinstance(value, Mapping) and (value or not name):
        for key, inner in value.items():
            yield from _leaves(inner, f"{name}.{key}" if name else str(key))
    else:
        yield name, json.dumps(json.loads(json.dumps(value), parse_float=_number), sort_keys=True)


def _number(text: str) -> float:
    value = float(text)
    return int(value) if value.is_integer() else value


def _short(text: str) -> str:
    return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]}..."


def create_data_file(path: Path) -> None:
    try:
        path.touch()
        make_lock_file(path)
        lmdb.open(os.fsencode(path), subdir=False, max_readers=MAX_READERS, **ENGINE).close()
    except (lmdb.Error, OSError) as error:
        raise translate(error, path) from error


def copy_used_pages(path: Path, temporary: Path) -> None:
    """Copy a data file, which nobody has open, without its unused pages; wait until the copy is on the disk."""
    env = lmdb.open(os.fsencode(path), subdir=False, create=False, readonly=True, lock=False, **ENGINE)
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


def data_size(path: Path) -> int:
    try:
        require_no_pipe(path)
        size = path.stat().st_size
    except FileNotFoundError as error:
        raise DamagedLockerError(f"{path}: expected a data file, found none") from error
    except OSError as error:
        raise unreadable(error, path) from error
    if not size:  # LMDB would silently make a new store
        raise DamagedLockerError(f"{path}: expected LMDB pages, found an empty file")
    return size


def missing_bytes(env: lmdb.Environment, path: Path) -> int:
    """Return by how many bytes a data file is shorter than all pages that LMDB has allocated; 0 if it has all pages."""
    size = (int(env.info()["last_pgno"]) + 1) * env.stat()["psize"]
    return max(0, size - path.stat().st_size)


def lock_file(path: Path) -> Path:
    return path.with_name(path.name + "-lock")


def make_lock_file(path: Path) -> None:
    """Create the lock file of a data file and allocate its disk space; correct the permissions of an existing one.

    LMDB would create a file without disk space and map it into memory; on a full disk, writing to the map would end the
    process with SIGBUS. Everybody who may read the data file gets permission to write the lock file. If root creates
    the lock file, it belongs to the owner of the data file.
    """
    owner, lock = path.stat(), lock_file(path)
    mode = owner.st_mode & 0o666 | (owner.st_mode & 0o444) >> 1
    try:
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    except FileExistsError:
        status = lock.stat()
        if status.st_mode & mode != mode and os.geteuid() in (0, status.st_uid):
            lock.chmod(status.st_mode & 0o777 | mode)
        return
    try:
        os.fchmod(descriptor, mode)  # os.open has removed the bits of the umask
        if not os.geteuid():
            os.fchown(descriptor, owner.st_uid, owner.st_gid)
        os.posix_fallocate(descriptor, 0, _LOCK_SIZE)
    except OSError:
        lock.unlink()
        raise
    finally:
        os.close(descriptor)


def require_writable(path: Path) -> None:
    """Refuse to write a data file if this process has no permission to write it.

    If no user has the permission, the function refuses root, too, because readers of such a file take no locks.
    """
    if not _may_write(path) or not path.stat().st_mode & _ANYBODY_WRITES:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), os.fspath(path))


def readers_lock(path: Path) -> bool:
    """Tell whether readers of a data file must take LMDB's locks; create the lock file if they must.

    Readers need no locks if nobody can write: on a read-only file system, or if the file has no write permissions.
    """
    if not path.stat().st_mode & _ANYBODY_WRITES or os.statvfs(path).f_flag & os.ST_RDONLY:
        return False
    lock = lock_file(path)
    if not _may_write(lock):
        with contextlib.suppress(PermissionError):
            make_lock_file(path)
        if not _may_write(lock):
            raise LockerError(
                f"{lock}: expected a lock file that you may write, because reading takes a lock; "
                f"{'you may not write the file' if lock.exists() else 'there is no such file'}: "
                "ask the owner of the folder to open it once, or read a copy of the folder"
            )
    return True


def lock_alone(descriptor: int, path: Path) -> None:
    """Exclude other processes from a data file until the descriptor of its lock file is closed."""
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1)
    except (BlockingIOError, PermissionError) as error:
        raise LockerError(f"{path}: another process has the store open; end that process first") from error


def _may_write(path: Path) -> bool:
    """Tell whether a file exists and may be written.

    The function does not open the file, because closing a file releases all locks of this process on it.
    """
    return os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids)
