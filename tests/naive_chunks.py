"""Slow, obvious twins of learning by chunks: recursion over betting nodes and dealt cards, hands against hands.

Layouts are without suit symmetry. Vectors are over all hands of the deck; what players hold is known by the ranges.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import combinations
from math import comb

import numpy as np

from buckets.cards import strengths
from spewy.chunks.layout import Layout
from spewy.job.job import Job

GAME = """GAMEDEF
limit
numPlayers = 2
numRounds = 3
blind = 1 1
raiseSize = 2 4 4
firstPlayer = 1 1 1
maxRaises = 1 1 1
numSuits = 2
numRanks = {ranks}
numHoleCards = {hole}
numBoardCards = 0 {flop} 1
END GAMEDEF
"""


def three_rounds(hole, leaves="stored", held=(7, 5), rows=True, seed=1, **solve):
    """A job of three rounds, and its problem with ranges that hold so many hands each, most of odd weights.

    A buckets' job has a row per hand before the flop, then up to 3 rows, then up to 2.
    """
    game = {"text": GAME.format(hole=hole, flop=hole, ranks=4)}
    few = {"flop": 3, "turn": 2, "clustering": "equity-quantiles", "weights": "ranges"} if rows else {}
    options = {"symmetry": False, "leaves": leaves, "target": "0 chips"} | solve
    job = Job.of({"name": "three", "game": game, "rows": few, "solve": options})
    problem, rng = job.problem, np.random.default_rng(seed)
    ranges = []
    for n in held:
        weights = np.zeros(len(problem.hands))
        some = rng.choice(len(weights), n, replace=False)
        weights[some] = np.where(rng.random(n) < 0.3, 1.0, rng.random(n)) if rows else 1.0
        ranges.append(weights)
    return job, replace(problem, ranges=tuple(ranges))


def apart(hands):
    """``[i, j]``: whether two hands share no card."""
    return np.array([[not set(i) & set(j) for j in hands.tolist()] for i in hands.tolist()], dtype=float)


class NaiveChunks:
    """Regrets and sums by chunk (t, b, r), per player ``[slot, row]``, and plain CFR on them.

    Where payoffs ``[view, row, row]`` of the chunks ``below`` are given, by (t, b, r), those are not entered.
    """

    def __init__(self, layout: Layout, regrets, sums, below=None) -> None:
        self.layout, self.regrets, self.sums, self.below = layout, regrets, sums, below
        self.game, self.hands = layout.problem.game, layout.problem.hands
        self.apart = apart(self.hands)
        self.at = {
            id(node): (t, r, n)
            for t, bets in enumerate(layout.betting)
            for r, chunk in enumerate(bets.chunks)
            for n, node in enumerate(chunk.nodes)
        }

    def spread(self, t, b, p, array):
        """``[..., hand of the deck]`` from ``[..., row]``; 0 where the hand is not held."""
        rows = self.layout.board(t, b).hands[p]
        out = np.zeros((*array.shape[:-1], len(self.hands)))
        out[..., rows.numbers] = array[..., rows.row]
        return out

    def slots(self, node):
        t, r, n = self.at[id(node)]
        a = self.layout.tree(t, r).forest.arrays
        return slice(int(a.slot[n]), int(a.slot[n] + a.n_actions[n]))

    def strategy(self, node, b):
        """``[action, hand]``, from regrets."""
        t, r, _ = self.at[id(node)]
        mine = np.maximum(self.regrets[t, b, r][node.player][self.slots(node)], 0)
        out = np.empty_like(mine)
        for row in range(mine.shape[1]):
            total = mine[:, row].sum()
            out[:, row] = mine[:, row] / total if total > 0 else 1 / len(mine)
        return self.spread(t, b, node.player, out)

    @cache  # noqa: B019 - as long as the test
    def free(self, cards):
        """``[hand]``: 1 where none of the cards is in it."""
        return np.array([not set(cards) & set(hand) for hand in self.hands.tolist()], dtype=float)

    @cache  # noqa: B019
    def signs(self, board):
        """``[own hand, opposing hand]``: 1 where the own one wins on the board, 0 too where one is not possible."""
        strength, free = strengths(np.array([board]), self.hands)[0], self.free(board)
        return self.apart * np.outer(free, free) * np.sign(strength[:, None] - strength[None, :])

    def values(self, node, b, p, reach, seen=None):
        """Player p's counterfactual values ``[hand]``; ``seen`` collects each decision's action values and reach."""
        problem = self.layout.problem
        if node.kind == "fold":
            chips = problem.pot / 2 + node.put_in[node.player]
            return (self.apart @ reach) * (chips if node.player != p else -chips)
        t = node.round - problem.first_round
        board = [c for group in self.layout.board(t, b).history for c in group]
        if node.kind == "showdown":
            return (problem.pot / 2 + min(node.put_in)) * (self.signs(tuple(board)) @ reach)
        if node.kind == "chance":
            dealt = self.game.num_board_cards[node.round + 1]
            left = [card for card in sorted({*self.hands.ravel().tolist()}) if card not in board]
            total = np.zeros(len(self.hands))
            for cards in combinations(left, dealt):
                history = (*self.layout.board(t, b).history, cards)
                stays = self.free(cards)
                below = self.layout.boards[t + 1].numbers[history]
                if self.below is None:
                    found = self.values(node.children[0], below, p, reach * stays, seen)
                else:
                    found = self.by_hand(node.children[0], below, p) @ (reach * stays)
                total += stays * found
            return total / comb(len(left) - 2 * self.game.num_hole_cards, dealt)
        sigma = self.strategy(node, b)
        own = node.player == p
        below = np.array(
            [
                self.values(child, b, p, reach if own else reach * sigma[a], seen)
                for a, child in enumerate(node.children)
            ]
        )
        if seen is not None:
            seen.append((node, b, below - (sigma * below).sum(axis=0) if own else reach * sigma))
        return (sigma * below).sum(axis=0) if own else below.sum(axis=0)

    def by_hand(self, root, b, p):
        """Player p's payoffs ``[own hand, opposing hand]`` in the view of p, as the matrix below says."""
        t, r, _ = self.at[id(root)]
        views, rows = self.below[t, b, r], self.layout.board(t, b).hands
        out = np.zeros_like(self.apart)
        out[np.ix_(rows[0].numbers, rows[1].numbers)] = views[min(p, len(views) - 1)][
            np.ix_(rows[0].row, rows[1].row)
        ]
        out *= self.apart
        return out if p == 0 else -out.T

    def visit(self, t, b, r, ranges, factors):
        """One iteration on the chunk and all that follows it; ranges ``[hand]``."""
        root = self.layout.tree(t, r).nodes[0]
        for p in (0, 1):
            seen = []
            self.values(root, b, p, ranges[1 - p], seen)
            for node, board, found in seen:
                i, line, _ = self.at[id(node)]
                rows, mine = self.layout.board(i, board).hands[node.player], self.slots(node)
                weigh = rows.weight if self.layout.problem.rows[node.round] is not None else rows.weight**0
                total = np.zeros((len(found), rows.n_rows))
                for h, group, weight in zip(rows.numbers, rows.row, weigh, strict=True):
                    total[:, group] += found[:, h] * (weight if node.player == p else 1)
                if node.player == p:
                    old = self.regrets[i, board, line][p][mine]
                    negative = 0.0 if factors.clip else factors.negative
                    new = np.where(old > 0, old * factors.positive, old * negative) + total
                    self.regrets[i, board, line][p][mine] = np.maximum(new, 0) if factors.clip else new
                else:
                    sums = self.sums[i, board, line][node.player]
                    sums[mine] = sums[mine] * factors.decay + total

    def payoffs(self, t, b, r, ranges):
        """``U[view, row, row]`` at a chunk's root, pair by pair of hands."""
        root, rows = self.layout.tree(t, r).nodes[0], self.layout.board(t, b).hands
        alone = np.eye(len(self.hands))
        theirs, mine = (held.numbers for held in reversed(rows))
        first, second = np.zeros((2, *self.apart.shape))
        first[:, theirs] = np.array([self.values(root, b, 0, hand) for hand in alone[theirs]]).T
        second[mine] = -np.array([self.values(root, b, 1, hand) for hand in alone[mine]])
        return averaged(rows, self.hands, ranges, (first, second))

    def range(self, t, b, r, p):
        """Player p's range ``[hand]`` at a chunk's root: initial weight and own actions on the way."""
        problem, history = self.layout.problem, self.layout.board(t, b).history
        node, target = problem.tree.root, self.layout.tree(t, r).nodes[0]
        cards = [c for group in history for c in group]
        out = problem.ranges[p] * self.free(tuple(cards))
        while node is not target:
            a = next(a for a, child in enumerate(node.children) if target in _following(child))
            if node.kind == "decision" and node.player == p:
                i = node.round - problem.first_round
                known = history[: len(history) - (t - i)]
                out = out * self.strategy(node, self.layout.boards[i].numbers[known])[a]
            node = node.children[a]
        return out


def _following(node):
    return [node, *(below for child in node.children for below in _following(child))]


def averaged(rows, hands, ranges, pair):
    """Averages ``[view, row, row]`` of payoffs ``pair[view][hand, hand]``: own weights initial, the others by reach."""
    out = np.zeros((2, rows[0].n_rows, rows[1].n_rows))
    weights = [revived(rows[p], ranges[p]) for p in (0, 1)]
    for view in (0, 1):
        joint = np.zeros(out.shape[1:])
        for i, x, w0 in zip(rows[0].numbers, rows[0].row, rows[0].weight, strict=True):
            for j, y, w1 in zip(rows[1].numbers, rows[1].row, rows[1].weight, strict=True):
                if not set(hands[i].tolist()) & set(hands[j].tolist()):
                    weight = w0 * weights[1][j] if view == 0 else weights[0][i] * w1
                    out[view, x, y] += weight * pair[view][i, j]
                    joint[x, y] += weight
        out[view] = np.where(joint > 0, out[view] / np.where(joint > 0, joint, 1), 0)
    return out


def revived(rows, reach):
    """``[hand]``: a row that nobody brings here weighs as in the initial range."""
    out = np.zeros(len(reach))
    for group in range(rows.n_rows):
        mine = rows.numbers[rows.row == group]
        out[mine] = reach[mine] if reach[mine].sum() > 0 else rows.weight[rows.row == group]
    return out
