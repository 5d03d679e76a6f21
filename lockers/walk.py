"""Program that checks the LMDB data file of a store for damage: ``python -m lockers.walk FILE [short]``.

`lockers.audit` runs the program in a process of its own, because LMDB can crash when it reads a damaged page. The
program first checks the structure of all pages without LMDB. If they are sound, it reads the file with LMDB, and checks
the order and the number of the keys, and the locker name, header, checksum and visit record of each value.

It prints lines of JSON: ``{"finding": "..."}`` for each defect, ``{"failure": "..."}`` if the disk or the system
failed, and ``{"end": true}`` at the end. Without this last line the program has crashed.

With ``short`` the program opens a file even if pages at its end are missing.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from lockers.audit import structure_findings
from lockers.codec import describe
from lockers.errors import LockerError, StorageError
from lockers.lmdb import Environment, LmdbTransaction
from lockers.store import entry_findings


def main(path: str, short: str = "") -> None:
    try:
        environment = Environment(Path(path), short=bool(short))
        for finding in file_findings(environment):
            _print("finding", finding)
    except StorageError as error:
        _print("failure", str(error))
    except LockerError as error:
        _print("finding", str(error))
    _print("end", True)


def file_findings(environment: Environment) -> list[str]:
    """Return a description of each damaged page of a data file; if all pages are sound, of each damaged value.

    LMDB reads the file only if all pages are sound, because reading damaged pages can crash or never end.
    """
    path = environment.path
    findings = structure_findings(path, environment.commit)
    return findings or environment.read(lambda transaction: list(_entries(transaction, path)))


def _entries(transaction: LmdbTransaction, path: Path) -> Iterator[str]:
    expected = transaction.stat()["entries"]
    number, last = 0, b""
    with transaction.cursor() as cursor:
        for key, value in cursor:
            full, number = bytes(key), number + 1
            if full <= last:
                yield f"{path}: {describe(full)}: expected keys in sorted order, found it after {last.hex()}"
            yield from (f"{path}: {finding}" for finding in entry_findings(full, bytearray(value)))
            last = full
    if number != expected:
        yield f"{path}: expected {expected} entries, found {number}"


def _print(kind: str, text: object) -> None:
    sys.stdout.write(json.dumps({kind: text}) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
