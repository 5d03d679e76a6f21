"""Read a whole data file and print each defect: ``python -m lockers.walk FILE [short]``.

The output is lines of JSON on stdout: ``{"finding": "..."}`` for each defect, ``{"failure": "..."}`` if the disk or the
system failed, and ``{"end": true}`` at the end. `lockers.audit` starts this program and returns the findings.

The program checks the structure of the pages, first without LMDB and then with LMDB; the order and the number of keys;
and the locker name, header, checksum and visit record of each value.
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
    """Print the defects of a data file; ``short`` is not empty if the file may lack pages."""
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
    """Return a description of each damaged page of a data file, or of each damaged value if all pages are sound.

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
