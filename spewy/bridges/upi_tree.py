"""A solved spot as PioSOLVER shows it: names of nodes, 1,326 numbers for each range, and totals since the root.

A node is named by the actions and cards since the root: ``r:0:c:b330:Qs:f`` is check, bet or raise to 330, the Qs, and
fold. The number after ``b`` is all that the player has put in since the root, as in the ACPC's betting strings, so
``b330`` is ``r330`` there. ``r`` and ``r:0`` stand for the root. A *split node* deals a card.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from buckets.cards import card_name, parse_cards
from buckets.errors import CardError
from solvers.tree import Floats
from spewy.chunks.locate import Place, possible_deals
from spewy.errors import InputError, shown
from spewy.game.nodes import Line, Node
from spewy.game.ranges.text import pio_hands
from spewy.job.job import SpotJob
from spewy.look.solution import Solution

SEATS = ("OOP", "IP")
ROOT = "r:0"
N_HANDS = 1326
_ACTION = re.compile(r"[cf]|b(\d{1,9})")


class NodeFacts(NamedTuple):
    """Facts about a node, which the command ``show_node`` prints."""

    name: str
    kind: str
    board: str
    pot: tuple[int, int, int]
    """Chips that oop and ip have put in since the root, and the pot at the root."""
    n_children: int


class HandValues(NamedTuple):
    """Values of a player's hands at a node, ``[1326]`` in PioSOLVER's order.

    Attributes:
        values: EVs or equities; NaN where the hand cannot be there, or meets no hand of the opponent.
        matchups: weight of the hand times the weight of all opponent's hands that it can meet.
    """

    values: Floats
    matchups: Floats

    @property
    def mean(self) -> float:
        known = ~np.isnan(self.values) & (self.matchups > 0)
        weights = self.matchups[known]
        return float(self.values[known] @ weights / weights.sum()) if len(weights) else float("nan")


class UpiTree:
    """Answers questions about the nodes of a solved spot, in chips and in PioSOLVER's order of hands."""

    def __init__(self, solution: Solution) -> None:
        if not isinstance(solution.job, SpotJob):
            raise InputError(
                f"job {solution.job.name}: expected a spot, found a whole game, which UPI does not have"
            )
        self.solution, self.job = solution, solution.job

    @cached_property
    def root(self) -> Place:
        return self.solution.at()

    @property
    def pot(self) -> int:
        return int(self.solution.problem.pot)

    def place(self, name: str) -> Place:
        """Find the place that a node's name stands for."""
        pieces = name.split(":")
        if pieces[0] != "r" or pieces[1:2] not in ([], ["0"]):
            raise InputError(
                f"node {shown(name)}: expected a name such as {ROOT}:c:b120, found another beginning"
            )
        place = self.root
        for piece in pieces[2:]:
            if place.node.kind == "chance":
                place = self._after(place, place.node.children[0], (self._card(name, place, piece),))
                continue
            match = _ACTION.fullmatch(piece)
            token = "" if match is None else f"r{match[1]}" if match[1] else piece
            child = next((c for c in place.node.children if token and c.line == place.line + token), None)
            if child is None:
                known = [self.name(after).rpartition(":")[2] for after in self.children(place)]
                expected = f"one of {', '.join(known)}" if known else "nothing, since the hand ends there"
                raise InputError(
                    f"node {shown(name)}: expected {expected} after {self.name(place)}, found {shown(piece)}"
                )
            place = self._after(place, child, ())
        return place

    def name(self, place: Place) -> str:
        cards = iter(self._dealt(place))
        line = re.sub(r"r(\d+)", r":b\1", re.sub(r"[cf]", r":\g<0>", place.line))
        return ROOT + re.sub("/", lambda _: f":{card_name(next(cards))}", line)

    def facts(self, place: Place) -> NodeFacts:
        node = place.node
        kinds = {"decision": f"{SEATS[node.player or 0]}_DEC", "chance": "SPLIT_NODE"}
        pot = (*node.put_in, self.pot)
        kind = kinds.get(node.kind, "END_NODE")
        return NodeFacts(
            self.name(place), kind, " ".join(map(card_name, place.cards)), pot, len(self.children(place))
        )

    def children(self, place: Place) -> list[Place]:
        """List the places after a node: after each action, or after each card that can be dealt, from the 2c up."""
        node = place.node
        if node.kind != "chance":
            return [self._after(place, child, ()) for child in node.children]
        deck = self.solution.problem.game.deck.cards
        return [self._after(place, node.children[0], (card,)) for card in deck if card not in place.cards]

    def lines(self) -> Iterator[str]:
        """Yield the names of all nodes, without cards; a node comes before the nodes below it."""
        yield "r"
        last = None
        for node in self.solution.problem.tree.nodes():
            line = ROOT + re.sub(r"r(\d+)", r":b\1", re.sub(r"[cf]", r":\g<0>", node.line)).replace("/", "")
            if line != last:  # a deal, and the decision or showdown after it, have the same line
                yield line
            last = line

    def range(self, player: int, place: Place) -> Floats:
        """Weights ``[1326]`` of a player's hands at a node, in PioSOLVER's order."""
        return self._all_hands(player, place, self._reach(place)[player], 0.0)

    def strategy(self, place: Place) -> Floats:
        """Frequencies ``[action, 1326]`` at a decision, in PioSOLVER's order; 0 for hands that are not in the range."""
        if place.node.kind != "decision":
            raise InputError(f"node {self.name(place)}: expected a decision, found a node where nobody acts")
        assert place.node.player is not None
        arrays = self.solution.chunk_view(place, ev=False).node(place.node)
        return self._all_hands(place.node.player, place, arrays.strategy, 0.0)

    def evs(self, player: int, place: Place) -> HandValues:
        """EVs at a node in chips: what the hand takes from the pot in the end, less all that it puts in since the root.

        That is `NodeView.ev`, which counts from the node on, less the chips that the player has put in before.
        """
        arrays = self.solution.chunk_view(place).hands(place.node, player)
        return self._values(player, place, arrays.ev - place.node.put_in[player])

    def equities(self, player: int, place: Place) -> HandValues:
        return self._values(player, place, self.solution.chunk_view(place).hands(place.node, player).equity)

    def line_frequency(self, place: Place) -> float:
        """Probability that play follows the line of a node from the root, whatever the cards."""
        weight = self._weight(place.line, self.root.cards, 0)
        return weight / self._root_weight

    def frequency(self, place: Place) -> float:
        """Probability that play from the root reaches a node, with its cards."""
        chances = 1.0
        left = (
            len(self.solution.problem.game.deck.cards) - len(self.root.cards) - 4
        )  # both hands have two cards
        for number in range(len(self._dealt(place))):
            chances /= left - number
        return self.matchups(place) * chances / self._root_weight

    def matchups(self, place: Place) -> float:
        """Weight of all pairs of hands at a node."""
        return self.solution.totals(place).weight

    @cached_property
    def _root_weight(self) -> float:
        return self.matchups(self.root)

    def _weight(self, line: str, cards: tuple[int, ...], number: int) -> float:
        """Weight of all pairs of hands after a line, averaged over the cards that may follow ``cards``.

        ``cards`` are the public cards of the line's rounds 0 to ``number``.
        """
        problem = self.solution.problem
        parts = line.split("/")
        if number == len(parts) - 1:
            return self.matchups(self.solution.at(Line(line), cards))
        before = "/".join(parts[: number + 1])
        place = self.solution.at(Line(before), cards)
        if place.node.kind != "chance":  # the board had its cards
            return self._weight(line, cards, number + 1)
        left = len(problem.game.deck.cards) - len(cards) - 4
        total = 0.0
        for dealt, count in possible_deals(problem, place.round, cards):
            board = problem.game.board_order((*cards, *dealt))
            total += count * self._weight(line, board, number + 1)
        return total / left

    def _after(self, place: Place, child: Node, dealt: tuple[int, ...]) -> Place:
        return (
            self.solution.at(Line(child.line), (*place.cards, *dealt)) if dealt else Place(child, place.cards)
        )

    def _dealt(self, place: Place) -> tuple[int, ...]:
        return place.cards[len(self.root.cards) :]

    def _card(self, name: str, place: Place, piece: str) -> int:
        try:
            cards = parse_cards(piece)
        except CardError:
            cards = ()
        if len(cards) != 1 or cards[0] in place.cards:
            raise InputError(
                f"node {shown(name)}: expected a card that can be dealt after {self.name(place)}, found {shown(piece)}"
            )
        return cards[0]

    def _reach(self, place: Place) -> tuple[Floats, Floats]:
        """Both ranges ``[hand]`` at a node, where initial weights are those that the user wrote."""
        chunk, units = self.solution.chunk_view(place, ev=False), self.solution.problem.units
        first, second = chunk.reach[place.line]
        if units is None:
            return first, second
        return first * units[0][chunk.play.hands[0]], second * units[1][chunk.play.hands[1]]

    def _values(self, player: int, place: Place, values: Floats) -> HandValues:
        reach, hands = self._reach(place), self.solution.chunk_view(place, ev=False).play.hands
        met = _met(self.solution.problem.hands, hands, reach, player)
        return HandValues(
            self._all_hands(player, place, values, np.nan),
            self._all_hands(player, place, reach[player] * met, 0.0),
        )

    def _all_hands(self, player: int, place: Place, values: Floats, missing: float) -> Floats:
        """Arrange values ``[..., hand]`` of a player's hands as an array ``[..., 1326]`` in PioSOLVER's order."""
        hands = self.solution.chunk_view(place, ev=False).play.hands[player]
        out = np.full((*values.shape[:-1], N_HANDS), missing)
        out[..., hands] = values
        ordered: Floats = out[..., pio_hands()]
        return ordered


def _met(
    deck: NDArray[np.signedinteger],
    hands: tuple[NDArray[np.signedinteger], NDArray[np.signedinteger]],
    reach: tuple[Floats, Floats],
    player: int,
) -> Floats:
    """Sum the weights of the opponent's hands that share no card with a hand of the player: ``[hand]``.

    From the weight of all opponent's hands, those with either card are subtracted; the hand with both is added again.
    """
    own, other = hands[player], hands[1 - player]
    by_card = np.zeros(int(deck.max()) + 1)
    np.add.at(by_card, deck[other].ravel(), np.repeat(reach[1 - player], deck.shape[1]))
    same = np.zeros(len(deck))
    same[other] = reach[1 - player]
    met: Floats = np.maximum(reach[1 - player].sum() - by_card[deck[own]].sum(axis=1) + same[own], 0.0)
    return met
