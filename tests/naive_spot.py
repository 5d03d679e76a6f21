"""An independent judge of spots: recursion over betting nodes and every dealt card, hands against hands as matrices.

No symmetry, no forests, no shared sums, double precision. Strategies come by line and board from the sums of an exact
engine.
"""

import numpy as np

from buckets.cards import Deck, hand_permutation, hands, strength
from spewy.chunks.locate import locate

HANDS = hands(Deck(), 2)


class NaiveSpot:
    """Values are those of ``self.hands``: all that either player may hold."""

    def __init__(self, job, engine):
        self.job, self.layout, self.sums = job, engine.layout, engine.solver.sums
        self.pot, self.deck = job.spot.pot, range(52)
        held = (job.ranges[0].weights > 0) | (job.ranges[1].weights > 0)
        self.held, self.hands = np.flatnonzero(held), HANDS[held]
        self.weights = [r.weights[held] for r in job.ranges]
        self.apart = (
            ~(self.hands[:, None, :, None] == self.hands[None, :, None, :]).any(axis=(2, 3))
        ).astype(float)
        self._known, self._numbers = {}, {}

    def strategy(self, node, board):
        """[action, hand] of the average strategy."""
        t, p = node.round - self.layout.problem.first_round, node.player
        bets = self.layout.betting[t]
        if self._known.get("at") != (t, board, p):
            b, perm = locate(self.layout, t, board)
            sums = np.zeros((bets.forest.n_slots[p], 1326))
            sums[:, self.layout.board(t, b).hands[p].numbers] = self.sums[t][p].read(b)
            turned = sums[:, hand_permutation(Deck(), 2, perm)[self.held]]
            self._known = {"at": (t, board, p), "sums": turned}
            self._numbers = {id(each): n for n, each in enumerate(bets.nodes)}
        first, size = bets.forest.arrays.slot[self._numbers[id(node)]], len(node.actions)
        own = self._known["sums"][first : first + size]
        total = own.sum(axis=0)
        return np.where(total > 0, own / np.where(total > 0, total, 1), 1 / size)

    def best_response(self, p):
        """Player p's best response in chips per deal, and with every strategy kept, p's value."""
        board = tuple(self.job.board)
        reach = self.weights[1 - p] * ~np.isin(self.hands, board).any(axis=1)
        own = self.weights[p] * ~np.isin(self.hands, board).any(axis=1)
        mass = own @ (self.apart @ reach)
        return [
            own @ self.values(self.job.betting_tree.root, board, p, reach, best) / mass
            for best in (True, False)
        ]

    def values(self, node, board, p, reach, best):
        """[hand] counterfactual values of p at a node."""
        if node.kind == "decision":
            sigma = self.strategy(node, board)
            if node.player != p:
                down = [reach * sigma[a] for a in range(len(node.actions))]
                return sum(
                    self.values(c, board, p, r, best) for c, r in zip(node.children, down, strict=True)
                )
            below = np.array([self.values(c, board, p, reach, best) for c in node.children])
            return below.max(axis=0) if best else (sigma * below).sum(axis=0)
        if node.kind == "chance":
            left = [card for card in self.deck if card not in board]
            total = np.zeros(len(self.hands))
            for card in left:
                free = ~(self.hands == card).any(axis=1)
                total += free * self.values(node.children[0], (*board, card), p, reach * free, best)
            return total / (len(left) - 4)
        if not reach.any():
            return np.zeros(len(self.hands))
        if node.kind == "fold":
            lost = self.pot / 2 + node.put_in[node.player]
            return (self.apart @ reach) * (lost if node.player != p else -lost)
        return self.signs(board) @ reach * (self.pot / 2 + min(node.put_in))

    def signs(self, board):
        """[hand, opposing hand]: 1 wins, -1 loses, 0 ties or shares a card."""
        if getattr(self, "_board", None) != board:
            power = strength(board, self.hands).astype(np.int64)
            live = power >= 0
            self._board = board
            self._signs = (
                np.sign(power[:, None] - power[None, :]) * self.apart * live[:, None] * live[None, :]
            )
        return self._signs
