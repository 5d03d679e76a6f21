"""Solve a whole small game as one linear program, in a single sweep.

The LP solver HiGHS cannot be interrupted. So it runs in another process, which Ctrl-C kills. The optimal strategies are
saved in the same form as the strategy sums of other engines, weighted by the player's own reach.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from functools import partial

from lockers import Store
from solvers.game import LiveGame, Strategies
from solvers.matrix.lp import Method, solve_live
from solvers.measure import Exploitability
from solvers.state import ChunkStrategy
from spewy.chunks.layout import Layout
from spewy.learn.engine import Check, Engine, Goal, Progress, Stop
from spewy.learn.playdown import Judge
from spewy.records.chunks import Chunks, Kind, save_boards
from spewy.records.progress import saved_seconds, saved_sweeps
from spewy.system.processes import LocalPool, Parent

METHOD: Method = "highs-ipm"
"""Interior point with crossover: as exact as the simplex method, and up to five times as fast on larger games."""


class LpEngine(Engine):
    """Engine whose only sweep solves the game as a linear program."""

    def __init__(self, layout: Layout, store: Store, threads: int = 1) -> None:
        super().__init__(threads, saved_seconds(store))
        self.layout, self.store = layout, store
        self._saved = self._done = saved_sweeps(store)
        self._plans = Chunks(layout, store).whole()
        self._judge = Judge(layout, threads)

    @property
    def done(self) -> int:
        """Number of finished sweeps: 1 if the linear program is solved, else 0."""
        return self._done

    def run(self, goal: Goal, stop: Stop, progress: Progress) -> Sequence[Check]:
        """Solve the linear program; if ``stop`` is set before it is solved, give up without a change."""
        plans = self._solve(stop, progress)
        if plans is not None:
            self._plans, self._done = plans, 1
            progress(1, 1, 1)
        return ()

    def exploitability(self, stop: Stop) -> Exploitability:
        """Measure by best responses in the whole game, independently of the program's value."""
        return self._judge.exploitability(self._plans)

    def expected_values(self) -> tuple[float, float]:
        return self._judge.expected_values(self._plans)

    def saved(self) -> int:
        return self._saved

    def save(self, seconds: float = 0.0, dropping: int | None = None, *, wait: bool = True) -> None:
        if self._saved == self._done:
            return
        self.layout.live.pin(self._plans)
        portions, sweeps = [self.layout.every_board()], (self._saved, self._done)
        save_boards(
            self.layout, self.store, portions, [Kind.SUMS], partial(_board, self._plans), sweeps, counted=True
        )
        self._saved = self._done

    def _solve(self, stop: Stop, progress: Progress) -> Strategies | None:
        with closing(LocalPool(1)) as pool:
            for message in pool.results(_solve, [(self.layout.live, METHOD)]):
                if message is not None:
                    plans: Strategies = message.value
                    return plans
                progress(1, 0, 1)
                if stop.is_set():
                    return None
        raise AssertionError("a pool gives one result for one task")


def _board(plans: Strategies, kind: Kind, t: int, b: int) -> ChunkStrategy:
    first, second = plans[t]
    return first[b], second[b]


def _solve(parent: Parent, game: LiveGame, method: Method) -> Strategies:
    return solve_live(game, method)
