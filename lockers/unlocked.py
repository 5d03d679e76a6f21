"""Reading a shard's data file beside LMDB, by whoever may not write its lock file.

A reader enters itself into the lock file, and so keeps writers from using the pages of its snapshot again. Without
a place there LMDB would follow pages that turn into others under its hands, which can end the process. So they are
read here as bytes, and believed only if they still belonged to the snapshot when they had been read:

- A page that commit t uses is free from some later commit on, t + 1 at the earliest.
- A writer uses pages again that are free since the commit before the last one, so t + 3 is the first to write over
  pages of t, and it begins when t + 2 is there.
- So what was read is the snapshot's as long as no commit after t + 1 is in the meta pages afterwards.

Where there is one, everything is read again from a newer snapshot. That comes to an end unless the shard is written
to without a pause, and reading takes longer than two commits each time.
"""

from __future__ import annotations

import os
import struct
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from lockers.errors import BusyLockerError, DamagedLockerError
from lockers.metapages import judged_meta_pages, newest_commit
from lockers.pages import HEADER_SIZE, Page, starts_large_value
from lockers.snapshot import Snapshot

T = TypeVar("T")

_ATTEMPTS = 4
_PATIENCE = 3.0  # seconds
_MAX_DEPTH = 32


class UnlockedFile:
    """A data file that is only read. Raises `OSError` where it cannot be."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        self._last: _FileSnapshot | None = None

    def read(self, body: Callable[[Snapshot], T]) -> T:
        """Run ``body`` on a snapshot, again on a newer one when that was written over.

        Raises:
        ------
        BusyLockerError
            That happened each time.

        """
        started = time.monotonic()
        attempts = 0
        while True:
            try:
                return body(self._snapshot())
            except _OverwrittenError:
                attempts += 1
                if attempts >= _ATTEMPTS and time.monotonic() - started > _PATIENCE:
                    raise BusyLockerError(
                        f"{self._path}: expected pages that stay while they are read, found them written over "
                        f"{attempts} times: its lock file cannot be written, so readers go unseen by whoever "
                        f"writes there; try again later"
                    ) from None

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)

    def _snapshot(self) -> _FileSnapshot:
        """Return the newest, which is the last one while nothing is committed: it knows the upper pages."""
        last = self._last
        if last is None or last.age():
            last = self._last = _FileSnapshot(self._descriptor, self._path)
        return last


class _OverwrittenError(Exception):
    """A snapshot's pages may have been used again."""


class _FileSnapshot:
    def __init__(self, descriptor: int, path: Path) -> None:
        self._descriptor = descriptor
        self._path = path
        self._meta = judged_meta_pages(descriptor, path)
        self._branches: dict[int, Page] = {}

    def age(self) -> int:
        """Return how many commits there are after this one."""
        return newest_commit(self._descriptor, self._meta.page_size) - self._meta.commit

    @property
    def entries(self) -> int:
        return self._meta.entries

    def get(self, full: bytes) -> bytearray | None:
        for page, node in self._nodes(full):
            return self._value(page, node) if page.key(node) == full else None
        return None

    def keys(self, start: bytes) -> Iterator[bytes]:
        return (page.key(node) for page, node in self._nodes(start))

    def items(self) -> Iterator[tuple[bytes, bytearray]]:
        return ((page.key(node), self._value(page, node)) for page, node in self._nodes(b""))

    def _nodes(self, start: bytes) -> Iterator[tuple[Page, int]]:
        """Yield the leaf of each entry from ``start`` on, and its place there."""
        if self._meta.main_root is not None:
            try:
                yield from self._below(self._meta.main_root, start, 1)
            except struct.error as error:
                raise self._damaged("nodes within their pages", str(error)) from error

    def _below(self, number: int, start: bytes, depth: int) -> Iterator[tuple[Page, int]]:
        if depth > _MAX_DEPTH:
            raise self._damaged(f"a tree of at most {_MAX_DEPTH} levels", "more")
        page = self._page(number)
        for node in range(page.first(start), len(page)):
            if page.is_branch:
                yield from self._below(page.child(node), start, depth + 1)
            else:
                yield page, node

    def _page(self, number: int) -> Page:
        if number in self._branches:
            return self._branches[number]
        (data,) = self._read(number, self._meta.page_size)
        page = Page(bytes(data))
        if page.number != number or page.is_branch == page.is_leaf:
            raise self._damaged(f"a page {number} of a tree", "another one")
        if page.is_branch:
            self._branches[number] = page
        return page

    def _value(self, page: Page, node: int) -> bytearray:
        number = page.large_value(node)
        if number is None:
            return bytearray(page.value(node))
        header, value = self._read(number, HEADER_SIZE, page.value_size(node))
        if not starts_large_value(header, number):
            raise self._damaged(f"a large value on page {number}", "something else")
        return value

    def _read(self, number: int, *sizes: int) -> list[bytearray]:
        """Return what lies one behind the other from a page on, if it is the snapshot's still."""
        position = number * self._meta.page_size
        if position + sum(sizes) > self._meta.size:
            raise self._damaged(
                f"at most {self._meta.size} bytes", f"a page that reaches {position + sum(sizes)}"
            )
        parts = [bytearray(size) for size in sizes]
        for part in parts:
            view = memoryview(part)
            while view:
                count = os.preadv(self._descriptor, [view], position)
                if not count:
                    raise self._damaged(f"page {number}", "the end of the file")
                view, position = view[count:], position + count
        if self.age() > 1:
            raise _OverwrittenError
        return parts

    def _damaged(self, expected: str, found: str) -> DamagedLockerError:
        return DamagedLockerError(f"{self._path}: expected {expected}, found {found}")
