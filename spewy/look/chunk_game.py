"""One chunk of a job as a matrix game with named rows: the inputs and outputs of the paper's Figure 1.

In: a range for each player at the root, a payoff matrix for each leaf. Out: a strategy for each player, and
the payoff matrix of the root. Everything is in *one view* (both players see the joint weights of the rows),
which is what ``average`` integration and the linear program solve. Ranges are played down by the average
strategies stored above; payoffs below are the stored ones, or the estimate of a first visit where nothing is.

    >>> from spewy import Job
    >>> kuhn = one_chunk(Job.of({"name": "Kuhn", "game": {"file": "kuhn"}}))
    >>> round(kuhn.by_lp().value, 9)
    -0.055555556
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import zip_longest
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from buckets.cards import cards_name, hand_name, permute_cards
from buckets.types import Ints
from solvers.discount import variant
from solvers.matrix.chunk import Chunk, ChunkStrategy, iterate, local_exploitability, normalise, root_values
from solvers.matrix.lp import Method, chunk_form, chunk_strategy, solve_lp
from solvers.tree import DECISION, Floats
from spewy.chunks.layout import Layout
from spewy.chunks.locate import board_cards, locate, solved_board
from spewy.chunks.problem import Problem
from spewy.chunks.rounds import ChunkTree
from spewy.errors import InputError, shown
from spewy.game.lines import read_line
from spewy.game.names import SEAT_NAMES
from spewy.game.nodes import Node
from spewy.job.job import Job
from spewy.learn.chunk_matrices import (
    FOLD_OPERATOR,
    Payoffs,
    build_chunk,
    one_view,
    root_payoffs,
    row_reach,
)
from spewy.learn.payoffs import AveragePayoffs, StoredPayoffs
from spewy.learn.playdown import PlayDown
from spewy.look.dropped import StoreReads
from spewy.records.chunks import Chunks
from spewy.run.session import Session
from spewy.system import html

if TYPE_CHECKING:
    import pandas as pd

LeafKind = Literal["fold", "showdown", "chance"]
Below = Literal["average", "stored"]
"""Source of the payoffs at chance leaves: computed under the average strategies, or stored by the last visits."""

MOST_BELOW = 20_000
"""Largest number of later chunks whose payoffs are computed; each takes some milliseconds."""


@dataclass(frozen=True)
class ChunkSolution:
    """A pair of strategies for a chunk, with their value and their local exploitability.

    Attributes:
        method: what solved it: a CFR variant or an LP method.
        strategy: per player ``[slot, row]``, each decision's actions adding up to 1.
        value: expected net chips of player 0 per deal, given that this chunk is reached.
        local_exploitability: (best responses − values) / 2 in chips per deal, leaves and rows taken as given.
            *Not* the exploitability of the solve, which only a walk through the real game measures.
        local_exploitability_pct: the same in % of the pot at the chunk's root.
        iterations: of CFR, or of the simplex or interior point method.
        payoffs: the root's payoff matrix ``[row of player 0, row of player 1]``; NaN where no two hands of
            the rows are possible together.
    """

    method: str
    strategy: ChunkStrategy
    value: float
    local_exploitability: float
    local_exploitability_pct: float
    iterations: int
    payoffs: Floats


@dataclass(frozen=True)
class OneChunk:
    """A chunk whose rows and nodes have names; `one_chunk` builds it.

    Attributes:
        board: the public cards.
        tree: the betting; ``tree.nodes[n]`` is node n of ``chunk.forest``.
        pot: chips in the middle at the root.
        hands: per player and row, the names of its hands, heaviest first. Buckets ascend in strength.
        ranges: per player ``[row]``, the weight at the root, summed over the hands of the row.
        chunk: the matrix game, one view.
        played: the stored average strategy, per player ``[slot, row]``; uniform before the first sweep.
        estimated: whether a payoff matrix below was estimated, for want of a stored one.
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
        """``W[row of player 0, row of player 1]``: weight of all pairs of hands that share no card."""
        weights: Floats = self.chunk.matrices[0][FOLD_OPERATOR]
        return weights

    @property
    def total_weight(self) -> float:
        """``Σ W``, which turns weighted chips into chips per deal."""
        return float(self.chunk.entering[0] @ self.joint_weight @ self.chunk.entering[1])

    @property
    def decisions(self) -> tuple[int, ...]:
        """Numbers of the decision nodes."""
        return tuple(int(n) for n in np.flatnonzero(self.chunk.forest.arrays.kind == DECISION))

    @property
    def leaves(self) -> tuple[int, ...]:
        """Numbers of the leaves: folds, and showdowns or chance nodes."""
        return tuple(int(n) for n in np.flatnonzero(self.chunk.forest.arrays.kind != DECISION))

    def find(self, line: str) -> int:
        """Return the number of the node after ``line`` (from the solve's root).

        Raises:
            InputError: no node of this chunk has that line.
        """
        for n, node in enumerate(self.tree.nodes):
            if node.line == line:
                return n
        raise InputError(f"line {line!r}: expected a node of the chunk that {self.line!r} enters, found none")

    def leaf_payoffs(self, n: int) -> Floats:
        """Return a leaf's payoffs ``U[row of player 0, row of player 1]`` in chips of player 0."""
        k = int(self.chunk.operator[n])
        if k < 0:
            raise InputError(f"node {n} ({self.tree.nodes[n].line!r}): expected a leaf, found a decision")
        return self._per_pair(self.chunk.scale[n] * self.chunk.matrices[0][k])

    def strategy_at(self, solution: ChunkSolution, n: int) -> Floats:
        """Return ``[action, row]`` of the player who acts at decision n."""
        a = self.chunk.forest.arrays
        if a.kind[n] != DECISION:
            raise InputError(f"node {n} ({self.tree.nodes[n].line!r}): expected a decision, found a leaf")
        first = int(a.slot[n])
        return solution.strategy[int(a.player[n])][first : first + int(a.n_actions[n])]

    @cached_property
    def average(self) -> ChunkSolution:
        """The stored average strategies, with their value and local exploitability."""
        return self.judge(self.played, "stored")

    @cached_property
    def labels(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Name of each row of each player: its only hand, or its number and its heaviest hand."""
        first, second = (tuple(map(_label, range(len(rows)), rows)) for rows in self.hands)
        return first, second

    def payoff_frame(self, line: str | None = None, solution: ChunkSolution | None = None) -> pd.DataFrame:
        """Return player 0's payoffs in chips, with a line per row of player 0 and a column per row of player 1.

        Args:
            line: of a leaf; None: the chunk's root, under a solution.
            solution: of the chunk; None: the stored average.

        Raises:
            InputError: no leaf of this chunk has that line.
        """
        import pandas as pd

        values = (solution or self.average).payoffs if line is None else self.leaf_payoffs(self.find(line))
        index, columns = (
            pd.Index(names, name=seat) for names, seat in zip(self.labels, SEAT_NAMES, strict=True)
        )
        return pd.DataFrame(values, index, columns)

    def _repr_html_(self) -> str:
        """The rows of both players, for notebooks."""
        title = f"chunk {self.line!r} on {cards_name(self.board) or 'no cards'}, pot {self.pot:g}"
        told = zip_longest(*(zip(*side, strict=True) for side in zip(self.labels, self.ranges, strict=True)))
        columns = [f"{word} of {seat}" for seat in SEAT_NAMES for word in ("row", "range")]
        return html.table(title, columns, [(*(one or ("", "")), *(other or ("", ""))) for one, other in told])

    def by_cfr(
        self,
        variant_name: str = "dcfr",
        target_pct: float = 0.01,
        max_iterations: int = 20_000,
        check_every: int = 25,
    ) -> ChunkSolution:
        """Solve by CFR to a local exploitability of ``target_pct`` of the pot, or for ``max_iterations``."""
        schedule = variant(variant_name)
        regrets, sums = self.chunk.zeros(), self.chunk.zeros()
        guesses = self.chunk.zeros() if schedule.predictive else None
        done = 0
        while True:
            steps = min(check_every, max_iterations - done)
            iterate(self.chunk, schedule, done, steps, regrets, sums, guesses)
            done += steps
            found = self.judge(normalise(self.chunk, sums), variant_name, done)
            if found.local_exploitability_pct <= target_pct or done >= max_iterations:
                return found

    def by_lp(self, method: Method = "highs", *, dense: bool = False) -> ChunkSolution:
        """Solve by linear programming in sequence form; with ``dense``, HiGHS gets dense arrays."""
        answer = solve_lp(chunk_form(self.chunk), method, dense=dense)
        strategy = normalise(self.chunk, chunk_strategy(self.chunk, answer))
        return self.judge(strategy, method, answer.iterations)

    def judge(self, strategy: ChunkStrategy, method: str = "given", iterations: int = 0) -> ChunkSolution:
        """Compute the value and the local exploitability of a pair of strategies ``[slot, row]``."""
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


def one_chunk(source: Job | Session, line: str = "", board: str | Sequence[int] | None = None) -> OneChunk:
    """Build the matrix game of the chunk that ``line`` enters on ``board`` (default: the root's board).

    Args:
        source: a session, for what its store holds; or a job, as before its first visit (uniform play above,
            estimates below). A folder is looked at by `spewy.Solution.chunk`, which writes nothing.
        line: betting since the solve's root, ``""`` or ending in ``/``.
        board: public cards, the root's first.

    Raises:
        InputError: no betting round starts after that line, or the board cannot follow, or the job has rake or
            locks, of which a matrix game knows nothing.
    """
    job = source if isinstance(source, Job) else source.job
    _require_zero_sum(job)
    session = source if isinstance(source, Session) else Session(source)
    layout, store = session.layout, session.store
    node = _entered(session.job, read_line(session.job.betting_tree, line))
    t = node.round - layout.problem.first_round
    r = layout.betting[t].find(node.line)
    b, perm = locate(layout, t, board_cards(layout.problem, node.round, board))
    play_down, below = PlayDown(layout, Chunks(layout, store).get), StoredPayoffs(layout, store)
    opened = _laid_open(layout, (t, b, r), perm, play_down, below, job.solve.tremble)
    return replace(opened, estimated=below.estimated)


def stored_chunk(
    job: Job,
    problem: Problem,
    reads: StoreReads,
    line: str,
    board: str | Sequence[int] | None,
    payoffs: Below,
) -> OneChunk:
    """Build the matrix game of a chunk of a read-only store: see `spewy.Solution.chunk`.

    Args:
        job: what the store was made for.
        problem: the same, with a row per hand in dropped rounds.
        reads: the store.
        line: as of `one_chunk`.
        board: likewise.
        payoffs: where those of the leaves come from.

    Raises:
        InputError: as `one_chunk`; or too many chunks follow to work out their payoffs, or they were dropped.
    """
    if payoffs not in get_args(Below):
        raise InputError(f"payoffs: expected one of {', '.join(get_args(Below))}, found {shown(payoffs)}")
    _require_zero_sum(job)
    node = _entered(job, read_line(job.betting_tree, line))
    cards = board_cards(problem, node.round, job.board if board is None else board)
    history, perm = solved_board(problem, node.round, cards)
    reads.require(node.line, cards)
    part, ranges = reads.part(node.line, node.round, history)
    play_down = PlayDown(part, Chunks(part, reads.store).get, ranges)
    if payoffs == "average":
        _require_worth(job, part, reads, node)
        averaged = AveragePayoffs(part, reads.store, play_down, job.solve.tremble)
        return _laid_open(part, (0, 0, 0), perm, play_down, averaged, job.solve.tremble)
    below = StoredPayoffs(part, reads.store)
    opened = _laid_open(part, (0, 0, 0), perm, play_down, below, job.solve.tremble)
    return replace(opened, estimated=below.estimated)


def _laid_open(
    layout: Layout,
    place: tuple[int, int, int],
    perm: Ints,
    play_down: PlayDown,
    below: Payoffs,
    tremble: float,
) -> OneChunk:
    """Build the chunk at (t, b, r) of a layout, on the board that a suit permutation maps to the solved board."""
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
    """Names of the hands in each row of a player, heaviest first."""
    rows = layout.board(t, b).hands[p]
    called = [hand_name(permute_cards(hand, back)) for hand in layout.problem.hands[rows.numbers]]
    grouped: list[list[str]] = [[] for _ in range(rows.n_rows)]
    for h in sorted(range(len(called)), key=lambda h: (-rows.weight[h], called[h])):
        grouped[rows.row[h]].append(called[h])
    return tuple(tuple(group) for group in grouped)


def _require_zero_sum(job: Job) -> None:
    if job.lock or (job.spot is not None and job.spot.rake is not None):
        raise InputError(
            f"job {job.name}: expected one without rake and locks to lay a chunk open, found some"
        )


def _require_worth(job: Job, part: Layout, reads: StoreReads, node: Node) -> None:
    """Refuse payoffs that cannot be computed, or that would take hours."""
    hint = 'payoffs="stored" takes what visits have left, or estimates'
    first = reads.store.first
    if first is not None and node.round < first and part.n_rounds > 1:
        raise InputError(
            f"job {job.name}: expected all rounds after line {node.line!r} to work out payoffs, found some dropped "
            f"({hint})"
        )
    below = sum(
        len(table.boards) * len(bets.chunks)
        for table, bets in zip(part.boards[1:], part.betting[1:], strict=False)
    )
    if below > MOST_BELOW:
        raise InputError(
            f"line {node.line!r}: expected at most {MOST_BELOW:,} chunks below to work out payoffs, "
            f"found {below:,} (a later round has fewer; {hint})"
        )


def _entered(job: Job, line: str) -> Node:
    for roots in job.betting_tree.rounds.values():
        if line in roots:
            return roots[line]
    job.betting_tree.find(line)  # says where a line goes wrong
    raise InputError(
        f"line {line!r}: expected one after which a betting round starts, found one that does not"
    )
