"""The bot's strategy: push or fold with short stacks, a stored strategy with deeper stacks, else pot odds.

The bot has solved strategies for several stacks. A *rung* is a betting tree with its strategy for one stack; the
*ladder* is all rungs.

- With a stack between two rungs, the bot plays the rung with the nearest stack by ratio. Bets keep their shares of the
  pot, and all-in stays all-in.
- A bet that the tree lacks is translated to a neighbouring bet by the pseudo-harmonic mapping (S. Ganzfried and
  T. Sandholm, "Action Translation in Extensive-Form Games with Large Action Spaces", IJCAI 2013).
- Rivers are solved during play by CFR+ in the rung's betting tree, hand by hand with exact card removal. Their ranges
  follow from the stored strategies of the earlier rounds. Values are in chips of the rung, whose stack may differ from
  the stack in play. Each value is a sum over the opponent's hands that share no card with the player's hand, weighted
  by the opponent's range.
"""

from __future__ import annotations

import math
import time
from random import Random

import numpy as np

from buckets.cards.cards import NUM_CARDS
from buckets.types import Floats, Ints
from spewy.competitions.upac.runtime.protocol import Spot
from spewy.competitions.upac.runtime.tables import (
    CALL,
    FOLD,
    HANDS,
    PLAYER,
    ROUND,
    SPENT_0,
    SPENT_1,
    TOTAL,
    Tables,
    Tree,
    equity,
    hand_number,
    start_class,
    strengths,
)

PUSH_OR_FOLD = 10
"""Largest effective stack in chips (five big blinds) at which the bot pushes or folds before the flop."""
MARGIN = 0.04
"""Equity beyond the pot odds that a call needs, because hands that bet are strong."""
AHEAD, FAR_AHEAD = 0.62, 0.85
"""Smallest equities at which the bot bets half the pot, and goes all in, if no stored strategy covers the state."""
RIVER_ROUND = 3
BOARD_CARDS = (0, 3, 4, 5)
"""Number of board cards by round."""
SECONDS = 0.35
"""Time limit in seconds for solving a river; a hand in which a slow machine reaches the limit is not reproducible."""
LEAST = 0.01
"""Smallest frequency of an observed action in updates of ranges, because opponents do not play the stored strategy."""
RARE = 1e-4
"""Share of a range's largest weight below which a hand is dropped."""
ITERATIONS = 60
"""Largest number of iterations of a river's solve."""

Came = list[tuple[int, int]]
"""Path in a tree: its decisions, each with the index of the chosen action."""


class Player:
    """Chooses the bot's action whenever the competition's engine asks for one.

    Args:
        seconds: time limit for solving a river; 0: play the stored strategies on rivers.
    """

    def __init__(self, tables: Tables, seed: int = 0, seconds: float = SECONDS) -> None:
        self._tables = tables
        self._seed = seed
        self._seconds = seconds
        self._hand = 0
        self._rng = Random(seed)
        self._taken: dict[int, int] = {}
        """Index of the tree's action for each action of this hand, by the number of actions before it."""
        self._river: dict[int, Floats] = {}
        """Strategy ``[action]`` of the bot's cards at each decision on this hand's river; empty before the solve."""

    def answer(self, spot: Spot) -> str:
        """Choose an action: ``F`` (fold), ``C`` (check or call), or ``R`` and the number of chips to raise by."""
        if spot.number != self._hand:
            self._hand = spot.number
            self._rng = Random(f"{self._seed} {spot.number}")
            self._taken, self._river = {}, {}
        if spot.is_settled:
            return "C"
        if spot.effective <= PUSH_OR_FOLD and not spot.board:
            return self._push_or_fold(spot)
        return self._by_table(spot) or self._by_odds(spot)

    def _push_or_fold(self, spot: Spot) -> str:
        own, other = spot.pushed
        class_, effective = start_class(spot.hole), spot.effective
        if other >= effective or (spot.button and own == 1):
            often = (self._tables.push if spot.button else self._tables.call)[effective, class_]
            return _all_in(spot) if self._rng.random() < often else "F"
        return self._by_odds(spot)

    def _by_table(self, spot: Spot) -> str:
        """Choose an action by the nearest stack's strategy; empty if its tree does not cover the betting."""
        if spot.rounds is None or not self._tables.stacks:
            return ""
        rung = nearest(self._tables.stacks, spot.effective)
        tree = self._tables.tree(rung)
        came = self._came(tree, spot)
        if came is None:
            return ""
        path, node = came
        if self._seconds and tree.nodes[node, ROUND] == RIVER_ROUND:
            if node not in self._river:
                self._river = self._solved(rung, [*path, (node, 0)], spot)
            frequencies = self._river[node]
        else:
            frequencies = self._tables.frequencies(rung, node, spot.hole, spot.board)
        place = _drawn(frequencies, self._rng.random())
        self._taken[sum(map(len, spot.rounds))] = place
        return _at_table(tree, tree.children(node)[place], node, spot)

    def _solved(self, rung: int, path: Came, spot: Spot) -> dict[int, Floats]:
        """Solve the river for the bot's own hand: frequencies ``[action]`` at its decisions, by node of the tree.

        After few iterations the result can be worse than the stored strategy; the strategy that loses less is returned.
        """
        tree = self._tables.tree(rung)
        first = next(i for i, (node, _) in enumerate(path) if tree.nodes[node, ROUND] == RIVER_ROUND)
        weights = ranges(self._tables, rung, path[:first], spot.board)
        me, own = int(spot.button), hand_number(spot.hole)
        weights[me][own] = max(weights[me][own], RARE * weights[me].max())
        river = River(tree, path[first][0], weights, strengths(spot.board))
        own_nodes = [node for node in river.decisions if tree.nodes[node, PLAYER] == me]
        by_table = {
            node: self._tables.all_frequencies(rung, node, spot.board)[:, river.held[me]]
            for node in own_nodes
        }
        play = min(
            (river.solve(self._seconds), by_table),
            key=lambda play: float(river.weights[1 - me] @ river.best(play, 1 - me)),
        )
        at = int(np.searchsorted(river.held[me], own))
        return {node: play[node][:, at] for node in own_nodes}

    def _came(self, tree: Tree, spot: Spot) -> tuple[Came, int] | None:
        """Translate the betting to a path through a tree; return the path and its last node, None if there is none."""
        assert spot.rounds is not None
        node, done = 0, 0
        path: Came = []
        highest = min(2, spot.effective)
        for actions in spot.rounds:
            for action in actions:
                if tree.nodes[node, PLAYER] < 0:
                    return None
                if done not in self._taken:
                    place = self._taken_for(tree, node, action, highest, spot.effective)
                    if place is None:
                        return None
                    self._taken[done] = place
                if action[0] == "r":
                    highest = int(action[1:])
                path.append((node, self._taken[done]))
                node = tree.children(node)[self._taken[done]]
                done += 1
        is_own = int(tree.nodes[node, PLAYER]) == int(spot.button)
        same_round = int(tree.nodes[node, ROUND]) == len(spot.rounds) - 1
        return (path, node) if is_own and same_round else None

    def _taken_for(self, tree: Tree, node: int, action: str, highest: int, effective: int) -> int | None:
        """Return the index of the tree's action that stands for an action at the table; None: the tree lacks raises."""
        totals = [int(tree.nodes[child, TOTAL]) for child in tree.children(node)]
        if action == "c":
            return totals.index(CALL)
        raises = [(total, place) for place, total in enumerate(totals) if total > CALL]
        if not raises:
            return None
        total = int(action[1:])
        if total >= effective:
            return raises[-1][1]
        before = spent(tree, node)
        sizes = [share(size, before) for size, _ in raises]
        return raises[taken_for(share(total, highest), sizes, self._rng.random())][1]

    def _by_odds(self, spot: Spot) -> str:
        """Choose an action by the equity against all hands, if no stored strategy covers the state."""
        wins = self._equity(spot)
        pot = sum(min(pushed, spot.effective) for pushed in spot.pushed)
        if wins >= FAR_AHEAD or (not spot.board and spot.effective <= PUSH_OR_FOLD and wins >= 0.5):
            return _all_in(spot)
        if spot.to_call:
            return "C" if wins >= spot.to_call / (pot + spot.to_call) + MARGIN else "F"
        return f"R{max(pot // 2, 1)}" if wins >= AHEAD else "C"

    def _equity(self, spot: Spot) -> float:
        if not spot.board:
            return float(self._tables.equity[start_class(spot.hole)])
        return equity(spot.hole, spot.board)


def ranges(tables: Tables, rung: int, path: Came, board: tuple[int, ...]) -> tuple[Floats, Floats]:
    """Compute both ranges after a path through the betting tree for one stack.

    Returns:
        The ranges of player 0 and player 1, each ``[hand]``; weights are at most 1. Hands with less than `RARE`
        of their range's largest weight get weight 0.
    """
    tree = tables.tree(rung)
    there: Floats = np.where(np.isin(HANDS, board).any(axis=1), 0.0, 1.0)
    weights = there, there.copy()
    for node, place in path:
        often = tables.all_frequencies(rung, node, board[: BOARD_CARDS[tree.nodes[node, ROUND]]])[place]
        weights[tree.nodes[node, PLAYER]][:] *= np.maximum(often, LEAST)
    for range_weights in weights:
        range_weights[range_weights < RARE * range_weights.max()] = 0.0
    return weights


def nearest(stacks: tuple[int, ...], stack: int) -> int:
    """Return the index of the stack that is nearest to a given stack by ratio; of two equally near, the smaller.

    >>> nearest((12, 20, 40), 15), nearest((12, 20, 40), 16), nearest((12, 20, 40), 500)
    (0, 1, 2)
    """
    away = [abs(math.log(each / stack)) for each in stacks]
    return away.index(min(away))


def taken_for(size: float, sizes: list[float], draw: float) -> int:
    """Translate a bet to one of a tree's sizes: at random by the pseudo-harmonic mapping between two sizes.

    All sizes are shares of the pot, and those of the tree ascend. A bet below the smallest size, or above the largest
    size, is translated to that size.

    Returns:
        Index of the chosen size.

    >>> taken_for(0.75, [0.5, 1.0], 0.42), taken_for(0.75, [0.5, 1.0], 0.43), taken_for(9.0, [0.5, 1.0], 0.0)
    (0, 1, 1)
    """
    above = sum(each < size for each in sizes)
    if above in (0, len(sizes)):
        return min(above, len(sizes) - 1)
    low, high = sizes[above - 1], sizes[above]
    smaller = (high - size) * (1 + low) / ((high - low) * (1 + size))
    return above - 1 if draw < smaller else above


def spent(tree: Tree, node: int) -> int:
    return max(int(tree.nodes[node, SPENT_0]), int(tree.nodes[node, SPENT_1]))


def share(total: int, highest: int) -> float:
    """Return a raise from ``highest`` to ``total`` chips put in, as a share of the pot after a call."""
    return (total - highest) / (2 * highest)


def _drawn(frequencies: Floats, draw: float) -> int:
    total = 0.0
    for place, often in enumerate(frequencies.tolist()):
        total += often
        if draw < total:
            return place
    return int(frequencies.argmax())


def _at_table(tree: Tree, child: int, node: int, spot: Spot) -> str:
    """Convert an action of a betting tree to an answer to the engine; a raise keeps its share of the pot."""
    total = int(tree.nodes[child, TOTAL])
    if total == FOLD:
        return "F" if spot.to_call else "C"
    if total == CALL:
        return "C"
    if total >= tree.stack:
        return _all_in(spot)
    highest = min(max(spot.pushed), spot.effective)
    before = spent(tree, node)
    return f"R{max(round(share(total, before) * 2 * highest), 1)}"


def _all_in(spot: Spot) -> str:
    more = spot.effective - min(spot.pushed[1], spot.effective)
    return f"R{more}" if more else "C"


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

        Each item has a decision's node, the values ``[action, hand]`` of its actions, and the strategy's ``[hand]``.
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

    The hands are rows of `HANDS`, and ``strengths[hand]`` has the strength of every row of `HANDS`.
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
        """Sum ``reach[opposing hand, column]`` over hands without a common card: ``[own hand, column]``."""
        ordered = self._ordered(reach)
        by_card = ordered[self._with_card].sum(axis=1)
        first, second = self._cards.T
        out: Floats = reach.sum(axis=0) - by_card[first] - by_card[second] + ordered[self._same]
        return out

    def beaten(self, reach: Floats) -> Floats:
        """Sum ``reach`` over weaker opposing hands without a common card, less the sum over stronger ones."""
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
