"""The estimated cost of a solve before it starts: the counts and sizes that all kinds of jobs have.

`spewy.run.walked_cost` and `spewy.run.sampled_cost` fill it, for jobs whose boards are all walked through and for jobs
whose boards are dealt.
"""

from __future__ import annotations

from dataclasses import dataclass

Count = tuple[int, str, str]
"""A number, and its noun in singular and plural."""


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Sizes of a solve in bytes, and its number of information sets.

    Attributes:
        information_sets: (decision, row) pairs of both players, all boards or board buckets.
        state_bytes: regrets, sums (and guesses), in memory or, of stored chunks, on disk.
        table_bytes: betting tree, cards, strengths and maps between rounds, and buffers of threads.
        memory_bytes: memory of the main process beside interpreter and libraries.
        process_bytes: memory of the main process, interpreter and libraries included.
        disk_bytes: the folder after the first save; of dealt boards, once all first boards were judged.
        most_disk_bytes: upper bound of the folder during later saves, which take room beside the save before.
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
        """Counts that describe the size of the game."""
        return ((self.information_sets, "information set", "information sets"),)


def mib(n_bytes: int) -> str:
    """Format bytes in MiB; small numbers have two significant digits.

    >>> mib(5 * 2**31), mib(37_000)
    ('10,240 MiB', '0.035 MiB')
    """
    return f"{n_bytes / 2**20:,.0f} MiB" if n_bytes >= 2**20 else f"{n_bytes / 2**20:.2g} MiB"
