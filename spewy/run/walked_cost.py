"""The cost of a job all of whose boards are walked through: chunks, information sets, memory and disk."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lockers import STORE_BYTES, DiskSize
from solvers.discount import variant
from solvers.exact.footprint import footprint
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

BYTES_PER_ROW = 34  # hand, strength, group, weight; in the live game a blocker and a twin too
BYTES_PER_NODE = 700  # of the betting tree, with its place in the layout (measured: 740 to 1,010)
BYTES_PER_BOARD = 3000  # the objects that hold a board's arrays

BY_SCIKIT_LEARN = {"ward", "k-means", "strength-k-means"}
"""Clusterings that import scikit-learn."""
WAITING = 1.08  # times its size: what is saved, in memory until its transaction ends (measured)
TOUCHED = 4  # pages of a file that the system maps for each page that is read
SLACK = 64 << 10  # bytes of a store that small transactions leave unused (measured)
SECONDS_PER_SET = (
    1e-8  # of a core, for an information set in a sweep of the exact engine (measured: 7 to 11 ns)
)


@dataclass(frozen=True, kw_only=True)
class WalkedCost(Cost):
    """Counts of a problem after suit symmetry, and sizes.

    Attributes:
        boards, chunks: number of boards and of chunks, per round from the root's.
        short_boards: per round, boards with fewer kinds of hands than the rows that the job asks for.
        payoff_bytes: stored payoff matrices; 0 where leaves are live.
        kept_bytes: the folder once the solve is finished, without the rounds that it does not keep.
        program: the linear program of the whole game, if one solves it.
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
        """Boards, chunks and information sets, and the boards with fewer rows than the job asks for."""
        short, unusual = sum(self.short_boards), "with fewer kinds of hands than rows asked for"
        return (
            (sum(self.boards), "board", "boards"),
            (sum(self.chunks), "chunk", "chunks"),
            *super().counts,
            *(((short, f"board {unusual}", f"boards {unusual}"),) if short else ()),
        )


def walked_cost(
    layout: Layout,
    *,
    live: bool,
    exact: bool,
    variant_name: str,
    itemsize: int,
    threads: int,
    integrate: str,
    first_live: int | None,
    first_dropped: int | None = None,
    program: LpSize | None = None,
) -> WalkedCost:
    """Count the chunks of a layout, and add up the bytes of their arrays.

    Args:
        layout: boards and betting.
        live: leaves are live.
        exact: the exact engine solves it.
        variant_name: of CFR.
        itemsize: bytes of a regret or sum in memory; stored ones have 8 where leaves are stored.
        threads: how many solve.
        integrate: "regret" or "average".
        first_live: the first round of the game whose chunks are live; None: all are stored.
        first_dropped: the first round of the game that the finished folder does not keep; None: it keeps all.
        program: the linear program, if one solves it.
    """
    boards, chunks, short = [], [], []
    cells = padded = information_sets = 0
    by_hand = [k is None for k in layout.problem.rows]
    kinds = [Kind.SUMS]
    if integrate != "average" and program is None:
        kinds += [Kind.REGRETS, Kind.GUESSES] if variant(variant_name).predictive else [Kind.REGRETS]
    payoffs, disk, kept = 0, DiskSize(), DiskSize()
    item = (4 if exact else itemsize) if live else 8
    largest = 0
    for t, (bets, table) in enumerate(zip(layout.betting, layout.boards, strict=False)):
        boards.append(len(table.boards))
        chunks.append(len(table.boards) * len(bets.chunks))
        slots = np.array(bets.forest.n_slots)
        rows = np.array([layout.n_rows(t, b) for b in range(len(table.boards))])
        hands = np.array([sum(hands_on(layout, t, b)) for b in range(len(table.boards))])
        asked = layout.problem.rows[table.round]
        short.append(0 if asked is None else int((rows.min(axis=1) < asked).sum()))
        cells += int((rows @ slots).sum())
        padded += len(rows) * int(rows.max(axis=0) @ slots)
        a = bets.forest.arrays
        decisions = np.array([int(np.sum(a.player == p)) for p in (0, 1)])
        information_sets += int((rows @ decisions).sum())
        visited = first_live is None or table.round < first_live  # on its own
        views = 0
        if t > 0 and visited:
            views = 1 if integrate == "average" or by_hand[table.round] else 2
        seen = views * rows[:, 0] * rows[:, 1]
        payoffs += 8 * len(bets.chunks) * int(seen.sum())
        largest = max(largest, len(kinds) * item * int((rows @ slots).max()))
        for r, chunk in enumerate(bets.chunks):
            empty = exact and chunk.forest.n_slots == (0, 0)  # which the exact engine does not save
            arrays = item * (rows @ np.array(chunk.forest.n_slots))
            matrices = 8 * seen if views else None
            counted = not exact if live else visited
            key, mine = layout.key(t, 0, r), [] if empty else kinds
            disk = with_chunks(disk, key, mine, arrays, matrices, counted=counted)
            if live and program is None:
                disk = with_leaves(disk, key, len(chunk.exits), hands)
        kept = disk if first_dropped is None or table.round < first_dropped else kept
    tables = _table_bytes(layout) + BYTES_PER_NODE * sum(bets.forest.n_nodes for bets in layout.betting)
    state = padded * itemsize * len(kinds)
    stored = at_once = disk.total
    if exact:
        held = footprint(layout.live, threads=threads, short=itemsize == 2)
        state, tables = held.state, tables + held.tables
        at_once = stored if state <= AT_ONCE else min(stored, BOARDS_AT_ONCE * largest)
        memory = state + tables + held.buffers + int(WAITING * at_once) + min(TOUCHED * disk.tree, stored)
    elif live:
        memory = state + tables + int(WAITING * stored)  # all is saved in one go
        memory += program.memory_bytes if program is not None else 0
    else:  # the sums, while exploitability is measured; before that what visits to live chunks improve, and save
        improved = 8 * len(kinds) * _most_cells(layout, first_live, threads)
        memory, state = max(padded * 8, int((1 + WAITING) * improved)) + tables, cells * 8 * len(kinds)
    return WalkedCost(
        boards=tuple(boards),
        chunks=tuple(chunks),
        short_boards=tuple(short),
        information_sets=information_sets,
        state_bytes=state,
        table_bytes=tables,
        payoff_bytes=payoffs,
        memory_bytes=memory,
        process_bytes=memory + PROCESS_BYTES + CLUSTERING_BYTES * _clusters(layout.problem),
        disk_bytes=stored + STORE_BYTES,
        most_disk_bytes=disk.again(at_once) + STORE_BYTES + SLACK * (not live),
        kept_bytes=kept.total + STORE_BYTES,
        program=program,
        seconds_per_sweep=SECONDS_PER_SET * information_sets if exact else None,
    )


def _clusters(problem: Problem) -> bool:
    """Whether scikit-learn puts the hands of a problem into rows."""
    return any(k is not None for k in problem.rows) and problem.grouping in BY_SCIKIT_LEARN


def _most_cells(layout: Layout, first_live: int | None, threads: int) -> int:
    """Number of (slot, row) pairs that simultaneous visits improve, with the live chunks below; 0: none is live."""
    top = layout.n_rounds if first_live is None else first_live - layout.problem.first_round - 1
    boards: list[int] = []  # per board of the round at hand, the top round's that it follows; lines alike
    lines: list[int] = []
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
    """Bytes of cards and maps, of the layout and of its live game."""
    total = 0
    for table in layout.boards:
        total += BYTES_PER_BOARD * len(table.boards)
        for board in table.boards:
            for held in board.hands:
                total += sum(a.nbytes for a in (held.numbers, held.strength, held.row, held.weight))
    total += live_bytes(layout.problem, layout.boards)
    if not layout.problem.locks:
        return total
    walkers = 2  # who solves and who judges: each keeps the locks in its own layout
    return total + (1 + walkers) * sum(lock.frequencies.nbytes for lock in layout.live.locks)
