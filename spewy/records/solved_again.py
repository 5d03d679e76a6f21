"""Chunks of dropped rounds that were solved again, kept in a folder of their own.

So a report on all turns of a solve without turns solves each of them only once. Only the chunk at the root of a
re-solved subgame is kept, with its values at chance leaves: on a turn that is all that a report reads, and a hundredth
of the whole subgame.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lockers import Store
from solvers.tree import Floats
from spewy.chunks.layout import Layout
from spewy.records.keys import STRATEGY
from spewy.records.leaves import hands_on, split_leaves
from spewy.records.marked_store import MarkedStore
from spewy.records.patched_reads import PatchedReads
from spewy.records.progress import first_dropped, saved_sweeps

FOLDER = "solved_again"
"""Name of the folder within the folder of the solve."""


class SolvedAgain(MarkedStore):
    """Chunks that were solved again, by a name that `name_of` makes.

    A chunk has two arrays, ``NAME.sums`` with both players' strategy sums and ``NAME.leaves`` with both players' values
    at its chance leaves.
    """

    @classmethod
    def of(cls, folder: Path, manifest: Mapping[str, Any], mark: str) -> SolvedAgain:
        """Open the kept chunks of a solve, and delete those of other strategies; if the folder is read-only, keep none.

        Args:
            folder: folder of the solve.
            manifest: manifest of the solve.
            mark: what `mark_of` returns for the solve's store.

        Raises:
            lockers.LockerError: the folder of the kept chunks holds other files, or cannot be written.
        """
        opened = cls.within(folder / FOLDER, STRATEGY, manifest)
        try:
            opened.begin(mark)
        except BaseException:
            opened.close()
            raise
        return opened

    def read(self, name: str, layout: Layout, patched: PatchedReads) -> bool:
        """Add a kept chunk, the root of a layout, to ``patched``; False if it is not kept, or damaged."""
        sums, leaves = self.sound_array(f"{name}.sums"), self.sound_array(f"{name}.leaves")
        if sums is None or leaves is None:
            return False
        exits = len(layout.tree(0, 0).exits)
        patched.put_chunk(layout.key(0, 0, 0), sums, split_leaves(leaves, exits, hands_on(layout, 0, 0)))
        return True

    def keep(self, name: str, layout: Layout, patched: PatchedReads) -> None:
        """Keep the chunk at the root of a layout, which was solved again; nothing if no hands reach its decisions."""
        sums, leaves = patched.chunk(layout.key(0, 0, 0))
        if leaves is None and not len(layout.tree(0, 0).exits):
            leaves = np.zeros(0), np.zeros(0)
        if sums is not None and leaves is not None:
            self.put(f"{name}.sums", sums)
            self.put(f"{name}.leaves", np.concatenate([values.ravel() for values in leaves]))


def mark_of(solve: Store) -> str:
    """Return a text that identifies the strategies from which dropped rounds are solved again."""
    return f"{saved_sweeps(solve)}.{first_dropped(solve)}"


def name_of(line: str, cards: Sequence[int], target: str, ranges: tuple[Floats, Floats]) -> str:
    """Return a name for the re-solve of a chunk: a hash of everything that determines its result.

    Args:
        line: line that enters the chunk.
        cards: public cards of the solved board.
        target: accuracy of the re-solve, as in a job file.
        ranges: ranges at the root of the chunk, per player ``[hand of the layout]``.
    """
    found = hashlib.sha256(f"{line}|{list(cards)}|{target}".encode())
    for weights in ranges:
        found.update(np.ascontiguousarray(weights, dtype=np.float64).tobytes())
    return found.hexdigest()[:32]
