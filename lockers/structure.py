"""Whether the pages of an LMDB file form a sound tree, judged without LMDB.

LMDB trusts its pages: a flipped bit in one can crash the process or send it round in circles. The verifier
that comes with py-lmdb reads the file as bytes and cannot be led astray, but it knows only files at rest. A
file that is written to meanwhile looks damaged when it is not, so a finding counts only when no commit
happened while it was made.

A file may be shorter than its meta pages say: pages at its end that were taken and given back within one
transaction were never written. That is sound as long as no page in use is missing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from lmdb import verify

from lockers.errors import DamagedLockerError
from lockers.metapages import MetaPages, read_meta_pages
from lockers.pages import HEADER_SIZE, Page, large_value_pages

_ATTEMPTS = 8


def structure_findings(path: Path) -> list[str]:
    """Return what is wrong with the pages of a data file; nothing, too, when it never rests."""
    for _ in range(_ATTEMPTS):
        try:
            before = read_meta_pages(path)
            findings = _verify(path) or _missing_pages(path, before)
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


def _missing_pages(path: Path, meta: MetaPages) -> list[str]:
    """Return which pages a verified file lacks: of a large value the verifier reads only the first."""
    size = path.stat().st_size
    if size >= meta.size:
        return []
    with path.open("rb") as file:
        ends = [last for root in meta.roots for last in _last_pages(file.fileno(), root, meta.page_size)]
    missing = [last for last in ends if (last + 1) * meta.page_size > size]
    return [f"page {last} is in use and beyond the end of the file" for last in missing]


def _last_pages(descriptor: int, number: int, page_size: int) -> Iterator[int]:
    """Yield the last page of everything in the tree under a page: pages of the tree, large values."""
    yield number
    page = Page(os.pread(descriptor, page_size, number * page_size))
    for node in range(len(page)):
        if page.is_branch:
            yield from _last_pages(descriptor, page.child(node), page_size)
        elif (first := page.large_value(node)) is not None:
            yield first + large_value_pages(os.pread(descriptor, HEADER_SIZE, first * page_size)) - 1
