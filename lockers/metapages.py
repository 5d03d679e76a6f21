"""The two meta pages of an LMDB data file, read without LMDB.

LMDB believes its meta pages: a page size of 0 stops the process with a signal, a file that is shorter than
they say does so when the missing page is touched. So they are read and judged here before LMDB sees the
file.

Only the layout of LMDB 0.9 on 64-bit machines is known (data version 1), which is also what shards are
created with. Commit number t is recorded in meta page ``t mod 2``, so the two always hold t - 1 and t, or
both 0 in a new file.
"""

from __future__ import annotations

import os
import struct
import sys
from dataclasses import dataclass
from pathlib import Path

from lockers.errors import DamagedLockerError

PAGE_SIZES = tuple(2**k for k in range(9, 17))

_HEAD = struct.Struct("=QHHHH")  # page number, padding, flags, lower, upper
_META = struct.Struct("=IIQQ" + 2 * "IHHQQQQQ" + "QQ")
_META_FLAG = 0x08
_INTEGER_KEYS = 0x08
_NO_SUBDIR = 0x4000  # the file was made as a file, not in a folder of its own
_MAGIC = 0xBEEFC0DE
_DATA_VERSION = 1
_NO_PAGE = 2**64 - 1
_MAX_DEPTH = 32
_FREE_ROOT, _ENTRIES, _MAIN_ROOT = 11, 18, 19  # places among the fields of _META
_COMMIT_OFFSET = _HEAD.size + _META.size - 8
_ATTEMPTS = 50


@dataclass(frozen=True)
class MetaPages:
    """The state that a data file was last committed in; the root of a tree that is empty is None."""

    page_size: int
    last_page: int
    commit: int
    free_root: int | None
    main_root: int | None
    entries: int

    @property
    def size(self) -> int:
        """Bytes that the file has when every page up to the last was written."""
        return (self.last_page + 1) * self.page_size

    @property
    def roots(self) -> tuple[int, ...]:
        """The roots of the trees that are not empty."""
        return tuple(root for root in (self.free_root, self.main_root) if root is not None)


def read_meta_pages(path: Path) -> MetaPages:
    """Read and judge both meta pages, or raise `DamagedLockerError`; `OSError` without a file."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return judged_meta_pages(descriptor, path)
    finally:
        os.close(descriptor)


def judged_meta_pages(descriptor: int, path: Path) -> MetaPages:
    """Do the same with a file that is open."""
    # Another process may commit between or within the reads; what is truly damaged stays so.
    for attempt in range(_ATTEMPTS):
        try:
            return _judge(descriptor, path)
        except DamagedLockerError:
            if attempt == _ATTEMPTS - 1:
                raise
    raise AssertionError("unreachable")


def newest_commit(descriptor: int, page_size: int) -> int:
    """Return the number of the last commit, of a file whose meta pages were judged before."""
    return max(
        int.from_bytes(os.pread(descriptor, 8, number * page_size + _COMMIT_OFFSET), sys.byteorder)
        for number in (0, 1)
    )


def _judge(descriptor: int, path: Path) -> MetaPages:
    first = os.pread(descriptor, _HEAD.size + _META.size, 0)
    page_size = _field(first, path, 0)[4]
    second = os.pread(descriptor, _HEAD.size + _META.size, page_size)
    metas = [_field(first, path, 0), _field(second, path, 1)]
    commits = [meta[-1] for meta in metas]
    if metas[1][4] != page_size:
        raise _damaged(path, f"page size {page_size} in both meta pages", str(metas[1][4]))
    newest = 0 if commits[0] >= commits[1] else 1
    if commits != [0, 0] and (abs(commits[0] - commits[1]) != 1 or commits[newest] % 2 != newest):
        raise _damaged(path, "meta pages of two successive commits", f"commits {commits}")
    meta = metas[newest]
    free_root, main_root = (None if meta[k] == _NO_PAGE else meta[k] for k in (_FREE_ROOT, _MAIN_ROOT))
    return MetaPages(page_size, meta[-2], commits[newest], free_root, main_root, meta[_ENTRIES])


def _field(page: bytes, path: Path, number: int) -> tuple[int, ...]:
    """Return the fields of a meta page; [4] is the page size, [-2] the last page, [-1] the commit."""
    if len(page) < _HEAD.size + _META.size:
        raise _damaged(path, f"a whole meta page {number}", f"{len(page)} bytes of it")
    page_number, _, flags, _, _ = _HEAD.unpack_from(page)
    meta = _META.unpack_from(page, _HEAD.size)
    magic, version, _, _, page_size, free_flags, free_depth = meta[:7]
    main_flags, main_depth, last_page = meta[13], meta[14], meta[20]
    free_root, main_root = meta[_FREE_ROOT], meta[_MAIN_ROOT]
    judgements = [
        ("magic", magic == _MAGIC, f"{_MAGIC:x}", f"{magic:x}"),
        ("data version", version == _DATA_VERSION, str(_DATA_VERSION), str(version)),
        ("page number", page_number == number, str(number), str(page_number)),
        ("page flags", flags == _META_FLAG, str(_META_FLAG), str(flags)),
        ("page size", page_size in PAGE_SIZES, "a power of two from 512 to 65536", str(page_size)),
        # Another flag would have LMDB map the file at an address that the file chooses.
        ("flags", free_flags & ~_NO_SUBDIR == _INTEGER_KEYS, "8 or 16392", str(free_flags)),
        ("tree flags", main_flags == 0, "0", str(main_flags)),
        ("depths", max(free_depth, main_depth) <= _MAX_DEPTH, "at most 32", f"{free_depth}, {main_depth}"),
        (
            "roots",
            all(2 <= root <= last_page or root == _NO_PAGE for root in (free_root, main_root)),
            f"pages from 2 to {last_page}",
            f"{free_root}, {main_root}",
        ),
    ]
    for what, holds, expected, found in judgements:
        if not holds:
            raise _damaged(path, f"{what} {expected} in meta page {number}", found)
    return meta


def _damaged(path: Path, expected: str, found: str) -> DamagedLockerError:
    return DamagedLockerError(f"{path}: expected {expected}, found {found}")
