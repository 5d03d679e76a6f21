"""Compute lower bounds on the cost of a solve from counts, so that far too large jobs are refused at once.

Suit symmetry merges boards that a permutation of the suits maps to each other. So the number of boards after merging,
and the number of hands on all of them, are at least the numbers before merging divided by the number of permutations
that leave the root and both ranges unchanged.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np

from solvers.discount import DEFAULT_VARIANT, variant
from solvers.exact.context import MOST_TASKS, SINGLE
from solvers.exact.engine import MAX_ROUNDS
from spewy.chunks.problem import root_symmetries
from spewy.game.count import TreeCount
from spewy.job.job import Job
from spewy.run.walked_cost import BYTES_PER_BOARD, BYTES_PER_NODE, BYTES_PER_ROW

LOCKERS = 2  # regrets and strategy sums; some variants also store predictions


@dataclass(frozen=True)
class Bounds:
    """Lower bounds on the cost of a job (`spewy.run.walked_cost.WalkedCost`).

    Attributes:
        boards, chunks: numbers of boards and chunks per round, from the round of the root on.
        memory_bytes: memory without interpreter and libraries, and without regrets and strategy sums that may stream
            from disk.
    """

    boards: tuple[int, ...]
    chunks: tuple[int, ...]
    memory_bytes: int


def lower_bounds(job: Job) -> Bounds:
    """Compute lower bounds on the cost of a job that walks through all boards.

    Raises:
        InputError: the job samples boards.
    """
    job.require_walked(f"job {job.name}")
    count, (boards, rows, most) = job.tree_count, _boards_and_rows(job)
    tables = (
        BYTES_PER_NODE * count.nodes + BYTES_PER_BOARD * sum(boards) + BYTES_PER_ROW * sum(map(sum, rows))
    )
    buckets = [k is not None for k in job.rows_by_round[job.tree_config.start_round :]]
    fewest = 0 if job.rows.weights == "ranges" else 1  # number of rows of a board with buckets of hands
    cells = [
        sum(slots * (fewest * n if bucketed else own) for slots, own in zip(one.slots, held, strict=True))
        for one, n, held, bucketed in zip(count.rounds, boards, rows, buckets, strict=True)
    ]
    if _may_stream(job) and len(cells) > 1:
        cells[-1] //= max(MOST_TASKS)
    chunks = tuple(n * one.lines for n, one in zip(boards, count.rounds, strict=True))
    buffers = _buffers(count, most) if is_exact(job) else 0
    return Bounds(boards, chunks, tables + sum(cells) * _bytes_of_a_cell(job) + buffers)


def number_of_cells(job: Job) -> float:
    """Estimate the number of regrets of a job with a row for each hand: one for each action of each hand."""
    _, rows, _ = _boards_and_rows(job)
    return float(
        sum(
            slots * held
            for one, of_round in zip(job.tree_count.rounds, rows, strict=True)
            for slots, held in zip(one.slots, of_round, strict=True)
        )
    )


def thread_bytes(job: Job) -> int:
    """Return a lower bound in bytes on one thread's buffers; 0 if the exact engine does not solve the job."""
    return _buffers(job.tree_count, _boards_and_rows(job)[2]) if is_exact(job) else 0


def is_exact(job: Job) -> bool:
    """Whether the exact engine is certain to solve the job."""
    return (
        _may_stream(job)
        and not job.one_program
        and not job.too_deep_for_single
        and job.rules.num_hole_cards == 2
        and all(k is None for k in job.rows_by_round)
        and not variant(job.solve.variant or DEFAULT_VARIANT).predictive
    )


def _boards_and_rows(job: Job) -> tuple[tuple[int, ...], list[tuple[int, int]], list[int]]:
    """Compute lower bounds on the numbers of boards and hands.

    Returns:
        Three lists with an item for each round, from the round of the root on: the number of boards, each player's
        number of hands on all boards together, and both players' mean number of hands on one board.
    """
    game, first = job.rules, job.tree_config.start_round
    perms = len(root_symmetries(game, job.history, job.weights)) if job.solve.symmetry else 1
    held = [int(np.count_nonzero(weights)) for weights in job.weights]
    left = len(game.deck) - len(job.board)
    boards = avoiding = 1  # number of possible deals, and of possible deals that do not block a given hand
    out, rows, most = [1], [(held[0], held[1])], [sum(held)]
    for dealt in game.num_board_cards[first + 1 :]:
        boards *= comb(left, dealt)
        avoiding *= comb(left - game.num_hole_cards, dealt)
        left -= dealt
        out.append(-(-boards // perms))
        rows.append((-(-held[0] * avoiding // perms), -(-held[1] * avoiding // perms)))
        most.append(sum(n * avoiding // boards for n in held))
    return tuple(out), rows, most


def _buffers(count: TreeCount, most: list[int]) -> int:
    """Return a lower bound in bytes on the buffers of one thread of the exact engine.

    The buffers have a reach and a value for each hand and each fold or showdown.

    Args:
        count: numbers of lines, folds and showdowns per round.
        most: number of both players' hands on one board, per round.
    """
    endings = [max(one.folds, one.showdowns) for one in count.rounds]
    return sum(2 * SINGLE * n * hands for n, hands in zip(endings, most, strict=True))


def _may_stream(job: Job) -> bool:
    """Whether the exact engine may solve the job, with a part of the last round's state on disk."""
    rounds = job.rules.num_rounds - job.tree_config.start_round
    return job.live and job.solve.precision != "double" and rounds <= MAX_ROUNDS


def _bytes_of_a_cell(job: Job) -> int:
    """Return the bytes in memory for the regret and the strategy sum of one action of one row."""
    if not job.live:
        return 8  # a strategy sum, while exploitability is measured
    if job.solve.short:
        return LOCKERS * 2
    return LOCKERS * (4 if job.solve.precision == "single" or _may_stream(job) else 8)
