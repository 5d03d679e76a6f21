"""Make the engine that a plan names, and bind it to the stores of the solve."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lockers import Store
from solvers.discount import variant
from solvers.exact import ExactCfr
from solvers.reference.cfr import Cfr
from solvers.solver import Solver
from spewy.chunks.abstractions import abstraction
from spewy.job.sections import DaskSection, SolveSection
from spewy.learn.engine import Engine
from spewy.learn.live import LiveEngine
from spewy.learn.visit import VisitSettings
from spewy.records import strategy_locker
from spewy.run.sampled_plan import SampledPlan
from spewy.run.start_from import start_from
from spewy.run.stores import Stores
from spewy.run.walked_plan import WalkedPlan
from spewy.system.cluster import Cluster

if TYPE_CHECKING:
    from buckets.abstraction import Abstraction
    from spewy.learn.sampled import SampledEngine

Note = Callable[[str], None]


def walked_engine(plan: WalkedPlan, store: Store, folder: Path | None, note: Note) -> Engine:
    """Make the engine of a job that walks through all boards; the engine continues from the store.

    Args:
        plan: plan of the job.
        store: the lockers.
        folder: folder of the store; None: in memory.
        note: called with a text when a cluster's worker comes or goes.

    Raises:
        MissingError: the job asks for a cluster, and Dask is not installed.
        InputError: the job asks for a cluster that is not there, or is of another version.
    """
    solve, layout = plan.job.solve, plan.layout
    if plan.setup.engine == "program":
        from spewy.learn.lp import LpEngine

        return LpEngine(layout, store, plan.setup.threads)
    if plan.setup.engine == "stored":
        from spewy.learn.stored import StoredEngine

        settings = visit_settings(solve, plan.setup.variant, plan.job.first_live)
        on_cluster = solve.workers == "dask"
        cluster = _cluster(plan.job.dask or DaskSection(), note) if on_cluster else None
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
        dtype = np.float32 if solve.precision == "single" else np.float64
        solver = Cfr(game, schedule, threads=plan.setup.threads, dtype=dtype)
    layout.forget_live()  # the solver has copied what it needs
    return LiveEngine(layout, store, solver, game.locks, exact=exact, threads=plan.setup.threads)


def sampled_engine(
    plan: SampledPlan,
    stores: Stores,
    kept: Abstraction | None,
    start: Path | None,
    note: Note,
    progress: Callable[[int, int], object],
) -> Engine:
    """Make the engine of a job whose boards are dealt, and its strategy locker.

    Args:
        plan: plan of the job.
        stores: stores of the solve, from which the engine goes on.
        kept: board buckets and rows that the strategy locker holds; None: the user's, which may have to be made.
        start: folder of another solve, from whose numbers a new solve begins.
        note: called with a text before long steps, and when a cluster's worker comes or goes.
        progress: called with (boards done, boards in all) while board buckets are made.

    Raises:
        InputError, MissingError: as `walked_engine`, or as `start_from`.
        lockers.LockerError: what the stores hold is damaged.
    """
    board_buckets = kept or abstraction(plan.spec, progress)
    with ExitStack() as opened:
        engine = _dealing_engine(plan, stores, board_buckets, note)
        opened.callback(engine.close)
        if start is not None and not engine.done:
            mark = start_from(start, plan, engine, board_buckets)
            note(f"{plan.job.name}: starting from {mark.deals:,} deals of {start}")
        with stores.play_or_new() as store:
            strategy_locker.begin(store, engine.lines, board_buckets.n_classes, board_buckets.arrays)
        engine.save_to(stores.use, stores.play)
        opened.pop_all()
    return engine


def visit_settings(solve: SolveSection, variant_name: str, first_live: int | None = None) -> VisitSettings:
    """Settings of the visits to stored chunks."""
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


def _dealing_engine(
    plan: SampledPlan, stores: Stores, board_buckets: Abstraction, note: Note
) -> SampledEngine:
    """Make the engine, with local threads or with a cluster's workers."""
    job, dealing = plan.job, plan.dealing
    if job.solve.workers != "dask":
        from spewy.learn.sampled import SampledEngine

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
        cluster = opened.enter_context(_cluster(settings, note))
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


def _cluster(settings: DaskSection, note: Note) -> Cluster:
    """Reach a job's cluster, or start one on this machine.

    Raises:
        MissingError: Dask is not installed.
        InputError: there is no scheduler, or all of its workers are of another version.
    """
    from joblib import cpu_count  # a tenth of a second, which other jobs shall not pay

    return Cluster(settings.address, settings.workers or cpu_count(), note)
