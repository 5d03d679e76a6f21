"""Treat a chunk as a game by itself, with named rows and nodes, and solve it by CFR or by linear programming.

Such a *matrix game* has fixed ranges at the root and a payoff matrix at each leaf. `spewy.look.chunk_game` builds it
from a job or from the folder of a solve.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import zip_longest
from typing import TYPE_CHECKING

import numpy as np

from buckets.cards import cards_name
from solvers.discount import variant
from solvers.matrix.chunk import Chunk, iterate, local_exploitability, normalise, root_values
from solvers.matrix.lp import Method, chunk_form, chunk_strategy, solve_lp
from solvers.state import ChunkStrategy
from solvers.tree import DECISION, Floats
from spewy.chunks.rounds import ChunkTree
from spewy.errors import InputError
from spewy.game.names import SEAT_NAMES
from spewy.learn.chunk_matrices import FOLD_OPERATOR, root_payoffs
from spewy.system.html import Printed, Table

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, repr=False)
class ChunkSolution(Printed):
    """Strategies of both players in a chunk, with their value and their local exploitability.

    Attributes:
        method: name of the CFR variant or LP method that computed the strategies.
        strategy: per player ``[slot, row]``, with a slot for each action of each decision.
        value: expected net chips of player 0 per deal, given that this chunk is reached.
        local_exploitability: mean over both players of what a best response within the chunk gains, in chips per deal,
            with fixed payoffs at the leaves. It is *not* the exploitability of the solve in the full game.
        local_exploitability_pct: local exploitability in % of the pot at the root of the chunk.
        iterations: number of iterations of CFR or of the linear program's solver.
        payoffs: payoff matrix of the root, ``[row of player 0, row of player 1]`` in chips of player 0; NaN for rows
            without two compatible hands.
    """

    method: str
    strategy: ChunkStrategy
    value: float
    local_exploitability: float
    local_exploitability_pct: float
    iterations: int
    payoffs: Floats

    def _table(self) -> Table:
        facts = {
            "value (chips of oop)": self.value,
            "local exploitability (chips)": self.local_exploitability,
            "local exploitability (% of the pot)": self.local_exploitability_pct,
            "iterations": self.iterations,
            "rows of oop and ip": " and ".join(map(str, self.payoffs.shape)),
        }
        return Table.of_facts(f"chunk solved by {self.method}", facts)


@dataclass(frozen=True, repr=False)
class OneChunk(Printed):
    """A chunk as a game by itself, with fixed ranges and a payoff matrix at each leaf; made by `spewy.look.one_chunk`.

    Attributes:
        board: public cards.
        tree: betting of the chunk; ``tree.nodes[n]`` is node n of ``chunk.forest``.
        pot: chips in the middle at the root of the chunk.
        hands: for each player and row, names of its hands, those with the largest weight first. Rows of buckets ascend
            in strength.
        ranges: per player ``[row]``, weight of the row's hands at the root of the chunk.
        chunk: arrays of the matrix game.
        played: stored average strategies, per player ``[slot, row]``; uniform before the first sweep.
        estimated: whether the payoffs of a chance leaf were estimated, since none were stored.
    """

    board: tuple[int, ...]
    tree: ChunkTree
    pot: float
    hands: tuple[tuple[tuple[str, ...], ...], tuple[tuple[str, ...], ...]]
    ranges: tuple[Floats, Floats]
    chunk: Chunk
    played: ChunkStrategy
    estimated: bool = False

    @property
    def line(self) -> str:
        """The line that enters the chunk."""
        return self.tree.line

    @property
    def joint_weight(self) -> Floats:
        """Total weight of the compatible pairs of hands of two rows: ``[row of player 0, row of player 1]``."""
        weights: Floats = self.chunk.matrices[0][FOLD_OPERATOR]
        return weights

    @property
    def total_weight(self) -> float:
        """Total weight of the compatible pairs of hands in both ranges."""
        return float(self.chunk.entering[0] @ self.joint_weight @ self.chunk.entering[1])

    @property
    def decisions(self) -> tuple[int, ...]:
        """Numbers of the decision nodes."""
        return tuple(int(n) for n in np.flatnonzero(self.chunk.forest.arrays.kind == DECISION))

    @property
    def leaves(self) -> tuple[int, ...]:
        """Numbers of the leaf nodes: folds, showdowns and chance leaves."""
        return tuple(int(n) for n in np.flatnonzero(self.chunk.forest.arrays.kind != DECISION))

    def find(self, line: str) -> int:
        """Return the number of the node after a line, which starts at the root of the solve.

        Raises:
            InputError: the line leads to no node of this chunk.
        """
        for n, node in enumerate(self.tree.nodes):
            if node.line == line:
                return n
        raise InputError(f"line {line!r}: it leads to no node of the chunk that {self.line!r} enters")

    def leaf_payoffs(self, n: int) -> Floats:
        """Return the payoffs at the leaf with number n, in chips that player 0 wins.

        Returns:
            ``[row of player 0, row of player 1]``; NaN for rows without two compatible hands.

        Raises:
            InputError: node n is a decision.
        """
        k = int(self.chunk.operator[n])
        if k < 0:
            raise InputError(f"node {n} ({self.tree.nodes[n].line!r}): expected a leaf, found a decision")
        return self._per_pair(self.chunk.scale[n] * self.chunk.matrices[0][k])

    def with_leaf_payoffs(self, payoffs: Mapping[int, Floats]) -> OneChunk:
        """Return this chunk with other payoffs at some of its leaves.

        Args:
            payoffs: new matrix of each leaf, by the leaf's number: ``[row of player 0, row of player 1]`` in chips that
                player 0 wins. Values of rows without two compatible hands have no effect and may be NaN.

        Raises:
            InputError: a node is a decision, or a matrix has another shape or lacks a payoff.
        """
        operator, scale = self.chunk.operator.copy(), self.chunk.scale.copy()
        stack = list(self.chunk.matrices[0])
        for n, matrix in payoffs.items():
            if matrix.shape != self.leaf_payoffs(n).shape:
                raise InputError(
                    f"payoffs at node {n}: expected a matrix of {self.joint_weight.shape}, found {matrix.shape}"
                )
            if np.isnan(matrix[self.joint_weight > 0]).any():
                raise InputError(f"payoffs at node {n}: NaN for rows that have two compatible hands")
            operator[n], scale[n] = len(stack), 1.0
            stack.append(self.joint_weight * np.where(self.joint_weight > 0, matrix, 0.0))
        matrices = np.array(stack)
        chunk = replace(self.chunk, matrices=(matrices, matrices), operator=operator, scale=scale)
        return replace(self, chunk=chunk)

    def strategy_at(self, solution: ChunkSolution, n: int) -> Floats:
        """Return the frequencies ``[action, row]`` that a solution has at the decision with number n.

        Raises:
            InputError: node n is a leaf.
        """
        a = self.chunk.forest.arrays
        if a.kind[n] != DECISION:
            raise InputError(f"node {n} ({self.tree.nodes[n].line!r}): expected a decision, found a leaf")
        first = int(a.slot[n])
        return solution.strategy[int(a.player[n])][first : first + int(a.n_actions[n])]

    @cached_property
    def average(self) -> ChunkSolution:
        """The stored average strategies as a solution of the chunk."""
        return self.judge(self.played, "stored")

    @cached_property
    def labels(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Name of each row, for both players: the name of its only hand, or a text such as ``7: AsKs and 3 more``.

        The text has the number of the row, its hand with the largest weight, and the number of its other hands.
        """
        first, second = (tuple(map(_label, range(len(rows)), rows)) for rows in self.hands)
        return first, second

    def payoff_frame(self, line: str | None = None, solution: ChunkSolution | None = None) -> pd.DataFrame:
        """Return a payoff matrix in chips of player 0 as a data frame, with a column for each row of player 1.

        Args:
            line: line of a leaf; None for the payoff matrix of the root.
            solution: strategies that define the payoffs of the root; None for the stored average strategies.

        Raises:
            InputError: the line leads to no leaf of this chunk.
        """
        import pandas as pd

        values = (solution or self.average).payoffs if line is None else self.leaf_payoffs(self.find(line))
        index, columns = (
            pd.Index(names, name=seat) for names, seat in zip(self.labels, SEAT_NAMES, strict=True)
        )
        return pd.DataFrame(values, index, columns)

    def _table(self) -> Table:
        """Return both players' rows and ranges."""
        title = f"chunk {self.line!r} on {cards_name(self.board) or 'no cards'}, pot {self.pot:g}"
        lines = zip_longest(*(zip(*side, strict=True) for side in zip(self.labels, self.ranges, strict=True)))
        columns = tuple(f"{word} of {seat}" for seat in SEAT_NAMES for word in ("row", "range"))
        return Table(title, columns, tuple((*(oop or ("", "")), *(ip or ("", ""))) for oop, ip in lines))

    def by_cfr(
        self,
        variant_name: str = "dcfr",
        target_pct: float = 0.01,
        max_iterations: int = 20_000,
        check_every: int = 25,
    ) -> ChunkSolution:
        """Solve the chunk by CFR until its local exploitability is ``target_pct`` % of the pot.

        Args:
            variant_name: variant of CFR.
            target_pct: target in % of the pot at the root of the chunk.
            max_iterations: largest number of iterations.
            check_every: number of iterations between two measurements of the local exploitability.
        """
        schedule = variant(variant_name)
        regrets, sums = self.chunk.zeros(), self.chunk.zeros()
        guesses = self.chunk.zeros() if schedule.predictive else None
        done = 0
        while True:
            steps = min(check_every, max_iterations - done)
            iterate(self.chunk, schedule, done, steps, regrets, sums, guesses)
            done += steps
            solution = self.judge(normalise(self.chunk, sums), variant_name, done)
            if solution.local_exploitability_pct <= target_pct or done >= max_iterations:
                return solution

    def by_lp(self, method: Method = "highs", *, dense: bool = False) -> ChunkSolution:
        """Solve the chunk by linear programming in sequence form.

        Args:
            method: solver of the linear program.
            dense: whether to pass dense arrays to HiGHS instead of sparse arrays.
        """
        answer = solve_lp(chunk_form(self.chunk), method, dense=dense)
        strategy = normalise(self.chunk, chunk_strategy(self.chunk, answer))
        return self.judge(strategy, method, answer.iterations)

    def best_response_values(self, strategy: ChunkStrategy, player: int) -> Floats:
        """Compute what each row of a player wins by a best response to the opponent's strategy.

        Args:
            strategy: per player ``[slot, row]``; the best response ignores the player's own strategy.
            player: player who plays the best response.

        Returns:
            ``[row]``, net chips of the player per deal of a hand in the row; NaN for rows that are not in the range.
        """
        opponent = self.chunk.entering[1 - player]
        weight = self.joint_weight @ opponent if player == 0 else opponent @ self.joint_weight
        values = root_values(self.chunk, strategy, player, best=True)
        present = (self.chunk.entering[player] > 0) & (weight > 0)
        return np.divide(values, weight, out=np.full_like(values, np.nan), where=present)

    def judge(self, strategy: ChunkStrategy, method: str = "given", iterations: int = 0) -> ChunkSolution:
        """Compute the value and the local exploitability of both players' strategies in the chunk.

        Args:
            strategy: per player ``[slot, row]``.
            method: name of the method that computed the strategies.
            iterations: number of iterations of the method.
        """
        chunk, weight = self.chunk, self.total_weight
        gap = local_exploitability(chunk, strategy) / weight
        return ChunkSolution(
            method,
            strategy,
            float(chunk.entering[0] @ root_values(chunk, strategy, 0)) / weight,
            gap,
            100 * gap / self.pot,
            iterations,
            np.where(self.joint_weight > 0, root_payoffs(chunk, strategy, 1)[0], np.nan),
        )

    def _per_pair(self, total: Floats) -> Floats:
        blank = np.full_like(total, np.nan)
        return np.divide(total, self.joint_weight, out=blank, where=self.joint_weight > 0)


def _label(row: int, hands: tuple[str, ...]) -> str:
    if len(hands) == 1:
        return hands[0]
    return f"{row}: {hands[0]} and {len(hands) - 1} more" if hands else f"{row}: nothing"
