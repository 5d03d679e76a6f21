"""Make the engine that solves a planned job; it continues from the stores of the solve, and saves to them."""

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
    """Make the engine of a job that samples boards; create its strategy locker if it is missing.

    Args:
        plan: plan of the job.
        stores: stores of the solve, from which the engine continues.
        kept: board buckets and rows in the strategy locker; None: take them from the user's bucket locker, or compute
            them.
        start: folder of another solve; a new solve begins with the regrets and averages in it. None: begin from zero.
        note: called with a text before long steps, and when a worker of a cluster connects or disconnects.
        progress: called with the number of finished boards and the number of all boards while board buckets are
            computed.

    Raises:
        MissingError: the job is to be solved on a cluster, and Dask is not installed.
        InputError: no scheduler answers, or all workers have another version of spewy; or the new solve cannot begin
            with the other solve's regrets.
        lockers.LockerError: the stores are damaged.
    """
    board_buckets = kept or abstraction(plan.spec, progress)
    with ExitStack() as opened:
        engine = _dealing_engine(plan, stores, board_buckets, note)
        opened.callback(engine.close)
        if start is not None and not engine.done:
            mark = start_from(start, plan, engine, board_buckets)
            note(f"{plan.job.name}: starting from {mark.deals:,} deals of {start}")
        with stores.play_or_new() as store:
            strategy_locker.begin(store, engine.lines, board_buckets.n_board_buckets, board_buckets.arrays)
        engine.save_to(stores.use, stores.play)
        opened.pop_all()
    return engine


def visit_settings(solve: SolveSection, variant_name: str, first_live: int | None = None) -> VisitSettings:
    """Make the settings of visits to stored chunks.

    Args:
        solve: the section ``[solve]`` of the job.
        variant_name: variant of CFR.
        first_live: first round of the game whose chunks are live; None: all chunks are stored.
    """
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
    """Make the engine of a job that samples boards, with threads on this machine or with a cluster's workers."""
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
    """Connect to a job's cluster, or start a cluster on this machine if the job has no address.

    Raises:
        MissingError: Dask is not installed.
        InputError: no scheduler answers, or all of its workers have another version of spewy.
    """
    from joblib import cpu_count  # imported here, since the import takes a tenth of a second

    return Cluster(settings.address, settings.workers or cpu_count(), note)
