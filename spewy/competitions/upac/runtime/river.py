"""Solve a river during play by CFR+, hand by hand with exact card removal.

The betting tree is that of a *rung*: the tree and the strategy that the bot's tables hold for one stack. Values are in
chips of this tree, whose stack may differ from the stack in play. They are sums over the opponent's hands that share
no card with the player's hand, weighted by the opponent's range.
"""

from __future__ import annotations

import time

import numpy as np

from buckets.cards.cards import NUM_CARDS
from buckets.types import Floats, Ints
from spewy.competitions.upac.runtime.cards import HANDS
from spewy.competitions.upac.runtime.tables import FOLD, PLAYER, SPENT_0, SPENT_1, TOTAL, Tree

ITERATIONS = 60
"""Largest number of iterations."""


class River:
    """A river to be solved: its betting tree and both ranges.

    Args:
        root: node at which the river begins.
        weights: both ranges, each ``[hand]``; hands are rows of `HANDS`.
        strengths: strength of each hand, ``[hand]``; values of hands that the board blocks do not matter.

    Attributes:
        held: for each player the hands with positive weight, as rows of `HANDS`.
        weights: for each player the weights of these hands, ``[hand]``.
        decisions: the nodes at which a player acts, parents first.
    """

    def __init__(self, tree: Tree, root: int, weights: tuple[Floats, Floats], strengths: Ints) -> None:
        self.tree, self.root = tree, root
        first, second = (np.flatnonzero(player_range) for player_range in weights)
        self.held = first, second
        self.weights = weights[0][first], weights[1][second]
        self._met = _Met(first, second, strengths), _Met(second, first, strengths)
        self.decisions: list[int] = []
        self._ends: list[tuple[int, int]] = []
        """Nodes at which the betting ends, each with the player who folded, or -1 before a showdown."""
        queue = [root]
        for node in queue:  # the loop appends to the queue
            self.decisions.append(node)
            for child in tree.children(node):
                if tree.nodes[child, PLAYER] >= 0:
                    queue.append(child)
                else:
                    folded = tree.nodes[child, TOTAL] == FOLD
                    self._ends.append((child, int(tree.nodes[node, PLAYER]) if folded else -1))

    def solve(self, seconds: float, iterations: int = ITERATIONS) -> dict[int, Floats]:
        """Solve the river by CFR+.

        Returns:
            The average strategy ``[action, hand]`` at each decision, by node; hands are the acting player's in
            ``held``.
        """
        until = time.monotonic() + seconds
        shapes = {
            node: (len(self.tree.children(node)), len(self.held[self._player(node)]))
            for node in self.decisions
        }
        regrets = {node: np.zeros(shape) for node, shape in shapes.items()}
        sums = {node: np.zeros(shape) for node, shape in shapes.items()}
        for number in range(1, iterations + 1):
            for p in (0, 1):
                play = {node: _shares(total) for node, total in regrets.items()}
                reach, own = self.reach(play, 1 - p), self.reach(play, p)
                for node, action_values, value in self._values(play, reach, p):
                    regrets[node] = np.maximum(regrets[node] + action_values - value, 0)
                    sums[node] += number * own[node] * play[node]
            if time.monotonic() >= until:
                break
        return {node: _shares(total) for node, total in sums.items()}

    def _player(self, node: int) -> int:
        return int(self.tree.nodes[node, PLAYER])

    def reach(self, play: dict[int, Floats], p: int) -> dict[int, Floats]:
        """Compute the reach ``[hand]`` with which a player comes to each node."""
        reach = {self.root: self.weights[p]}
        for node in self.decisions:
            for number, child in enumerate(self.tree.children(node)):
                reach[child] = reach[node] * play[node][number] if self._player(node) == p else reach[node]
        return reach

    def ends(self, reach: dict[int, Floats], p: int) -> dict[int, Floats]:
        """Compute a player's values ``[hand]`` at the nodes where the betting ends, summed over the opponent's range.

        Args:
            reach: the opponent's reach ``[hand]`` of each node.
        """
        out: dict[int, Floats] = {}
        for folds, sums_over in ((True, self._met[p].all), (False, self._met[p].beaten)):
            ends = [(node, folded) for node, folded in self._ends if (folded >= 0) == folds]
            if not ends:
                continue
            columns = sums_over(np.stack([reach[node] for node, _ in ends], axis=1))
            for (node, folded), sums in zip(ends, columns.T, strict=True):
                chips = int(self.tree.nodes[node, [SPENT_0, SPENT_1]].min())
                out[node] = sums * (-chips if folded == p else chips)
        return out

    def best(self, play: dict[int, Floats], p: int) -> Floats:
        """Return the value ``[hand]`` of a player's best response to the opponent's strategy."""
        values = self.ends(self.reach(play, 1 - p), p)
        for node in reversed(self.decisions):
            action_values = np.stack([values[child] for child in self.tree.children(node)])
            values[node] = action_values.max(axis=0) if self._player(node) == p else action_values.sum(axis=0)
        return values[self.root]

    def _values(
        self, play: dict[int, Floats], reach: dict[int, Floats], p: int
    ) -> list[tuple[int, Floats, Floats]]:
        """Compute a player's values at its decisions, the last first.

        Each decision has its node, the values of its actions ``[action, hand]``, and those of the strategy ``[hand]``.
        """
        values, out = self.ends(reach, p), []
        for node in reversed(self.decisions):
            action_values = np.stack([values[child] for child in self.tree.children(node)])
            if self._player(node) == p:
                values[node] = (play[node] * action_values).sum(axis=0)
                out.append((node, action_values, values[node]))
            else:
                values[node] = action_values.sum(axis=0)
        return out


class _Met:
    """Computes, for each hand of a player, sums over the opponent's hands that share no card with the hand.

    The hands are rows of `HANDS`; ``strengths`` are those of all hands, ``[hand]``.
    """

    def __init__(self, own_hands: Ints, other_hands: Ints, strengths: Ints) -> None:
        self._order = np.argsort(strengths[other_hands], kind="stable")
        ordered = other_hands[self._order]
        self._cards = HANDS[own_hands]
        self._with_card = np.full((NUM_CARDS, NUM_CARDS), len(other_hands))
        own, other = strengths[own_hands], strengths[ordered]
        self._low, self._high = np.searchsorted(other, own, "left"), np.searchsorted(other, own, "right")
        self._card_low, self._card_high = np.empty_like(self._cards), np.empty_like(self._cards)
        for card in range(NUM_CARDS):
            held = np.flatnonzero((HANDS[ordered] == card).any(axis=1))
            self._with_card[card, : len(held)] = held
            at = self._cards == card
            asked = own[at.any(axis=1)]
            self._card_low[at] = np.searchsorted(other[held], asked, "left")
            self._card_high[at] = np.searchsorted(other[held], asked, "right")
        place = np.full(len(HANDS), len(other_hands))
        place[ordered] = np.arange(len(other_hands))
        self._same = place[own_hands]
        """Position of each own hand in the list of the opponent's hands by strength; the list's length if absent."""

    def all(self, reach: Floats) -> Floats:
        """Sum ``reach``, ``[hand of the opponent, column]``; the sums are ``[own hand, column]``."""
        ordered = self._ordered(reach)
        by_card = ordered[self._with_card].sum(axis=1)
        first, second = self._cards.T
        out: Floats = reach.sum(axis=0) - by_card[first] - by_card[second] + ordered[self._same]
        return out

    def beaten(self, reach: Floats) -> Floats:
        """Sum ``reach`` as in `all`, over weaker hands, and subtract the sum over stronger hands."""
        ordered = self._ordered(reach)
        sums = _sums(ordered[:-1])
        out: Floats = sums[self._low] + sums[self._high] - sums[-1]
        by_card = _sums(ordered[self._with_card].swapaxes(0, 1))
        for cards, low, high in zip(self._cards.T, self._card_low.T, self._card_high.T, strict=True):
            out -= by_card[low, cards] + by_card[high, cards] - by_card[-1, cards]
        return out

    def _ordered(self, reach: Floats) -> Floats:
        """Sort the rows of ``reach`` by the hands' strength, the weakest first, and append a row of zeros."""
        return np.vstack([reach[self._order], np.zeros((1, reach.shape[1]))])


def _sums(rows: Floats) -> Floats:
    """Return the sums of the first 0, 1, 2, ... rows of an array."""
    out = np.zeros((len(rows) + 1, *rows.shape[1:]))
    np.cumsum(rows, axis=0, out=out[1:])
    return out


def _shares(positive: Floats) -> Floats:
    """Normalise each column of an array ``[action, hand]`` to sum 1; a column with sum 0 becomes uniform."""
    total = positive.sum(axis=0)
    return np.where(total > 0, positive / np.where(total > 0, total, 1), 1 / len(positive))
