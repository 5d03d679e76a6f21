"""The folder of a store: its files, and how they are created and removed."""

from __future__ import annotations

import fcntl
import mmap
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lockers.data_file import create_data_file
from lockers.environment import TEMPORARY
from lockers.errors import DamagedLockerError, LockerError
from lockers.lmdb_errors import translate, unreadable
from lockers.manifest import FILE, normalise, read_manifest, require_same, sync_folder, write_manifest
from lockers.table import attach, detach

DATA = "lockers.mdb"
"""Name of the data file of a store."""
LOCK = ".lock"
"""Name of a file that an application may lock while it uses a folder; `lockers` ignores the file."""
REMOVED = f".{FILE}.removed"
"""Name of the manifest after the removal of a store, until a new store is made in the folder."""

_EMPTY = 2 * mmap.PAGESIZE
"""Size in bytes of a data file without any commit: LMDB's two meta pages."""


def holds_store(folder: Path | str) -> bool:
    """Tell whether a folder holds a store.

    Raises:
        LockerError: The folder cannot be read.
    """
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
    """Make the error for a folder without a manifest."""
    if folder.is_file():
        return LockerError(f"{folder}: expected a folder with a store, found a file")
    if lacks_manifest(folder):
        return DamagedLockerError(f"{folder}: expected {FILE} beside {DATA}, found none")
    return LockerError(f"{folder}: expected a store, found no {FILE}")


def create_folder(
    folder: Path, manifest: Mapping[str, Any], fill: Callable[[Path], None] | None = None
) -> None:
    """Make a store in a missing or empty folder; do nothing if another process has made a store there meanwhile.

    Args:
        folder: The folder.
        manifest: The manifest of the new store.
        fill: Function that writes the data file, given its path, before the manifest exists; None for an empty store.

    Raises:
        LockerError: The folder cannot be made or written, or holds other files.
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
    """Read the manifest of the store in a folder; its data, which may be damaged, is not read.

    Raises:
        LockerError: The folder holds no store, or its manifest cannot be read, is damaged or of another version.
    """
    try:
        return read_manifest(folder)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise no_manifest(folder) from error
    except OSError as error:
        raise unreadable(error, folder / FILE) from error


def require_manifest(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Check that the store in a folder has a manifest.

    Raises:
        ManifestMismatchError: The folder holds the lockers of another job.
        LockerError: For the reasons of `manifest_of`.
    """
    require_same(normalise(manifest, str(folder)), manifest_of(folder), folder)


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
                _remove(folder)
                return
            environment = attach(path, writer=False)
            try:
                if environment.users > 1:
                    raise LockerError(
                        f"{folder}: this process has the store open; close it before its removal"
                    )
                with environment.alone():
                    _remove(folder)
            finally:
                detach(environment, writer=False)
    except OSError as error:
        raise translate(error, folder / FILE) from error


def discard_store(folder: Path | str) -> None:
    """Remove the files of a store, which may be damaged, without reading them; other files stay.

    Processes that have the store open keep the old files.

    Raises:
        LockerError: The folder or a file cannot be removed.
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


def _remove(folder: Path) -> None:
    (folder / FILE).replace(folder / REMOVED)
    sync_folder(folder)
    _remove_data(folder)


def _remove_data(folder: Path) -> None:
    for pattern in (DATA, f"{DATA}-lock", f".{DATA}.*{TEMPORARY}"):
        for path in folder.glob(pattern):
            path.unlink()


def _require_vacant(folder: Path) -> None:
    """Refuse a folder with files, except those that an interrupted creation of a store leaves.

    Raises:
        DamagedLockerError: The folder has a data file with content, but no manifest.
        LockerError: The folder has other files.
    """
    for path in sorted(folder.iterdir()):
        if path.name == DATA and path.stat().st_size > _EMPTY:
            raise DamagedLockerError(f"{folder}: expected {FILE} beside {DATA}, found none")
        if path.name != LOCK and not path.name.startswith((DATA, f".{DATA}", f".{FILE}")):
            raise LockerError(
                f"{folder}: expected a store or an empty folder, found {path.name} and no {FILE}"
            )
