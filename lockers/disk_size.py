"""How large a store on disk will be, from the sizes of its values: LMDB's pages, counted.

Keys and small values lie in a tree of pages, which random orders of keys fill to two thirds; a large value has pages of
its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

PAGE = 4096
LARGEST = 2038  # bytes of an entry that stays in a page of LMDB's tree: larger values get pages of their own
ENTRY, PAGE_HEADER, VALUE_HEADER = 10, 16, 24  # LMDB's of an entry and of a page; the lockers' of a value
FILLED = 0.65  # share of a tree page that is in use when keys come in random order
TICKET, TICKET_BYTES = ".ticket", 16
SHARD_BYTES = 6 * PAGE + 69632
"""LMDB's own pages, and the lock file, of each shard."""


@dataclass(frozen=True)
class DiskSize:
    """Values in LMDB's pages.

    Attributes:
        own: bytes of the pages of large values.
        entries: bytes of keys and small values.
    """

    own: int = 0
    entries: int = 0

    @property
    def tree(self) -> int:
        """Bytes of the pages of the tree."""
        return int(self.entries / FILLED / (PAGE - PAGE_HEADER) + 1) * PAGE

    @property
    def total(self) -> int:
        """Bytes of all pages of values and keys."""
        return self.own + self.tree

    def again(self, at_once: int) -> int:
        """Upper bound of the bytes of all pages after all values have been written a second time.

        LMDB reuses a replaced page only in the second transaction after the one that replaced it, so the old pages of
        two transactions take room beside the new ones.

        Args:
            at_once: bytes that one transaction writes.
        """
        return self.total + min(self.total, 2 * at_once)

    def plus(self, locker: str, key: bytes, arrays: np.ndarray) -> DiskSize:
        """With a locker's arrays of so many bytes under keys as long as this one."""
        length, values = len(locker) + 1 + len(key), VALUE_HEADER + arrays
        small = ENTRY + length + values <= LARGEST
        pages = -(-(PAGE_HEADER + values[~small]) // PAGE)
        entries = int(values[small].sum()) + 8 * int((~small).sum()) + (ENTRY + length) * len(values)
        return DiskSize(self.own + PAGE * int(pages.sum()), self.entries + entries)

    def plus_tickets(self, key: bytes, number: int) -> DiskSize:
        """With the counted visits of so many keys as long as this one."""
        return self.plus(TICKET, key, np.full(number, TICKET_BYTES))
