"""What average strategies do in one chunk on one board: reach, EVs and equities of every hand at every decision.

EV is the expected share of the pot from the node on: what the player collects minus what the player still puts in.
At the root of a spot both EVs sum to the pot, less the rake; folding is worth 0. The EV of an action is that of taking
it now and of following the average strategy afterwards, ``ev[h] = Σ_a strategy[a, h] · action_ev[a, h]``. Equity is
the chance to win if all betting stopped (ties half), against the opponent's range at the node. All are exact in card
removal and NaN where the opponent cannot be there with a hand that goes with this one.

Ranges come in at the root, values of what follows at the chance leaves; ends of the hand are paid here. Values inside
are counterfactual: with r the opponent's reach at an end, a fold is worth ``gain · (C r)`` to a player, and a showdown
for a stake ``stake · (L r)``, where C and L are the matrices of `spewy.look.pairs`; the rake comes off what is won.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from solvers.tree import Floats
from spewy.game.amounts import Unit
from spewy.game.nodes import Node
from spewy.game.tree import terminal_rake, terminal_stakes
from spewy.game.treeconfig import TreeConfig
from spewy.look.pairs import Pairs
from spewy.records.leaves import Pair
from spewy.records.policy import ChunkPlay

LEAST_MASS = 1e-9
"""The least share of the opponent's range that a hand's EV is told against: sums of the range are good to 1e-15."""

NOTHING = 1e-13
"""What rounding leaves of a range, as a share of it, counts as none."""


@dataclass(frozen=True)
class NodeArrays:
    """One decision on one board: arrays over the hands of the player to act, ascending by number."""

    reach: Floats  # [hand]
    strategy: Floats  # [action, hand]
    ev: Floats  # [hand]
    action_ev: Floats  # [action, hand]
    equity: Floats  # [hand]


@dataclass(frozen=True)
class NodeTotals:
    """One node on one board, both ranges together.

    With the reaches ``r0, r1`` at the node and ``W = Σ_{i, j} r0[i] r1[j] compat(i, j)``, ``weight`` is W and
    ``frequencies[action]`` how often the acting range takes each action. ``ev`` and ``equity`` are each player's
    expected share of the pot from the node on and chance to win without further betting, of player p
    ``Σ_{i, j} r0[i] r1[j] compat(i, j) x_p(i, j) / W``. NaN: a range that never comes here.
    """

    weight: float
    frequencies: Floats
    ev: tuple[float, float]
    equity: tuple[float, float]

    def in_unit(self, unit: Unit) -> NodeTotals:
        """The same, whose EVs are in chips, in another unit."""
        return replace(self, ev=unit.worth(*self.ev))


class ChunkView:
    """One chunk on one board.

    Args:
        play: what both ranges do.
        ranges: at its root, per player ``[hand]``.
        config: of the betting tree.
        leaves: what its chance leaves are worth, per player ``[exit, hand]``.
        pairs: of both players' hands on the board; None, as of leaves: EVs and equities are not to be found.
    """

    def __init__(
        self,
        play: ChunkPlay,
        ranges: tuple[Floats, Floats],
        config: TreeConfig,
        leaves: Pair | None = None,
        pairs: Pairs | None = None,
    ) -> None:
        self.play, self._config, self._leaves, self._pairs = play, config, leaves, pairs
        self.reach = reaches(play, ranges)

    def node(self, line: str) -> NodeArrays:
        """The arrays of a decision."""
        node = next(node for node in self.play.nodes if node.line == line)
        assert node.player is not None
        return self._seen(node, node.player, self.play.frequencies[line], node.children)

    def waiting(self, line: str) -> NodeArrays:
        """The same of the player who does not act there, over that player's hands and without actions."""
        node = next(node for node in self.play.nodes if node.line == line)
        assert node.player is not None
        p = 1 - node.player
        return self._seen(node, p, np.empty((0, len(self.reach[line][p]))), ())

    def _seen(self, node: Node, p: int, frequencies: Floats, children: Sequence[Node]) -> NodeArrays:
        """What a player's hands do and are worth at a decision."""
        mine, theirs = self.reach[node.line][p], self.reach[node.line][1 - p]
        if self._pairs is None:
            unknown = np.full(len(mine), np.nan)
            return NodeArrays(mine, frequencies, unknown, np.full(frequencies.shape, np.nan), unknown)
        sides, whole = self._pairs.seen_by(p), float(theirs.sum())
        mass = sides.compatible @ theirs
        values = np.stack([self.values[at.line][p] for at in (node, *children)])
        share = ratio(values, mass, whole) + self._config.pot / 2 + node.put_in[p]
        for number, action in enumerate(node.actions[: len(children)], start=1):
            if action.kind == "fold":
                share[number, ~np.isnan(share[number])] = 0.0  # by definition; rounding leaves something else
        equity = (ratio(sides.lead @ theirs, mass, whole) + 1.0) / 2.0
        return NodeArrays(mine, frequencies, share[0], share[1:], equity)

    def totals(self, line: str) -> NodeTotals:
        """Both ranges at a node, in one sum over them."""
        assert self._pairs is not None
        node = next(node for node in self.play.nodes if node.line == line)
        here, values = self.reach[line], self.values[line]
        weight = float(here[0] @ self._pairs.compatible @ here[1])
        frequencies = self._taken(node)
        if not weight > NOTHING * here[0].sum() * here[1].sum():
            return NodeTotals(0.0, frequencies, (np.nan, np.nan), (np.nan, np.nan))
        half = self._config.pot / 2
        first, second = (half + node.put_in[p] + float(here[p] @ values[p]) / weight for p in (0, 1))
        share = (1.0 + float(here[0] @ self._pairs.lead @ here[1]) / weight) / 2.0
        return NodeTotals(weight, frequencies, (first, second), (share, 1.0 - share))

    def _taken(self, node: Node) -> Floats:
        """How the acting range's weight is shared among the actions; empty where nobody acts."""
        p = node.player
        if p is None or node.kind != "decision":
            return np.empty(0)
        taken = self.play.frequencies[node.line] @ self.reach[node.line][p]
        total = taken.sum()
        out: Floats = taken / total if total > 0 else np.full(len(taken), np.nan)
        return out

    @cached_property
    def values(self) -> dict[str, tuple[Floats, Floats]]:
        """By line, per player ``[hand]``, counterfactual values."""
        assert self._leaves is not None
        found = dict(zip(self.play.chance_leaves, zip(*self._leaves, strict=True), strict=True))
        for node in self.play.nodes:
            if node.kind in ("fold", "showdown"):
                found[node.line] = self._paid(node, 0), self._paid(node, 1)
        for node in reversed(self.play.nodes):
            if node.kind == "decision":
                found[node.line] = self._led(node, 0, found), self._led(node, 1, found)
        return found

    def _led(self, node: Node, p: int, found: dict[str, tuple[Floats, Floats]]) -> Floats:
        """What a decision is worth to player p: its strategy's mean where p acts, else the sum."""
        below = np.stack([found[child.line][p] for child in node.children])
        if node.player == p:
            below = below * self.play.frequencies[node.line]
        total: Floats = below.sum(axis=0)
        return total

    def _paid(self, node: Node, p: int) -> Floats:
        """What an end of the hand is worth to player p."""
        stake, rake = terminal_stakes(node, self._config), terminal_rake(node, self._config)
        assert self._pairs is not None
        theirs, sides = self.reach[node.line][1 - p], self._pairs.seen_by(p)
        mass: Floats = sides.compatible @ theirs
        if node.kind == "fold":
            return mass * (-stake if node.player == p else stake - rake)
        won: Floats = (stake - rake / 2) * (sides.lead @ theirs) - rake / 2 * mass
        return won


def reaches(play: ChunkPlay, ranges: tuple[Floats, Floats]) -> dict[str, tuple[Floats, Floats]]:
    """By line of every node of a chunk, per player ``[hand]``, for the ranges at its root."""
    found = {play.nodes[0].line: ranges}
    for node in play.nodes:
        if node.kind != "decision":
            continue
        first, second = found[node.line]
        for child, taken in zip(node.children, play.frequencies[node.line], strict=True):
            found[child.line] = (first * taken, second) if node.player == 0 else (first, second * taken)
    return found


def ratio(total: Floats, mass: Floats, whole: Floats | float) -> Floats:
    """``total / mass``, NaN where there is hardly any mass: rounding of the ``whole`` range would show in it."""
    out = np.full(np.broadcast_shapes(total.shape, mass.shape), np.nan)
    np.divide(total, mass, out=out, where=mass > LEAST_MASS * whole)
    return out
