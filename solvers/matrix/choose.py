"""Choose among the equilibria of a game: a second linear program over all optimal plans of a player.

A zero-sum game may have many equilibria, and the linear program returns one (`solvers.matrix.lp`). A player's plan is
optimal exactly if it is complementary to one optimal plan of the opponent: it is 0 where it would lose, and the
opponent loses nothing by the sequences that the opponent's plan takes. These conditions are linear, and no tolerance on
the value is needed; any optimal plan of the opponent gives the same set. Both players choose apart, since each pair of
optimal plans is an equilibrium. A `Choice` is one of

- ``"entropy"``: the most mixed plan, which maximises the sum of the entropies of a hand's decisions, each times the
  probability that the player's own actions lead there. Each term −x log(x/X) is concave, and lies below its tangents
  ``r X − (1 + log r) x``. So a linear program with a few tangents bounds the entropy from above; tangents at its
  solution are added until the best mixture of all solutions is close to the bound. A mixture of optimal plans is
  optimal;
- ``"sizes"``: a plan with few bet sizes. First the weighted sum of bets is minimised, with more weight for sizes that
  are bet less (reweighted l1 minimisation, Candès, Wakin and Boyd 2008). Then one size after another, from the rarest
  on, is left out if a plan without the size is optimal. In the end no further size can be left out;
- ``"bluff"``: the plan with the fewest bets and raises by hands that have less than half of the equity against the
  opponent's range at the root.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog

from solvers.errors import SolverError
from solvers.game import LiveGame, Strategies
from solvers.matrix.lp import (
    LpResult,
    Method,
    Program,
    SequenceForm,
    live_form,
    live_strategies,
    player_program,
    solve_lp,
)
from solvers.tree import DECISION, Floats, Ints

Choice = Literal["entropy", "sizes", "bluff"]
Bools = NDArray[np.bool_]

ZERO = 1e-9
"""Largest loss or probability that counts as 0, where ranges and payoffs are at most 1; HiGHS returns exact zeros."""
RARE = 1e-7
"""Share of a player's range; a size that fewer hands take is not used."""
FIRST_TANGENTS = np.exp(-np.linspace(0.0, 4.0, 5))
"""Ratios x/X of the tangents of the first program."""
LEAST_RATIO = 1e-4
"""Smallest ratio of a tangent; a smaller one would have a slope that HiGHS cannot scale."""
INFEASIBLE = 2
"""Status of scipy's linprog if no plan satisfies the constraints."""
GAP, MOST_ROUNDS = 0.01, 4
"""Distance of the entropy to its bound, as a share of the bound, at which no more tangents are added."""


class Moves(NamedTuple):
    """A player's *moves*: one for each action of each decision on each board and each hand.

    Attributes:
        variable: ``[move]``, the move's variable in the plan.
        source: ``[move]``, the variable of the sequence that leads to the decision.
        decision: ``[move]``, number of the decision and hand.
        weight: ``[move]``, probability of the board's cards after the root, given the hand.
        size: ``[move]``, number of the bet size at a betting line, whatever the board; -1: no bet or raise.
        bluff: ``[move]``, whether the move is a bet or raise of a hand with less than half of the equity.
        n_sizes: number of bet sizes at all betting lines.
        total: total weight of the player's range.
    """

    variable: Ints
    source: Ints
    decision: Ints
    weight: Floats
    size: Ints
    bluff: Bools
    n_sizes: int
    total: float

    @classmethod
    def of(cls, game: LiveGame, p: int, bets: Sequence[Bools]) -> Moves:
        """Make player p's moves; the variables are those of the plan in `live_form`.

        Args:
            bets: for each round ``[slot]``, whether the player's action is a bet or raise.
        """
        columns: list[tuple[Ints, ...]] = []
        weights, bluffs = list[Floats](), list[Bools]()
        start = n_decisions = n_sizes = 0
        chance = 1.0
        for r, are_bets, equity in zip(game.rounds, bets, _equities(game, p), strict=True):
            a, width = r.forest.arrays, r.hands[p].row.shape[1]
            numbers = np.where(are_bets, n_sizes + np.cumsum(are_bets) - 1, -1)
            n_sizes += int(are_bets.sum())
            for b in range(r.n_boards):
                hands = np.arange(int(r.hands[p].n_hands[b]))
                weak = equity[b, hands] < 0.5
                for n in np.flatnonzero((a.kind == DECISION) & (a.player == p)).tolist():
                    source = start + int(a.sequence[p, n]) * width + hands
                    for slot in range(int(a.slot[n]), int(a.slot[n]) + int(a.n_actions[n])):
                        variable = start + (r.forest.n_roots + slot) * width + hands
                        columns.append(
                            (variable, source, n_decisions + hands, np.full_like(hands, numbers[slot]))
                        )
                        weights.append(np.full(len(hands), chance))
                        bluffs.append(weak & bool(are_bets[slot]))
                    n_decisions += len(hands)
                start += r.forest.n_sequences(p) * width
            if r.deal is not None:  # each hand can be dealt as many boards as the first one
                boards = r.deal.child_row[p][
                    int(r.deal.first_image[0]) : int(r.deal.first_image[r.deal.first[1]])
                ]
                chance /= int(np.count_nonzero(boards[:, 0] >= 0))
        none = np.zeros(0, dtype=np.int64)
        variable, source, decision, size = (
            np.concatenate(parts) for parts in zip((none,) * 4, *columns, strict=True)
        )
        weight, bluff = np.concatenate([np.zeros(0), *weights]), np.concatenate([none > 0, *bluffs])
        return cls(variable, source, decision, weight, size, bluff, n_sizes, float(game.reach[p].sum()))

    def entropy(self, plan: Floats) -> float:
        """Return the entropy of a hand's decisions in bits, summed over the decisions to which its own actions lead."""
        x, before = plan[self.variable], plan[self.source]
        some = (x > 0) & (before > 0)
        x, before = x[some], before[some]
        return float(-(self.weight[some] * x) @ np.log2(np.minimum(x / before, 1.0)) / self.total)

    def bets(self, plan: Floats) -> Floats:
        """Return how often a hand bets or raises each size: ``[size]``."""
        taken = self.size >= 0
        weights = (self.weight * plan[self.variable])[taken]
        out: Floats = np.bincount(self.size[taken], weights, self.n_sizes) / self.total
        return out

    def bluffs(self, plan: Floats) -> float:
        """Return how often a hand bluffs, summed over the decisions to which its own actions lead."""
        return float((self.weight * self.bluff) @ plan[self.variable] / self.total)

    def measures(self, plan: Floats) -> dict[str, float]:
        """Return a plan's entropy in bits, number of bet sizes and frequency of bluffs, by the name of the choice."""
        return {
            "entropy": self.entropy(plan),
            "sizes": int(np.sum(self.bets(plan) > RARE)),
            "bluff": self.bluffs(plan),
        }


@dataclass(frozen=True)
class Chosen:
    """Measures of both players' plans before and after a choice among equilibria.

    Attributes:
        before, after: for each player the measures of the first linear program's plan, and of the chosen plan: its
            ``entropy`` in bits and its ``bluff`` per hand, both summed over the decisions to which the hand's own
            actions lead; and the number of ``sizes``, over all betting lines.
        bound: for each player an upper bound on the entropy; None for other choices.
        programs: number of linear programs that were solved.
    """

    choice: Choice
    before: tuple[dict[str, float], dict[str, float]]
    after: tuple[dict[str, float], dict[str, float]]
    bound: tuple[float, float] | None
    programs: int

    def to_json(self) -> dict[str, Any]:
        """Return the choice, the number of programs, and each measure before and after, per player, for JSON output."""
        pairs = {
            name: {"before": [m[name] for m in self.before], "after": [m[name] for m in self.after]}
            for name in self.before[0]
        }
        if self.bound is not None:
            pairs["entropy"]["bound"] = list(self.bound)
        return {"choose": self.choice, "programs": self.programs, **pairs}


def solve_chosen(
    game: LiveGame, bets: Sequence[tuple[Bools, Bools]], choice: Choice, method: Method = "highs-ipm"
) -> tuple[Strategies, Chosen]:
    """Compute the equilibrium that ``choice`` picks, in the form of strategy sums.

    Args:
        game: a game that `live_form` takes.
        bets: for each round and player ``[slot]``, whether an action is a bet or raise.
        method: algorithm of HiGHS.
    """
    form = live_form(game)
    first = solve_lp(form, method)
    plans, before, after, bounds, programs = list[Floats](), [], [], list[float](), 1
    for p in (0, 1):
        moves, plan = Moves.of(game, p, [of_round[p] for of_round in bets]), first.plans[p]
        face = _Face(form, p, first, method)
        before.append(moves.measures(plan))
        if choice == "entropy":
            plan, bound = _most_mixed(face, moves, plan)
            bounds.append(bound)
        elif choice == "sizes":
            plan = _fewest_sizes(face, moves, plan)
        else:
            plan = _required(face.least(moves, moves.weight * moves.bluff))
        plans.append(plan)
        after.append(moves.measures(plan))
        programs += face.programs
    chosen = LpResult(first.value, (plans[0], plans[1]), method, first.iterations, first.losses)
    bound_pair = (bounds[0], bounds[1]) if bounds else None
    return live_strategies(game, chosen), Chosen(
        choice, (before[0], before[1]), (after[0], after[1]), bound_pair, programs
    )


class _Face:
    """All optimal plans of player p, and linear programs over them.

    ``open`` says which variables of the plan may be positive: ``[variable]``.
    """

    def __init__(self, form: SequenceForm, p: int, first: LpResult, method: Method) -> None:
        program: Program = player_program(form, p)
        self.entering, self.programs, self._method = program.entering[p], 0, method
        taken = first.plans[1 - p] > ZERO * program.entering[1 - p]
        self.open = (first.losses[p] <= ZERO) | (first.plans[p] > ZERO * self.entering)
        self._equal = sparse.vstack([program.equal, program.upper[taken]]).tocsr()
        self._right = np.concatenate([program.right, np.zeros(int(taken.sum()))])
        self._upper = program.upper[~taken]
        self.n_plan, self.n_all = program.n_plan, len(program.cost)

    def least(self, moves: Moves, cost: Floats, closed: Bools | None = None) -> Floats | None:
        """Return an optimal plan with the least ``cost[move]``, or None if there is none.

        ``closed[size]``: sizes that the plan must not take.
        """
        is_open = self.open.copy()
        if closed is not None:
            is_open[moves.variable[(moves.size >= 0) & closed[moves.size]]] = False
        costs = np.zeros(self.n_all)
        np.add.at(costs, moves.variable, cost)
        found = self._solve(costs, is_open, sparse.csr_matrix((0, self.n_all)), 0)
        return None if found is None else found[0]

    def under_tangents(
        self, moves: Moves, move: Ints, tangent_of: Ints, ratio: Floats
    ) -> tuple[Floats, float] | None:
        """Maximise the sum of variables ``t[move]`` that lie below tangents of the entropy.

        Args:
            move: the moves that have a variable t.
            tangent_of: ``[tangent]``, index into ``move``.
            ratio: ``[tangent]``, ratio x/X at which the tangent touches.

        Returns:
            The plan and the maximum; None if HiGHS finds no optimum.
        """
        line, n = np.arange(len(ratio)), len(move)
        rows, of = np.tile(line, 3), move[tangent_of]
        columns = np.concatenate([self.n_all + tangent_of, moves.variable[of], moves.source[of]])
        values = np.concatenate([np.ones(len(ratio)), np.log(ratio) + 1.0, -ratio])
        below = sparse.csr_matrix((values, (rows, columns)), shape=(len(ratio), self.n_all + n))
        costs = np.concatenate([np.zeros(self.n_all), -moves.weight[move]])
        return self._solve(costs, self.open, below, n)

    def _solve(
        self, costs: Floats, is_open: Bools, below: sparse.csr_matrix, n_more: int
    ) -> tuple[Floats, float] | None:
        """Minimise ``costs`` over the optimal plans, with ``n_more`` more variables and the rows ``below @ z ≤ 0``.

        Returns the plan, and minus the minimum; None if HiGHS finds no optimum.
        """
        n_free = self.n_all - self.n_plan
        upper = np.concatenate([np.where(is_open, np.inf, 0.0), np.full(n_free + n_more, np.inf)])
        lower = np.concatenate([np.zeros(self.n_plan), np.full(n_free, -np.inf), np.zeros(n_more)])

        def wider(matrix: sparse.csr_matrix) -> sparse.csr_matrix:
            return sparse.hstack([matrix, sparse.csr_matrix((matrix.shape[0], n_more))])

        at_most = sparse.vstack([wider(self._upper), below]).tocsr()
        self.programs += 1
        for method in (self._method, "highs-ds"):  # simplex where interior point meets numerical trouble
            answer = linprog(
                costs,
                A_ub=at_most,
                b_ub=np.zeros(at_most.shape[0]),
                A_eq=wider(self._equal).tocsr(),
                b_eq=self._right,
                bounds=np.column_stack([lower, upper]),
                method=method,
            )
            if answer.status == 0:
                plan = self.entering * np.maximum(answer.x[: self.n_plan], 0.0)
                return plan, self.entering * float(-answer.fun)
            if answer.status == INFEASIBLE:
                break
        return None


def _required(plan: Floats | None) -> Floats:
    if plan is None:
        raise SolverError(
            "choice among equilibria: expected an optimum of the second linear program, found none"
        )
    return plan


def _most_mixed(face: _Face, moves: Moves, plan: Floats) -> tuple[Floats, float]:
    """Return a plan whose entropy is close to the largest, and an upper bound on the entropy in bits."""
    free = face.open[moves.variable]
    ways = np.bincount(moves.decision[free], minlength=len(moves.decision))
    move = np.flatnonzero(free & (ways[moves.decision] > 1))
    if not len(move):
        return plan, moves.entropy(plan)
    tangent_of = np.tile(np.arange(len(move)), len(FIRST_TANGENTS))
    ratio = np.repeat(FIRST_TANGENTS, len(move))
    bound, unit = np.inf, moves.total * np.log(2)
    for _ in range(MOST_ROUNDS):
        found = face.under_tangents(moves, move, tangent_of, ratio)
        if found is None:
            break
        latest, largest = found
        bound = min(bound, largest / unit)
        plan = _best_between(moves, plan, latest)
        if bound - moves.entropy(plan) <= GAP * bound:
            break
        for at in (latest, plan):
            before = at[moves.source[move]]
            reached = np.flatnonzero(before > ZERO * face.entering)
            touch = at[moves.variable[move[reached]]] / before[reached]
            tangent_of = np.concatenate([tangent_of, reached])
            ratio = np.concatenate([ratio, np.clip(touch, LEAST_RATIO, 1.0)])
    if not np.isfinite(bound):
        _required(None)
    return plan, float(bound)


def _best_between(moves: Moves, first: Floats, second: Floats) -> Floats:
    """Return the mixture of two plans with the largest entropy, by golden section: entropy is concave."""
    golden, low, high = (np.sqrt(5.0) - 1) / 2, 0.0, 1.0

    def mixed(share: float) -> Floats:
        out: Floats = first + share * (second - first)
        return out

    for _ in range(30):
        left, right = high - golden * (high - low), low + golden * (high - low)
        if moves.entropy(mixed(left)) < moves.entropy(mixed(right)):
            low = left
        else:
            high = right
    return max(first, second, mixed((low + high) / 2), key=moves.entropy)


def _fewest_sizes(face: _Face, moves: Moves, plan: Floats) -> Floats:
    """Return a plan from which no bet size can be left out."""

    def costs(of: Floats) -> Floats:
        rare = 1.0 / (moves.bets(of) + 0.001)
        out: Floats = np.where(moves.size >= 0, moves.weight * rare[moves.size], 0.0) / rare.max()
        return out

    def used(of: Floats) -> Bools:
        out: Bools = moves.bets(of) > RARE
        return out

    if not moves.n_sizes:
        return plan
    sparser = face.least(moves, costs(plan))
    if sparser is not None and used(sparser).sum() <= used(plan).sum():
        plan = sparser
    needed = np.zeros(moves.n_sizes, dtype=bool)
    while (left := used(plan) & ~needed).any():
        rarest = int(np.argmin(np.where(left, moves.bets(plan), np.inf)))
        closed = ~used(plan)
        closed[rarest] = True
        without = face.least(moves, costs(plan), closed)
        if without is None:
            needed[rarest] = True
        else:
            plan = without
    return plan


def _equities(game: LiveGame, p: int) -> list[Floats]:
    """Return the equity of player p's hands against the opponent's range at the root: for each round ``[board, hand]``.

    It is NaN for a hand that meets no opposing hand.
    """
    out = list[Floats]()
    wins = met = np.zeros((0, 0))
    for t in reversed(range(len(game.rounds))):
        r, below = game.rounds[t], (wins, met)
        ours, theirs = r.hands[p], r.hands[1 - p]
        wins, met = np.zeros(ours.row.shape), np.zeros(ours.row.shape)
        for b in range(r.n_boards):
            if r.deal is None:
                n, m = int(ours.n_hands[b]), int(theirs.n_hands[b])
                clash = ours.cards[b, :n, None, :, None] == theirs.cards[b, None, :m, None, :]
                weight = np.where(clash.any(axis=(2, 3)), 0.0, theirs.weight[b, :m])
                won = 1 + np.sign(ours.strength[b, :n, None] - theirs.strength[b, None, :m])
                wins[b, :n], met[b, :n] = (weight * won).sum(axis=1) / 2, weight.sum(axis=1)
                continue
            for e in range(int(r.deal.first[b]), int(r.deal.first[b + 1])):
                child = int(r.deal.child[e])
                rows = r.deal.parent_row[p][e, : int(game.rounds[t + 1].hands[p].n_hands[child])]
                for total, part in zip((wins, met), below, strict=True):
                    np.add.at(total[b], rows, part[child, : len(rows)])
        out.append(np.divide(wins, met, out=np.full(wins.shape, np.nan), where=met > 0))
    return out[::-1]
