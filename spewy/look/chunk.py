"""Compute reach, EV and equity of every hand at every decision of one chunk on one board, under average strategies.

A chunk is the betting of one round after a line that enters the round; at its chance leaves the next cards are dealt.
EV is a player's expected share of the pot from a node on: the chips that the player will win from the middle minus the
chips that the player will still put in. At the root of a spot both EVs sum to the pot, less the rake; a fold has EV 0.
The EV of an action assumes that the player takes the action now and follows the average strategy afterwards, so
``ev[h] = Σ_a strategy[a, h] · action_ev[a, h]``. Equity is the chance to win without further betting, with half of the
ties, against the opponent's range at the node. Card removal is exact. EV and equity of a hand are NaN if the opponent
has no compatible hand at the node.

A range at a node is ``initial[hand] · Π (frequencies of the player's own actions before the node)``. Values inside a
chunk are counterfactual: with the opponent's range r at the end of the hand, a fold is worth ``gain · (C r)`` to a
player and a showdown ``stake · (L r)``, less the rake. Here ``gain`` is what the player wins by the fold (less than 0
for the player who folds), ``stake`` is what the loser of the showdown loses, C is 1 for two hands without a common card
and 0 for others, and L is the matrix ``lead`` of `spewy.look.pairs`. The values at chance leaves come from the store.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np

from buckets.cards import blocked
from buckets.types import Ints
from solvers.tree import Floats
from spewy.chunks.locate import Place
from spewy.game.amounts import Unit
from spewy.game.nodes import Node
from spewy.game.tree import terminal_rake, terminal_stakes
from spewy.game.treeconfig import TreeConfig
from spewy.look.pairs import MOST_FINAL_BOARDS, FinalPairs, Pairs, pairs
from spewy.records.chunks import Pair
from spewy.records.policy import ChunkPlay, Policy
from spewy.system.tools import Closing, kept_results

Cards = tuple[int, ...]

LEAST_MASS = 1e-9
"""Smallest share of the opponent's range that must be compatible with a hand, so that its EV is computed."""
NOTHING = 1e-13
"""Smallest share of the weight of all pairs of hands that counts: compatible pairs with less are a rounding error."""
CHUNKS, BOARDS, VALUED, RANGED = 128, 2, 1, 16
"""Number of cached chunks, number of boards with cached matrices of pairs of hands (some 20 MB for wide ranges), number
of cached views with EVs, which hold such matrices, too, and number of cached views with ranges only. The last is also
the number of final boards with cached orders of hands."""


class ChunkReads(Closing):
    """Reads chunks of a solve (each is the betting of one round after a line), and caches those that were read last.

    Both ranges at a chunk are computed from the strategies of all earlier chunks on its line. In all methods but
    `view`, ``place`` is the place at which the chunk begins.

    Args:
        policy: average strategies of the solve; `close` closes them.
        most_boards: largest number of final boards (run-outs) for which equities are computed; None for no limit.

    Attributes:
        suits_matter: whether strategies may differ on boards that are equal up to suits.
    """

    suits_matter = True

    def __init__(self, policy: Policy, most_boards: int | None = MOST_FINAL_BOARDS) -> None:
        self.policy = policy
        self._most_boards = most_boards
        self.play = lru_cache(CHUNKS)(policy.chunk)
        self.ranges = kept_results(CHUNKS, self._ranges)
        self.hands = kept_results(CHUNKS, self._hands)
        self.pairs = kept_results(BOARDS, self._pairs)
        self.final_pairs = kept_results(RANGED, self._final_pairs)
        self._valued = kept_results(VALUED, self._view)
        self._ranged = kept_results(RANGED, self._ranged_view)

    def view(self, place: Place, *, ev: bool = True, equity: bool = True) -> ChunkView:
        """Return the strategies, ranges, EVs and equities of the chunk to which a place belongs.

        Without ``ev``, EVs and equities are NaN. Without ``equity``, equities before the last round are NaN if this
        reader limits the final boards (``most_boards``); a reader without a limit ignores ``equity``.
        """
        place = self.policy.start_of(place)
        self.require(place)
        return self._valued(place, equity) if ev else self._ranged(place)

    def _view(self, place: Place, equity: bool) -> ChunkView:
        play, ranges, problem = self.play(place), self.ranges(place), self.policy.problem
        final = len(place.cards) == sum(problem.game.num_board_cards)
        pairs = self.final_pairs(place.cards) if final else self.pairs(place.cards, equity)
        return ChunkView(play, ranges, problem.tree.config, pairs, self.leaf_values(place, play))

    def _ranged_view(self, place: Place) -> ChunkView:
        return ChunkView(self.play(place), self.ranges(place), self.policy.problem.tree.config)

    def require(self, place: Place) -> None:
        """Prepare a chunk for reading. This class does nothing; a subclass re-solves dropped chunks."""

    def leaf_values(self, place: Place, play: ChunkPlay) -> Pair | None:
        """Return each player's counterfactual values ``[chance leaf, hand]``; None if they are unknown."""
        if play.chance_leaves:
            return None
        return np.empty((0, len(play.hands[0]))), np.empty((0, len(play.hands[1])))

    def forget(self) -> None:
        """Release the memory of all cached chunks; they are read again when they are needed."""
        for cached in (
            self.play,
            self.ranges,
            self.hands,
            self.pairs,
            self.final_pairs,
            self._valued,
            self._ranged,
        ):
            cached.cache_clear()

    def close(self) -> None:
        self.policy.close()

    def _ranges(self, place: Place) -> tuple[Floats, Floats]:
        """Compute each player's range ``[hand]`` at the root of a chunk."""
        hands, problem = self.hands(place.cards), self.policy.problem
        if place.round == problem.first_round:
            return problem.ranges[0][hands[0]], problem.ranges[1][hands[1]]
        before, chance = self.policy.start_of(place, place.round - 1), place.line.removesuffix("/")
        ranges_before = reaches(self.play(before), self.ranges(before))[chance]
        above = self.hands(before.cards)
        first, second = (ranges_before[p][np.searchsorted(above[p], hands[p])] for p in (0, 1))
        return first, second

    def _hands(self, cards: Cards) -> tuple[Ints, Ints]:
        """Return, for each player, the indices of the hands in the initial range that share no card with a board."""
        problem = self.policy.problem
        free = ~blocked(problem.hands, cards)
        first, second = (np.flatnonzero(free & (weights > 0)) for weights in problem.ranges)
        return first, second

    def _final_pairs(self, cards: Cards) -> FinalPairs:
        return FinalPairs(self.policy.problem.hands, cards, self.hands(cards))

    def _pairs(self, cards: Cards, equity: bool) -> Pairs:
        problem = self.policy.problem
        most = self._most_boards if equity or self._most_boards is None else 1
        return pairs(problem.game, problem.hands, cards, self.hands(cards), most)


@dataclass(frozen=True)
class NodeArrays:
    """Figures of one player's hands at one decision on one board; the hands are in ascending order of their numbers.

    Attributes:
        reach: ``[hand]``, weight of each hand in the player's range at the decision.
        strategy: ``[action, hand]``, frequency of each action.
        ev: ``[hand]``, expected share of the pot, in chips.
        action_ev: ``[action, hand]``, EV if the hand takes the action, in chips.
        equity: ``[hand]``, chance to win without further betting.
    """

    reach: Floats
    strategy: Floats
    ev: Floats
    action_ev: Floats
    equity: Floats


@dataclass(frozen=True)
class NodeTotals:
    """Figures of both whole ranges at one node on one board.

    Attributes:
        weight: weight of all pairs of compatible hands, ``W = Σ_{i, j} r0[i] r1[j] compat(i, j)`` with the ranges
            ``r0`` and ``r1`` at the node; ``compat`` is 1 for two hands without a common card, else 0.
        frequencies: ``[action]``, share of the acting range that takes each action.
        ev: each player's expected share of the pot, in chips unless converted by `in_unit`, averaged over all pairs of
            hands; NaN if no pair reaches the node.
        equity: each player's chance to win without further betting, averaged over all pairs of hands; NaN if no pair
            reaches the node.
    """

    weight: float
    frequencies: Floats
    ev: tuple[float, float]
    equity: tuple[float, float]

    def in_unit(self, unit: Unit) -> NodeTotals:
        return replace(self, ev=unit.worth(*self.ev))


class ChunkView:
    """Computes ranges, EVs and equities at all nodes of one chunk on one board.

    Args:
        ranges: ranges at the root of the chunk, per player ``[hand]``.
        pairs: card removal and equities between both players' hands; without them, EVs and equities are NaN.
        leaves: values at the chance leaves, where the next cards are dealt, per player ``[chance leaf, hand]``; without
            them, EVs are NaN.
    """

    def __init__(
        self,
        play: ChunkPlay,
        ranges: tuple[Floats, Floats],
        config: TreeConfig,
        pairs: Pairs | FinalPairs | None = None,
        leaves: Pair | None = None,
    ) -> None:
        self.play, self._config, self._pairs, self._leaves = play, config, pairs, leaves
        self.reach = reaches(play, ranges)
        self._against: dict[tuple[str, int], tuple[Floats, Floats | None]] = {}

    def at(self, line: str) -> Node:
        return next(node for node in self.play.nodes if node.line == line)

    def node(self, node: Node) -> NodeArrays:
        """Return the hands of the player who acts at a decision."""
        assert node.player is not None
        return self._arrays(node, node.player, self.play.frequencies[node.line], node.children)

    def waiting(self, node: Node) -> NodeArrays:
        """Return the hands of the player who waits; ``strategy`` and ``action_ev`` are empty."""
        assert node.player is not None
        return self.hands(node, 1 - node.player)

    def hands(self, node: Node, player: int) -> NodeArrays:
        """Return a player's hands at any node; ``strategy`` and ``action_ev`` are empty."""
        return self._arrays(node, player, np.empty((0, len(self.reach[node.line][player]))), ())

    def _arrays(self, node: Node, p: int, frequencies: Floats, children: Sequence[Node]) -> NodeArrays:
        own, other = self.reach[node.line][p], self.reach[node.line][1 - p]
        ev = equity = np.full(len(own), np.nan)
        action_ev = np.full(frequencies.shape, np.nan)
        if self._pairs is not None:
            (mass, lead), whole = self._sums(node.line, p), float(other.sum())
            if lead is not None:
                equity = (ratio(lead, mass, whole) + 1.0) / 2.0
            if self._leaves is not None:
                values = np.stack([self.values[at.line][p] for at in (node, *children)])
                share = ratio(values, mass, whole) + self._config.pot / 2 + node.put_in[p]
                for number, action in enumerate(node.actions[: len(children)], start=1):
                    if action.kind == "fold":
                        share[number, ~np.isnan(share[number])] = (
                            0.0  # the exact value; the computed one has a rounding error
                        )
                ev, action_ev = share[0], share[1:]
        return NodeArrays(own, frequencies, ev, action_ev, equity)

    def totals(self, node: Node) -> NodeTotals:
        here, nothing = self.reach[node.line], (np.nan, np.nan)
        mass, lead = self._sums(node.line, 0)
        weight = float(here[0] @ mass)
        frequencies = self.frequencies(node)
        if not weight > NOTHING * here[0].sum() * here[1].sum():
            return NodeTotals(0.0, frequencies, nothing, nothing)
        ev = equity = nothing
        if self._leaves is not None:
            values, half = self.values[node.line], self._config.pot / 2
            first, second = (half + node.put_in[p] + float(here[p] @ values[p]) / weight for p in (0, 1))
            ev = first, second
        if lead is not None:
            share = (1.0 + float(here[0] @ lead) / weight) / 2.0
            equity = share, 1.0 - share
        return NodeTotals(weight, frequencies, ev, equity)

    def _sums(self, line: str, p: int) -> tuple[Floats, Floats | None]:
        """Sum the weights of the opponent's range after a line, and weights times lead, for each hand of player p.

        The second sum is None if leads (`Pairs.lead`) are unknown.
        """
        assert self._pairs is not None
        if (line, p) not in self._against:
            other = self.reach[line][1 - p]
            leads = self._pairs.leads(p, other) if self._pairs.has_leads else None
            self._against[line, p] = self._pairs.masses(p, other), leads
        return self._against[line, p]

    def frequencies(self, node: Node) -> Floats:
        """Share of the acting range that takes each action, ``[action]``.

        It is empty if nobody acts at the node, and NaN if no hand reaches the node.
        """
        p = node.player
        if p is None or node.kind != "decision":
            return np.empty(0)
        taken = self.play.frequencies[node.line] @ self.reach[node.line][p]
        total = taken.sum()
        out: Floats = taken / total if total > 0 else np.full(len(taken), np.nan)
        return out

    @cached_property
    def values(self) -> dict[str, tuple[Floats, Floats]]:
        """Both players' counterfactual values ``[hand]`` at each node, by the line of the node."""
        assert self._leaves is not None
        values = dict(zip(self.play.chance_leaves, zip(*self._leaves, strict=True), strict=True))
        ends = [node for node in self.play.nodes if node.kind in ("fold", "showdown")]
        for node, first, second in zip(ends, self._paid(ends, 0), self._paid(ends, 1), strict=True):
            values[node.line] = first, second
        for node in reversed(self.play.nodes):
            if node.kind == "decision":
                values[node.line] = self._mean(node, 0, values), self._mean(node, 1, values)
        return values

    def _mean(self, node: Node, p: int, values: dict[str, tuple[Floats, Floats]]) -> Floats:
        """Compute player p's counterfactual values ``[hand]`` at a decision from the values at its child nodes.

        If p acts, the result is the mean of the children's values under p's strategy. Else it is their sum, since
        counterfactual values already contain the opponent's frequencies.
        """
        below = np.stack([values[child.line][p] for child in node.children])
        if node.player == p:
            below = below * self.play.frequencies[node.line]
        total: Floats = below.sum(axis=0)
        return total

    def _paid(self, ends: Sequence[Node], p: int) -> list[Floats]:
        """Compute player p's counterfactual values ``[hand]`` at each of some folds and showdowns.

        All nodes share one product with each matrix of pairs, which is several times as fast as a product per node.
        """
        assert self._pairs is not None
        masses = self._pairs.masses(p, self._reaching(ends, 1 - p)).T
        shown = [node for node in ends if node.kind == "showdown"]
        leads = iter(self._pairs.leads(p, self._reaching(shown, 1 - p)).T if self._pairs.has_leads else ())
        values: list[Floats] = []
        for node, mass in zip(ends, masses, strict=True):
            stake, rake = terminal_stakes(node, self._config), terminal_rake(node, self._config)
            if node.kind == "fold":
                values.append(mass * (-stake if node.player == p else stake - rake))
            else:  # a showdown has one final board, so the leads are known
                values.append((stake - rake / 2) * next(leads) - rake / 2 * mass)
        return values

    def _reaching(self, nodes: Sequence[Node], p: int) -> Floats:
        """Player p's ranges at some nodes, ``[hand, node]``."""
        out = np.empty((len(self.reach[self.play.nodes[0].line][p]), len(nodes)))
        for number, node in enumerate(nodes):
            out[:, number] = self.reach[node.line][p]
        return out


def reaches(play: ChunkPlay, ranges: tuple[Floats, Floats]) -> dict[str, tuple[Floats, Floats]]:
    """Compute both ranges ``[hand]`` at each node of a chunk, by line, from the ranges at its root."""
    reach = {play.nodes[0].line: ranges}
    for node in play.nodes:
        if node.kind != "decision":
            continue
        first, second = reach[node.line]
        for child, taken in zip(node.children, play.frequencies[node.line], strict=True):
            reach[child.line] = (first * taken, second) if node.player == 0 else (first, second * taken)
    return reach


def ratio(total: Floats, mass: Floats, whole: Floats | float) -> Floats:
    """Return ``total / mass``; NaN where the mass is so small that it may be a rounding error.

    Args:
        total: sums over the opponent's hands that are compatible with a hand.
        mass: summed weights of these opponent's hands.
        whole: summed weight of all the opponent's hands, to which the mass is compared.
    """
    out = np.full(np.broadcast_shapes(total.shape, mass.shape), np.nan)
    np.divide(total, mass, out=out, where=mass > LEAST_MASS * whole)
    return out
