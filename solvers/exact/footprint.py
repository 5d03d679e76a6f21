"""Memory of a solve with the exact engine, computed before anything but the game is allocated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from compiled.records import Records
from compiled.vector import WIDTH
from solvers.exact.context import COMMON, n_tasks, workspace
from solvers.exact.program import Program, padded, program
from solvers.exact.tables import distinct
from solvers.game import Deal, LiveGame, Round

SINGLE = 4  # bytes of a float32, and of a row number
DOUBLE = 8


@dataclass(frozen=True)
class Footprint:
    """Memory that a solve takes, in bytes, by purpose.

    Attributes:
        state: bytes of regrets and sums, equal to `ExactCfr.state_bytes`.
        tables: bytes of betting steps, cards, strengths and maps between rounds.
        buffers: bytes of the buffers of all threads.
    """

    state: int
    tables: int
    buffers: int


def footprint(game: LiveGame, *, threads: int, short: bool) -> Footprint:
    """Compute the memory that `ExactCfr` will take for a game.

    Args:
        game: the game.
        threads: number of threads.
        short: whether regrets and sums have 16 bits instead of 32.
    """
    state = tables = buffers = 0
    for t, r in enumerate(game.rounds):
        rows = [padded_rows(r, p) for p in (0, 1)]
        programs = [program(r.forest, p, {}) for p in (0, 1)]
        state += sum(_state(r, p, int(rows[p].sum()), short) for p in (0, 1))
        tables += sum(3 * SINGLE * int(rows[p].sum()) for p in (0, 1)) + sum(map(_bytes, programs))
        if r.deal is None:
            tables += 2 * 2 * SINGLE * _classes(r)
        else:
            tables += sum(_deal(r.deal, padded_rows(game.rounds[t + 1], p), p) for p in (0, 1))
        own, common = _buffers(programs, rows)
        buffers += threads * own + (1 if t == 0 else threads) * common
        if t == 0 and r.deal is not None:
            tasks = n_tasks(len(game.rounds), len(r.deal.child))
            buffers += tasks * SINGLE * max(int(rows[p][0]) * programs[p].exit_width for p in (0, 1))
        if t == 1 and r.deal is not None:  # values at chance leaves, in single and in double precision
            kept = sum(int(rows[p].sum()) * programs[p].exit_width for p in (0, 1))
            buffers += kept * (SINGLE + DOUBLE)
    tables += sum(SINGLE * lock.frequencies.size for lock in game.locks)
    return Footprint(state, tables, buffers)


def padded_rows(r: Round, p: int) -> np.ndarray:
    """Number of player p's rows on each board, padded to whole blocks of 16: ``[board]``."""
    return np.array([padded(int(n), WIDTH) for n in r.hands[p].n_hands])


def _state(r: Round, p: int, n_rows: int, short: bool) -> int:
    return 2 * n_rows * r.forest.n_slots[p] * (2 if short else SINGLE)


def _classes(r: Round) -> int:
    """Number of different strengths on each board, summed over all boards."""
    first, second = r.hands
    return sum(
        len(distinct(first.strength[b, : first.n_hands[b]], second.strength[b, : second.n_hands[b]]))
        for b in range(r.n_boards)
    )


def _deal(deal: Deal, below: np.ndarray, p: int) -> int:
    return SINGLE * (int(below[deal.child].sum()) + deal.child_row[p].size)


def _buffers(programs: list[Program], rows: list[np.ndarray]) -> tuple[int, int]:
    """Bytes of one thread's own buffers in a round, and of the buffers that threads share on the first board.

    Args:
        programs: for each traverser the steps of the round's betting.
        rows: for each player the number of rows on each board, as `padded_rows` returns it.
    """
    largest = [int(n.max()) // WIDTH for n in rows]
    needed = [workspace(programs[p], largest, p) for p in (0, 1)]
    common = sum(getattr(s, name).nbytes for s in needed for name in COMMON)
    return sum(map(_bytes, needed)) - common, common


def _bytes(arrays: Any) -> int:
    return sum(array.nbytes for array in arrays if isinstance(array, np.ndarray | Records))
