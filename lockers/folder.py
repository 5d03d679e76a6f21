"""The folder of a store: which files lie in it, and how they come into being."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from lockers.errors import DamagedLockerError, LockerError
from lockers.lmdb_errors import translate, unreadable
from lockers.manifest import FILE, Header, read_header, sync_folder, write_header
from lockers.metapages import read_meta_pages
from lockers.shard import (
    TEMPORARY,
    attach_shard,
    create_shard_file,
    detach_shard,
)

LOCK = ".lock"
"""Name of a file that an application may lock while it works in a folder; this package ignores the file."""
REMOVED = f".{FILE}.removed"
"""What a manifest is called from the beginning of a removal until a new store is made in its folder."""


def shard_path(folder: Path, number: int) -> Path:
    """Return the data file of a shard."""
    return folder / f"shard-{number:03d}.mdb"


def holds_store(folder: Path | str) -> bool:
    """Return whether a store is in a folder; False, too, where there is no folder.

    Raises:
    ------
    LockerError
        The folder may not be looked into.

    """
    path = Path(folder) / FILE
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise unreadable(error, path) from error
    return True


def no_manifest(folder: Path) -> LockerError:
    """Return what it means that a folder has no manifest."""
    if folder.is_file():
        return LockerError(f"{folder}: expected a folder with a store, found a file")
    if any(folder.glob("shard-*.mdb")):
        return DamagedLockerError(f"{folder}: expected {FILE} beside the shards, found none")
    return LockerError(f"{folder}: expected a store, found no {FILE}")


def create_folder(
    folder: Path, header: Header, fill: Callable[[int, Path], None] = lambda number, path: None
) -> None:
    """Make a store of a missing or empty folder, unless another process does so first.

    ``fill`` may put something into each shard, before there is a store.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise translate(error, folder, expected="a folder that is there or can be made") from error
    try:
        with folder_lock(folder):
            if not (folder / FILE).exists():
                if (folder / REMOVED).exists():
                    _remove_shards(folder)  # what an interrupted removal has left
                else:
                    _require_vacant(folder)
                for number in range(header.shards):
                    path = shard_path(folder, number)
                    if not path.exists() or not path.stat().st_size:
                        create_shard_file(path)
                    fill(number, path)
                write_header(folder, header)
            (folder / REMOVED).unlink(missing_ok=True)
    except OSError as error:
        raise translate(error, folder / FILE) from error


def remove_store(folder: Path | str) -> None:
    """Remove the store in a folder; other files stay, and a new store may be made among them.

    There is no store from the first moment on. What an interruption leaves goes when the new one is made.

    Raises:
    ------
    LockerError
        No store is there, or somebody has it open, in this process or in another one.

    """
    folder = Path(folder).absolute()
    if not holds_store(folder):
        raise no_manifest(folder)
    try:
        with folder_lock(folder), ExitStack() as stack:
            for number in range(read_header(folder).shards):
                path = shard_path(folder, number)
                if not path.exists():
                    continue  # damaged, which is as good a reason to remove it as any
                shard = attach_shard(path, writer=False)
                stack.callback(detach_shard, shard, writer=False)
                if shard.users > 1:
                    raise LockerError(f"{folder}: expected a store that nobody has open, found one in use")
                stack.enter_context(shard.alone())
            (folder / FILE).replace(folder / REMOVED)
            sync_folder(folder)
            _remove_shards(folder)
    except OSError as error:
        raise translate(error, folder / FILE) from error


def _remove_shards(folder: Path) -> None:
    for pattern in ("shard-*.mdb", "shard-*.mdb-lock", f".shard-*{TEMPORARY}"):
        for path in folder.glob(pattern):
            path.unlink()


def _require_vacant(folder: Path) -> None:
    """Accept what an interrupted creation leaves: shards to which nothing was committed."""
    for path in sorted(folder.iterdir()):
        if path.suffix == ".mdb" and path.stat().st_size and read_meta_pages(path).commit:
            raise DamagedLockerError(f"{folder}: expected {FILE} beside shards that hold data, found none")
        if path.name != LOCK and not path.name.startswith(("shard-", ".shard-", f".{FILE}")):
            raise LockerError(
                f"{folder}: expected a store or an empty folder, found {path.name} and no {FILE}"
            )


@contextmanager
def folder_lock(folder: Path) -> Iterator[None]:
    """Let one process at a time create, compact or remove a store; the lock ends with its process, in any case."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError as error:
        raise unreadable(error, folder) from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
