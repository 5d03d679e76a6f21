"""The plan of a run, made before it starts: its cost, and whether it may start."""

from __future__ import annotations

import shutil
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path

from spewy.errors import InputError, size_text
from spewy.job.job import Job
from spewy.run.cost import Cost


@dataclass(frozen=True, kw_only=True)
class Plan(ABC):
    """The plan of a solve's run; `spewy.run.walked_plan` and `spewy.run.sampled_plan` make plans.

    Attributes:
        job: the job to solve.
        cost: estimated cost of a run.
        refusal: error message that the job exceeds its memory; None: the job fits.
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
        """Largest number of chips that the house takes from one hand."""

    def require(self, folder: Path | None = None) -> None:
        """Refuse a job that exceeds its memory or the free disk space.

        Args:
            folder: folder of the solve; None: the lockers are in memory. The disk space is checked only for jobs that
                sample boards.

        Raises:
            InputError: the job needs more memory than ``solve.memory``, or more disk space than is free.
        """
        if self.refusal is not None:
            raise InputError(self.refusal)
        if folder is not None and self.job.sampled:
            _require_room(folder, self.cost.most_disk_bytes)


def _require_room(folder: Path, n_bytes: int) -> None:
    """Refuse a folder whose data files cannot grow to ``n_bytes`` on its disk."""
    existing = next(path for path in (folder.absolute(), *folder.absolute().parents) if path.exists())
    in_use = sum(512 * path.lstat().st_blocks for path in folder.rglob("*.mdb")) if folder.exists() else 0
    free, needed = shutil.disk_usage(existing).free, n_bytes - in_use
    if needed > free:
        raise InputError(
            f"folder {folder}: the solve needs {size_text(needed)} of disk space, and {size_text(free)} are free; "
            "free some space, or choose another folder"
        )
