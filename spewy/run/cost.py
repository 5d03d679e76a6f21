"""What a run will cost: what all kinds of jobs have in common."""

from __future__ import annotations

from dataclasses import dataclass

Count = tuple[int, str, str]
"""A number, its noun in the singular, and its noun in the plural."""


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Sizes of a solve in bytes, and its number of information sets.

    Attributes:
        information_sets: (decision, row) pairs of both players on all boards, or in all board buckets.
        state_bytes: regrets, strategy sums and predictions, in memory, or for stored chunks on disk.
        table_bytes: betting tree, cards, hand strengths, maps of hands between rounds, and buffers of threads.
        memory_bytes: memory of the main process, without interpreter and libraries.
        process_bytes: memory of the main process, with interpreter and libraries.
        disk_bytes: the folder after the first save; for a job that samples boards, with the results of a measurement on
            all flops.
        most_disk_bytes: upper bound on the folder during later saves, when it holds two saves at the same time.
    """

    information_sets: int
    state_bytes: int
    table_bytes: int
    memory_bytes: int
    process_bytes: int
    disk_bytes: int
    most_disk_bytes: int

    @property
    def counts(self) -> tuple[Count, ...]:
        """Numbers that describe the size of the game, each with its noun in the singular and in the plural."""
        return ((self.information_sets, "information set", "information sets"),)
