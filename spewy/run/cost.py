"""What a run will cost, and whether it may start: what all kinds of jobs have in common.

`spewy.run.walked_plan` plans jobs that walk through all boards, `spewy.run.sampled_plan` jobs that sample boards.
"""

from __future__ import annotations

import shutil
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path

from spewy.errors import InputError, size_text
from spewy.job.job import Job

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


@dataclass(frozen=True, kw_only=True)
class Plan(ABC):
    """The plan of a solve's run; `spewy.run.walked_plan` and `spewy.run.sampled_plan` make plans.

    Attributes:
        refusal: error message that the job exceeds its memory; None: the job fits.
    """

    job: Job
    cost: Cost
    refusal: str | None

    @property
    @abstractmethod
    def threads(self) -> int: ...

    @property
    @abstractmethod
    def most_rake(self) -> float:
        """Largest number of chips that the house takes from one hand."""

    def require(self, folder: Path | None = None) -> None:
        """Refuse a job that exceeds its memory or the free disk space of the folder (None: lockers in memory).

        The disk space is checked only for jobs that sample boards.
        """
        if self.refusal is not None:
            raise InputError(self.refusal)
        if folder is not None and self.job.sampled:
            _require_room(folder, self.cost.most_disk_bytes)


def _require_room(folder: Path, n_bytes: int) -> None:
    existing = next(path for path in (folder.absolute(), *folder.absolute().parents) if path.exists())
    in_use = sum(512 * path.lstat().st_blocks for path in folder.rglob("*.mdb")) if folder.exists() else 0
    free, needed = shutil.disk_usage(existing).free, n_bytes - in_use
    if needed > free:
        raise InputError(
            f"folder {folder}: the solve needs {size_text(needed)} of disk space, and {size_text(free)} are free; "
            "free some space, or choose another folder"
        )
