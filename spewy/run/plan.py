"""The plan of a run: all that depends on the kind of the job, such as cost, stores and engine.

`spewy.run.walked_plan` plans jobs that walk through all boards, `spewy.run.sampled_plan` jobs that sample boards.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from spewy.errors import InputError
from spewy.job.job import Job
from spewy.job.sections import DaskSection
from spewy.learn.engine import Engine
from spewy.records.policy import Policy
from spewy.run.cost import Cost
from spewy.run.events import Listener
from spewy.run.result import SolveResult
from spewy.run.stopping import Stopping
from spewy.run.stores import Stores

if TYPE_CHECKING:
    from spewy.learn.sampled import Start
    from spewy.system.cluster import Cluster

Note = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Plan(ABC):
    """The plan of a solve's run.

    Attributes:
        refusal: error message that the job exceeds its memory limit; None: the job fits.
        mapped_bytes: address space for machine code and memory-mapped lockers.
    """

    mapped_bytes: ClassVar[int]

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

    @property
    @abstractmethod
    def stopping(self) -> Stopping:
        """The target and the limits of the job."""

    def require(self, folder: Path | None = None) -> None:
        """Refuse a job that exceeds its memory limit or the free disk space of the folder (None: lockers in memory)."""
        if self.refusal is not None:
            raise InputError(self.refusal)

    @abstractmethod
    def stores(self, folder: Path | None) -> Stores: ...

    def finished_before(self, stores: Stores) -> SolveResult | None:
        """Return the stored result if the solve is finished and the rounds to drop are dropped; else None.

        Raises:
            InputError: rounds were dropped, so that the solve cannot continue.
        """
        return None

    @abstractmethod
    def prepare(self, note: Note, done: int) -> None:
        """Compile kernels that are not cached, and note slow parts of the solve; ``done``: saved sweeps or deals."""

    @abstractmethod
    def engine(self, stores: Stores, start: Start | None, tell: Listener) -> Engine:
        """Make the engine, which continues from the stores and saves to them.

        Args:
            start: regrets and averages with which a new solve begins; None: begin from zero.
            tell: hears of long steps, and when a worker of a cluster connects or disconnects.
        """

    @abstractmethod
    def policy(self, stores: Stores) -> Policy: ...

    @property
    def variant(self) -> str | None:
        """Name of the variant of CFR; None: an engine without variants."""
        return None

    @property
    def quick(self) -> Mapping[str, Any] | None:
        """The field ``quick`` of the result (`SolveResult.quick`); None: the solve is not quick."""
        return None


def connect(settings: DaskSection | None, note: Note) -> Cluster:
    """Connect to a job's cluster, or start a cluster on this machine if the job has no address."""
    from joblib import cpu_count  # this import takes a tenth of a second

    from spewy.system.cluster import Cluster

    settings = settings or DaskSection()
    return Cluster(settings.address, settings.workers or cpu_count(), note)
