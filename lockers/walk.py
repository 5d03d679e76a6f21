"""Walk through the shards of a store and tell what is wrong: ``python -m lockers.walk FOLDER [FIRST SHARD]``.

Tells it as lines of JSON on stdout: ``{"shard": 3}`` when it comes to a shard, ``{"finding": "..."}``, and at
last ``{"end": true}``, or ``{"busy": "..."}`` or ``{"failure": "..."}`` where it could not judge. Who wants the
answer as a list calls ``LmdbStore.check``.

Of each shard: the meta pages, the tree of pages (without LMDB, then with it), the order and number of the
entries, and of each entry the key, the shard it lies in, the header, the checksum and, for tickets, 1 <=
visits <= last ticket.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from lockers.entry import entry_findings
from lockers.errors import BusyLockerError, LockerError, StorageError
from lockers.folder import shard_path
from lockers.manifest import read_header
from lockers.names import describe, shard_of
from lockers.shard import attach_shard, detach_shard
from lockers.snapshot import Snapshot
from lockers.structure import structure_findings


def main(arguments: list[str]) -> None:
    """Walk and tell."""
    folder = Path(arguments[0])
    first = int(arguments[1]) if len(arguments) > 1 else 0
    try:
        shards = read_header(folder).shards
    except (LockerError, OSError) as error:
        _tell("finding", str(error))
    else:
        for number in range(first, shards):
            _tell("shard", number)
            try:
                findings = shard_findings(folder, number, shards)
            except BusyLockerError as error:
                return _tell("busy", str(error))
            except StorageError as error:
                return _tell("failure", str(error))
            for finding in findings:
                _tell("finding", finding)
    _tell("end", True)


def shard_findings(folder: Path, number: int, shards: int) -> list[str]:
    """Return what is wrong with one shard.

    Raises:
    ------
    BusyLockerError, StorageError
        That cannot be told.

    """
    path = shard_path(folder, number)
    try:
        shard = attach_shard(path, writer=False)
        try:
            findings = [
                f"{path}: expected sound LMDB pages, found: {finding}" for finding in structure_findings(path)
            ]
            # LMDB is led into the pages only when they are sound: it may come to any result in others, or to
            # none.
            return findings or shard.read(lambda snapshot: list(_entries(snapshot, path, number, shards)))
        finally:
            detach_shard(shard, writer=False)
    except (BusyLockerError, StorageError):
        raise
    except LockerError as error:
        return [str(error)]


def _entries(snapshot: Snapshot, path: Path, number: int, shards: int) -> Iterator[str]:
    expected = snapshot.entries
    found = 0
    last = b""
    for full, value in snapshot.items():
        found += 1
        if full <= last:
            yield f"{path}: {describe(full)}: expected a key above {last.hex()}, found one that is not"
        last = full
        findings = entry_findings(full, value)
        yield from (f"{path}: {finding}" for finding in findings)
        home = shard_of(full.partition(b"\0")[2], shards)
        if not findings and home != number:
            yield f"{path}: {describe(full)}: expected in shard {home}, found in shard {number}"
    if found != expected:
        yield f"{path}: expected {expected} entries, found {found}"


def _tell(kind: str, what: object) -> None:
    sys.stdout.write(json.dumps({kind: what}) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
