"""The sequence-form linear program of Koller, Megiddo and von Stengel (1994) on scipy's HiGHS.

A *realisation plan* has a number for each row and each sequence of a player (the player's actions from the root on):
the probability that the player takes these actions, times the row's weight at the root. Player 0 chooses a plan x with
``E x = e``, ``x ≥ 0``, player 1 a plan y with ``F y = f``, ``y ≥ 0``; player 0 wins ``xᵀ A y``. In `SequenceForm`, A is
``payoff``, E and F are ``flow``, e and f ``inflow``; v has a number for each of player 1's constraints. The optimum of

    maximise fᵀ v   subject to   Fᵀ v ≤ Aᵀ x,   E x = e,   x ≥ 0

is the value of the game, its x is optimal, and the multipliers of the inequalities are an optimal y. Player 1's program
is the dual of this one, with its own optimal plans y (`player_program`); `solvers.matrix.choose` searches them. All
matrices are sparse unless a caller asks for ``dense`` ones, which HiGHS converts to sparse matrices.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from solvers.errors import SolverError
from solvers.game import Hands, LiveGame, Strategies
from solvers.matrix.chunk import Chunk
from solvers.state import ChunkStrategy
from solvers.tree import DECISION, FOLD, SHOWDOWN, Floats, Forest, Ints

Method = Literal["highs", "highs-ds", "highs-ipm"]


@dataclass(frozen=True)
class SequenceForm:
    """A game in sequence form.

    Attributes:
        payoff: ``[variable of player 0's plan, variable of player 1's plan]``, player 0's chips. Further rows belong to
            running sums of player 0's plan, see `live_form`.
        flow: for each player ``[constraint, variable]``; a realisation plan (see `solvers.matrix.lp`) satisfies
            ``flow @ plan = inflow``. A chunk has one constraint for each row at the root, and one for each row at each
            of the player's decisions; games of several rounds have more, for dealt boards and locked hands.
        inflow: for each player ``[constraint]``: the row's weight at the root, and 0 elsewhere.
        sums: ``[running sum, variable of player 0's plan or running sum]``; ``sums @ (plan, running sums) = 0`` defines
            the sums. None: there are no running sums.
    """

    payoff: sparse.csr_matrix
    flow: tuple[sparse.csr_matrix, sparse.csr_matrix]
    inflow: tuple[Floats, Floats]
    sums: sparse.csr_matrix | None = None


@dataclass(frozen=True)
class LpResult:
    """An optimal pair of realisation plans; see `solvers.matrix.lp`.

    Attributes:
        value: the value of the game for player 0, in the units of the payoffs.
        plans: both players' plans ``[variable]``.
        method: the algorithm of HiGHS.
        iterations: number of iterations of the algorithm.
        losses: for each player ``[variable]``, what a unit of the plan on this variable loses against the other
            player's plan, in units of `Program`; 0 where the plan is positive.
    """

    value: float
    plans: tuple[Floats, Floats]
    method: str
    iterations: int
    losses: tuple[Floats, Floats]


class Program(NamedTuple):
    """A player's linear program: minimise ``cost @ z`` with ``upper @ z ≤ 0`` and ``equal @ z = right``.

    The first ``n_plan`` variables are the player's realisation plan, which is at least 0; the others are free. The rows
    of ``upper`` are the opponent's variables, with the opponent's plan as multipliers. Payoffs and plans are divided by
    their largest numbers, ``chips`` and ``entering[player]``: HiGHS drops coefficients below 1e-9, and deep chunks have
    tiny weights.
    """

    cost: Floats
    upper: sparse.csr_matrix
    equal: sparse.csr_matrix
    right: Floats
    n_plan: int
    chips: float
    entering: tuple[float, float]


def player_program(form: SequenceForm, p: int) -> Program:
    """Return the program whose optimal plans are those with which player p gets the value of the game."""
    (n_all, n_y), (E, F) = form.payoff.shape, form.flow
    n_x, n_u, n_v = E.shape[1], E.shape[0], F.shape[0]
    n_sums = n_all - n_x
    chips = abs(form.payoff).max() or 1.0
    first, second = (float(np.abs(inflow).max(initial=0.0)) or 1.0 for inflow in form.inflow)
    e, f, A = form.inflow[0] / first, form.inflow[1] / second, form.payoff / chips
    sums = form.sums if form.sums is not None else sparse.csr_matrix((0, n_x))
    none = sparse.csr_matrix
    if p == 0:
        cost = np.concatenate([np.zeros(n_all), -f])
        upper = sparse.hstack([-A.T, F.T])
        equal = [
            sparse.hstack([E, none((n_u, n_sums + n_v))]),
            sparse.hstack([sums, none((n_sums, n_v))]),
        ]
        right, n_plan = np.concatenate([e, np.zeros(n_sums)]), n_x
    else:
        # The dual. A running sum is a free variable of the program of player 0, so its column is an equality here.
        cost = np.concatenate([np.zeros(n_y + n_sums), e])
        upper = sparse.hstack([A[:n_x], sums[:, :n_x].T, -E.T])
        equal = [
            sparse.hstack([F, none((n_v, n_sums + n_u))]),
            sparse.hstack([A[n_x:], sums[:, n_x:].T, none((n_sums, n_u))]),
        ]
        right, n_plan = np.concatenate([f, np.zeros(n_sums)]), n_y
    stacked = sparse.vstack(equal[: 2 if n_sums else 1]).tocsr()
    return Program(cost, upper.tocsr(), stacked, right, n_plan, float(chips), (first, second))


def solve_lp(form: SequenceForm, method: Method = "highs", *, dense: bool = False) -> LpResult:
    """Solve a game in sequence form by linear programming."""
    program = player_program(form, 0)
    n_x, entering = program.n_plan, program.entering
    n_free = len(program.cost) - n_x
    answer = linprog(
        program.cost,
        A_ub=program.upper.toarray() if dense else program.upper,
        b_ub=np.zeros(program.upper.shape[0]),
        A_eq=program.equal.toarray() if dense else program.equal,
        b_eq=program.right,
        bounds=np.concatenate([np.tile([0.0, np.inf], (n_x, 1)), np.tile([-np.inf, np.inf], (n_free, 1))]),
        method=method,
    )
    if answer.status != 0:
        raise SolverError(f"linear program: expected an optimum, found: {answer.message}")
    x, y = np.maximum(answer.x[:n_x], 0.0), np.maximum(-answer.ineqlin.marginals, 0.0)
    losses = answer.lower.marginals[:n_x], np.maximum(answer.ineqlin.residual, 0.0)
    value = float(-answer.fun) * program.chips * entering[0] * entering[1]
    return LpResult(value, (x * entering[0], y * entering[1]), method, int(answer.nit), losses)


def chunk_form(chunk: Chunk) -> SequenceForm:
    """Return the sequence form of a zero-sum chunk; its plans are flattened arrays ``reach[sequence, row]``."""
    if not np.array_equal(chunk.matrices[0], chunk.matrices[1], equal_nan=True):
        raise SolverError("chunk: the LP needs equal matrices for both players, found two that differ")
    a, n_rows = chunk.forest.arrays, chunk.n_rows
    payoff = _Payoff()
    rows, columns = np.indices(n_rows).reshape(2, -1)
    for leaf in np.flatnonzero(a.kind != DECISION):
        x = a.sequence[0, leaf] * n_rows[0] + rows
        y = a.sequence[1, leaf] * n_rows[1] + columns
        payoff.add(x, y, chunk.scale[leaf] * chunk.matrices[0][chunk.operator[leaf]].ravel())
    plans = _Plan(), _Plan()
    for p in (0, 1):
        for h in range(n_rows[p]):
            plans[p].enter(h, float(chunk.entering[p][h]))
        plans[p].decide(chunk.forest, p, n_rows[p], n_rows[p], 0, {})
    return _form(payoff, plans)


def chunk_strategy(chunk: Chunk, result: LpResult) -> ChunkStrategy:
    """Return both players' realisation plans in the form of strategy sums: ``[slot, row]``."""
    first, second = (result.plans[p].reshape(-1, chunk.n_rows[p])[1:].copy() for p in (0, 1))
    return first, second


def live_form(game: LiveGame, *, pairs: bool = False) -> SequenceForm:
    """Return the sequence form of a small game of several rounds, with a row for each hand on each board.

    What an opposing hand wins or loses against all hands of player 0 at a showdown is a difference of running sums of
    player 0's plan over the hands in ascending order of strength: over all hands, less those over the hands that hold
    one of its cards. With a variable for each running sum, an opposing hand has nine payoffs at a showdown, instead of
    one for each hand of player 0 (a special case of the factorisations of Zhang and Sandholm 2020).

    Locked hands get constraints that fix their frequencies. The function refuses boards that stand for several boards
    equal up to suits, hands that share strategy rows, and rake.

    Args:
        pairs: whether the form has a payoff for each pair of hands, and no running sums; with fewer than
            `FEWEST_HANDS` hands it always has.
    """
    if game.raked:
        raise SolverError("live game: the LP needs a zero-sum game, found rake")
    pairs = pairs or min(int(hands.n_hands[0]) for hands in game.rounds[0].hands) < FEWEST_HANDS
    payoff, plans, sums = _Payoff(), (_Plan(), _Plan()), _Sums()
    parents: list[tuple[int, int]] = [(0, -1)]  # for each board: (its parent board, the link of the deal)
    above: list[list[int]] = [[], []]  # for each player the first variable of each board of the round before
    chance = 1.0
    for t, r in enumerate(game.rounds):
        if not (r.hands[0].direct and r.hands[1].direct):
            raise SolverError("live game: the LP needs a strategy row for each hand, found buckets of hands")
        starts: list[list[int]] = [[], []]
        for b in range(r.n_boards):
            for p in (0, 1):
                plan, count, width = plans[p], int(r.hands[p].n_hands[b]), r.hands[p].row.shape[1]
                start = plan.reserve(r.forest.n_sequences(p) * width)
                starts[p].append(start)
                for root in range(r.forest.n_roots):
                    for h in range(count):
                        variable = start + root * width + h
                        if t == 0:
                            plan.enter(variable, float(game.reach[p][root, h]))
                        else:
                            source = _source(game, t, p, parents[b], root, h)
                            plan.split(above[p][parents[b][0]] + source, [variable])
                plan.decide(r.forest, p, count, width, start, _locked(game, t, b, p))
            firsts = starts[0][b], starts[1][b]
            if pairs:
                _add_pairs(payoff, game, t, b, chance, firsts)
            else:
                sums.add_terminals(payoff, game, t, b, chance, firsts)
        if r.deal is not None:
            if len(r.deal.child) != len(r.deal.child_row[0]):
                raise SolverError("live game: the LP needs symmetry switched off, found merged boards")
            parents = [(-1, -1)] * game.rounds[t + 1].n_boards
            for b in range(r.n_boards):
                for e in range(int(r.deal.first[b]), int(r.deal.first[b + 1])):
                    parents[int(r.deal.child[e])] = (b, e)
            chance *= r.deal.probability
            above = starts
    return _form(payoff, plans, sums)


def live_strategies(game: LiveGame, result: LpResult) -> Strategies:
    """Return both players' realisation plans in the form of strategy sums: for each round ``[board, slot, hand]``."""
    out = game.zeros()
    offset = [0, 0]
    for t, r in enumerate(game.rounds):
        for p in (0, 1):
            width = r.hands[p].row.shape[1]
            size = r.forest.n_sequences(p) * width
            for b in range(r.n_boards):
                plan = result.plans[p][offset[p] : offset[p] + size].reshape(-1, width)
                out[t][p][b] = plan[r.forest.n_roots :]
                offset[p] += size
    return out


def solve_live(game: LiveGame, method: Method = "highs") -> Strategies:
    """Compute an equilibrium of a small game of several rounds, as strategy sums: per round ``[board, slot, hand]``."""
    return live_strategies(game, solve_lp(live_form(game), method))


FEWEST_HANDS = 24
"""Number of hands of each player at the root from which running sums take fewer nonzeros than pairs of hands."""


class _Plan:
    def __init__(self) -> None:
        self.size = 0
        self.inflow: list[float] = []
        self.entries: list[tuple[int, int, float]] = []

    def reserve(self, variables: int) -> int:
        """Add variables to the plan, and return the number of the first new variable."""
        first = self.size
        self.size += variables
        return first

    def enter(self, variable: int, weight: float) -> None:
        """Add the constraint ``plan[variable] = weight``."""
        self.entries.append((len(self.inflow), variable, 1.0))
        self.inflow.append(weight)

    def split(self, source: int, into: Iterable[int]) -> None:
        """Add the constraint that the variables ``into`` sum to the variable ``source``."""
        line = len(self.inflow)
        self.entries.append((line, source, -1.0))
        self.entries += [(line, variable, 1.0) for variable in into]
        self.inflow.append(0.0)

    def fix(self, source: int, into: Iterable[int], shares: Iterable[float]) -> None:
        """Add the constraints that the variables ``into`` are fixed shares of the variable ``source``."""
        for variable, share in zip(into, shares, strict=True):
            line = len(self.inflow)
            self.entries += [(line, source, -float(share)), (line, variable, 1.0)]
            self.inflow.append(0.0)

    def decide(
        self, forest: Forest, p: int, count: int, width: int, start: int, locked: Mapping[int, Floats]
    ) -> None:
        """Add the constraints of all decisions of player p on one board.

        Row h at a sequence has the variable ``start + sequence · width + h``; rows from ``count`` on are padding.
        ``locked`` has the frequencies ``[action, row]`` of locked decisions by node; NaN: the row is not locked.
        """
        a = forest.arrays
        self.size = max(self.size, start + forest.n_sequences(p) * width)
        for n in np.flatnonzero((a.kind == DECISION) & (a.player == p)).tolist():
            source = start + int(a.sequence[p, n]) * width
            first = start + (forest.n_roots + int(a.slot[n])) * width
            for h in range(count):
                into = [first + k * width + h for k in range(int(a.n_actions[n]))]
                if n in locked and not np.isnan(locked[n][0, h]):
                    self.fix(source + h, into, locked[n][:, h])
                else:
                    self.split(source + h, into)

    def matrix(self) -> sparse.csr_matrix:
        line, column, sign = (np.array(part) for part in zip(*self.entries, strict=True))
        return sparse.csr_matrix((sign, (line, column)), shape=(len(self.inflow), self.size))


class _Payoff:
    def __init__(self) -> None:
        self.parts: list[tuple[Ints, Ints, Floats]] = []

    def add(self, x: Ints, y: Ints, chips: Floats) -> None:
        """Add chips to the payoffs of pairs of variables: x of player 0's plan, y of player 1's, of equal lengths."""
        self.parts.append((x, y, chips))

    def matrix(self, shape: tuple[int, int]) -> sparse.csr_matrix:
        if not self.parts:
            return sparse.csr_matrix(shape)
        x, y, chips = (np.concatenate(part) for part in zip(*self.parts, strict=True))
        matrix = sparse.coo_matrix((chips, (x, y)), shape=shape).tocsr()
        matrix.eliminate_zeros()
        return matrix


class _Sums:
    """Collects the running sums of player 0's plan, and the payoffs by them.

    A sum has a number from 0 on. Each hand has a sum over all hands up to it in ascending order of strength, and for
    each of its cards a sum over the hands up to it that hold the card.
    """

    def __init__(self) -> None:
        self.size = 0
        self.before: list[Ints] = []
        self.added: list[Ints] = []
        self.payoff = _Payoff()

    def add_terminals(
        self, payoff: _Payoff, game: LiveGame, t: int, b: int, chance: float, start: tuple[int, int]
    ) -> None:
        """Add the payoffs of all folds and showdowns of board b of round t.

        Payoffs of variables of player 0's plan go into ``payoff``, payoffs of running sums into this object. ``chance``
        is the probability of the board, given both hands; ``start`` has each player's first variable of the board.
        """
        r = game.rounds[t]
        a, (rows0, rows1) = r.forest.arrays, r.hands
        lists = _Lists.of(rows0.on(b, 0), rows1.on(b, 0))
        first: dict[int, int] = {}
        for leaf in np.flatnonzero((a.kind == FOLD) | (a.kind == SHOWDOWN)).tolist():
            sequence, stake = int(a.sequence[0, leaf]), chance * a.stake[leaf]
            x = start[0] + sequence * rows0.row.shape[1]
            y = start[1] + int(a.sequence[1, leaf]) * rows1.row.shape[1]
            if sequence not in first:
                first[sequence] = self.size
                self.before.append(np.where(lists.before < 0, -1, self.size + lists.before))
                self.added.append(x + lists.hand)
                self.size += len(lists.hand)
            sums, hands, sign = lists.folds if a.kind[leaf] == FOLD else lists.showdowns
            self.payoff.add(first[sequence] + sums, y + hands, stake * sign)
            if a.kind[leaf] == FOLD:
                same, hands = lists.same
                payoff.add(x + same, y + hands, np.full(len(same), stake))

    def matrix(self, n_plan: int) -> sparse.csr_matrix:
        """Return a row of coefficients for each running sum: ``[sum, variable of player 0's plan, then the sums]``."""
        before, added, each = np.concatenate(self.before), np.concatenate(self.added), np.arange(self.size)
        later = before >= 0
        line = np.concatenate([each, each, each[later]])
        column = np.concatenate([n_plan + each, added, n_plan + before[later]])
        sign = np.repeat([1.0, -1.0, -1.0], [self.size, self.size, int(later.sum())])
        return sparse.csr_matrix((sign, (line, column)), shape=(self.size, n_plan + self.size))


class _Lists(NamedTuple):
    """Player 0's hands on a board in lists ascending by strength: all hands, then the hands with each card.

    Attributes:
        hand: ``[entry]``, the hand of each entry of all lists, one list after another.
        before: ``[entry]``, the entry before in the list; -1: the list begins.
        folds, showdowns: terms of what a hand of player 1 loses per chip at stake, as three arrays: an entry, the hand,
            and the factor of the running sum up to the entry. At folds the sum of the terms lacks player 0's hand with
            the same two cards.
        same: the pairs of hands with the same two cards: player 0's hands, and player 1's hands.
    """

    hand: Ints
    before: Ints
    folds: tuple[Ints, Ints, Floats]
    showdowns: tuple[Ints, Ints, Floats]
    same: tuple[Ints, Ints]

    @classmethod
    def of(cls, ours: Hands, theirs: Hands) -> _Lists:
        n, held = ours.cards.shape
        _, ranks = np.unique(np.concatenate([ours.strength, theirs.strength]), return_inverse=True)
        n_ranks = int(ranks.max()) + 1
        # The lists of a hand, [hand, 1 + held], and the keys by which the entries of all lists are sorted.
        first, second = (
            n_ranks * np.pad(1 + hands.cards.astype(np.int64), ((0, 0), (1, 0))) for hands in (ours, theirs)
        )
        keys = (first + ranks[:n, None]).T.ravel()
        order = np.argsort(keys, kind="stable")
        keys, hand = keys[order], order % n
        before = np.where(np.diff(keys // n_ranks, prepend=-1) > 0, -1, np.arange(len(keys)) - 1)
        begin, end = np.searchsorted(keys, second), np.searchsorted(keys, second + n_ranks)
        weaker = np.searchsorted(keys, second + ranks[n:, None])
        not_stronger = np.searchsorted(keys, second + ranks[n:, None], side="right")
        sign = np.where(np.arange(1 + held) == 0, 1.0, -1.0)

        def factors(*ends: tuple[float, Ints]) -> tuple[Ints, Ints, Floats]:
            entries, whose, out = list[Ints](), list[Ints](), list[Floats]()
            for factor, stop in ends:
                of_hand, of_list = np.nonzero(stop > begin)
                entries.append(stop[of_hand, of_list] - 1)
                whose.append(of_hand)
                out.append(factor * sign[of_list])
            return np.concatenate(entries), np.concatenate(whose), np.concatenate(out)

        two = np.flatnonzero(theirs.same_cards >= 0) if held == 2 else np.zeros(0, dtype=np.int64)
        same = theirs.same_cards[two].astype(np.int64), two
        return cls(
            hand, before, factors((1.0, end)), factors((1.0, end), (-1.0, not_stronger), (-1.0, weaker)), same
        )


def _form(payoff: _Payoff, plans: tuple[_Plan, _Plan], sums: _Sums | None = None) -> SequenceForm:
    first, second = plans
    flow, inflow = (first.matrix(), second.matrix()), (np.array(first.inflow), np.array(second.inflow))
    if sums is None or not sums.size:
        return SequenceForm(payoff.matrix((first.size, second.size)), flow, inflow)
    payoffs = sparse.vstack(
        [payoff.matrix((first.size, second.size)), sums.payoff.matrix((sums.size, second.size))]
    )
    return SequenceForm(payoffs.tocsr(), flow, inflow, sums.matrix(first.size))


def _locked(game: LiveGame, t: int, b: int, p: int) -> dict[int, Floats]:
    """Return the frequencies ``[action, hand]`` of player p's locked decisions on board b of round t, by node."""
    return {lock.node: lock.frequencies[b] for lock in game.locks if (lock.round, lock.player) == (t, p)}


def _source(game: LiveGame, t: int, p: int, parent: tuple[int, int], root: int, h: int) -> int:
    """Return the variable of hand h's reach at the chance leaf that leads to tree ``root`` of a board of round t.

    The number counts from the first variable of the parent board, which is in round t - 1. ``parent`` has the parent
    board, and the number of the deal's link between both boards.
    """
    above = game.rounds[t - 1]
    assert above.deal is not None
    leaf = above.forest.chance_leaves[root]
    width = int(above.hands[p].row.shape[1])
    sequence, row = int(above.forest.arrays.sequence[p, leaf]), int(above.deal.parent_row[p][parent[1], h])
    return sequence * width + row


def _add_pairs(
    payoff: _Payoff, game: LiveGame, t: int, b: int, chance: float, start: tuple[int, int]
) -> None:
    """Add the payoffs of all pairs of hands at all folds and showdowns of board b of round t.

    ``chance`` is the probability of the board, given both hands; ``start`` has each player's first variable of the
    board.
    """
    r = game.rounds[t]
    a, (rows0, rows1) = r.forest.arrays, r.hands
    n0, n1 = int(rows0.n_hands[b]), int(rows1.n_hands[b])
    ids0, ids1 = rows0.cards[b, :n0], rows1.cards[b, :n1]
    possible = ~(ids0[:, None, :, None] == ids1[None, :, None, :]).any(axis=(2, 3))
    i, j = np.nonzero(possible)
    sign = np.sign(rows0.strength[b, i] - rows1.strength[b, j])
    for leaf in np.flatnonzero((a.kind == FOLD) | (a.kind == SHOWDOWN)):
        x = start[0] + a.sequence[0, leaf] * rows0.row.shape[1] + i
        y = start[1] + a.sequence[1, leaf] * rows1.row.shape[1] + j
        share = np.ones(len(i)) if a.kind[leaf] == FOLD else sign
        payoff.add(x, y, chance * a.stake[leaf] * share)
