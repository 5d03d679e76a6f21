"""Start a solve by dealt boards from another solve's regrets and sums, with other board buckets and rows.

A solve with few board buckets learns fast and then stalls; a solve with many buckets can start from its numbers.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lockers import Store, open_store
from spewy.errors import InputError, path_text
from spewy.job.job import Job
from spewy.job.units import parse_memory
from spewy.learn.sampled import SampledEngine
from spewy.records import strategy_locker
from spewy.records.bucket_numbers import Mark, read_mark, require_numbers
from spewy.records.bucket_policy import board_abstraction
from spewy.records.strategy_locker import StrategyLocker
from spewy.run.sampled_plan import SampledPlan

if TYPE_CHECKING:
    from buckets.abstraction import Abstraction

APART = ("name", "boards", "rows", "solve")
"""Sections in which a job may differ from the job that it starts from."""


def start_from(folder: Path, plan: SampledPlan, engine: SampledEngine, board_buckets: Abstraction) -> Mark:
    """Fill a new engine from another solve's folder, and return that solve's number of deals.

    Args:
        folder: folder of the other solve.
        plan: plan of this solve.
        engine: engine of this solve.
        board_buckets: board buckets and rows of this solve.

    Raises:
        InputError: as `require_start`.
        lockers.LockerError: as it.
    """
    old, mark = require_start(folder, plan)
    with StrategyLocker.open(folder / strategy_locker.FOLDER) as play:
        arrays = play.arrays()
    opened = partial(open_store, folder, read_only=True)
    engine.start_from(
        opened, board_abstraction(old.rules, arrays), board_buckets, mark, short=old.solve.short
    )
    return mark


def require_start(folder: Path, plan: SampledPlan) -> tuple[Job, Mark]:
    """Read the job of a folder to start from, and the progress of its solve.

    Args:
        folder: folder of the other solve.
        plan: plan of the solve that starts.

    Raises:
        InputError: the folder is of another game or betting, or of nothing that was learnt; or both do not fit into
            ``solve.memory`` together.
        lockers.LockerError: there is none, or it is damaged.
    """
    with open_store(folder, read_only=True) as store:
        require_numbers(store, f"start from {path_text(folder)}")
        old, mark = _same_game(store, plan.job, folder), read_mark(store)
    if not mark.deals:
        raise InputError(
            f"start from {path_text(folder)}: expected what was learnt of deals, found none that were saved"
        )
    cost, most = SampledPlan.of(old).cost, plan.job.solve.memory
    needed = plan.cost.memory_bytes + cost.state_bytes
    if needed > parse_memory(most):
        raise InputError(
            f"solve.memory: to start from {folder} takes {needed / 2**20:,.0f} MiB, what is there and what is made "
            f"of it together, found {most}"
        )
    return old, mark


def _same_game(store: Store, job: Job, folder: Path) -> Job:
    """Read the job of a folder; its game and betting must equal those of ``job``."""
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
