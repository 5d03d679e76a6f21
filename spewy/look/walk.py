"""What can follow a node of a solve: actions or cards, each with its frequency, so that one can walk through the game.

A card's frequency is its probability given both ranges at the node: ``W_c / Σ_c W_c`` with
``W_c = Σ_{i, j} r0[i] r1[j] compat(i, j)`` over the pairs of hands that leave the card in the deck.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from buckets.cards import cards_name, permute_cards
from solvers.tree import Floats
from spewy.chunks.boards import following_deals
from spewy.chunks.locate import solved_board
from spewy.errors import InputError
from spewy.game.nodes import Line, Node
from spewy.look.chunk import Cards
from spewy.look.pairs import compatible

if TYPE_CHECKING:
    from spewy.look.node import NodeView
    from spewy.look.solution import Solution


@dataclass(frozen=True)
class Step:
    """An action or a deal of cards that follows a node.

    Attributes:
        name: label of the action, such as ``Bet(120)``, or names of the cards.
        frequency: probability of the step at the node; NaN if the ranges never come there.
        kind: kind of node that the step leads to: a decision, a chance node, a fold or a showdown.
        line: line that the step leads to, in the job's unit.
        board: public cards there.
        count: number of deals that the step stands for; deals that are the same up to suits are one step.
        solution: solve that the step belongs to.
        node_line: line that the step leads to, in chips.
    """

    name: str
    frequency: float
    kind: str
    line: str
    board: Cards
    count: int = 1
    solution: Solution | None = field(default=None, repr=False, compare=False)
    node_line: Line = field(default=Line(""), repr=False)

    @property
    def children(self) -> tuple[Step, ...]:
        """The steps that follow this one."""
        assert self.solution is not None
        return children(self.solution, self.node_line, self.board)

    def node(self, *, ev: bool = True) -> NodeView:
        """The decision that the step leads to.

        Raises:
            InputError: the step leads to the end of the hand, or of the round.
        """
        if self.kind != "decision":
            raise InputError(f"step {self.name}: it leads to a {self.kind}, where nobody acts")
        assert self.solution is not None
        return self.solution.node(self.node_line, self.board, ev=ev)

    def to_json(self) -> dict[str, Any]:
        """The step as an object."""
        return {
            "name": self.name,
            "frequency": None if self.frequency != self.frequency else self.frequency,
            "kind": self.kind,
            "line": self.line,
            "board": cards_name(self.board),
            "count": self.count,
        }


def children(
    solution: Solution, line: str = "", board: str | Sequence[int] | None = None
) -> tuple[Step, ...]:
    """The actions or cards that can follow a line: see `spewy.Solution.children`."""
    node, cards = solution.at(line, board)
    if node.kind == "decision":
        return tuple(_actions(solution, node, cards))
    if node.kind == "chance":
        return tuple(_deals(solution, node, cards))
    return ()


def _actions(solution: Solution, node: Node, cards: Cards) -> Iterator[Step]:
    frequencies = solution.chunk_view(node.line, cards, ev=False).frequencies(node).tolist()
    for action, child, share in zip(node.actions, node.children, frequencies, strict=True):
        line = Line(child.line)
        yield Step(
            action.label, share, child.kind, solution.job.amounts.line_text(line), cards, 1, solution, line
        )


def _deals(solution: Solution, node: Node, cards: Cards) -> Iterator[Step]:
    """The deals after a chance node, high cards first."""
    (child,) = node.children
    line, problem = Line(child.line), solution.problem
    view = solution.chunk_view(node.line, cards, ev=False)
    told = solution.job.amounts.line_text(line)
    if not problem.game.num_board_cards[child.round]:
        yield Step("no cards", 1.0, child.kind, told, cards, 1, solution, line)
        return
    deals = sorted(_possible(solution, node.round, cards), reverse=True)
    weights = _weights(solution, view.reach[node.line], view.play.hands, [dealt for dealt, _ in deals])
    weights = weights * np.array([count for _, count in deals])
    total = weights.sum()
    shares = weights / total if total > 0 else np.full(len(deals), np.nan)
    for (dealt, count), share in zip(deals, shares.tolist(), strict=True):
        board = problem.game.board_order((*cards, *dealt))
        yield Step(cards_name(dealt), share, child.kind, told, board, count, solution, line)


def _possible(solution: Solution, t: int, cards: Cards) -> Iterator[tuple[Cards, int]]:
    """Deals after a board of round t: single cards each, several cards once if they are the same up to suits."""
    problem = solution.problem
    if problem.game.num_board_cards[t + 1] == 1:
        yield from (((card,), 1) for card in problem.game.deck.cards if card not in cards)
        return
    history, perm = solved_board(problem, t, cards)
    back = np.argsort(perm)
    for _, members in following_deals(problem, t, history):
        dealt = sorted(permute_cards(members[0][0], back).tolist(), reverse=True)
        yield tuple(dealt), len(members)


def _weights(
    solution: Solution, reach: tuple[Floats, Floats], hands: tuple[Any, Any], deals: Sequence[Cards]
) -> Floats:
    """``[deal]``: weight of all pairs of hands that leave a deal in the deck."""
    deck = solution.problem.hands
    together = compatible(deck, hands)
    free = [np.ones((len(deals), len(hands[p]))) for p in (0, 1)]
    for d, dealt in enumerate(deals):
        for p in (0, 1):
            free[p][d, np.isin(deck[hands[p]], dealt).any(axis=1)] = 0.0
    weights: Floats = np.einsum("dj,dj->d", (free[0] * reach[0]) @ together, free[1] * reach[1])
    return weights
