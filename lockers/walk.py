"""Read all of a data file and tell what is wrong with it: ``python -m lockers.walk FILE [short]``.

The output is lines of JSON on stdout: ``{"finding": "..."}``, ``{"failure": "..."}`` where the machine failed, and at
last ``{"end": true}``. `lockers.audit` starts the program and returns the findings.

The walk judges the tree of pages, first without LMDB, then with it; the order and number of the entries; and the key,
header, checksum and visit record of each entry.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from lockers.audit import structure_findings
from lockers.environment import Environment, LmdbTransaction
from lockers.errors import LockerError, StorageError
from lockers.keys import describe
from lockers.transaction import entry_findings


def main(path: str, short: str = "") -> None:
    """Print the findings about a data file."""
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
    """Return what is wrong with the pages of a data file, or with its entries where all pages are sound.

    LMDB is led into sound pages only: it may come to any result in other pages, or to none.
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
                yield f"{path}: {describe(full)}: expected a key above {last.hex()}, found one that is not"
            yield from (f"{path}: {finding}" for finding in entry_findings(full, bytearray(value)))
            last = full
    if number != expected:
        yield f"{path}: expected {expected} entries, found {number}"


def _print(kind: str, text: object) -> None:
    sys.stdout.write(json.dumps({kind: text}) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
