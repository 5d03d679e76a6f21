"""Predicted size of a store on disk, computed from the sizes of its values.

LMDB stores keys and small values together in the pages of a tree, which are two thirds full when keys arrive in random
order. A large value takes whole pages for itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

PAGE = 4096
LARGEST = 2038
"""Largest size in bytes of a key with its value in a page of LMDB's tree; a larger value takes whole pages."""
ENTRY, PAGE_HEADER, VALUE_HEADER = 10, 16, 24
"""Bytes of three headers: LMDB's for a key with its value, LMDB's for a page, and `lockers.codec`'s for a value."""
FILLED = 0.65
"""Share of a tree page that is in use when keys come in random order."""
NAME = 18
"""Bytes of a usual key: the name of the locker, the round, the board and the line."""
STORE_BYTES = 6 * PAGE + 69632
"""Bytes of LMDB's own pages and of the lock file."""


@dataclass(frozen=True)
class DiskSize:
    """Predicted size of a store's data file; `plus` returns a size with more values.

    Attributes:
        own: Bytes of the whole pages that large values take.
        entries: Bytes of keys and small values.
    """

    own: int = 0
    entries: int = 0

    @property
    def tree(self) -> int:
        """Bytes of the pages that hold keys and small values."""
        return int(self.entries / FILLED / (PAGE - PAGE_HEADER) + 1) * PAGE

    @property
    def total(self) -> int:
        """Bytes of all pages."""
        return self.own + self.tree

    def again(self, at_once: int) -> int:
        """Return an upper bound of the data file's bytes after every value has been overwritten.

        LMDB reuses the pages of overwritten values two transactions later, so the old pages of two transactions take
        additional room.

        Args:
            at_once: Bytes that one transaction writes.
        """
        return self.total + min(self.total, 2 * at_once)

    def plus(self, *arrays: np.ndarray) -> DiskSize:
        """Return the size of the store with additional values; ``arrays`` have the size of each value in bytes."""
        values = VALUE_HEADER + np.concatenate([sizes.ravel() for sizes in arrays])
        small = ENTRY + NAME + values <= LARGEST
        pages = -(-(PAGE_HEADER + values[~small]) // PAGE)
        entries = int(values[small].sum()) + 8 * int((~small).sum()) + (ENTRY + NAME) * len(values)
        return DiskSize(self.own + PAGE * int(pages.sum()), self.entries + entries)
