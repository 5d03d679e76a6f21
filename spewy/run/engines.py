"""Make the engine of a planned job that walks through all boards, or that samples boards (`sampled_engines`).

The engine continues from the stores of the solve, and saves to them. Functions import the engines that they make, since
a start loads one of them.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lockers import Store
from solvers.discount import variant
from solvers.exact import ExactCfr
from solvers.solver import Solver
from spewy.job.sections import DaskSection, SolveSection
from spewy.learn.engine import Engine
from spewy.learn.live import LiveEngine
from spewy.run.walked_plan import WalkedPlan

if TYPE_CHECKING:
    from spewy.learn.visit import VisitSettings
    from spewy.system.cluster import Cluster

Note = Callable[[str], None]


def walked_engine(plan: WalkedPlan, store: Store, folder: Path | None, note: Note) -> Engine:
    """Make the engine of a job that walks through all boards; the engine continues from the store.

    Args:
        plan: plan of the job.
        store: the solve's lockers, open for writing.
        folder: folder of the store; None: the store is in memory.
        note: called with a text when a worker of a cluster connects or disconnects.

    Raises:
        MissingError: the job is to be solved on a cluster, and Dask is not installed.
        InputError: no scheduler answers, or all workers have another version of spewy.
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
    """Make the settings of visits to stored chunks.

    Args:
        solve: the section ``[solve]`` of the job.
        variant_name: variant of CFR.
        first_live: first round of the game whose chunks are live; None: all chunks are stored.
    """
    from spewy.learn.visit import VisitSettings

    iterations = solve.iterations or (1 if solve.integrate == "regret" else 50)
    return VisitSettings(
        solve.integrate,
        solve.method,
        variant_name,
        iterations,
        solve.tremble,
        first_live,
        solve.estimate,
    )


def connect(settings: DaskSection, note: Note) -> Cluster:
    """Connect to a job's cluster, or start a cluster on this machine if the job has no address.

    Raises:
        MissingError: Dask is not installed.
        InputError: no scheduler answers, or all of its workers have another version of spewy.
    """
    from joblib import cpu_count  # this import takes a tenth of a second

    from spewy.system.cluster import Cluster

    return Cluster(settings.address, settings.workers or cpu_count(), note)
