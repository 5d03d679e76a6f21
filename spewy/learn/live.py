"""CFR over the live game in memory, bound to lockers.

`reference.cfr.Cfr` solves any game; all its chunks are saved in one transaction that counts their visits, so that a
store is never half new. `solvers.exact.ExactCfr` solves games of single hands; its chunks are saved in single
precision, uncounted. A state of at most `AT_ONCE` bytes is saved in one transaction; a larger one board by board, each
board's chunks together, and the number of sweeps last: whoever kills a save leaves chunks of two different sweeps, from
which a solve goes on as well.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from lockers import Store
from solvers.game import Lock
from solvers.matrix.chunk import ChunkStrategy
from solvers.solver import Part, Solver
from spewy.chunks.layout import Layout
from spewy.errors import SolveError
from spewy.learn.engine import Check, Counted, Goal, Progress, Saves, Spread, Stop, Timer
from spewy.records.chunks import Chunks, Kind, save_boards
from spewy.records.progress import saved_seconds, saved_sweeps

AT_ONCE = 64 << 20
BOARDS_AT_ONCE = 16
SECONDS_AT_ONCE = 0.5  # between two looks at Ctrl-C
SPRINT_SECONDS = 0.25  # sweeps with several checks in so much time are done in one go
FIRST_SPRINT = 32  # most checks of the first sprint; each sprint may have twice as many as the one before
STATE_SPEED = (
    1e9  # bytes of regrets and sums per second in the exact engine, until the first sweeps tell better
)

PARTS: dict[Kind, Part] = {Kind.REGRETS: "regrets", Kind.SUMS: "sums", Kind.GUESSES: "guesses"}


class LiveEngine:
    """Engine whose sweeps are iterations of a solver; each iteration visits every chunk once.

    Args:
        layout: layout of the problem.
        store: the lockers, which the engine continues from.
        solver: solver of the layout's live game, before its first iteration.
        locks: locked decisions of that game.
        exact: whether the solver is the exact one, as the module says.
        threads: number of threads of the solver.
    """

    counted: Counted = "sweeps"
    saves: Saves = "checked"
    settled = True

    def __init__(
        self,
        layout: Layout,
        store: Store,
        solver: Solver,
        locks: Sequence[Lock],
        *,
        exact: bool,
        threads: int = 1,
    ) -> None:
        self.layout = layout
        self.store = store
        self.solver = solver
        self._locks = locks
        self._exact = exact
        self._kinds = [kind for kind, part in PARTS.items() if part in solver.parts]
        self._pace = max(1, solver.state_bytes) / STATE_SPEED if exact else SECONDS_AT_ONCE
        self._checks = FIRST_SPRINT
        self.threads = threads
        self.seconds_before = saved_seconds(store)
        self.save_took: float | None = None
        self._saved = saved_sweeps(store)
        if self._saved:
            solver.iteration = self._saved
            for kind in self._kinds:
                self._load(kind)

    @property
    def done(self) -> int:
        """Number of finished iterations."""
        return self.solver.iteration

    def run(self, goal: Goal, stop: Stop, progress: Progress) -> Sequence[Check]:
        """Do short sweeps with several checks in one call, or some longer sweeps up to the next check."""
        checks = self._sprint(goal)
        if not checks:
            left = goal.left(self.done)
            few = max(1, min(left or 1, int(SECONDS_AT_ONCE / self._pace)))
            begun = time.perf_counter()
            self.solver.run(few)
            self._pace = (time.perf_counter() - begun) / few
        progress(self.done, 1, 1)
        return checks

    def measure(
        self, stop: Stop | None = None, tell: Callable[[int, int], object] = lambda done, of: None
    ) -> Check:
        """Measure the exploitability; ``stop`` has no effect, since only measured strategies are saved."""
        timer = Timer()
        measured = self.solver.exploitability()
        return Check.of(self.done, *timer.times(), measured)

    def expected_values(self) -> tuple[float, float]:
        """Both players' chips per deal, by the solver."""
        return self.solver.expected_values()

    def spread(self) -> tuple[Spread, ...] | None:
        """None, since every sweep visits all boards."""
        return None

    def saved(self) -> int:
        """Number of sweeps in the lockers."""
        return self._saved

    def save(self, seconds: float = 0.0, dropping: int | None = None, *, wait: bool = True) -> None:
        """Write new regrets and sums, and the values of chance leaves.

        Args:
            seconds: seconds of work; the trace of checks has them too.
            wait: all is saved when this returns in any case.
            dropping: the first round of the game that is left out, with all after it, and counts as dropped; None for
                no round.

        Raises:
            SolveError: regrets or sums are not finite.
            SpewyError: another process has saved to this folder meanwhile.
        """
        if self._saved == self.done:
            return
        timer = Timer()
        if not self.solver.finite():
            raise SolveError(
                f"sweep {self.done}: expected finite regrets and sums, found others; nothing is saved, and "
                'solve.precision = "double" may help'
            )
        save_boards(
            self.layout,
            self.store,
            self._portions(dropping),
            self._kinds,
            self._read,
            (self._saved, self.done),
            counted=not self._exact,
            leaves=self.solver.leaf_values() if self.layout.n_rounds > 1 else {},
            dropping=dropping,
        )
        self.solver.let_go()
        self._saved = self.done
        _, self.save_took = timer.times()

    def close(self) -> None:
        """Stop the threads."""
        self.solver.close()

    def _sprint(self, goal: Goal) -> list[Check]:
        """Do short sweeps with several checks in one call, starting from a check; do nothing if sweeps are long."""
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
        """Yield groups of boards (t, b) to save together; mapped memory is released after each group."""
        rounds = self.layout.boards
        boards = [
            (t, b) for t, b in self.layout.every_board() if dropping is None or rounds[t].round < dropping
        ]
        whole = not self._exact or self.solver.state_bytes <= AT_ONCE
        at_once = len(boards) if whole else BOARDS_AT_ONCE
        for start in range(0, len(boards), at_once):
            self.solver.let_go()
            yield boards[start : start + at_once]

    def _read(self, kind: Kind, t: int, b: int) -> ChunkStrategy:
        """Arrays ``[slot of the round, row]`` per player; locked decisions have their locked frequencies."""
        numbers = self.solver.read(PARTS[kind], t, b)
        for lock in self._locks if kind is Kind.SUMS else ():
            if lock.round == t:
                a = self.layout.betting[t].forest.arrays
                first, n_actions = int(a.slot[lock.node]), int(a.n_actions[lock.node])
                decision = numbers[lock.player][first : first + n_actions]
                locked = lock.frequencies[b][:, : decision.shape[1]]
                np.copyto(decision, locked, where=~np.isnan(locked), casting="same_kind")
        return numbers

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
