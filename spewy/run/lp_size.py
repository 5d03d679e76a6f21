"""Size of the linear program of a whole game, counted from betting and cards without enumerating boards.

Each hand of a player, and each pair of hands, is possible on a number of boards that follows from the number of cards
that are left.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb, prod

import numpy as np

from buckets.cards import blocked
from solvers.tree import CHANCE, DECISION
from spewy.chunks.problem import Problem
from spewy.chunks.rounds import BettingRound, betting_rounds
from spewy.errors import InputError, size_text

MOST_MINUTES = 5.0
"""Largest estimated time of a program that may be solved; CFR solves games of this size in less than a second."""
SECONDS = 1e-9
"""Factor of the estimated seconds of HiGHS's interior point method on one core.

The estimate is this factor times the number of nonzeros times the number of variables and constraints. Measured times
of rivers and turns, from one second to three minutes, are within half of the estimate (docs/research/lp-or-cfr.md).
"""
BYTES_PER_NONZERO, BYTES_PER_COLUMN = 200, 2000
"""Memory for each nonzero, and for each variable or constraint, of HiGHS and the arrays (measured)."""
PROCESS_BYTES = 120 << 20
"""Memory that every linear program takes in addition, whatever its size."""


@dataclass(frozen=True)
class LpSize:
    """Size of a linear program.

    Attributes:
        variables: number of variables.
        constraints: number of constraints.
        nonzeros: upper bound on the number of nonzero coefficients; showdowns that always tie have none.
    """

    variables: int
    constraints: int
    nonzeros: int

    @property
    def memory_bytes(self) -> int:
        """Approximate bytes of memory for building and solving the program."""
        columns = self.variables + self.constraints
        return PROCESS_BYTES + BYTES_PER_NONZERO * self.nonzeros + BYTES_PER_COLUMN * columns

    @property
    def minutes(self) -> float:
        """Rough number of minutes for solving the program."""
        return SECONDS * self.nonzeros * (self.variables + self.constraints) / 60

    def __str__(self) -> str:
        """Describe the size in words."""
        return (
            f"{self.variables:,} variables, {self.constraints:,} constraints "
            f"and {self.nonzeros:,} nonzeros, about {size_text(self.memory_bytes)} and {_time(self.minutes)}"
        )


def lp_size(problem: Problem) -> LpSize:
    """Compute the size of a problem's linear program, without suit symmetry and with a row for each hand."""
    betting = betting_rounds(problem.tree)
    hole = problem.game.num_hole_cards
    boards = [_boards(problem, bets.round, hole) for bets in betting]
    board = [card for group in problem.history for card in group]
    held = [(weights > 0) & ~blocked(problem.hands, board) for weights in problem.ranges]
    rows = [[int(of_player.sum()) * n for n in boards] for of_player in held]
    pairs = [_pairs(problem, held) * _boards(problem, bets.round, 2 * hole) for bets in betting]
    plans = [_plan(betting, p, rows[p]) for p in (0, 1)]
    payoffs = sum(n * _terminals(bets) for n, bets in zip(pairs, betting, strict=True))
    (x, x_lines, x_entries), (y, y_lines, y_entries) = plans
    return LpSize(x + y_lines, y + x_lines, payoffs + x_entries + y_entries)


def require_small(name: str, size: LpSize) -> None:
    """Refuse a linear program that would take too long.

    Args:
        name: name of the job.
        size: size of its program.

    Raises:
        InputError: the program would probably take longer than `MOST_MINUTES`.
    """
    if size.minutes > MOST_MINUTES:
        raise InputError(
            f'{name}: solve.method = "lp" solves the whole game as one linear program, which must take at most about '
            f"{MOST_MINUTES:.0f} minutes, found {size}; "
            'use solve.method = "cfr", or solve.integrate = "average" for one program for each chunk'
        )


def _time(minutes: float) -> str:
    """Format an approximate time in words.

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
    """Count the pairs of both players' hands that share no card, for hands of one or two cards.

    Args:
        problem: the game, with the hands of the deck.
        held: per player whether the range has each hand (a bool array ``[hand]``).
    """
    first, second = (problem.hands[of_player] for of_player in held)
    cards = [np.bincount(hands.ravel(), minlength=problem.hands.max() + 1) for hands in (first, second)]
    same = int(np.sum(held[0] & held[1]))
    return len(first) * len(second) - int(cards[0] @ cards[1]) + (problem.game.num_hole_cards - 1) * same


def _plan(betting: list[BettingRound], p: int, rows: list[int]) -> tuple[int, int, int]:
    """Count the variables, the flow constraints and the constraints' nonzeros of one player's realization plan.

    Args:
        betting: the betting of each round.
        p: number of the player.
        rows: number of the player's hands on all boards together, per round.
    """
    variables = lines = entries = 0
    for t, (bets, n) in enumerate(zip(betting, rows, strict=True)):
        a, roots, slots = bets.forest.arrays, bets.forest.n_roots, bets.forest.n_slots[p]
        decisions = int(np.sum((a.kind == DECISION) & (a.player == p)))
        variables += n * (roots + slots)
        lines += n * (roots + decisions)
        entries += n * (roots * (1 if t == 0 else 2) + decisions + slots)
    return variables, lines, entries


def _terminals(bets: BettingRound) -> int:
    kind = bets.forest.arrays.kind
    return int(np.sum((kind != DECISION) & (kind != CHANCE)))
