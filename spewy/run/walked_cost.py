"""Estimate the cost of a job that walks through all boards: chunks, information sets, memory and disk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from lockers import STORE_BYTES, DiskSize
from solvers.discount import variant
from solvers.exact.context import footprint
from solvers.tree import Ints
from spewy.chunks.layout import Layout
from spewy.chunks.live_game import live_bytes
from spewy.chunks.problem import Problem
from spewy.learn.engine import visits_at_once
from spewy.learn.live import AT_ONCE, BOARDS_AT_ONCE
from spewy.records.chunks import Kind
from spewy.records.disk import with_chunks, with_leaves
from spewy.records.leaves import hands_on
from spewy.run.cost import Cost, Count
from spewy.run.lp_size import LpSize
from spewy.run.memory import CLUSTERING_BYTES, PROCESS_BYTES

EngineName = Literal["exact", "live", "stored", "program"]
"""Name of an engine.

The exact engine and the live engine keep all chunks in memory; the exact one has special kernels for hold'em with a
row for each hand. The stored engine visits single chunks in the lockers. The engine "program" solves one linear program
of the whole game.
"""
BYTES_PER_ROW = 34  # number, strength, row and weight of a hand, with two more numbers in the live game
BYTES_PER_NODE = 700  # of the betting tree (measured: 740 to 1,010)
BYTES_PER_BOARD = 3000  # the Python objects that hold a board's arrays

BY_SCIKIT_LEARN = {"ward", "k-means", "strength-k-means"}
"""Clusterings that need scikit-learn."""
WAITING = 1.08  # bytes of memory for each saved byte until its transaction ends (measured)
TOUCHED = 4  # pages of a file that the system maps for each page that is read
SLACK = 64 << 10  # bytes of a store that small transactions leave unused (measured)
SECONDS_PER_SET = 1e-8
"""Seconds of one core for an information set in a sweep of the exact engine (measured: 7 to 11 ns)."""


@dataclass(frozen=True, kw_only=True)
class WalkedCost(Cost):
    """Counts and sizes of a job that walks through all boards; boards that equal each other up to suits count once.

    Attributes:
        boards, chunks: numbers of boards and of chunks per round, from the round of the root on.
        short_boards: number of boards per round that have fewer different hands than the job asks rows for.
        payoff_bytes: bytes of stored payoff matrices; 0 if all chance leaves are live.
        kept_bytes: bytes of the folder once the solve is finished and rounds are dropped (``save.rounds``).
        program: size of the linear program of the whole game; None if another method solves the job.
        seconds_per_sweep: rough seconds of one core, checks included; None unless the exact engine solves the job.
    """

    boards: tuple[int, ...]
    chunks: tuple[int, ...]
    short_boards: tuple[int, ...]
    payoff_bytes: int
    kept_bytes: int
    program: LpSize | None = None
    seconds_per_sweep: float | None = None

    @property
    def counts(self) -> tuple[Count, ...]:
        """Numbers of boards, chunks, information sets and boards with too few rows, each with a noun for messages."""
        short, unusual = sum(self.short_boards), "with fewer different hands than rows asked for"
        return (
            (sum(self.boards), "board", "boards"),
            (sum(self.chunks), "chunk", "chunks"),
            *super().counts,
            *(((short, f"board {unusual}", f"boards {unusual}"),) if short else ()),
        )


@dataclass(frozen=True, kw_only=True)
class EngineSetup:
    """The engine of a job, and the settings that its cost depends on.

    Attributes:
        engine: name of the engine.
        variant: variant of CFR.
        itemsize: bytes of a regret or strategy sum in memory.
        threads: number of threads or processes that solve.
        integrate: "regret": a visit to a stored chunk updates regrets by CFR; "average": a visit adds the optimal
            strategy of the chunk to the average strategy.
        first_live: first round of the game whose chunks are live; None: all chunks are stored.
        first_dropped: first round of the game that is dropped at the end; None: no round is dropped.
    """

    engine: EngineName
    variant: str
    itemsize: int
    threads: int
    integrate: str
    first_live: int | None
    first_dropped: int | None = None

    @property
    def exact(self) -> bool:
        """Whether the exact engine solves the job."""
        return self.engine == "exact"

    @property
    def live(self) -> bool:
        """Whether the engine keeps all chunks in memory."""
        return self.engine != "stored"

    @property
    def saved_itemsize(self) -> int:
        """Bytes of a regret or strategy sum in the lockers."""
        return 4 if self.exact else self.itemsize if self.live else 8

    @property
    def kinds(self) -> list[Kind]:
        """Kinds of arrays that are stored for a chunk."""
        if self.integrate == "average" or self.engine == "program":
            return [Kind.SUMS]
        predictive = variant(self.variant).predictive
        return [Kind.SUMS, Kind.REGRETS, *([Kind.GUESSES] if predictive else [])]

    def is_visited(self, t: int) -> bool:
        """Whether each chunk of round ``t`` has visits of its own; False for live chunks."""
        return self.first_live is None or t < self.first_live


def walked_cost(layout: Layout, setup: EngineSetup, program: LpSize | None = None) -> WalkedCost:
    """Estimate the cost of a job that walks through all boards.

    Args:
        layout: boards and betting of the job.
        setup: the engine and its settings.
        program: size of the linear program of the whole game; None if another method solves the job.
    """
    disk = kept = DiskSize()
    rounds = []
    for t, table in enumerate(layout.boards):
        counts = _round_cost(layout, t, setup)
        rounds.append(counts)
        disk = _with_round(disk, layout, t, setup, counts)
        kept = disk if setup.first_dropped is None or table.round < setup.first_dropped else kept
    n_kinds = len(setup.kinds)
    padded = sum(counts.padded for counts in rounds)
    information_sets = sum(counts.information_sets for counts in rounds)
    tables = _table_bytes(layout) + BYTES_PER_NODE * sum(bets.forest.n_nodes for bets in layout.betting)
    state = padded * setup.itemsize * n_kinds
    stored = at_once = disk.total
    if setup.exact:
        engine_bytes = footprint(layout.live, threads=setup.threads, short=setup.itemsize == 2)
        largest = max(counts.largest_board for counts in rounds)
        state, tables = engine_bytes.state, tables + engine_bytes.tables
        at_once = stored if state <= AT_ONCE else min(stored, BOARDS_AT_ONCE * largest)
        memory = (
            state + tables + engine_bytes.buffers + int(WAITING * at_once) + min(TOUCHED * disk.tree, stored)
        )
    elif setup.live:
        memory = state + tables + int(WAITING * stored)  # one transaction saves everything
        memory += program.memory_bytes if program is not None else 0
    else:  # the larger one of: strategy sums, in a measurement; arrays of live chunks, in visits and their saves
        improved = 8 * n_kinds * _most_cells(layout, setup.first_live, setup.threads)
        memory = max(padded * 8, int((1 + WAITING) * improved)) + tables
        state = sum(counts.cells for counts in rounds) * 8 * n_kinds
    return WalkedCost(
        boards=tuple(len(table.boards) for table in layout.boards),
        chunks=tuple(counts.chunks for counts in rounds),
        short_boards=tuple(counts.short_boards for counts in rounds),
        information_sets=information_sets,
        state_bytes=state,
        table_bytes=tables,
        payoff_bytes=sum(counts.payoffs for counts in rounds),
        memory_bytes=memory,
        process_bytes=memory + PROCESS_BYTES + CLUSTERING_BYTES * _clusters(layout.problem),
        disk_bytes=stored + STORE_BYTES,
        most_disk_bytes=disk.again(at_once) + STORE_BYTES + SLACK * (not setup.live),
        kept_bytes=kept.total + STORE_BYTES,
        program=program,
        seconds_per_sweep=SECONDS_PER_SET * information_sets if setup.exact else None,
    )


@dataclass(frozen=True)
class _Round:
    """Numbers of the boards, rows and arrays of one round, from which the cost of a job is computed.

    Attributes:
        rows: number of rows of each player on each board (an int array ``[board, player]``).
        matrix_entries: number of entries in the payoff matrices of a chunk on each board (an int array ``[board]``).
        chunks: number of chunks.
        short_boards: number of boards with fewer different hands than the job asks rows for.
        cells: number of regrets on all boards (one for each action of each row).
        padded: number of regrets on all boards if each board had as many rows as the largest one.
        information_sets: number of (decision, row) pairs.
        payoffs: bytes of payoff matrices.
        largest_board: largest number of bytes that a board has in the lockers.
    """

    rows: Ints
    matrix_entries: Ints
    chunks: int
    short_boards: int
    cells: int
    padded: int
    information_sets: int
    payoffs: int
    largest_board: int


def _round_cost(layout: Layout, t: int, setup: EngineSetup) -> _Round:
    """Count the boards, rows and arrays of round ``t``; the round of the root is round 0."""
    bets, table = layout.betting[t], layout.boards[t]
    slots, a = np.array(bets.forest.n_slots), bets.forest.arrays
    rows = np.array([layout.n_rows(t, b) for b in range(len(table.boards))])
    asked = layout.problem.rows[table.round]
    decisions = np.array([int(np.sum(a.player == p)) for p in (0, 1)])
    n_matrices = 0
    if t > 0 and setup.is_visited(table.round):
        n_matrices = 1 if setup.integrate == "average" or asked is None else 2
    matrix_entries = n_matrices * rows[:, 0] * rows[:, 1]
    return _Round(
        rows=rows,
        matrix_entries=matrix_entries,
        chunks=len(table.boards) * len(bets.chunks),
        short_boards=0 if asked is None else int((rows.min(axis=1) < asked).sum()),
        cells=int((rows @ slots).sum()),
        padded=len(rows) * int(rows.max(axis=0) @ slots),
        information_sets=int((rows @ decisions).sum()),
        payoffs=8 * len(bets.chunks) * int(matrix_entries.sum()),
        largest_board=len(setup.kinds) * setup.saved_itemsize * int((rows @ slots).max()),
    )


def _with_round(disk: DiskSize, layout: Layout, t: int, setup: EngineSetup, counts: _Round) -> DiskSize:
    """Add the bytes of the chunks of round ``t`` to the size of a folder, and return the new size."""
    hands = np.array([sum(hands_on(layout, t, b)) for b in range(len(counts.rows))])
    counted = not setup.exact if setup.live else setup.is_visited(layout.boards[t].round)
    for r, chunk in enumerate(layout.betting[t].chunks):
        empty = setup.exact and chunk.forest.n_slots == (
            0,
            0,
        )  # the exact engine saves no chunk without decisions
        arrays = setup.saved_itemsize * (counts.rows @ np.array(chunk.forest.n_slots))
        matrices, key = 8 * counts.matrix_entries if counts.payoffs else None, layout.key(t, 0, r)
        disk = with_chunks(disk, key, [] if empty else setup.kinds, arrays, matrices, counted=counted)
        if setup.live and setup.engine != "program":
            disk = with_leaves(disk, key, len(chunk.exits), hands)
    return disk


def _clusters(problem: Problem) -> bool:
    """Whether scikit-learn clusters the hands of a spot or game into buckets."""
    return any(k is not None for k in problem.rows) and problem.grouping in BY_SCIKIT_LEARN


def _most_cells(layout: Layout, first_live: int | None, threads: int) -> int:
    """Return the largest number of regrets that simultaneous visits improve together; 0 if no chunks are live.

    A visit improves a chunk of the last stored round and the live chunks below it.
    """
    top = layout.n_rounds if first_live is None else first_live - layout.problem.first_round - 1
    boards: list[int] = []  # for each board of round t: the board of round ``top`` that it follows
    lines: list[int] = []  # for each line of round t: the line of round ``top`` that it follows
    cells = np.zeros((0, 0))
    for t in range(top, layout.n_rounds):
        bets, table = layout.betting[t], layout.boards[t]
        if t == top:
            boards, lines = list(range(len(table.boards))), list(range(len(bets.chunks)))
            cells = np.zeros((len(boards), len(lines)))
        else:
            boards = [boards[board.parent] for board in table.boards]
            lines = [lines[r] for r, _ in bets.parents]
        rows = np.max([layout.n_rows(t, b) for b in range(len(table.boards))], axis=0)
        slots = [float(rows @ chunk.forest.n_slots) for chunk in bets.chunks]
        cells += np.outer(np.bincount(boards), np.bincount(lines, slots, cells.shape[1]))
    return int(cells.max(initial=0)) * visits_at_once(cells.size, threads)


def _table_bytes(layout: Layout) -> int:
    """Return the bytes of the arrays of hands, strengths and maps between rounds, in the layout and the engine."""
    total = 0
    for table in layout.boards:
        total += BYTES_PER_BOARD * len(table.boards)
        for board in table.boards:
            for hands in board.hands:
                total += sum(a.nbytes for a in (hands.numbers, hands.strength, hands.row, hands.weight))
    total += live_bytes(layout.problem, layout.boards)
    if not layout.problem.locks:
        return total
    copies = 3  # of the locks: in the layout, in the solver, and in the measurement of exploitability
    return total + copies * sum(lock.frequencies.nbytes for lock in layout.live.locks)
