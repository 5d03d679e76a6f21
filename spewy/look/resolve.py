"""Re-solve the subgame of a dropped chunk from the ranges at its root."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import closing

import numpy as np

from buckets.cards import cards_name
from solvers.discount import DEFAULT_VARIANT, exact_variant, variant
from solvers.errors import SolverError
from solvers.exact.engine import ExactCfr, supports, useful_threads
from solvers.game import LiveGame
from solvers.reference.cfr import Cfr
from solvers.solver import Solver
from solvers.tree import Floats
from spewy.chunks.layout import Layout
from spewy.chunks.live_game import with_ranges
from spewy.errors import InputError, SolveError
from spewy.game.names import ROUND_NAMES
from spewy.job.job import Job
from spewy.job.texts import parse_memory, parse_target, unit_chips
from spewy.records.patched_reads import PatchedReads
from spewy.run.warmup import warm_up

CHECK_EVERY = 10
MAX_ITERATIONS = 2000
"""Largest number of iterations of a re-solve, since a solve in single precision may never reach a small target."""


class Resolve:
    """Re-solves a dropped chunk together with everything that follows it.

    Args:
        job: job whose store has dropped the chunk.
        target: accuracy, as in a job file; % are of the pot where the chunk begins.
        note: called with a line of text before and after the solve.
        part: layout of the subgame, with a row for each hand; the chunk is its root.
    """

    def __init__(self, job: Job, target: str, note: Callable[[str], None], part: Layout) -> None:
        self._job, self._target, self._note, self._part = job, target, note, part
        board = job.rules.board_order(part.board(0, 0).cards)
        name, line = ROUND_NAMES[part.boards[0].round], job.amounts.line_text(part.tree(0, 0).line)
        self._subject = f"{name} {cards_name(board)} after {line}"

    def run(self, ranges: tuple[Floats, Floats], patched: PatchedReads) -> None:
        """Re-solve the subgame, and add its strategies and its values at chance leaves to ``patched``.

        Args:
            ranges: ranges at the root of the chunk, per player ``[hand of the layout]``.
            patched: reads the store and keeps re-solved chunks in memory.

        Raises:
            InputError: the solve needs more memory than ``solve.memory`` allows.
            SolveError: numbers become infinite or NaN both in single and in double precision.
        """
        part, subject = self._part, self._subject
        if not any(sum(bets.forest.n_slots) for bets in part.betting):
            return  # no player has a decision in the subgame
        self._require_memory()
        largest = [float(weights.max(initial=0.0)) or 1.0 for weights in ranges]
        oop, ip = (weights[None] / most for weights, most in zip(ranges, largest, strict=True))
        game = with_ranges(part.live, (oop, ip))  # scaling changes no strategy, and keeps numbers small
        try:
            game.deal_weight  # noqa: B018 - raises an error if no pair of hands is possible
        except SolverError:
            self._note(f"{subject} was dropped, and no hands reach it: all strategies are uniform")
            nothing = part.live.zeros()
            for t, b in part.every_board():
                patched.put_board(part, t, b, (nothing[t][0][b], nothing[t][1][b]))
            return
        for solver in self._solvers(game):
            with closing(solver):
                if not self._solve(solver):
                    continue
                for t, b in part.every_board():
                    patched.put_board(part, t, b, solver.read("sums", t, b))
                for (t, b), (oop_values, ip_values) in solver.leaf_values().items():
                    patched.put_leaves(part, t, b, (oop_values * largest[1], ip_values * largest[0]))
                return
        raise SolveError(
            f"{subject}, which was dropped: its solve gave infinite numbers, also in double precision"
        )

    def _solvers(self, game: LiveGame) -> Iterator[Solver]:
        """Yield a solver in single precision if it supports the game, then a solver in double precision.

        The caller asks for the second solver only if numbers overflow in single precision.
        """
        threads, n_rounds = self._job.solve.threads, self._part.n_rounds
        best = variant(exact_variant(n_rounds))
        if supports(game, best):
            warm_up("exact", n_rounds, False, self._note)
            yield ExactCfr(game, best, threads=useful_threads(game, threads))
            self._note(
                f"{self._subject}: numbers overflowed in single precision; solving in double precision"
            )
        yield Cfr(game, variant(DEFAULT_VARIANT), threads=threads)

    def _solve(self, solver: Solver) -> bool:
        """Run a solver until the subgame reaches the target, and tell the user the result.

        Returns:
            True, or False if a number became infinite or NaN.
        """
        amount, unit = parse_target(self._target)
        pot = self._part.problem.pot + sum(self._part.tree(0, 0).nodes[0].put_in)
        chips = pot / 100 if unit == "%" else unit_chips(self._job.rules, self._job.pot, unit)
        self._note(f"{self._subject} was dropped: solving it from the played-down ranges to {self._target}")
        started, gap = time.perf_counter(), np.inf
        while gap > amount * chips and solver.iteration < MAX_ITERATIONS:
            solver.run(CHECK_EVERY)
            gap = solver.exploitability().value
        if not (math.isfinite(gap) and solver.finite()):
            return False
        missed = "" if gap <= amount * chips else ", which misses the target"
        self._note(
            f"{self._subject}: exploitability {max(gap, 0.0) / chips:.3g} {unit}{missed} "
            f"after {solver.iteration} iterations, {time.perf_counter() - started:.2f} s".replace(" %", "%")
        )
        return True

    def _require_memory(self) -> None:
        """Check that the regrets and strategy sums of the subgame fit into the memory limit in double precision.

        Everything else needs little memory.

        Raises:
            InputError: the subgame needs more memory than ``solve.memory`` allows.
        """
        needed = 0
        for bets, table in zip(self._part.betting, self._part.boards, strict=True):
            for p, slots in enumerate(bets.forest.n_slots):
                widest = max(len(board.hands[p].numbers) for board in table.boards)
                needed += 2 * 8 * len(table.boards) * slots * widest
        if needed > parse_memory(self._job.solve.memory):
            raise InputError(
                f"solve.memory: solving {self._subject}, which was dropped, needs {needed / 2**20:,.0f} MiB, "
                f"found {self._job.solve.memory}"
            )
