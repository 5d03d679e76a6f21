"""What average strategies do on one board: reach, strategy, EV by action, EV and equity of every hand at every node.

EV is the expected share of the pot from the node on: what the player collects minus what the player still puts in.
At the root of a spot both EVs sum to the pot, less the rake; folding is worth 0. The EV of an action is that of taking
it now and of following the average strategy afterwards, ``ev[h] = Σ_a strategy[a, h] · action_ev[a, h]``. Equity is
the chance to win if all betting stopped (ties half), against the opponent's range at the node. All are exact in card
removal and NaN where the opponent cannot be there with a hand that goes with this one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lockers import Reads
from solvers.forest import Chance, Floats, Forest, Showdown
from solvers.kernels import match
from solvers.live import LiveGame, Round, Strategies, compatible_reach
from solvers.walk import Walker
from spewy.chunks.layout import Layout
from spewy.chunks.live_game import with_ranges
from spewy.learn.playdown import PlayDown
from spewy.records.chunks import Chunks
from spewy.records.leaves import leaf_values

LEAST_MASS = 1e-9
"""The least share of the opponent's range that a hand's EV is told against: sums of the range are good to 1e-15."""


@dataclass(frozen=True)
class NodeArrays:
    """One decision on one board: arrays over the rows of the player to act, in the board's order."""

    reach: Floats  # [hand]
    strategy: Floats  # [action, hand]
    ev: Floats  # [hand]
    action_ev: Floats  # [action, hand]
    equity: Floats  # [hand]


class BoardView:
    """All decisions on board (t, b) under the average strategies of a store."""

    def __init__(self, layout: Layout, store: Reads, t: int, b: int) -> None:
        self.layout = layout.below(t, b)
        self._ranges = PlayDown(layout, Chunks(layout, store).get).ranges(t, b)
        self._game = with_ranges(self.layout.live, self._ranges)
        self._sums = Chunks(self.layout, store).whole()
        walker = Walker(self._game)
        self._values: list[Floats] = []
        self._reach: list[Floats] = [np.empty(0), np.empty(0)]
        for p in (0, 1):

            def keep(values: Floats, reach: Floats, p: int = p) -> None:
                self._values.append(values)
                self._reach[1 - p] = reach

            walker.evaluate(p, self._sums, keep, leaf_values(self.layout, store, p))
        self._equity = [equities(self._game, p, self._reach[1 - p]) for p in (0, 1)]

    def node(self, n: int) -> NodeArrays:
        """The arrays of decision n of the round's forest."""
        bets = self.layout.betting[0]
        a, node = bets.forest.arrays, bets.nodes[n]
        p = int(a.player[n])
        q, rows = 1 - p, self._game.rounds[0].rows
        count = int(rows[p].count[0])
        group = rows[p].group[0, :count]
        opponent = self._reach[q][a.sequence[q, n]]
        mass = compatible_reach(rows[p], rows[q], 0, opponent, self._game.n_ids)[:count]
        strategy = np.empty(self._sums[0][p].shape[1:])
        match(a, p, self._sums[0][p][0], strategy)
        first = int(a.slot[n])
        actions, child = int(a.n_actions[n]), int(a.first_child[n])
        following = range(child, child + actions)
        values = self._values[p][[n, *following], :count]  # an own action leaves the mass as it is
        share = ratio(values, mass, float(opponent.sum())) + self.layout.problem.pot / 2 + node.put_in[p]
        for number, action in enumerate(node.actions, start=1):
            if action.kind == "fold":
                share[number, ~np.isnan(share[number])] = 0.0  # by definition; rounding leaves something else
        return NodeArrays(
            reach=self._reach[p][a.sequence[p, n], :count],
            strategy=strategy[first : first + actions][:, group],
            ev=share[0],
            action_ev=share[1:],
            equity=self._equity[p][a.sequence[q, n], :count],
        )


def equities(game: LiveGame, p: int, opposing: Floats) -> Floats:
    """Equity ``[sequence, own hand]`` against each of the opponent's ranges ``[sequence, hand]``, cards only.

    One walk through a game in which nobody bets any more and each range enters by a root of its own.
    """
    n = len(opposing)
    rounds: list[Round] = []
    for r in game.rounds:
        leaves = [Showdown(1.0) if r.deal is None else Chance(i) for i in range(n)]
        rounds.append(replace(r, forest=Forest.build(leaves)))
    own, other = game.rounds[0].rows[p], game.rounds[0].rows[1 - p]
    silent = np.zeros((n, own.group.shape[1]))
    reach = (silent, opposing) if p == 0 else (opposing, silent)
    checked_down = replace(game, rounds=rounds, reach=reach, locks=())
    nothing: Strategies = checked_down.zeros()
    won = Walker(checked_down).evaluate(p, nothing)
    mass = np.array([compatible_reach(own, other, 0, row, game.n_ids) for row in opposing])
    return (ratio(won, mass, opposing.sum(axis=1, keepdims=True)) + 1.0) / 2.0


def ratio(total: Floats, mass: Floats, whole: Floats | float) -> Floats:
    """``total / mass``, NaN where there is hardly any mass: rounding of the ``whole`` range would show in it."""
    out = np.full(np.broadcast_shapes(total.shape, mass.shape), np.nan)
    np.divide(total, mass, out=out, where=mass > LEAST_MASS * whole)
    return out
