"""The plan of a run, made before it starts: its cost, and whether it may start."""

from __future__ import annotations

import shutil
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path

from spewy.errors import InputError
from spewy.job.job import Job
from spewy.run.cost import Cost, mib


@dataclass(frozen=True, kw_only=True)
class Plan(ABC):
    """The plan of a run; `spewy.run.walked_plan` and `spewy.run.sampled_plan` make plans.

    Attributes:
        job: the job.
        cost: cost of a run.
        refusal: why the job may not start for want of memory; None: it may.
    """

    job: Job
    cost: Cost
    refusal: str | None

    @property
    @abstractmethod
    def threads(self) -> int:
        """Number of threads that a run starts."""

    @property
    @abstractmethod
    def most_rake(self) -> float:
        """Upper bound on the rake of a hand in chips."""

    def require(self, folder: Path | None = None) -> None:
        """Refuse a job that may not start.

        Args:
            folder: folder of the job's lockers, on whose disk there has to be room for a solve by dealt boards.

        Raises:
            InputError: the cost exceeds ``solve.memory``, or the room on the disk.
        """
        if self.refusal is not None:
            raise InputError(self.refusal)
        if folder is not None and self.job.sampled:
            _require_room(folder, self.cost.most_disk_bytes)


def _require_room(folder: Path, n_bytes: int) -> None:
    there = next(path for path in (folder.absolute(), *folder.absolute().parents) if path.exists())
    held = sum(512 * path.lstat().st_blocks for path in folder.rglob("*.mdb")) if folder.exists() else 0
    free, needed = shutil.disk_usage(there).free, n_bytes - held
    if needed > free:
        raise InputError(
            f"folder {folder}: expected at least {mib(needed)} of room on its disk, found {mib(free)}"
        )
