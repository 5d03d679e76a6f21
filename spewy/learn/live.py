"""Solve a game by CFR with all chunks in memory, and save to lockers.

There are two solvers. `solvers.reference.cfr.Cfr` solves any game. All chunks are saved in one transaction, which also
counts their visits. `solvers.exact.ExactCfr` solves games with one row for each hand. Its chunks are saved in single
precision, and visits are not counted. If regrets and strategy sums take at most 64 MiB, one transaction saves all of
them. Otherwise each transaction saves a few boards, and the last one saves the first round and the number of sweeps. A
save that is killed halfway leaves chunks of two different sweeps, from which the next run can continue.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from lockers import Store
from solvers.game import Lock
from solvers.measure import Exploitability
from solvers.solver import Part, Solver
from solvers.state import ChunkStrategy
from spewy.chunks.layout import Layout
from spewy.errors import SolveError
from spewy.learn.engine import Check, Engine, Goal, Progress, Stop, Timer
from spewy.records.chunks import Chunks, Kind, save_boards
from spewy.records.progress import saved_seconds, saved_sweeps

AT_ONCE = 64 << 20
"""Largest size in bytes of regrets and strategy sums that are saved in one transaction."""
BOARDS_AT_ONCE = 16
"""Number of boards in a transaction if the state is larger than `AT_ONCE`."""
SECONDS_AT_ONCE = 0.5
"""Target duration in seconds of the sweeps between two tests for Ctrl-C."""
SPRINT_SECONDS = 0.25
"""Largest duration in seconds of several checks, with the sweeps between them, that one call of the solver makes."""
FIRST_SPRINT = 32
"""Largest number of checks in the first call of the solver that makes several; the limit doubles with each call."""
STATE_SPEED = 1e9
"""Assumed speed of the exact solver before the first sweep: bytes of regrets and sums that it updates in a second."""

PARTS: dict[Kind, Part] = {Kind.REGRETS: "regrets", Kind.SUMS: "sums", Kind.GUESSES: "guesses"}
"""The solver's name for each kind of array."""


class LiveEngine(Engine):
    """Engine whose sweeps are iterations of a solver; each iteration visits every chunk once.

    Args:
        solver: a new solver for the layout's live game.
        quick: seconds of a quick solve, which the next save records; None: it is no quick solve.
        anew: whether to begin with the first sweep, whatever the store holds; a save then replaces it.
    """

    def __init__(
        self,
        layout: Layout,
        store: Store,
        solver: Solver,
        locks: Sequence[Lock],
        *,
        exact: bool,
        threads: int = 1,
        quick: float | None = None,
        anew: bool = False,
    ) -> None:
        super().__init__(threads, 0.0 if anew else saved_seconds(store))
        self.layout = layout
        self.store = store
        self.solver = solver
        self._locks = locks
        self._exact = exact
        self._kinds = [kind for kind, part in PARTS.items() if part in solver.parts]
        self._pace = max(1, solver.state_bytes) / STATE_SPEED if exact else SECONDS_AT_ONCE
        self._checks = FIRST_SPRINT
        self._saved, self._quick, self._anew = saved_sweeps(store), quick, anew
        if self._saved and not anew:
            solver.iteration = self._saved
            for kind in self._kinds:
                self._load(kind)

    @property
    def done(self) -> int:
        return self.solver.iteration

    def run(self, goal: Goal, stop: Stop, progress: Progress) -> Sequence[Check]:
        """Make sweeps for half a second or until a check is due; very short sweeps go on through several checks."""
        checks = self._sprint(goal)
        if not checks:
            n_left = goal.left(self.done)
            n = max(1, min(n_left or 1, int(min(SECONDS_AT_ONCE, goal.seconds_left) / self._pace)))
            begun = time.perf_counter()
            self.solver.run(n)
            self._pace = (time.perf_counter() - begun) / n
        progress(self.done, 1, 1)
        return checks

    def exploitability(self, stop: Stop) -> Exploitability:
        """Measure even if ``stop`` is set, because this engine saves only after a measurement."""
        return self.solver.exploitability()

    def expected_values(self) -> tuple[float, float]:
        return self.solver.expected_values()

    def saved(self) -> int:
        return self._saved

    def save(self, seconds: float = 0.0, dropping: int | None = None, *, wait: bool = True) -> None:
        """Save regrets, strategy sums and the values of chance leaves, if sweeps were made since the last save."""
        if self._saved == self.done and not self._anew:
            return
        timer = Timer()
        if not self.solver.finite():
            raise SolveError(
                f"sweep {self.done}: regrets or strategy sums are infinite or not numbers, so the sweep is not saved; "
                'try solve.precision = "double"'
            )
        save_boards(
            self.layout,
            self.store,
            self._portions(dropping),
            self._kinds,
            partial(_read, self.layout, self.solver, self._locks),
            (self._saved, self.done),
            counted=not self._exact,
            leaves=self.solver.leaf_values() if self.layout.n_rounds > 1 else {},
            dropping=dropping,
            quick=self._quick,
        )
        self.solver.let_go()
        self._saved, self._anew = self.done, False
        _, self._save_took = timer.times()

    def close(self) -> None:
        self.solver.close()

    def _sprint(self, goal: Goal) -> list[Check]:
        """Make several checks and the sweeps between them; none if sweeps are too long or ``goal`` forbids several."""
        done, every = self.done, goal.every
        if not goal.together or every is None or goal.last is None or done % every:
            return []
        checks = min(int(SPRINT_SECONDS / (self._pace * every)), self._checks, (goal.last - done) // every)
        if checks < 1:
            return []
        begun = time.perf_counter()
        measured = self.solver.run_to(goal.target, checks * every, every)
        ended = time.perf_counter()
        self._pace = (ended - begun) / (self.done - done)
        self._checks *= 2
        started = ended - measured[-1].seconds
        return [Check.of(m.iteration, started + m.seconds, m.took, m.exploitability) for m in measured]

    def _portions(self, dropping: int | None) -> Iterator[list[tuple[int, int]]]:
        """Yield the boards (round, number) of each transaction of a save, and release mapped memory in between."""
        rounds = self.layout.boards
        kept = [
            (t, b) for t, b in self.layout.every_board() if dropping is None or rounds[t].round < dropping
        ]
        # The first round comes last, so that one transaction replaces the answer of a quick solve and its mark.
        boards = sorted(kept, key=lambda place: place[0] == 0)
        whole = not self._exact or self.solver.state_bytes <= AT_ONCE
        at_once = len(boards) if whole else BOARDS_AT_ONCE
        for start in range(0, len(boards), at_once):
            self.solver.let_go()
            yield boards[start : start + at_once]

    def _load(self, kind: Kind) -> None:
        stored, part = Chunks(self.layout, self.store, kind), PARTS[kind]
        for t, b in self.layout.every_board():
            chunks, numbers = self.layout.betting[t].chunks, self.solver.read(part, t, b)
            arrays = stored.get_many(t, [(b, r) for r in range(len(chunks))])
            for chunk, parts in zip(chunks, arrays, strict=True):
                for p, array in enumerate(parts or ()):
                    numbers[p][chunk.slots[p], : array.shape[1]] = array
            self.solver.write(part, t, b, numbers)
            if b % BOARDS_AT_ONCE == 0:
                self.solver.let_go()
                self.store.let_go()


def _read(layout: Layout, solver: Solver, locks: Sequence[Lock], kind: Kind, t: int, b: int) -> ChunkStrategy:
    """Read a board's arrays, per player ``[slot of the round, row]``; locked decisions have the locks' frequencies.

    This is no method, so a store in memory can keep the function without keeping the engine.
    """
    numbers = solver.read(PARTS[kind], t, b)
    for lock in locks if kind is Kind.SUMS else ():
        if lock.round == t:
            a = layout.betting[t].forest.arrays
            first, n_actions = int(a.slot[lock.node]), int(a.n_actions[lock.node])
            decision = numbers[lock.player][first : first + n_actions]
            locked = lock.frequencies[b][:, : decision.shape[1]]
            np.copyto(decision, locked, where=~np.isnan(locked), casting="same_kind")
    return numbers
