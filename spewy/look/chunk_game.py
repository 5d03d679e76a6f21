"""Treat one chunk (the betting of one round after a line) as a matrix game, and solve it by CFR or by an LP.

A row of the matrices is a hand or a bucket of hands; see Figure 1 of the paper (glossary).

The inputs are a range for each player at the root of the chunk and a payoff matrix for each leaf. The outputs are a
strategy for each player and the payoff matrix of the root. The ranges at the root are computed with the average
strategies of earlier chunks. The payoffs at chance leaves are stored or computed, or estimated before the first visit.
Both players' hands weigh by their ranges at the root, as in a solve with the job key ``integrate = "average"``.

    >>> from spewy import Job
    >>> kuhn = one_chunk(Job.of({"name": "Kuhn", "game": {"file": "kuhn"}}))
    >>> round(kuhn.by_lp().value, 9)
    -0.055555556
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import zip_longest
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from buckets.cards import cards_name, hand_name, permute_cards
from buckets.types import Ints
from solvers.discount import variant
from solvers.matrix.chunk import Chunk, iterate, local_exploitability, normalise, root_values
from solvers.matrix.lp import Method, chunk_form, chunk_strategy, solve_lp
from solvers.state import ChunkStrategy
from solvers.tree import DECISION, Floats
from spewy.chunks.layout import Layout
from spewy.chunks.locate import Place, board_cards, locate, solved_board
from spewy.chunks.problem import Problem
from spewy.chunks.rounds import ChunkTree
from spewy.errors import InputError, shown
from spewy.game.lines import read_line
from spewy.game.names import SEAT_NAMES
from spewy.game.nodes import Node
from spewy.job.job import Job
from spewy.learn.payoffs import (
    FOLD_OPERATOR,
    AveragePayoffs,
    Payoffs,
    StoredPayoffs,
    build_chunk,
    one_view,
    root_payoffs,
    row_reach,
)
from spewy.learn.playdown import PlayDown
from spewy.look.dropped import StoreReads
from spewy.records.chunks import Chunks
from spewy.run.session import Session
from spewy.system.html import Printed, Table

if TYPE_CHECKING:
    import pandas as pd

Below = Literal["average", "stored"]
"""Source of the payoffs at chance leaves: computed from the average strategies, or as stored by the last visits."""
MOST_BELOW = 20_000
"""Largest number of later chunks for which payoffs are computed; each takes some milliseconds."""


def one_chunk(source: Job | Session, line: str = "", board: str | Sequence[int] | None = None) -> OneChunk:
    """Build the matrix game of the chunk that a line enters on a board.

    For a chunk of a folder, use `spewy.Solution.chunk`, which writes nothing.

    Args:
        source: a session, whose store has the strategies and payoffs; or a job, for the state before its first visit,
            with uniform strategies in earlier chunks and estimated payoffs at chance leaves.
        line: line that enters the chunk, ``""`` or ending in ``/``.
        board: public cards, the root's first; None for the root's.

    Raises:
        InputError: no betting round starts after the line, the board is impossible after it, or the job has rake or
            locks, which a matrix game cannot have.
    """
    job = source if isinstance(source, Job) else source.job
    _require_zero_sum(job)
    session = source if isinstance(source, Session) else Session(source)
    layout, store = session.layout, session.store
    place = _entered(session.job, layout.problem, line, board)
    t = place.round - layout.problem.first_round
    r = layout.betting[t].find(place.line)
    b, perm = locate(layout, t, place.cards)
    play_down, below = PlayDown(layout, Chunks(layout, store).get), StoredPayoffs(layout, store)
    chunk = _build(layout, (t, b, r), perm, play_down, below, job.solve.tremble)
    return replace(chunk, estimated=below.estimated)


def stored_chunk(
    job: Job,
    problem: Problem,
    reads: StoreReads,
    line: str | Place,
    board: str | Sequence[int] | None,
    payoffs: Below,
) -> OneChunk:
    """Build the matrix game of a chunk of a solve, without writing to its store: see `spewy.Solution.chunk`.

    In dropped rounds, ``problem`` must have a row for each hand.
    """
    if payoffs not in get_args(Below):
        raise InputError(f"payoffs: expected one of {', '.join(get_args(Below))}, found {shown(payoffs)}")
    _require_zero_sum(job)
    place = reads.policy.at(line, board) if isinstance(line, Place) else _entered(job, problem, line, board)
    history, perm = solved_board(problem, place.round, place.cards)
    reads.require(place, below=True)
    subgame, ranges = reads.subgame(place, history)
    play_down = PlayDown(subgame, Chunks(subgame, reads.store).get, ranges)
    if payoffs == "average":
        _require_computable(job, subgame, reads, place.node)
        averaged = AveragePayoffs(subgame, reads.store, play_down, job.solve.tremble)
        return _build(subgame, (0, 0, 0), perm, play_down, averaged, job.solve.tremble)
    below = StoredPayoffs(subgame, reads.store)
    chunk = _build(subgame, (0, 0, 0), perm, play_down, below, job.solve.tremble)
    return replace(chunk, estimated=below.estimated)


def _build(
    layout: Layout,
    place: tuple[int, int, int],
    perm: Ints,
    play_down: PlayDown,
    below: Payoffs,
    tremble: float,
) -> OneChunk:
    t, b, r = place
    first, second = (side[r] for side in play_down.ranges(t, b))
    chunk = build_chunk(layout, t, b, r, one_view(layout, t, b, (first, second), tremble), below)
    back, tree = np.argsort(perm), layout.tree(t, r)
    board = [int(c) for group in layout.board(t, b).history for c in permute_cards(group, back)]
    return OneChunk(
        layout.problem.game.board_order(board),
        tree,
        layout.problem.pot + sum(tree.nodes[0].put_in),
        (_names(layout, t, b, 0, back), _names(layout, t, b, 1, back)),
        row_reach(layout, t, b, (first, second)),
        chunk,
        normalise(chunk, play_down.read(t, b, r) or chunk.zeros()),
    )


def _names(layout: Layout, t: int, b: int, p: int, back: Ints) -> tuple[tuple[str, ...], ...]:
    """Hands in each row of player p on board b of round t, the largest weight first; ``back`` renames the suits."""
    rows = layout.board(t, b).hands[p]
    names = [hand_name(permute_cards(hand, back)) for hand in layout.problem.hands[rows.numbers]]
    grouped: list[list[str]] = [[] for _ in range(rows.n_rows)]
    for h in sorted(range(len(names)), key=lambda h: (-rows.weight[h], names[h])):
        grouped[rows.row[h]].append(names[h])
    return tuple(tuple(group) for group in grouped)


def _require_zero_sum(job: Job) -> None:
    if job.lock or (job.spot is not None and job.spot.rake is not None):
        raise InputError(
            f"job {job.name}: a chunk is a matrix game only without rake and locks; this job has some"
        )


def _require_computable(job: Job, subgame: Layout, reads: StoreReads, node: Node) -> None:
    """Check that payoffs can be computed: no later round was dropped, and the work would not take hours."""
    hint = 'payoffs="stored" takes payoffs that visits have stored, or estimates'
    first = reads.store.first
    if first is not None and node.round < first and subgame.n_rounds > 1:
        raise InputError(
            f"job {job.name}: payoffs after line {node.line!r} need all later rounds, but some were dropped ({hint})"
        )
    below = sum(
        len(table.boards) * len(bets.chunks)
        for table, bets in zip(subgame.boards[1:], subgame.betting[1:], strict=False)
    )
    if below > MOST_BELOW:
        raise InputError(
            f"line {node.line!r}: expected at most {MOST_BELOW:,} later chunks to compute payoffs from, "
            f"found {below:,} (a later round has fewer; {hint})"
        )


def _entered(job: Job, problem: Problem, line: str, board: str | Sequence[int] | None) -> Place:
    line = read_line(job.betting_tree, line)
    for roots in job.betting_tree.rounds.values():
        if line in roots:
            return Place(roots[line], board_cards(problem, roots[line].round, board))
    job.betting_tree.find(line)  # says where a line goes wrong
    raise InputError(
        f"line {line!r}: no betting round starts after it; give a line that ends a round, with / at its end"
    )


@dataclass(frozen=True, repr=False)
class ChunkSolution(Printed):
    """Strategies of both players in a chunk, with their value and their local exploitability.

    Attributes:
        method: name of the CFR variant or LP method that computed the strategies.
        strategy: per player ``[slot, row]``, with a slot for each action of each decision, and a row for each hand or
            bucket of hands.
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
    """A chunk (the betting of one round after a line) as a game with fixed ranges and a payoff matrix at each leaf.

    `spewy.look.one_chunk` and `spewy.Solution.chunk` make it. A row is a hand or a bucket of hands, and a slot is one
    action of one of a player's decisions.

    Attributes:
        tree: betting of the chunk; ``tree.nodes[n]`` is the node with number n.
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
        """Total weight of the compatible pairs of hands of two rows: ``[row of player 0, row of player 1]``.

        Hands of a row that is not in the range weigh as in the initial range.
        """
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
        """Return the number of the node after a line, which starts at the root of the solve."""
        for n, node in enumerate(self.tree.nodes):
            if node.line == line:
                return n
        raise InputError(f"line {line!r}: it leads to no node of the chunk that {self.line!r} enters")

    def leaf_payoffs(self, n: int) -> Floats:
        """Return the payoffs at the leaf with number n, in chips that player 0 wins.

        Returns:
            ``[row of player 0, row of player 1]``; NaN for rows without two compatible hands.
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
        """Return the frequencies ``[action, row]`` that a solution has at the decision with number n."""
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
        """
        import pandas as pd

        values = (solution or self.average).payoffs if line is None else self.leaf_payoffs(self.find(line))
        index, columns = (
            pd.Index(names, name=seat) for names, seat in zip(self.labels, SEAT_NAMES, strict=True)
        )
        return pd.DataFrame(values, index, columns)

    def _table(self) -> Table:
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
            target_pct: target in % of the pot at the root of the chunk.
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
            method, iterations: copied into the result.
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
