"""Dropped chunks, solved again when somebody looks at them, from the ranges that are played down to them.

A chunk of the first dropped round and all that follows it is a game of its own: both ranges at its root, its pot, its
stacks and its betting are what they were. It is solved with a row per hand to a target in that game and kept in memory.
Its value is that of the dropped strategies within both targets, its strategies may be those of another equilibrium;
where the ranges hardly ever come, nothing ties them to what was dropped.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import cached_property

import numpy as np

from buckets.cards import cards_name
from lockers import Reads
from lockers.codec import Array
from solvers.cfr import Cfr
from solvers.errors import SolverError
from solvers.exact import ExactCfr, supports, useful_threads
from solvers.solver import Solver
from solvers.variants import DEFAULT_VARIANT, EXACT_VARIANT, variant
from spewy.chunks.layout import Layout
from spewy.chunks.live_game import with_ranges
from spewy.chunks.part import chunk_layout
from spewy.errors import InputError, shown
from spewy.game.names import ROUND_NAMES
from spewy.job.job import Job
from spewy.job.units import parse_memory, parse_target, unit_chips
from spewy.learn.playdown import PlayDown
from spewy.records.chunks import Chunks
from spewy.records.overlay import Overlay
from spewy.records.progress import last_target
from spewy.run.ready import make_ready

Note = Callable[[str], None]

CHECK_EVERY = 10
MAX_ITERATIONS = 2000
"""Where a target is below what single precision or patience can reach, it ends here and says so."""


class Refilled:
    """Reads a store in which rounds are dropped as if they were there: what `require` asked for is.

    Args:
        job: what the store was made for.
        layout: its layout, with a row per hand in dropped rounds.
        store: where the rounds that stay are read from.
        target: accuracy, as in a job file, % are of the pot where a chunk begins; None: the last solve's target.
        note: told of each solve before and after.

    Raises:
        InputError: the target is none, or in a unit that does not apply.
    """

    def __init__(
        self, job: Job, layout: Layout, store: Reads, target: str | None = None, note: Note | None = None
    ) -> None:
        self._job = job
        self._layout = layout
        self._overlay = Overlay(store)
        self._first = self._overlay.first
        self._note = note or _silence
        self._target = (last_target(store) or job.solve.target) if target is None else target
        try:
            self._amount, self._unit = parse_target(self._target)
        except ValueError as error:
            raise InputError(f"--target: {error}, found {shown(target)}") from None
        if self._unit != "%":
            unit_chips(job.rules, job.pot, self._unit)
        self._solved: set[tuple[int, int, int]] = set()

    @property
    def n_solved(self) -> int:
        """How many chunks were solved so far."""
        return len(self._solved)

    def get(self, locker: str, key: bytes) -> Array | None:
        """What the store holds, or what was solved in its place."""
        return self.get_many(locker, [key])[0]

    def get_many(self, locker: str, keys: Sequence[bytes]) -> list[Array | None]:
        """The same for several keys."""
        return self._overlay.get_many(locker, keys)

    def require(self, t: int, b: int, r: int) -> None:
        """Solve what chunk (t, b, r) belongs to, if that was dropped, unless it has been.

        Raises:
            InputError: it needs more memory than ``solve.memory`` allows.
        """
        layout = self._layout
        if self._first is None or layout.boards[t].round < self._first:
            return
        while layout.boards[t].round > self._first:
            b, r, t = layout.board(t, b).parent, layout.betting[t].parents[r][0], t - 1
        if (t, b, r) not in self._solved:
            self._solve(t, b, r)
            self._solved.add((t, b, r))

    @cached_property
    def _played(self) -> PlayDown:
        """Ranges at the first dropped round: all that they depend on stays as it is."""
        return PlayDown(self._layout, Chunks(self._layout, self._overlay).get)

    def _solve(self, t: int, b: int, r: int) -> None:
        part = chunk_layout(self._layout, t, r).below(0, b)
        if not any(sum(bets.forest.n_slots) for bets in part.betting):
            return  # nobody has anything to decide any more
        root = part.tree(0, 0).nodes[0]
        subject = _subject(part)
        self._require_memory(part, subject)
        first, second = (_scaled(ranges[[r]]) for ranges in self._played.ranges(t, b))
        game = with_ranges(part.live, (first, second))
        try:
            game.deal_weight  # noqa: B018 - which is an error where no pair of hands is possible
        except SolverError:
            self._note(f"{subject} was dropped, and nobody comes there: all strategies are uniform")
            return
        pot = self._layout.problem.pot + sum(root.put_in)
        unit = pot / 100 if self._unit == "%" else unit_chips(self._job.rules, self._job.pot, self._unit)
        self._note(f"{subject} was dropped: solving it from the played-down ranges to {self._target}")
        started = time.perf_counter()
        threads = self._job.solve.workers
        solver: Solver
        if supports(game, variant(EXACT_VARIANT)):
            make_ready("exact", part.n_rounds, False, self._note)
            solver = ExactCfr(game, variant(EXACT_VARIANT), threads=useful_threads(game, threads))
        else:
            solver = Cfr(game, variant(DEFAULT_VARIANT), threads=threads)
        with closing(solver):
            found = _solve(solver, self._amount * unit)
            for t, b in part.every_board():
                sums = solver.read("sums", t, b)
                for r in range(len(part.betting[t].chunks)):
                    self._overlay.put(part, t, b, r, part.take(sums, t, b, r))
        missed = "" if found <= self._amount * unit else ", which is not the target"
        self._note(
            f"{subject}: exploitability {max(found, 0.0) / unit:.3g} {self._unit}{missed} "
            f"after {solver.iteration} iterations, {time.perf_counter() - started:.2f} s".replace(" %", "%")
        )

    def _require_memory(self, part: Layout, subject: str) -> None:
        """Of regrets and sums, in double precision: far more than tables and buffers need."""
        needed = 0
        for bets, table in zip(part.betting, part.boards, strict=True):
            for p, slots in enumerate(bets.forest.n_slots):
                widest = max(len(board.rows[p].hands) for board in table.boards)
                needed += 2 * 8 * len(table.boards) * slots * widest
        if needed > parse_memory(self._job.solve.memory):
            raise InputError(
                f"solve.memory: solving {subject}, which was dropped, needs {needed / 2**20:,.0f} MiB, "
                f"found {self._job.solve.memory}"
            )


def _solve(solver: Solver, target: float) -> float:
    """Solve to a target in chips; return the exploitability that was reached."""
    found = np.inf
    while found > target and solver.iteration < MAX_ITERATIONS:
        solver.run(CHECK_EVERY)
        found = solver.exploitability().value
    return found


def _scaled(ranges: np.ndarray) -> np.ndarray:
    """With the largest weight 1: strategies depend on ratios only, and single precision on sizes."""
    largest = ranges.max(initial=0.0)
    return ranges / largest if largest > 0 else ranges


def _subject(layout: Layout) -> str:
    board = layout.board(0, 0)
    name, line = ROUND_NAMES[layout.boards[0].round], layout.tree(0, 0).line
    return f"{name} {cards_name(board.cards)} after {line}"


def _silence(text: str) -> None:
    """Note nobody."""
