"""One page of an LMDB tree, as bytes: where its nodes are, and what they say.

A branch page leads to one page per node; the key of its first node stands for everything below the second's. A
leaf page holds a value per node, or says on which page a large one begins. Only the layout of LMDB 0.9 on 64-bit
machines is known, as in `lockers.metapages`.
"""

from __future__ import annotations

import struct
from bisect import bisect_left, bisect_right
from functools import cached_property

HEADER_SIZE = 16

_HEADER = struct.Struct("=QHHHH")  # page number, padding, flags, end of the node offsets, start of the nodes
_NODE = struct.Struct("=HHHH")  # data size in two halves (or child page in three), flags, key size
_OFFSET = struct.Struct("=H")
_PAGE_NUMBER = struct.Struct("=Q")
_COUNT = struct.Struct("=I")
_BRANCH, _LEAF, _OVERFLOW = 0x01, 0x02, 0x04
_BIG_DATA = 0x01


class Page:
    """A branch or a leaf page. `struct.error` where an offset leads out of it."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.number, _, flags, end, _ = _HEADER.unpack_from(data)
        self.is_branch = bool(flags & _BRANCH)
        self.is_leaf = bool(flags & _LEAF)
        self._count: int = max(0, end - HEADER_SIZE) // _OFFSET.size

    def __len__(self) -> int:
        return self._count

    def key(self, node: int) -> bytes:
        """Return the key of a node."""
        start, size = self._key(node)
        return self._data[start : start + size]

    def first(self, key: bytes) -> int:
        """Return the first node of a leaf whose key is not below ``key``, of a branch the one that leads there."""
        if self.is_branch:
            return bisect_right(self._separators, key)
        return bisect_left(range(self._count), key, key=self.key)

    def child(self, node: int) -> int:
        """Return the page that a node of a branch leads to."""
        low, high, top = self._node(node)
        return low | high << 16 | top << 32

    def value(self, node: int) -> bytes:
        """Return the value in a node of a leaf that has no `large_value`."""
        start, size = self._key(node)
        return self._data[start + size : start + size + self.value_size(node)]

    def value_size(self, node: int) -> int:
        """Return the bytes of a value, wherever it lies."""
        low, high, _ = self._node(node)
        return low | high << 16

    def large_value(self, node: int) -> int | None:
        """Return the page on which a value begins, behind a header; None where it lies in the leaf."""
        if not self._node(node)[2] & _BIG_DATA:
            return None
        start, size = self._key(node)
        (first,) = _PAGE_NUMBER.unpack_from(self._data, start + size)
        return int(first)

    @cached_property
    def _separators(self) -> list[bytes]:
        return [self.key(node) for node in range(1, self._count)]

    def _key(self, node: int) -> tuple[int, int]:
        """Return where the key of a node begins, and its size."""
        start: int = _OFFSET.unpack_from(self._data, HEADER_SIZE + _OFFSET.size * node)[0]
        return start + _NODE.size, _NODE.unpack_from(self._data, start)[3]

    def _node(self, node: int) -> tuple[int, int, int]:
        """Return the fields of a node before the size of its key."""
        low, high, flags, _ = _NODE.unpack_from(self._data, self._key(node)[0] - _NODE.size)
        return low, high, flags


def starts_large_value(header: bytes | bytearray, number: int) -> bool:
    """Return whether this is the header of a large value that begins on page ``number``."""
    found, _, flags, _, _ = _HEADER.unpack_from(header)
    return found == number and bool(flags & _OVERFLOW)


def large_value_pages(header: bytes | bytearray) -> int:
    """Return on how many pages a large value with this header lies."""
    (pages,) = _COUNT.unpack_from(header, HEADER_SIZE - _COUNT.size)
    return int(pages)
