"""The engine that a plan names, bound to a store."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from lockers import Store
from solvers.discount import variant
from solvers.exact import ExactCfr
from solvers.reference.cfr import Cfr
from solvers.solver import Solver
from spewy.job.sections import DaskSection, SolveSection
from spewy.learn.engine import Engine
from spewy.learn.live_engine import LiveEngine
from spewy.learn.visit import VisitSettings
from spewy.run.cluster import open_cluster
from spewy.run.plan import Plan


def open_engine(plan: Plan, store: Store, folder: Path | None, note: Callable[[str], None]) -> Engine:
    """Get an engine ready; it goes on from what the store holds.

    Args:
        plan: of the job.
        store: its lockers.
        folder: where the store is; None: in memory.
        note: hears of workers of a cluster that come and go.

    Raises:
        MissingError: the job asks for a cluster, and Dask is not installed.
        InputError: it asks for one that is not there, or of another version.
    """
    solve, layout = plan.job.solve, plan.layout
    if plan.engine == "program":
        from spewy.learn.lp_engine import LpEngine

        return LpEngine(layout, store, plan.threads)
    if plan.engine == "stored":
        from spewy.learn.stored_engine import StoredEngine

        settings = visit_settings(solve, plan.variant, plan.job.first_live)
        on_cluster = solve.workers == "dask"
        cluster = open_cluster(plan.job.dask or DaskSection(), note) if on_cluster else None
        return StoredEngine(layout, store, settings, solve.order, plan.threads, cluster)
    game, schedule, exact = layout.live, variant(plan.variant), plan.engine == "exact"
    solver: Solver
    if exact:
        kept = plan.residence.kept
        solver = ExactCfr(
            game,
            schedule,
            threads=plan.threads,
            short=solve.short,
            folder=folder if kept < 1 else None,
            kept=kept,
        )
    else:
        dtype = np.float32 if solve.precision == "single" else np.float64
        solver = Cfr(game, schedule, threads=plan.threads, dtype=dtype)
    layout.forget_live()  # the solver has what it needs of it
    return LiveEngine(layout, store, solver, game.locks, exact=exact)


def visit_settings(solve: SolveSection, variant_name: str, first_live: int | None = None) -> VisitSettings:
    """How a job has stored chunks solved."""
    iterations = solve.iterations or (1 if solve.integrate == "regret" else 50)
    return VisitSettings(solve.integrate, solve.method, variant_name, iterations, solve.tremble, first_live)
