"""Make the engine of a planned job, and what a new solve with board buckets starts from.

The engine continues from the stores of the solve, and saves to them. Functions import the engines that they make, since
a start loads one of them.

A solve with few board buckets improves fast and then stalls; a solve with many buckets can start from its regrets and
strategy sums (`Start`), also if its rows are others.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lockers import Store, open_store
from solvers.discount import variant
from solvers.exact import ExactCfr
from solvers.solver import Solver
from spewy.errors import InputError, path_text, size_text
from spewy.job.job import Job
from spewy.job.sections import DaskSection, SolveSection
from spewy.job.texts import parse_memory
from spewy.learn.engine import Engine
from spewy.learn.live import LiveEngine
from spewy.records import strategy_locker
from spewy.records.bucket_numbers import Mark, read_mark, require_numbers
from spewy.records.policy import board_abstraction
from spewy.records.strategy_locker import FOLDER, StrategyLocker
from spewy.run.walked_plan import WalkedPlan

if TYPE_CHECKING:
    from buckets.abstraction import Abstraction
    from spewy.learn.background_saves import Opener
    from spewy.learn.sampled import SampledEngine
    from spewy.learn.visit import VisitSettings
    from spewy.run.sampled_plan import SampledPlan
    from spewy.run.stores import Stores
    from spewy.system.cluster import Cluster


Note = Callable[[str], None]

APART = ("name", "boards", "rows", "solve")
"""Keys and sections that may differ between a job and the solve from which it starts."""


def walked_engine(plan: WalkedPlan, store: Store, folder: Path | None, note: Note) -> Engine:
    """Make the engine of a job that walks through all boards.

    ``folder`` is that of the store, None in memory; ``note`` is told when a worker of a cluster connects or
    disconnects.
    """
    solve, layout = plan.job.solve, plan.layout
    if plan.setup.engine == "program":
        from spewy.learn.lp import LpEngine

        return LpEngine(layout, store, plan.setup.threads)
    if plan.setup.engine == "stored":
        from spewy.learn.stored import StoredEngine

        settings = visit_settings(solve, plan.setup.variant, plan.job.first_live)
        on_cluster = solve.workers == "dask"
        cluster = connect(plan.job.dask or DaskSection(), note) if on_cluster else None
        return StoredEngine(layout, store, settings, solve.order, plan.setup.threads, cluster)
    game, schedule, exact = layout.live, variant(plan.setup.variant), plan.setup.exact
    solver: Solver
    if exact:
        kept = plan.memory_plan.kept
        solver = ExactCfr(
            game,
            schedule,
            threads=plan.setup.threads,
            short=solve.short,
            folder=folder if kept < 1 else None,
            kept=kept,
        )
    else:
        from solvers.reference.cfr import Cfr

        dtype = np.float32 if solve.precision == "single" else np.float64
        solver = Cfr(game, schedule, threads=plan.setup.threads, dtype=dtype)
    layout.forget_live()  # the solver has copied what it needs
    return LiveEngine(layout, store, solver, game.locks, exact=exact, threads=plan.setup.threads)


def visit_settings(solve: SolveSection, variant_name: str, first_live: int | None = None) -> VisitSettings:
    from spewy.learn.visit import VisitSettings

    iterations = solve.iterations or (1 if solve.integrate == "regret" else 50)
    return VisitSettings(
        solve.integrate,
        solve.method,
        variant_name,
        iterations,
        solve.tremble,
        first_live,
    )


def connect(settings: DaskSection, note: Note) -> Cluster:
    """Connect to a job's cluster, or start a cluster on this machine if the job has no address."""
    from joblib import cpu_count  # this import takes a tenth of a second

    from spewy.system.cluster import Cluster

    return Cluster(settings.address, settings.workers or cpu_count(), note)


def sampled_engine(
    plan: SampledPlan,
    stores: Stores,
    kept: Abstraction | None,
    start: Start | None,
    note: Note,
    progress: Callable[[int, int], object],
) -> Engine:
    """Make the engine of a job that samples boards; create its strategy locker if it is missing.

    Args:
        kept: board buckets and rows in the strategy locker; None: take them from the user's bucket locker, or compute
            them.
        start: regrets and averages with which a new solve begins; None: begin from zero.
        note: called with a text before long steps, and when a worker of a cluster connects or disconnects.
        progress: called with the numbers of finished and of all boards while board buckets are computed.
    """
    from spewy.chunks.bucket_locker import abstraction

    board_buckets = kept or abstraction(plan.spec, progress)
    with ExitStack() as opened:
        engine = _dealing_engine(plan, stores, board_buckets, note)
        opened.callback(engine.close)
        if start is not None and not engine.done:
            start.fill(engine, board_buckets)
            note(f"{plan.job.name}: {start.text}")
        with stores.play_or_new() as store:
            strategy_locker.begin(store, engine.lines, board_buckets.n_board_buckets, board_buckets.arrays)
        engine.save_to(stores.use, stores.play)
        opened.pop_all()
    return engine


def _dealing_engine(
    plan: SampledPlan, stores: Stores, board_buckets: Abstraction, note: Note
) -> SampledEngine:
    """Make the engine with threads on this machine or with a cluster's workers."""
    from spewy.learn.sampled import SampledEngine

    job, dealing = plan.job, plan.dealing
    if job.solve.workers != "dask":
        return SampledEngine(
            job.rules,
            plan.rounds,
            board_buckets,
            dealing.seed,
            threads=job.solve.workers,
            short=job.solve.short,
            cfr_br=dealing.cfr_br,
            opened=stores.read,
            check_flops=dealing.check_flops,
        )
    from spewy.learn.flop_engine import FlopEngine

    settings = job.dask or DaskSection()
    with ExitStack() as opened:
        cluster = opened.enter_context(connect(settings, note))
        engine = FlopEngine(
            job.rules,
            plan.rounds,
            board_buckets,
            dealing.seed,
            short=job.solve.short,
            cfr_br=dealing.cfr_br,
            opened=stores.read,
            cluster=cluster,
            shares=settings.workers,
            interval=settings.interval,
            check_flops=dealing.check_flops,
        )
        opened.pop_all()  # the engine closes the cluster
    return engine


@dataclass(frozen=True)
class Start:
    """Saved regrets and averages with which a new solve of the same game and betting begins.

    Attributes:
        origin: name of the solve, or of its stage, for the user.
        job: the job that made the regrets and averages.
        mark: number of deals, and seconds of work, that they include.
        opened: opens the store of regrets and averages for reading.
    """

    origin: str
    job: Job
    mark: Mark
    opened: Opener
    play: Opener

    @classmethod
    def of_folder(cls, folder: Path, plan: SampledPlan) -> Start:
        """Open the folder of another solve: see `require_start`."""
        job, mark = require_start(folder, plan)
        opened, play = (partial(open_store, path, read_only=True) for path in (folder, folder / FOLDER))
        return cls(str(folder), job, mark, opened, play)

    @property
    def text(self) -> str:
        """Description for the user, such as "starting from 3,000 deals of results/coarse"."""
        return f"starting from {self.mark.deals:,} deals of {self.origin}"

    def fill(self, engine: SampledEngine, board_buckets: Abstraction) -> None:
        with self.play() as store:
            arrays = StrategyLocker(store).arrays()
        old = board_abstraction(self.job.rules, arrays)
        engine.start_from(self.opened, old, board_buckets, self.mark, short=self.job.solve.short)


def require_start(folder: Path, plan: SampledPlan) -> tuple[Job, Mark]:
    """Check that a new solve can start from another solve's folder; return that solve's job and last save."""
    from spewy.run.sampled_plan import SampledPlan

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
    """Read the job of another solve, which must have the same game and betting as ``job``."""
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
