"""The size of a store on disk, predicted from the sizes of its values: LMDB's pages, counted.

Keys and small values lie in a tree of pages, which random orders of keys fill to two thirds; a large value has pages of
its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lockers.keys import VISITS

PAGE = 4096
LARGEST = 2038
"""Bytes of an entry that stays in a page of LMDB's tree: larger values get pages of their own."""
ENTRY, PAGE_HEADER, VALUE_HEADER = 10, 16, 24
"""Bytes of LMDB's headers of an entry and of a page, and of the lockers' header of a value."""
FILLED = 0.65
"""Share of a tree page that is in use when keys come in random order."""
VISIT_BYTES = 16
STORE_BYTES = 6 * PAGE + 69632
"""Bytes of LMDB's own pages and of the lock file."""


@dataclass(frozen=True)
class DiskSize:
    """Predicted size of values in LMDB's pages; `plus` adds values.

    Attributes:
        own: Bytes of the pages of large values.
        entries: Bytes of keys and small values.
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
            at_once: Bytes that one transaction writes.
        """
        return self.total + min(self.total, 2 * at_once)

    def plus(self, locker: str, key: bytes, arrays: np.ndarray) -> DiskSize:
        """Return the size with more arrays.

        Args:
            locker: The locker of the arrays.
            key: A key as long as the arrays' keys.
            arrays: The arrays' sizes in bytes.
        """
        length, values = len(locker) + 1 + len(key), VALUE_HEADER + arrays
        small = ENTRY + length + values <= LARGEST
        pages = -(-(PAGE_HEADER + values[~small]) // PAGE)
        entries = int(values[small].sum()) + 8 * int((~small).sum()) + (ENTRY + length) * len(values)
        return DiskSize(self.own + PAGE * int(pages.sum()), self.entries + entries)

    def plus_visits(self, key: bytes, number: int) -> DiskSize:
        """Add the size of ``number`` visit counters whose keys are as long as ``key``."""
        return self.plus(VISITS, key, np.full(number, VISIT_BYTES))
