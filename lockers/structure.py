"""Whether the pages of an LMDB file form a sound tree, judged without LMDB.

LMDB trusts its pages: a flipped bit in one can crash the process or send it round in circles. The verifier
that comes with py-lmdb reads the file as bytes and cannot be led astray, but it knows only files at rest. A
file that is written to meanwhile looks damaged when it is not, so a finding counts only when no commit
happened while it was made.
"""

from __future__ import annotations

from pathlib import Path

from lmdb import verify

from lockers.errors import DamagedLockerError
from lockers.metapages import read_meta_pages

_ATTEMPTS = 8


def structure_findings(path: Path) -> list[str]:
    """Return what is wrong with the pages of a data file; nothing, too, when it never rests."""
    for _ in range(_ATTEMPTS):
        try:
            before = read_meta_pages(path)
            findings = _verify(path)
            if not findings or read_meta_pages(path) == before:
                return findings
        except DamagedLockerError as error:
            return [str(error)]
    return []


def _verify(path: Path) -> list[str]:
    try:
        return list(verify.verify(str(path), subdir=False))  # type: ignore[no-untyped-call]
    except verify.VerifyError as error:
        return [str(error)]
