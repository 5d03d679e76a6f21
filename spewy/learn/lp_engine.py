"""A whole small game as one linear program: the only sweep there is.

HiGHS runs in a process of its own, since nothing stops it in between: there Ctrl-C ends the process, and nothing of the
program is left. What it finds lies in the strategy locker as the sums of other engines do, weighted by own reach.
"""

from __future__ import annotations

from contextlib import closing

from lockers import Store
from solvers.exploit import Exploitability
from solvers.live import LiveGame, Strategies
from solvers.lp import Method, solve_live
from spewy.chunks.layout import Layout
from spewy.learn.engine import Check, Progress
from spewy.learn.judge import Judge
from spewy.records.chunks import Chunks, Kind, save_whole
from spewy.records.progress import saved_sweeps
from spewy.system.crew import Crew, Parent

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

    at_once = 1

    def advance(self, sweeps: int, progress: Progress | None = None) -> None:
        """Solve the program; ``progress`` is asked every now and then whether to go on.

        Raises:
            SolverError: HiGHS found no optimum.
            ChildProcessError: its process was killed.
        """
        self._plans = self._solve(progress or (lambda done, total: None))
        self._sweeps = 1
        if progress is not None:
            progress(1, 1)

    def sprint(self, target: float, sweeps: int, every: int) -> list[Check]:
        """There is one sweep only."""
        return []

    def exploitability(self) -> Exploitability:
        """Judged by the live walk, not taken from the program."""
        return self._judge.exploitability(self._plans)

    def expected_values(self) -> tuple[float, float]:
        """The same way."""
        return self._judge.expected_values(self._plans)

    def save(self) -> None:
        """Write both plans, if they are new.

        Raises:
            SpewyError: another process has saved to this folder meanwhile.
        """
        if self._saved != self._sweeps:
            save_whole(self.layout, self.store, {Kind.SUMS: self._plans}, self._saved, self._sweeps)
            self._saved = self._sweeps

    def close(self) -> None:
        """Nothing is left running."""

    def _solve(self, progress: Progress) -> Strategies:
        with closing(Crew(1)) as crew:
            for word in crew.results(_solve, [(self.layout.live, METHOD)]):
                if word is not None:
                    plans: Strategies = word.value
                    return plans
                progress(0, 1)
        raise AssertionError("a crew gives one result for one task")


def _solve(parent: Parent, game: LiveGame, method: Method) -> Strategies:
    return solve_live(game, method)
