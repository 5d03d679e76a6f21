"""The manifest of a store on disk: the game and job that its lockers belong to, and the format version.

``manifest.json`` is written last when a store is created, atomically (a temporary file, fsync, rename), so a folder
that has a manifest has all the rest.
"""

from __future__ import annotations

import json
import os
import stat
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from lockers.errors import DamagedLockerError, LockerError, ManifestMismatchError

FILE = "manifest.json"
FORMAT = 2
"""Version of the folder's layout; a folder of another version is refused."""
MOST_KEYS, MOST_CHARACTERS = 6, 60
"""Number of keys that an error about another manifest names, and characters of each value."""


def normalise(manifest: Mapping[str, Any], subject: str) -> Mapping[str, Any]:
    """Return the manifest as JSON would give it back (tuples become lists), read-only."""
    try:
        text = json.dumps(dict(manifest), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise LockerError(f"manifest of {subject}: expected JSON values, found {error}") from error
    return MappingProxyType(json.loads(text))


def require_same(expected: Mapping[str, Any], found: Mapping[str, Any], folder: Path) -> None:
    """Raise `ManifestMismatchError` with the first keys that differ, unless the manifests are equal."""
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
    """Write ``manifest.json``, all of it or nothing."""
    content = {"format": FORMAT, "manifest": dict(manifest)}
    text = json.dumps({**content, "crc32": _checksum(content)}, indent=2) + "\n"
    temporary = folder / f".{FILE}.{os.getpid()}.tmp"
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
    """Wait until the names in a folder are on the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read_manifest(folder: Path) -> Mapping[str, Any]:
    """Read and verify ``manifest.json``; `FileNotFoundError` when there is none."""
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
    """Refuse a pipe, a socket or a device, on which a reader would wait.

    Raises:
        DamagedLockerError: The path is neither a regular file nor a folder.
        FileNotFoundError: Nothing has this path.
    """
    mode = path.stat().st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise DamagedLockerError(f"{path}: expected a regular file, found something else")


def _checksum(content: Mapping[str, Any]) -> int:
    return zlib.crc32(json.dumps(content, sort_keys=True).encode())


def _leaves(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Yield ("rows.flop", "40") and so on; values as JSON text, which keeps 1, 1.0, true and "1" apart."""
    if isinstance(value, Mapping) and (value or not name):
        for key, inner in value.items():
            yield from _leaves(inner, f"{name}.{key}" if name else str(key))
    else:
        yield name, json.dumps(value, sort_keys=True)


def _short(text: str) -> str:
    """Return the beginning of a long text, for messages."""
    return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]}..."
