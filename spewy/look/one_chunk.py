"""One chunk of a job, laid open: what goes in and what comes out, as in the paper's Figure 1.

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
from dataclasses import dataclass
from typing import Literal

import numpy as np

from buckets.hands import hand_name
from buckets.symmetry import permute_cards
from solvers.chunk import Chunk, ChunkStrategy, iterate, local_exploitability, normalise, root_values
from solvers.forest import DECISION, Floats
from solvers.lp import Method, chunk_form, chunk_strategy, solve_lp
from solvers.variants import variant
from spewy.chunks.locate import board_cards, locate
from spewy.chunks.rounds import ChunkTree
from spewy.errors import InputError
from spewy.game.lines import read_line
from spewy.game.tree import Node
from spewy.job.job import Job
from spewy.learn.leaves import FOLD_OPERATOR, Stored, build_chunk, one_view, root_payoffs, row_reach
from spewy.learn.playdown import PlayDown
from spewy.records.chunks import Chunks
from spewy.run.session import Session

LeafKind = Literal["fold", "showdown", "chance"]


@dataclass(frozen=True)
class ChunkSolution:
    """A pair of strategies for a chunk and what follows from them.

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
    """A chunk with its names; built by `one_chunk`.

    Attributes:
        board: the public cards.
        tree: the betting; ``tree.nodes[n]`` is node n of ``chunk.forest``.
        pot: chips in the middle at the root.
        hands: per player and row, the names of its hands, heaviest first. Buckets ascend in strength.
        ranges: per player ``[row]``, the weight at the root, summed over the hands of the row.
        chunk: the matrix game, one view.
        estimated: whether a payoff matrix below was estimated, for want of a stored one.
    """

    board: tuple[int, ...]
    tree: ChunkTree
    pot: float
    hands: tuple[tuple[tuple[str, ...], ...], tuple[tuple[str, ...], ...]]
    ranges: tuple[Floats, Floats]
    chunk: Chunk
    estimated: bool

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
        """``Σ W``: what turns weighted chips into chips per deal."""
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
        """Return a leaf's ``U[row of player 0, row of player 1]``, chips of player 0; NaN as in solutions."""
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
        """Solve by linear programming in sequence form; ``dense`` hands HiGHS arrays, not sparse matrices."""
        answer = solve_lp(chunk_form(self.chunk), method, dense=dense)
        strategy = normalise(self.chunk, chunk_strategy(self.chunk, answer))
        return self.judge(strategy, method, answer.iterations)

    def judge(self, strategy: ChunkStrategy, method: str = "given", iterations: int = 0) -> ChunkSolution:
        """Work out what a pair of strategies ``[slot, row]`` is worth in this chunk."""
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


def one_chunk(source: Job | Session, line: str = "", board: str | Sequence[int] | None = None) -> OneChunk:
    """Lay open the chunk that ``line`` enters on ``board`` (default: the root's).

    Args:
        source: a session, for what its store holds; or a job, as before its first visit (uniform play above,
            estimates below).
        line: betting since the solve's root, ``""`` or ending in ``/``.
        board: public cards, the root's first.

    Raises:
        InputError: no betting round starts after that line, or the board cannot follow, or the job has rake or
            locks, of which a matrix game knows nothing.
    """
    job = source if isinstance(source, Job) else source.job
    if job.lock or (job.spot is not None and job.spot.rake is not None):
        raise InputError(
            f"job {job.name}: expected one without rake and locks to lay a chunk open, found some"
        )
    session = source if isinstance(source, Session) else Session(source)
    layout, store = session.layout, session.store
    line = read_line(session.job.betting_tree, line)
    node = _entered(session.job, line)
    t = node.round - layout.problem.first_round
    r = layout.betting[t].find(line)
    b, perm = locate(layout, t, board_cards(layout.problem, node.round, board))
    below = Stored(layout, store)
    ranges = [side[r] for side in PlayDown(layout, Chunks(layout, store).get).ranges(t, b)]
    chunk = build_chunk(layout, t, b, r, one_view(layout, t, b, ranges, session.job.solve.tremble), below)
    back = np.argsort(perm)
    names = []
    for p in (0, 1):
        rows = layout.board(t, b).rows[p]
        called = [hand_name(permute_cards(hand, back)) for hand in layout.problem.hands[rows.hands]]
        order = sorted(range(len(called)), key=lambda h: (-rows.weight[h], called[h]))
        grouped: list[list[str]] = [[] for _ in range(rows.n_groups)]
        for h in order:
            grouped[rows.group[h]].append(called[h])
        names.append(tuple(tuple(group) for group in grouped))
    return OneChunk(
        tuple(int(c) for group in layout.board(t, b).history for c in permute_cards(group, back)),
        layout.tree(t, r),
        layout.problem.pot + sum(node.put_in),
        (names[0], names[1]),
        row_reach(layout, t, b, ranges),
        chunk,
        below.estimated,
    )


def _entered(job: Job, line: str) -> Node:
    for roots in job.betting_tree.rounds.values():
        if line in roots:
            return roots[line]
    job.betting_tree.find(line)  # says where a line goes wrong
    raise InputError(
        f"line {line!r}: expected one after which a betting round starts, found one that does not"
    )
