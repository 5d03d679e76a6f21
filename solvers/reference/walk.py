"""Traversals of a `LiveGame`: they update regrets, evaluate strategies, or compute best responses.

A traversal computes the opponent's reach from the root to the leaves, and one player's values from the leaves to the
root; `solvers.reference.kernels` has the steps. Boards of the last round, which take nearly all the time, are traversed
inside one kernel, boards of earlier rounds by recursion in Python. Threads share the boards after the first deal that
leads to many boards. The number of threads changes no bit of the results: tasks have a fixed size, and sums a fixed
order.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from compiled import kernel
from solvers.discount import Factors
from solvers.game import BEST, EVALUATE, UPDATE, Hands, LeafValues, LiveGame, Strategies
from solvers.reference.kernels import (
    LockArrays,
    add_to_sums,
    add_tremble,
    impose,
    lock_arrays,
    match,
    reach_down,
    respond_up,
    terminal_values,
    update_up,
    values_up,
)
from solvers.stopping import Stopped, go_on, never
from solvers.tree import Endings, Floats, ForestArrays, Ints

_TASK = 4  # number of boards that a thread takes at a time; a constant fixes the order of sums
_NO_FACTORS = Factors(1.0, 1.0, False, False, 1.0)

Watch = Callable[[int, int, Floats, Floats], None]
"""A function that is called on a board with the round, the board, values ``[node, own hand]`` and the opponent's reach
``[sequence, hand]``; in several threads, if the walker has them."""

Known = Callable[[int, int], Floats | None]
"""A function that is called with (round, board) and returns the values ``[chance leaf, own hand]`` of that board.

If it returns None, the traversal computes the values from the boards that follow.
"""


class Walker:
    """Traverses a `LiveGame` with a number of threads, in the precision ``dtype``.

    Methods call the argument ``stopped`` every few boards; once it returns True, they raise `StoppedError`.
    """

    def __init__(self, game: LiveGame, threads: int = 1, dtype: type = np.float64) -> None:
        self.game = game
        self.dtype = dtype
        self._locks = [
            (lock_arrays(game, t, 0, dtype), lock_arrays(game, t, 1, dtype)) for t in range(len(game.rounds))
        ]
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None

    def update(
        self,
        p: int,
        factors: Factors,
        regrets: Strategies,
        sums: Strategies,
        guesses: Strategies | None = None,
    ) -> Floats:
        """Update player p's regrets on all boards, and add the opponent's current strategy to the opponent's sums.

        ``factors`` discount regrets and sums. Strategies follow from the regrets or predicted regrets (``guesses``).

        Returns:
            Player p's values ``[betting tree, own hand]`` at the roots of the first round, before the update.
        """
        current = regrets if guesses is None else guesses
        return self._run(_Pass(p, UPDATE, factors, current, regrets, current, sums))

    def best_response(self, p: int, opponent: Strategies, stopped: Stopped = never) -> Floats:
        """Compute the values of player p's best response to the strategy that regrets or sums ``opponent`` stand for.

        Returns:
            Values ``[betting tree, own hand]`` at the roots of the first round.
        """
        job = _Pass(p, BEST, _NO_FACTORS, opponent, opponent, opponent, opponent)
        return self._run(replace(job, stopped=stopped))

    def evaluate(
        self,
        p: int,
        strategies: Strategies,
        watch: Watch | None = None,
        watched: int = 1,
        known: Known | None = None,
        reach: Floats | None = None,
        stopped: Stopped = never,
    ) -> Floats:
        """Compute player p's values when both follow the strategies that regrets or sums stand for.

        Args:
            watch: called on each board of the first ``watched`` rounds with the board's values, see `Watch`.
            known: returns the values ``[chance leaf, own hand]`` of a (round, board) if they need not be computed.
            reach: the opponent's range ``[betting tree, opposing hand]`` at the start; None: the range of the game.

        Returns:
            Values ``[betting tree, own hand]`` at the roots of the first round.
        """
        job = _Pass(p, EVALUATE, _NO_FACTORS, strategies, strategies, strategies, strategies, watch, watched)
        return self._run(replace(job, known=known, stopped=stopped), reach)

    def leaf_values(
        self, strategies: Strategies, known: tuple[Known | None, Known | None] = (None, None)
    ) -> LeafValues:
        """Compute both players' values at all chance leaves for the strategies that regrets or sums stand for.

        ``known`` has for each player None, or a function of (round, board) that returns known values ``[chance leaf,
        own hand]``, or None if they are not known. The traversal skips the boards that follow known values.
        """
        by_board: tuple[dict[tuple[int, int], Floats], ...] = {}, {}
        for p in (0, 1):

            def keep(t: int, b: int, values: Floats, p: int = p) -> None:
                by_board[p][t, b] = values.copy()

            job = _Pass(p, EVALUATE, _NO_FACTORS, strategies, strategies, strategies, strategies)
            self._run(replace(job, known=known[p], leaves=keep))
        return {board: (by_board[0][board], by_board[1][board]) for board in sorted(by_board[0])}

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown()

    def _run(self, job: _Pass, reach: Floats | None = None) -> Floats:
        incoming = self.game.reach[1 - job.player] if reach is None else reach
        return self._board(job, 0, 0, incoming.astype(self.dtype))

    def _board(self, job: _Pass, t: int, b: int, incoming: Floats) -> Floats:
        """Compute the values ``[betting tree, own hand]`` at the roots of board b of round t.

        ``incoming`` is the opponent's reach ``[betting tree, opposing hand]`` at these roots.
        """
        this, q = self.game.rounds[t], 1 - job.player
        forest = this.forest
        bundle = job.bundle(self.game, t, self._locks[t])
        reach, values = _scratch(bundle, forest.n_sequences(q), forest.n_nodes, self.dtype)
        strategies = _strategies(bundle, self.dtype)
        reach[: forest.n_roots] = incoming
        _go_down(bundle, b, reach, strategies)
        if this.deal is not None:
            leaves = forest.chance_leaves
            known = None if job.known is None else job.known(t, b)
            if known is None:
                known = self._leaves(job, t, b, reach[forest.arrays.sequence[q, leaves]])
            values[leaves] = known
            if job.leaves is not None:
                job.leaves(t, b, values[leaves])
        _go_up(bundle, b, reach, values, strategies)
        if job.watch is not None and t < job.watched:
            job.watch(t, b, values, reach)
        return values[: forest.n_roots]

    def _leaves(self, job: _Pass, t: int, b: int, outgoing: Floats) -> Floats:
        """Compute the values ``[chance leaf, own hand]`` of board b of round t from the boards that follow.

        ``outgoing`` is the opponent's reach ``[chance leaf, opposing hand]``.
        """
        deal = self.game.rounds[t].deal
        assert deal is not None
        entries = range(int(deal.first[b]), int(deal.first[b + 1]))
        tasks = [entries[i : i + _TASK] for i in range(0, len(entries), _TASK)]

        def work(task: range) -> Floats:
            go_on(job.stopped)
            return self._entries(job, t, task, outgoing)

        shared = self._pool is not None and t == self._shared_round
        parts = list(self._pool.map(work, tasks)) if shared and self._pool else list(map(work, tasks))
        total = parts[0]
        for part in parts[1:]:
            total += part
        return total

    @cached_property
    def _shared_round(self) -> int:
        """The round after which threads share the boards: the first whose deal leads to many boards; -1: no round."""
        for t, r in enumerate(self.game.rounds):
            if r.deal is not None and len(r.deal.child) > _TASK:
                return t
        return -1

    def _entries(self, job: _Pass, t: int, entries: range, outgoing: Floats) -> Floats:
        """Sum values ``[chance leaf, own hand]`` over the boards to which links ``entries`` of round t lead."""
        this, below = self.game.rounds[t], self.game.rounds[t + 1]
        p, q, deal = job.player, 1 - job.player, this.deal
        assert deal is not None
        n_roots, n_rows = below.forest.n_roots, this.hands[p].row.shape[1]
        total: Floats = np.zeros((n_roots, n_rows), self.dtype)
        if below.deal is None and (job.watch is None or t + 1 >= job.watched):
            bundle = job.bundle(self.game, t + 1, self._locks[t + 1])
            reach, values = _scratch(bundle, below.forest.n_sequences(q), below.forest.n_nodes, self.dtype)
            passage = _Passage(
                deal.child, deal.parent_row[q], deal.first_image, deal.child_row[p], deal.probability
            )
            strategies = _strategies(bundle, self.dtype)
            _last_boards(
                bundle, passage, entries.start, entries.stop, outgoing, reach, values, strategies, total
            )
            return total
        for e in entries:
            c = int(deal.child[e])
            incoming: Floats = np.zeros((n_roots, below.hands[q].row.shape[1]), self.dtype)
            gather_rows(outgoing, deal.parent_row[q][e], int(below.hands[q].n_hands[c]), incoming)
            values = self._board(job, t + 1, c, incoming)
            for m in range(int(deal.first_image[e]), int(deal.first_image[e + 1])):
                scatter_values(values, deal.child_row[p][m], deal.probability, n_roots, n_rows, total)
        return total


class _Bundle(NamedTuple):
    """The arrays with which a kernel traverses one round for one player: betting, hands, locks, regrets and sums.

    Regrets and sums are ``[board, slot, row]``. Strategies follow from ``own_current`` and ``other_current`` (regrets
    or sums). `UPDATE` changes regrets, predictions and sums.
    """

    forest: ForestArrays
    endings: Endings
    player: int
    mode: int
    factors: Factors
    n_ids: int
    own: Hands
    other: Hands
    own_locks: LockArrays
    other_locks: LockArrays
    own_current: Floats
    other_current: Floats
    regrets: Floats
    guesses: Floats
    other_sums: Floats


class _Passage(NamedTuple):
    """Fields of a `Deal` for one player's traversal: ``parent_row`` of the opponent, ``child_row`` of the player."""

    child: Ints
    parent_row: Ints
    first_image: Ints
    child_row: Ints
    probability: float


@dataclass(frozen=True)
class _Pass:
    """The settings of one traversal, which computes the values of ``player`` (see `Walker.evaluate`).

    Both players' strategies follow from ``current``. `UPDATE` changes ``regrets``, ``guesses`` and ``sums``. The
    function ``leaves`` gets round, board and the values ``[chance leaf, own hand]`` of each board.
    """

    player: int
    mode: int
    factors: Factors
    current: Strategies
    regrets: Strategies
    guesses: Strategies
    sums: Strategies
    watch: Watch | None = None
    watched: int = 1
    known: Known | None = None
    leaves: Callable[[int, int, Floats], None] | None = None
    stopped: Stopped = never

    def bundle(self, game: LiveGame, t: int, locks: tuple[LockArrays, LockArrays]) -> _Bundle:
        p, q, r = self.player, 1 - self.player, game.rounds[t]
        own, other = r.hands[p], r.hands[q]
        return _Bundle(
            r.forest.arrays,
            r.forest.endings[q],
            p,
            self.mode,
            self.factors,
            game.n_ids,
            own,
            other,
            locks[p],
            locks[q],
            self.current[t][p],
            self.current[t][q],
            self.regrets[t][p],
            self.guesses[t][p],
            self.sums[t][q],
        )


def _scratch(bundle: _Bundle, n_sequences: int, n_nodes: int, dtype: type) -> tuple[Floats, Floats]:
    reach: Floats = np.zeros((n_sequences, bundle.other.row.shape[1]), dtype)
    values: Floats = np.zeros((n_nodes, bundle.own.row.shape[1]), dtype)
    return reach, values


def _strategies(bundle: _Bundle, dtype: type) -> tuple[Floats, Floats]:
    return np.empty(bundle.own_current.shape[1:], dtype), np.empty(bundle.other_current.shape[1:], dtype)


@kernel
def _go_down(x: _Bundle, b: int, reach: Floats, strategies: tuple[Floats, Floats]) -> None:
    q = 1 - x.player
    count, group = x.other.n_hands[b], x.other.row[b]
    match(x.forest, q, x.other_current[b], strategies[1])
    if x.mode == UPDATE and x.factors.tremble > 0:
        add_tremble(x.forest, q, x.factors.tremble, strategies[1])
    impose(x.forest, x.other_locks, b, count, strategies[1])
    reach_down(x.forest, q, strategies[1], group, x.other.direct, count, reach)
    if x.mode == UPDATE:
        add_to_sums(x.forest.n_roots, group, x.other.direct, count, reach, x.factors.decay, x.other_sums[b])


@kernel
def _go_up(x: _Bundle, b: int, reach: Floats, values: Floats, strategies: tuple[Floats, Floats]) -> None:
    p, own, other = x.player, x.own, x.other
    count, group = own.n_hands[b], own.row[b]
    if x.mode != BEST:
        match(x.forest, p, x.own_current[b], strategies[0])
        impose(x.forest, x.own_locks, b, count, strategies[0])
    terminal_values(
        x.forest,
        x.endings,
        p,
        reach,
        (count, own.cards[b], own.strength[b], own.same_cards[b]),
        (other.n_hands[b], other.cards[b], other.strength[b], other.same_cards[b]),
        x.n_ids,
        values,
    )
    if x.mode == UPDATE:
        rows, regrets, guesses = (group, own.direct, count, own.weight[b]), x.regrets[b], x.guesses[b]
        update_up(x.forest, p, x.factors, rows, strategies[0], x.own_locks, b, values, regrets, guesses)
    elif x.mode == BEST and len(x.own_locks.node) > 0:
        respond_up(x.forest, p, x.own_locks, b, count, values)
    else:
        values_up(x.forest, p, x.mode, strategies[0], group, own.direct, count, values)


@kernel
def _last_boards(
    x: _Bundle,
    passage: _Passage,
    start: int,
    stop: int,
    outgoing: Floats,
    reach: Floats,
    values: Floats,
    strategies: tuple[Floats, Floats],
    total: Floats,
) -> None:
    """Traverse the boards of the last round to which links ``start .. stop - 1`` lead; add their values to ``total``.

    ``outgoing``, the opponent's reach, and ``total`` are ``[chance leaf, hand]``; ``passage`` has the links of `Deal`.
    """
    n_roots = x.forest.n_roots
    for e in range(start, stop):
        b = passage.child[e]
        gather_rows(outgoing, passage.parent_row[e], x.other.n_hands[b], reach)
        _go_down(x, b, reach, strategies)
        _go_up(x, b, reach, values, strategies)
        for m in range(passage.first_image[e], passage.first_image[e + 1]):
            scatter_values(values, passage.child_row[m], passage.probability, n_roots, total.shape[1], total)


@kernel
def gather_rows(parent: Floats, parent_row: Ints, count: int, child: Floats) -> None:
    """Carry reach from chance leaves to a dealt board's roots: ``child[root, h] = parent[root, parent_row[h]]``."""
    for r in range(parent.shape[0]):
        for h in range(count):
            child[r, h] = parent[r, parent_row[h]]


@kernel
def scatter_values(
    child: Floats, image: Ints, scale: float, n_roots: int, count: int, parent: Floats
) -> None:
    """Add the values at the roots of a dealt board, times ``scale``, to the values at the chance leaves before it.

    ``image[h]`` is the number that hand h has on the dealt board; -1: the board blocks the hand.
    """
    factor = parent.dtype.type(scale)
    for r in range(n_roots):
        for h in range(count):
            if image[h] >= 0:
                parent[r, h] += factor * child[r, image[h]]
