"""Solve push or fold before the flop exactly: the small blind goes all in or folds, the big blind calls or folds.

With 169 starting hands, exact card removal and stacks of S chips the game is one linear program. In the formula, W[a,
b] is the share of pairs of hands that are starting hands a and b, W[a] is the sum of W[a, b] over b, p[a] the frequency
with which the small blind goes all in with a, v[b] the small blind's value against b, and D[a, b] the share of boards
on which a wins minus the share on which b wins:

``max_p  Σ_a -(1 - p[a]) W[a] + Σ_b v[b],  v[b] <= Σ_a p[a] W[a, b] min(2, S),  v[b] <= Σ_a p[a] W[a, b] S D[a, b]``

The multipliers of the second kind of constraint give the big blind's calls. `benchmarks/studies/preflop_odds.py`
counted the equities.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.optimize import linprog

from buckets.cards import Deck, hands, preflop_classes
from solvers.tree import Floats
from spewy.errors import InputError, SolveError, shown
from spewy.game.gamefile import load_game
from spewy.look.pairs import pairs

SMALL_BLIND, BIG_BLIND = 1, 2
MOST_STACK = 10**6
GAME = "holdem.nolimit.2p.reverse_blinds"


@dataclass(frozen=True)
class PushFold:
    """An equilibrium of the push-or-fold game.

    Attributes:
        push: frequency with which the small blind goes all in, ``[starting hand]`` in the order of
            `buckets.cards.preflop_classes`.
        call: frequency with which the big blind calls, ``[starting hand]``.
        value: mean chips that the small blind wins per hand.
        exploitability: half the sum of both best-response values, in chips.
    """

    stack: int
    push: Floats
    call: Floats
    value: float
    exploitability: float


@lru_cache(maxsize=128)
def push_fold(stack: int) -> PushFold:
    """Solve push or fold with blinds of 1 and 2.

    ``stack`` is the smaller stack in chips, blinds included; a player whose blind exceeds it is all in.
    """
    if not 1 <= stack <= MOST_STACK:
        raise InputError(f"stack: expected 1 to {MOST_STACK:,} chips, found {shown(stack)}")
    pairs, margin = odds()
    weight = pairs / pairs.sum()
    n, own = len(weight), weight.sum(axis=1)
    small, big = min(SMALL_BLIND, stack), min(BIG_BLIND, stack)
    gained = np.concatenate([weight.T * big, (weight * stack * margin).T])
    rows = np.hstack([-gained, np.tile(np.eye(n), (2, 1))])
    solution = linprog(
        -np.concatenate([own * small, np.ones(n)]),
        A_ub=rows,
        b_ub=np.zeros(2 * n),
        bounds=[(0, 1)] * n + [(None, None)] * n,
        method="highs",
    )
    if not solution.success:
        raise SolveError(f"push or fold with {stack} chips: expected a solution, found: {solution.message}")
    folds, calls = -solution.ineqlin.marginals[:n], -solution.ineqlin.marginals[n:]
    push, call = np.clip(solution.x[:n], 0, 1), np.clip(calls / (folds + calls), 0, 1)
    push.flags.writeable = call.flags.writeable = False  # the cache returns the same arrays to all callers
    value, lost = values(stack, push, call)
    return PushFold(stack, push, call, value, lost)


def values(stack: int, push: Floats, call: Floats) -> tuple[float, float]:
    """Compute the mean chips that the small blind wins per hand, and the exploitability in chips."""
    pairs, margin = odds()
    weight = pairs / pairs.sum()
    own, small, big = weight.sum(axis=1), min(SMALL_BLIND, stack), min(BIG_BLIND, stack)
    pushed = (weight * (1 - call)).sum(axis=1) * big + (weight * stack * margin) @ call
    value = float(push @ pushed - (1 - push) @ own * small)
    best_push = float(np.maximum(pushed, -own * small).sum())
    folded, called = (push @ weight) * big, push @ (weight * stack * margin)
    best_call = float(np.minimum(folded, called).sum() - (1 - push) @ own * small)
    return value, (best_push - best_call) / 2


@lru_cache(maxsize=1)
def odds() -> tuple[Floats, Floats]:
    """Count pairs of hands without a common card, and compute wins minus losses, for each two starting hands.

    Returns:
        Two arrays ``[starting hand, starting hand of the opponent]``: the number of pairs, and the share of boards that
        the first starting hand wins minus the share that it loses.
    """
    every = hands(Deck(), 2).astype(np.int64)
    all_hands = np.arange(len(every))
    both = pairs(load_game(GAME), every, (), (all_hands, all_hands))
    assert both.lead is not None
    member = np.eye(len(preflop_classes()[1]))[preflop_classes()[0]]
    number, lead = member.T @ both.masses(0, member), member.T @ both.lead @ member
    lead = (lead - lead.T) / 2  # the sums of one pair of classes are rounded in two orders
    return number, np.divide(lead, number, out=np.zeros_like(lead), where=number > 0)


def equities() -> Floats:
    """Return the equity of each starting hand against all other hands, ``[starting hand]``."""
    pairs, margin = odds()
    out: Floats = (pairs * (1 + margin) / 2).sum(axis=1) / pairs.sum(axis=1)
    return out
