"""The bot's strategy: push or fold with short stacks, a stored strategy with deeper stacks, else pot odds.

The bot has solved strategies for several stacks. A *rung* is a betting tree with its strategy for one stack; the
*ladder* is all rungs.

- With a stack between two rungs, the bot plays the rung with the nearest stack by ratio. Bets keep their shares of the
  pot, and all-in stays all-in.
- A bet that the tree lacks is translated to a neighbouring bet by the pseudo-harmonic mapping (S. Ganzfried and
  T. Sandholm, "Action Translation in Extensive-Form Games with Large Action Spaces", IJCAI 2013).
- Rivers are solved during play in the rung's betting tree, with a row for each hand. Their ranges follow from the
  stored strategies of the earlier rounds.
"""

from __future__ import annotations

import math
from random import Random

import numpy as np

from buckets.types import Floats
from spewy.competitions.upac.runtime.cards import HANDS, equity, hand_number, start_class, strengths
from spewy.competitions.upac.runtime.protocol import Spot
from spewy.competitions.upac.runtime.river import River
from spewy.competitions.upac.runtime.tables import (
    CALL,
    FOLD,
    PLAYER,
    ROUND,
    SPENT_0,
    SPENT_1,
    TOTAL,
    Tables,
    Tree,
)

PUSH_OR_FOLD = 10
"""Largest effective stack in chips (five big blinds) at which the bot pushes or folds before the flop."""
MARGIN = 0.04
"""Equity beyond the pot odds that a call by equity needs, because players bet with better hands."""
AHEAD, FAR_AHEAD = 0.62, 0.85
"""Smallest equities at which the bot bets half the pot, and goes all in, if no stored strategy covers the state."""
RIVER_ROUND = 3
BOARD_CARDS = (0, 3, 4, 5)
"""Number of board cards by round."""
SECONDS = 0.35
"""Time limit in seconds for solving a river; a hand in which a slow machine reaches the limit is not reproducible."""
LEAST = 0.01
"""Smallest frequency of an observed action when ranges are updated, because opponents play other strategies."""
RARE = 1e-4
"""Share of a range's largest weight below which a hand is dropped."""

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
        """Solve the river that a hand has reached, for the bot's own hand.

        After few iterations on a slow machine, the solved strategy can be worse than the stored strategy. So the bot
        computes the best response to each, and plays the strategy that loses less.

        Returns:
            Frequencies ``[action]`` of the bot's own hand at each of its decisions on the river, by node of the tree.
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
        """Follow the betting through a tree, with bets that the tree lacks translated, to a path and its last node.

        Returns None if the tree does not cover the betting.
        """
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
        """Return the place of the tree's action for an action at the table; None if the node lacks raises."""
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
    """Return a raise as a share of the pot after a call."""
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
