"""Engine that solves a whole small game as one linear program, in a single sweep.

HiGHS runs in a process of its own, since nothing stops it in between: there Ctrl-C ends the process, and nothing of the
program is left. What it finds lies in the strategy locker as the sums of other engines do, weighted by own reach.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing

from lockers import Store
from solvers.game import LiveGame, Strategies
from solvers.matrix.chunk import ChunkStrategy
from solvers.matrix.lp import Method, solve_live
from spewy.chunks.layout import Layout
from spewy.learn.engine import Check, Counted, Goal, Progress, Saves, Spread, Stop, Timer
from spewy.learn.walks import Judge
from spewy.records.chunks import Chunks, Kind, save_boards
from spewy.records.progress import saved_seconds, saved_sweeps
from spewy.system.local_pool import LocalPool
from spewy.system.worker import Parent

METHOD: Method = "highs-ipm"
"""Interior point with crossover: as exact as the simplex method, and up to five times as fast on larger games."""


class LpEngine:
    """Engine whose only sweep is the linear program.

    Args:
        layout: layout of the problem.
        store: the lockers of the solve.
        threads: number of threads that measure.
    """

    counted: Counted = "sweeps"
    saves: Saves = "checked"
    settled = True

    def __init__(self, layout: Layout, store: Store, threads: int = 1) -> None:
        self.layout, self.store, self.threads = layout, store, threads
        self.seconds_before = saved_seconds(store)
        self.save_took: float | None = None
        self._saved = self._done = saved_sweeps(store)
        self._plans = Chunks(layout, store).whole()
        self._judge = Judge(layout, threads)

    @property
    def done(self) -> int:
        """Whether the program is solved, as a number of sweeps: 0 or 1."""
        return self._done

    def run(self, goal: Goal, stop: Stop, progress: Progress) -> Sequence[Check]:
        """Solve the program, unless ``stop`` is set before its end.

        Raises:
            SolverError: HiGHS found no optimum.
            ChildProcessError: its process was killed.
        """
        plans = self._solve(stop, progress)
        if plans is not None:
            self._plans, self._done = plans, 1
            progress(1, 1, 1)
        return ()

    def measure(
        self, stop: Stop | None = None, tell: Callable[[int, int], object] = lambda done, of: None
    ) -> Check:
        """Measure both plans by a walk of the live game, independently of the program's value."""
        timer = Timer()
        measured = self._judge.exploitability(self._plans)
        return Check.of(self.done, *timer.times(), measured)

    def expected_values(self) -> tuple[float, float]:
        """Both players' chips per deal, by a walk of the live game."""
        return self._judge.expected_values(self._plans)

    def spread(self) -> tuple[Spread, ...] | None:
        """None, since the program includes all boards."""
        return None

    def saved(self) -> int:
        """Whether the lockers hold both plans, as a number of sweeps: 0 or 1."""
        return self._saved

    def save(self, seconds: float = 0.0, dropping: int | None = None, *, wait: bool = True) -> None:
        """Write both plans for all rounds if they are new.

        Raises:
            SpewyError: another process has saved to this folder meanwhile.
        """
        if self._saved == self._done:
            return
        self.layout.live.pin(self._plans)
        portions, sweeps = [self.layout.every_board()], (self._saved, self._done)
        save_boards(self.layout, self.store, portions, [Kind.SUMS], self._read, sweeps, counted=True)
        self._saved = self._done

    def close(self) -> None:
        """Do nothing: no process is left running."""

    def _read(self, kind: Kind, t: int, b: int) -> ChunkStrategy:
        first, second = self._plans[t]
        return first[b], second[b]

    def _solve(self, stop: Stop, progress: Progress) -> Strategies | None:
        """Solve the program for both plans; None if ``stop`` was set earlier."""
        with closing(LocalPool(1)) as pool:
            for message in pool.results(_solve, [(self.layout.live, METHOD)]):
                if message is not None:
                    plans: Strategies = message.value
                    return plans
                progress(1, 0, 1)
                if stop.is_set():
                    return None
        raise AssertionError("a pool gives one result for one task")


def _solve(parent: Parent, game: LiveGame, method: Method) -> Strategies:
    return solve_live(game, method)
