"""Start a solve with board buckets from the regrets and strategy sums of a solve that may have other buckets and rows.

A solve with few board buckets improves fast and then stalls; a solve with many buckets can start from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lockers import Store, open_store
from spewy.errors import InputError, path_text, size_text
from spewy.job.job import Job
from spewy.job.texts import parse_memory
from spewy.learn.background_saves import Opener
from spewy.learn.sampled import SampledEngine
from spewy.records.bucket_numbers import Mark, read_mark, require_numbers
from spewy.records.bucket_policy import board_abstraction
from spewy.records.strategy_locker import FOLDER, StrategyLocker
from spewy.run.sampled_plan import SampledPlan

if TYPE_CHECKING:
    from buckets.abstraction import Abstraction

APART = ("name", "boards", "rows", "solve")
"""Keys and sections that may differ between a job and the solve from which it starts."""


@dataclass(frozen=True)
class Start:
    """Saved regrets and averages with which a new solve of the same game and betting begins.

    Attributes:
        origin: name of the solve, or of its stage, for the user.
        job: the job that made the regrets and averages.
        mark: number of deals, and seconds of work, that they include.
        opened: opens the store of regrets and averages for reading.
        play: opens the strategy locker.
    """

    origin: str
    job: Job
    mark: Mark
    opened: Opener
    play: Opener

    @classmethod
    def of_folder(cls, folder: Path, plan: SampledPlan) -> Start:
        """Open the folder of another solve; arguments and errors are those of `require_start`."""
        job, mark = require_start(folder, plan)
        opened, play = (partial(open_store, path, read_only=True) for path in (folder, folder / FOLDER))
        return cls(str(folder), job, mark, opened, play)

    @property
    def text(self) -> str:
        """Description for the user, such as "starting from 3,000 deals of results/coarse"."""
        return f"starting from {self.mark.deals:,} deals of {self.origin}"

    def fill(self, engine: SampledEngine, board_buckets: Abstraction) -> None:
        """Fill a new engine with the regrets and averages.

        Args:
            engine: engine of the new solve.
            board_buckets: board buckets and rows of the new solve.

        Raises:
            lockers.LockerError: the lockers are missing or damaged.
        """
        with self.play() as store:
            arrays = StrategyLocker(store).arrays()
        old = board_abstraction(self.job.rules, arrays)
        engine.start_from(self.opened, old, board_buckets, self.mark, short=self.job.solve.short)


def require_start(folder: Path, plan: SampledPlan) -> tuple[Job, Mark]:
    """Check that a new solve can start from another solve's folder.

    Args:
        folder: folder of the other solve.
        plan: plan of the new solve.

    Returns:
        The other solve's job, and the number of deals and seconds of work that its last save includes.

    Raises:
        InputError: the other solve has another game or betting, or has saved no deals; or ``solve.memory`` is too
            little for both solves together.
        lockers.LockerError: the folder has no lockers, or damaged ones.
    """
    if not folder.is_dir():
        raise InputError(f"start from {path_text(folder)}: expected the folder of another solve, found none")
    with open_store(folder, read_only=True) as store:
        require_numbers(store, f"start from {path_text(folder)}")
        old, mark = _same_game(store, plan.job, folder), read_mark(store)
    if not mark.deals:
        raise InputError(f"start from {path_text(folder)}: no deals are saved there")
    most = plan.job.solve.memory
    cost = SampledPlan.of(old.replace(memory=most)).cost  # a folder does not keep its job's memory
    needed = plan.cost.memory_bytes + cost.state_bytes
    if needed > parse_memory(most):
        raise InputError(
            f"solve.memory: a start from {folder} needs {size_text(needed)}, for both solves together, "
            f"found {most}"
        )
    return old, mark


def _same_game(store: Store, job: Job, folder: Path) -> Job:
    """Read the job of another solve, which must have the same game and betting as ``job``.

    Args:
        store: lockers of the other solve.
        job: job of the new solve.
        folder: folder of the other solve.

    Raises:
        InputError: the other solve samples no boards, or its game or betting differs.
    """
    theirs, ours = store.manifest.get("job"), job.manifest()["job"]
    if not isinstance(theirs, dict) or theirs.get("boards") is None:
        raise InputError(
            f"start from {path_text(folder)}: expected the folder of a solve with [boards], found another"
        )

    def game(data: dict[str, Any]) -> dict[str, Any]:
        return {key: part for key, part in data.items() if key not in APART}

    other = [key for key in game(ours) if game(theirs).get(key) != game(ours)[key]]
    if other:
        raise InputError(
            f"start from {path_text(folder)}: expected the game and the betting of {job.name}, found another "
            f"[{'], ['.join(other)}]"
        )
    return Job.stored(theirs, f"folder {folder}")
