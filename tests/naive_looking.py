"""The slow, obvious twin of looking: everything is laid out, and all that follows a board is walked through."""

from dataclasses import replace

import numpy as np

from buckets.cards import hand_name, permute_cards
from solvers.game import compatible_reach
from solvers.reference.kernels import match
from solvers.reference.walk import Walker
from solvers.tree import Chance, Forest, Showdown
from spewy.chunks.layout import Layout
from spewy.chunks.live_game import with_ranges
from spewy.chunks.locate import board_cards, locate
from spewy.learn.playdown import PlayDown
from spewy.look.chunk import NodeArrays, ratio
from spewy.records.chunks import Chunks


class BoardView:
    """All decisions on board (t, b) under the average strategies of a store."""

    def __init__(self, layout, store, t, b):
        self.layout = layout.below(t, b)
        self._ranges = PlayDown(layout, Chunks(layout, store).get).ranges(t, b)
        self._game = with_ranges(self.layout.live, self._ranges)
        self._sums = Chunks(self.layout, store).whole()
        walker = Walker(self._game)
        self._values = []
        self._reach = [np.empty(0), np.empty(0)]
        for p in (0, 1):

            def keep(values, reach, p=p):
                self._values.append(values)
                self._reach[1 - p] = reach

            walker.evaluate(p, self._sums, keep)
        self._equity = [equities(self._game, p, self._reach[1 - p]) for p in (0, 1)]

    def node(self, n):
        """The arrays of decision n of the round's forest."""
        bets = self.layout.betting[0]
        a, node = bets.forest.arrays, bets.nodes[n]
        p = int(a.player[n])
        q, rows = 1 - p, self._game.rounds[0].hands
        count = int(rows[p].n_hands[0])
        group = rows[p].row[0, :count]
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

    def waiting(self, n: int) -> NodeArrays:
        """The same of the player who does not act at decision n: over that player's rows, without actions."""
        bets = self.layout.betting[0]
        a, node = bets.forest.arrays, bets.nodes[n]
        q = int(a.player[n])
        p, rows = 1 - q, self._game.rounds[0].hands
        count = int(rows[p].n_hands[0])
        opponent = self._reach[q][a.sequence[q, n]]
        mass = compatible_reach(rows[p], rows[q], 0, opponent, self._game.n_ids)[:count]
        share = ratio(self._values[p][n, :count], mass, float(opponent.sum()))
        nothing = np.empty((0, count))
        return NodeArrays(
            reach=self._reach[p][a.sequence[p, n], :count],
            strategy=nothing,
            ev=share + self.layout.problem.pot / 2 + node.put_in[p],
            action_ev=nothing,
            equity=self._equity[p][a.sequence[q, n], :count],
        )


def equities(game, p, opposing):
    """Equity ``[sequence, own hand]`` against each of the opponent's ranges ``[sequence, hand]``, cards only.

    One walk through a game in which nobody bets any more and each range enters by a root of its own.
    """
    n = len(opposing)
    rounds = []
    for r in game.rounds:
        leaves = [Showdown(1.0) if r.deal is None else Chance(i) for i in range(n)]
        rounds.append(replace(r, forest=Forest.build(leaves)))
    own, other = game.rounds[0].hands[p], game.rounds[0].hands[1 - p]
    silent = np.zeros((n, own.row.shape[1]))
    reach = (silent, opposing) if p == 0 else (opposing, silent)
    checked_down = replace(game, rounds=rounds, reach=reach, locks=())
    nothing = checked_down.zeros()
    won = Walker(checked_down).evaluate(p, nothing)
    mass = np.array([compatible_reach(own, other, 0, row, game.n_ids) for row in opposing])
    return (ratio(won, mass, opposing.sum(axis=1, keepdims=True)) + 1.0) / 2.0


class NaiveLooks:
    """Decisions of a store, as `Solution.node` gives them but for their order."""

    def __init__(self, problem, store):
        self.layout, self.store, self._views = Layout.of(problem), store, {}

    def node(self, line, board):
        """By hand: reach on the scale of the solve, strategy, EV, EVs of the actions, equity."""
        layout = self.layout
        node = layout.problem.tree.find(line)
        t = node.round - layout.problem.first_round
        b, perm = locate(layout, t, board_cards(layout.problem, node.round, board))
        if (t, b) not in self._views:
            self._views[t, b] = BoardView(layout, self.store, t, b)
        a = self._views[t, b].node(layout.betting[t].nodes.index(node))
        hands = layout.problem.hands[layout.board(t, b).hands[node.player].numbers]
        names = [hand_name(permute_cards(hand, np.argsort(perm))) for hand in hands]
        figures = np.vstack([a.reach, a.strategy, a.ev, a.action_ev, a.equity])
        return dict(zip(names, figures.T, strict=True))
