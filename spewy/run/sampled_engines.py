"""Make the engine of a job that samples boards; the engine continues from the stores of the solve and saves to them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING

from spewy.chunks.bucket_locker import abstraction
from spewy.job.sections import DaskSection
from spewy.learn.engine import Engine
from spewy.learn.sampled import SampledEngine
from spewy.records import strategy_locker
from spewy.run.engines import Note, connect
from spewy.run.sampled_plan import SampledPlan
from spewy.run.start_from import Start
from spewy.run.stores import Stores

if TYPE_CHECKING:
    from buckets.abstraction import Abstraction


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
        plan: plan of the job.
        stores: stores of the solve, from which the engine continues.
        kept: board buckets and rows in the strategy locker; None: take them from the user's bucket locker, or compute
            them.
        start: regrets and averages with which a new solve begins; None: begin from zero.
        note: called with a text before long steps, and when a worker of a cluster connects or disconnects.
        progress: called with the number of finished boards and the number of all boards while board buckets are
            computed.

    Raises:
        MissingError: the job is to be solved on a cluster, and Dask is not installed.
        InputError: no scheduler answers, or all workers have another version of spewy; or the new solve cannot begin
            with the given regrets.
        lockers.LockerError: the stores are damaged.
    """
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
    """Make the engine of a job that samples boards, with threads on this machine or with a cluster's workers."""
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
