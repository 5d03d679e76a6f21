"""What average strategies do at one node, in one sum over both ranges per board: for reports over many boards.

With the reaches ``r0, r1`` at the node and ``W = Σ_{i, j} r0[i] r1[j] compat(i, j)``, each figure of player p is
``Σ_{i, j} r0[i] r1[j] compat(i, j) x_p(i, j) / W``. Where `spewy.look.board_view.BoardView` walks all lines
that reach a board, this walks the node's own chunk and what follows it, and reads no other chunks.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from lockers import Reads
from solvers.forest import Floats, ForestArrays
from solvers.live import LiveGame, Strategies, compatible_reach
from solvers.walk import Known, Walker
from spewy.chunks.layout import Layout
from spewy.chunks.live_game import with_ranges
from spewy.chunks.part import chunk_layout, chunk_of
from spewy.game.tree import Node
from spewy.learn.playdown import PlayDown
from spewy.look.board_view import equities
from spewy.records.chunks import Chunks
from spewy.records.leaves import leaf_values

NOTHING = 1e-13
"""What rounding leaves of a range, as a share of it, counts as none."""


@dataclass(frozen=True)
class NodeTotals:
    """One node on one board.

    ``weight`` is W above, ``frequencies[action]`` how often the acting range takes each action, ``ev`` and ``equity``
    are each player's expected share of the pot from the node on and chance to win without further betting. NaN: a
    range that never comes here.
    """

    weight: float
    frequencies: Floats
    ev: tuple[float, float]
    equity: tuple[float, float]


class LineView:
    """A node on the boards of its round, each computed when asked for."""

    def __init__(self, layout: Layout, store: Reads, node: Node, threads: int = 1) -> None:
        self._t = node.round - layout.problem.first_round
        self._root = chunk_of(layout, node)
        self._layout = chunk_layout(layout, self._t, self._root)
        self._n = self._layout.betting[0].nodes.index(node)
        self._node = node
        self._played = PlayDown(layout, cache(Chunks(layout, store).get))
        self._store = store
        self._threads = threads

    def totals(self, b: int) -> NodeTotals:
        """The node on board b of its round."""
        layout = self._layout.below(0, b)
        first, second = (ranges[[self._root]] for ranges in self._played.ranges(self._t, b))
        game = with_ranges(layout.live, (first, second))
        known = [leaf_values(layout, self._store, p) for p in (0, 1)]
        values, reach = self._walk(game, Chunks(layout, self._store).whole(), known)
        a = game.rounds[0].forest.arrays
        here = [reach[p][a.sequence[p, self._n]] for p in (0, 1)]
        rows = game.rounds[0].rows
        joint = here[0] * compatible_reach(rows[0], rows[1], 0, here[1], game.n_ids)
        weight = float(joint.sum())
        if not weight > NOTHING * here[0].sum() * here[1].sum():
            return NodeTotals(0.0, self._frequencies(a, reach), (np.nan, np.nan), (np.nan, np.nan))
        put_in, half = self._node.put_in, layout.problem.pot / 2
        ev = tuple(half + put_in[p] + float(here[p] @ values[p]) / weight for p in (0, 1))
        share = float(np.nansum(joint * equities(game, 0, here[1][None])[0])) / weight
        return NodeTotals(weight, self._frequencies(a, reach), (ev[0], ev[1]), (share, 1.0 - share))

    def _walk(
        self, game: LiveGame, sums: Strategies, known: list[Known | None]
    ) -> tuple[list[Floats], list[Floats]]:
        """Per player the values ``[hand]`` at the node and the reach ``[sequence, hand]``, padded with zeros."""
        values: list[Floats] = []
        reach: list[Floats] = []
        walker = Walker(game, self._threads)
        try:
            for p in (0, 1):

                def keep(at: Floats, opposing: Floats) -> None:
                    values.append(at[self._n].copy())
                    reach.insert(0, opposing)

                walker.evaluate(p, sums, keep, known[p])
        finally:
            walker.close()
        return values, reach

    def _frequencies(self, a: ForestArrays, reach: list[Floats]) -> Floats:
        """How the acting range's weight is shared among the actions; empty where nobody acts."""
        p = self._node.player
        if p is None:
            return np.empty(0)
        first = a.n_roots + int(a.slot[self._n])
        taken = reach[p][first : first + int(a.n_actions[self._n])].sum(axis=1)
        total = taken.sum()
        out: Floats = taken / total if total > 0 else np.full(len(taken), np.nan)
        return out
