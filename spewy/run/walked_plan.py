"""Plans of jobs that walk through all boards: which engine solves a job, and how much stays in memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from solvers.discount import DEFAULT_VARIANT, Variant, exact_variant, variant
from solvers.exact import useful_threads
from solvers.exact.engine import MAX_ROUNDS
from spewy.chunks.boards import counted_exactly
from spewy.chunks.layout import Layout
from spewy.errors import InputError, size_text
from spewy.game.count import MAX_NODES, require_buildable
from spewy.job.job import MOST_POTS_SINGLE, Job
from spewy.job.texts import parse_memory
from spewy.run.bounds import lower_bounds
from spewy.run.cuts import cuts_text
from spewy.run.lp_size import lp_size, require_small
from spewy.run.memory_plan import MemoryPlan
from spewy.run.plan import Plan
from spewy.run.walked_cost import EngineName, EngineSetup, WalkedCost, walked_cost


@dataclass(frozen=True, kw_only=True)
class WalkedPlan(Plan):
    """Plan of a job that walks through all boards.

    Attributes:
        layout: boards and betting of the job.
        setup: the engine and its settings.
        memory_plan: how much of the engine's state stays in memory.
    """

    cost: WalkedCost
    layout: Layout
    setup: EngineSetup
    memory_plan: MemoryPlan

    @property
    def threads(self) -> int:
        """Number of threads that a run starts in addition to the main thread."""
        return 0 if self.job.solve.threads == 1 else self.job.solve.threads

    @property
    def restarts(self) -> bool:
        """Whether the solve restarts from its averages if its convergence is slow: rivers by the default variant."""
        return self.setup.exact and self.layout.n_rounds == 1 and self.job.solve.variant is None

    @property
    def most_rake(self) -> float:
        """Largest number of chips that the house takes from one hand."""
        forests = [bets.forest.arrays for bets in self.layout.betting]
        return max((float(arrays.rake.max()) for arrays in forests), default=0.0)

    def require(self, folder: Path | None = None) -> None:
        """Refuse a job that exceeds its memory; the message names changes to the job that save memory.

        Raises:
            InputError: the job needs more memory than ``solve.memory``.
        """
        if self.refusal is not None:
            raise InputError(f"{self.refusal}{cuts_text(self.job, self.memory_plan.least_bytes)}")

    @classmethod
    def of(
        cls,
        job: Job,
        *,
        streaming: bool,
        progress: Callable[[int], None] | None = None,
        cost: WalkedCost | None = None,
    ) -> WalkedPlan:
        """Make the plan of a job to be solved.

        Args:
            job: the job to plan.
            streaming: whether an exact solve may keep a part of its state in a file.
            progress: called for each board that is enumerated.
            cost: the job's cost, if it was estimated before and fits the job's memory; None: it is estimated now.

        Raises:
            InputError: the betting tree or the linear program is too large, the job exceeds its memory, or no engine
                supports the job's precision.
        """
        if cost is not None:
            return cls.on(job, Layout.of(job.problem, progress), streaming=streaming, cost=cost)
        require_possible(job)
        plan = cls.counted(job, streaming=streaming, progress=progress)
        if plan.layout.bucketed:
            return plan
        plan.require()
        layout = plan.layout.with_buckets(progress)
        same = counted_exactly(job.problem) and _engine(job, layout) == plan.setup.engine
        return cls.on(job, layout, streaming=streaming, cost=plan.cost if same else None)

    @classmethod
    def counted(
        cls, job: Job, *, streaming: bool, progress: Callable[[int], None] | None = None
    ) -> WalkedPlan:
        """Make a plan that only estimates the cost of a job: it counts the buckets of hands instead of computing them.

        The count may be only an upper bound. If the job exceeds its memory with such a bound, the buckets are computed.

        Raises:
            InputError: the tree or the linear program of the whole game is too large, or no engine supports the job's
                precision.
        """
        if job.one_program:
            require_small(job.name, lp_size(job.problem))
        plan = cls.on(job, Layout.counted(job.problem, progress), streaming=streaming)
        if plan.refusal is None or counted_exactly(job.problem):
            return plan
        return cls.on(job, plan.layout.with_buckets(progress), streaming=streaming)

    @classmethod
    def on(cls, job: Job, layout: Layout, *, streaming: bool, cost: WalkedCost | None = None) -> WalkedPlan:
        """Make the plan of a job with a given layout.

        Raises:
            InputError: the job samples boards, or no engine supports its precision.
        """
        job.require_walked(f"job {job.name}")
        setup, solve = _setup(job, layout), job.solve
        if cost is None:
            cost = walked_cost(layout, setup, lp_size(job.problem) if setup.engine == "program" else None)
        budget, needed = parse_memory(solve.memory), cost.memory_bytes
        streaming = streaming and setup.exact
        resides = MemoryPlan.of(layout, needed, setup.itemsize, solve.threads, budget, streaming=streaming)
        fits = resides.least_bytes <= budget
        refusal = None if fits else _refusal(job, needed, resides.least_bytes if streaming else None)
        return cls(job=job, cost=cost, refusal=refusal, layout=layout, setup=setup, memory_plan=resides)


def require_possible(job: Job) -> None:
    """Refuse a job whose lower bounds show that it is too large, before its boards are enumerated.

    Raises:
        InputError: the betting tree is too large to be built, or a lower bound on the job's memory exceeds
            ``solve.memory``.
    """
    count, least = job.tree_count, lower_bounds(job)
    if least.memory_bytes > parse_memory(job.solve.memory):
        nodes = f"{count.nodes:,}" if count.complete else f"more than {MAX_NODES:,}"
        raise InputError(
            f"solve.memory: this job needs at least {size_text(least.memory_bytes)} for {nodes} betting nodes "
            f"on at least {sum(least.boards):,} boards, found {job.solve.memory}"
            f"{cuts_text(job, least.memory_bytes)}"
        )
    require_buildable(count)


def supported(layout: Layout, schedule: Variant) -> bool:
    """Whether the exact engine supports the game of a layout with a variant of CFR, found without building the game."""
    return (
        layout.n_rounds <= MAX_ROUNDS
        and not schedule.predictive
        and layout.problem.game.num_hole_cards == 2
        and all(_by_hand(layout, t, p) for t in range(layout.n_rounds) for p in (0, 1))
    )


def _by_hand(layout: Layout, t: int, p: int) -> bool:
    """Whether each hand of player ``p`` in round ``t`` has a row of its own, and rows are in the order of the hands."""
    if layout.problem.rows[layout.boards[t].round] is None:
        return True
    rows = [board.hands[p] for board in layout.boards[t].boards]
    width = max(len(hands.numbers) for hands in rows)
    padded = (np.pad(hands.row, (0, width - len(hands.numbers))) for hands in rows)
    return max(hands.n_rows for hands in rows) == width and all(
        np.array_equal(group, np.arange(width)) for group in padded
    )


def _setup(job: Job, layout: Layout) -> EngineSetup:
    """Choose the engine of a job and its settings.

    Raises:
        InputError: no engine supports the job's precision.
    """
    engine, solve = _engine(job, layout), job.solve
    exact = engine == "exact"
    return EngineSetup(
        engine=engine,
        variant=solve.variant or (exact_variant(layout.n_rounds) if exact else DEFAULT_VARIANT),
        itemsize=2 if solve.short else 4 if exact or solve.precision == "single" else 8,
        threads=useful_threads(layout.live, solve.threads) if exact else solve.threads,
        integrate=solve.integrate,
        first_live=job.first_live,
        first_dropped=job.first_dropped,
    )


def _engine(job: Job, layout: Layout) -> EngineName:
    """Choose the engine of a job.

    The exact engine needs live leaves, a row for each hand of two cards, and a precision below double.

    Raises:
        InputError: the job asks for 16 bits, and the exact engine cannot solve it; or the stacks are too deep for the
            precision that the job asks for.
    """
    solve = job.solve
    able = (
        job.live
        and not job.one_program
        and supported(layout, variant(solve.variant or exact_variant(layout.n_rounds)))
    )
    if solve.short and not able:
        raise InputError(
            'solve.precision: "16-bit" works only with live leaves, a row for each hand of two cards, and a variant '
            "of CFR that is not predictive; choose another precision"
        )
    if job.too_deep_for_single and solve.precision in ("16-bit", "single"):
        raise InputError(
            f'solve.precision: expected "auto" or "double" for a stack above {MOST_POTS_SINGLE:,} pots, '
            f'found "{solve.precision}"'
        )
    if able and solve.precision != "double" and not job.too_deep_for_single:
        return "exact"
    return "program" if job.one_program else "live" if job.live else "stored"


def _refusal(job: Job, needed: int, streaming: int | None) -> str:
    """Return the error message that a job exceeds its memory.

    Args:
        job: the job that exceeds its memory.
        needed: bytes of a solve with everything in memory.
        streaming: bytes in memory of a solve that streams the last round from disk; None: the job cannot stream.
    """
    if streaming is None:
        needs, limit = f"{size_text(needed)} without the interpreter", job.solve.memory
    else:
        most = f"{size_text(needed)} to keep everything in memory"
        needs = f"at least {size_text(streaming)} without the interpreter ({most})"
        limit = size_text(parse_memory(job.solve.memory))
    return f"solve.memory: this job needs {needs}, found {limit}"
