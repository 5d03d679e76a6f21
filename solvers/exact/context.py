"""The context in which the exact engine runs passes: tables of a game, buffers, threads, and the memory they take."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import RLock
from typing import Any, TypeVar

import numpy as np

from compiled.records import Packed, Records
from compiled.threads import ABSENT, ASKED, SYNC_SIZE
from compiled.vector import WIDTH, aligned, bare
from solvers.errors import SolverError
from solvers.exact.board import N_CARDS, Entry, RoundView, Workspace
from solvers.exact.passes import RUNNERS, Deals, Desk, GameView, Plan, Ranges, Thread
from solvers.exact.storage import Storage
from solvers.exact.tables import (
    HandTable,
    Program,
    class_bytes,
    class_tables,
    deal_table,
    entering_reach,
    n_blocks,
    padded,
    padded_rows,
    program,
)
from solvers.game import Deal, LeafValues, LiveGame, Round
from solvers.tree import Floats

T = TypeVar("T")

MOST_TASKS = 24, 64
"""Largest number of tasks (groups of boards after the first deal), for games of two and of three rounds.

More tasks spread the work better but need more additions. The number does not depend on the number of threads, so sums
are always added in the same order.
"""

COMMON = ("theirs", "wins", "total", "by_card", "exits", "continuation", "roots")
"""Names of the `Workspace` buffers with a row for each hand; on the first board all threads share these buffers."""

Whole = list[tuple[Storage, Storage]]
"""All regrets or all strategy sums of a solve: for each round a pair with one `Storage` per player."""


def n_tasks(n_rounds: int, n_entries: int) -> int:
    """Number of tasks of each pass, in a game of 2 or 3 rounds whose first deal leads to ``n_entries`` boards."""
    return min(MOST_TASKS[n_rounds - 2], n_entries)


@dataclass(frozen=True)
class _Locks:
    """A player's node locks in one round.

    Attributes:
        by_node: number of the lock of each locked decision, by the decision's node.
        frequencies: flat array of all locks' frequencies ``[block, action, 16 hands]``, one lock after another.
        first: ``[lock]``, offset of the lock in ``frequencies``.
    """

    by_node: dict[int, int]
    frequencies: np.ndarray
    first: np.ndarray


class Context:
    """Runs passes over one game; holds the betting steps, the tables of hands, buffers and threads.

    Args:
        hands: for each round and player the `HandTable`.
        kept: share (0 to 1) of the tasks whose regrets and sums of the last round stay in memory; a task is a group of
            boards after the first deal.
        weights: for each player the initial range ``[row]``.
    """

    def __init__(
        self,
        game: LiveGame,
        hands: list[tuple[HandTable, ...]],
        threads: int,
        kept: float,
        weights: list[np.ndarray],
    ) -> None:
        n_rounds = len(game.rounds)
        self.n_rounds = n_rounds
        self.hands = hands
        self.threads = threads
        self.locks = [tuple(_locks(game, hands[t][p], t, p) for p in (0, 1)) for t in range(n_rounds)]
        self.programs = [
            tuple(program(r.forest, p, self.locks[t][0].by_node | self.locks[t][1].by_node) for p in (0, 1))
            for t, r in enumerate(game.rounds)
        ]
        self.classes = [class_tables(r) for r in game.rounds]
        self.entries = tuple(
            Entry(
                entering_reach(game, 1 - p),
                padded(1),
                np.arange(WIDTH * int(hands[0][1 - p].first_block[1]), dtype=np.int32),
            )
            for p in (0, 1)
        )
        self.deals = [
            tuple(deal_table(r.deal, r.hands[p], game.rounds[t + 1].hands[p], p) for p in (0, 1))
            for t, r in enumerate(game.rounds)
            if r.deal is not None
        ]
        self.workspaces = [[self._workspace(t) for t in range(n_rounds)] for _ in range(threads)]
        for own in self.workspaces[1:]:  # all threads share the first board's buffers with a row per hand
            first, second = self.workspaces[0][0]
            own[0] = _sharing(own[0][0], first), _sharing(own[0][1], second)
        self.n_tasks = n_tasks(n_rounds, len(self.deals[0][0].child)) if self.deals else 0
        self.n_in_memory = int(kept * self.n_tasks)
        largest = max(len(self.workspaces[0][0][p].continuation) for p in (0, 1))
        self.tasks = aligned(self.n_tasks * largest)
        self._weights = [w.astype(np.float32) for w in weights]
        self._bare_tables = [
            [bare((self.programs[t][p], hands[t][p], hands[t][1 - p], self.classes[t][p])) for p in (0, 1)]
            for t in range(n_rounds)
        ]
        self._counters = aligned(SYNC_SIZE, np.int64)
        self._deal_weight = np.nan  # before the first pass, the engine calls `weigh`
        self._pool: ThreadPoolExecutor | None = None
        self._running = RLock()  # not a Lock: a signal handler may close what its own thread runs
        self._closed = False

    def bind(self, regrets: Whole, sums: Whole, guesses: Whole | None = None) -> None:
        """Set the arrays of the passes; ``guesses`` are predicted regrets, which strategies follow if there are any."""
        learning = regrets if guesses is None else guesses
        self._views = Packed(
            tuple(self._view(p, current, regrets, sums) for current in (learning, sums) for p in (0, 1))
        )

    def run(self, plan: Plan) -> int:
        """Do passes until the plan is done or a measurement reaches its target; return the number of passes done."""
        kernel: Any = RUNNERS[self.n_rounds - 1]
        steps = bare(plan)
        return self.each(lambda thread: int(kernel(steps, self._views, self._desks[thread])), self.threads)

    def each(self, work: Callable[[int], T], n_threads: int) -> T:
        """Run ``work(thread)`` in ``n_threads`` threads; return the result of thread 0.

        If a thread fails before it enters its kernel, the threads that wait for it in their kernels return without
        having changed anything. A second call, from another thread, waits for the first.
        """
        with self._running:
            if self._counters[ABSENT]:  # a failed run has set it, and its threads may still be running
                self._end_threads()
            self._counters[:] = 0
            self._require_open()  # after the line above, which may delete the request of a `close` in another thread
            try:
                others = [self._threads.submit(self._other, work, thread) for thread in range(1, n_threads)]
                first = work(0)
                for other in others:
                    other.result()
            except BaseException:  # also on KeyboardInterrupt
                self._counters[ABSENT] = 1
                raise
            self._require_open()
        return first

    def _require_open(self) -> None:
        if self._closed:
            raise SolverError("exact engine: the solver is closed; make a new one")

    def _other(self, work: Callable[[int], T], thread: int) -> T:
        try:
            return work(thread)
        except BaseException:
            self._counters[ABSENT] = 1
            raise

    @property
    def _threads(self) -> ThreadPoolExecutor:
        """The pool of all threads but the first, which is the caller's thread."""
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.threads - 1)
        return self._pool

    def _thread(self, thread: int) -> Thread:
        return Thread(self.tasks, self.n_tasks, self.n_in_memory, self._counters, self.threads, thread)

    def of_one_thread(self) -> tuple[Packed, Packed, np.ndarray, list[np.ndarray]]:
        """Packed `GameView` tuples, thread 0's packed `Desk`, counters of `compiled.threads`, both ranges ``[row]``."""
        return self._views, self._desks[0], self._counters, self._weights

    def weigh(self, deal_weight: float) -> None:
        """Set the summed weight of all pairs of hands, by which measured values are divided."""
        if deal_weight == self._deal_weight:
            return
        self._deal_weight = deal_weight
        first, second = self._weights
        ranges = Ranges(first, len(first), second, len(second), 1 / deal_weight)
        self._desks = [
            Packed(Desk((*own,), ranges, self._thread(thread))) for thread, own in enumerate(self.workspaces)
        ]

    def enter(self, p: int, reach: Floats) -> None:
        """Set player p's range ``[row]`` for later passes; before the next measurement `weigh` must be called, too."""
        self._weights[p][: len(reach)] = reach
        self.entries[1 - p].reach.reshape(-1, padded(1))[: len(reach), 0] = reach

    def root_values(self, p: int) -> Floats:
        """Counterfactual values of player p's hands at the root, from the last pass for p: ``[row]``."""
        s = self.workspaces[0][0][p]
        first: Floats = s.roots.reshape(-1, self.programs[0][p].root_width)[:, 0].astype(np.float64)
        return first

    def room_to_keep(self) -> tuple[np.ndarray, int]:
        """Allocate the array `Plan.kept`, and return this array and `Plan.kept_second`, for games of three rounds.

        In shorter games, which have no use for the array, it has one element.
        """
        if len(self.deals) < 2:
            return np.zeros(1, dtype=np.float32), -1
        sizes = [
            WIDTH * int(self.hands[1][p].first_block[-1]) * self.programs[1][p].exit_width for p in (0, 1)
        ]
        return aligned(sum(sizes)), sizes[0]

    def leaf_values(self, kept: np.ndarray, second: int) -> LeafValues:
        """Collect both players' values at all chance leaves after an `EVALUATE` pass for each player.

        The passes have filled the array ``kept``, which `room_to_keep` has returned with the offset ``second``.
        """
        out: LeafValues = {}
        for t, deal in enumerate(self.deals):
            for b in range(len(self.hands[t][0].count)):
                first, other = (
                    self._leaves(t, b, p, kept[second * p :]) * deal[p].probability for p in (0, 1)
                )
                out[t, b] = first, other
        return out

    def _leaves(self, t: int, b: int, p: int, kept: np.ndarray) -> Floats:
        """Copy player p's values ``[chance leaf, row]`` of board b in round t; after the first round, from ``kept``."""
        steps, hands = self.programs[t][p], self.hands[t][p]
        below = self.workspaces[0][0][p].continuation if t == 0 else kept
        start = WIDTH * int(hands.first_block[b]) * steps.exit_width
        shape = int(hands.count[b]), steps.exit_width
        rows = below[start : start + shape[0] * shape[1]].reshape(shape)
        values: Floats = rows[:, : steps.n_exits].T.astype(np.float64)
        return values

    def close(self) -> None:
        """Stop a run in another thread after its current pass, wait until the run has ended, and end all threads."""
        self._closed = True
        self._counters[ASKED] = 1
        with self._running:
            self._end_threads()

    def _end_threads(self) -> None:
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None

    def _view(self, p: int, current: Whole, regrets: Whole, sums: Whole) -> GameView:
        return GameView(
            self.entries[p],
            tuple(self._round(t, p, current, regrets, sums) for t in range(self.n_rounds)),
            tuple(Deals(deal[p], deal[1 - p]) for deal in self.deals),
        )

    def _round(self, t: int, p: int, current: Whole, regrets: Whole, sums: Whole) -> RoundView:
        q = 1 - p
        own, other = self.locks[t][p], self.locks[t][q]
        steps, own_hands, other_hands, classes = self._bare_tables[t][p]
        return RoundView(
            steps,
            own_hands,
            other_hands,
            classes,
            current[t][p].kind,
            np.float32(1 / current[t][p].unit),
            current[t][p].values,
            regrets[t][p].values,
            current[t][q].values,
            sums[t][q].values,
            own.frequencies,
            own.first,
            other.frequencies,
            other.first,
        )

    def _workspace(self, t: int) -> tuple[Workspace, Workspace]:
        largest = [int(np.diff(hands.first_block).max()) for hands in self.hands[t]]
        return workspace(self.programs[t][0], largest, 0), workspace(self.programs[t][1], largest, 1)


def workspace(steps: Program, largest: Sequence[int], p: int) -> Workspace:
    """Allocate one thread's buffers for a round with traverser p.

    ``largest`` is each player's largest number of blocks (of 16 hands) on a board.
    """
    sizes = _buffer_sizes(steps, largest, p)
    buffers = {name: aligned(size) for name, size in sizes.items()}
    return Workspace(**buffers, places=np.zeros(WIDTH, dtype=np.int64))


def _buffer_sizes(steps: Program, largest: Sequence[int], p: int) -> dict[str, int]:
    """Number of float32 of each buffer that `workspace` allocates, apart from ``places``."""
    own, other = WIDTH * largest[p], WIDTH * largest[1 - p]
    n_leaf_pairs, n_exits, n_roots = steps.n_leaf_pairs, steps.exit_width, steps.root_width
    return {
        "reach": WIDTH * steps.n_sequences,
        "value": WIDTH * max(steps.n_nodes + 1, n_roots),
        "theirs": (other + 1) * n_leaf_pairs,
        "wins": own * n_leaf_pairs,
        "total": n_leaf_pairs,
        "by_card": N_CARDS * n_leaf_pairs,
        "rows_win": WIDTH * WIDTH,
        "rows_total": WIDTH * WIDTH,
        "exits": (other + 1) * n_exits,
        "continuation": own * n_exits,
        "leaf_values": WIDTH * n_exits,
        "roots": own * n_roots,
    }


def _sharing(own: Workspace, common: Workspace) -> Workspace:
    return own._replace(**{name: getattr(common, name) for name in COMMON})


def _locks(game: LiveGame, hands: HandTable, t: int, p: int) -> _Locks:
    by_node: dict[int, int] = {}
    parts, start = [np.zeros(WIDTH, dtype=np.float32)], WIDTH
    first: list[int] = []
    for lock in game.locks:
        if (lock.round, lock.player) != (t, p):
            continue
        by_node[lock.node] = len(first)
        first.append(start)
        for b, board in enumerate(lock.frequencies):
            count, blocks = int(hands.count[b]), n_blocks(int(hands.count[b]))
            wide = np.full((board.shape[0], WIDTH * blocks), np.nan, dtype=np.float32)
            wide[:, :count] = board[:, :count]
            parts.append(wide.reshape(-1, blocks, WIDTH).transpose(1, 0, 2).ravel())
            start += wide.size
    return _Locks(by_node, np.concatenate(parts), np.array(first or [0], dtype=np.int64))


SINGLE = 4  # bytes of a float32, and of a row number
DOUBLE = 8


@dataclass(frozen=True)
class Footprint:
    """Memory that a solve takes, in bytes, by purpose.

    Attributes:
        state: bytes of regrets, sums and predicted regrets, equal to `ExactCfr.state_bytes`.
        tables: bytes of betting steps, cards, strengths and maps between rounds.
        buffers: bytes of the buffers of all threads.
    """

    state: int
    tables: int
    buffers: int


def footprint(game: LiveGame, *, threads: int, short: bool, predictive: bool = False) -> Footprint:
    """Compute the memory that `ExactCfr` will take for a game, before anything but the game is allocated.

    ``short`` says whether regrets and sums have 16 bits, and ``predictive`` whether the variant predicts regrets.
    """
    state = tables = buffers = 0
    for t, r in enumerate(game.rounds):
        rows = [padded_rows(r.hands[p].n_hands) for p in (0, 1)]
        programs = [program(r.forest, p, {}) for p in (0, 1)]
        state += state_bytes(r, (2 if short else SINGLE) * (3 if predictive else 2))
        tables += sum(3 * SINGLE * int(rows[p].sum()) for p in (0, 1)) + sum(map(_bytes, programs))
        tables += class_bytes(r)
        if r.deal is not None:
            tables += sum(_deal(r.deal, padded_rows(game.rounds[t + 1].hands[p].n_hands), p) for p in (0, 1))
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


def state_bytes(r: Round, cell_bytes: int) -> int:
    """Bytes of both players' numbers in a round, with ``cell_bytes`` bytes for all numbers of an action of a hand."""
    n_rows = [int(padded_rows(hands.n_hands).sum()) for hands in r.hands]
    return cell_bytes * int(np.dot(n_rows, r.forest.n_slots))


def _deal(deal: Deal, below: np.ndarray, p: int) -> int:
    return SINGLE * (int(below[deal.child].sum()) + deal.child_row[p].size)


def _buffers(programs: list[Program], rows: list[np.ndarray]) -> tuple[int, int]:
    """Bytes of a round's buffers of one thread: those without and those with the names in `COMMON`.

    ``programs`` and ``rows[board]``, numbers of padded rows, are given for each player.
    """
    largest = [int(n.max()) // WIDTH for n in rows]
    sizes = [_buffer_sizes(programs[p], largest, p) for p in (0, 1)]
    common = SINGLE * sum(buffers[name] for buffers in sizes for name in COMMON)
    return SINGLE * sum(sum(buffers.values()) for buffers in sizes) + 2 * DOUBLE * WIDTH - common, common


def _bytes(arrays: Any) -> int:
    return sum(array.nbytes for array in arrays if isinstance(array, np.ndarray | Records))
