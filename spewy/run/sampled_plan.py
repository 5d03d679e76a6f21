"""Plan the solve of a job that samples boards: its cost, and whether it fits the job's memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from buckets.abstraction import AbstractionSpec
from spewy.chunks.bucket_locker import Sizes, kept_sizes
from spewy.chunks.rounds import LineForest, line_forests
from spewy.errors import InputError, size_text
from spewy.game.count import MAX_NODES, require_buildable
from spewy.game.gamefile import Game
from spewy.job.job import Job
from spewy.job.settings import Dealing
from spewy.job.texts import parse_memory
from spewy.run.plan import Plan
from spewy.run.sampled_cost import SampledCost, itemsize, n_board_buckets, n_rows, sampled_cost


@dataclass(frozen=True, kw_only=True)
class SampledPlan(Plan):
    """Plan of a job that samples boards.

    Attributes:
        dealing: settings of the sampling, such as its seed.
        spec: the board buckets and rows that the job asks for.
        rounds: the betting lines of each round.
    """

    cost: SampledCost
    dealing: Dealing
    spec: AbstractionSpec
    rounds: list[LineForest]

    @classmethod
    def of(cls, job: Job, *, made: Sizes | None = None, in_memory: bool = False) -> SampledPlan:
        """Make the plan of a job.

        Args:
            job: the job to plan.
            made: numbers of board buckets and rows in the job's folder; None: the folder has none.
            in_memory: whether the lockers are in memory instead of in a folder.

        Raises:
            InputError: the betting tree is too large to be built, or a lower bound on the job's memory exceeds
                ``solve.memory``.
            buckets.BoardError: the game has too many boards to number them.
        """
        assert job.dealing is not None
        dealing, spec = job.dealing, spec_of(job.rules, job.dealing)
        made = made or kept_sizes(spec)
        board_buckets, rows = made or (n_board_buckets(spec), n_rows(spec))
        _require_possible(job, board_buckets, rows)
        rounds = line_forests(job.betting_tree)

        def estimate(job: Job) -> SampledCost:
            cost = sampled_cost(job, spec, rounds, board_buckets, rows, made=made is not None)
            kept = cost.disk_bytes if in_memory else 0
            return replace(
                cost, memory_bytes=cost.memory_bytes + kept, process_bytes=cost.process_bytes + kept
            )

        cost, refusal = estimate(job), None
        if cost.memory_bytes > parse_memory(job.solve.memory):
            short = None if job.solve.short else estimate(job.replace(precision="16-bit"))
            refusal = _refusal(job, cost, short)
        return cls(job=job, cost=cost, refusal=refusal, dealing=dealing, spec=spec, rounds=rounds)

    @property
    def threads(self) -> int:
        """Number of threads that a run starts, including a thread for saves."""
        return self.job.solve.threads + 1

    @property
    def most_rake(self) -> float:
        """Largest number of chips that the house takes from one hand: 0, since whole games have no rake."""
        return 0.0


def spec_of(game: Game, dealing: Dealing) -> AbstractionSpec:
    """Return the specification of the board buckets and rows that a job asks for."""
    return AbstractionSpec(
        game.deck,
        game.num_hole_cards,
        tuple(game.num_board_cards),
        tuple("all" if k is None else k for k in dealing.board_buckets),
        tuple("hands" if k is None else k for k in dealing.rows),
        remember=dealing.remember,
    )


def _refusal(job: Job, cost: SampledCost, short: SampledCost | None) -> str:
    """Return the error message that a job exceeds its memory; ``short`` is its cost with 16-bit numbers."""
    halved = ""
    if short is not None and short.memory_bytes < cost.memory_bytes:
        halved = _in_16_bits(short.memory_bytes)
    return (
        f"solve.memory: this job needs at least {size_text(cost.memory_bytes)} without the "
        f"interpreter{halved}, found {job.solve.memory}"
    )


def _require_possible(job: Job, board_buckets: Sequence[int], rows: Sequence[int]) -> None:
    """Refuse a job whose numbers of lines and rows alone show that it is too large; the tree is not built.

    Args:
        job: the job to check.
        board_buckets: number of board buckets of each round.
        rows: number of rows of a board bucket of each round.

    Raises:
        InputError: the job exceeds ``solve.memory``, or its betting tree is too large to be built.
    """
    count = job.tree_count
    per_class = [k * sum(one.slots) for k, one in zip(rows, count.rounds, strict=False)]
    least = 2 * itemsize(job) * int(np.dot(per_class, board_buckets[: len(per_class)]))
    if least > parse_memory(job.solve.memory):
        lines = ", ".join(f"{one.lines:,}" for one in count.rounds)
        more = "" if count.complete else f" (more than {MAX_NODES:,} betting nodes)"
        halved = "" if job.solve.short else _in_16_bits(least // 2)
        raise InputError(
            f"solve.memory: this job needs at least {size_text(least)}{halved} for {lines} lines by "
            f"round{more}, found {job.solve.memory}"
        )
    require_buildable(count)


def _in_16_bits(needed: int) -> str:
    return f', {size_text(needed)} with solve.precision = "16-bit"'
