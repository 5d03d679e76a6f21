"""What a solve will cost, before it starts: chunks, information sets, memory and disk."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np

from solvers.variants import variant
from spewy.solve.boards import symmetries
from spewy.solve.layout import Layout
from spewy.solve.problem import Problem

BYTES_PER_ROW = 2 * 5 * 8  # both players: hand, strength, group, weight, twin


@dataclass(frozen=True)
class Estimate:
    """Counts of a problem after suit symmetry, and bytes.

    Attributes:
        boards, chunks: per round from the root's.
        short_boards: per round, boards with fewer kinds of hands than the rows that the job asks for.
        information_sets: (decision, row) pairs of both players, all boards.
        state_bytes: regrets, sums (and guesses) of all chunks.
        table_bytes: cards, strengths and maps between rounds.
        payoff_bytes: stored payoff matrices; 0 where leaves are live.
        memory_bytes: what the main process needs beside interpreter and libraries.
        disk_bytes: what the lockers will hold.
    """

    boards: tuple[int, ...]
    chunks: tuple[int, ...]
    short_boards: tuple[int, ...]
    information_sets: int
    state_bytes: int
    table_bytes: int
    payoff_bytes: int
    memory_bytes: int
    disk_bytes: int


def estimate(layout: Layout, *, live: bool, variant_name: str, itemsize: int, integrate: str) -> Estimate:
    """Count the chunks of a layout and add up the bytes of their arrays."""
    predictive = variant(variant_name).predictive
    copies = 1 if integrate == "average" else 3 if predictive else 2
    boards, chunks, short = [], [], []
    cells = padded = information_sets = payoff_cells = values = 0
    by_hand = [k is None for k in layout.problem.rows]
    for t, (bets, table) in enumerate(zip(layout.betting, layout.boards, strict=False)):
        boards.append(len(table.boards))
        chunks.append(len(table.boards) * len(bets.chunks))
        slots = np.array(bets.forest.n_slots)
        rows = np.array([layout.n_rows(t, b) for b in range(len(table.boards))])
        asked = layout.problem.rows[table.round]
        short.append(0 if asked is None else int((rows.min(axis=1) < asked).sum()))
        cells += int((rows @ slots).sum())
        padded += len(rows) * int(rows.max(axis=0) @ slots)
        a = bets.forest.arrays
        decisions = np.array([int(np.sum(a.player == p)) for p in (0, 1)])
        information_sets += int((rows @ decisions).sum())
        if t > 0 and not live:
            views = 1 if integrate == "average" or by_hand[table.round] else 2
            payoff_cells += views * len(bets.chunks) * int((rows[:, 0] * rows[:, 1]).sum())
        values += sum(bets.forest.n_slots)
    item = itemsize if live else 8
    state = padded * item * copies
    tables = _table_bytes(layout)
    # a live solve keeps its state; a stored one only the sums, while exploitability is measured
    memory = (state if live else padded * 8) + tables
    disk = cells * item * copies + payoff_cells * 8
    pages = sum(chunks) * (copies + (0 if live else 1)) * 4096 // 2  # half-empty pages of small values
    return Estimate(
        tuple(boards),
        tuple(chunks),
        tuple(short),
        information_sets,
        cells * item * copies,
        tables,
        payoff_cells * 8,
        memory,
        disk + pages,
    )


def _table_bytes(layout: Layout) -> int:
    total = 0
    for r in layout.live.rounds:
        for rows in r.rows:
            total += sum(a.nbytes for a in (rows.blockers, rows.strength, rows.twin, rows.group, rows.weight))
        if r.deal is not None:
            total += sum(a.nbytes for a in (*r.deal.origin, *r.deal.images))
    walkers = 2  # who solves and who judges: each keeps the locks in its own layout
    return total + (1 + walkers) * sum(lock.frequencies.nbytes for lock in layout.live.locks)


def least_bytes(problem: Problem) -> int:
    """A lower bound on the memory that laying out the boards takes, without enumerating them.

    Suit symmetry merges at most as many boards as there are permutations that keep root and ranges; each board needs
    at least the numbers of its hands.
    """
    game = problem.game
    left = len(game.deck) - sum(len(group) for group in problem.history)
    boards, total, live = 1.0, 0.0, min(int(np.count_nonzero(w)) for w in problem.ranges)
    for t in range(problem.first_round, game.num_rounds):
        if t > problem.first_round:
            boards *= comb(left, game.num_board_cards[t])
            left -= game.num_board_cards[t]
        total += max(1.0, boards / len(symmetries(problem))) * live * BYTES_PER_ROW
    return int(total)
