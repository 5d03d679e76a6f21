"""The cost of a job that walks through all boards: chunks, information sets, memory, disk, size of a linear program.

`walked_cost` estimates it from the boards and the betting, and `lower_bounds` bounds it from counts alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import comb
from typing import TYPE_CHECKING, Literal

import numpy as np

from lockers import STORE_BYTES, DiskSize
from solvers.discount import variant
from solvers.exact.context import MOST_TASKS, SINGLE, footprint
from solvers.exact.engine import MAX_ROUNDS
from solvers.tree import Ints
from spewy.chunks.layout import Layout
from spewy.chunks.live_game import live_bytes
from spewy.chunks.problem import Problem, root_symmetries
from spewy.game.count import TreeCount
from spewy.job.job import Job
from spewy.learn.engine import visits_at_once
from spewy.learn.live import AT_ONCE, BOARDS_AT_ONCE
from spewy.records.chunks import Kind, hands_on
from spewy.run.cost import CLUSTERING_BYTES, PROCESS_BYTES, VISIT_BYTES, Cost, Count

if TYPE_CHECKING:
    from spewy.learn.lp import LpSize  # scipy only where it is needed

EngineName = Literal["exact", "live", "stored", "program"]
"""Name of an engine.

The exact engine and the live engine keep all chunks in memory; the exact one has special kernels for hold'em with a
row for each hand. The stored engine visits single chunks in the lockers. The engine "program" solves one linear program
of the whole game.
"""
BYTES_PER_ROW = 34  # number, strength, row and weight of a hand, with two more numbers in the live game
BYTES_PER_NODE = 700  # of the betting tree (measured: 740 to 1,010)
MATRIX_HEADER = 16  # payoff matrices have two axes more than other arrays
BYTES_PER_BOARD = 3000  # the Python objects that hold a board's arrays

BY_SCIKIT_LEARN = {"ward", "k-means", "strength-k-means"}
"""Clusterings that need scikit-learn."""
WAITING = 1.08  # bytes of memory for each saved byte until its transaction ends (measured)
TOUCHED = 4  # pages of a file that the system maps for each page that is read
SLACK = 64 << 10  # bytes of a store that small transactions leave unused (measured)
SECONDS_PER_SET = 1e-8
"""Seconds of one core for an information set in a sweep of the exact engine (measured: 7 to 11 ns)."""

SECONDS_PER_CELL, SECONDS_PER_FOLD, SECONDS_PER_SHOWDOWN = 2e-9, 4e-10, 1.4e-9
"""Seconds of one core for an action of a hand, and for a fold or showdown of a hand, in a sweep (measured)."""
SECONDS_OF_SETUP, SECONDS_PER_ROW = 0.1, 4e-7
"""Seconds of one core before the first sweep: in any case, and for a hand on a board of the last round (measured)."""

LOCKERS = 2  # regrets and strategy sums; some variants also store predictions


@dataclass(frozen=True, kw_only=True)
class WalkedCost(Cost):
    """Counts and sizes of a job that walks through all boards; boards that equal each other up to suits count once.

    Attributes:
        boards, chunks: numbers of boards and of chunks per round, from the round of the root on.
        short_boards: number of boards per round that have fewer different hands than the job asks rows for.
        payoff_bytes: bytes of stored payoff matrices; 0 if all chance leaves are live (`spewy.job.settings.Leaves`).
        kept_bytes: bytes of the folder once the solve is finished and rounds are dropped (``save.rounds``).
        program: size of the linear program of the whole game; None if another method solves the job.
        variant: variant of CFR that has this cost; other variants keep other arrays.
        seconds_per_sweep: rough seconds of one core, checks included; None unless the exact engine solves the job.
    """

    boards: tuple[int, ...]
    chunks: tuple[int, ...]
    short_boards: tuple[int, ...]
    payoff_bytes: int
    kept_bytes: int
    variant: str
    program: LpSize | None = None
    seconds_per_sweep: float | None = None

    @property
    def counts(self) -> tuple[Count, ...]:
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
        itemsize: bytes of a regret or strategy sum in memory.
        threads: number of threads or processes that solve.
        integrate: "regret": a visit to a stored chunk (the betting of one round after a line) updates regrets by CFR;
            "average": a visit adds the optimal strategy of the chunk to the average strategy.
        first_live: first round of the game whose chunks are live (`spewy.job.settings.Leaves`); None: all are stored.
        first_dropped: first round of the game whose strategies are deleted after the solve; None: all are kept.
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
        if self.integrate == "average" or self.engine == "program":
            return [Kind.SUMS]
        predictive = variant(self.variant).predictive
        return [Kind.SUMS, Kind.REGRETS, *([Kind.GUESSES] if predictive else [])]

    def is_visited(self, t: int) -> bool:
        """Whether each chunk of round ``t`` of the game has visits of its own; False for live chunks."""
        return self.first_live is None or t < self.first_live


def walked_cost(layout: Layout, setup: EngineSetup, program: LpSize | None = None) -> WalkedCost:
    chunks, short, disk, kept = list[int](), list[int](), DiskSize(), DiskSize()
    cells = padded = information_sets = payoffs = largest = 0
    for t, (bets, table) in enumerate(zip(layout.betting, layout.boards, strict=True)):
        rows = np.array([layout.n_rows(t, b) for b in range(len(table.boards))])  # [board, player]
        slots, a = np.array([chunk.forest.n_slots for chunk in bets.chunks]), bets.forest.arrays
        decisions = np.array([int(np.sum(a.player == p)) for p in (0, 1)])
        asked, of_board = layout.problem.rows[table.round], rows @ slots.sum(axis=0)
        matrices = _n_matrices(setup, t, table.round, asked) * rows[:, 0] * rows[:, 1]
        chunks.append(len(rows) * len(slots))
        short.append(0 if asked is None else int((rows.min(axis=1) < asked).sum()))
        cells += int(of_board.sum())
        padded += len(rows) * int(rows.max(axis=0) @ slots.sum(axis=0))  # as if all boards had as many rows
        information_sets += int((rows @ decisions).sum())
        payoffs += 8 * len(slots) * int(matrices.sum())
        largest = max(largest, len(setup.kinds) * setup.saved_itemsize * int(of_board.max()))
        disk = disk.plus(*_saved(layout, t, setup, rows, matrices))
        kept = disk if setup.first_dropped is None or table.round < setup.first_dropped else kept
    n_kinds, stored = len(setup.kinds), disk.total
    at_once, state, tables = stored, padded * setup.itemsize * n_kinds, _table_bytes(layout)
    if setup.exact:
        engine_bytes = footprint(
            layout.live, threads=setup.threads, short=setup.itemsize == 2, predictive=n_kinds == 3
        )
        state, tables = engine_bytes.state, tables + engine_bytes.tables
        at_once = stored if state <= AT_ONCE else min(stored, BOARDS_AT_ONCE * largest)
        memory = state + tables + engine_bytes.buffers
        memory += int(WAITING * at_once) + min(TOUCHED * disk.tree, stored)
    elif setup.live:
        memory = state + tables + int(WAITING * stored)  # one transaction saves everything
        memory += program.memory_bytes if program is not None else 0
    else:  # the larger one of: strategy sums, in a measurement; arrays of live chunks, in visits and their saves
        improved = 8 * n_kinds * _most_cells(layout, setup.first_live, setup.threads)
        memory = max(padded * 8, int((1 + WAITING) * improved)) + tables
        state = cells * 8 * n_kinds
    return WalkedCost(
        variant=setup.variant,
        boards=tuple(len(table.boards) for table in layout.boards),
        chunks=tuple(chunks),
        short_boards=tuple(short),
        information_sets=information_sets,
        state_bytes=state,
        table_bytes=tables,
        payoff_bytes=payoffs,
        memory_bytes=memory,
        process_bytes=memory + PROCESS_BYTES + CLUSTERING_BYTES * _clusters(layout.problem),
        disk_bytes=stored + STORE_BYTES,
        most_disk_bytes=disk.again(at_once) + STORE_BYTES + SLACK * (not setup.live),
        kept_bytes=kept.total + STORE_BYTES,
        program=program,
        seconds_per_sweep=SECONDS_PER_SET * information_sets if setup.exact else None,
    )


def _n_matrices(setup: EngineSetup, t: int, round_: int, asked: int | None) -> int:
    """Return the number of payoff matrices of a chunk, where the job asks for ``asked`` rows.

    ``t`` numbers the chunk's round from the root on, ``round_`` from the deal on.
    """
    if t == 0 or not setup.is_visited(round_):
        return 0
    return 1 if setup.integrate == "average" or asked is None else 2


def _saved(layout: Layout, t: int, setup: EngineSetup, rows: Ints, matrices: Ints) -> Iterator[np.ndarray]:
    """Yield arrays with the size in bytes of each entry that the lockers hold for round t."""
    round_, n_boards = layout.boards[t].round, len(rows)
    hands = np.array([sum(hands_on(layout, t, b)) for b in range(n_boards)])
    for chunk in layout.betting[t].chunks:
        if not setup.exact or chunk.forest.n_slots != (
            0,
            0,
        ):  # the exact engine saves no chunk without decisions
            yield np.tile(setup.saved_itemsize * (rows @ np.array(chunk.forest.n_slots)), len(setup.kinds))
        if not setup.exact if setup.live else setup.is_visited(round_):
            yield np.full(n_boards, VISIT_BYTES)
        if matrices.any():
            yield MATRIX_HEADER + 8 * matrices
        if setup.live and setup.engine != "program" and len(chunk.exits):
            yield 4 * len(chunk.exits) * hands


def _clusters(problem: Problem) -> bool:
    return any(k is not None for k in problem.rows) and problem.grouping in BY_SCIKIT_LEARN


def _most_cells(layout: Layout, first_live: int | None, threads: int) -> int:
    """Return the largest number of regrets that simultaneous visits improve together; 0 without live chunks."""
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
    """Return the bytes of the tree, hands, strengths and maps between rounds, in the layout and the engine."""
    total = BYTES_PER_NODE * sum(bets.forest.n_nodes for bets in layout.betting)
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
    """Compute lower bounds on the cost of a job from counts, so that a far too large job is refused at once.

    Suit symmetry merges boards that a permutation of the suits maps to each other. So the number of boards after
    merging, and the number of hands on all of them, are at least the numbers before merging divided by the number of
    permutations that leave the root and both ranges unchanged.
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
    """Estimate the number of regrets of a job if each hand had a row: one for each action of each hand."""
    _, rows, _ = _boards_and_rows(job)
    return float(
        sum(
            slots * held
            for one, of_round in zip(job.tree_count.rounds, rows, strict=True)
            for slots, held in zip(one.slots, of_round, strict=True)
        )
    )


def layout_seconds(job: Job) -> float:
    """Estimate the seconds of one core in which the tables of an exact solve are made."""
    return SECONDS_OF_SETUP + SECONDS_PER_ROW * sum(_boards_and_rows(job)[1][-1])


def sweep_seconds(job: Job, groups: int = 1) -> float:
    """Estimate the seconds of one core for a sweep of an exact solve, from counts alone.

    ``groups`` is the number of groups of boards of the last round, of which a sweep visits one.
    """
    _, rows, _ = _boards_and_rows(job)
    seconds = []
    for one, held in zip(job.tree_count.rounds, rows, strict=True):
        ends = SECONDS_PER_FOLD * one.folds + SECONDS_PER_SHOWDOWN * one.showdowns
        seconds.append(
            sum((SECONDS_PER_CELL * slots + ends) * n for slots, n in zip(one.slots, held, strict=True))
        )
    return sum(seconds[:-1]) + seconds[-1] / groups


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
    )


def _boards_and_rows(job: Job) -> tuple[tuple[int, ...], list[tuple[int, int]], list[int]]:
    """Return lower bounds by round: boards, each player's hands on all boards, both players' hands on a mean board."""
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
    """Return a lower bound on the bytes of a thread's reaches and values, for each hand at each fold or showdown.

    ``most`` is the number of both players' hands on an average board, by round.
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
