"""Walk through the shards of a store and tell what is wrong: ``python -m lockers.walk FOLDER [FIRST SHARD]``.

Tells it as lines of JSON on stdout: ``{"shard": 3}`` when it comes to a shard, ``{"finding": "..."}``, and
``{"end": true}``. Who wants the answer as a list calls ``LmdbStore.check``.

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
from lockers.errors import LockerError
from lockers.folder import shard_path
from lockers.manifest import read_header
from lockers.names import describe, shard_of
from lockers.shard import DEFAULT_MAP_SIZE, LmdbTransaction, attach_shard, detach_shard
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
            for finding in shard_findings(folder, number, shards):
                _tell("finding", finding)
    _tell("end", True)


def shard_findings(folder: Path, number: int, shards: int) -> list[str]:
    """Return what is wrong with one shard."""
    path = shard_path(folder, number)
    try:
        shard = attach_shard(path, writer=False, durable=False, map_size=DEFAULT_MAP_SIZE)
    except LockerError as error:
        return [str(error)]
    try:
        findings = [
            f"{path}: expected sound LMDB pages, found: {finding}" for finding in structure_findings(path)
        ]
        # LMDB is led into the pages only when they are sound: it may come to any result in others, or to
        # none.
        return findings or shard.read(lambda transaction: list(_entries(transaction, path, number, shards)))
    except LockerError as error:
        return [str(error)]
    finally:
        detach_shard(shard, writer=False)


def _entries(transaction: LmdbTransaction, path: Path, number: int, shards: int) -> Iterator[str]:
    expected = transaction.stat()["entries"]
    found = 0
    last = b""
    with transaction.cursor() as cursor:
        for view, value in cursor:
            found += 1
            full = bytes(view)
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
