"""Solve a whole small game as one linear program, or a few that choose among its equilibria.

The LP solver HiGHS cannot be interrupted. So it runs in another process, which Ctrl-C kills. The optimal strategies are
saved in the same form as the strategy sums of other engines, weighted by the player's own reach.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from math import comb, prod
from typing import Any, TypeAlias

import numpy as np

from buckets.cards import blocked
from lockers import Store
from solvers.game import LiveGame, Strategies
from solvers.matrix.choose import MOST_ROUNDS, Bools, Choice, Chosen, solve_chosen
from solvers.matrix.lp import FEWEST_HANDS, Method, solve_live
from solvers.measure import Exploitability
from solvers.state import ChunkStrategy
from solvers.tree import CHANCE, DECISION, FOLD, SHOWDOWN
from spewy.chunks.layout import Layout
from spewy.chunks.problem import Problem
from spewy.chunks.rounds import BettingRound, betting_rounds
from spewy.errors import InputError, size_text
from spewy.learn.engine import Check, Engine, Goal, Progress, Stop
from spewy.learn.playdown import Judge
from spewy.records.chunks import Chunks, Kind, save_boards
from spewy.records.progress import read_choice, saved_seconds, saved_sweeps, write_choice
from spewy.system.processes import LocalPool, Parent

METHOD: Method = "highs-ipm"
"""Interior point with crossover: as exact as the simplex method, and up to five times as fast on larger games."""


MOST_MINUTES = 5.0
"""Largest estimated time of a program that may be solved; CFR solves games of this size in less than a second."""
PAIRS_SECONDS = 1e-9
"""Seconds of HiGHS's interior point method on one core, for each nonzero and each variable or constraint.

The estimate of a program of pairs of hands is this factor times the number of nonzeros times the number of variables
and constraints. Measured times of both kinds of programs, from a second to three minutes, are between half of the
estimate and twice of it (docs/research/lp-or-cfr.md).
"""
SUMS_SECONDS, SUMS_POWER = 9e-9, 1.7
"""Factor and power in the estimated seconds of a program with running sums: factor · nonzeros ^ power."""
BYTES_PER_NONZERO, BYTES_PER_COLUMN, BYTES_PER_COLUMN_OF_SUMS = 200, 2000, 1000
"""Measured bytes for each nonzero; for each variable or constraint without running sums; and with running sums."""
HIGHS_BYTES, HIGHS_BYTES_OF_SUMS = 120 << 20, 150 << 20
"""Memory that every linear program takes in addition, whatever its size: without running sums, and with them."""
CHOICE_SHARE, ENTROPY_SHARE = 0.3, 0.6
"""Time of a further program over the optimal plans of one player: without and with the tangents of the entropy.

It is a share of the first program's time (measured: 0.2 to 0.3, and 0.3 to 0.6), since most variables are fixed.
"""
CHOICE_MEMORY = 1.5
"""Memory of the further programs, as a multiple of the first program's."""
Bets: TypeAlias = Sequence[tuple[Bools, Bools]]
"""Arrays ``[slot]``, for each round and player, that say whether an action is a bet or raise."""
Solved: TypeAlias = tuple[Strategies, Chosen | None]
"""Strategies, and the measures of a choice among equilibria, if there was one."""


class LpEngine(Engine):
    """Engine whose only sweep solves the game as a linear program."""

    def __init__(self, layout: Layout, store: Store, threads: int = 1, choose: Choice | None = None) -> None:
        super().__init__(threads, saved_seconds(store))
        self.layout, self.store, self._choose = layout, store, choose
        self._choice = read_choice(store)
        self._saved = self._done = saved_sweeps(store)
        self._plans = Chunks(layout, store).whole()
        self._judge = Judge(layout, threads)

    @property
    def done(self) -> int:
        """Number of finished sweeps: 1 if the linear program is solved, else 0."""
        return self._done

    def run(self, goal: Goal, stop: Stop, progress: Progress) -> Sequence[Check]:
        """Solve the linear program; if ``stop`` is set before it is solved, give up without a change."""
        solved = self._solve(stop, progress)
        if solved is not None:
            self._plans, chosen = solved
            self._choice, self._done = None if chosen is None else chosen.to_json(), 1
            progress(1, 1, 1)
        return ()

    @property
    def choice(self) -> Mapping[str, Any] | None:
        return self._choice

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
        if self._choice is not None:
            write_choice(self.store, self._choice)
        portions, sweeps = [self.layout.every_board()], (self._saved, self._done)
        save_boards(
            self.layout, self.store, portions, [Kind.SUMS], partial(_board, self._plans), sweeps, counted=True
        )
        self._saved = self._done

    def _solve(self, stop: Stop, progress: Progress) -> Solved | None:
        def stopped() -> bool:
            progress(1, 0, 1)
            return stop.is_set()

        return _plans(
            self.layout.live, stopped, [bets_of(bets) for bets in self.layout.betting], self._choose
        )


def value_bracket(problem: Problem, name: str, threads: int) -> tuple[float, float]:
    """Compute bounds on player 0's equilibrium value in net chips per deal, in the game without buckets.

    A linear program solves the game, and exact best responses to its strategies give the bounds, which differ only by
    rounding errors.

    Args:
        name: the job's name, for messages.

    Raises:
        InputError: the game has rake, or its program is too large.
    """
    whole = without_buckets(problem)
    if (size := lp_size(whole)).minutes > MOST_MINUTES:
        raise InputError(
            f"job {name}: the linear program must take at most about {MOST_MINUTES:.0f} minutes, found {size}; "
            "leave it out"
        )
    layout = Layout.of(whole)
    if layout.live.raked:
        raise InputError(f"job {name}: the linear program needs a zero-sum game, found spot.rake")
    solved = _plans(layout.live, lambda: False)
    assert solved is not None
    bracket = Judge(layout, threads).exploitability(solved[0]).bracket
    assert bracket is not None
    return min(bracket), max(bracket)  # rounding may exchange them


def without_buckets(problem: Problem) -> Problem:
    """Return the problem with a row for each hand, and without suit symmetry, as one linear program needs it."""
    return replace(problem, rows=(None,) * len(problem.rows), symmetry=False)


def _plans(
    game: LiveGame, stopped: Callable[[], bool], bets: Bets = (), choose: Choice | None = None
) -> Solved | None:
    """Solve the game's linear programs in another process; None if ``stopped`` returns True in the meantime."""
    with closing(LocalPool(1)) as pool:
        for message in pool.results(_solve, [(game, bets, choose, METHOD)]):
            if message is not None:
                solved: Solved = message.value
                return solved
            if stopped():
                return None
    raise AssertionError("a pool gives one result for one task")


def bets_of(betting: BettingRound) -> tuple[Bools, Bools]:
    """Return for each player which actions of a round are bets or raises: ``[slot]``."""
    a = betting.forest.arrays
    first, second = (np.zeros(slots, dtype=bool) for slots in betting.forest.n_slots)
    for n in np.flatnonzero(a.kind == DECISION).tolist():
        for k, action in enumerate(betting.nodes[n].actions):
            (first, second)[int(a.player[n])][int(a.slot[n]) + k] = action.acpc.startswith("r")
    return first, second


def _board(plans: Strategies, kind: Kind, t: int, b: int) -> ChunkStrategy:
    first, second = plans[t]
    return first[b], second[b]


def _solve(parent: Parent, game: LiveGame, bets: Bets, choose: Choice | None, method: Method) -> Solved:
    if choose is None:
        return solve_live(game, method), None
    return solve_chosen(game, bets, choose, method)


@dataclass(frozen=True)
class LpSize:
    """Size of a linear program.

    A *running sum* adds up a player's plan over the hands up to a strength. With a variable for each running sum, the
    program needs no payoff for each pair of hands (`solvers.matrix.lp.live_form`).

    Attributes:
        nonzeros: upper bound on the number of nonzero coefficients, since it also counts the zeros of showdowns that
            always tie and of running sums over no hand.
        sums: number of running sums; 0: the program has a payoff for each pair of hands.
        further: time of the programs that choose among the equilibria, as a multiple of the first program's time.
    """

    variables: int
    constraints: int
    nonzeros: int
    sums: int = 0
    further: float = 0.0

    @property
    def memory_bytes(self) -> int:
        of_columns = BYTES_PER_COLUMN_OF_SUMS if self.sums else BYTES_PER_COLUMN
        columns = self.variables + self.constraints
        fixed = HIGHS_BYTES_OF_SUMS if self.sums else HIGHS_BYTES
        first = fixed + BYTES_PER_NONZERO * self.nonzeros + of_columns * columns
        return int(CHOICE_MEMORY * first) if self.further else first

    @property
    def minutes(self) -> float:
        if self.sums:
            first = float(SUMS_SECONDS * self.nonzeros**SUMS_POWER / 60)
        else:
            first = PAIRS_SECONDS * self.nonzeros * (self.variables + self.constraints) / 60
        return (1 + self.further) * first

    def __str__(self) -> str:
        return (
            f"{self.variables:,} variables, {self.constraints:,} constraints "
            f"and {self.nonzeros:,} nonzeros, about {size_text(self.memory_bytes)} and {_time(self.minutes)}"
        )


def lp_size(problem: Problem, choose: Choice | None = None) -> LpSize:
    """Compute the size of a whole game's linear program, without suit symmetry and with a row for each hand.

    ``choose`` is the choice among the equilibria, which takes further programs.

    No board is enumerated: each hand of a player, and each pair of hands, is possible on a number of boards that
    follows from the number of cards that are left.
    """
    betting = betting_rounds(problem.tree)
    hole = problem.game.num_hole_cards
    boards = [_boards(problem, bets.round, hole) for bets in betting]
    board = [card for group in problem.history for card in group]
    held = [(weights > 0) & ~blocked(problem.hands, board) for weights in problem.ranges]
    rows = [[int(of_player.sum()) * n for n in boards] for of_player in held]
    plans = [_plan(betting, p, rows[p]) for p in (0, 1)]
    (x, x_lines, x_entries), (y, y_lines, y_entries) = plans
    if min(int(of_player.sum()) for of_player in held) < FEWEST_HANDS:
        pairs = [_pairs(problem, held) * _boards(problem, bets.round, 2 * hole) for bets in betting]
        payoffs = sum(n * sum(_terminals(bets)) for n, bets in zip(pairs, betting, strict=True))
        nonzeros = payoffs + x_entries + y_entries
        return LpSize(x + y_lines, y + x_lines, nonzeros, further=_further(betting, choose))
    lists = 1 + hole  # of running sums: over all hands, and over those with each of a hand's cards
    sums = payoffs = 0
    for bets, n_first, n_second in zip(betting, *rows, strict=True):
        a, (folds, showdowns) = bets.forest.arrays, _terminals(bets)
        sums += lists * n_first * len(np.unique(a.sequence[0, (a.kind != DECISION) & (a.kind != CHANCE)]))
        payoffs += n_second * (folds * 2 * hole + showdowns * lists * 3)
    nonzeros = payoffs + 3 * sums + x_entries + y_entries
    return LpSize(x + sums + y_lines, y + sums + x_lines, nonzeros, sums, _further(betting, choose))


def _further(betting: Sequence[BettingRound], choose: Choice | None) -> float:
    """Return the time of the programs that choose among the equilibria, as a multiple of the first program's."""
    if choose is None:
        return 0.0
    if choose == "entropy":
        return 2 * MOST_ROUNDS * ENTROPY_SHARE
    if choose == "bluff":
        return 2 * CHOICE_SHARE
    sizes = sum(int(of_player.sum()) for bets in betting for of_player in bets_of(bets))
    return (2 + sizes) * CHOICE_SHARE


def require_small(name: str, size: LpSize) -> None:
    if size.minutes > MOST_MINUTES:
        raise InputError(
            f'{name}: solve.method = "lp" solves the whole game as one linear program, which must take at most about '
            f"{MOST_MINUTES:.0f} minutes, found {size}; "
            'use solve.method = "cfr", or solve.integrate = "average" for one program for each chunk'
        )


def _time(minutes: float) -> str:
    """Format an approximate time.

    >>> _time(0.2), _time(3.4), _time(22_000)
    ('at most two minutes', '3 minutes', '367 hours')
    """
    if minutes < 2:
        return "at most two minutes"
    return f"{minutes:.0f} minutes" if minutes < 120 else f"{minutes / 60:,.0f} hours"


def _boards(problem: Problem, last: int, held: int) -> int:
    """Count the boards of round ``last`` that are possible if ``held`` hole cards are known."""
    left = len(problem.game.deck) - sum(len(group) for group in problem.history) - held
    dealt = problem.game.num_board_cards[problem.first_round + 1 : last + 1]
    return prod(comb(left - sum(dealt[:i]), cards) for i, cards in enumerate(dealt))


def _pairs(problem: Problem, held: list[np.ndarray]) -> int:
    """Count the pairs of hands that share no card; ``held[p][hand]``: whether player p's range has the hand."""
    first, second = (problem.hands[of_player] for of_player in held)
    cards = [np.bincount(hands.ravel(), minlength=problem.hands.max() + 1) for hands in (first, second)]
    same = int(np.sum(held[0] & held[1]))
    return len(first) * len(second) - int(cards[0] @ cards[1]) + (problem.game.num_hole_cards - 1) * same


def _plan(betting: list[BettingRound], p: int, rows: list[int]) -> tuple[int, int, int]:
    """Count variables, flow constraints and their nonzeros in player p's realization plan (sequence form)."""
    variables = lines = entries = 0
    for t, (bets, n) in enumerate(zip(betting, rows, strict=True)):
        a, roots, slots = bets.forest.arrays, bets.forest.n_roots, bets.forest.n_slots[p]
        decisions = int(np.sum((a.kind == DECISION) & (a.player == p)))
        variables += n * (roots + slots)
        lines += n * (roots + decisions)
        entries += n * (roots * (1 if t == 0 else 2) + decisions + slots)
    return variables, lines, entries


def _terminals(bets: BettingRound) -> tuple[int, int]:
    """Count the folds and the showdowns of a round."""
    kind = bets.forest.arrays.kind
    return int(np.sum(kind == FOLD)), int(np.sum(kind == SHOWDOWN))
