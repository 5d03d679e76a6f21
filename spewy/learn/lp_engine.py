"""A whole small game as one linear program: the only sweep there is.

HiGHS runs in a process of its own, since nothing stops it in between: there Ctrl-C ends the process, and nothing of the
program is left. What it finds lies in the strategy locker as the sums of other engines do, weighted by own reach.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

from lockers import Store
from solvers.game import LiveGame, Strategies
from solvers.matrix.chunk import ChunkStrategy
from solvers.matrix.lp import Method, solve_live
from solvers.measure import Exploitability
from solvers.stopping import Stopped, never
from spewy.chunks.layout import Layout
from spewy.learn.engine import Check, Goal, measured, unmeasured
from spewy.learn.judge import Judge
from spewy.records.chunks import Chunks, Kind, save_boards
from spewy.records.progress import saved_sweeps
from spewy.system.local_pool import LocalPool
from spewy.system.worker import Parent

METHOD: Method = "highs-ipm"
"""Interior point, then crossover to a vertex: as exact as simplex, and up to five times as fast on larger games."""


class LpEngine:
    """Sweep 1 is the linear program."""

    def __init__(self, layout: Layout, store: Store, threads: int = 1) -> None:
        self.layout = layout
        self.store = store
        self._saved = self._sweeps = saved_sweeps(store)
        self._plans = Chunks(layout, store).whole()
        self._judge = Judge(layout, threads)

    @property
    def sweeps(self) -> int:
        """1 when it is solved."""
        return self._sweeps

    def checks(self, goal: Goal) -> Iterator[Check]:
        """Solve the program, unless that is done or has to stop, and measure what it gives.

        Raises:
            SolverError: HiGHS found no optimum.
            ChildProcessError: its process was killed.
        """
        if self._sweeps:
            return
        plans = self._solve(goal)
        if plans is None:
            yield unmeasured(self)
            return
        self._plans, self._sweeps = plans, 1
        goal.progress(1, 1, 1)
        yield measured(self)

    def exploitability(self, stopped: Stopped = never) -> Exploitability:
        """Judged by the live walk, not taken from the program."""
        return self._judge.exploitability(self._plans, stopped)

    def expected_values(self) -> tuple[float, float]:
        """Judged by the live walk, too."""
        return self._judge.expected_values(self._plans)

    def save(self, dropping: int | None = None) -> None:
        """Write both plans, of all rounds, if they are new.

        Raises:
            SpewyError: another process has saved to this folder meanwhile.
        """
        if self._saved == self._sweeps:
            return
        self.layout.live.pin(self._plans)
        portions, sweeps = [self.layout.every_board()], (self._saved, self._sweeps)
        save_boards(self.layout, self.store, portions, [Kind.SUMS], self._read, sweeps, counted=True)
        self._saved = self._sweeps

    def close(self) -> None:
        """Nothing is left running."""

    def _read(self, kind: Kind, t: int, b: int) -> ChunkStrategy:
        first, second = self._plans[t]
        return first[b], second[b]

    def _solve(self, goal: Goal) -> Strategies | None:
        """Both plans; None where it had to stop before."""
        with closing(LocalPool(1)) as pool:
            for message in pool.results(_solve, [(self.layout.live, METHOD)]):
                if message is not None:
                    plans: Strategies = message.value
                    return plans
                goal.progress(1, 0, 1)
                if goal.stop.is_set():
                    return None
        raise AssertionError("a pool gives one result for one task")


def _solve(parent: Parent, game: LiveGame, method: Method) -> Strategies:
    return solve_live(game, method)
