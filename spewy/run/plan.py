"""What a run will do, decided before it starts: which engine, what it costs, and whether that is allowed."""

from __future__ import annotations

from collections.abc import Callable

from solvers.exact import supports, useful_threads
from solvers.variants import DEFAULT_VARIANT, EXACT_VARIANT, variant
from spewy.chunks.layout import Layout
from spewy.errors import InputError
from spewy.game.count import MAX_NODES, require_buildable
from spewy.job.job import MOST_POTS_SINGLE, Job
from spewy.job.units import parse_memory, parse_target, unit_chips
from spewy.learn.lp_size import lp_size, require_small
from spewy.run.estimate import Estimate, estimate
from spewy.run.least import least_cost
from spewy.run.residence import kept_share, last_state

STORED_SHARDS = 8


def exact(job: Job, layout: Layout) -> bool:
    """Whether the exact engine solves a job: live leaves, a row per hand of hold'em, not in double precision.

    Raises:
        InputError: 16 bits are asked for where it does not.
    """
    solve = job.solve
    able = job.live and not job.one_program and supports(layout.live, variant(solve.variant or EXACT_VARIANT))
    if solve.short and not able:
        raise InputError(
            'solve.precision: "16-bit" needs the exact engine: expected live leaves, a row per hand of two cards '
            "and a variant that does not predict"
        )
    if job.too_deep_for_single:
        if solve.precision in ("16-bit", "single"):
            raise InputError(
                f'solve.precision: expected "auto" or "double" for a stack above {MOST_POTS_SINGLE:,} pots, '
                f'found "{solve.precision}"'
            )
        return False
    return able and solve.precision != "double"


def lay_out(job: Job, progress: Callable[[int], None] | None = None) -> Layout:
    """The layout of a job, if it can fit the job's memory at all.

    Raises:
        InputError: a lower bound, made before anything is built, exceeds ``solve.memory``, or the tree is too large, or
            the linear program of the whole game would be.
    """
    require_possible(job)
    problem = job.problem()
    if job.one_program:
        require_small(job.name, lp_size(problem))
    return Layout.of(problem, progress)


def require_possible(job: Job) -> None:
    """Refuse a job that is too large whatever its boards and strategies are in detail.

    Raises:
        InputError: its betting tree is too large to be built, or a lower bound on its memory exceeds ``solve.memory``.
    """
    count, least = job.tree_count, least_cost(job)
    if least.memory_bytes > parse_memory(job.solve.memory):
        nodes = f"{count.nodes:,}" if count.complete else f"more than {MAX_NODES:,}"
        raise InputError(
            f"solve.memory: this job needs at least {least.memory_bytes / 2**20:,.0f} MiB for {nodes} betting nodes "
            f"on at least {sum(least.boards):,} boards, found {job.solve.memory}"
        )
    require_buildable(count)


def job_estimate(job: Job, layout: Layout) -> Estimate:
    """The cost of a job on its layout."""
    exactly = exact(job, layout)
    precision = job.solve.precision
    return estimate(
        layout,
        live=job.live,
        exact=exactly,
        variant_name=job.solve.variant or DEFAULT_VARIANT,
        itemsize=2 if job.solve.short else 4 if exactly or precision == "single" else 8,
        threads=useful_threads(layout.live, job.solve.workers) if exactly else job.solve.workers,
        integrate=job.solve.integrate,
        shards=STORED_SHARDS if job.first_live is None else 1,
        first_live=job.first_live,
        program=lp_size(layout.problem) if job.one_program else None,
    )


def require_solvable(job: Job, layout: Layout, cost: Estimate, *, streaming: bool = False) -> None:
    """Refuse a job that may not start; ``streaming``: an exact solve may keep a part of its state on disk.

    Raises:
        InputError: its cost exceeds ``solve.memory``, or the target's unit is not one of the problem's.
    """
    unit_chips(job.rules, job.pot, parse_target(job.solve.target)[1])
    if streaming and exact(job, layout):
        kept(job, layout, cost)
    elif cost.memory_bytes > parse_memory(job.solve.memory):
        raise InputError(
            f"solve.memory: this job needs {cost.memory_bytes / 2**20:.0f} MiB beside the interpreter, "
            f"found {job.solve.memory}"
        )


def streamed_bytes(job: Job, layout: Layout, cost: Estimate) -> int | None:
    """Bytes of an exact solve's state that lie in a file instead of memory; None if the job does not fit its memory."""
    if cost.memory_bytes <= parse_memory(job.solve.memory):
        return 0
    if not exact(job, layout):
        return None
    try:
        kept(job, layout, cost)
    except InputError:
        return None
    return last_state(layout, itemsize(job))


def itemsize(job: Job) -> int:
    """Bytes of a regret or sum of the exact engine."""
    return 2 if job.solve.short else 4


def kept(job: Job, layout: Layout, cost: Estimate) -> float:
    """The share of an exact solve's last round that stays in memory."""
    budget = parse_memory(job.solve.memory)
    return kept_share(layout, cost.memory_bytes, itemsize(job), job.solve.workers, budget)
