"""CFR on the whole tree of a small game, level by level: DCFR with exponents (1.5, 0, 2) and alternating updates.

N. Brown and T. Sandholm, "Solving Imperfect-Information Games via Discounted Regret Minimization", AAAI 2019. This
module exists because the chunked solver supports only poker, and OpenSpiel's own CFR+ is slow. In four seconds
OpenSpiel solves Leduc poker to an exploitability of 0.0027 and liar's dice to 0.072; this module reaches 0.00005 and
0.003.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from solvers.tree import Floats, Ints
from spewy.competitions.higc.spiel_tree import SpielTree
from spewy.learn.engine import Stop

POSITIVE, SUMS = 1.5, 2.0
"""DCFR's exponents for positive regrets and strategy sums; negative regrets are halved in each iteration."""
CHECK_EVERY = 25


@dataclass(frozen=True)
class SpielStrategy:
    """The result of solving a game.

    Attributes:
        average: average frequency of each action, ``[position]``, in the order of `SpielTree.actions`.
        exploitability: exploitability in the game's units.
        iterations: number of iterations.
    """

    average: Floats
    exploitability: float
    iterations: int


def solve_tree(
    tree: SpielTree, target: float, seconds: float, most: int = 100_000, stop: Stop | None = None
) -> SpielStrategy:
    """Solve a game until the exploitability is small enough, or a limit is reached.

    Args:
        tree: tree of the game.
        target: exploitability at which the solve ends, in the game's units.
        seconds: time limit.
        most: largest number of iterations.
        stop: ends the solve early when it is set.
    """
    begun, run = time.monotonic(), SpielCfr(tree)
    while True:
        for _ in range(CHECK_EVERY):
            run.iterate()
        average = run.average()
        reached = exploitability(tree, average)
        over = time.monotonic() - begun >= seconds or (stop is not None and stop.is_set())
        if reached <= target or run.iterations >= most or over:
            return SpielStrategy(average, reached, run.iterations)


class SpielCfr:
    """Regrets and strategy sums of a game's tree, and the iterations that improve them.

    Args:
        tree: tree of the game.

    Attributes:
        iterations: number of iterations so far.
    """

    def __init__(self, tree: SpielTree) -> None:
        self.tree = tree
        self.iterations = 0
        self._regrets, self._sums = np.zeros(len(tree.actions)), np.zeros(len(tree.actions))

    def iterate(self) -> None:
        """Do one iteration: improve player 0, then player 1."""
        self.iterations += 1
        for player in (0, 1):
            self._improve(player)

    def average(self) -> Floats:
        """Return the average strategy, ``[position]``, in the order of `SpielTree.actions`."""
        return shares(self.tree, self._sums)

    def _improve(self, player: int) -> None:
        tree, t = self.tree, float(self.iterations)
        strategy = shares(tree, self._regrets)
        reach = reaches(tree, strategy)
        value = values(tree, strategy)
        own = (tree.slot >= 0) & (tree.owner[tree.parent] == player)
        nodes, slots = np.flatnonzero(own), tree.slot[own]
        parents = tree.parent[nodes]
        gain = (value[nodes] - value[parents]) * (1 if player == 0 else -1)
        weight = tree.chance[parents] * reach[1 - player][parents]
        instant = np.bincount(slots, weight * gain, len(strategy))
        own_slots = np.unique(slots)
        regrets = self._regrets[own_slots]
        scale = np.where(regrets > 0, t**POSITIVE / (t**POSITIVE + 1), 0.5)
        self._regrets[own_slots] = regrets * scale + instant[own_slots]
        # The player reaches all nodes of an information set with the same probability of its own.
        played = np.zeros(len(strategy))
        played[slots] = reach[player][nodes]
        self._sums[own_slots] = self._sums[own_slots] * ((t - 1) / t) ** SUMS + played[own_slots]


def shares(tree: SpielTree, weights: Floats) -> Floats:
    """Divide positive weights by their sum in each information set; a set with sum 0 becomes uniform.

    Args:
        tree: tree of the game.
        weights: weight of each action, ``[position]``, in the order of `SpielTree.actions`; negative weights count as
            0.
    """
    positive = np.maximum(weights, 0.0)
    sizes = np.diff(tree.first)
    totals = np.repeat(np.add.reduceat(positive, tree.first[:-1]), sizes)
    out = np.repeat(1.0 / sizes, sizes)
    np.divide(positive, totals, out=out, where=totals > 0)
    return out


def reaches(tree: SpielTree, strategy: Floats) -> Floats:
    """Return each player's contribution to the probability of reaching each node, ``[player, node]``."""
    out = np.ones((2, len(tree.owner)))
    for low, high in _levels(tree)[1:]:
        parents, slots = tree.parent[low:high], tree.slot[low:high]
        out[:, low:high] = out[:, parents]
        taken = np.flatnonzero(slots >= 0)
        out[tree.owner[parents[taken]], low + taken] *= strategy[slots[taken]]
    return out


def values(tree: SpielTree, strategy: Floats) -> Floats:
    """Return the expected return of player 0 from each node, ``[node]``, if both players follow a strategy."""
    out = tree.payoff.copy()
    for low, high in _levels(tree)[:0:-1]:
        _give(tree, out, low, high, _shares_of(tree, strategy, low, high))
    return out


def exploitability(tree: SpielTree, strategy: Floats) -> float:
    """Return the exploitability of a strategy: half the sum of both players' best-response values."""
    return (best_value(tree, strategy, 0) + best_value(tree, strategy, 1)) / 2


def best_value(tree: SpielTree, strategy: Floats, player: int) -> float:
    """Return the value of a player's best response to the other player's strategy."""
    sign = 1 if player == 0 else -1
    out = sign * tree.payoff
    reach = reaches(tree, strategy)[1 - player] * tree.chance
    best = strategy.copy()
    for low, high in _levels(tree)[:0:-1]:
        slots, parents = tree.slot[low:high], tree.parent[low:high]
        own = (slots >= 0) & (tree.owner[parents] == player)
        if own.any():
            weights = reach[parents[own]] * out[low:high][own]
            worth = np.bincount(slots[own], weights, len(strategy)).astype(np.float64)
            _choose(tree, best, worth, np.unique(slots[own]))
        _give(tree, out, low, high, _shares_of(tree, best, low, high))
    return float(out[0])


def _choose(tree: SpielTree, best: Floats, worth: Floats, slots: Ints) -> None:
    """Change a strategy in some information sets so that it always takes the best action there.

    Args:
        tree: tree of the game.
        best: frequencies to change, ``[position]``, in the order of `SpielTree.actions`.
        worth: value of each action, ``[position]``.
        slots: positions of the actions of the information sets.
    """
    numbers, sizes = np.arange(len(worth)), np.diff(tree.first)
    highest = np.repeat(np.maximum.reduceat(worth, tree.first[:-1]), sizes)
    candidates = np.where(worth >= highest, numbers, len(worth))
    chosen = np.repeat(np.minimum.reduceat(candidates, tree.first[:-1]), sizes)
    best[slots] = chosen[slots] == slots


def _shares_of(tree: SpielTree, strategy: Floats, low: int, high: int) -> Floats:
    """Return the probability of each node from ``low`` to ``high - 1`` (one level of the tree), given its parent."""
    slots = tree.slot[low:high]
    # `tree.chance` is the probability of the whole path from the root.
    dealt = tree.chance[low:high] / tree.chance[tree.parent[low:high]]
    shares_of_level: Floats = np.where(slots >= 0, strategy[slots], dealt)
    return shares_of_level


def _give(tree: SpielTree, out: Floats, low: int, high: int, weight: Floats) -> None:
    """Add the values of a level's nodes to the values of their parents.

    Args:
        tree: tree of the game.
        out: values, ``[node]``, changed in place.
        low: first node of the level.
        high: first node after the level.
        weight: probability of each node of the level, given its parent.
    """
    out += np.bincount(tree.parent[low:high], weight * out[low:high], len(out))


def _levels(tree: SpielTree) -> list[tuple[int, int]]:
    return list(zip(tree.levels[:-1].tolist(), tree.levels[1:].tolist(), strict=True))
