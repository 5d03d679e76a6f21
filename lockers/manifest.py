"""The manifest of a store on disk: the game and job of its lockers, and the version of the folder's format.

A new store's ``manifest.json`` is written last, and atomically, so a folder with a manifest has all other files.
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
"""Version of the folder's format; folders of other versions are refused."""
MOST_KEYS, MOST_CHARACTERS = 6, 60
"""Largest number of differing keys that a `ManifestMismatchError` names, and of characters of each value."""


def normalise(manifest: Mapping[str, Any], subject: str) -> Mapping[str, Any]:
    """Return a read-only copy of a manifest after a round trip through JSON, which turns tuples into lists.

    Args:
        manifest: JSON values by key.
        subject: The store, for messages.

    Raises:
        LockerError: A value is not a JSON value.
    """
    try:
        text = json.dumps(dict(manifest), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise LockerError(f"manifest of {subject}: expected JSON values, found {error}") from error
    return MappingProxyType(json.loads(text))


def require_same(expected: Mapping[str, Any], found: Mapping[str, Any], folder: Path) -> None:
    """Refuse a folder whose manifest is not the expected one.

    Raises:
        ManifestMismatchError: The manifests differ; the message names the first keys that differ.
    """
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
    """Wait until the list of a folder's files is on the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read_manifest(folder: Path) -> Mapping[str, Any]:
    """Read and verify ``manifest.json``.

    Raises:
        FileNotFoundError: The folder has no ``manifest.json``.
        DamagedLockerError: The file is not a manifest, or its checksum is wrong.
        LockerError: The manifest has another format version.
    """
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
    """Refuse a pipe, a socket or a device, because reading it could wait for ever.

    Raises:
        DamagedLockerError: The path is neither a regular file nor a folder.
        FileNotFoundError: The path does not exist.
    """
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
    """Return the value of a number of JSON text, an integer if it is whole."""
    value = float(text)
    return int(value) if value.is_integer() else value


def _short(text: str) -> str:
    """Shorten a long text for messages."""
    return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]}..."
